"""One scene of ShapeWorld as a person looks at it: its entities in words, its picture, what is true of it, and the same changed.

>>> scene = scene_of(ShapeWorld(kind="quantification"), 0)
>>> len(scene.entities)
8
>>> scene.changed(0, colour="red").entities[0].colour
'red'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from molyneux.core import ConfigError, choice_problems
from molyneux.core.views import text_strings
from molyneux.data.dataset import Split
from molyneux.data.worlds.shapeworld.agreement import ShapeWorld
from molyneux.data.worlds.shapeworld.contrast_sets import CaptionedScenes
from molyneux.data.worlds.shapeworld.kinds import Kind
from molyneux.data.worlds.shapeworld.meaning.foils.nearby import FoilCaption, WordExchange, exchanges, foil_captions
from molyneux.data.worlds.shapeworld.meaning.language.captions import parse
from molyneux.data.worlds.shapeworld.meaning.trees.described import MeaningPart, meaning_parts
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of, trees_of
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth_table
from molyneux.data.worlds.shapeworld.scene_view import ATTRIBUTES, scenes_of_view, view_of_scenes
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, Scenes

_ACROSS, _DOWN = ("left", "", "right"), ("top", "", "bottom")
_STRETCHED, _USUAL = ("rectangle", "ellipse"), 1.5
"""Shapes that have a distortion, and that of one that had none."""


@dataclass(frozen=True)
class SceneEntity:
    """One entity of a scene.

    Args:
        shape: name of its shape.
        colour: name of its colour.
        x: of its centre, 0 at the left and 1 at the right.
        y: of its centre, 0 at the top and 1 at the bottom.
    """

    shape: str
    colour: str
    x: float
    y: float

    @property
    def place(self) -> str:
        """In which ninth of the scene its centre is, such as `top left` or `middle`."""
        words = (_DOWN[min(int(3 * self.y), 2)], _ACROSS[min(int(3 * self.x), 2)])
        return " ".join(word for word in words if word) or "middle"

    def __str__(self) -> str:
        return f"{self.colour} {self.shape}, {self.place}"


@dataclass(frozen=True)
class SingleScene:
    """One scene of a world. Made by `scene_of`.

    Args:
        world: whose rules say what is true, and how pictures are drawn.
        scenes: the scene, one row.
        kind: of captions that its sample has.
        picture: number of its picture, which decides the noise.
        split: of the sample.
        seed: of the sample.
        caption: the meaning of the caption of its sample, which is true of it or not; None where samples have no caption.
    """

    world: ShapeWorld
    scenes: Scenes = field(repr=False)
    kind: Kind
    picture: int
    split: Split
    seed: int
    caption: Tree | None = None

    @cached_property
    def entities(self) -> tuple[SceneEntity, ...]:
        """Its entities in the order in which they are drawn: later ones lie on top."""
        scenes, here = self.scenes, self.scenes.present[0]
        rows = zip(scenes.shape[0, here], scenes.colour[0, here], scenes.centre[0, here].tolist(), strict=True)
        return tuple(SceneEntity(SHAPES[shape], COLOURS[colour], *centre) for shape, colour, centre in rows)

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The shapes and colours that entities of such scenes have."""
        settings = self.world.scenes_of(self.split, self.kind)
        return {"shape": tuple(settings.shapes), "colour": tuple(settings.colours)}

    @cached_property
    def image(self) -> np.ndarray:
        """Its picture with the noise of its sample, (3, S, S) uint8."""
        numbers, kinds = np.array([self.picture]), np.array([self.world.kinds.index(self.kind)])
        found: np.ndarray = self.world.pictures_of(self.scenes, numbers, kinds, split=self.split, seed=self.seed)[0]
        return found

    def truths(self, trees: Sequence[Tree]) -> tuple[int, ...]:
        """Whether captions are true of it: 1, 0 (undetermined) or -1, by the rules of its kind.

        Raises:
            DataError: a tree that is no statement.
        """
        if not trees:
            return ()
        return tuple(truth_table(programs_of(list(trees)), self.scenes, self.world.semantics_of(self.kind))[0].tolist())

    def parts(self, tree: Tree) -> MeaningPart:
        """The meaning of a caption in words, with the entities that each noun can mean here."""
        return meaning_parts(self.scenes, tree)

    def exchanges(self, tree: Tree) -> tuple[WordExchange, ...]:
        """What each symbol of a caption could be exchanged for, by others that captions of the world have."""
        return exchanges(tree, symbols=self.world.meanings, language=self.world.language)

    def foils(self, tree: Tree) -> tuple[FoilCaption, ...]:
        """Captions that differ in one thing from a caption, and in their truth here; first those with symbols of the world."""
        rules, language = self.world.semantics_of(self.kind), self.world.language
        found = foil_captions(self.scenes, tree, semantics=rules, language=language)
        return tuple(sorted(found, key=lambda one: not set(one.tree.polish) <= set(self.world.meanings)))

    def changed(self, entity: int, *, shape: str = "", colour: str = "") -> SingleScene:
        """The scene with another shape or colour of one entity, at its place and of its size; drawn anew, with the same noise.

        Args:
            entity: its number, from 0.
            shape: name of the new shape; empty for the same.
            colour: name of the new colour; empty for the same.

        Raises:
            ConfigError: no such entity, shape or colour.
        """
        problems = choice_problems(shape=(shape, ("", *SHAPES)), colour=(colour, ("", *COLOURS)))
        if not 0 <= entity < len(self.entities):
            problems.append(f"entity: expected a number of 0 to {len(self.entities) - 1}, got {entity}")
        if problems:
            raise ConfigError(problems)
        view, lengths = view_of_scenes(self.scenes), self.scenes.present.sum(1)
        if colour:
            view[0, entity, ATTRIBUTES.index("colour")] = COLOURS.index(colour)
        if shape and shape != self.entities[entity].shape:
            stretched = self.entities[entity].shape in _STRETCHED
            view[0, entity, ATTRIBUTES.index("shape")] = SHAPES.index(shape)
            if shape not in _STRETCHED or not stretched:
                view[0, entity, ATTRIBUTES.index("distortion")] = _USUAL if shape in _STRETCHED else 1.0
        return replace(self, scenes=scenes_of_view(view, lengths))


def scene_of(world: ShapeWorld, number: int, *, split: Split = "test", seed: int = 0) -> SingleScene:
    """The scene of one sample of a ShapeWorld.

    Args:
        world: the world.
        number: of the sample.
        split: of the sample.
        seed: of the samples.

    Raises:
        DataError: a number below 0. ConfigError: an unknown split, or samples that cannot be drawn.
    """
    chosen = np.array([number])
    batch, kind = world.batch(chosen, split=split, seed=seed), world.kinds[0]
    if len(world.kinds) > 1 and batch.factors is not None:
        kind = world.kinds[int(batch.factors[0, world.spec.factor_index("kind")])]
    drawn = CaptionedScenes(kind, world.variant, world.semantics, captions=world.captions, pictures=world.pictures)
    pictures, texts = drawn.group
    picture = number // (pictures * texts) * pictures + number % (pictures * texts) // texts
    scenes, caption = world.scenes(chosen, split=split, seed=seed), None
    if "meaning" in batch.views:
        caption = trees_of(batch.views["meaning"].numpy().astype(np.int16))[0]
    elif "text" in batch.views:
        caption = parse(text_strings(world.spec.modality("text"), batch.views["text"])[0], world.language)
    return SingleScene(world, scenes, kind, picture, split, seed, caption)
