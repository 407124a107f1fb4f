"""What computes runs of a study: the main function of a process on this machine, and that of one on a Ray cluster."""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from molyneux.core import MolyneuxError
from molyneux.core.config import read_document
from molyneux.learn import keep_freed_memory
from molyneux.run.cluster.ray_workers import STOPPED, interrupt_if_cancelled
from molyneux.run.run.experiment import read_experiment
from molyneux.run.run.steps import run_experiment
from molyneux.run.studies.process_state import as_in_new_process, free_memory, resident_bytes
from molyneux.run.studies.pruning import run_watched

GROWTH = 2**29
"""Bytes that a worker may hold more than after its first run, once it has freed what it can: with more, it ends."""


def work() -> None:
    """Compute runs in a worker process, one after the other, as they are asked for on standard input, one JSON line each.

    A line has what `run` takes: the file of settings, the folder, the file of a rule or "", and the file for what is printed
    meanwhile, whoever prints it. Standard output gets JSON lines: `begun`, the progress, and `ended` with what went wrong, empty
    if nothing did. An error that is not this package's ends the process, as in one of a single run. It ends at once when its
    standard input is closed, which the system does when the process that started it is gone, also in the midst of a run; and
    after a run that leaves threads behind, or with memory grown by `GROWTH`.
    """
    requests, first = _requests(), 0
    keep_freed_memory()
    lines = ProgressLines(_own_output())
    importlib.import_module("torch._dynamo")  # as the first optimiser does: it is no part of what a training takes
    gc.freeze()
    others = threading.active_count()
    while True:
        asked = requests.get()
        lines.write({"begun": True})
        _print_into(asked["log"])
        error = ""
        try:
            _compute(asked["config"], asked["folder"], asked["rule"], lines)
        except MolyneuxError as problem:
            error = str(problem)
        _print_into(os.devnull)
        free_memory()
        lines.write({"ended": error})
        first = first or resident_bytes()
        if threading.active_count() > others or resident_bytes() > first + GROWTH:
            return


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
    with as_in_new_process():
        experiment = read_experiment(read_document(Path(config)))
        if rule:
            run_watched(experiment, Path(folder), Path(rule), progress)
        else:
            run_experiment(experiment, Path(folder), progress=progress)


def _requests() -> queue.SimpleQueue[dict[str, str]]:
    """What comes on standard input, read by a thread, which ends the process where that ends. Others find it empty."""
    requests, source = queue.SimpleQueue[dict[str, str]](), os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def read() -> None:
        rest = b""
        while part := os.read(source, 65536):  # past the buffers of Python, whose locks would be missed when the process ends
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                requests.put(json.loads(line))
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    return requests


def _own_output() -> TextIO:
    """Standard output for progress alone: whatever a model, a world or a library prints goes to standard error.

    It stays open until the process is gone: its end is what tells the other side that no more comes.
    """
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8", closefd=False)
    os.dup2(2, 1)
    return stream


def _print_into(path: str) -> None:
    """From here on, what this process prints is appended to a file; what waits in buffers is written where it belongs before."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with suppress(AttributeError, OSError, TypeError):  # the buffers of C code
        ctypes.CDLL(None).fflush(None)
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    for number in (1, 2):
        os.dup2(log, number)
    os.close(log)
