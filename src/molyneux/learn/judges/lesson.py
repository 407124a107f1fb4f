"""What a judge learns from: several sources as one, each with the factors it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, Factor, Modality, Source, Spec, SpecError


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


class Lesson:
    """Sample `i` is sample `i // n` of source `i % n`: a `Source` of one modality and the given factors.

    Args:
        sources: at least one, all with the modality; cut to the length of the shortest.
        modality: name of the modality.
        factors: what the codes of a batch are about, in this order.
    """

    def __init__(self, sources: Mapping[str, Source], modality: str, factors: Sequence[Factor]) -> None:
        self._sources, self._factors = list(sources.values()), tuple(factors)
        self._modality = _common(sources, modality)

    @property
    def spec(self) -> Spec:
        """The modality, and the factors."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self._sources) * min(len(source) for source in self._sources)

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions, grouped by source (their order carries no meaning)."""
        number, name = len(self._sources), self._modality.name
        parts = [(source, indices[indices % number == i] // number) for i, source in enumerate(self._sources)]
        batches = [(source.spec, source.batch(at)) for source, at in parts if len(at)]
        views = torch.cat([batch.views[name] for _, batch in batches])
        codes = [recode(codes_of(batch), spec, self._factors) for spec, batch in batches]
        return Batch({name: views}, factors=torch.cat(codes))


def _common(sources: Mapping[str, Source], name: str) -> Modality:
    first, *others = [(level, source.spec.modality(name)) for level, source in sources.items()]
    for level, modality in others:
        if modality != first[1]:
            raise SpecError(f"expected the same {name} in all sources, got {first[1]} in {first[0]} and {modality} in {level}")
    return first[1]


def codes_of(batch: Batch) -> Tensor:
    """The factor codes of a batch; raises SpecError where it has none."""
    if batch.factors is None:
        raise SpecError("expected samples with factors to learn from, got samples without")
    return batch.factors
