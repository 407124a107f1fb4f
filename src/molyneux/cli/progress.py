"""Progress on standard error: bars on a terminal, one line a minute where there is none, as in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from molyneux.cli.parser import complain
from molyneux.run import RunProgress, Silent, SweepProgress

EVERY, LONG = 60.0, 10.0
"""Seconds between two lines; how long a step takes at least that has a line at its end."""

Clock = Callable[[], float]


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
        yield _SilentSweep()
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


class RunBars:
    """Draws one bar for each step of a run."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None
        self._step = self._epoch = ""
        self._began = time.perf_counter()

    def begin(self, step: str, note: str) -> None:
        """A step begins, or its next part."""
        if self._task is not None:
            self._finish()
        if step != self._step or self._task is None:
            self._task = self._bars.add_task(step, total=None, note=note)
        else:
            self._bars.update(self._task, total=None, completed=0, note=note)
        self._step, self._epoch, self._began = step, "", time.perf_counter()

    def advance(self, done: int, total: int, note: str = "") -> None:
        """So much is done."""
        if self._task is not None:
            seconds = time.perf_counter() - self._began
            left = f"{duration(seconds / done * (total - done))} left" if 0 < done < total else ""
            self._bars.update(self._task, completed=done, total=total, note=_joined(f"{done:,}/{total:,}", note, left))

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step of training."""
        if self._task is not None:
            note = _joined(
                f"{done:,}/{total:,}", f"{samples_per_second:,.0f} samples/s", f"{duration(seconds_left)} left", self._epoch
            )
            self._bars.update(self._task, completed=done, total=total, note=note)

    def epoch(self, row: Mapping[str, float]) -> None:
        """After an epoch of training."""
        self._epoch = _losses(row)

    def _finish(self) -> None:
        if self._task is not None:
            self._bars.update(self._task, total=1, completed=1)


class RunLines:
    """Writes the progress of a run in lines."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._step, self._epoch = clock, "", ""
        self._began = self._part = self._written = clock()

    def begin(self, step: str, note: str) -> None:
        """A step begins, or its next part."""
        now = self._clock()
        if step != self._step:
            self.end()
            self._step, self._began = step, now
        self._part, self._epoch = now, ""

    def advance(self, done: int, total: int, note: str = "") -> None:
        """So much is done."""
        seconds = self._clock() - self._part
        left = f"{duration(seconds / done * (total - done))} left" if 0 < done < total else ""
        self._write(f"{done:,}/{total:,}", note, left)

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step of training."""
        self._write(f"{done:,}/{total:,}", f"{samples_per_second:,.0f} samples/s", f"{duration(seconds_left)} left", self._epoch)

    def epoch(self, row: Mapping[str, float]) -> None:
        """After an epoch of training."""
        self._epoch = _losses(row)

    def end(self) -> None:
        """The step that was under way is done."""
        seconds = self._clock() - self._began
        if self._step and seconds >= LONG:
            self._print(f"done in {duration(seconds)}")

    def _write(self, *parts: str) -> None:
        if self._clock() - self._written >= EVERY:
            self._print(_joined(*parts))

    def _print(self, text: str) -> None:
        self._written = self._clock()
        complain(f"{self._step}: {text}")


class SweepLines:
    """Writes the progress of a study in lines."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._written = clock()
        self._planned = self._ended = self._failed = 0

    def plan(self, runs: int) -> None:
        """So many more runs are to be done."""
        with self._lock:
            self._planned += runs

    def run(self, name: str, step: str, done: int, total: int) -> None:
        """Where a run stands."""
        with self._lock:
            if step in ("done", "failed"):
                self._ended, self._failed = self._ended + 1, self._failed + (step == "failed")
            if self._clock() - self._written >= EVERY:
                self._written = self._clock()
                failed = f"{self._failed} failed" if self._failed else ""
                complain(f"study: {_joined(f'{self._ended}/{self._planned} runs', failed, _now(name, step, done, total))}")


class _SilentSweep:
    """Draws nothing."""

    def plan(self, runs: int) -> None:
        """More runs."""

    def run(self, name: str, step: str, done: int, total: int) -> None:
        """Where a run stands."""


class SweepBars:
    """Draws one bar for the study and one for each run under way."""

    def __init__(self, bars: Progress) -> None:
        self._bars, self._lock = bars, threading.Lock()
        self._all = bars.add_task("study", total=0, note="")
        self._runs: dict[str, TaskID] = {}
        self._planned = self._ended = self._failed = 0

    def plan(self, runs: int) -> None:
        """So many more runs are to be done."""
        with self._lock:
            self._planned += runs
            self._draw()

    def run(self, name: str, step: str, done: int, total: int) -> None:
        """Where a run stands."""
        with self._lock:
            if step in ("done", "failed"):
                self._ended, self._failed = self._ended + 1, self._failed + (step == "failed")
                if name in self._runs:
                    self._bars.remove_task(self._runs.pop(name))
                self._draw()
                return
            if name not in self._runs:
                self._runs[name] = self._bars.add_task(name, total=None, note="")
            self._bars.update(self._runs[name], completed=done, total=total or None, note=step)

    def _draw(self) -> None:
        note = f"{self._ended}/{self._planned} runs" + (f", {self._failed} failed" if self._failed else "")
        self._bars.update(self._all, completed=self._ended, total=self._planned, note=note)


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


def _losses(row: Mapping[str, float]) -> str:
    """An epoch's number and its losses."""
    losses = [f"{row[name]:.1f}" for name in ("train/loss", "validation/loss") if name in row]
    return f"epoch {int(row['epoch'])}: loss {' / '.join(losses)}"


def _now(name: str, step: str, done: int, total: int) -> str:
    return _joined(f"{name} {step}", f"{done:,}/{total:,}" if total > 1 else "")
