"""Corruptions: noise, blur, erased squares, dropped steps and symbols, substituted symbols."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from molyneux.core import ConfigError, Kind, Modality
from molyneux.core.views import text_lengths
from molyneux.data.imperfections.corruption import Corruption, ModalityBatch


@final
@dataclass(frozen=True, kw_only=True)
class GaussianNoise(Corruption):
    """Independent normal noise on every value; images and videos are clamped to their range.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        scale: standard deviation at strength 1, in the units of the modality (images and videos: of their range 0 to 1); at
            strength s it is s times as large.

    Raises:
        ConfigError: a scale that is not above 0.
    """

    name: ClassVar[str] = "gaussian-noise"
    kinds: ClassVar[tuple[Kind, ...]] = ("audio", "image", "series", "tabular", "video")

    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.scale < math.inf:
            raise ConfigError(f"{self.name}: expected a scale above 0, got {self.scale}")

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        noise = part.normals(*part.modality.shape) * (self.scale * strength)
        return _restored(part.modality, _unit(part.modality, part.view) + noise), None


@final
@dataclass(frozen=True, kw_only=True)
class Erasing(Corruption):
    """A rectangle of every image is painted over, at a random place within it, in all its channels.

    The rectangle has the proportions of the image and the given strength as its share of the area, rounded to whole pixels:
    cutout (DeVries and Taylor, 2017) with a share for a side. In a video it is the same in every frame.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        fill: what the rectangle is painted with, from 0 (black) to 1.

    Raises:
        ConfigError: a fill outside 0 to 1.
    """

    name: ClassVar[str] = "erasing"
    kinds: ClassVar[tuple[Kind, ...]] = ("image", "video")

    fill: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.fill <= 1.0:
            raise ConfigError(f"{self.name}: expected a fill from 0 to 1, got {self.fill}")

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        places = part.uniforms(2)
        inside = []
        for axis, side in enumerate(part.modality.shape[-2:]):
            length = round(strength**0.5 * side)
            start = (places[:, axis] * (side - length + 1)).long().unsqueeze(1)
            positions = torch.arange(side)
            inside.append((positions >= start) & (positions < start + length))
        erased = inside[0].unsqueeze(2) & inside[1].unsqueeze(1)
        erased = erased.reshape(-1, *[1] * (part.view.ndim - 3), *erased.shape[1:])
        return torch.where(erased, _restored(part.modality, torch.tensor(self.fill)), part.view), None


@final
@dataclass(frozen=True, kw_only=True)
class Blur(Corruption):
    """Detail is lost: every image is shrunk by averaging, and enlarged again without smoothing.

    A side of n pixels is shrunk to `max(1, round((1 - strength) * n))`; at strength 1 an image is its mean colour.
    """

    name: ClassVar[str] = "blur"
    kinds: ClassVar[tuple[Kind, ...]] = ("image", "video")

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        view = _unit(part.modality, part.view)
        sides = view.shape[-2:]
        small = [max(1, round((1.0 - strength) * side)) for side in sides]
        flat = view.flatten(0, -4) if view.ndim > 4 else view
        shrunk = torch.nn.functional.interpolate(flat, size=small, mode="area")
        blurred = torch.nn.functional.interpolate(shrunk, size=tuple(sides), mode="nearest")
        return _restored(part.modality, blurred.reshape(view.shape)), None


@final
@dataclass(frozen=True, kw_only=True)
class Dropout(Corruption):
    """Time steps and symbols are lost, each with the strength as its probability, independently of the others.

    A lost step of a series holds zeros. A lost symbol of a text leaves no gap: the symbols after it follow the ones before,
    lengths shrink, and what comes free is filled with padding, or with `end` where a text has no padding.
    """

    name: ClassVar[str] = "dropout"
    kinds: ClassVar[tuple[Kind, ...]] = ("series", "text")

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        modality, view = part.modality, part.view
        lost = part.uniforms(modality.shape[0]) < strength
        if modality.kind == "series":
            return view.masked_fill(lost.unsqueeze(2), 0), None
        fill = modality.padding if modality.padding is not None else modality.end
        if fill is None and part.lengths is None:
            raise ConfigError(f"{self.name}: expected padding, an end or lengths for the text {modality.name}, got none of them")
        lost &= _counted(part)
        order = lost.byte().argsort(dim=1, stable=True)
        kept = view.shape[1] - lost.sum(1, keepdim=True)
        filled = view.gather(1, order).where(torch.arange(view.shape[1]) < kept, 0 if fill is None else fill)
        lengths = None if part.lengths is None else part.lengths - lost.sum(1)
        return filled.to(view.dtype), lengths


@final
@dataclass(frozen=True, kw_only=True)
class Substitution(Corruption):
    """Symbols of a text are replaced by others, each with the strength as its probability, independently of the others.

    The other symbol is drawn from all but the symbol itself, padding, start and end; padding, start and end stay.
    """

    name: ClassVar[str] = "substitution"
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        modality, ids = part.modality, part.view.long()
        special = {modality.padding, modality.start, modality.end}
        usual = torch.tensor([symbol for symbol in range(len(modality.symbols)) if symbol not in special])
        if len(usual) < 2:
            raise ConfigError(f"{self.name}: expected at least two symbols that can stand for each other in {modality.name}")
        rank = torch.full((len(modality.symbols),), -1).scatter(0, usual, torch.arange(len(usual)))[ids]
        drawn = part.uniforms(modality.shape[0], 2)
        other = (drawn[..., 1] * (len(usual) - 1)).long()
        other = usual[other + (other >= rank)]
        replaced = (drawn[..., 0] < strength) & _counted(part) & (rank >= 0)
        return torch.where(replaced, other, ids).to(part.view.dtype), None


def _unit(modality: Modality, view: Tensor) -> Tensor:
    """Values as float64, those of images and videos that are stored as bytes in 0..1."""
    return view.double() / 255.0 if _is_picture(modality) and view.dtype == torch.uint8 else view.double()


def _restored(modality: Modality, values: Tensor) -> Tensor:
    """Values as they are stored; images and videos are clamped to their range."""
    if _is_picture(modality):
        values = values.clamp(0.0, 1.0) * (255.0 if modality.dtype == "uint8" else 1.0)
    if modality.dtype == "uint8":
        return values.clamp(0.0, 255.0).round().to(torch.uint8)
    return values.round().long() if modality.dtype == "int64" else values.float()


def _is_picture(modality: Modality) -> bool:
    return modality.kind in ("image", "video")


def _counted(part: ModalityBatch) -> Tensor:
    """Which symbols of a text say something, (B, L) bool."""
    lengths = text_lengths(part.modality, part.view, part.lengths)
    return torch.arange(part.view.shape[1]) < lengths.unsqueeze(1)
