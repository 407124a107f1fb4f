"""What computes one run of a study: the main function of a process on this machine, and that of one on a Ray cluster."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from molyneux.core import MolyneuxError
from molyneux.core.config import read_document
from molyneux.learn import keep_freed_memory
from molyneux.run.cluster.ray_workers import STOPPED, interrupt_if_cancelled
from molyneux.run.run.experiment import read_experiment
from molyneux.run.run.steps import run_experiment
from molyneux.run.studies.pruning import run_watched


def work(config: str, folder: str, rule: str = "") -> int:
    """Compute the run of a resolved configuration in a worker process; 0 if all of it was done, or as far as a rule lets it.

    It writes its progress as JSON lines to standard output; what else is written there goes to standard error. It ends at once
    when its standard input is closed, which the system does when the process that started it is gone.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_freed_memory()
    lines = ProgressLines(_own_output())
    try:
        _compute(config, folder, rule, lines)
    except MolyneuxError as error:
        lines.write({"error": str(error)})
        return 1
    return 0


class ProgressLines:
    """Writes the progress of a run as JSON lines, at most two a second.

    Args:
        stream: where.
        look: is called as often.
    """

    def __init__(self, stream: TextIO, *, look: Callable[[], None] = lambda: None) -> None:
        self._stream, self._step, self._written, self._look = stream, "", 0.0, look

    def write(self, record: Mapping[str, object]) -> None:
        """One line."""
        self._stream.write(json.dumps(record) + "\n")
        self._stream.flush()

    def begin(self, step: str, note: str) -> None:
        """A step begins."""
        self._step = step
        self.write({"step": step, "done": 0, "total": 0})

    def advance(self, done: int, total: int, note: str = "") -> None:
        """So much is done."""
        if time.monotonic() - self._written > 0.5:
            self._written = time.monotonic()
            self._look()
            self.write({"step": self._step, "done": done, "total": total})

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step of training."""
        self.advance(done, total)

    def epoch(self, row: Mapping[str, Any]) -> None:
        """After an epoch of training."""

    def note(self, text: str) -> None:
        """What the user of a training should know; it is in the record of the run, and below the table of the study."""


def ray_run(words: tuple[str, ...]) -> str:
    """Compute a run in a process of a Ray cluster; what went wrong, empty if nothing did.

    Args:
        words: the file of its settings, its folder, the file of a rule or "", and a file for its progress, as lines.
    """
    config, folder, rule, progress = words
    keep_freed_memory()
    with Path(progress).open("a", encoding="utf-8") as stream:
        try:
            _compute(config, folder, rule, ProgressLines(stream, look=interrupt_if_cancelled))
        except MolyneuxError as error:
            return str(error)
        except KeyboardInterrupt:
            return STOPPED
    return ""


def _compute(config: str, folder: str, rule: str, progress: ProgressLines) -> None:
    experiment = read_experiment(read_document(Path(config)))
    if rule:
        run_watched(experiment, Path(folder), Path(rule), progress)
    else:
        run_experiment(experiment, Path(folder), progress=progress)


def _end_with_parent() -> None:
    while os.read(0, 1024):  # past the buffers of sys.stdin, whose locks would be missed when the process ends
        pass
    os._exit(1)


def _own_output() -> TextIO:
    """Standard output for progress alone: whatever a model, a world or a library prints goes to standard error.

    It stays open until the process is gone: its end is what tells the other side that the run is over.
    """
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8", closefd=False)
    os.dup2(2, 1)
    return stream
