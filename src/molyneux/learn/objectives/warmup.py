"""Weights that rise once and stay."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

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
        problems += shares_out_of_range("the training", fraction=self.fraction)
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
        problems += counts_below_one(steps=self.steps)
        if problems:
            raise ConfigError(problems)

    def at(self, progress: Progress) -> float:
        """The weight at this point of the training."""
        over = progress.step >= progress.steps
        return self.value if over else self.start + (self.value - self.start) * min(1.0, progress.step / self.steps)


def levels_below_zero(**levels: float) -> list[str]:
    """A problem for each level that no weight can have."""
    return [
        f"{name}: expected a number of at least 0, got {shown(level)}"
        for name, level in levels.items()
        if not (is_number(level) and 0 <= level < math.inf)
    ]


def counts_below_one(**counts: float) -> list[str]:
    """A problem for each number of steps or cycles that there cannot be."""
    return [
        f"{name}: expected at least 1, got {shown(count)}"
        for name, count in counts.items()
        if not (is_number(count) and count >= 1)
    ]


def shares_out_of_range(whole: str, **shares: float) -> list[str]:
    """A problem for each share of the whole in which nothing can rise."""
    return [
        f"{name}: expected a share of {whole} in 0..1, above 0, got {shown(share)}"
        for name, share in shares.items()
        if not (is_number(share) and 0 < share <= 1)
    ]


def is_number(value: object) -> bool:
    """Whether a setting that came from anywhere is a number."""
    return isinstance(value, Real)


def shown(value: object) -> str:
    """A setting that came from anywhere, as a message shows it."""
    return f"{value}" if is_number(value) else f"{value!r}"
