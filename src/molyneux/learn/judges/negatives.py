"""Out-of-distribution pictures to train judges on: sharpened blends, and pictures composed from altered scenes.

Readable: objects and backgrounds whose texture is averaged away, objects that are slightly pale. Unreadable: backgrounds
without an object, objects that have nearly faded, and objects of no known shape, sharp or soft.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Batch, Factor, JudgeMaterial, Modality, Source, Spec, seeds, views
from molyneux.learn.judges.blends import Blends, Recipe, make_blends, weighted_sums
from molyneux.learn.judges.labels import NO_LABEL, codes_of, with_unreadable

CompositeKind = Literal["pale", "shapeless", "smooth"]
"""Pictures composed from altered scenes. `pale`: an object at low contrast, which cannot be read if it has nearly faded.
`shapeless`: a blob in the place of the object, whose shape cannot be read. `smooth`: means over textures, which can be read."""

FADED, VISIBLE = 1 / 8, 2 / 3
"""Contrast up to which an object cannot be read, and from which on it can; what lies between has no label."""

_OBJECT = 0.15
"""Smallest change of a pixel that belongs to the object: the background changes slightly too where contrast is stretched."""

_PLAIN_SHAPELESS = 0.5
"""Share of shapeless objects in plain colour."""

_MOST_STYLES = 24
_WAVES = torch.arange(2, 7)
"""How often the outline of a shapeless object goes in and out."""

_DEPTHS = torch.tensor([0.1, 0.22, 0.22, 0.22, 0.22])
"""Standard deviation of each wave, in mean radii; two waves alone would be an ellipse."""

_SILHOUETTES = Recipe("sharpened", (0, 1), 0.7)

_PLAIN_SHARPENED = 0.75
"""Share of sharpened blends in plain colour, as means over textures have it."""

_SMOOTHED = 0.5
"""Share of backgrounds out of focus."""

_STEEPEST = 60.0


def composite_kinds(material: JudgeMaterial) -> tuple[CompositeKind, ...]:
    """The kinds of composed pictures that can be made of a material."""
    kinds: dict[CompositeKind, bool] = {
        "pale": material.empty is not None,
        "shapeless": material.empty is not None and material.filled is not None,
        "smooth": material.restyled is not None and material.styles > 1,
    }
    return tuple(kind for kind, possible in kinds.items() if possible)


class Composites:
    """Composed pictures of one kind, a `Source`: one for each sample of the material.

    Args:
        material: what they are composed from.
        modality: name of the modality.
        factors: names of the factors that a judge reads; those that the material lacks are left out.
        kind: see `CompositeKind`.
        seed: of everything drawn.
    """

    def __init__(
        self, material: JudgeMaterial, modality: str, factors: Sequence[str], *, kind: CompositeKind, seed: int = 0
    ) -> None:
        self.material, self.kind = material, kind
        self._modality = material.views.spec.modality(modality)
        self._factors = with_unreadable(material.views, factors)
        self._key = seeds.key(seed, "judge", "composites", kind)

    @property
    def modality(self) -> Modality:
        """What is composed."""
        return self._modality

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self.material.views)

    def batch(self, indices: np.ndarray) -> Batch:
        """The pictures at these positions."""
        indices = np.asarray(indices)
        drawn = torch.from_numpy(seeds.uniforms(self._key, indices, 40)).float()
        truth = codes_of(self.material.views.batch(indices))
        names = [factor.name for factor in self.material.views.spec.factors]
        codes = truth[:, [names.index(factor.name) for factor in self._factors]].clone()
        make = {"pale": self._pale, "shapeless": self._shapeless, "smooth": self._smooth}[self.kind]
        stored = views.to_stored(self._modality, make(indices, drawn, codes))
        return Batch({self._modality.name: stored}, factors=codes)

    def _smooth(self, indices: np.ndarray, drawn: Tensor, codes: Tensor) -> Tensor:
        """Means over 2 to 24 styles."""
        styles = self.material.styles
        most = min(_MOST_STYLES, styles)
        counts = (2 * (most / 2) ** drawn[:, 0] + 0.5).long().numpy()
        row = np.repeat(np.arange(len(indices)), counts)
        style = np.concatenate([np.arange(count) for count in counts]) + np.repeat((drawn[:, 1] * styles).long().numpy(), counts)
        assert self.material.restyled is not None  # `composite_kinds` says what can be made
        view = self.material.restyled.batch(indices[row] * styles + style % styles).views[self._modality.name]
        return weighted_sums(view, row, 1 / (255 * counts[row]), count=len(indices))

    def _pale(self, indices: np.ndarray, drawn: Tensor, codes: Tensor) -> Tensor:
        """Objects at a contrast; writes into `codes` what is unreadable."""
        faded = drawn[:, 0] < 0.6
        contrast = torch.where(faded, FADED * (1.5 * drawn[:, 1] - 0.5).clamp(min=0), VISIBLE + (1 - VISIBLE) * drawn[:, 1])
        self._unreadable(codes, faded, self.material.object_factors)
        there, empty = _view(self.material.views, self._modality, indices), _view(self.material.empty, self._modality, indices)
        return empty + contrast.view(-1, 1, 1, 1) * (there - empty)

    def _shapeless(self, indices: np.ndarray, drawn: Tensor, codes: Tensor) -> Tensor:
        """Blobs in the object's place, in its ink; writes into `codes` what is unreadable."""
        self._unreadable(codes, torch.ones(len(codes), dtype=torch.bool), self.material.shape_factors)
        for column, factor in enumerate(self._factors):
            if factor.name in self.material.extent_factors:
                codes[:, column] = NO_LABEL
        there, empty = _view(self.material.views, self._modality, indices), _view(self.material.empty, self._modality, indices)
        mask = blobs((there - empty).abs().amax(1) > _OBJECT, drawn, rounded=self.material.round_negatives)[:, None]
        ink = _view(self.material.filled, self._modality, indices)
        flat = ink[:, :, 8:-8, 8:-8].mean((2, 3), keepdim=True)
        return empty + mask * (torch.where(drawn[:, 39].view(-1, 1, 1, 1) < _PLAIN_SHAPELESS, flat, ink) - empty)

    def _unreadable(self, codes: Tensor, where: Tensor, names: Sequence[str]) -> None:
        for column, factor in enumerate(self._factors):
            if factor.name in names:
                codes[where, column] = len(factor.values) - 1


