"""How training tells the outside how it goes."""

from __future__ import annotations

from typing import Protocol

from molyneux.learn.history import Row


class FitProgress(Protocol):
    """Is told how training goes. Calls are frequent and must be cheap."""

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """After a step: optimiser steps done and in all, speed, and an estimate of the time left."""
        ...

    def epoch(self, row: Row) -> None:
        """After an epoch: its row of the history."""
        ...
