"""Views that show no scene, for judges of any modality to learn to abstain: blends and cuts of true views, and noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import NO_LABEL, UNREADABLE, Batch, Factor, Source, Spec, seeds, views
from molyneux.learn.judges.labels import codes_of, recode

SURE = 0.9
"""Share of a blend that one view has to have for the blend to show what the view shows."""

MIXED = 2 / 3
"""Largest share of any one value of a factor where a blend does not show the factor."""

_MOST = 6
"""Most views in a blend."""

_BLENDED = 0.6
"""Share of blends; the rest is noise."""

_GRIDS = (1, 2, 4, 8, 16, 32)
"""Sides of coarse noise before it is enlarged to a picture's; of side 1, a picture of one colour."""


class Negatives:
    """Blends of true views and noise, a `Source`: one for each true view.

    A blend is a mean of 2 to 6 views, of equal weights or of drawn ones. Noise is independent, coarse, of one colour (often black
    or white), or a true view with its pixels or contacts in a drawn order.

    Args:
        source: of true views.
        modality: name of the modality.
        factors: names of the factors that a judge reads; those that the source lacks are left out.
        seed: of everything drawn.
        cuts: whether part of the blends of two pictures are cut, one beside or above the other. Where a figure stands anywhere on
            a ground, a part of a picture may show it whole: leave them out.
    """

    def __init__(self, source: Source, modality: str, factors: Sequence[str], *, seed: int, cuts: bool = False) -> None:
        self._source, self._modality = source, source.spec.modality(modality)
        self._cuts = cuts and self._modality.kind == "image"
        self._factors = with_unreadable(source, factors)
        self._key = seeds.key(seed, "judge", "negatives", modality)

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read, each with the last value `UNREADABLE`."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self._source)

    def batch(self, indices: np.ndarray) -> Batch:
        """The views at these positions."""
        indices = np.asarray(indices)
        drawn = seeds.uniforms(self._key, indices, 4 + 2 * _MOST)
        view, codes = self._blends(drawn)
        noisy = np.flatnonzero(drawn[:, 0] >= _BLENDED)
        if len(noisy):
            view[noisy] = self._noise(indices[noisy], drawn[noisy], view)
            codes[noisy] = self._none
        return Batch({self._modality.name: views.to_stored(self._modality, view)}, factors=codes)

    @property
    def _none(self) -> Tensor:
        """(F,) the codes of a view in which nothing can be read."""
        return torch.tensor([len(factor.values) - 1 for factor in self._factors])

    def _blends(self, drawn: np.ndarray) -> tuple[Tensor, Tensor]:
        """Means (n, ...) in model form and their codes (n, F)."""
        counts = np.where(drawn[:, 1] < 0.6, 2, 2 + ((_MOST - 1) * drawn[:, 2]).astype(np.int64))
        parts = (drawn[:, 4 : 4 + _MOST] * len(self._source)).astype(np.int64)
        weights = np.where(drawn[:, 3, None] < 0.5, 1.0, -np.log1p(-drawn[:, 4 + _MOST :])) + 1e-6
        weights = weights * (np.arange(_MOST) < counts[:, None])
        shares = torch.from_numpy(weights / weights.sum(1, keepdims=True)).float()
        row, place = torch.nonzero(shares, as_tuple=True)
        batch = self._source.batch(parts[row.numpy(), place.numpy()])
        view = views.to_model(self._modality, batch.views[self._modality.name])
        share = shares[row, place].view(-1, *[1] * (view.ndim - 1))
        if self._cuts:
            share = _cut(share, row, place, drawn[row.numpy(), 2] * (counts == 2)[row.numpy()], view.shape[-2:])
        mean = torch.zeros(len(drawn), *view.shape[1:]).index_add_(0, row, view * share)
        codes = torch.full((len(drawn), _MOST, len(self._factors)), -1)
        codes[row, place] = recode(codes_of(batch), self._source.spec, self._factors)
        return mean, _labels(codes, shares, self._none)

    def _noise(self, indices: np.ndarray, drawn: np.ndarray, mean: Tensor) -> Tensor:
        """Views (n, ...) in model form of noise."""
        shape = mean.shape[1:]
        numbers = seeds.uniforms(self._key ^ np.uint64(1), indices, int(np.prod(shape)))
        noise = torch.from_numpy(numbers).float().view(-1, *shape)
        kind = torch.from_numpy(drawn[:, 1]).float()
        true = views.to_model(
            self._modality,
            self._source.batch((drawn[:, 4] * len(self._source)).astype(np.int64)).views[self._modality.name],
        )
        if self._modality.kind != "image":
            scattered = true.mean(1, keepdim=True) + 2 * true.std(1, keepdim=True) * (2 * noise - 1)
            shuffled = torch.stack([part[order] for part, order in zip(true, noise[:, :, 0].argsort(1), strict=True)])
            return torch.where((kind < 0.5)[:, None, None], scattered, shuffled)
        grids = torch.from_numpy((drawn[:, 2] * len(_GRIDS)).astype(np.int64))
        coarse = torch.stack([_enlarged(part, _GRIDS[grid]) for part, grid in zip(noise, grids.tolist(), strict=True)])
        rows = torch.nonzero(kind > 0.85).flatten()
        order = noise[rows, 0].flatten(1).argsort(1)[:, None].expand(-1, shape[0], -1)
        true[rows] = true[rows].flatten(2).gather(2, order).view_as(true[rows])
        grey = torch.from_numpy(drawn[:, 3] < 0.3)[:, None, None, None]
        found = torch.where((kind < 0.4)[:, None, None, None], noise, coarse)
        found = torch.where(grey, found[:, :1].expand_as(found), found)
        return torch.where((kind > 0.85)[:, None, None, None], true, found)


