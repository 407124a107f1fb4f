"""CdSprites+ from a seed: sprites with captions, in five levels of difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from molyneux.core import SAMPLE, Factor, JudgeMaterial, NuisanceWindow, Reader
from molyneux.data.dataset import Split
from molyneux.data.worlds import textures
from molyneux.data.worlds.altered import judge_material
from molyneux.data.worlds.captioned_world import CaptionedWorld, PaintScenes, Scenes
from molyneux.data.worlds.cdsprites_settings import BOXES, MIDDLE, QUADRANTS, STEP, STROKES, WHITE, Noise, Settings
from molyneux.data.worlds.combinations import pick
from molyneux.data.worlds.dsprites import PLACES, ROTATIONS, load_archive
from molyneux.data.worlds.painting import DARK_CLEAN, DARK_PUBLISHED, LIGHT, Paint, paint
from molyneux.data.worlds.raster import SHAPES, Figures, masks
from molyneux.data.worlds.rendering_reader import can_be_read, rendering_reader

_NUISANCES = (
    Factor("rotation", tuple(map(str, range(ROTATIONS)))),
    Factor("x", tuple(map(str, range(PLACES)))),
    Factor("y", tuple(map(str, range(PLACES)))),
)
_CANVAS = 64.0
"""Pixels of the picture in which `attributes` gives lengths."""

_ROTATION, _X, _Y, _FRONT, _BACK, _SIZE, _SHADE, _GRAIN = 1, 2, 3, 4, 6, 8, 9, 12
"""Columns of `Scenes.draws`, two each for textures and three for the shade; 0 is the combination's."""

_PLAIN, _NOISY = 8, 16
"""Uniform numbers per scene without and with noise; the first ones are the same."""

_NEAR = 3.0
"""Codes of positions or orientations that look alike: a position is about one pixel, an orientation 360 / 39 degrees."""

_HALF = {"small": 6.0, "big": 10.0}
"""Half the side of a figure in positions, by size."""

_FULL_TURN = ROTATIONS - 1.0

_WINDOWS: Mapping[str, Mapping[str, Sequence[NuisanceWindow]]] = {
    "image": {
        "shape": (
            # an arc of 90 degrees, or half the rotation after which the figure looks the same
            NuisanceWindow("rotation", _NEAR, {"square": 5.0, "ellipse": 10.0, "heart": 10.0}, by="shape",
                           period={"square": _FULL_TURN / 4, "ellipse": _FULL_TURN / 2, "heart": _FULL_TURN}),
            *(NuisanceWindow(axis, _NEAR, _HALF, by="size") for axis in ("x", "y")),
            NuisanceWindow("size", 1.0),
        ),
        "size": tuple(NuisanceWindow(axis, _NEAR, _HALF, by="size") for axis in ("x", "y")),
        "colour": tuple(NuisanceWindow(axis, 8.0) for axis in ("x", "y")),
    },
    # each contour starts at a point of its own, so the mean of two shows neither
    "touch": dict.fromkeys(("shape", "size"), (NuisanceWindow(SAMPLE, 1.0, 1.0),)),
}  # fmt: skip
"""By modality and factor, over which nuisances a mean of views no longer shows the factor."""