def blobs(masks: Tensor, drawn: Tensor, *, rounded: bool = False) -> Tensor:
    """Coverage (B, H, W) in 0..1 by shapeless blobs in the place of objects and about as large.

    They are wavy outlines, low-pass-filtered noise cut at some level, and ellipses whose axes differ by up to 30 %.

    Args:
        masks: (B, H, W) bool, where the objects are.
        drawn: (B, 40) uniform numbers.
        rounded: whether there are ellipses; else the other two share their part.
    """
    height, width = masks.shape[1:]
    y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
    area = masks.sum((1, 2)).clamp(min=1)
    down, right = (axis - ((masks * axis).sum((1, 2)) / area)[:, None, None] for axis in (y, x))
    radius = ((area / torch.pi).sqrt() * (0.8 + 0.5 * drawn[:, 0]))[:, None, None]
    away, angle = (down**2 + right**2).sqrt(), torch.atan2(down, right)
    softness = (0.2 + 1.5 * drawn[:, 1] ** 2)[:, None, None]
    wavy = ((_outline(angle, drawn) * radius - away) / softness).sigmoid()
    cloudy = ((_clouds(drawn, down / radius, right / radius) - 0.8 * (away / radius) ** 3) * 4 / softness).sigmoid()
    kind = drawn[:, 2, None, None]
    if not rounded:
        return torch.where(kind < 0.5, wavy, cloudy)
    ratio = (1 + 0.3 * drawn[:, 3, None, None]).sqrt()
    turned = angle - torch.pi * drawn[:, 4, None, None]
    length = ((torch.cos(turned) / ratio) ** 2 + (torch.sin(turned) * ratio) ** 2).sqrt() * away
    return torch.where(kind < 0.35, wavy, torch.where(kind < 0.6, cloudy, ((radius - length) / softness).sigmoid()))


def _outline(angle: Tensor, drawn: Tensor) -> Tensor:
    """Radii (B, H, W) in mean radii in the directions (B, H, W)."""
    depth = torch.erfinv((2 * drawn[:, 3:8] - 1).clamp(-0.99, 0.99)) * 2**0.5 * _DEPTHS
    phase = 2 * torch.pi * drawn[:, 8:13]
    waves = torch.cos(angle[..., None] * _WAVES + phase[:, None, None]) * depth[:, None, None]
    return (1 + waves.sum(-1)).clamp(min=0.15)


