"""Quantifiers of captions may be true and may be false, and number bounds suit them."""

import numpy as np
import pytest

from molyneux.core import seeds
from molyneux.data.worlds.shapeworld.meaning.captioners import number_bound
from molyneux.data.worlds.shapeworld.meaning.captioners.quantities import UNSAID, suitable, suits
from molyneux.data.worlds.shapeworld.meaning.foils.foils import foils
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of, trees_of
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS, Tree
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes, stream_of
from molyneux.data.worlds.shapeworld.scenes.settings import SceneSettings

COMPARE = {
    "lt": lambda found, wanted: found < wanted,
    "leq": lambda found, wanted: found <= wanted,
    "eq": lambda found, wanted: found == wanted,
    "neq": lambda found, wanted: found != wanted,
    "geq": lambda found, wanted: found >= wanted,
    "gt": lambda found, wanted: found > wanted,
}


def outcomes(symbol, number):
    """Truth values for each count of so many entities."""
    wanted = symbol.quantity * (60 if symbol.kind == "ratio" else 1)
    each = 60 / number if symbol.kind == "ratio" else 1
    return {COMPARE[symbol.comparator](round(found * each, 6), round(wanted, 6)) for found in range(number + 1)}


@pytest.mark.parametrize("number", range(2, 9))
def test_a_quantifier_that_suits_a_number_may_be_true_and_may_be_false(number):
    chosen = [symbol for symbol in SYMBOLS.values() if symbol.kind in ("count", "ratio") and suits(symbol, number)]
    assert len(chosen) > 10
    for symbol in chosen:
        assert outcomes(symbol, number) == {True, False}, symbol.name


def test_what_is_not_said_is_always_true_or_means_what_is_said():
    for name in UNSAID:
        symbol, values = SYMBOLS[name], {}
        for other in SYMBOLS.values():
            if other.kind == symbol.kind and other.name not in UNSAID:
                values[other.name] = [
                    COMPARE[other.comparator](found, other.quantity * (60 if other.kind == "ratio" else 1)) for found in range(61)
                ]
        mine = [COMPARE[symbol.comparator](found, symbol.quantity * (60 if symbol.kind == "ratio" else 1)) for found in range(61)]
        assert all(mine) or mine in values.values(), name


def test_number_bounds_that_are_drawn_and_changed_suit_their_quantifiers():
    scenes = sample_scenes(SceneSettings(counts=range(5, 12), attributes="reinforced"), stream_of(4, "train"), np.arange(300))
    captioner, rows = number_bound(), np.arange(300)
    for wanted in (True, False):
        captions = captioner.draw(scenes, np.full(300, wanted), seeds.key(1, "bounds"), rows)
        assert captions.ok.sum() > 200
        assert suitable(captions.programs[captions.ok]).all()
        seen = {tree.symbol for tree in trees_of(captions.programs[captions.ok])}
        assert {"of-2", "of-3", "of-5"} <= seen
    captions = captioner.draw(scenes, np.full(300, True), seeds.key(1, "bounds"), rows)
    some = np.flatnonzero(captions.ok)
    kinds = ("number changed", "quantifier changed", "denial")
    found = foils(scenes[some], captions.programs[some], seeds.key(2, "foils"), some, kinds=kinds)
    assert found.ok.sum() > 100
    assert suitable(found.programs[found.ok]).all()


def test_what_does_not_suit():
    three = Tree.of("count-lt-3", "square", "red")
    trees = [Tree.of(name, three) for name in ("of-2", "of-3", "of-4")]
    trees += [Tree.of("not-true", trees[0]), Tree.of("of-5", Tree.of("ratio-eq-half", "square", "red")), three]
    assert suitable(programs_of(trees)).tolist() == [False, False, True, False, False, True]
