"""Pictures and contours of scenes that were altered after they were drawn, with labels, for judges to learn from.

Some show all factors, in a way that true views do not (without texture); the others show no shape, or no object at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from molyneux.core import NO_LABEL, UNREADABLE, Batch, Factor, JudgeMaterial, Spec, seeds
from molyneux.data.dataset import Split
from molyneux.data.worlds import foreign_shapes
from molyneux.data.worlds.captioned_world import CaptionedWorld, Scenes
from molyneux.data.worlds.raster import SHAPES, Figures, masks
from molyneux.data.worlds.touch import CONTACTS, disturb, follow, traced

OBJECT = ("shape", "size", "colour", "position")
"""Factors that cannot be read without an object."""

_PLACED = ("shape", "size", "position")
"""Those that two figures together do not show."""


class Change(NamedTuple):
    """What an alteration leaves of a scene.

    Args:
        share: how often it occurs, relative to the others.
        unreadable: factors that cannot be read.
        unlabelled: factors that have no label.
    """

    share: int
    unreadable: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()


CHANGES: Mapping[str, Change] = {
    "plain": Change(8),
    "foreign": Change(8, ("shape",)),
    "cut": Change(3, ("shape",), ("size",)),
    "resized": Change(4, ("shape", "size")),
    "pair": Change(4, ("shape", "size"), ("position",)),
    "turned": Change(4, ("shape",)),
    "shifted": Change(2, ("shape",), ("size", "position")),
    "mixed": Change(2, ("shape",)),
    "blurred": Change(3, ("shape",), ("size",)),
    "faded": Change(2, OBJECT),
    "filled": Change(1, ("shape", "size", "position", "background"), ("colour",)),
}
"""Alterations of pictures.

