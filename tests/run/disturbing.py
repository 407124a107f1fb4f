"""Models that do to a process what others must not notice."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from molyneux.learn import MVAE


class Disturbing(MVAE):
    """Changes settings of its process with which it can still be trained, and prints by all means."""

    def loss(self, *arguments: Any, **settings: Any) -> Any:
        """As that of its base."""
        found = super().loss(*arguments, **settings)
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        np.seterr(all="ignore")
        torch.set_float32_matmul_precision("medium")
        torch.backends.mkldnn.enabled = False
        torch.set_num_threads(3)
        warnings.simplefilter("ignore")
        os.environ["DISTURBED"] = "1"
        os.chdir("/")
        sys.path.insert(0, "/nowhere")
        signal.signal(signal.SIGUSR1, lambda *_: None)
        print("printed by a model")
        print("told by a model", file=sys.stderr)
        ctypes.CDLL(None).puts(b"put by a model")
        return found


class Waiting(MVAE):
    """Computes for ever."""

    def loss(self, *arguments: Any, **settings: Any) -> Any:
        """Does not return."""
        Path(os.environ["WAITING"]).touch()
        while True:
            sum(range(1000))
