"""Corruptions of the pixels of images and videos: blur, erased rectangles, dead pixels, periodic patterns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Kind
from molyneux.core.elementary import cosine, sine
from molyneux.data.imperfections.corruption import Corruption, ModalityBatch
from molyneux.data.imperfections.pixel_kernels import blurred


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
        sides = part.modality.shape[-2:]
        small = [max(1, round((1.0 - strength) * side)) for side in sides]
        if part.is_bytes and max(small) > 1:  # torch sums whole pictures in another order
            up, across = (_nearest(few, side) for few, side in zip(small, sides, strict=True))
            found = blurred(part.view.reshape(-1, *sides).numpy(), small[0], small[1], up, across)
            return torch.from_numpy(found).reshape(part.view.shape), None
        view = part.unit()
        flat = view.flatten(0, -4) if view.ndim > 4 else view
        shrunk = torch.nn.functional.interpolate(flat, size=small, mode="area")
        enlarged = torch.nn.functional.interpolate(shrunk, size=tuple(sides), mode="nearest")
        return part.restored(enlarged.reshape(view.shape)), None


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
        self._require({f"a fill from 0 to 1, got {self.fill}": 0.0 <= self.fill <= 1.0})

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
        return torch.where(erased, part.restored(torch.tensor(self.fill)), part.view), None


@final
@dataclass(frozen=True, kw_only=True)
class SaltAndPepper(Corruption):
    """Pixels are dead, each with the strength as its probability: black or white in all channels, both equally often.

    Item 1(b) of the images in MultiBench (Liang et al., NeurIPS 2021), appendix D.3.1. Every frame of a video has its own.
    """

    name: ClassVar[str] = "salt-and-pepper"
    kinds: ClassVar[tuple[Kind, ...]] = ("image", "video")

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        *frames, _, height, width = part.modality.shape
        drawn = part.uniforms(*frames, 1, height, width)
        black, white = (part.restored(torch.tensor(fill)) for fill in (0.0, 1.0))
        dead = torch.where(drawn < strength / 2, black, white)
        return torch.where(drawn < strength, dead, part.view), None


@final
@dataclass(frozen=True, kw_only=True)
class PeriodicNoise(Corruption):
    """A pattern of parallel waves lies over images, each with the strength as its probability.

    Direction and phase of the waves are random, and the same in all channels and frames. Item 1(c) of the images in MultiBench,
    appendix D.3.1, which leaves the pattern open.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        amplitude: of the waves, as a share of the range 0 to 1.
        period: length of a wave in pixels.

    Raises:
        ConfigError: an amplitude or a period that is not above 0.
    """

    name: ClassVar[str] = "periodic-noise"
    kinds: ClassVar[tuple[Kind, ...]] = ("image", "video")

    amplitude: float = 0.3
    period: float = 6.0

    def __post_init__(self) -> None:
        super().__post_init__()
        given = {"an amplitude": self.amplitude, "a period": self.period}
        self._require({f"{what} above 0, got {value}": 0.0 < value < math.inf for what, value in given.items()})

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        hit, direction, phase = part.uniforms(3).unbind(1)
        height, width = part.modality.shape[-2:]
        angle = torch.pi * direction[:, None, None]
        rows, columns = torch.arange(height)[:, None], torch.arange(width)
        down, across = (torch.from_numpy(function(angle.numpy())) for function in (sine, cosine))
        along = (down * rows + across * columns) / self.period
        waves = self.amplitude * torch.from_numpy(sine((2.0 * torch.pi * (along + phase[:, None, None])).numpy()))
        waves = waves.reshape(-1, *[1] * (part.view.ndim - 3), height, width)
        chosen = (hit < strength).reshape(-1, *[1] * (part.view.ndim - 1))
        return torch.where(chosen, part.restored(part.unit() + waves), part.view), None


def _nearest(few: int, many: int) -> np.ndarray:
    """Which of `few` values each of `many` shows that they are enlarged to without smoothing, (many,) int64."""
    numbers = torch.arange(few, dtype=torch.float64).reshape(1, 1, few)
    return np.asarray(torch.nn.functional.interpolate(numbers, size=many, mode="nearest").reshape(many).long().numpy())
