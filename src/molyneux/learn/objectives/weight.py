"""Weights of terms: constant, or functions of where training stands."""

from __future__ import annotations

import math

from molyneux.core import Progress
from molyneux.learn.objectives.cyclical import Cyclical
from molyneux.learn.objectives.warmup import Warmup, WarmupSteps

Weight = float | Cyclical | WarmupSteps | Warmup
"""A number, or a schedule: in a file, `cycles` makes it a `Cyclical`, `steps` a `WarmupSteps`, and neither a `Warmup`."""


def weight_at(weight: Weight, progress: Progress) -> float:
    """A weight, constant or scheduled, at this point of the training."""
    return float(weight) if isinstance(weight, int | float) else weight.at(progress)


def weight_problems(**weights: Weight) -> list[str]:
    """A sentence for each weight that is no number of at least 0; schedules have checked themselves."""
    return [
        f"{name}: expected a number of at least 0, got {weight}"
        for name, weight in weights.items()
        if isinstance(weight, int | float) and not 0 <= weight < math.inf
    ]
