"""Models that do to a process what others must not notice, and that say which process computed them."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
import warnings
from typing import Any

import numpy as np
import torch

from molyneux.learn import MVAE


class Disturbing(MVAE):
    """Changes every setting of its process that it can reach, and prints by all means."""

    def loss(self, *arguments: Any, **settings: Any) -> Any:
        """As that of its base."""
        found = super().loss(*arguments, **settings)
        random.seed(1)
        np.random.seed(1)
        np.seterr(all="ignore")
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.set_float32_matmul_precision("medium")
        torch.backends.mkldnn.enabled = False
        torch.set_num_threads(3)
        warnings.simplefilter("ignore")
        os.environ["DISTURBED"] = "1"
        os.environ.pop("HOME", None)
        os.chdir("/")
        sys.path.insert(0, "/nowhere")
        signal.signal(signal.SIGUSR1, lambda *_: None)
        print("printed by a model")
        print("told by a model", file=sys.stderr)
        ctypes.CDLL(None).puts(b"put by a model")
        return found


class Leaving(MVAE):
    """Ends its process by the signal of a segmentation fault."""

    def loss(self, *arguments: Any, **settings: Any) -> Any:
        """Does not return."""
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGSEGV)
        return super().loss(*arguments, **settings)


class Waiting(MVAE):
    """Computes for ever."""

    def loss(self, *arguments: Any, **settings: Any) -> Any:
        """Does not return."""
        (path := os.environ["WAITING"]) and open(path, "w").close()
        while True:
            sum(range(1000))
