"""Weights of the terms of an objective: constant, or functions of where training stands."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import cast

from torch import Tensor

from molyneux.core import ConfigError, Progress
from molyneux.learn.checks import levels_below_zero, refuse, shares_out_of_range, too_small


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
        levels = levels_below_zero(value=self.value, start=self.start)
        refuse([*levels, *shares_out_of_range("the training", fraction=self.fraction)])

    def at(self, progress: Progress) -> float:
        """The weight at this point of the training."""
        return self.start + (self.value - self.start) * min(1.0, progress.fraction / self.fraction)


@dataclass(frozen=True)
class WarmupSteps:
    """A weight that rises linearly for a number of optimiser steps, whatever the length of the training.

    At the end of training, which is what validation uses, the weight is `value`, even if the training had fewer steps.

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
        refuse([*levels_below_zero(value=self.value, start=self.start), *too_small(self, "steps")])

    def at(self, progress: Progress) -> float:
        """The weight at this point of the training."""
        over = progress.step >= progress.steps
        return self.value if over else self.start + (self.value - self.start) * min(1.0, progress.step / self.steps)


@dataclass(frozen=True)
class Cyclical:
    """A weight that rises linearly from `start` to `value`, stays, and starts again: Fu et al. (NAACL 2019), equations 6 and 7.

    Cyclical Annealing Schedule: A Simple Approach to Mitigating KL Vanishing. The cycles are equally
    long. At the end of training, which is what validation uses, the weight is `value`. A cycle has at least two steps.

    Args:
        cycles: how often it rises (the paper: 4).
        value: the weight at the end of each rise.
        rising: share of a cycle in which it rises (the paper's R).
        start: the weight at the beginning of each cycle.

    >>> tuple(Cyclical(2, value=1.0).at(Progress(step, 100)) for step in (0, 10, 25, 50, 60, 99))
    (0.0, 0.4, 1.0, 0.0, 0.4, 1.0)
    """

    cycles: int
    value: float = 1.0
    rising: float = 0.5
    start: float = 0.0

    def __post_init__(self) -> None:
        levels = levels_below_zero(value=self.value, start=self.start)
        refuse([*levels, *too_small(self, "cycles"), *shares_out_of_range("a cycle", rising=self.rising)])

    def at(self, progress: Progress) -> float:
        """The weight at this point of the training.

        Raises:
            ConfigError: the training is too short for so many cycles.
        """
        if progress.step >= progress.steps:
            return self.value
        if progress.steps < 2 * self.cycles:
            raise ConfigError(
                f"cycles: expected at least 2 steps of the training in a cycle, got {self.cycles} cycles in {progress.steps} "
                "steps: choose fewer cycles or train longer"
            )
        within = progress.step * self.cycles % progress.steps / progress.steps
        return self.start + (self.value - self.start) * min(1.0, within / self.rising)


Weight = float | Cyclical | WarmupSteps | Warmup
"""A number, or a schedule: in a file, `cycles` makes it a `Cyclical`, `steps` a `WarmupSteps`, and neither a `Warmup`."""


def weight_at(weight: Weight, progress: Progress) -> float:
    """A weight, constant or scheduled, at this point of the training; a tensor where several trainings are computed at once."""
    if isinstance(weight, Cyclical | WarmupSteps | Warmup):
        return weight.at(progress)
    varied: object = weight
    return cast(float, varied) if isinstance(varied, Tensor) else float(weight)


def weight_problems(**weights: Weight) -> list[str]:
    """A problem for each weight that is neither a number of at least 0 nor a schedule; schedules check themselves."""
    problems = []
    for name, weight in weights.items():
        if isinstance(weight, Cyclical | WarmupSteps | Warmup):
            continue
        if isinstance(weight, Real):
            problems += levels_below_zero(**{name: weight})
        else:
            problems.append(
                f"{name}: expected a number of at least 0 or a schedule (Cyclical, Warmup or WarmupSteps), got {weight!r}"
            )
    return problems
