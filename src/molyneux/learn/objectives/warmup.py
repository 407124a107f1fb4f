"""Schedules of a weight, as functions of where training stands."""

from __future__ import annotations

import math
from dataclasses import dataclass

from molyneux.core import ConfigError, Progress


@dataclass(frozen=True)
class Warmup:
    """A weight that rises linearly from `start` to `value` and stays there.

    Args:
        value: the final weight.
        fraction: share of the training after which it is reached.
        start: the weight at the first step.

    >>> Warmup(2.0, fraction=0.5).at(Progress(25, 100))
    1.0
    """

    value: float = 1.0
    fraction: float = 0.2
    start: float = 0.0

    def __post_init__(self) -> None:
        problems = [
            f"{name}: expected a number of at least 0, got {number}"
            for name, number in (("value", self.value), ("start", self.start))
            if not 0 <= number < math.inf
        ]
        if not 0 < self.fraction <= 1:
            problems.append(f"fraction: expected a share of the training in 0..1, above 0, got {self.fraction}")
        if problems:
            raise ConfigError(problems)

    def at(self, progress: Progress) -> float:
        """The weight at this point of the training."""
        return self.start + (self.value - self.start) * min(1.0, progress.fraction / self.fraction)


def weight_at(weight: float | Warmup, progress: Progress) -> float:
    """A weight, constant or scheduled, at this point of the training."""
    return weight.at(progress) if isinstance(weight, Warmup) else float(weight)
