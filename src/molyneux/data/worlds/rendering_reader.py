"""The exact reader of CdSprites pictures on black ground: compares them with everything that the world can draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Reading, Spec
from molyneux.core.compiled import compiled
from molyneux.data.worlds import cdsprites_settings as attributes
from molyneux.data.worlds.cdsprites_settings import Settings
from molyneux.data.worlds.dsprites import PLACES
from molyneux.data.worlds.raster import SHAPES
from molyneux.data.worlds.renderings import FigureKind, Renderings, evened, renderings

LEAST = 0.9
"""Smallest cosine between a picture and the nearest reference picture for the picture to be read at all."""

MARGIN = 0.006
"""By how much the cosine with a mean must exceed that with every rendering for a picture to be unreadable.

For true small figures whose place within a pixel lies between those of the renderings it is up to 0.005 larger."""

FAINT = 1 / 3
"""Brightness, as a share of a true figure's, up to which a picture holds no figure."""

_INSIDE = 0.5
"""Evened brightness of a pixel that belongs to the figure, for its centre."""

_CHUNK = 256

_COMPONENTS = 128
"""Dimensions in which pictures are first compared, and of how many reference pictures they are the principal components."""
_SAMPLED = 1000

_ROUNDING = 1e-5
"""Larger than any error of the cosines by rounding."""

_CANVAS = 64
"""Side in pixels of the pictures in which the attributes are measured."""

_SLACK = 2.0
"""Positions by which a figure may lie outside of a quadrant's."""

_READ = ("shape", "size", "colour", "position")


def can_be_read(settings: Settings) -> bool:
    """Whether pictures of these settings are read without error.

    They are not where there are backgrounds (level 5), noise in size or background, or the original sprites; nor where borders
    are smooth, pictures have fewer than 64 pixels a side or shapes are thin, so that true views resemble means of views.
    """
    noisy = settings.noise.size or settings.noise.background
    sharp = settings.image_size >= 64 and not settings.anti_alias and "spiral" not in settings.choices["shapes"].values()
    return settings.level <= 4 and settings.dsprites is None and not noisy and sharp


def rendering_reader(settings: Settings, spec: Spec, factors: Sequence[str]) -> RenderingReader:
    """The reader of pictures of these settings.

    Args:
        settings: of a world without backgrounds.
        spec: of its samples.
        factors: names of those that pictures show.
    """
    sizes = settings.choices["sizes"] if settings.level >= 2 else {"": max(settings.choices["sizes"].values())}
    kinds = [
        FigureKind(
            shape,
            size,
            SHAPES.index(name),
            attributes.BOXES[name] * scale / _CANVAS,
            attributes.STROKES.get(name, 0.0) * scale / _CANVAS,
        )
        for shape, name in enumerate(settings.choices["shapes"].values())
        for size, scale in enumerate(sizes.values())
    ]
    colours = np.array(list(settings.choices["colours"].values()), np.float64)
    return RenderingReader(
        kinds,
        colours=colours if "colour" in factors else None,
        places=_quadrants(settings.image_size) if "position" in factors else None,
        factors=[factor.name for factor in spec.factors if factor.name in factors and factor.name in _READ],
        modality="image",
        image_size=settings.image_size,
    )


