"""CdSprites+ from a seed: sprites with captions, in five levels of difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from molyneux.core import SAMPLE, Factor, JudgeMaterial, NuisanceWindow, Reader
from molyneux.data.dataset import Split
from molyneux.data.worlds.altered import judge_material
from molyneux.data.worlds.captioned_world import CaptionedWorld
from molyneux.data.worlds.cdsprites_picture import BACK, FRONT, Painter
from molyneux.data.worlds.cdsprites_settings import ATTRIBUTES, BOXES, MIDDLE, QUADRANTS, STEP, STROKES, Noise, Settings
from molyneux.data.worlds.distributions import pick
from molyneux.data.worlds.dsprites import PLACES, ROTATIONS
from molyneux.data.worlds.levels import SceneSpace, choose
from molyneux.data.worlds.raster import SHAPES, Figures
from molyneux.data.worlds.rendering_reader import can_be_read, rendering_reader
from molyneux.data.worlds.scenes import PaintScenes

_NUISANCES = (
    Factor("rotation", tuple(map(str, range(ROTATIONS)))),
    Factor("x", tuple(map(str, range(PLACES)))),
    Factor("y", tuple(map(str, range(PLACES)))),
)
_CANVAS = 64.0
"""Pixels of the picture in which `attributes` gives lengths."""

_ROTATION, _X, _Y, _SIZE = 1, 2, 3, 8
"""Columns of `Scenes.draws`; 0 is the combination's, the rest `cdsprites_picture`'s."""

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
        modalities: which views to make: "image", "text", "touch" (the contour as `Touch` follows it).
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
        touch_noise: of the sensor, see `Touch`.
        threads: for making pictures; the bytes do not depend on it.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name: ClassVar[str] = "cdsprites-v1"
    origin: ClassVar[str] = "CdSprites+ (Sejnova et al., 2023), generated by this package"
    untouched: ClassVar[tuple[str, ...]] = ("colour", "background")
    textured: ClassVar[tuple[int, ...]] = (FRONT, FRONT + 1, BACK, BACK + 1)

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
        choices, problems = choose(ATTRIBUTES, {"colours": colours, "sizes": sizes, "shapes": shapes})
        self._settings = Settings(
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
        self._settings.check(problems, threads=threads)
        self._threads = threads
        self._space = SceneSpace(self._settings, _NUISANCES)
        self._picture = Painter(self._settings, self._space)

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
            quadrant = self._space.codes(drawn, "position")
            ranges = list(QUADRANTS.values())
        else:
            quadrant, ranges = np.zeros(len(drawn), np.int64), [(MIDDLE, MIDDLE)]
        places = [_places([pair[axis] for pair in ranges], share, quadrant, draws[:, _X + axis]) for axis in (0, 1)]
        return np.stack([rotations[pick(draws[:, _ROTATION], len(rotations))], *places], 1)

    def _figures(self, factors: np.ndarray, draws: np.ndarray) -> Figures:
        """Geometry of scenes, in scene units."""
        choices, jitter = self._settings.choices, self._settings.noise.size
        shape = self._space.codes(factors, "shape")
        scales = np.array(list(choices["sizes"].values()))
        scale = scales[self._space.codes(factors, "size")] if self._settings.level >= 2 else np.full(len(factors), scales.max())
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
        return self._picture.prepared()


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
