"""One run of a study, in a process of its own: `python -m molyneux.run.worker CONFIG FOLDER`.

Says how it goes as JSON lines on standard output. Ends at once when its standard input is closed, which the system does
when the process that started it is gone, however it ended: a run can be stopped at any moment and goes on later.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from molyneux.core import MolyneuxError
from molyneux.core.config import read_document
from molyneux.run.experiment import read_experiment
from molyneux.run.run import run_experiment


class Lines:
    """Tells a run's progress in lines, at most twice a second."""

    def __init__(self) -> None:
        self._step, self._told = "", 0.0

    def begin(self, step: str, note: str) -> None:
        """A step begins."""
        self._step = step
        _say({"step": step, "done": 0, "total": 0})

    def advance(self, done: int, total: int, note: str = "") -> None:
        """So much is done."""
        if time.monotonic() - self._told > 0.5:
            self._told = time.monotonic()
            _say({"step": self._step, "done": done, "total": total})

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step of training."""
        self.advance(done, total)

    def epoch(self, row: Mapping[str, float]) -> None:
        """After an epoch of training."""


def main() -> int:
    """Run the experiment; 0 if all of it was done."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        run_experiment(read_experiment(read_document(Path(sys.argv[1]))), Path(sys.argv[2]), progress=Lines())
    except MolyneuxError as error:
        _say({"error": str(error)})
        return 1
    return 0


def _end_with_parent() -> None:
    while os.read(0, 1024):  # past the buffers of sys.stdin, whose locks would be missed when the process ends
        pass
    os._exit(1)


def _say(record: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
