"""GeBiD from a seed: plain geometric shapes with captions, in five levels of difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from molyneux.core import SAMPLE, Factor, JudgeMaterial, NuisanceWindow
from molyneux.data.worlds import gebid_attributes as attributes
from molyneux.data.worlds.altered import judge_material
from molyneux.data.worlds.captioned_world import CaptionedWorld
from molyneux.data.worlds.distributions import pick
from molyneux.data.worlds.gebid_geometry import CANVAS, Geometry
from molyneux.data.worlds.gebid_picture import Painter
from molyneux.data.worlds.gebid_settings import OPTIONS, GeBiDNoise, Settings
from molyneux.data.worlds.raster import Figures
from molyneux.data.worlds.repertoire import Repertoire
from molyneux.data.worlds.view import Brush
from molyneux.data.worlds.world import Split

_X, _Y, _ROTATION, _SIZE = 1, 2, 3, 4
"""Columns of `Scenes.draws`; 0 is the combination's, the rest `gebid_picture`'s."""

_PLAIN, _NOISY = 4, 12
"""Uniform numbers per scene without and with noise; the first ones are the same."""

_THICK = ("line", "circle", "square", "semicircle", "pieslice")
"""Every shape but the spiral, whose strokes are one pixel wide."""

_WINDOWS: Mapping[str, Mapping[str, Sequence[NuisanceWindow]]] = {
    "image": {
        "shape": (
            *(
                NuisanceWindow(
                    axis, dict.fromkeys(_THICK, 3.0) | {"spiral": 1.0}, dict.fromkeys(_THICK, 9.0) | {"spiral": 3.0}, by="shape"
                )
                for axis in ("x", "y")
            ),
            *(NuisanceWindow(axis, 3.0, {"small": 4.0, "large": 9.0}, by="size") for axis in ("x", "y")),
            NuisanceWindow("size", 1.0),
            NuisanceWindow("position", 1.0, 1.0),
        ),
        "size": (*(NuisanceWindow(axis, 3.0) for axis in ("x", "y")), NuisanceWindow("position", 1.0, 1.0)),
        "colour": (*(NuisanceWindow(axis, 8.0) for axis in ("x", "y")), NuisanceWindow("position", 1.0)),
    },
    # each contour starts at a point of its own, so the mean of two shows neither
    "touch": dict.fromkeys(("shape", "size"), (NuisanceWindow(SAMPLE, 1.0, 1.0),)),
}
"""By modality and factor, over which nuisances a mean of views no longer shows the factor; in pixels."""


class GeBiD(CaptionedWorld):
    """Geometric shapes in plain colours, and captions such as "small pink circle at the top left on black".

    The world of the GeBiD data set (Sejnova et al., 2022) as its generator makes it, from a seed. Combinations of the
    attributes are equally likely. Pictures show at level 1 a large black shape on white, at level 2 also its size, at level 3
    a colour, at level 4 a white or black background, at level 5 a position in one of the quadrants (background before
    position: the reverse of CdSprites). Below level 5 a shape stands near the middle, shifted by up to 3 pixels per axis
    (the spiral not at all); at level 5 a quadrant's corner gives the shape's top left corner but the *centre* of the spiral,
    which is clipped by the picture's border, as published.

    Factors are what the picture shows or the caption says, then the shift `x` and `y` in pixels (of the 64-pixel picture).
    A scene depends on the root seed, the split and its number; settings that only change how it looks (`image_size`,
    `anti_alias`, noise) keep the same draws.

    Args:
        level: what the picture shows, 1 to 5.
        caption_level: what the caption says, 1 to 5; `level` unless given (an imbalanced world).
        image_size: side of the picture in pixels, 28 to 256.
        modalities: which views to make: "image", "text", "touch" (the contour as `Touch` follows it).
        colours: names among the published twelve, or name -> RGB.
        sizes: names among "small", "large", or name -> length in pixels (30 is large). Level 1 shows the largest.
        shapes: names among the published six, or caption word -> one of them.
        held_out: combinations that only the split `heldout` has, such as `[{"shape": "circle", "colour": ["red", "blue"]}]`, or
            "restricted": all but the published 18 of 72 pairs of shape and colour.
        noise: nuisance variation; as published unless given.
        anti_alias: smooth borders; published pictures have none.
        touch_noise: of the sensor, see `Touch`.
        threads: for making pictures; the bytes do not depend on it.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

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
        held_out: Sequence[Mapping[str, str | Sequence[str]]] | str = (),
        noise: GeBiDNoise | None = None,
        anti_alias: bool = False,
        touch_noise: float = 0.02,
        threads: int = 1,
    ) -> None:
        choices, problems = OPTIONS.choose(colours, sizes, shapes)
        self._settings = Settings(
            level=level,
            caption_level=level if caption_level is None else caption_level,
            image_size=image_size,
            modalities=tuple(modalities),
            choices=choices,
            held_out=held_out if isinstance(held_out, str) else tuple(held_out),
            noise=GeBiDNoise() if noise is None else noise,
            anti_alias=anti_alias,
            touch_noise=touch_noise,
        )
        self._settings.check(problems, threads=threads)
        self._threads = threads
        self._repertoire = Repertoire(self._settings, _shifts(level))
        self._geometry = Geometry(list(choices.shapes.values()), list(choices.sizes.values()))
        self._painter = Painter(self._settings, self._repertoire)

    @property
    def name(self) -> str:
        """Name with version."""
        return "gebid-v1"

    @property
    def _numbers(self) -> int:
        return _PLAIN if self._settings.noise == GeBiDNoise() else _NOISY

    def judge_material(self, modality: str, split: Split, size: int, *, seed: int) -> JudgeMaterial:
        """See `World`."""
        return judge_material(self, modality, split, size, seed=seed, windows=_WINDOWS)

    def _nuisances(self, drawn: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Codes of the shifts x and y of combinations (n, F), (n, 2) int64."""
        count = len(self._repertoire.factors[-1].values)
        used = max(1, round(count * self._settings.noise.position))
        shifts = (count - used) // 2 + pick(draws[:, _X : _Y + 1], used)
        if self._settings.level < 5:
            pole = np.array(list(self._settings.choices.shapes.values())) == "spiral"
            shifts[pole[self._repertoire.codes(drawn, "shape")]] = attributes.SHIFT
        return shifts

    def _figures(self, factors: np.ndarray, draws: np.ndarray) -> Figures:
        """Geometry of scenes, in scene units."""
        noise, shape = self._settings.noise, self._repertoire.codes(factors, "shape")
        largest = int(np.argmax(list(self._settings.choices.sizes.values())))
        size = self._repertoire.codes(factors, "size") if self._settings.level >= 2 else np.full(len(factors), largest)
        if self._settings.level < 5:
            corner = self._geometry.corners[shape, size] + factors[:, -2:] - attributes.SHIFT
        else:
            first = np.array(list(attributes.QUADRANTS.values()))
            corner = first[self._repertoire.codes(factors, "position")] + factors[:, -2:]
        centre = (corner + self._geometry.offsets[shape, size, None]) / CANVAS
        scale = 1.0 + noise.size * (2.0 * draws[:, _SIZE] - 1.0) if noise.size else np.ones(len(factors))
        turn = np.radians(noise.rotation) * (2.0 * draws[:, _ROTATION] - 1.0)
        extent, stroke = self._geometry.sizes[shape, size] * scale, self._geometry.strokes[shape, size] * scale
        return Figures(self._geometry.codes[shape], centre, extent, turn, stroke)

    def _brush(self) -> Brush:
        return self._painter.paint


def _shifts(level: int) -> tuple[Factor, Factor]:
    """The shifts along both axes in pixels, in the order of their codes."""
    values = range(attributes.RANGE) if level >= 5 else range(-attributes.SHIFT, attributes.SHIFT + 1)
    return Factor("x", tuple(map(str, values))), Factor("y", tuple(map(str, values)))
