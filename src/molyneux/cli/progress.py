"""Progress: which step, how far, how fast, how long still."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from molyneux.cli.minutes import Minutes
from molyneux.cli.words import duration, joined, losses
from molyneux.run import RunProgress, Silent


@contextmanager
def shown(*, quiet: bool) -> Iterator[RunProgress]:
    """A listener that draws bars on standard error; where that is no terminal, it writes a line a minute."""
    if quiet:
        yield Silent()
        return
    if not sys.stderr.isatty():
        minutes = Minutes()
        yield minutes
        minutes.end()
        return
    with Progress(*bar_columns(), console=Console(stderr=True), refresh_per_second=4, expand=True) as bars:
        yield Bars(bars)


def bar_columns() -> tuple[ProgressColumn, ...]:
    """What is doing, a bar, how far, how long already; the third gives way where a terminal is narrow."""
    name, note = Column(no_wrap=True), Column(ratio=1, no_wrap=True, overflow="ellipsis")
    return (
        TextColumn("{task.description}", table_column=name),
        BarColumn(16),
        TextColumn("{task.fields[note]}", table_column=note),
        TimeElapsedColumn(),
    )


class Bars:
    """One bar for each step."""

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
            self._bars.update(self._task, completed=done, total=total, note=joined(f"{done:,}/{total:,}", note, left))

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step of training."""
        if self._task is not None:
            note = joined(
                f"{done:,}/{total:,}", f"{samples_per_second:,.0f} samples/s", f"{duration(seconds_left)} left", self._epoch
            )
            self._bars.update(self._task, completed=done, total=total, note=note)

    def epoch(self, row: Mapping[str, float]) -> None:
        """After an epoch of training."""
        self._epoch = losses(row)

    def _finish(self) -> None:
        if self._task is not None:
            self._bars.update(self._task, total=1, completed=1)
