"""How a run tells the outside how it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from molyneux.learn import FitProgress


class RunProgress(FitProgress, Protocol):
    """Receives the progress of a run. Calls may be frequent and must be cheap."""

    def begin(self, step: str, note: str) -> None:
        """A step begins; the note says in words what it does, or that it was done before."""
        ...

    def advance(self, done: int, total: int, note: str = "") -> None:
        """So much of the present step is done."""
        ...


class Silent:
    """Listens to everything and says nothing."""

    def begin(self, step: str, note: str) -> None:
        """A step begins."""

    def advance(self, done: int, total: int, note: str = "") -> None:
        """So much is done."""

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step of training."""

    def epoch(self, row: Mapping[str, float | int | None]) -> None:
        """After an epoch of training."""