`plain`: without texture. `foreign`: a shape that no world has. `cut`: a part is missing. `resized`: at least 18 % away from every
size of the world. `pair`: a second figure. `turned`, `shifted`: means over 0.3 to 1 of the rotations after which the figure looks
the same, or over at least 0.4 lengths. `mixed`: a mean over shapes. `blurred`: by a Gaussian of at least a quarter of the
length. `faded`: at most an eighth of the contrast. `filled`: the object fills the picture.
"""

_STEP = 1.18
"""Smallest ratio to every size of the world of a wrong size."""

_AVERAGED = 10
"""Figures in a mean."""

_PERIODS = {"square": 0.25, "ellipse": 0.5, "line": 0.5}
"""After which share of a turn a figure looks the same; 1 for all others."""

_STROKES = ("spiral",)
"""Shapes of thin strokes, whose area says nothing about their size."""

_NUMBERS = 48


def judge_material(world: CaptionedWorld, modality: str, split: Split, size: int, *, seed: int) -> JudgeMaterial:
    """What a judge of a modality of a world in levels learns from; see `World.judge_material`."""
    views = world.source(split, size, seed=seed)
    if modality not in ("image", "touch"):
        return JudgeMaterial(views)
    altered = AlteredPictures if modality == "image" else AlteredContours
    return JudgeMaterial(views, altered(world, split, size, seed=seed))


class _Altered:
    """Altered scenes of a split as a `Source`, one for each scene.

    Args:
        world: whose scenes.
        split: which of them.
        size: how many, the first ones.
        seed: root seed of the split, and of everything drawn.
    """

    modality: str

    def __init__(self, world: CaptionedWorld, split: Split, size: int, *, seed: int) -> None:
        self._world, self._split, self._size, self._seed = world, split, size, seed
        self._key = seeds.key(seed, world.name, split, "altered", self.modality)
        known = world.spec
        self._factors = tuple(known.factor(name) for name in world.visible(self.modality))
        self._columns = [known.factor_index(factor.name) for factor in self._factors]
        self._side = known.modality("image").shape[1] if self.modality == "image" else 0
        self._rounded, self._noise = "circle" not in world.shapes, float(world.settings["touch_noise"])

    def __len__(self) -> int:
        return self._size

    @property
    def spec(self) -> Spec:
        """The modality, and the factors that it shows, each with the last value `UNREADABLE`."""
        factors = tuple(Factor(factor.name, (*factor.values, UNREADABLE)) for factor in self._factors)
        return Spec((self._world.spec.modality(self.modality),), factors)

    def _scenes(self, indices: np.ndarray) -> Scenes:
        return self._world.scenes(indices, split=self._split, seed=self._seed)

    def _label(self, codes: np.ndarray, rows: np.ndarray, change: Change) -> None:
        """Write what rows of codes (n, F) no longer show."""
        for column, factor in enumerate(self._factors):
            if factor.name in change.unreadable:
                codes[rows, column] = len(factor.values)
            elif factor.name in change.unlabelled:
                codes[rows, column] = NO_LABEL

    def _wrong_sizes(self, scenes: Scenes, number: np.ndarray) -> np.ndarray:
        """Factors (n,) by which sizes of figures are multiplied to become sizes that the world does not have."""
        known = np.sort(np.log(np.unique(self._world.lengths)))
        low = np.append(known[0] + np.log(0.6), known + np.log(_STEP))
        high = np.append(known - np.log(_STEP), known[-1] + np.log(1.35))
        width = np.maximum(high - low, 0.0)
        place = number * width.sum()
        gap = (place[:, None] >= width.cumsum()[:-1]).sum(1)
        return np.asarray(np.exp(low[gap] + place - (width.cumsum() - width)[gap]) / self._world.length(scenes))

    def _is(self, scenes: Scenes, names: tuple[str, ...]) -> np.ndarray:
        """(n,) whether figures have one of some shapes."""
        return np.isin(scenes.figures.shape, [SHAPES.index(name) for name in names])


class AlteredPictures(_Altered):
    """Pictures composed of a ground, a mask and an ink; see `CHANGES` and `_Altered`."""

    modality = "image"

    def batch(self, indices: np.ndarray) -> Batch:
        """The pictures at these positions, in their stored form."""
        indices = np.asarray(indices)
        scenes, drawn = self._scenes(indices), seeds.uniforms(self._key, indices, _NUMBERS)
        codes = scenes.factors[:, self._columns]
        shares = np.array([change.share for change in CHANGES.values()])
        kind = (drawn[:, 0, None] * shares.sum() >= shares.cumsum()[:-1]).sum(1)
        cover = self._silhouettes(scenes.figures)
        for number, (name, change) in enumerate(CHANGES.items()):
            rows = np.flatnonzero(kind == number)
            if len(rows):
                self._label(codes, rows, change)
                cover[rows] = getattr(self, f"_{name}")(_rows(scenes, rows), cover[rows], drawn[rows], codes, rows)
        plain = kind == list(CHANGES).index("plain")
        picture = self._painted(scenes, cover, drawn, plain)
        view = torch.from_numpy(np.rint(picture, out=picture).astype(np.uint8))
        return Batch({"image": view}, factors=torch.from_numpy(codes))

    def _painted(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, plain: np.ndarray) -> np.ndarray:
        """Pictures (n, 3, S, S) in 0..255: ink over ground by cover, both often without texture."""
        ground, ink = (self._world.view(replace(scenes, figures=_square(len(scenes), where))).views["image"].numpy()
                       for where in ("outside", "everywhere"))  # fmt: skip
        edge = ground.shape[-1] // 8
        inner = ink[:, :, edge:-edge:2, edge:-edge:2].astype(np.float32)
        flat_ink = _between(inner.mean((2, 3)), inner.max((2, 3)), drawn[:, 1])
        some = ground[:, :, ::2, ::2].astype(np.float32)
        flat_ground = _between(0.7 * some.min((2, 3)) + 0.3 * some.mean((2, 3)), some.max((2, 3)), drawn[:, 2])
        picture, paint = ground.astype(np.float32), ink.astype(np.float32)
        flat = plain | (drawn[:, 3] < 0.5)
        paint[flat] = flat_ink[flat]
        flat = drawn[:, 4] < np.where(plain, 0.75, 0.5)
        picture[flat] = flat_ground[flat]
        paint -= picture
        paint *= cover[:, None]
        picture += paint
        return np.asarray(picture)

    def _silhouettes(self, figures: Figures) -> np.ndarray:
        """(n, S, S) cover of figures, 0..1."""
        return masks(figures, self._side) / np.float32(255)

    def _plain(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return cover

    def _foreign(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """About as large by area as the figure in whose place they are; those that are not have no size."""
        ratio = 0.75 + 0.5 * drawn[:, 5]
        area = _area(cover)
        thin = self._is(scenes, _STROKES)
        if "size" in (names := [factor.name for factor in self._factors]):
            codes[rows[(np.abs(ratio - 1) > 0.15) | thin], names.index("size")] = NO_LABEL
        area = np.where(thin, (0.7 * scenes.figures.size * cover.shape[-1]) ** 2, area) * ratio**2
        radii = foreign_shapes.outlines(drawn[:, 6:22], rounded=self._rounded)
        return foreign_shapes.inside(radii, _centroids(cover), area, cover.shape[-1]).astype(np.float32)

    def _cut(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """On one side of a line near the centre nothing is left, or there is a hole."""
        x, y = self._offsets(cover)
        radius = np.sqrt(_area(cover) / np.pi)[:, None, None]
        angle = 2 * np.pi * drawn[:, 6, None, None]
        beyond = np.cos(angle) * x + np.sin(angle) * y > (0.7 * drawn[:, 7] - 0.35)[:, None, None] * radius
        hole = np.hypot(x, y) < (0.4 + 0.3 * drawn[:, 8])[:, None, None] * radius
        missing = np.where((drawn[:, 9] < 0.5)[:, None, None], beyond, hole)
        known = self._is(scenes, ("circle", "semicircle", "spiral"))  # what is left of a circle may be a semicircle
        self._label(codes, rows[known], Change(0, (), ("shape",)))
        return np.asarray(cover * ~missing)

    def _resized(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        ratio = self._wrong_sizes(scenes, drawn[:, 6])
        figures = scenes.figures
        return self._silhouettes(replace(figures, size=figures.size * ratio, thickness=figures.thickness * ratio))

    def _pair(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """With the figure of another scene at its place, or nearby, or their mean; no label where one hides the other."""
        others = self._scenes((drawn[:, 6] * self._size).astype(np.int64)).figures
        angle = 2 * np.pi * drawn[:, 7]
        shift = (0.4 + 0.8 * drawn[:, 8]) * np.maximum(others.size, scenes.figures.size)
        near = scenes.figures.centre + shift[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
        place = np.where((drawn[:, 9] < 0.5)[:, None], near.clip(0.1, 0.9), others.centre)
        second = self._silhouettes(replace(others, centre=place))
        both = np.maximum(cover, second)
        hidden = _area(both) < 1.2 * np.maximum(_area(cover), _area(second))
        self._label(codes, rows[hidden], Change(0, (), _PLACED))
        return np.asarray(np.where((drawn[:, 10] < 0.7)[:, None, None], both, (cover + second) / 2))

    def _turned(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Half of them with sharpened edges; a circle is no other for being turned, and sharpened means may be circles."""
        period = np.array([_PERIODS.get(name, 1.0) for name in SHAPES])[scenes.figures.shape]
        width = 2 * np.pi * period * np.where(period == 1, 0.3 + 0.7 * drawn[:, 6], 0.6 + 0.4 * drawn[:, 6])
        turn = width[:, None] * (np.arange(_AVERAGED) / _AVERAGED)
        mean = self._mean(scenes.figures, turns=turn)
        sharp = drawn[:, 7] < 0.5
        known = self._is(scenes, ("circle",)) | (sharp & (not self._rounded))
        self._label(codes, rows[known], Change(0, (), ("shape",)))
        return np.where(sharp[:, None, None], _sharpened(mean, drawn[:, 8:10]), mean)

    def _shifted(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        width = (0.4 + 0.6 * drawn[:, 6]) * scenes.figures.size
        steps = drawn[:, 7 : 7 + 2 * _AVERAGED].reshape(-1, _AVERAGED, 2) - 0.5
        return self._mean(scenes.figures, steps=width[:, None, None] * steps)

    def _mean(self, figures: Figures, turns: np.ndarray | None = None, steps: np.ndarray | None = None) -> np.ndarray:
        """Means (n, S, S) of figures turned by `turns` (n, 10) or moved by `steps` (n, 10, 2)."""
        many = _rows_of(figures, np.repeat(np.arange(len(figures)), _AVERAGED))
        rotation = many.rotation if turns is None else many.rotation + turns.ravel()
        centre = many.centre if steps is None else many.centre + steps.reshape(-1, 2)
        cover = self._silhouettes(replace(many, rotation=rotation, centre=centre))
        return np.asarray(cover.reshape(-1, _AVERAGED, *cover.shape[1:]).mean(1))

    def _mixed(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """With 35 to 65 % of the figure of another scene, of another shape, in its place."""
        others = self._scenes((drawn[:, 6] * self._size).astype(np.int64)).figures
        share = (0.35 + 0.3 * drawn[:, 7])[:, None, None]
        alike = others.shape == scenes.figures.shape
        self._label(codes, rows[alike], Change(0, (), ("shape",)))
        self._label(codes, rows[np.abs(np.log(others.size / scenes.figures.size)) > 0.3], Change(0, (), ("size",)))
        return np.asarray(share * cover + (1 - share) * self._silhouettes(replace(others, centre=scenes.figures.centre)))

    def _blurred(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        side = cover.shape[-1]
        return _blur(cover, (0.25 + 0.25 * drawn[:, 6]) * scenes.figures.size * side)

    def _faded(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return cover * (0.125 * (1.5 * drawn[:, 6] - 0.5).clip(min=0))[:, None, None]

    def _filled(self, scenes: Scenes, cover: np.ndarray, drawn: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.ones_like(cover)

    @staticmethod
    def _offsets(cover: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far pixels lie right of and below the centre of their figure, (n, S, S) each."""
        middle, centre = np.arange(cover.shape[-1]) + 0.5, _centroids(cover)
        x, y = middle - centre[:, 0, None, None], (middle - centre[:, 1, None])[:, :, None]
        return x + 0 * y, y + 0 * x


class AlteredContours(_Altered):
    """Contours of shapes or sizes that the world does not have, or of two figures one after the other; see `_Altered`."""

    modality = "touch"

    def batch(self, indices: np.ndarray) -> Batch:
        """The contours at these positions."""
        indices = np.asarray(indices)
        scenes, drawn = self._scenes(indices), seeds.uniforms(self._key, indices, _NUMBERS)
        codes, figures = scenes.factors[:, self._columns], scenes.figures
        foreign, joined = np.flatnonzero(drawn[:, 0] < 0.45), np.flatnonzero(drawn[:, 0] >= 0.75)
        resized = np.flatnonzero((drawn[:, 0] >= 0.45) & (drawn[:, 0] < 0.75))
        ratio = self._wrong_sizes(scenes, drawn[:, 1])
        altered = replace(figures, size=figures.size * ratio, thickness=figures.thickness * ratio)
        contours: np.ndarray = self._world.view(replace(scenes, figures=altered)).views["touch"].numpy()
        self._label(codes, resized, Change(0, ("shape", "size")))
        contours[foreign] = self._felt(self._foreign(_rows_of(figures, foreign), drawn[foreign]), indices[foreign])
        self._label(codes, foreign, Change(0, ("shape",), ("size",)))
        others = self._scenes((drawn[joined, 2] * self._size).astype(np.int64)).figures
        own = _rows_of(figures, joined)
        contours[joined] = self._felt(_joined(own, others, drawn[joined, 3:6]), indices[joined])
        self._label(codes, joined, Change(0, ("shape", "size"), ("position",)))
        self._label(codes, joined[_alike(own, others)], Change(0, (), _PLACED))
        return Batch({"touch": torch.from_numpy(contours)}, factors=torch.from_numpy(codes))

    def _foreign(self, figures: Figures, drawn: np.ndarray) -> np.ndarray:
        """Points (n, contacts, 2) along foreign shapes in the places of figures."""
        radii = foreign_shapes.outlines(drawn[:, 6:22], rounded=self._rounded)
        length = figures.size * (0.6 + 0.5 * drawn[:, 2])
        points = foreign_shapes.along(radii, drawn[:, 3], CONTACTS) * length[:, None, None]
        return np.asarray(points + figures.centre[:, None])

    def _felt(self, points: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """Contours through points (n, contacts, 2), with the sensor's noise."""
        found = traced(points)
        disturb(found, seeds.uniforms(self._key ^ np.uint64(1), indices, 4 * found.shape[1]), self._noise)
        return found


def _joined(first: Figures, second: Figures, numbers: np.ndarray) -> np.ndarray:
    """Points (n, contacts, 2), a quarter to three quarters of them along one figure and the others along a second."""
    one, other = (follow(figures, numbers[:, i], CONTACTS)[:, :, :2] for i, figures in enumerate((first, second)))
    cut = CONTACTS * (0.25 + 0.5 * numbers[:, 2, None, None])
    return np.where(np.arange(CONTACTS)[:, None] < cut, one, other)


def _alike(first: Figures, second: Figures) -> np.ndarray:
    """(n,) whether figures of the same shape lie nearly in the same place and have nearly the same size."""
    away = np.hypot(*(first.centre - second.centre).T)
    near = (away < 0.2 * first.size) & (np.abs(np.log(first.size / second.size)) < 0.1)
    return np.asarray((first.shape == second.shape) & near)


def _rows(scenes: Scenes, rows: np.ndarray) -> Scenes:
    """Scenes at some positions."""
    figures = _rows_of(scenes.figures, rows)
    return replace(scenes, indices=scenes.indices[rows], factors=scenes.factors[rows], figures=figures, draws=scenes.draws[rows])


def _rows_of(figures: Figures, rows: np.ndarray) -> Figures:
    return Figures(figures.shape[rows], figures.centre[rows], figures.size[rows], figures.rotation[rows], figures.thickness[rows])


def _square(count: int, where: str) -> Figures:
    """A square that fills the picture but for a narrow border, whose ground the colours depend on; or one outside of it."""
    centre, size = (-10.0, 1.0) if where == "outside" else (0.5, 0.9)
    shape, ones = np.full(count, SHAPES.index("square")), np.ones(count)
    return Figures(shape, np.full((count, 2), centre), size * ones, 0 * ones, 0 * ones)


def _between(low: np.ndarray, high: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, 3, 1, 1) colours between two (n, 3)."""
    return np.asarray((low + share[:, None] * (high - low))[:, :, None, None], np.float32)


def _area(cover: np.ndarray) -> np.ndarray:
    return np.asarray(cover.sum((1, 2)))


def _centroids(cover: np.ndarray) -> np.ndarray:
    """(n, 2) x and y of the middle of what is covered, in pixels."""
    middle, area = np.arange(cover.shape[-1]) + 0.5, np.maximum(_area(cover), 1e-6)
    return np.stack([(cover.sum(1) * middle).sum(1) / area, (cover.sum(2) * middle).sum(1) / area], 1)


def _blur(cover: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Covers (n, S, S) blurred by Gaussians of standard deviations (n,) in pixels, black beyond the border."""
    side = cover.shape[-1]
    frequency = np.fft.fftfreq(2 * side)
    square = frequency[:, None] ** 2 + frequency[: side + 1] ** 2
    kernel = np.exp(-2 * np.pi**2 * square * sigma[:, None, None] ** 2)
    return np.fft.irfft2(np.fft.rfft2(cover, (2 * side, 2 * side)) * kernel)[:, :side, :side].clip(0, 1)


def _sharpened(mean: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Means (n, S, S) with their contrast raised around a level of 0.3 to 0.65 of their maximum."""
    share = mean / np.maximum(mean.max((1, 2), keepdims=True), 1e-6)
    level, steepness = ((low + high * numbers[:, i])[:, None, None] for i, (low, high) in enumerate(((0.3, 0.35), (2.0, 10.0))))
    return np.asarray(((share - level) * steepness + 0.5).clip(0, 1))
