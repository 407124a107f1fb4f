"""Molyneux's world: closed curves that are seen, felt and named, and of which some are only known by one sense."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np
import torch

from molyneux.core import (
    Batch,
    ConfigError,
    Factor,
    Modality,
    Quantity,
    Reader,
    Spec,
    choice_problems,
    nearest,
    seeds,
    text_problems,
)
from molyneux.core.tooling.classes import without_added
from molyneux.data.dataset import Split, World
from molyneux.data.worlds import textures
from molyneux.data.worlds.captioned_world import spread
from molyneux.data.worlds.captions import CaptionReader, TemplateCaptions
from molyneux.data.worlds.cdsprites_settings import COLOURS, WHITE
from molyneux.data.worlds.combinations import pick
from molyneux.data.worlds.molyneux_shapes import family, hand
from molyneux.data.worlds.molyneux_shapes.bridging import ROLES, Bridging
from molyneux.data.worlds.molyneux_shapes.chosen import COUNT, NAMES, NUMBERS, shape_curves
from molyneux.data.worlds.molyneux_shapes.hand import Hand
from molyneux.data.worlds.painting import DARK_CLEAN, LIGHT, Paint, paint
from molyneux.data.worlds.polygons import polygon_masks

MODALITIES = ("image", "touch", "text")

SMALLEST, LARGEST, FIXED = 0.26, 0.44, 0.40
"""Distance of a curve's farthest point from its centroid: smallest, largest, and at levels 1 and 2; scene units."""

BORDER = 1.5 / 64
"""Least distance of a curve from the border of the picture."""

GROUNDS = ("light", "dark")

TEMPLATES = {"name": "{shape}", "description": "{build} shape of {corners} {edge} corners with {lobes} lobes"}
"""Texts by the setting `text`."""

_SHAPE, _TURN, _X, _Y, _SIZE, _COLOUR, _GROUND, _FRONT, _BACK, _SENSE = 0, 1, 2, 3, 4, 5, 6, 7, 9, 11
_DRAWS = 12
_WORDS = {0: "no", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}
_EDGES, _BUILDS = ("round", "sharp"), ("compact", "long")
_LONG = 1.5
"""Elongation from which a shape is called long."""


class ShapeScenes(NamedTuple):
    """A batch of scenes, one row each.

    Args:
        indices: (n,) int64 sample numbers in their split.
        split: the stream they come from.
        seed: the root seed.
        shape: (n,) int64 numbers of the shapes.
        centre: (n, 2) x and y of the centroid in the picture, scene units.
        size: (n,) scene units of a radius of a disc of the same area.
        rotation: (n,) radians, clockwise.
        draws: (n, 12) uniform numbers, for the rest of the picture and for which senses are present.
        felt: (n, `hand.NUMBERS`) uniform numbers of the touch.
    """

    indices: np.ndarray
    split: Split
    seed: int
    shape: np.ndarray
    centre: np.ndarray
    size: np.ndarray
    rotation: np.ndarray
    draws: np.ndarray
    felt: np.ndarray


