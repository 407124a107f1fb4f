"""Progress where there is no terminal, as in a log: one line a minute, and one at the end of a step that took long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from molyneux.cli.output import complain
from molyneux.cli.words import duration, joined, losses

EVERY, LONG = 60.0, 10.0
"""Seconds between two lines; how long a step takes at least that has a line at its end."""

Clock = Callable[[], float]


class Minutes:
    """Tells how a run goes in lines on standard error."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._step, self._epoch = clock, "", ""
        self._began = self._part = self._told = clock()

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
        self._tell(f"{done:,}/{total:,}", note, left)

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step of training."""
        self._tell(f"{done:,}/{total:,}", f"{samples_per_second:,.0f} samples/s", f"{duration(seconds_left)} left", self._epoch)

    def epoch(self, row: Mapping[str, float]) -> None:
        """After an epoch of training."""
        self._epoch = losses(row)

    def end(self) -> None:
        """The step that was under way is done."""
        seconds = self._clock() - self._began
        if self._step and seconds >= LONG:
            self._say(f"done in {duration(seconds)}")

    def _tell(self, *parts: str) -> None:
        if self._clock() - self._told >= EVERY:
            self._say(joined(*parts))

    def _say(self, words: str) -> None:
        self._told = self._clock()
        complain(f"{self._step}: {words}")


class SweepMinutes:
    """Tells how a study goes in lines on standard error."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._told = clock()
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
            if self._clock() - self._told >= EVERY:
                self._told = self._clock()
                failed = f"{self._failed} failed" if self._failed else ""
                complain(f"study: {joined(f'{self._ended}/{self._planned} runs', failed, _now(name, step, done, total))}")


def _now(name: str, step: str, done: int, total: int) -> str:
    return joined(f"{name} {step}", f"{done:,}/{total:,}" if total > 1 else "")
