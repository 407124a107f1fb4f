"""One run of a study, in a process of its own: `python -m molyneux.run.worker CONFIG FOLDER`.

Says how it goes as JSON lines on standard output; what else is written there goes to standard error, which is the log. Ends at
once when its standard input is closed, which the system does when the process that started it is gone, however it ended: a run
can be stopped at any moment and goes on later.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from molyneux.core import MolyneuxError
from molyneux.core.config import read_document
from molyneux.learn import keep_freed_memory
from molyneux.run.experiment import read_experiment
from molyneux.run.steps import run_experiment


class Lines:
    """Tells a run's progress in lines, at most twice a second."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._step, self._told = stream, "", 0.0

    def say(self, record: Mapping[str, object]) -> None:
        """One line."""
        self._stream.write(json.dumps(record) + "\n")
        self._stream.flush()

    def begin(self, step: str, note: str) -> None:
        """A step begins."""
        self._step = step
        self.say({"step": step, "done": 0, "total": 0})

    def advance(self, done: int, total: int, note: str = "") -> None:
        """So much is done."""
        if time.monotonic() - self._told > 0.5:
            self._told = time.monotonic()
            self.say({"step": self._step, "done": done, "total": total})

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step of training."""
        self.advance(done, total)

    def epoch(self, row: Mapping[str, float]) -> None:
        """After an epoch of training."""


def main() -> int:
    """Run the experiment; 0 if all of it was done."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_freed_memory()
    lines = Lines(_own_output())
    try:
        run_experiment(read_experiment(read_document(Path(sys.argv[1]))), Path(sys.argv[2]), progress=lines)
    except MolyneuxError as error:
        lines.say({"error": str(error)})
        return 1
    return 0


def _end_with_parent() -> None:
    while os.read(0, 1024):  # past the buffers of sys.stdin, whose locks would be missed when the process ends
        pass
    os._exit(1)


def _own_output() -> TextIO:
    """Standard output for the lines alone: whatever a model, a world or a library prints goes to standard error.

    It stays open until the process is gone: its end is what tells the other side that the run is over.
    """
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8", closefd=False)
    os.dup2(2, 1)
    return stream


if __name__ == "__main__":
    sys.exit(main())
