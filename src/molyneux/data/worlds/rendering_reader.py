"""The exact reader of CdSprites pictures: compares them with everything that the world can draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from molyneux.core import Reading, Spec
from molyneux.core.lazy import lazy_module
from molyneux.data.worlds import cdsprites_settings as attributes
from molyneux.data.worlds.cdsprites_settings import CdSpritesSettings
from molyneux.data.worlds.dsprites import PLACES
from molyneux.data.worlds.painting import BRIGHTEN, DARK_CLEAN
from molyneux.data.worlds.raster import SHAPES
from molyneux.data.worlds.rendering_colours import ALIKE, SHIFT, WITHIN, deep_inside, nearest_colour
from molyneux.data.worlds.rendering_cover import halved, on_black, projected, sharpened
from molyneux.data.worlds.renderings import (
    INSIDE,
    SMOOTHING,
    FigureKind,
    Renderings,
    centred,
    centroid,
    evened,
    gaussian,
    renderings,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import functional
else:
    torch = lazy_module("torch")
    functional = lazy_module("torch.nn.functional")

LEAST, LEAST_CRISP = 0.988, 0.992
"""Smallest cosine between a picture and the nearest reference picture for its shape and size to be read: with soft borders, and
with crisp ones, which the world draws."""

MARGIN, MARGIN_CRISP = 0.002, 0.0015
"""By how much the nearest picture that is no figure may be nearer than a figure: small figures are drawn coarsely."""

CRISP, SOFT, BLURRED = 2.0, 3.0, 12.0
"""`softness` up to which borders are crisp, from which on they are soft, and up to which a figure is read."""

PRESENT = 0.85
"""Smallest cosine for the colour and the position of an object to be read."""

FAINT = 1 / 3
"""Brightness, as a share of a true figure's, up to which a picture holds no figure."""

TEXTURED, PLAIN = 0.5, 0.9
"""Share of the largest brightness from which on all brightness is the same, with and without textures."""

_CHUNK = 256

_COMPONENTS = 224
"""Dimensions in which pictures are compared, and of how many reference pictures they are the principal components."""
_SAMPLED = 1200

_CANVAS = 64
"""Side in pixels of the pictures in which the attributes are measured."""

_SLACK = 2.0
"""Positions by which a figure may lie outside of a quadrant's."""

SATURATED = 0.4
"""Smallest difference of a colour's channels, as a share of the largest, for its figures to be told from grey ground."""

GROUND = 0.9
"""Share of the ground that has to be as bright as one of the world's grounds to be read."""

_TINGE = 0.15
"""Largest difference of the channels of a pixel of soft grey ground."""

_SHADE = 0.05
"""By how much ground may be darker or brighter than the world draws it."""

_READ = ("shape", "size", "colour", "position", "background")


def can_be_read(settings: CdSpritesSettings) -> bool:
    """Whether pictures of these settings are read without error.

    They are not where there is noise in size or background, or the original sprites; nor where borders are smooth, pictures
    have fewer than 64 pixels a side or shapes are thin, so that true views resemble means of views; nor, with backgrounds,
    where a colour is nearly grey or dark grounds have the bright speckles of the published code.
    """
    noisy = settings.noise.size or settings.noise.background or (settings.level == 5 and settings.noise.shade)
    sharp = settings.image_size >= 64 and not settings.anti_alias and "spiral" not in settings.choices["shapes"].values()
    colours = np.array(list(settings.choices["colours"].values()), np.float64)
    apart = settings.level < 5 or (settings.dark_background == "clean" and _saturation(colours).min() >= SATURATED)
    return settings.dsprites is None and not noisy and sharp and apart


