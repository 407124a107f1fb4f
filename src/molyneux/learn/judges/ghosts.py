"""Ghosts: means of views in which factors cannot be told, so that a judge learns to say so.

A model that does not know a factor draws the mean of the views it might have to draw. Such a mean shows no value of the
factor, but a classifier that must choose a value often chooses "rightly": the mean of a square over all rotations is a
disc, which looks least like a heart. Judges see such means in training, with the answer `UNREADABLE` for what is dissolved
and the true answer for what is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, Factor, Source, Spec, seeds, views
from molyneux.learn.judges.averages import weighted_sums
from molyneux.learn.judges.legibility import ITSELF, Blur, Means, labels
from molyneux.learn.judges.lesson import codes_of
from molyneux.learn.judges.members import Recipe, draw_members

UNREADABLE = "unreadable"
"""The answer of a judge that cannot tell a factor."""

_CHUNK = 4096
_TRIES = 4


class Ghosts:
    """Weighted means of a source's views, a `Source` with the factors that judges read.

    Args:
        source: whose views are averaged.
        modality: name of the modality.
        members: (N, K) positions in the source.
        weights: (N, K), rows add up to 1; a member of weight 0 is not looked at.
        factors: what a mean shows, with `UNREADABLE` among the values.
        codes: (N, F) of these factors; -1 = not taught.
    """

    def __init__(
        self,
        source: Source,
        modality: str,
        *,
        members: np.ndarray,
        weights: np.ndarray,
        factors: Sequence[Factor],
        codes: np.ndarray,
    ) -> None:
        self._source, self._modality = source, source.spec.modality(modality)
        self.members, self.weights, self.codes = members, weights, codes
        self._factors = tuple(factors)

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self.members)

    def batch(self, indices: np.ndarray) -> Batch:
        """The means at these positions."""
        row, place = np.nonzero(self.weights[indices])
        batch = self._source.batch(self.members[indices][row, place])
        view = batch.views[self._modality.name]
        mean = weighted_sums(view, row, self.weights[indices][row, place], count=len(indices))
        mean = mean / 255 if view.dtype == torch.uint8 else mean
        codes = torch.from_numpy(self.codes[indices])
        return Batch({self._modality.name: views.to_stored(self._modality, mean)}, factors=codes)


def answers(source: Source, factors: Sequence[str]) -> tuple[Factor, ...]:
    """The factors of a source that are read, each with `UNREADABLE` as its last value."""
    read = [factor for factor in source.spec.factors if factor.name in factors]
    return tuple(Factor(factor.name, (*factor.values, UNREADABLE)) for factor in read)


def make_ghosts(
    source: Source,
    modality: str,
    factors: Sequence[str],
    *,
    recipe: Recipe,
    count: int,
    blurs: Mapping[str, Sequence[Blur]],
    seed: int = 0,
    ignored: Sequence[str] = (),
    codes: Mapping[str, np.ndarray] | None = None,
) -> Ghosts:
    """Ghosts of one recipe, each of which teaches something about refusing, or about all factors.

    Args:
        source: of true views.
        modality: name of the modality.
        factors: names of the factors a judge reads; those that the source lacks are left out.
        recipe: how members are drawn.
        count: how many are wanted; fewer come where the source does not give them.
        blurs: per factor, the nuisances without which it cannot be told (a shape, without its rotation).
        seed: of the draws.
        ignored: factors that members may differ in at will, and that are not taught.
        codes: what `codes_by_name` gives for the source, where it is known already.
    """
    read = answers(source, [name for name in factors if name not in ignored])
    table = {name: column for name, column in (codes or codes_by_name(source)).items() if name not in ignored}
    rng = seeds.generator(seed, "judge", "ghosts", recipe.name)
    kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for _ in range(_TRIES):
        members, weights = draw_members(table, [factor.name for factor in read], recipe=recipe, count=count, rng=rng)
        drawn = {ITSELF: members, **{name: column[members] for name, column in table.items()}}
        means = Means(drawn, weights, source.spec.factors)
        told = np.stack([labels(means, factor.name, blurs.get(factor.name, ())) for factor in read], 1)
        lost = told == np.array([len(factor.values) - 1 for factor in read])
        useful = lost.any(1) | (told >= 0).all(1)
        kept.append((members[useful], weights[useful], told[useful]))
        if sum(len(part[0]) for part in kept) >= count:
            break
    members, weights, told = (np.concatenate(parts)[:count] for parts in zip(*kept, strict=True))
    return Ghosts(source, modality, members=members, weights=weights, factors=read, codes=told)


def codes_by_name(source: Source) -> dict[str, np.ndarray]:
    """The codes (N,) of every factor of a source."""
    chunks = (np.arange(start, min(start + _CHUNK, len(source))) for start in range(0, len(source), _CHUNK))
    codes: Tensor = torch.cat([codes_of(source.batch(chunk)) for chunk in chunks])
    return {factor.name: codes[:, i].numpy() for i, factor in enumerate(source.spec.factors)}
