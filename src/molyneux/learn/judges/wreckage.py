"""Pictures composed from altered scenes: what models draw beside means.

Legible: objects and grounds whose texture is averaged away (smooth is not unreadable), objects that are a little pale.
Not legible: grounds without an object, objects that have nearly faded, and objects of no known form, sharp or soft (sharp
and textured is not readable).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Batch, Modality, Source, Spec, seeds, views
from molyneux.learn.judges.averages import weighted_sums
from molyneux.learn.judges.ghosts import answers
from molyneux.learn.judges.legibility import NOT_TAUGHT
from molyneux.learn.judges.lesson import codes_of

Kind = Literal["pale", "shapeless", "smooth"]

GONE, THERE = 1 / 8, 2 / 3
"""Contrast up to which an object counts as gone, and from which on it is there; what lies between is not taught."""

_OBJECT = 0.15
"""Smallest change of a pixel that is an object's: its ground changes a little too, where a picture is stretched anew."""

_FLAT = 0.5
"""Share of shapeless objects in plain colour."""

_MOST_STYLES = 24
_WAVES = torch.arange(2, 7)
"""How often the outline of a shapeless object goes in and out."""

_DEPTHS = torch.tensor([0.1, 0.22, 0.22, 0.22, 0.22])
"""Standard deviation of each wave, in mean radii; two waves alone would be an ellipse."""


@dataclass(frozen=True)
class Material:
    """What a judge learns one level from.

    Args:
        true: the views.
        styled: the same scenes, each `styles` times in a row, in other textures.
        styles: how often; 1 where there are no textures.
        empty: the same scenes without their object; None where nobody can make them.
        filled: the same scenes with an object that fills the view.
        silhouette: the objects of the same scenes, white on black, in one channel.
        foreign: the same scenes with objects of shapes that are not known; for the examination alone.
        round: whether discs and nearly round ellipses are of no known form.
        of_object: the factors that cannot be told without the object.
        of_form: those of them that cannot be told where the object has no known form.
        of_extent: those that are not told about an object without form.
        of_place: those that say where the object is.
    """

    true: Source
    styled: Source | None = None
    styles: int = 1
    empty: Source | None = None
    filled: Source | None = None
    silhouette: Source | None = None
    foreign: Source | None = None
    round: bool = False
    of_object: tuple[str, ...] = ()
    of_form: tuple[str, ...] = ()
    of_extent: tuple[str, ...] = ()
    of_place: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of wreckage that can be made."""
        kinds: dict[Kind, bool] = {
            "pale": self.empty is not None,
            "shapeless": self.empty is not None and self.filled is not None,
            "smooth": self.styled is not None and self.styles > 1,
        }
        return tuple(kind for kind, possible in kinds.items() if possible)


class Wreckage:
    """Composed pictures of one kind, a `Source`: one for each sample of the material.

    Args:
        material: what they are composed from.
        modality: name of the modality.
        factors: names of the factors that a judge reads; those that the material lacks are left out.
        kind: "smooth" are means over textures; "pale" mixtures of an object and its ground; "shapeless" objects of no form.
        seed: of everything drawn.
    """

    def __init__(self, material: Material, modality: str, factors: Sequence[str], *, kind: Kind, seed: int = 0) -> None:
        self.material, self.kind = material, kind
        self._modality = material.true.spec.modality(modality)
        self._factors = answers(material.true, factors)
        self._key = seeds.key(seed, "judge", "wreckage", kind)

    @property
    def modality(self) -> Modality:
        """What is composed."""
        return self._modality

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that are read."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        return len(self.material.true)

    def batch(self, indices: np.ndarray) -> Batch:
        """The pictures at these positions."""
        indices = np.asarray(indices)
        drawn = torch.from_numpy(seeds.uniforms(self._key, indices, 40)).float()
        truth = codes_of(self.material.true.batch(indices))
        names = [factor.name for factor in self.material.true.spec.factors]
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
        assert self.material.styled is not None  # `Material.kinds` says what can be made
        view = self.material.styled.batch(indices[row] * styles + style % styles).views[self._modality.name]
        return weighted_sums(view, row, 1 / (255 * counts[row]), count=len(indices))

    def _pale(self, indices: np.ndarray, drawn: Tensor, codes: Tensor) -> Tensor:
        """Objects at a contrast; writes into `codes` what they no longer show."""
        gone = drawn[:, 0] < 0.6
        contrast = torch.where(gone, GONE * (1.5 * drawn[:, 1] - 0.5).clamp(min=0), THERE + (1 - THERE) * drawn[:, 1])
        self._teach(codes, gone, self.material.of_object)
        there, empty = self._view(self.material.true, indices), self._view(self.material.empty, indices)
        return empty + contrast.view(-1, 1, 1, 1) * (there - empty)

    def _shapeless(self, indices: np.ndarray, drawn: Tensor, codes: Tensor) -> Tensor:
        """Blobs in the object's place, in its ink; writes into `codes` what they do not show."""
        self._teach(codes, torch.ones(len(codes), dtype=torch.bool), self.material.of_form)
        for column, factor in enumerate(self._factors):
            if factor.name in self.material.of_extent:
                codes[:, column] = NOT_TAUGHT
        there, empty = self._view(self.material.true, indices), self._view(self.material.empty, indices)
        mask = blobs((there - empty).abs().amax(1) > _OBJECT, drawn, rounded=self.material.round)[:, None]
        ink = self._view(self.material.filled, indices)
        flat = ink[:, :, 8:-8, 8:-8].mean((2, 3), keepdim=True)
        return empty + mask * (torch.where(drawn[:, 39].view(-1, 1, 1, 1) < _FLAT, flat, ink) - empty)

    def _teach(self, codes: Tensor, where: Tensor, lost: Sequence[str]) -> None:
        for column, factor in enumerate(self._factors):
            if factor.name in lost:
                codes[where, column] = len(factor.values) - 1

    def _view(self, source: Source | None, indices: np.ndarray) -> Tensor:
        assert source is not None  # `Material.kinds` says what can be made
        return views.to_model(self._modality, source.batch(indices).views[self._modality.name])


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