class CdSprites(CaptionedWorld):
    """Sprites on black or textured ground, and captions such as "small yellow ellipse at bottom right on light".

    The world of the CdSprites+ data set (Sejnova et al., 2023) as its generator makes it, from a seed. Combinations of the
    attributes are equally likely; rotation (40 orientations) and position are drawn freely, and captions do not mention them.
    Pictures show at level 1 a big white shape on black, at level 2 also its size, at level 3 a colour with grey texture, at
    level 4 a position in one of the quadrants, at level 5 a light or dark textured background. Two decisions: quadrants belong to
    levels 4 and 5, as in the generator (the paper has them at 5); position index 4 is left out as published.

    A scene depends on the root seed, the split and its number; settings that only change how it looks (`level`,
    `image_size`, `anti_alias`, textures, noise) keep the same draws.

    Args:
        level: what the picture shows, 1 to 5.
        caption_level: what the caption says, 1 to 5; `level` unless given (an imbalanced world).
        image_size: side of the picture in pixels, 28 to 256.
        modalities: which views to make: "image", "text", "touch" (the contour as `touch.contours` follows it).
        colours: names among the published ones, or name -> RGB.
        sizes: names among "small", "medium", "big", or name -> scale (1 is big). Level 1 shows the largest.
        shapes: names among the rasteriser's shapes, or caption word -> one of them.
        held_out: combinations that only the split `heldout` has, such as `[{"shape": "heart", "colour": ["red", "pink"]}]`.
        noise: nuisance variation; as published unless given.
        anti_alias: smooth borders; published masks are binary.
        dark_background: "clean" is a texture darkened to 0..55; "published" the overflow of the published code, a flat grey
            56 with bright speckles.
        textures: "procedural", or a folder of pictures, or null for flat colours.
        dsprites: the original archive of sprites to use in place of drawn ones. Its orientations and positions have the same
            numbers; the figures' geometry then describes them only approximately.
        touch_noise: of the sensor, see `touch.contours`.
        threads: for making pictures; the bytes do not depend on it.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name: ClassVar[str] = "cdsprites-v1"
    origin: ClassVar[str] = "CdSprites+ (Sejnova et al., 2023), generated by this package"
    textured: ClassVar[tuple[int, ...]] = (_FRONT, _FRONT + 1, _BACK, _BACK + 1)

    _settings: Settings

    def __init__(
        self,
        *,
        level: int = 5,
        caption_level: int | None = None,
        image_size: int = 64,
        modalities: Sequence[str] = ("image", "text"),
        colours: Sequence[str] | Mapping[str, Sequence[int]] | None = None,
        sizes: Sequence[str] | Mapping[str, float] | None = None,
        shapes: Sequence[str] | Mapping[str, str] | None = None,
        held_out: Sequence[Mapping[str, str | Sequence[str]]] = (),
        noise: Noise | None = None,
        anti_alias: bool = False,
        dark_background: Literal["clean", "published"] = "clean",
        textures: str | None = "procedural",
        dsprites: Path | None = None,
        touch_noise: float = 0.02,
        threads: int = 1,
    ) -> None:
        choices, problems = Settings.choose(colours=colours, sizes=sizes, shapes=shapes)
        settings = Settings(
            level=level,
            caption_level=level if caption_level is None else caption_level,
            image_size=image_size,
            modalities=tuple(modalities),
            choices=choices,
            held_out=tuple(held_out),
            noise=Noise() if noise is None else noise,
            anti_alias=anti_alias,
            dark_background=dark_background,
            textures=textures,
            dsprites=None if dsprites is None else Path(dsprites),
            touch_noise=touch_noise,
        )
        super().__init__(settings, problems, _NUISANCES, threads=threads)

    @property
    def _numbers(self) -> int:
        return _PLAIN if self._settings.noise == Noise() else _NOISY

    def readers(self) -> Mapping[str, Reader]:
        """The parser of captions, and of pictures (where `can_be_read` says so) a reader that knows all that can be drawn."""
        readers = dict(super().readers())
        if "image" in self._settings.modalities and can_be_read(self._settings):
            readers["image"] = rendering_reader(self._settings, self.spec, self.visible("image"))
        return readers

    def judge_material(self, modality: str, split: Split, size: int, *, seed: int) -> JudgeMaterial:
        """See `World`."""
        return judge_material(self, modality, split, size, seed=seed, windows=_WINDOWS)

    def _nuisances(self, drawn: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Orientation and position classes of combinations (n, F), (n, 3) int64."""
        share = self._settings.noise.position
        rotations = _rotations(self._settings.noise.rotation)
        if self._settings.level >= 4:
            quadrant = self._codes(drawn, "position")
            ranges = list(QUADRANTS.values())
        else:
            quadrant, ranges = np.zeros(len(drawn), np.int64), [(MIDDLE, MIDDLE)]
        places = [_places([pair[axis] for pair in ranges], share, quadrant, draws[:, _X + axis]) for axis in (0, 1)]
        return np.stack([rotations[pick(draws[:, _ROTATION], len(rotations))], *places], 1)

    def _figures(self, factors: np.ndarray, draws: np.ndarray) -> Figures:
        """Geometry of scenes, in scene units."""
        choices, jitter = self._settings.choices, self._settings.noise.size
        shape = self._codes(factors, "shape")
        scale = np.array(list(choices["sizes"].values()))[self._sizes(factors)]
        if jitter:
            scale = scale * (1.0 + jitter * (2.0 * draws[:, _SIZE] - 1.0))
        names = list(choices["shapes"].values())
        boxes = np.array([BOXES[name] for name in names]) / _CANVAS
        strokes = np.array([STROKES.get(name, 0.0) for name in names]) / _CANVAS
        rotation, x, y = factors[:, -3:].T
        centre = 0.5 + (np.stack([x, y], 1) - (PLACES - 1) / 2) * (STEP / _CANVAS)
        turn = rotation * (2.0 * np.pi / (ROTATIONS - 1))
        codes = np.array([SHAPES.index(name) for name in names])
        return Figures(codes[shape], centre, boxes[shape] * scale, turn, strokes[shape] * scale)

    def _painter(self) -> PaintScenes:
        return partial(self._paint, bank=self._bank())

    def _paint(self, scenes: Scenes, out: np.ndarray, *, bank: np.ndarray) -> None:
        settings, draws = self._settings, scenes.draws
        dark = DARK_PUBLISHED if settings.dark_background == "published" else DARK_CLEAN
        what = Paint(
            colour=self._colour(scenes),
            front=_textures(draws[:, _FRONT], draws[:, _FRONT + 1], bank, varied=settings.textures == "procedural"),
            back=_textures(draws[:, _BACK], draws[:, _BACK + 1], bank, varied=settings.textures == "procedural"),
            ground=self._codes(scenes.factors, "background") if settings.level >= 5 else np.full(len(scenes), -1),
            shades=np.stack([LIGHT, dark]),
            noise=draws[:, _GRAIN] if settings.noise.background else np.zeros(len(scenes)),
            amplitude=float(settings.noise.background),
        )
        paint(self._masks(scenes), bank, what, out)

    def _bank(self) -> np.ndarray:
        """The textures as they are now."""
        settings = self._settings
        if settings.level < 3 or settings.textures is None:
            return np.full((1, settings.image_size, settings.image_size), 128, np.uint8)
        if settings.textures == "procedural":
            return textures.procedural(settings.image_size)
        return textures.folder(Path(settings.textures), settings.image_size)

    def _colour(self, scenes: Scenes) -> np.ndarray:
        """RGB of every scene, (n, 3) float64."""
        if self._settings.level < 3:
            colour = np.tile(np.array(WHITE, np.float64), (len(scenes), 1))
        else:
            known = np.array(list(self._settings.choices["colours"].values()), np.float64)
            colour = known[self._codes(scenes.factors, "colour")]
        if not self._settings.noise.shade:
            return colour
        shift = (2.0 * scenes.draws[:, _SHADE : _SHADE + 3] - 1.0) * self._settings.noise.shade
        rendered = colour * (255.0 / colour.max(1, keepdims=True))  # the shift is meant in what is seen, which is stretched
        return np.asarray(np.clip(rendered + shift, 1.0, 255.0))

    def _masks(self, scenes: Scenes) -> np.ndarray:
        settings = self._settings
        if settings.dsprites is None:
            return masks(scenes.figures, settings.image_size, anti_alias=settings.anti_alias)
        scales = [round(scale * 10) - 5 for scale in settings.choices["sizes"].values()]
        kept = tuple(sorted(set(scales)))
        scale = np.array([kept.index(scale) for scale in scales])[self._sizes(scenes.factors)]
        rotation, x, y = (self._codes(scenes.factors, name) for name in ("rotation", "x", "y"))
        return load_archive(settings.dsprites, kept).masks(scenes.figures.shape, scale, rotation, x, y)

    def _sizes(self, factors: np.ndarray) -> np.ndarray:
        """Codes (n,) of the sizes that pictures show: the largest at level 1."""
        if self._settings.level >= 2:
            return self._codes(factors, "size")
        return np.full(len(factors), int(np.argmax(list(self._settings.choices["sizes"].values()))))


