"""Corruptions that happen to a share of the images: changes of colours, flips, crops, rotations and translations.

MultiBench (Liang et al., NeurIPS 2021), appendix D.3.1, items 2 and 3 of the images. The strength is the probability that an
image is changed; how much it then changes is a setting. In a video every frame changes alike.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from molyneux.core import Kind, Modality
from molyneux.core.elementary import cosine, sine
from molyneux.data.imperfections.corruption import Corruption, ModalityBatch

_GREY = (0.3, 0.59, 0.11)
"""Shares of red, green and blue in grey."""


@dataclass(frozen=True, kw_only=True)
class Occasional(Corruption):
    """Images are changed, each with the strength as its probability; the others keep their bytes."""

    kinds: ClassVar[tuple[Kind, ...]] = ("image", "video")

    channels: ClassVar[tuple[int, ...]] = ()
    """Numbers of channels that images may have; any where there are none."""

    def fits(self, modality: Modality) -> bool:
        """Whether a modality has images of as many channels as are needed."""
        return super().fits(modality) and (not self.channels or modality.shape[-3] in self.channels)

    def change(self, part: ModalityBatch, strength: float) -> tuple[Tensor, Tensor | None]:
        """See `Corruption.change`."""
        drawn = part.uniforms(4)
        chosen = drawn[:, 0] < strength
        if not bool(chosen.any()):
            return part.view, None
        some = part[chosen]
        pictures = some.unit()
        changed = self.alter(pictures if pictures.ndim == 5 else pictures.unsqueeze(1), drawn[chosen, 1:])
        found = part.view.clone()
        found[chosen] = some.restored(changed.reshape(pictures.shape))
        return found, None

    @abstractmethod
    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """Images (B, T, C, H, W) of T frames, changed; `drawn` (B, 3) are three random numbers of [0, 1) for each."""


@final
@dataclass(frozen=True, kw_only=True)
class Grayscale(Occasional):
    """Images lose their colours: every channel becomes 0.3 red + 0.59 green + 0.11 blue."""

    name: ClassVar[str] = "grayscale"
    channels: ClassVar[tuple[int, ...]] = (3,)

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        return (pictures * pictures.new_tensor(_GREY).reshape(3, 1, 1)).sum(2, keepdim=True).expand_as(pictures)


@final
@dataclass(frozen=True, kw_only=True)
class Contrast(Occasional):
    """Images lose contrast: the distance of every value from the mean of its image shrinks.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        kept: the share of the distance that is kept.
    """

    name: ClassVar[str] = "contrast"

    kept: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"a share to be kept from 0 to below 1, got {self.kept}": 0.0 <= self.kept < 1.0})

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        mean = pictures.mean((2, 3, 4), keepdim=True)
        return mean + self.kept * (pictures - mean)


@final
@dataclass(frozen=True, kw_only=True)
class Inversion(Occasional):
    """Images become their negatives: every value x becomes 1 - x."""

    name: ClassVar[str] = "inversion"

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        return 1.0 - pictures


@final
@dataclass(frozen=True, kw_only=True)
class Brightness(Occasional):
    """Images become darker or brighter, both equally often: all values are divided or multiplied by a factor.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        factor: above 1.
    """

    name: ClassVar[str] = "brightness"

    factor: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"a factor above 1, got {self.factor}": 1.0 < self.factor < math.inf})

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        return pictures * torch.where(drawn[:, 0] < 0.5, 1.0 / self.factor, self.factor).reshape(-1, 1, 1, 1, 1)


@final
@dataclass(frozen=True, kw_only=True)
class WhiteBalance(Occasional):
    """The white balance of images is wrong: the light is too warm or too cold, both equally often.

    Red is multiplied by 1 + `shift` and blue by 1 - `shift`, or the other way round.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        shift: above 0, up to 1.
    """

    name: ClassVar[str] = "white-balance"
    channels: ClassVar[tuple[int, ...]] = (3,)

    shift: float = 0.4

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"a shift above 0, up to 1, got {self.shift}": 0.0 < self.shift <= 1.0})

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        shift = torch.where(drawn[:, 0] < 0.5, -self.shift, self.shift)
        gains = torch.stack([1.0 + shift, torch.ones_like(shift), 1.0 - shift], 1)
        return pictures * gains.reshape(-1, 1, 3, 1, 1)


@final
@dataclass(frozen=True, kw_only=True)
class Tint(Occasional):
    """Images are tinted with pure red, green or blue, drawn for each.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        opacity: of the colour, above 0, up to 1.
    """

    name: ClassVar[str] = "tint"
    channels: ClassVar[tuple[int, ...]] = (3,)

    opacity: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"an opacity above 0, up to 1, got {self.opacity}": 0.0 < self.opacity <= 1.0})

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        colour = (torch.arange(3) == (3 * drawn[:, :1]).long()).double().reshape(-1, 1, 3, 1, 1)
        return (1.0 - self.opacity) * pictures + self.opacity * colour


@final
@dataclass(frozen=True, kw_only=True)
class ChannelIsolation(Occasional):
    """One channel of images, drawn for each, is kept; the others become 0."""

    name: ClassVar[str] = "channel-isolation"
    channels: ClassVar[tuple[int, ...]] = (2, 3, 4)

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        count = pictures.shape[2]
        return pictures * (torch.arange(count) == (count * drawn[:, :1]).long()).reshape(-1, 1, count, 1, 1)


@final
@dataclass(frozen=True, kw_only=True)
class Flip(Occasional):
    """Images are mirrored, left and right exchanged."""

    name: ClassVar[str] = "flip"

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        return pictures.flip(-1)


@final
@dataclass(frozen=True, kw_only=True)
class Rotation(Occasional):
    """Images are rotated about their centre, to the left or to the right; what comes into view is black.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        angles: smallest and largest angle in degrees, between which it is drawn; 20 to 40 as in the paper.
    """

    name: ClassVar[str] = "rotation"

    angles: tuple[float, float] = (20.0, 40.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        two = len(self.angles) == 2 and 0.0 <= self.angles[0] <= self.angles[1] <= 180.0 and self.angles[1] > 0
        self._require({f"two angles from 0 to 180 degrees in rising order, got {self.angles}": two})

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        low, high = self.angles
        angle = torch.deg2rad(low + (high - low) * drawn[:, 0]) * torch.where(drawn[:, 1] < 0.5, -1.0, 1.0)
        height, width = pictures.shape[-2:]
        across, down, none = _function(cosine, angle), _function(sine, angle), torch.zeros_like(angle)
        rows = [across, -down * height / width, none, down * width / height, across, none]
        return _sampled(pictures, torch.stack(rows, 1), "bilinear")


@final
@dataclass(frozen=True, kw_only=True)
class Crop(Occasional):
    """Images are cropped to a window at a random place, which is enlarged to the size of the image.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        side: of the window, as a share of each side of the image.
    """

    name: ClassVar[str] = "crop"

    side: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"a side between 0 and 1, got {self.side}": 0.0 < self.side < 1.0})

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        across, down = ((1.0 - self.side) * (2.0 * drawn[:, axis] - 1.0) for axis in (0, 1))
        side, none = torch.full_like(across, self.side), torch.zeros_like(across)
        return _sampled(pictures, torch.stack([side, none, across, none, side, down], 1), "bilinear", "border")


@final
@dataclass(frozen=True, kw_only=True)
class Translation(Occasional):
    """Images are moved by whole pixels to the left, right, up or down, drawn for each; what comes into view is black.

    Args:
        modalities: which ones are corrupted; by default all that fit.
        distance: the longest way as a share of the side; the shortest is one pixel.
    """

    name: ClassVar[str] = "translation"

    distance: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require({f"a distance above 0, up to 1, got {self.distance}": 0.0 < self.distance <= 1.0})

    def alter(self, pictures: Tensor, drawn: Tensor) -> Tensor:
        """See `Occasional.alter`."""
        way, moves = (4 * drawn[:, 0]).long(), []
        for axis, side in enumerate((pictures.shape[-1], pictures.shape[-2])):
            pixels = 1.0 + (drawn[:, 1] * max(1, round(self.distance * side))).floor()
            moves.append(torch.where(way // 2 == axis, pixels, 0.0) * torch.where(way % 2 == 0, -1.0, 1.0) * 2.0 / side)
        one, none = torch.ones_like(moves[0]), torch.zeros_like(moves[0])
        return _sampled(pictures, torch.stack([one, none, moves[0], none, one, moves[1]], 1), "nearest")


def _sampled(pictures: Tensor, maps: Tensor, mode: str, outside: str = "zeros") -> Tensor:
    """Images (B, T, C, H, W) read at other places: maps (B, 6) of places in the result to places in the image, both -1..1."""
    flat = pictures.flatten(1, 2)
    height, width = flat.shape[2:]
    down, across = ((2.0 * torch.arange(side, dtype=torch.float64) + 1.0) / side - 1.0 for side in (height, width))
    own = maps.double().reshape(-1, 2, 3, 1, 1)  # sums one by one: torch's `affine_grid` is a product of matrices
    grid = (own[:, :, 0] * across + own[:, :, 1] * down[:, None] + own[:, :, 2]).permute(0, 2, 3, 1)
    return grid_sample(flat, grid, mode=mode, padding_mode=outside, align_corners=False).reshape(pictures.shape)


def _function(function: Callable[[np.ndarray], np.ndarray], values: Tensor) -> Tensor:
    """A function of arrays, of a tensor."""
    return torch.from_numpy(function(values.numpy()))
