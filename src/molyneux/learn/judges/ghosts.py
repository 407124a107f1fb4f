"""Ghosts: views in which a factor cannot be told, so that a judge learns to say so.

A model that does not know a factor draws the mean of the views it might have to draw. Such a mean shows no value of the
factor, but a classifier that must choose a value often chooses "rightly": the mean of a square over all rotations is a
disc, which looks least like a heart. Judges see such means in training, with the answer `UNREADABLE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, Factor, Source, Spec, seeds, views
from molyneux.learn.judges.lesson import codes_of

UNREADABLE = "unreadable"
"""The answer of a judge that cannot tell a factor."""

_MEMBERS = 12
"""Views in one mean."""

_MIXED = 2 / 3
"""No value of the factor may have a larger share of the members."""

_NEAR = 3
"""Codes of a nuisance that count as nearly the same: a position within one pixel of another."""

_CHUNK = 4096


class Ghosts:
    """Means of a source's views, a `Source` with one factor that is always `UNREADABLE`.

    Args:
        source: whose views are averaged.
        modality: name of the modality.
        factor: name of the factor that a mean does not show.
        members: (N, 12) positions in the source of the members of each mean.
    """

    def __init__(self, source: Source, modality: str, factor: str, members: np.ndarray) -> None:
        self._source, self._modality, self._members = source, source.spec.modality(modality), members
        self._factor = Factor(factor, (UNREADABLE,))

    @property
    def spec(self) -> Spec:
        """The modality, and the factor that cannot be told."""
        return Spec((self._modality,), (self._factor,))

    def __len__(self) -> int:
        return len(self._members)

    def batch(self, indices: np.ndarray) -> Batch:
        """The means at these positions."""
        batch = self._source.batch(self._members[indices].ravel())
        view = views.to_model(self._modality, batch.views[self._modality.name])
        mean = view.view(len(indices), -1, *view.shape[1:]).mean(1)
        codes = torch.zeros(len(indices), 1, dtype=torch.long)
        return Batch({self._modality.name: views.to_stored(self._modality, mean)}, factors=codes)


def make_ghosts(source: Source, modality: str, factors: Sequence[str], dissolved_by: Mapping[str, Sequence[str]]) -> list[Ghosts]:
    """All ghosts of a source.

    For every factor: means over its values, of views that agree in the other factors and, where that is possible, nearly in
    the nuisances. And for every factor that nuisances dissolve: means over those nuisances, of views that agree in all
    factors.

    Args:
        source: of true views.
        modality: name of the modality.
        factors: names of the factors a judge reads; those that the source lacks are left out.
        dissolved_by: per factor, the nuisances without which it cannot be told (a shape, without its rotation).
    """
    names = [factor.name for factor in source.spec.factors]
    codes = dict(zip(names, _codes(source).T.numpy(), strict=True))
    read = [name for name in factors if name in names]
    lost = {nuisance for nuisances in dissolved_by.values() for nuisance in nuisances}
    near = [codes[name] // _NEAR for name in names if name not in factors and name not in lost]
    ghosts = []
    for name in read:
        others = [codes[other] for other in read if other != name]
        members = _mixed(spread([*others, *near], codes[name]), codes[name])
        if len(members) < len(source) // 4:  # what is nearly alike agrees in the factor too: a position follows from x and y
            members = _mixed(spread(others, codes[name]), codes[name])
        ghosts.append(Ghosts(source, modality, name, members))
        for nuisance in dissolved_by.get(name, ()):
            if nuisance in names:
                members = spread([*others, codes[name], *near], codes[nuisance])
                ghosts.append(Ghosts(source, modality, name, members))
    return [ghost for ghost in ghosts if len(ghost)]


def spread(alike: Sequence[np.ndarray], over: np.ndarray) -> np.ndarray:
    """Positions (n, 12) of samples that agree in the codes `alike`, each (N,), and are spread over the codes `over` (N,).

    There is a row for every sample whose group has at least 12 samples; rows are in drawn order.
    """
    order = np.lexsort([over, *alike])
    changes = [column[order][1:] != column[order][:-1] for column in alike]
    starts = np.flatnonzero(np.r_[True, np.logical_or.reduce(changes)]) if changes else np.array([0])
    sizes = np.diff(np.r_[starts, len(over)])
    start, size = np.repeat(starts, sizes)[:, None], np.repeat(sizes, sizes)[:, None]
    steps = np.arange(len(over))[:, None] - start + np.arange(_MEMBERS) * size // _MEMBERS
    members: np.ndarray = order[(start + steps % size)[size[:, 0] >= _MEMBERS]]
    return seeds.generator(0, "judge", "ghosts").permutation(members)


def _mixed(members: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Only the rows (n, 12) in which no code is much more frequent than the others."""
    shares = (codes[members][:, :, None] == np.arange(codes.max() + 1)).mean(1)
    mixed: np.ndarray = members[shares.max(1) <= _MIXED]
    return mixed


def _codes(source: Source) -> Tensor:
    chunks = (np.arange(start, min(start + _CHUNK, len(source))) for start in range(0, len(source), _CHUNK))
    return torch.cat([codes_of(source.batch(chunk)) for chunk in chunks])