def with_unreadable(source: Source, factors: Sequence[str]) -> tuple[Factor, ...]:
    """The factors of a source that are read, each with `UNREADABLE` as its last value."""
    read = [factor for factor in source.spec.factors if factor.name in factors]
    return tuple(Factor(factor.name, (*factor.values, UNREADABLE)) for factor in read)


def _labels(codes: Tensor, shares: Tensor, unreadable: Tensor) -> Tensor:
    """Codes (n, F) of blends from those of their views (n, K, F), whose shares are (n, K); -1 = absent from a view."""
    same = (codes[:, :, None] == codes[:, None]).float()  # (n, K, K, F)
    largest = (same * shares[:, None, :, None]).sum(2).amax(1)
    first = shares.argmax(1)
    main = codes[torch.arange(len(codes)), first]
    label = torch.where(shares.amax(1, keepdim=True) >= SURE, main, NO_LABEL)
    return torch.where((largest <= MIXED) & (main >= 0), unreadable, label)


def _cut(weights: Tensor, row: Tensor, place: Tensor, drawn: np.ndarray, size: Sequence[int]) -> Tensor:
    """Weights (K, 1, H, W) of pictures in their blends: 1 in one part and 0 in the other where the blend is a cut.

    Args:
        weights: (K, 1, 1, 1) shares.
        row: (K,) the blend of each picture.
        place: (K,) its place there.
        drawn: (K,) a number in (0, 1) for each blend of two, 0 for others: up to a quarter, one picture stands beside the other,
            up to a half, above it.
        size: height and width.
    """
    height, width = size
    along = torch.stack(
        [
            (torch.arange(width) + 0.5).div(width).expand(height, width),
            (torch.arange(height) + 0.5).div(height)[:, None].expand(height, width),
        ]
    )
    kind = torch.from_numpy(drawn)
    cut = (kind > 0) & (kind < 0.5)
    first = torch.zeros(int(row.max()) + 1).index_add_(0, row, weights.flatten() * (place == 0))[row]
    inside = along[(kind >= 0.25).long()] < first[:, None, None]
    part = torch.where((place == 0)[:, None, None], inside, ~inside).float()[:, None]
    return torch.where(cut[:, None, None, None], part, weights)


def _enlarged(noise: Tensor, side: int) -> Tensor:
    """The first `side` rows and columns of noise (C, H, W), enlarged to all; of one colour, each channel is often 0 or 1."""
    if side == 1:
        return (2 * noise[:, :1, :1] - 0.5).clamp(0, 1).expand_as(noise)
    return functional.interpolate(noise[None, :, :side, :side], noise.shape[1:], mode="bicubic", align_corners=False)[0].clamp(
        0, 1
    )