@final
class MolyneuxShapes(World):
    """320 closed curves of a continuous family, in senses that share nothing but the shape: a picture, a touch, a name.

    Molyneux asked (1688) whether a man who knows shapes by touch would know them by sight once he sees. Here this can be asked of
    a model, with many shapes. Any two of them, their mirror images and a disc stand at least 0.12 apart (`distances` of the
    module `comparison`: the root mean square difference of the radii, in radii of a disc of the same area). They come in 160
    pairs that are alike in compactness, elongation and unevenness, so that low-level statistics do not tell the two of a pair.

    Pictures show at level 1 a white shape on black, always in the same place, size and rotation; from level 2 on it is rotated,
    from level 3 on also moved and scaled, from level 4 on coloured and textured, and at level 5 on a light or dark textured
    ground. A touch is a series of 64 moments: one or two fingers follow the contour in a frame of the hand, with its own
    rotation, scale, start, direction, speed and pressure, with tremor, and lifted now and then (pressure 0). What happens to one
    sense does not happen to the other. Shapes are never mirrored, and equally likely.

    Factors are `shape` and its `pair`; how many `corners` and `lobes` it has, whether its corners are sharp (`edge`) and whether
    it is long (`build`); `colour` and `background` of the picture where it has them; `direction` and `fingers` of the touch; and
    with `bridging`, `role`. Quantities are what the shape is like, where and how it is shown, and the rotation and scale of the
    hand.

    Args:
        level: what pictures show, 1 to 5.
        image_size: side of the picture in pixels, 32 to 256.
        modalities: which views to make: "image", "touch", "text".
        text: "name", a word for each shape, or "description", which several shapes share.
        bridging: which shapes training samples have in which senses, and which are asked about; by default all samples of all
            splits have all shapes and senses.
        hand: how touches are made.
        threads: for making pictures; the bytes do not depend on it.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name: ClassVar[str] = "molyneux-v1"
    fetch_size: ClassVar[int | None] = 1024

    def __init__(
        self,
        *,
        level: int = 5,
        image_size: int = 64,
        modalities: Sequence[str] = MODALITIES,
        text: Literal["name", "description"] = "name",
        bridging: Bridging | None = None,
        hand: Hand | None = None,
        threads: int = 1,
    ) -> None:
        problems = choice_problems(level=(level, (1, 2, 3, 4, 5)), text=(text, tuple(TEMPLATES)))
        if not 32 <= image_size <= 256:
            problems.append(f"expected an image_size from 32 to 256 pixels, got {image_size}")
        problems += text_problems(modalities=modalities) or [
            f"unknown modality {name!r}; {nearest(name, MODALITIES)}" for name in modalities if name not in MODALITIES
        ]
        if not modalities or len(set(modalities)) != len(modalities):
            problems.append(f"expected at least one modality and no repeats, got {list(modalities)}")
        if bridging is not None and not {"image", "touch"} <= set(modalities):
            problems.append(f"bridging: expected the modalities image and touch, got {list(modalities)}")
        if threads < 1:
            problems.append(f"expected threads of at least 1, got {threads}")
        if problems:
            raise ConfigError(problems)
        self.level, self.bridging, self.hand = level, bridging, hand or Hand()
        self._size, self._names, self._text, self._threads = image_size, tuple(modalities), text, threads

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data: with name, split and seed they determine every byte."""
        bridging = None
        if self.bridging is not None:
            bridging = without_added(Bridging, {**asdict(self.bridging), "named": list(self.bridging.named)})
        return {
            "level": self.level,
            "image_size": self._size,
            "modalities": list(self._names),
            "text": self._text,
            "bridging": bridging,
            "hand": asdict(self.hand),
        }

    @cached_property
    def spec(self) -> Spec:
        """Modalities as chosen, factors and quantities."""
        known = {
            "image": Modality("image", "image", (3, self._size, self._size), "uint8"),
            "touch": Modality("touch", "series", (hand.STEPS, len(hand.CHANNELS)), channels=hand.CHANNELS),
            "text": self.grammar.modality(),
        }
        return Spec(tuple(known[name] for name in self._names), self._factors, quantities=_quantities())

    @cached_property
    def grammar(self) -> TemplateCaptions:
        """Every text of this world."""
        return TemplateCaptions(TEMPLATES[self._text], self._factors)

    def visible(self, modality: str) -> tuple[str, ...]:
        """Names of the factors that a view shows and its reader reads."""
        if modality == "text":
            return self.grammar.names
        painted = {"colour": 4, "background": 5} if modality == "image" else {}
        return ("shape", *(name for name, level in painted.items() if self.level >= level))

    def readers(self) -> Mapping[str, Reader]:
        """Of every sense: of names the parser, of pictures and touches a reader that knows all shapes."""
        from molyneux.data.worlds.molyneux_shapes.readers import PictureShapeReader, TouchShapeReader  # training needs none

        known: dict[str, Reader] = {
            "image": PictureShapeReader(self.level, self.visible("image")),
            "touch": TouchShapeReader(),
            "text": CaptionReader(self.grammar),
        }
        return {name: known[name] for name in self._names}

    def shapes(self, split: Split) -> np.ndarray:
        """Numbers of the shapes that a split shows, (k,) int64."""
        self.size(split)
        return np.arange(COUNT) if self.bridging is None else self.bridging.shapes(split)

    def scenes(self, indices: np.ndarray, *, split: Split, seed: int) -> ShapeScenes:
        """The scenes of these sample numbers (n,), any order, any non-negative integers.

        Raises:
            ConfigError: no such split. DataError: no integers in one row, or a negative number.
        """
        indices = self.numbers(indices, split)
        draws = seeds.uniforms(seeds.key(seed, self.name, split), indices, _DRAWS)
        felt = seeds.uniforms(seeds.key(seed, self.name, split, "touch"), indices, hand.NUMBERS)
        shape = self._drawn(draws[:, _SHAPE], split)
        outer = _reaches()[shape]
        reach = np.full(len(shape), FIXED)
        centre = np.full((len(shape), 2), 0.5)
        if self.level >= 3:
            reach = SMALLEST + (LARGEST - SMALLEST) * draws[:, _SIZE]
            free = 0.5 - BORDER - reach[:, None]
            centre = 0.5 + free * (2.0 * draws[:, _X : _Y + 1] - 1.0)
        turn = 2.0 * math.pi * draws[:, _TURN] if self.level >= 2 else np.zeros(len(shape))
        return ShapeScenes(indices, split, seed, shape, centre, reach / outer, turn, draws, felt)

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples of these numbers (B,), any order, any non-negative integers; errors as `scenes`."""
        return self.view(self.scenes(indices, split=split, seed=seed))

    def factor_codes(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """See `SplitDataset`; the scenes alone are drawn."""
        return self._codes(self.scenes(indices, split=split, seed=seed))

    def view(self, scenes: ShapeScenes, curves: np.ndarray | None = None) -> Batch:
        """The samples of scenes.

        Args:
            scenes: which may have been altered since they were drawn.
            curves: (n, points, 2) curves to show in place of the shapes, around their centroids and of the area pi, such as other
                members of the family; names and factors stay those of the shapes.
        """
        table, which = (shape_curves(), scenes.shape) if curves is None else (curves, np.arange(len(scenes.shape)))
        codes, views = self._codes(scenes), dict[str, torch.Tensor]()
        for name in self._names:
            if name == "image":
                views[name] = torch.from_numpy(self._pictures(scenes, codes, table, which))
            elif name == "touch":
                felt = which if curves is not None or self.bridging is None else self.bridging.felt(scenes.shape, scenes.split)
                views[name] = torch.from_numpy(hand.touches(table, felt, scenes.felt, self.hand))
            else:
                columns = [self.spec.factor_index(factor) for factor in self.grammar.names]
                views[name] = torch.from_numpy(self.grammar.write(codes[:, columns]))
        present = {}
        if self.bridging is not None:
            masks = self.bridging.present(scenes.shape, scenes.draws[:, _SENSE], scenes.split)
            present = {name: torch.from_numpy(masks[name]) for name in self._names}
        quantities = torch.from_numpy(self._quantities(scenes))
        return Batch(views, present, torch.from_numpy(codes), quantities=quantities)

    def _drawn(self, uniforms: np.ndarray, split: Split) -> np.ndarray:
        """Numbers of shapes (n,) from uniform numbers of [0, 1)."""
        return pick(uniforms, COUNT) if self.bridging is None else self.bridging.draw(uniforms, split)

    @cached_property
    def _factors(self) -> tuple[Factor, ...]:
        found = [
            Factor("shape", NAMES),
            Factor("pair", tuple(map(str, range(COUNT // 2)))),
            Factor("corners", tuple(_WORDS[number] for number in family.CORNERS)),
            Factor("lobes", tuple(_WORDS[number] for number in family.LOBES)),
            Factor("edge", _EDGES),
            Factor("build", _BUILDS),
        ]
        if "image" in self._names:
            found += [Factor("colour", tuple(COLOURS))] * (self.level >= 4)
            found += [Factor("background", GROUNDS)] * (self.level >= 5)
        if "touch" in self._names:
            found += [Factor("direction", ("backwards", "forwards")), Factor("fingers", ("one", "two"))]
        return (*found, *([] if self.bridging is None else [Factor("role", ROLES)]))

    def _codes(self, scenes: ShapeScenes) -> np.ndarray:
        """Factor codes (n, F)."""
        given, columns = _parameters(), [scenes.shape, scenes.shape // 2]
        columns += [np.searchsorted(family.CORNERS, given.corners)[scenes.shape]]
        columns += [np.searchsorted(family.LOBES, given.lobes)[scenes.shape]]
        columns += [
            (part[scenes.shape] >= least).astype(np.int64) for part, least in ((given.sharpness, 0.5), (given.elongation, _LONG))
        ]
        if "image" in self._names:
            columns += [pick(scenes.draws[:, _COLOUR], len(COLOURS))] * (self.level >= 4)
            columns += [pick(scenes.draws[:, _GROUND], len(GROUNDS))] * (self.level >= 5)
        if "touch" in self._names:
            columns += [(scenes.felt[:, hand.BACKWARDS] >= 0.5).astype(np.int64)]
            columns += [(scenes.felt[:, hand.TWO] < self.hand.second).astype(np.int64)]
        if self.bridging is not None:
            columns += [self.bridging.roles[scenes.shape]]
        return np.stack(columns, 1)

    def _quantities(self, scenes: ShapeScenes) -> np.ndarray:
        """Quantities (n, Q) float32, in the order of `_quantities`."""
        given, shape = _parameters(), scenes.shape
        columns = [part[shape] for part in (given.sharpness, given.concavity, given.depth, given.elongation, given.asymmetry)]
        columns += [np.degrees(scenes.rotation), scenes.centre[:, 0], scenes.centre[:, 1], scenes.size]
        turn = hand.rotation(scenes.felt) if self.hand.turned else np.zeros(len(shape))
        columns += [np.degrees(turn), hand.scale(scenes.felt)]
        return np.stack(columns, 1).astype(np.float32)

    def _pictures(self, scenes: ShapeScenes, codes: np.ndarray, table: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Pictures (n, 3, image_size, image_size) uint8 of curves `which` (n,) of a table."""
        count, draws = len(which), scenes.draws
        flat = np.full((1, self._size, self._size), 128, np.uint8)
        bank = textures.procedural(self._size) if self.level >= 4 else flat
        colours = np.tile(np.array(WHITE, np.float64), (count, 1))
        ground = np.full(count, -1)
        if self.level >= 4:
            colours = np.array(list(COLOURS.values()), np.float64)[codes[:, self.spec.factor_index("colour")]]
        if self.level >= 5:
            ground = codes[:, self.spec.factor_index("background")]
        front, back = (textures.choice(draws[:, column], draws[:, column + 1], bank, self._size) for column in (_FRONT, _BACK))
        drawn = flat
        if isinstance(bank, textures.ProceduralBank):
            drawn = bank.having(np.concatenate([front[:, 0], back[ground >= 0, 0]]))
        shades, out = np.stack([LIGHT, DARK_CLEAN]), np.empty((count, 3, self._size, self._size), np.uint8)

        def draw(part: slice) -> None:
            shown = polygon_masks(table, which[part], scenes.centre[part], scenes.size[part], scenes.rotation[part], self._size)
            what = Paint(colours[part], front[part], back[part], ground[part], shades, np.zeros(len(shown)), 0.0)
            paint(shown, drawn, what, out[part])

        spread(draw, count, threads=self._threads)
        return out


@lru_cache(maxsize=1)
def _parameters() -> family.CurveParameters:
    """What all shapes are like."""
    return family.parameters(family.candidates(np.array(NUMBERS)))


@lru_cache(maxsize=1)
def _reaches() -> np.ndarray:
    """The largest distance of each shape's points from its centroid, (320,)."""
    return np.asarray(np.sqrt((shape_curves() ** 2).sum(2)).max(1))


def _quantities() -> tuple[Quantity, ...]:
    whole = (0.0, 1.0)
    return (
        Quantity("sharpness", whole),
        Quantity("concavity", whole),
        Quantity("depth of lobes", (0.0, family.MOST_DEPTH)),
        Quantity("elongation", (1.0, family.MOST_ELONGATION)),
        Quantity("asymmetry", (0.0, family.MOST_ASYMMETRY)),
        Quantity("rotation", (0.0, 360.0), "degrees", periodic=True),
        Quantity("x", whole),
        Quantity("y", whole),
        Quantity("size", whole),
        Quantity("rotation of the hand", (0.0, 360.0), "degrees", periodic=True),
        Quantity("scale of the hand", (hand.SMALLEST, hand.LARGEST)),
    )
