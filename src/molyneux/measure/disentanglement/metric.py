"""Metrics of disentanglement and their outcomes, as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from molyneux.core import ConfigError, nearest
from molyneux.measure.disentanglement.table import CheckedCodes

Variant = Literal["published", "paper", "dlib", "recommended"]
"""`published`: as the code of the text study runs; `paper`: as its algorithms are printed, where that differs; `dlib`: as
disentanglement_lib runs; `recommended`: what this package stands for."""


@dataclass(frozen=True)
class MetricResult:
    """One number and what it is made of.

    Args:
        value: NaN where the formula has no value there.
        factors: (F,) the same by factor, where it is a mean over factors.
        dimensions: (D,) the same by dimension, where it is a mean over (live) dimensions.
        matrix: (D, F) what the number was computed from.
        note: one sentence where a reader of the number needs it.
    """

    value: float
    factors: np.ndarray | None = None
    dimensions: np.ndarray | None = None
    matrix: np.ndarray | None = None
    note: str = ""


MetricFunction = Callable[[CheckedCodes, np.random.Generator], Mapping[str, MetricResult]]
"""A variant of a metric: outcomes by the name of the score."""


@dataclass(frozen=True)
class Metric:
    """A metric in all its variants.

    Args:
        name: such as `mig`.
        description: what 1 means, in one sentence.
        variants: the functions that compute it, by variant.
        higher_is_better: direction; the same for all of its scores.
        bounds: of the recommended variant; those of the others are open, because their defects are.
        parts: names of its scores where it has several.
        trains: whether it trains forests or boosting, which takes seconds.
    """

    name: str
    description: str
    variants: Mapping[Variant, MetricFunction]
    higher_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    parts: tuple[str, ...] = field(default=(), kw_only=True)
    trains: bool = field(default=False, kw_only=True)

    @property
    def scores(self) -> tuple[str, ...]:
        """Names of what its variants give."""
        return self.parts or (self.name,)

    def function(self, variant: Variant) -> MetricFunction:
        """The function that computes a variant.

        Raises:
            ConfigError: this metric has no such variant.
        """
        if variant not in self.variants:
            raise ConfigError(f"{self.name} has no variant {variant!r}; {nearest(str(variant), self.variants)}")
        return self.variants[variant]


def nothing_live(names: tuple[str, ...], factors: int) -> dict[str, MetricResult]:
    """The outcomes of codes of which no dimension is live: 0."""
    note = "no dimension of the code varies"
    return {name: MetricResult(0.0, np.zeros(factors), np.zeros(0), np.zeros((0, factors)), note) for name in names}
