"""What cannot be used is refused with a sentence that says why, at once or after a bounded search."""

import numpy as np
import pytest

from molyneux.core import ConfigError, DataError
from molyneux.data import HeldOut, SceneSettings, Semantics, ShapeWorld, Tree, paraphrase, parse, say

NAN = float("nan")
HALF = ((0.0, 0.0, 0.7, 1.0),)
HALVES = ((0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"counts": [NAN]}, "counts: expected whole numbers, as a list, got"),
        ({"counts": ["3"]}, "counts: expected whole numbers"),
        ({"counts": 3}, "counts: expected whole numbers"),
        ({"counts": [True]}, "counts: expected whole numbers"),
        ({"counts": []}, "counts: expected numbers of 1 to 40 entities"),
        ({"counts": [-1]}, "counts: expected numbers of 1 to 40 entities"),
        ({"shapes": [], "colours": ()}, "(?s)shapes: expected at least one.*colours: expected at least one"),
        ({"shapes": "square"}, "shapes: expected names, as a list, got 'square'"),
        ({"shapes": [3]}, "shapes: expected names"),
        ({"size": (NAN, 0.2)}, "size: expected two rising numbers"),
        ({"size": (-0.1, 0.2)}, "size: expected two rising numbers"),
        ({"size": (0.1,)}, "size: expected two numbers"),
        ({"size": 0.1, "shade": "dark"}, "(?s)size: expected two numbers.*shade: expected a number, got 'dark'"),
        ({"shade": NAN}, "shade: expected a number of 0 to 1"),
        ({"limits": (2.5, 3.5)}, "limits: expected two whole numbers"),
        (
            {"colours": ["red", "red"], "attributes": "limited", "limits": (2, 2)},
            "colours: expected different ones, got red twice",
        ),
        ({"excluded_places": HALVES}, "excluded_places: the whole scene is excluded"),
        ({"excluded_sizes": ((0.1, 0.2), (0.2, 0.3))}, "excluded_sizes: all widths of 0.1 to 0.25"),
        ({"attributes": "limited", "limits": (6, 6), "colours": ["red", "green", "blue", "white"]}, "cannot have 6 of 4"),
        ({"excluded": "red square"}, "excluded: expected pairs of a shape and a colour, as a list of lists"),
        ({"excluded": [("red", "square")]}, "excluded: expected a shape and a colour of the scenes"),
        ({"excluded_places": ["left"]}, "excluded_places: expected places of four numbers"),
        ({"excluded_places": [(NAN, 0, 1, 1)]}, "excluded_places: expected left, top, right and bottom"),
        ({"required_sizes": [0.2]}, "required_sizes: expected pairs of a smallest and a largest width"),
    ],
)
def test_settings_of_scenes(settings, message):
    with pytest.raises(ConfigError, match=message):
        SceneSettings(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"counts": ["a"]}, "counts: expected whole numbers"),
        ({"patterns": None}, "patterns: expected groups of symbols"),
        ({"places": [(0, 0, NAN, 1)]}, "places: expected numbers of 0 to 1"),
        ({"lengths": [-3]}, "lengths: expected numbers of words of at least 1"),
        ({"patterns": ["left"]}, "patterns: expected groups of symbols, as a list of lists"),
        ({"combinations": [3], "sizes": [(0.1, "b")]}, "(?s)combinations: .*sizes: "),
    ],
)
def test_what_is_held_out(settings, message):
    with pytest.raises(ConfigError, match=message):
        HeldOut(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": None, "views": "image"}, "(?s)kind: expected one of oneshape.*views: expected several names"),
        ({"only": {"nouns": "full"}}, "expected several names, got the text 'full'"),
        ({"only": ["nouns"]}, "only: expected a mapping of names"),
        ({"image_size": 32.5}, "image.size: expected a whole number"),
        ({"noise": NAN}, "noise: expected a standard deviation"),
        ({"noise": "x", "longest": 6.5}, "(?s)longest: expected a whole number.*noise: expected a number"),
        ({"longest": 10**9}, "longest: expected captions of 4 to 1000 words"),
        (
            {"scenes": {"counts": [3]}, "test": {"counts": [3]}},
            "(?s)scenes: expected an instance of SceneSett.*test: expected HeldOut",
        ),
        ({"kind": "oneshape", "test": HeldOut(places=HALVES)}, "test.places: the whole scene is excluded"),
        ({"kind": "oneshape", "test": HeldOut(places=((0, 0, 0.01, 0.01),))}, "test.places: no entity of a width"),
        ({"kind": "oneshape", "test": HeldOut(sizes=((0.1, 0.2), (0.2, 0.31)))}, "test.sizes: all widths of 0.15 to 0.3"),
        ({"kind": "oneshape", "test": HeldOut(sizes=((0.5, 0.6),))}, "test.sizes: the entities have widths of"),
        (
            {"kind": "oneshape", "test": HeldOut(patterns=(("left",),))},
            "test.patterns: no caption of the kind oneshape has 'left'",
        ),
        ({"test": HeldOut(combinations=(("red", "square"),))}, "^held_out.test.combinations: expected a shape and a colour"),
        ({"variant": "related", "only": {"truth": ("true",)}}, "a caption and its negation are never true both"),
        ({"kind": "oneshape", "test": HeldOut(counts=(99,))}, "test.counts: expected numbers of 1 to 40"),
        ({"kind": "oneshape", "test": HeldOut(combinations=(("square", "purple"),))}, "got \\('square', 'purple'\\)"),
    ],
)
def test_settings_of_the_world(settings, message):
    with pytest.raises(ConfigError, match=message):
        ShapeWorld(**settings)


