"""Ghosts as nets with sharp outputs draw them: the mean of silhouettes, made crisp again, in one ink on one ground.

Half-way between a square's rotations a decoder draws no overlay of squares but a disc with clean edges. Edges say nothing
about whether a shape can be told, and neither does their absence: what is told here follows from the members alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Batch, Factor, Source, Spec, seeds, views
from molyneux.learn.judges.ghosts import Ghosts, answers, make_ghosts
from molyneux.learn.judges.legibility import Blur
from molyneux.learn.judges.lesson import codes_of
from molyneux.learn.judges.members import RECAST
from molyneux.learn.judges.wreckage import Material

_FLAT = 0.75
"""Share of objects in plain colour, as means over textures have it."""

_SMOOTHED = 0.5
"""Share of grounds out of focus."""

_STEEPEST = 60.0


class Recast:
    """Crisp means of silhouettes, a `Source`.

    Colour and ground are the first member's and are told; form and place are labelled as those of the mean.

    Args:
        ghosts: of the silhouettes; they teach form and place.
        material: what they are painted with.
        modality: name of the modality, of kind image.
        factors: names of the factors that a judge reads.
        seed: of everything drawn.
    """

    def __init__(self, ghosts: Ghosts, material: Material, modality: str, factors: Sequence[str], *, seed: int = 0) -> None:
        self._ghosts, self._material, self._modality = ghosts, material, material.true.spec.modality(modality)
        self._factors: tuple[Factor, ...] = answers(material.true, factors)
        self._key = seeds.key(seed, "judge", "recast")

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self._ghosts)

    def batch(self, indices: np.ndarray) -> Batch:
        """The pictures at these positions."""
        drawn = torch.from_numpy(seeds.uniforms(self._key, np.asarray(indices), 8)).float().view(-1, 8, 1, 1, 1)
        mean = self._ghosts.batch(indices)
        first = self._ghosts.members[indices, 0]
        mask = crisp(mean.views[self._modality.name] / 255, drawn)
        ink, ground = self._view(self._material.filled, first), self._view(self._material.empty, first)
        ink = torch.where(drawn[:, 4] < _FLAT, ink[:, :, 8:-8, 8:-8].mean((2, 3), keepdim=True), ink)
        ground = torch.where(drawn[:, 5] < _SMOOTHED, _smooth(ground), ground) if bool(ground.std() > 0) else ground
        stored = views.to_stored(self._modality, ground + mask * (ink - ground))
        return Batch({self._modality.name: stored}, factors=self._codes(codes_of(mean), first))

    def _codes(self, of_mean: Tensor, first: np.ndarray) -> Tensor:
        """What the mean teaches of its factors, and of the others the first member's codes."""
        truth, taught = codes_of(self._material.true.batch(first)), [factor.name for factor in self._ghosts.spec.factors]
        names = [factor.name for factor in self._material.true.spec.factors]
        columns = [
            of_mean[:, taught.index(factor.name)] if factor.name in taught else truth[:, names.index(factor.name)]
            for factor in self._factors
        ]
        return torch.stack(columns, 1)

    def _view(self, source: Source | None, indices: np.ndarray) -> Tensor:
        assert source is not None  # made only of material that has silhouettes
        return views.to_model(self._modality, source.batch(indices).views[self._modality.name])


def make_recast(
    material: Material,
    modality: str,
    factors: Sequence[str],
    *,
    count: int,
    blurs: Mapping[str, Sequence[Blur]],
    seed: int = 0,
    codes: Mapping[str, np.ndarray] | None = None,
) -> Recast:
    """Recast ghosts of a material; arguments as of `make_ghosts`."""
    assert material.silhouette is not None  # made only of material that has silhouettes
    plain = [name for name in factors if name not in material.of_form + material.of_extent + material.of_place]
    ghosts = make_ghosts(
        material.silhouette, modality, factors, recipe=RECAST, count=count, blurs=blurs, seed=seed, ignored=plain, codes=codes
    )
    return Recast(ghosts, material, modality, factors, seed=seed)


def _smooth(ground: Tensor) -> Tensor:
    """Averages over 7 x 7 pixels, twice."""
    for _ in range(2):
        ground = functional.avg_pool2d(ground, 7, 1, 3, count_include_pad=False)
    return ground


def crisp(mean: Tensor, drawn: Tensor) -> Tensor:
    """Coverage (B, 1, H, W): the mean, smoothed a little, with its contrast raised by a drawn amount around a drawn level.

    Args:
        mean: (B, 1, H, W) of silhouettes, 0..1.
        drawn: (B, 8, 1, 1, 1) uniform numbers.
    """
    weights = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0]) / 16
    smooth = functional.conv2d(mean, torch.outer(weights, weights).view(1, 1, 5, 5), padding=2)
    mixed = mean + drawn[:, 0] * (smooth - mean)
    share = mixed / mixed.amax((1, 2, 3), keepdim=True).clamp(min=1e-6)
    level = 0.3 + 0.35 * drawn[:, 1]
    lowest = 2 / level  # less would leave a haze where there is nothing
    steepness = lowest * (_STEEPEST / lowest) ** drawn[:, 2]
    return ((share - level) * steepness / 4 + 0.5).clamp(0, 1)
