"""Weights that rise once and stay."""

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
        problems = levels_below_zero(value=self.value, start=self.start)
        if not 0 < self.fraction <= 1:
            problems.append(f"fraction: expected a share of the training in 0..1, above 0, got {self.fraction}")
        if problems:
            raise ConfigError(problems)

    def at(self, progress: Progress) -> float:
        """The weight at this point of the training."""
        return self.start + (self.value - self.start) * min(1.0, progress.fraction / self.fraction)


@dataclass(frozen=True)
class WarmupSteps:
    """A weight that rises linearly for so many optimiser steps, however long the training is, as published systems say it.

    In a file it is told from `Warmup` by its `steps`: `capacity: {value: 10, steps: 5000}`. Once training is over, where
    validation looks at it from, it has its final value, even if the training had fewer steps.

    Args:
        steps: optimiser steps after which the final weight is reached.
        value: the final weight.
        start: the weight at the first step.

    >>> WarmupSteps(5000, value=10.0).at(Progress(1000, 3750))
    2.0
    >>> WarmupSteps(5000, value=10.0).at(Progress(3750, 3750))
    10.0
    """

    steps: int
    value: float = 1.0
    start: float = 0.0

    def __post_init__(self) -> None:
        problems = levels_below_zero(value=self.value, start=self.start)
        if self.steps < 1:
            problems.append(f"steps: expected at least 1, got {self.steps}")
        if problems:
            raise ConfigError(problems)

    def at(self, progress: Progress) -> float:
        """The weight at this point of the training."""
        over = progress.step >= progress.steps
        return self.value if over else self.start + (self.value - self.start) * min(1.0, progress.step / self.steps)


def levels_below_zero(**levels: float) -> list[str]:
    """A problem for each level that no weight can have."""
    return [
        f"{name}: expected a number of at least 0, got {level}" for name, level in levels.items() if not 0 <= level < math.inf
    ]
