"""Progress on standard error: bars on a terminal, one line every ten seconds where there is none, as in a log."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from molyneux.cli.parser import answering, complain
from molyneux.run import Silent

if TYPE_CHECKING:
    from molyneux.run import RunProgress, SweepProgress

EVERY = 10.0
"""Seconds between two lines, and how long a step takes at least that has a line at its end."""

WIDTH, NARROWEST = 120, 40
"""Columns of a table that goes into a file, and the fewest that a table is made for."""

Clock = Callable[[], float]


def answer_width() -> int:
    """Columns of an answer: those of the terminal, or of COLUMNS, or of a file."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit():
        return WIDTH
    return max(NARROWEST, shutil.get_terminal_size().columns)


class AnswerConsole(Console):
    """A console for answers: that nobody reads them any more, or their disk is full, is an OutputError and ends nothing here."""

    def print(self, *things: Any, **settings: Any) -> None:
        """See `rich.console.Console`."""
        with answering():
            super().print(*things, **settings)

    def on_broken_pipe(self) -> None:
        """See `rich.console.Console`, which ends the process with status 1."""
        raise BrokenPipeError


@contextmanager
def shown(*, quiet: bool) -> Iterator[RunProgress]:
    """What draws the progress of a run."""
    if quiet:
        yield Silent()
        return
    if not sys.stderr.isatty():
        lines = RunLines()
        yield lines
        lines.end()
        return
    with Progress(*_columns(), console=Console(stderr=True), refresh_per_second=4, expand=True) as bars:
        yield RunBars(bars)


@contextmanager
def sweep_shown(*, quiet: bool) -> Iterator[SweepProgress]:
    """What draws the progress of a study."""
    if quiet:
        yield Sweep()
        return
    if not sys.stderr.isatty():
        yield SweepLines()
        return
    with Progress(*_columns(), console=Console(stderr=True), refresh_per_second=2, expand=True) as bars:
        yield SweepBars(bars)


def duration(seconds: float) -> str:
    """A duration in minutes and seconds.

    >>> duration(75), duration(3700)
    ('1:15', '1:01:40')
    """
    whole = int(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


class _Run(ABC):
    """The progress of a run, in words."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._step, self._epoch = clock, "", ""
        self._began = self._part = self._written = clock()

    def begin(self, step: str, note: str) -> None:
        """See `RunProgress`."""
        now = self._clock()
        if step != self._step:
            self.end()
            self._step, self._began = step, now
        self._part, self._epoch = now, ""

    def advance(self, done: int, total: int, note: str = "") -> None:
        """See `RunProgress`."""
        seconds = self._clock() - self._part
        left = f"{duration(seconds / done * (total - done))} left" if 0 < done < total else ""
        self.draw(done, total, _joined(f"{done:,}/{total:,}", note, left))

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """See `RunProgress`."""
        rate, left = f"{samples_per_second:,.0f} samples/s", f"{duration(seconds_left)} left"
        self.draw(done, total, _joined(f"{done:,}/{total:,}", rate, left, self._epoch))

    def epoch(self, row: Mapping[str, float]) -> None:
        """See `RunProgress`."""
        losses = [f"{row[name]:.1f}" for name in ("train/loss", "validation/loss") if name in row]
        self._epoch = f"epoch {int(row['epoch'])}: loss {' / '.join(losses)}"

    def note(self, text: str) -> None:
        """See `TakesNotes`."""
        complain(text)

    @abstractmethod
    def draw(self, done: int, total: int, text: str) -> None:
        """Show how far the step is."""

    @abstractmethod
    def end(self) -> None:
        """Show that the step that was under way is done."""


class RunBars(_Run):
    """Draws one bar for each step of a run."""

    def __init__(self, bars: Progress) -> None:
        super().__init__()
        self._bars = bars
        self._task: TaskID | None = None

    def begin(self, step: str, note: str) -> None:
        """See `RunProgress`."""
        new = step != self._step
        super().begin(step, note)
        if new or self._task is None:
            self._task = self._bars.add_task(step, total=None, note=note)
        else:
            self._bars.update(self._task, total=None, completed=0, note=note)

    def draw(self, done: int, total: int, text: str) -> None:
        """See `_Run`."""
        if self._task is not None:
            self._bars.update(self._task, completed=done, total=total, note=text)

    def note(self, text: str) -> None:
        """See `TakesNotes`."""
        self._bars.console.print(text, markup=False, highlight=False)

    def end(self) -> None:
        """See `_Run`."""
        if self._task is not None:
            self._bars.update(self._task, total=1, completed=1)


class RunLines(_Run):
    """Writes the progress of a run in lines."""

    def draw(self, done: int, total: int, text: str) -> None:
        """See `_Run`."""
        if self._clock() - self._written >= EVERY:
            self._print(text)

    def end(self) -> None:
        """See `_Run`."""
        seconds = self._clock() - self._began
        if self._step and seconds >= EVERY:
            self._print(f"done in {duration(seconds)}")

    def _print(self, text: str) -> None:
        self._written = self._clock()
        complain(f"{self._step}: {text}")


class Sweep:
    """Counts the runs of a study, and shows nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planned = self._ended = self._failed = 0

    def plan(self, runs: int) -> None:
        """See `SweepProgress`."""
        with self._lock:
            self._planned += runs

    def run(self, name: str, step: str, done: int, total: int) -> None:
        """See `SweepProgress`."""
        with self._lock:
            self._ended += step in ("done", "failed")
            self._failed += step == "failed"
            self.draw(name, step, done, total)

    def draw(self, name: str, step: str, done: int, total: int) -> None:
        """Show where a run stands, and all runs."""

    @property
    def _note(self) -> str:
        return _joined(f"{self._ended}/{self._planned} runs", f"{self._failed} failed" if self._failed else "")


class SweepLines(Sweep):
    """Writes the progress of a study in lines."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        super().__init__()
        self._clock, self._written = clock, clock()

    def draw(self, name: str, step: str, done: int, total: int) -> None:
        """See `Sweep`."""
        if self._clock() - self._written >= EVERY:
            self._written = self._clock()
            now = _joined(f"{name} {step}", f"{done:,}/{total:,}" if total > 1 else "")
            complain(f"study: {_joined(self._note, now)}")


class SweepBars(Sweep):
    """Draws one bar for the study and one for each run under way."""

    def __init__(self, bars: Progress) -> None:
        super().__init__()
        self._bars = bars
        self._all = bars.add_task("study", total=0, note="")
        self._runs: dict[str, TaskID] = {}

    def draw(self, name: str, step: str, done: int, total: int) -> None:
        """See `Sweep`."""
        if step not in ("done", "failed"):
            if name not in self._runs:
                self._runs[name] = self._bars.add_task(name, total=None, note="")
            self._bars.update(self._runs[name], completed=done, total=total or None, note=step)
        elif name in self._runs:
            self._bars.remove_task(self._runs.pop(name))
        self._bars.update(self._all, completed=self._ended, total=self._planned, note=self._note)


def _columns() -> tuple[ProgressColumn, ...]:
    """Name, bar, how far, time so far; the third gives way where a terminal is narrow."""
    name, note = Column(no_wrap=True), Column(ratio=1, no_wrap=True, overflow="ellipsis")
    return (
        TextColumn("{task.description}", table_column=name),
        BarColumn(16),
        TextColumn("{task.fields[note]}", table_column=note),
        TimeElapsedColumn(),
    )


def _joined(*parts: str) -> str:
    """The parts that are not empty, in one line."""
    return " · ".join(part for part in parts if part)
