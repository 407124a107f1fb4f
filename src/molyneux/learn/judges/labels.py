"""Codes of factors by name: what several sources have in common, and how a judge numbers it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from molyneux.core import Batch, Factor, Spec, SpecError


def codes_of(batch: Batch) -> Tensor:
    """The factor codes of a batch; raises SpecError where it has none."""
    if batch.factors is None:
        raise SpecError("expected samples with factors to learn from, got samples without")
    return batch.factors


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