class RenderingReader:
    """Reads a figure on black ground by its nearest reference picture; satisfies `core.Reader`.

    A picture is compared, by the cosine of its brightness, with renderings of all figures (rotated, moved, softened) and with
    means of them that show a factor no more. It is read as a heart if a rendering of a heart is nearest, and its shape is
    unreadable if a mean over rotations or shapes is clearly nearer. Colours are compared in the same way with those of the
    world and with mixtures of two. Nothing is learned, and true views are read without error.

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
        kinds: Sequence[FigureKind],
        *,
        colours: np.ndarray | None,
        places: np.ndarray | None,
        factors: Sequence[str],
        modality: str,
        image_size: int,
    ) -> None:
        self._kinds, self._colours, self._places = tuple(kinds), colours, places
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
        missing = [[name for name, code in zip(self._factors, row, strict=True) if code < 0] for row in codes.tolist()]
        reasons = {row: f"cannot read {' or '.join(names)}" for row, names in enumerate(missing) if names}
        return Reading(codes, self._factors, reasons, forced)

    @property
    def _search(self) -> _Search:
        return _search(self._kinds, self._size)

    def _read(self, view: Tensor) -> tuple[Tensor, Tensor]:
        """Codes and forced codes (B, F)."""
        brightness = view.amax(1)
        flat, brightest = evened(brightness.flatten(1).numpy())
        light = torch.from_numpy(flat).view_as(brightness)
        centre = _centroid((light > _INSIDE).float())
        search = self._search
        crops = _crops(light, centre, search.side).flatten(1)
        best = search.nearest(crops / light.flatten(1).norm(dim=1, keepdim=True).clamp(min=1e-6))
        legible = (best.cosine >= LEAST) & torch.from_numpy(brightest > FAINT)
        forced, codes = best.forced, best.codes
        read = {"shape": codes[:, 0], "size": codes[:, 1]}
        guessed = {"shape": forced[:, 0], "size": forced[:, 1]}
        if self._colours is not None:
            read["colour"], guessed["colour"] = _nearest_colour(view, brightness, torch.from_numpy(self._colours).float())
        if self._places is not None:
            read["position"], guessed["position"] = _nearest_place(centre, torch.from_numpy(self._places).float())
        stacked = torch.stack([read[name] for name in self._factors], 1)
        return stacked.where(legible[:, None], -1), torch.stack([guessed[name] for name in self._factors], 1)


class _Nearest(NamedTuple):
    """Of each picture the largest cosine (n,), the codes (n, 2) of shape and size, and those of the nearest rendering."""

    cosine: Tensor
    codes: Tensor
    forced: Tensor


class _Search:
    """Finds nearest reference pictures exactly, most of them without looking at all pixels.

    A cosine is at most that of the parts in a subspace plus the product of the lengths of the parts outside of it
    (Cauchy-Schwarz). With principal components as subspace, few reference pictures can exceed the best one found so far.
    """

    def __init__(self, bank: Renderings) -> None:
        self.side, self._pictures, self._codes = bank.side, bank.pictures, torch.from_numpy(bank.codes)
        self._clear = int((bank.codes >= 0).all(1).sum())
        pictures = torch.from_numpy(bank.pictures)
        sample = pictures[torch.linspace(0, len(pictures) - 1, min(_SAMPLED, len(pictures))).long()]
        size = min(_COMPONENTS, len(sample))
        values, vectors = torch.linalg.eigh(sample @ sample.T)
        self._basis = torch.linalg.qr(sample.T @ vectors[:, -size:] / values[-size:].clamp(min=1e-6).sqrt()).Q
        self._inside, self._outside = self._split(pictures)

    def nearest(self, pictures: Tensor) -> _Nearest:
        """What is nearest to pictures (n, side * side) of norm 1 at most."""
        inside, outside = self._split(pictures)
        bounds = (inside @ self._inside.T).numpy()
        rendering, clear, other, blurred = _nearest(
            pictures.numpy(), bounds, outside.numpy(), self._pictures, self._outside.numpy(), self._clear
        )
        forced = self._codes[torch.from_numpy(rendering)]
        illegible = torch.from_numpy(blurred - clear > MARGIN)[:, None]
        codes = torch.where(illegible, self._codes[torch.from_numpy(other)], forced)
        return _Nearest(torch.from_numpy(np.maximum(clear, blurred)), codes, forced)

    def _split(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Coordinates (n, components) in the subspace, and the length (n,) of what lies outside of it."""
        inside = pictures @ self._basis
        return inside, (pictures.square().sum(1) - inside.square().sum(1)).clamp(min=0).sqrt()


@lru_cache(maxsize=1)  # half a second to make, and every reader of a world needs the same
def _search(kinds: tuple[FigureKind, ...], image_size: int) -> _Search:
    return _Search(renderings(kinds, image_size))


@compiled
def _nearest(
    pictures: np.ndarray, inside: np.ndarray, outside: np.ndarray, bank: np.ndarray, bank_outside: np.ndarray, clear: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The nearest of the first `clear` pictures of the bank and its cosine; and the same of the others, where it is larger."""
    count = len(pictures)
    rendering, mean = np.zeros(count, np.int64), np.full(count, clear)
    best, larger = np.zeros(count, np.float32), np.zeros(count, np.float32)
    for i in range(count):
        picture, limit = pictures[i], outside[i]
        rendering[i] = np.argmax(inside[i, :clear])
        best[i] = np.dot(picture, bank[rendering[i]])
        for j in range(clear):
            if inside[i, j] + limit * bank_outside[j] + _ROUNDING > best[i]:
                cosine = np.dot(picture, bank[j])
                if cosine > best[i]:
                    rendering[i], best[i] = j, cosine
        larger[i] = best[i]
        for j in range(clear, len(bank)):
            if inside[i, j] + limit * bank_outside[j] + _ROUNDING > larger[i]:
                cosine = np.dot(picture, bank[j])
                if cosine > larger[i]:
                    mean[i], larger[i] = j, cosine
    return rendering, best, mean, larger


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


def _quadrants(image_size: int) -> np.ndarray:
    """(4, 4) left, top, right and bottom of the quadrants in pixels."""
    ends = [(min(x), min(y), max(x), max(y)) for x, y in attributes.QUADRANTS.values()]
    low, high = np.array(ends)[:, :2] - _SLACK, np.array(ends)[:, 2:] + _SLACK
    pixels = _CANVAS / 2 + (np.concatenate([low, high], 1) - (PLACES - 1) / 2) * attributes.STEP
    return np.asarray(pixels * image_size / _CANVAS)
