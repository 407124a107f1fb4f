"""A reader of pictures that compares them with everything the world can draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Reading
from molyneux.data.worlds.renderings import BRIGHTEST, Kind, Renderings, evened, renderings

LEAST = 0.9
"""Cosine between a picture and what is nearest to it from which on it is read at all."""

MARGIN = 0.006
"""By how much more a picture must be like a mean than like any rendering to be unreadable.

True small figures whose place within a pixel lies between those of the renderings are up to 0.005 more like a mean."""

FAINT = 1 / 3
"""Brightness, as a part of a true figure's, up to which a figure is not there."""

_INSIDE = 0.5
"""Evened brightness of a pixel that belongs to the figure, for its centre."""

_CHUNK = 256


class RenderingReader:
    """Reads a figure on black ground as what it is most like; satisfies `core.Reader`.

    A picture is compared, by the cosine of its brightness, with all renderings of all figures (turned, moved, softened) and with
    means of them that show a factor no more. What is nearest says what is read, so a picture is read as a heart if a
    rendering of a heart is nearest, and its shape is unreadable if a mean over turns or shapes is clearly nearer. Colours are
    compared in the same way with those of the world and with mixtures of two. Nothing is learned, and true views are read
    without error.

    Args:
        kinds: the figures; codes of shape and size are those of the factors.
        colours: (C, 3) the world's colours in the order of the factor's codes; None where pictures are white.
        places: per value of the factor `position`, (P, 4) the pixels left, top, right and bottom between which centres lie;
            None where there is none.
        factors: names of the factors that pictures show, in the order in which they are answered.
        modality: name of the modality.
        image_size: side of the pictures in pixels.
    """

    def __init__(
        self,
        kinds: Sequence[Kind],
        *,
        colours: np.ndarray | None,
        places: np.ndarray | None,
        factors: Sequence[str],
        modality: str,
        image_size: int,
    ) -> None:
        self._kinds, self._colours, self._places = list(kinds), colours, places
        self._factors, self._modality, self._size = tuple(factors), modality, image_size

    @property
    def modality(self) -> str:
        """Name of the modality it reads."""
        return self._modality

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors it reads."""
        return self._factors

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Nothing is learned: 1 for every factor."""
        return dict.fromkeys(self._factors, 1.0)

    def read(self, view: Tensor) -> Reading:
        """Factor codes of pictures (B, 3, H, W) uint8."""
        parts = [self._read(part.float() / 255) for part in torch.split(view, _CHUNK)]
        empty = torch.empty(0, len(self._factors), dtype=torch.long)
        codes, forced = (torch.cat([part[i] for part in parts]) if parts else empty for i in (0, 1))
        doubts = [[name for name, code in zip(self._factors, row, strict=True) if code < 0] for row in codes.tolist()]
        reasons = {row: f"no {' and no '.join(names)} can be told" for row, names in enumerate(doubts) if names}
        return Reading(codes, self._factors, reasons, forced)

    @cached_property
    def _bank(self) -> Renderings:
        return renderings(self._kinds, self._size)

    @cached_property
    def _pictures(self) -> Tensor:
        return torch.from_numpy(self._bank.pictures).T.contiguous()

    def _read(self, view: Tensor) -> tuple[Tensor, Tensor]:
        """Codes and forced codes (B, F)."""
        brightness = view.amax(1)
        light = torch.from_numpy(evened(brightness.flatten(1).numpy())).view_as(brightness)
        centre = _centroid((light > _INSIDE).float())
        likeness = _crops(light, centre, self._bank.side).flatten(1) @ self._pictures
        likeness /= light.flatten(1).norm(dim=1, keepdim=True).clamp(min=1e-6)
        codes = torch.from_numpy(self._bank.codes)
        best, nearest = likeness.max(1)
        clear, rendering = likeness.masked_fill_((codes < 0).any(1), -1).max(1)
        legible = (best >= LEAST) & (brightness.flatten(1).topk(BRIGHTEST).values.mean(1) > FAINT)
        forced = codes[rendering]
        told = torch.where((best - clear > MARGIN)[:, None], codes[nearest], forced)
        read = {"shape": told[:, 0], "size": told[:, 1]}
        guessed = {"shape": forced[:, 0], "size": forced[:, 1]}
        if self._colours is not None:
            read["colour"], guessed["colour"] = _nearest_colour(view, brightness, torch.from_numpy(self._colours).float())
        if self._places is not None:
            read["position"], guessed["position"] = _nearest_place(centre, torch.from_numpy(self._places).float())
        stacked = torch.stack([read[name] for name in self._factors], 1)
        return stacked.where(legible[:, None], -1), torch.stack([guessed[name] for name in self._factors], 1)


def _centroid(light: Tensor) -> Tensor:
    """(B, 2) x and y in pixels of brightness (B, H, W); the middle where all is black."""
    height, width = light.shape[1:]
    total = light.sum((1, 2))
    x = (light.sum(1) * (torch.arange(width) + 0.5)).sum(1) / total
    y = (light.sum(2) * (torch.arange(height) + 0.5)).sum(1) / total
    middle = torch.tensor([0.5 * width, 0.5 * height])
    return torch.stack([x, y], 1).where((total > 0)[:, None], middle)


def _crops(light: Tensor, centre: Tensor, side: int) -> Tensor:
    """Squares (B, side, side) around the pixels in which centres lie; black outside of the picture."""
    reach = side // 2
    padded = functional.pad(light, (reach, reach, reach, reach))
    left, top = centre.floor().long().unbind(1)
    steps = torch.arange(side)
    rows = torch.arange(len(light))[:, None, None]
    return padded[rows, (top[:, None] + steps)[:, :, None], (left[:, None] + steps)[:, None, :]]


def _nearest_colour(view: Tensor, light: Tensor, colours: Tensor) -> tuple[Tensor, Tensor]:
    """Code of the colour that pictures are most like, -1 where that is a mixture of two; and whatever is nearest."""
    ink = functional.normalize((view * light[:, None]).sum((2, 3)), dim=1)
    pure = functional.normalize(colours, dim=1)
    first, second = torch.triu_indices(len(pure), len(pure), 1)
    mixed = functional.normalize(pure[first] + pure[second], dim=1)
    own, other = ink @ pure.T, ink @ mixed.T
    best, code = own.max(1)
    mixture = other.amax(1) if len(mixed) else torch.full_like(best, -1)
    return code.where(best > mixture, -1), code


def _nearest_place(centre: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
    """Number of the rectangle that centres (B, 2) lie in, -1 where they lie in none; and of the nearest."""
    below, above = places[:, :2] - centre[:, None], centre[:, None] - places[:, 2:]
    away = torch.maximum(below, above).clamp(min=0).norm(dim=2)
    best, code = away.min(1)
    return code.where(best <= 0, -1), code