def test_whether_relations_are_cones():
    with pytest.raises(ConfigError, match="cone: expected one of False, True, got 'yes'"):
        Semantics(cone="yes")


@pytest.mark.parametrize("area", [NAN, -1, float("inf"), "a", True])
def test_semantics(area):
    with pytest.raises(ConfigError, match="area: expected a number of at least 0"):
        Semantics(area=area)


ONE = SceneSettings(counts=(1,))
ALIKE = SceneSettings(counts=(3,), shapes=("square",), colours=("red",))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "spatial", "scenes": ONE}, "no pair of scenes"),
        ({"kind": "spatial", "scenes": ONE, "variant": "published"}, "no scene with a caption"),
        ({"kind": ("oneshape", "selection"), "scenes": ONE}, "no pair of scenes"),
        ({"kind": "existential", "scenes": ALIKE, "variant": "foils"}, "no scene with a caption and a foil"),
        (
            {"kind": "existential", "scenes": SceneSettings(size=(0.5, 0.6), excluded_places=HALF)},
            "no scene of .*excluded_places",
        ),
        ({"kind": "existential", "scenes": SceneSettings(counts=(40,), size=(0.3, 0.4))}, "no scene of 40 entities"),
        ({"kind": "logical", "longest": 5, "variant": "published"}, r"no scene with a caption.*longest \(5 words\) refused all"),
        (
            {"kind": "spatial", "longest": 5},
            r"split train, kind spatial: no pair of scenes .*longest \(5 words\) refused all: change",
        ),
        ({"kind": "oneshape", "test": HeldOut(patterns=(("there-is",),))}, "no pair of scenes.*test.patterns refused all"),
        ({"kind": "oneshape", "test": HeldOut(lengths=(5, 6))}, "test.lengths refused all"),
        ({"kind": "spatial", "only": {"symbol": ("left",), "negated": ("yes",)}}, "only.negated refused all"),
        ({"kind": "multishape", "only": {"entities": ("4",)}}, "only.entities: no scene of the split train has 4 entities"),
        ({"kind": "ratio", "variant": "foils", "only": {"negated": ("yes",), "change": ("nouns exchanged",)}}, "no scene with a"),
    ],
)
def test_what_cannot_be_drawn_is_found_out_in_bounded_time(settings, message, limited):
    """It takes seconds of processor time."""
    world = ShapeWorld(**settings, image_size=16)
    with limited(240), pytest.raises(ConfigError, match=message):
        world.batch(np.arange(64), split="train", seed=1)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("", "after 'the beginning', expected 'a'"),
        ("a red square is happy .", "after 'a red square is', expected .* got 'happy'"),
        ("a square is red", "after 'a square is red', expected '.'.* got nothing"),
        ("if " * 2000 + "a square is red .", "at most 150 words, got 2005"),
        ("a" * 5000, "^.{0,400}$"),
        (None, "expected a sentence as text or as a list of words"),
        ([1, 2], "expected a sentence as text or as a list of words"),
    ],
)
def test_sentences_outside_of_the_language(sentence, message):
    with pytest.raises(DataError, match=message):
        parse(sentence)


def test_views_that_are_missing_for_an_evaluation():
    world = ShapeWorld(kind="oneshape", image_size=16)
    with pytest.raises(DataError, match="expected the views scene and text, got none of scene"):
        world.evaluate(world.batch(np.arange(2), split="train", seed=1))


@pytest.mark.parametrize("symbols", [None, "exists any red", ["exists", ["any"], "red"]])
def test_what_is_no_polish_notation(symbols):
    with pytest.raises(DataError, match="expected symbols in Polish notation, as a list of names"):
        Tree.from_polish(symbols)


def test_what_cannot_be_said():
    with pytest.raises(DataError, match="expected a tree"):
        say("exists")
    for uniform in (2.0, -0.1, NAN):
        with pytest.raises(DataError, match="uniform: expected a number of at least 0 and below 1"):
            paraphrase(Tree.of("there-is", "red"), uniform)


def test_views_that_cannot_be_evaluated():
    world = ShapeWorld(kind="oneshape", views=("text", "scene"))
    batch = world.batch(np.arange(4), split="train", seed=1)
    batch.lengths["scene"].fill_(9)
    with pytest.raises(DataError, match="expected lengths of 0 to 1 entities"):
        world.evaluate(batch)
    batch.lengths["scene"].fill_(1)
    batch.views["text"].fill_(255)
    with pytest.raises(DataError, match="expected texts as ids of 0 to 22"):
        world.evaluate(batch)
