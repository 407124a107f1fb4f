"""Scenes and trees at random."""

import numpy as np
import pytest

from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS, Tree
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, Scenes

FITS = {
    "type": ("type", "colour", "shape"),
    "noun": ("type", "colour", "shape", "selector"),
    "deniable": ("type", "colour", "shape", "relation"),
    "predicate": ("type", "colour", "shape", "relation", "predicate"),
    "statement": ("statement", "quantified"),
}


def draw_tree(rng, sort="statement", connectives=2, kinds=None):
    """A tree of a sort: families of symbols are equally likely, then the symbols of one."""
    fitting = [symbol for symbol in SYMBOLS.values() if symbol.sort in FITS.get(sort, (sort,))]
    if sort == "statement":
        fitting = [symbol for symbol in fitting if connectives or "statement" not in symbol.arguments]
        fitting = [symbol for symbol in fitting if kinds is None or symbol.kind in kinds] or fitting
    families = sorted({symbol.kind for symbol in fitting})
    kind = families[rng.integers(len(families))]
    chosen = [symbol for symbol in fitting if symbol.kind == kind]
    symbol = chosen[rng.integers(len(chosen))]
    return Tree(symbol.name, tuple(draw_tree(rng, argument, connectives - 1) for argument in symbol.arguments))


def draw_scenes(rng, count, entities=6, shapes=8, colours=8):
    """Scenes of up to so many entities with few shapes and colours, so that nouns fit several of them."""
    numbers = rng.integers(0, entities + 1, count)
    size = (count, entities)
    overlap = np.where(rng.random((*size, entities)) < 0.5, 0.0, rng.random((*size, entities)) * 0.3)
    touching = np.swapaxes(overlap > 0, 1, 2)
    overlap = np.where((overlap > 0) & touching & ~np.eye(entities, dtype=bool), overlap, 0.0)
    shape = rng.integers(0, shapes, size).astype(np.int8)
    return Scenes(
        present=np.arange(entities) < numbers[:, None],
        shape=shape,
        colour=rng.integers(0, colours, size).astype(np.int8),
        centre=np.round(rng.random((*size, 2)), 2),
        size=0.1 + 0.2 * rng.random(size),
        distortion=np.where(np.isin(shape, (1, 7)), 2 + rng.random(size), 1.0),
        rotation=rng.random(size),
        shade=rng.random(size) - 0.5,
        overlap=overlap,
    )


@pytest.fixture
def a_tree():
    """`draw_tree`, for tests in other files."""
    return draw_tree


@pytest.fixture
def scene():
    """Makes one scene from entities given as `(colour, shape, x, y)` and further attributes by name."""

    def make(*entities, **attributes):
        count = len(entities)
        arrays = {
            "size": np.full(count, 0.2),
            "distortion": np.ones(count),
            "rotation": np.zeros(count),
            "shade": np.zeros(count),
            "overlap": np.zeros((count, count)),
        }
        arrays |= {name: np.array(values, np.float64) for name, values in attributes.items()}
        return Scenes(
            present=np.ones((1, count), bool),
            shape=np.array([[SHAPES.index(entity[1]) for entity in entities]], np.int8),
            colour=np.array([[COLOURS.index(entity[0]) for entity in entities]], np.int8),
            centre=np.array([[entity[2:4] for entity in entities]], np.float64).reshape(1, count, 2),
            **{name: values[None] for name, values in arrays.items()},
        )

    return make
