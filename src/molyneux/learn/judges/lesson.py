"""What a judge learns from: several sources as one, each with the factors it has."""

from __future__ import annotations

from collections.abc import Sequence

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
    """Several sources as one `Source` of one modality and the given factors.

    Samples come in rounds, in which each source has its share.

    Args:
        sources: at least one, all with the modality, and how many samples of it a round has; the lesson ends when one is
            used up.
        modality: name of the modality.
        factors: what the codes of a batch are about, in this order.
    """

    def __init__(self, sources: Sequence[tuple[Source, int]], modality: str, factors: Sequence[Factor]) -> None:
        self._modality, self._factors = _common([source for source, _ in sources], modality), tuple(factors)
        self._sources, self._shares = [source for source, _ in sources], np.array([share for _, share in sources])
        self._owner = np.repeat(np.arange(len(sources)), self._shares)  # whose each place of a round is
        self._turn = np.concatenate([np.arange(share) for share in self._shares])

    @property
    def spec(self) -> Spec:
        """The modality, and the factors."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        rounds = min(len(source) // int(share) for source, share in zip(self._sources, self._shares, strict=True))
        return len(self._owner) * rounds

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions, grouped by source (their order carries no meaning)."""
        place, rounds, name = indices % len(self._owner), indices // len(self._owner), self._modality.name
        owner, numbers = self._owner[place], rounds * self._shares[self._owner[place]] + self._turn[place]
        batches = [
            (self._sources[number].spec, self._sources[number].batch(numbers[owner == number])) for number in np.unique(owner)
        ]
        views = torch.cat([batch.views[name] for _, batch in batches])
        codes = [recode(codes_of(batch), spec, self._factors) for spec, batch in batches]
        return Batch({name: views}, factors=torch.cat(codes))


def _common(sources: Sequence[Source], name: str) -> Modality:
    first, *others = [source.spec.modality(name) for source in sources]
    for modality in others:
        if modality != first:
            raise SpecError(f"expected the same {name} in all sources, got {first} and {modality}")
    return first


def codes_of(batch: Batch) -> Tensor:
    """The factor codes of a batch; raises SpecError where it has none."""
    if batch.factors is None:
        raise SpecError("expected samples with factors to learn from, got samples without")
    return batch.factors
