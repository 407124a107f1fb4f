"""A weight that rises again and again."""

from __future__ import annotations

from dataclasses import dataclass

from molyneux.core import ConfigError, Progress
from molyneux.learn.objectives.warmup import levels_below_zero


@dataclass(frozen=True)
class Cyclical:
    """A weight that rises linearly from `start` to `value`, stays, and begins anew: Fu et al. (NAACL 2019), equations 6 and 7.

    Cyclical Annealing Schedule: A Simple Approach to Mitigating KL Vanishing. In each of the cycles, which are equally long, the
    code is first used while it costs little, and what it has learned by then is kept in the next. Once training is over, where
    validation looks at it from, it has its final value.

    Args:
        cycles: how often it rises (the paper: 4).
        value: the weight at the end of each rise.
        rising: share of a cycle in which it rises (the paper's R).
        start: the weight at the beginning of each cycle.

    >>> [Cyclical(2, value=1.0).at(Progress(step, 100)) for step in (0, 10, 25, 50, 60, 99)]
    [0.0, 0.4, 1.0, 0.0, 0.4, 1.0]
    """

    cycles: int
    value: float = 1.0
    rising: float = 0.5
    start: float = 0.0

    def __post_init__(self) -> None:
        problems = levels_below_zero(value=self.value, start=self.start)
        if self.cycles < 1:
            problems.append(f"cycles: expected at least 1, got {self.cycles}")
        if not 0 < self.rising <= 1:
            problems.append(f"rising: expected a share of a cycle in 0..1, above 0, got {self.rising}")
        if problems:
            raise ConfigError(problems)

    def at(self, progress: Progress) -> float:
        """The weight at this point of the training."""
        if progress.step >= progress.steps:
            return self.value
        within = progress.step * self.cycles % progress.steps / progress.steps
        return self.start + (self.value - self.start) * min(1.0, within / self.rising)
