"""GeBiD from a seed: plain geometric shapes with captions, in five levels of difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, DataError, Factor, Modality, Reader, Spec, nearest, seeds
from molyneux.data.worlds import gebid_attributes as attributes
from molyneux.data.worlds.caption_reader import CaptionReader
from molyneux.data.worlds.distributions import Combinations, pick
from molyneux.data.worlds.gebid_picture import CANVAS, Geometry, lay, vary_colour
from molyneux.data.worlds.gebid_settings import GeBiDNoise, Settings, make_choices, said
from molyneux.data.worlds.grammar import Grammar
from molyneux.data.worlds.painting import roughen
from molyneux.data.worlds.parallel import spread
from molyneux.data.worlds.raster import Figures, draw
from molyneux.data.worlds.scenes import Scenes
from molyneux.data.worlds.touch import Touch
from molyneux.data.worlds.view import View
from molyneux.data.worlds.world import Split, World

_MODALITIES = ("image", "text", "touch")

_COMBINATION, _X, _Y, _ROTATION, _SIZE, _COLOUR, _GRAIN = 0, 1, 2, 3, 4, 5, 8
"""Columns of `Scenes.draws`; the colour has three."""

_PLAIN, _NOISY = 4, 12
"""Uniform numbers per scene without and with noise; the first ones are the same."""


class GeBiD(World):
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
        choices, choice_problems = make_choices(colours, sizes, shapes)
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
        problems = [*choice_problems, *self._settings.problems(), *_problems(self._settings, threads)]
        if problems := problems or self._settings.held_out_problems():
            raise ConfigError(problems)
        self._threads = threads
        self._drawn = self._settings.drawn
        self._factors = (*self._drawn, *_shifts(level))
        self._column = {factor.name: column for column, factor in enumerate(self._factors)}
        self._grammar = Grammar(attributes.TEMPLATES[self._settings.caption_level], self._drawn)
        self._combinations = {split: self._settings.combinations(split) for split in get_args(Split)}
        self._geometry = Geometry(list(choices.shapes.values()), list(choices.sizes.values()))
        self._views = self._make_views()

    @property
    def name(self) -> str:
        """Name with version."""
        return "gebid-v1"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data: with name, split and seed they determine every byte."""
        return self._settings.to_json()

    @property
    def spec(self) -> Spec:
        """Modalities as chosen; factors are what is shown or said, then the shifts x and y."""
        return Spec(tuple(view.modality for view in self._views.values()), self._factors)

    @property
    def caption_factors(self) -> tuple[str, ...]:
        """Names of the factors that a caption says."""
        return said(self._settings.caption_level)

    @property
    def picture_factors(self) -> tuple[str, ...]:
        """Names of the factors that a picture shows and a caption of its level would say."""
        return said(self._settings.level)

    def visible(self, modality: str) -> tuple[str, ...]:
        """Names of the factors that a view shows: a caption what it says, a contour neither colour nor background."""
        if modality == "text":
            return self.caption_factors
        return tuple(name for name in self.picture_factors if modality == "image" or name not in ("colour", "background"))

    @property
    def grammar(self) -> Grammar:
        """Every caption of this world."""
        return self._grammar

    def combinations(self, split: Split) -> Combinations:
        """What a split draws from; its `contains` takes the columns of `Batch.factors` before the shifts."""
        return self._combinations[split]

    def scenes(self, indices: np.ndarray, *, split: Split, seed: int) -> Scenes:
        """The scenes of these sample numbers (n,), any order, any non-negative integers.

        Raises:
            ConfigError: the split `heldout`, and nothing was held out. DataError: a negative number.
        """
        indices = np.asarray(indices, np.int64)
        if len(indices) and indices.min() < 0:
            raise DataError(f"expected sample numbers from 0, got {indices.min()}")
        if not len(self._combinations[split]):
            raise ConfigError("the split heldout is empty: name combinations in held_out")
        count = _PLAIN if self._settings.noise == GeBiDNoise() else _NOISY
        draws = seeds.uniforms(seeds.key(seed, self.name, split), indices, count)
        drawn = self._combinations[split].sample(draws[:, _COMBINATION])
        factors = np.concatenate([drawn, self._places(drawn, draws)], 1)
        return Scenes(indices, split, seed, factors, self._figures(factors, draws), draws)

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples of these numbers (B,), any order, any non-negative integers; errors as `scenes`."""
        scenes = self.scenes(indices, split=split, seed=seed)
        views = {name: torch.from_numpy(view.make(scenes)) for name, view in self._views.items()}
        return Batch(views, factors=torch.from_numpy(scenes.factors))

    def readers(self) -> Mapping[str, Reader]:
        """The parser of captions, if there are captions."""
        return {"text": CaptionReader(self._grammar)} if "text" in self._settings.modalities else {}

    def _make_views(self) -> dict[str, View]:
        side = self._settings.image_size
        touch = Touch(self.name, noise=self._settings.touch_noise)
        known = {
            "image": View(Modality("image", "image", (3, side, side), "uint8"), self._pictures),
            "text": View(self._grammar.modality("text"), self._captions),
            "touch": View(touch.modality("touch"), touch.contours),
        }
        return {name: known[name] for name in self._settings.modalities}

    def _captions(self, scenes: Scenes) -> np.ndarray:
        return self._grammar.write(scenes.factors[:, [self._column[name] for name in self._grammar.names]])

    def _pictures(self, scenes: Scenes) -> np.ndarray:
        """RGB pictures, (n, 3, image_size, image_size) uint8."""
        side = self._settings.image_size
        out = np.empty((len(scenes), 3, side, side), np.uint8)
        spread(lambda part: self._fill(scenes[part], out[part]), len(scenes), threads=self._threads)
        return out

    def _fill(self, scenes: Scenes, out: np.ndarray) -> None:
        masks = np.zeros((len(scenes), *out.shape[2:]), np.uint8)
        draw(scenes.figures, self._settings.anti_alias, masks)
        greys = np.array(list(attributes.BACKGROUNDS.values()), np.uint8)
        grey = greys[self._codes(scenes.factors, "background", at=4)]
        ground = np.broadcast_to(grey[:, None, None], masks.shape).copy()
        if self._settings.noise.background:
            roughen(ground, scenes.draws[:, _GRAIN], self._settings.noise.background)
        lay(masks, self._inks(scenes), ground, out)

    def _inks(self, scenes: Scenes) -> np.ndarray:
        """RGB of every scene, (n, 3) uint8."""
        if self._settings.level < 3:
            return np.tile(np.array(attributes.BLACK, np.uint8), (len(scenes), 1))
        inks = np.array(list(self._settings.choices.colours.values()), np.uint8)[scenes.factors[:, self._column["colour"]]]
        return vary_colour(inks, scenes.draws[:, _COLOUR : _COLOUR + 3]) if self._settings.noise.colour else inks

    def _codes(self, factors: np.ndarray, name: str, *, at: int, hidden: int = 0) -> np.ndarray:
        """Codes of a factor that the picture shows from level `at` on; before, it looks as code `hidden` does."""
        return factors[:, self._column[name]] if self._settings.level >= at else np.full(len(factors), hidden)

    def _places(self, drawn: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Codes of the shifts x and y of combinations (n, F), (n, 2) int64."""
        count = len(self._factors[-1].values)
        used = max(1, round(count * self._settings.noise.position))
        shifts = (count - used) // 2 + pick(draws[:, _X : _Y + 1], used)
        if self._settings.level < 5:
            pole = np.array(list(self._settings.choices.shapes.values())) == "spiral"
            shifts[pole[drawn[:, self._column["shape"]]]] = attributes.SHIFT
        return shifts

    def _figures(self, factors: np.ndarray, draws: np.ndarray) -> Figures:
        """Geometry of scenes, in scene units."""
        noise, shape = self._settings.noise, factors[:, self._column["shape"]]
        largest = int(np.argmax(list(self._settings.choices.sizes.values())))
        size = self._codes(factors, "size", at=2, hidden=largest)
        if self._settings.level < 5:
            corner = self._geometry.corners[shape, size] + factors[:, -2:] - attributes.SHIFT
        else:
            corner = np.array(list(attributes.QUADRANTS.values()))[factors[:, self._column["position"]]] + factors[:, -2:]
        centre = (corner + self._geometry.offsets[shape, size, None]) / CANVAS
        scale = 1.0 + noise.size * (2.0 * draws[:, _SIZE] - 1.0) if noise.size else np.ones(len(factors))
        turn = np.radians(noise.rotation) * (2.0 * draws[:, _ROTATION] - 1.0)
        extent, stroke = self._geometry.sizes[shape, size] * scale, self._geometry.strokes[shape, size] * scale
        return Figures(self._geometry.codes[shape], centre, extent, turn, stroke)


def _problems(settings: Settings, threads: int) -> list[str]:
    names = settings.modalities
    problems = [f"unknown modality {name!r}; {nearest(name, _MODALITIES)}" for name in names if name not in _MODALITIES]
    if not names or len(set(names)) != len(names):
        problems.append(f"expected at least one modality and no repeats, got {list(names)}")
    if threads < 1:
        problems.append(f"expected threads of at least 1, got {threads}")
    return problems


def _shifts(level: int) -> tuple[Factor, Factor]:
    """The shifts along both axes in pixels, in the order of their codes."""
    values = range(attributes.RANGE) if level >= 5 else range(-attributes.SHIFT, attributes.SHIFT + 1)
    return Factor("x", tuple(map(str, values))), Factor("y", tuple(map(str, values)))
