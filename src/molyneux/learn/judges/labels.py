"""Labels of factors for judges: which factors a view or a mean of views shows, and which are unreadable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, Factor, NuisanceWindow, Source, Spec, SpecError
from molyneux.core.reader import Codes

UNREADABLE = "unreadable"
"""The value that a judge gives to a factor where it abstains; the last of each factor of its record."""

SURE = 0.9
"""Share of the weight that has to agree for a factor to be readable."""

MIXED = 2 / 3
"""Largest share that may agree where a factor is unreadable."""

NO_LABEL = -1
"""The label of a factor that is neither readable nor unreadable: no loss is computed for it."""

_EXACT = 1e-6
"""Weights add up to 1 but for rounding."""

_CELLS = 4_000_000
"""Pairs of components that are compared at once."""


def codes_of(batch: Batch) -> Tensor:
    """The factor codes of a batch; raises SpecError where it has none."""
    if batch.factors is None:
        raise SpecError("expected samples with factors to learn from, got samples without")
    return batch.factors


def with_unreadable(source: Source, factors: Sequence[str]) -> tuple[Factor, ...]:
    """The factors of a source that are read, each with `UNREADABLE` as its last value."""
    read = [factor for factor in source.spec.factors if factor.name in factors]
    return tuple(Factor(factor.name, (*factor.values, UNREADABLE)) for factor in read)


def union(specs: Sequence[Spec], names: Sequence[str]) -> tuple[Factor, ...]:
    """The factors of those names with every value that any of the specs has, in the order of first appearance.

    Raises:
        SpecError: no spec has a factor.
    """
    values: dict[str, dict[str, None]] = {name: {} for name in names}
    for spec in specs:
        for factor in spec.factors:
            if factor.name in values:
                values[factor.name] |= dict.fromkeys(factor.values)
    for name, found in values.items():
        if not found:
            raise SpecError(f"expected a factor {name!r} in at least one of the sources, got it in none")
    return tuple(Factor(name, tuple(found)) for name, found in values.items())


def recode(codes: Tensor, spec: Spec, factors: Sequence[Factor]) -> Tensor:
    """Codes (B, F') of `factors` from the codes (B, F) of `spec`; -1 where `spec` lacks a factor."""
    columns = []
    for factor in factors:
        names = [own.name for own in spec.factors]
        if factor.name not in names:
            columns.append(torch.full((len(codes),), -1))
            continue
        own = spec.factors[names.index(factor.name)]
        table = torch.tensor([*(factor.code(value) for value in own.values), -1])  # -1 (absent) finds the last
        columns.append(table[codes[:, names.index(factor.name)]])
    return torch.stack(columns, 1)


@dataclass(frozen=True)
class Components:
    """The codes of the views that n weighted means are made of.

    Args:
        codes: by factor and nuisance, (n, K) codes.
        weights: (n, K), rows add up to 1; 0 fills rows up.
        factors: of the source.
    """

    codes: Mapping[str, np.ndarray]
    weights: np.ndarray
    factors: Sequence[Factor]

    def __getitem__(self, rows: np.ndarray) -> Components:
        used = int((self.weights[rows] > 0).sum(1).max(initial=1))  # those of weight 0 come last
        codes = {name: columns[rows, :used] for name, columns in self.codes.items()}
        return Components(codes, self.weights[rows, :used], self.factors)


def labels(means: Components, name: str, windows: Sequence[NuisanceWindow]) -> np.ndarray:
    """The label of a factor in n means, (n,): its code, the number of its values (unreadable), or -1 (`NO_LABEL`).

    A factor is readable if components with 90 % of the weight agree in it and lie near each other in every nuisance that hides
    it. It is unreadable if more than one third of the weight always falls outside of any one value, or of any window of such a
    nuisance. What lies between has no label.

    Args:
        means: their components.
        name: of the factor.
        windows: the nuisances that hide it; those that the source lacks do not.
    """
    sizes = (means.weights > 0).sum(1)
    order = np.argsort(sizes, kind="stable")
    found = np.empty(len(order), np.int64)
    start = 0
    while start < len(order):
        step = max(1, min(len(order) - start, _CELLS // int(sizes[order[min(start + 4096, len(order) - 1)]]) ** 2, 4096))
        rows = order[start : start + step]
        found[rows] = _label(means[rows], name, windows)
        start += step
    return found


def _label(means: Components, name: str, windows: Sequence[NuisanceWindow]) -> np.ndarray:
    values = next(len(factor.values) for factor in means.factors if factor.name == name)
    shares = np.stack([(means.weights * (means.codes[name] == code)).sum(1) for code in range(values)], 1)
    readable, unreadable = _sure(shares.max(1)), _mixed(shares.max(1))
    for window in windows:
        if window.nuisance in means.codes:
            near, far, period = (_by_value(means, window.by, codes) for codes in (window.near, window.far, window.period))
            readable &= _sure(share_within(means.codes[window.nuisance], means.weights, near, period))
            unreadable |= _mixed(share_within(means.codes[window.nuisance], means.weights, far, period))
    known = _sure(shares.sum(1))  # a factor that is absent from the components has no label
    return np.where(known & unreadable, values, np.where(known & readable, shares.argmax(1), NO_LABEL))


def share_within(codes: np.ndarray, weights: np.ndarray, window: np.ndarray, period: np.ndarray) -> np.ndarray:
    """The largest weight (n,) that lies within some window.

    Args:
        codes: (n, K).
        weights: (n, K).
        window: (n,) its width: 1 holds equal codes, 3 holds codes 4, 5 and 6.
        period: (n,) after which codes repeat themselves, or infinity.
    """
    ahead = (codes[:, None, :] - codes[:, :, None]).astype(np.float64)
    circle = np.isfinite(period)
    ahead[circle] %= period[circle, None, None]
    inside = (ahead > -0.5) & (ahead < window[:, None, None] - 0.5)
    return np.asarray((inside * weights[:, None, :]).sum(2).max(1))


def _sure(shares: np.ndarray) -> np.ndarray:
    return np.asarray(shares >= SURE - _EXACT)


def _mixed(shares: np.ndarray) -> np.ndarray:
    return np.asarray(shares <= MIXED + _EXACT)


def _by_value(means: Components, by: str, codes: Codes) -> np.ndarray:
    """The number that holds for each mean, by the value of its heaviest component."""
    count = len(means.weights)
    if not isinstance(codes, Mapping):
        return np.full(count, float(codes))
    if by not in means.codes:
        return np.full(count, max(codes.values()))
    values = next(factor.values for factor in means.factors if factor.name == by)
    table = np.array([codes.get(value, max(codes.values())) for value in values], np.float64)
    return np.asarray(table[means.codes[by][np.arange(count), means.weights.argmax(1)]])