def _textures(which: np.ndarray, how: np.ndarray, bank: np.ndarray, *, varied: bool) -> np.ndarray:
    """Number, symmetry and rolls of textures, (n, 4) int64, from uniform numbers (n,) each.

    Procedural textures are `varied` by rolls and turns; photographs are used as they are, as published.
    """
    side = bank.shape[1]
    number = pick(which, len(bank))
    if not varied:
        return np.stack([number, *[np.zeros_like(number)] * 3], 1)
    symmetry, place = np.divmod(pick(how, 8 * side * side), side * side)
    return np.stack([number, symmetry, place // side, place % side], 1)


def _rotations(limit: float) -> np.ndarray:
    """Orientation classes at most `limit` degrees from upright."""
    degrees = np.arange(ROTATIONS) * (360.0 / (ROTATIONS - 1))
    return np.flatnonzero(np.minimum(degrees, 360.0 - degrees) <= limit + 1e-9)


def _places(ranges: Sequence[Sequence[int]], share: float, which: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """A position from the middle `share` of each scene's range, (n,) int64."""
    table = np.zeros((len(ranges), PLACES), np.int64)
    counts = np.empty(len(ranges), np.int64)
    for row, places in enumerate(ranges):
        counts[row] = max(1, round(len(places) * share))
        start = (len(places) - counts[row]) // 2
        table[row, : counts[row]] = places[start : start + counts[row]]
    return np.asarray(table[which, (uniforms * counts[which]).astype(np.int64)])