def _clouds(drawn: Tensor, down: Tensor, right: Tensor) -> Tensor:
    """Smooth noise (B, H, W): 25 numbers on a grid of five by five, two and a half radii wide, interpolated."""
    grid = 2.4 * (2 * drawn[:, 13:38] - 1).view(-1, 1, 5, 5) + 0.2
    places = torch.stack([right, down], -1) / 1.25
    return functional.grid_sample(grid, places, mode="bicubic", padding_mode="border", align_corners=True)[:, 0]


class SharpenedBlends:
    """Means of silhouettes with their edges sharpened, in the texture and on the background of one scene, a `Source`.

    Half-way between two rotations of a square a decoder generates no overlay of squares but a disc with clean edges, so edges
    say nothing about whether a shape can be read. Colour and background are labelled as the first component's, shape and place
    as those of the mean.

    Args:
        blends: of the silhouettes; their labels are those of shape and place.
        material: what they are painted with.
        modality: name of the modality, of kind image.
        factors: names of the factors that a judge reads.
        seed: of everything drawn.
    """

    def __init__(self, blends: Blends, material: JudgeMaterial, modality: str, factors: Sequence[str], *, seed: int = 0) -> None:
        self._blends, self._material, self._modality = blends, material, material.views.spec.modality(modality)
        self._factors: tuple[Factor, ...] = with_unreadable(material.views, factors)
        self._key = seeds.key(seed, "judge", "sharpened")

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self._blends)

    def batch(self, indices: np.ndarray) -> Batch:
        """The pictures at these positions."""
        drawn = torch.from_numpy(seeds.uniforms(self._key, np.asarray(indices), 8)).float().view(-1, 8, 1, 1, 1)
        mean = self._blends.batch(indices)
        first = self._blends.components[indices, 0]
        mask = sharpen(mean.views[self._modality.name] / 255, drawn)
        ink, ground = _view(self._material.filled, self._modality, first), _view(self._material.empty, self._modality, first)
        ink = torch.where(drawn[:, 4] < _PLAIN_SHARPENED, ink[:, :, 8:-8, 8:-8].mean((2, 3), keepdim=True), ink)
        ground = torch.where(drawn[:, 5] < _SMOOTHED, _smooth(ground), ground) if bool(ground.std() > 0) else ground
        stored = views.to_stored(self._modality, ground + mask * (ink - ground))
        return Batch({self._modality.name: stored}, factors=self._codes(codes_of(mean), first))

    def _codes(self, of_mean: Tensor, first: np.ndarray) -> Tensor:
        """The labels of the mean for its factors, and for the others the codes of the first component."""
        truth, labelled = codes_of(self._material.views.batch(first)), [factor.name for factor in self._blends.spec.factors]
        names = [factor.name for factor in self._material.views.spec.factors]
        columns = [
            of_mean[:, labelled.index(factor.name)] if factor.name in labelled else truth[:, names.index(factor.name)]
            for factor in self._factors
        ]
        return torch.stack(columns, 1)


def make_sharpened(
    material: JudgeMaterial,
    modality: str,
    factors: Sequence[str],
    *,
    count: int,
    seed: int = 0,
    codes: Mapping[str, np.ndarray] | None = None,
) -> SharpenedBlends:
    """Sharpened blends of a material; arguments as of `make_blends`."""
    assert material.silhouette is not None  # made only of material that has silhouettes
    plain = [name for name in factors if name not in material.shape_factors + material.extent_factors + material.place_factors]
    blends = make_blends(
        material.silhouette,
        modality,
        factors,
        recipe=_SILHOUETTES,
        count=count,
        windows=material.windows,
        seed=seed,
        ignored=plain,
        codes=codes,
    )
    return SharpenedBlends(blends, material, modality, factors, seed=seed)


def _smooth(ground: Tensor) -> Tensor:
    """Averages over 7 x 7 pixels, twice."""
    for _ in range(2):
        ground = functional.avg_pool2d(ground, 7, 1, 3, count_include_pad=False)
    return ground


def sharpen(mean: Tensor, drawn: Tensor) -> Tensor:
    """Coverage (B, 1, H, W): the mean, slightly smoothed, with its contrast raised by a drawn amount around a drawn level.

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


def _view(source: Source | None, modality: Modality, indices: np.ndarray) -> Tensor:
    """Views of a source in model form."""
    assert source is not None  # callers make only what the material allows
    return views.to_model(modality, source.batch(indices).views[modality.name])
