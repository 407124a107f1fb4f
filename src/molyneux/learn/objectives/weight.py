"""Weights of terms: constant, or functions of where training stands."""

from __future__ import annotations

from molyneux.core import Progress
from molyneux.learn.objectives.cyclical import Cyclical
from molyneux.learn.objectives.warmup import Warmup, WarmupSteps, is_number, levels_below_zero

Weight = float | Cyclical | WarmupSteps | Warmup
"""A number, or a schedule: in a file, `cycles` makes it a `Cyclical`, `steps` a `WarmupSteps`, and neither a `Warmup`."""


def weight_at(weight: Weight, progress: Progress) -> float:
    """A weight, constant or scheduled, at this point of the training."""
    return weight.at(progress) if isinstance(weight, Cyclical | WarmupSteps | Warmup) else float(weight)


def weight_problems(**weights: Weight) -> list[str]:
    """A sentence for each weight that is neither a number of at least 0 nor a schedule; schedules have checked themselves."""
    problems = []
    for name, weight in weights.items():
        if isinstance(weight, Cyclical | WarmupSteps | Warmup):
            continue
        if is_number(weight):
            problems += levels_below_zero(**{name: weight})
        else:
            problems.append(
                f"{name}: expected a number of at least 0 or a schedule (Cyclical, Warmup or WarmupSteps), got {weight!r}"
            )
    return problems
