"""What a mean of views still shows: the one rule by which ghosts are labelled.

A mean shows a factor if views with 90 % of its weight agree in it and lie near each other in every nuisance that dissolves
it; it does not show the factor if more than one third of its weight always falls outside of any one value, or of any window
of such a nuisance; what lies between is not taught.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from molyneux.core import Factor

SURE = 0.9
"""Share of the weight that has to agree for a factor to be told."""

MIXED = 2 / 3
"""Largest share that may agree where a factor cannot be told."""

NOT_TAUGHT = -1

ITSELF = "itself"
"""The nuisance in which any two samples differ: for views that lie together in nothing else, such as contours felt from
different starts."""

Codes = float | Mapping[str, float]
"""A number of codes; or one for each value of another factor."""

_EXACT = 1e-6
"""Weights add up to 1 but for rounding."""

_CELLS = 4_000_000
"""Pairs of members that are compared at once."""


@dataclass(frozen=True)
class Blur:
    """How far views may lie apart in a nuisance until a factor can no longer be told in their mean.

    Args:
        nuisance: name of a factor with ordered codes.
        near: window of codes within which views are as good as one.
        far: window of codes that has to be exceeded for the factor to be dissolved; infinite where it never is.
        period: after how many codes the view repeats itself.
        by: factor on whose value the three depend, where they are mappings. Where a source lacks it, the largest number holds.
    """

    nuisance: str
    near: Codes
    far: Codes = inf
    period: Codes = inf
    by: str = ""


@dataclass(frozen=True)
class Means:
    """Means of views.

    Args:
        codes: by factor and nuisance, (n, K) codes of the members.
        weights: (n, K), rows add up to 1; 0 fills rows up.
        factors: of the source.
    """

    codes: Mapping[str, np.ndarray]
    weights: np.ndarray
    factors: Sequence[Factor]

    def __getitem__(self, rows: np.ndarray) -> Means:
        used = int((self.weights[rows] > 0).sum(1).max(initial=1))  # members stand in front
        codes = {name: columns[rows, :used] for name, columns in self.codes.items()}
        return Means(codes, self.weights[rows, :used], self.factors)


def labels(means: Means, name: str, blurs: Sequence[Blur]) -> np.ndarray:
    """What is taught about a factor, (n,) codes: its code, the number of its values (unreadable), or -1 (nothing).

    Args:
        means: n of them.
        name: of the factor.
        blurs: the nuisances that dissolve it; those that the source lacks do not.
    """
    sizes = (means.weights > 0).sum(1)
    order = np.argsort(sizes, kind="stable")
    found = np.empty(len(order), np.int64)
    start = 0
    while start < len(order):
        step = max(1, min(len(order) - start, _CELLS // int(sizes[order[min(start + 4096, len(order) - 1)]]) ** 2, 4096))
        rows = order[start : start + step]
        found[rows] = _label(means[rows], name, blurs)
        start += step
    return found


def _label(means: Means, name: str, blurs: Sequence[Blur]) -> np.ndarray:
    values = next(len(factor.values) for factor in means.factors if factor.name == name)
    shares = np.stack([(means.weights * (means.codes[name] == code)).sum(1) for code in range(values)], 1)
    told, lost = _sure(shares.max(1)), _mixed(shares.max(1))
    for blur in blurs:
        if blur.nuisance in means.codes:
            near, far, period = (_by_value(means, blur.by, codes) for codes in (blur.near, blur.far, blur.period))
            told &= _sure(share_within(means.codes[blur.nuisance], means.weights, near, period))
            lost |= _mixed(share_within(means.codes[blur.nuisance], means.weights, far, period))
    known = _sure(shares.sum(1))  # a factor that is absent from the members can neither be told nor be lost
    return np.where(known & lost, values, np.where(known & told, shares.argmax(1), NOT_TAUGHT))


def share_within(codes: np.ndarray, weights: np.ndarray, window: np.ndarray, period: np.ndarray) -> np.ndarray:
    """The largest weight (n,) that lies within some window.

    Args:
        codes: (n, K) of the members.
        weights: (n, K).
        window: (n,) its width: 1 holds equal codes, 3 holds codes 4, 5 and 6.
        period: (n,) after which codes repeat themselves, or infinity.
    """
    ahead = (codes[:, None, :] - codes[:, :, None]).astype(np.float64)  # of each member, from each member
    circle = np.isfinite(period)
    ahead[circle] %= period[circle, None, None]
    inside = (ahead > -0.5) & (ahead < window[:, None, None] - 0.5)
    return np.asarray((inside * weights[:, None, :]).sum(2).max(1))


def _sure(shares: np.ndarray) -> np.ndarray:
    return np.asarray(shares >= SURE - _EXACT)


def _mixed(shares: np.ndarray) -> np.ndarray:
    return np.asarray(shares <= MIXED + _EXACT)


def _by_value(means: Means, by: str, codes: Codes) -> np.ndarray:
    """The number that holds for each mean, by the value of its heaviest member."""
    count = len(means.weights)
    if not isinstance(codes, Mapping):
        return np.full(count, float(codes))
    if by not in means.codes:
        return np.full(count, max(codes.values()))
    values = next(factor.values for factor in means.factors if factor.name == by)
    table = np.array([codes.get(value, max(codes.values())) for value in values], np.float64)
    return np.asarray(table[means.codes[by][np.arange(count), means.weights.argmax(1)]])
