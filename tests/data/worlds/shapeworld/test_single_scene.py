"""One scene as a person looks at it, and captions that are one change away."""

import numpy as np
import pytest

from molyneux.core import ConfigError, DataError
from molyneux.core.views import text_strings
from molyneux.data import ShapeWorld, Tree, parse, scene_of
from molyneux.data.worlds.shapeworld.meaning.foils.nearby import exchanges, foil_captions
from molyneux.data.worlds.shapeworld.meaning.trees.described import in_words
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS


@pytest.fixture(scope="module")
def world():
    return ShapeWorld(kind=("oneshape", "quantification"), only={"kind": ["quantification"]})


@pytest.mark.parametrize("settings", [{"kind": ("spatial", "quantification")}, {"kind": "multishape", "variant": "published"}])
def test_the_picture_is_that_of_the_sample(settings):
    world = ShapeWorld(**settings)
    for number in (0, 1, 2, 3, 6):
        shown = scene_of(world, number, split="test", seed=3)
        wanted = world.batch(np.array([number]), split="test", seed=3).views["image"][0].numpy()
        assert np.array_equal(shown.image, wanted)
        assert len(shown.entities) == world.scenes(np.array([number]), split="test", seed=3).present.sum()


def test_what_is_true_is_what_samples_say(world):
    numbers = np.arange(16)
    batch = world.batch(numbers, split="test", seed=0)
    readable = ShapeWorld(kind=world.kinds, only=world.only, views=("text",))
    texts = readable.batch(numbers, split="test", seed=0)
    captions = text_strings(readable.spec.modality("text"), texts.views["text"])
    for number, caption in zip(numbers, captions, strict=True):
        assert (scene_of(world, int(number)).truths([parse(caption)])[0] > 0) == bool(batch.targets["agreement"][number])


def test_one_entity_is_changed_and_nothing_else(world):
    scene = scene_of(world, 0)
    before = scene.entities[2]
    after = scene.changed(2, shape="ellipse", colour="red")
    assert (after.entities[2].shape, after.entities[2].colour, after.entities[2].place) == ("ellipse", "red", before.place)
    assert [one for place, one in enumerate(after.entities) if place != 2] == [
        one for place, one in enumerate(scene.entities) if place != 2
    ]
    changed = (after.image != scene.image).any(0)
    assert 0 < changed.mean() < 0.2
    assert scene.changed(2, shape=before.shape, colour=before.colour).truths([parse("there is a red ellipse.")]) == (-1,)
    assert after.truths([parse("there is a red ellipse.")]) == (1,)


def test_places_are_said_in_words(world):
    for one in scene_of(world, 0).entities:
        assert ("left" in one.place, "bottom" in one.place) == (one.x < 1 / 3, one.y >= 2 / 3)


@pytest.mark.parametrize("wrong", [{"entity": 9}, {"entity": 0, "colour": "pink"}, {"entity": 0, "shape": "cube"}])
def test_other_changes_are_refused(world, wrong):
    with pytest.raises(ConfigError, match="expected"):
        scene_of(world, 0).changed(**wrong)


@pytest.mark.parametrize("caption", ["all circles are red.", "a red square is to the left of a circle.", "most shapes are blue."])
def test_exchanged_words_stand_where_the_caption_has_others(caption):
    tree = parse(caption)
    found = exchanges(tree)
    assert {"quantifier", "colour"} <= {one.kind for one in found}
    said = caption.removesuffix(".") + " ."
    for one in found:
        assert one.words in said
        for words, changed in one.options.items():
            assert changed != tree
            assert len(changed.polish) == len(tree.polish)
            assert parse(said.replace(one.words, words)) == changed or said.count(one.words) > 1


def test_foils_have_the_other_truth(world):
    scene = scene_of(world, 0)
    for caption in ("most shapes are red.", "there is a white circle.", "all circles are blue."):
        tree = parse(caption)
        made = scene.foils(tree)
        assert made
        assert {scene.truths([one.tree])[0] for one in made} == {-scene.truths([tree])[0]}
        assert all(parse(one.caption) == one.tree for one in made)
        known = [set(one.tree.polish) <= set(world.meanings) for one in made]
        assert known == sorted(known, reverse=True)
    with pytest.raises(DataError, match="one scene"):
        foil_captions(world.scenes(np.arange(2), split="test", seed=0), parse("most shapes are red."))


def test_parts_name_the_entities_that_are_meant(world):
    scene = scene_of(world, 0)
    found = scene.parts(Tree.of("ratio-eq-1", "circle", Tree.of("not", "red")))
    assert (found.words, found.parts[0].role, found.parts[0].words, found.parts[1].words) == (
        "all",
        "of the things",
        "circle",
        "not",
    )
    circles = tuple(place for place, one in enumerate(scene.entities) if one.shape == "circle")
    assert found.parts[0].entities == circles
    assert found.entities is None


def test_every_symbol_has_words():
    said = {name: in_words(name) for name in SYMBOLS}
    assert all(said.values())
    assert len(set(said.values())) > 0.95 * len(said)
    assert said["count-lt-3"] == "fewer than three"
    assert said["ratio-geq-two-thirds"] == "at least two thirds"
    assert said["times-eq-twice"] == "exactly twice as many"