def rendering_reader(settings: CdSpritesSettings, spec: Spec, factors: Sequence[str]) -> RenderingReader:
    """The reader of pictures of these settings.

    Args:
        settings: those that `can_be_read` is true of.
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
    look = Look(
        image_size=settings.image_size,
        level=TEXTURED if settings.level >= 3 and settings.textures is not None else PLAIN,
        colours=colours if "colour" in factors else None,
        varied=SHIFT * settings.noise.shade / 255 if settings.level >= 3 else 0.0,
        places=_quadrants(settings.image_size) if "position" in factors else None,
        grounds="background" in factors,
    )
    read = [factor.name for factor in spec.factors if factor.name in factors and factor.name in _READ]
    return RenderingReader(kinds, look, factors=read, modality="image")


@dataclass(frozen=True, kw_only=True)
class Look:
    """What the pictures of a world look like, but for their figures.

    Args:
        image_size: side of the pictures in pixels.
        level: share of the largest brightness from which on all brightness is the same.
        colours: (C, 3) the world's colours in the order of the factor's codes; None where pictures are white.
        varied: by how much the world varies its colours.
        places: per value of the factor `position`, (P, 4) the pixels left, top, right and bottom between which centres lie;
            None where there is none.
        grounds: whether ground is light (first value of the factor `background`) or dark instead of black.
    """

    image_size: int
    level: float
    colours: np.ndarray | None
    varied: float
    places: np.ndarray | None
    grounds: bool


class RenderingReader:
    """Reads a figure on black or grey ground by its nearest reference picture; satisfies `core.Reader`.

    A picture is compared, by the cosine of its smoothed brightness, with renderings of all figures (rotated, slightly soft, up to
    5 % larger or smaller) and with pictures that are no figure of the world: sizes from 12 % away, foreign shapes, ellipses of
    other axes, soft blobs and means over rotations. It is read as a heart if a rendering of a heart is nearest and near enough.
    Colours are compared in the same way with those of the world and with mixtures of two. Grey ground is taken away first: the
    difference of a pixel's largest and smallest channel is that of the figure's colour, as far as the figure covers the pixel.
    Nothing is learned, and true views are read without error.

    Args:
        kinds: the figures; codes of shape and size are those of the factors.
        look: of the pictures.
        factors: names of the factors that pictures show, in the order in which they are answered.
        modality: name of the modality.
    """

    version = "2"
    """Raised whenever some view may be read otherwise."""

    def __init__(
        self,
        kinds: Sequence[FigureKind],
        look: Look,
        *,
        factors: Sequence[str],
        modality: str,
    ) -> None:
        self._level, self._grounds, self._varied = look.level, look.grounds, look.varied
        self._kinds, self._colours, self._places = tuple(kinds), look.colours, look.places
        self._factors, self._modality, self._size = tuple(factors), modality, look.image_size

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
        return _search(self._kinds, self._size, self._level)

    def _read(self, view: Tensor) -> tuple[Tensor, Tensor]:
        """Codes and forced codes (B, F)."""
        ground = view
        if self._grounds:
            view = on_black(view, torch.from_numpy(self._colours).float())
        brightness = view.amax(1)
        flat, brightest = evened(brightness.flatten(1).numpy(), self._level)
        light = torch.from_numpy(flat).view_as(brightness)
        centre = centroid(light)
        best = self._search.nearest(light, centre)
        if self._grounds:
            best = self._second_look(ground, best)
        lit = torch.from_numpy(brightest > FAINT)
        near, there = lit & best.near, lit & (best.cosine >= PRESENT)
        forced, codes = best.forced, best.codes.where(near[:, None], -1)
        read = {"shape": codes[:, 0], "size": codes[:, 1]}
        guessed = {"shape": forced[:, 0], "size": forced[:, 1]}
        if self._colours is not None:
            colours = torch.from_numpy(self._colours / self._colours.max(1, keepdims=True)).float()
            own = ground if self._grounds else None
            read["colour"], guessed["colour"] = nearest_colour(view, own, light, colours, ALIKE + self._varied)
        if self._places is not None:
            read["position"], guessed["position"] = _nearest_place(centre, torch.from_numpy(self._places).float())
        read = {name: found.where(there, -1) for name, found in read.items()}
        if self._grounds:
            colour = torch.from_numpy(self._colours).float()[guessed["colour"]]
            read["background"], guessed["background"] = _nearest_ground(ground, light, colour)
        stacked = torch.stack([read[name] for name in self._factors], 1)
        return stacked, torch.stack([guessed[name] for name in self._factors], 1)

    def _second_look(self, view: Tensor, first: _Nearest) -> _Nearest:
        """What pictures (n, 3, S, S) on grey ground are nearest to.

        It is the first answer but where no figure was read and colours were stored at half of the resolution, as JPEG does it.
        """
        rows = torch.nonzero(~first.read).flatten()
        cover = projected(view[rows], torch.from_numpy(self._colours).float())
        coarse = halved(cover)
        rows, cover, found = rows[coarse], cover[coarse], [part.clone() for part in first]
        for light in (cover, sharpened(cover, view[rows])):
            flat, _ = evened(light.clamp(min=0).flatten(1).numpy(), self._level)
            even = torch.from_numpy(flat).view_as(light)
            again = self._search.nearest(even, centroid(even))
            for part, other in zip(found, again, strict=True):
                part[rows[again.read]] = other[again.read]
        return _Nearest(*found)


class _Nearest(NamedTuple):
    """Of each picture the largest cosine (n,), whether that is enough (n,), codes (n, 2) of shape and size, and forced ones."""

    cosine: Tensor
    near: Tensor
    codes: Tensor
    forced: Tensor

    @property
    def read(self) -> Tensor:
        """(n,) whether shape and size are read."""
        return self.near & (self.codes >= 0).all(1)


class _Search:
    """Finds nearest reference pictures in a subspace of their principal components.

    What lies outside of the subspace counts in the length of a picture: it makes all cosines smaller.
    """

    def __init__(self, bank: Renderings, image_size: int) -> None:
        self.side, self._codes = bank.side, torch.from_numpy(bank.codes)
        self._true = int((bank.codes >= 0).all(1).sum())
        pictures = torch.from_numpy(bank.pictures)
        sample = pictures[torch.linspace(0, len(pictures) - 1, min(_SAMPLED, len(pictures))).long()]
        size = min(_COMPONENTS, len(sample))
        values, vectors = torch.linalg.eigh(sample @ sample.T)
        self._basis = torch.linalg.qr(sample.T @ vectors[:, -size:] / values[-size:].clamp(min=1e-6).sqrt()).Q
        self._bank = functional.normalize(pictures @ self._basis, dim=1).T.contiguous()
        self._sigma = SMOOTHING * image_size / _CANVAS
        self._whole = gaussian(torch.arange(image_size) + 0.5, image_size, self._sigma)

    def nearest(self, light: Tensor, centre: Tensor) -> _Nearest:
        """What is nearest to the evened brightness (n, S, S) of pictures around their centres (n, 2)."""
        crops = centred(light, centre, self.side, self._sigma).flatten(1)
        length = (self._whole @ light @ self._whole.T).flatten(1).norm(dim=1, keepdim=True)
        cosines = (crops @ self._basis) @ self._bank / length.clamp(min=1e-6)
        true, other = cosines[:, : self._true].max(1), cosines[:, self._true :].max(1)
        forced, wrong = self._codes[true.indices], self._codes[self._true + other.indices]
        soft = softness(light)
        crisp = ((SOFT - soft) / (SOFT - CRISP)).clamp(0, 1)
        codes = torch.where(
            (other.values > torch.lerp(true.values + MARGIN, true.values + MARGIN_CRISP, crisp))[:, None], wrong, forced
        )
        codes = codes.where((codes < 0).any(1, keepdim=True) | (soft <= BLURRED)[:, None], -1)  # means of figures have a size
        best = torch.maximum(true.values, other.values)
        return _Nearest(best, best >= LEAST + (LEAST_CRISP - LEAST) * crisp, codes, forced)


@lru_cache(maxsize=2)  # seconds to make, and every reader of a world needs the same
def _search(kinds: tuple[FigureKind, ...], image_size: int, level: float) -> _Search:
    return _Search(renderings(kinds, image_size, level), image_size)


def softness(light: Tensor) -> Tensor:
    """(n,) how wide the borders of figures are in evened brightness (n, S, S).

    It is the sum of 4 c (1 - c) over pixels of cover c, by the square root of the area, in pixels of a 64-pixel picture.
    """
    partly = (4 * light * (1 - light)).sum((1, 2))
    return partly / light.sum((1, 2)).sqrt().clamp(min=1) * (_CANVAS / light.shape[-1])


def _saturation(colours: np.ndarray) -> np.ndarray:
    """(C,) the difference of the channels of colours (C, 3), as a share of the largest."""
    return np.asarray(np.ptp(colours, 1) / colours.max(1))


def _nearest_ground(view: Tensor, light: Tensor, colour: Tensor) -> tuple[Tensor, Tensor]:
    """Whether ground is light (0) or dark (1), -1 where it is neither; and what it is nearest to.

    Args:
        view: (n, 3, S, S) pictures.
        light: (n, S, S) their evened brightness, 0 where there is no figure.
        colour: (n, 3) the world's colour that the figure is most like.
    """
    grey = _unstretched(view, deep_inside(light > WITHIN), colour)
    empty = light <= INSIDE
    plain = view.amax(1) - view.amin(1) <= _TINGE
    bright, dark = grey >= BRIGHTEN / 255 - _SHADE, grey <= int(DARK_CLEAN.max()) / 255 + _SHADE
    share = (
        torch.stack([(empty & plain & there).sum((1, 2)) for there in (bright, dark)], 1)
        / empty.sum((1, 2)).clamp(min=1)[:, None]
    )
    best, code = share.max(1)
    much = empty.double().mean((1, 2)) >= 0.5
    return code.where((best >= GROUND) & much, -1), code


def _unstretched(view: Tensor, inside: Tensor, colour: Tensor) -> Tensor:
    """Grey values (n, S, S) of pictures before what was darkest was made black, which is done where colours have grey in them.

    Args:
        view: (n, 3, S, S) pictures.
        inside: (n, S, S) whether a pixel is covered by the figure.
        colour: (n, 3) of the figure; how much of the grey in it is missing says how the picture was stretched.
    """
    low, high = colour.amin(1), colour.amax(1)
    share = (low / (high - low))[:, None, None]
    darkest = view.amin(1)
    missing = share * (view.amax(1) - darkest) - darkest
    amount = (missing * inside).sum((1, 2)) / inside.sum((1, 2)).clamp(min=1)
    black = amount.clamp(min=0) / (1 + amount.clamp(min=0))
    return torch.lerp(view.mean(1), torch.ones(()), black[:, None, None])


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
