"""The progress of a training, as it is told to whoever shows it."""

from __future__ import annotations

import time
import warnings
from typing import Protocol, runtime_checkable

from molyneux.core.history import Row

__all__ = ["FitProgress", "ProgressClock", "TakesNotes", "tell_note"]

_TOLD_EVERY = 0.1
"""Seconds between two calls of `FitProgress.step`."""


class FitProgress(Protocol):
    """Receives the progress of a training. Calls are frequent and must be cheap."""

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step: steps done and in all, speed, and an estimate of the time left.

        The steps are those of the optimiser, and then, counted anew, those of a long fit after training (`core.FitStore`).
        """
        ...

    def epoch(self, row: Row) -> None:
        """After an epoch: its row of the history."""
        ...


@runtime_checkable
class TakesNotes(Protocol):
    """A `FitProgress` that also receives what the user of a training should know."""

    def note(self, text: str) -> None:
        """One line."""
        ...


def tell_note(progress: FitProgress | None, text: str) -> None:
    """Give a line to a progress that takes notes; without one it is a warning."""
    if isinstance(progress, TakesNotes):
        progress.note(text)
    else:
        warnings.warn(text, stacklevel=3)


class ProgressClock:
    """Reports steps to a `FitProgress`, at most ten times a second.

    Args:
        progress: receives the reports; None for no reports.
        first: steps that were done before.
        total: steps in all.
        batch_size: samples of a step.
    """

    def __init__(self, progress: FitProgress | None, first: int, total: int, batch_size: int) -> None:
        self._progress, self._first, self._total, self._batch_size = progress, first, total, batch_size
        self._started = time.perf_counter()
        self._told = 0.0

    def tell(self, done: int) -> None:
        """Tell, if it is time or the end."""
        if self._progress is None:
            return
        now = time.perf_counter()
        if now - self._told >= _TOLD_EVERY or done >= self._total:
            self._told = now
            seconds = max((now - self._started) / max(1, done - self._first), 1e-9)
            self._progress.step(done, self._total, self._batch_size / seconds, (self._total - done) * seconds)
