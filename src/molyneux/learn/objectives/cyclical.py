"""A weight that rises again and again."""

from __future__ import annotations

from dataclasses import dataclass

from molyneux.core import ConfigError, Progress
from molyneux.learn.objectives.warmup import counts_below_one, levels_below_zero, shares_out_of_range


@dataclass(frozen=True)
class Cyclical:
    """A weight that rises linearly from `start` to `value`, stays, and begins anew: Fu et al. (NAACL 2019), equations 6 and 7.

    Cyclical Annealing Schedule: A Simple Approach to Mitigating KL Vanishing. In each of the cycles, which are equally long, the
    code is first used while it costs little, and what it has learned by then is kept in the next. Once training is over, where
    validation looks at it from, it has its final value. A cycle has at least two steps, for in a single one nothing rises.

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
        problems += counts_below_one(cycles=self.cycles)
        problems += shares_out_of_range("a cycle", rising=self.rising)
        if problems:
            raise ConfigError(problems)

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
