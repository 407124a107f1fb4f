"""Balanced captions: what they promise, and that neither text nor picture tells the answer."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from molyneux.core import ConfigError, DataError
from molyneux.data.worlds.shapeworld.meaning.balanced import balanced_captions, numbers_of
from molyneux.data.worlds.shapeworld.meaning.english import english
from molyneux.data.worlds.shapeworld.meaning.programs import trees_of
from molyneux.data.worlds.shapeworld.meaning.semantics import Semantics
from molyneux.data.worlds.shapeworld.meaning.skeletons import Skeleton, existential, quantified, relational
from molyneux.data.worlds.shapeworld.meaning.trees import Tree
from molyneux.data.worlds.shapeworld.meaning.truth import truth
from molyneux.data.worlds.shapeworld.sampling import sample_scenes, stream_of
from molyneux.data.worlds.shapeworld.settings import PAPER_SCENES

FORMS = {
    "oneshape": existential(),
    "multishape": existential(),
    "spatial": relational(),
    "quantification": quantified(("ratio-eq-0", "bare-the", "exists", "bare-two", "bare-most", "ratio-eq-1")),
}


def pairs_of(name, count, seed=0):
    skeletons = FORMS[name]
    one, other = (sample_scenes(PAPER_SCENES[name], stream_of(seed, "train", side), np.arange(count)) for side in (0, 1))
    uniforms = np.random.default_rng(seed).random((count, numbers_of(skeletons)))
    return one, other, balanced_captions(one, other, skeletons, uniforms)


@pytest.mark.parametrize("name", FORMS)
def test_each_caption_is_true_of_its_scene_and_false_of_the_other(name):
    one, other, pairs = pairs_of(name, 1000)
    rows = np.flatnonzero(pairs.found)
    assert len(rows) > 450
    for captions, own, foreign in ((pairs.first, one, other), (pairs.second, other, one)):
        assert (truth(captions[rows], own[rows]) == 1).all()
        assert (truth(captions[rows], foreign[rows]) == -1).all()
    assert not pairs.first[~pairs.found].any()
    for row in rows[:40]:
        trees = trees_of(np.stack([pairs.first[row], pairs.second[row]]))
        assert [len(tree.polish) for tree in trees] == [FORMS[name][pairs.skeleton[row]].tree.size] * 2
        for tree in trees:
            assert english().read(english().say(tree)) == tree


@pytest.mark.parametrize("name", FORMS)
def test_text_alone_does_not_tell_the_answer(name):
    """A logistic regression on the symbols and the pairs of neighbours, fitted to one half and tested on the other."""
    _, _, pairs = pairs_of(name, 9000, seed=2)
    rows = np.flatnonzero(pairs.found)
    captions = np.concatenate([pairs.first[rows], pairs.first[rows], pairs.second[rows], pairs.second[rows]])
    agreement = np.repeat([1, 0, 0, 1], len(rows))
    group = np.tile(np.arange(len(rows)), 4)
    features = np.zeros((len(captions), 170 + 4096), np.float32)
    for place in range(captions.shape[1]):
        features[np.arange(len(captions)), captions[:, place]] += 1
        if place:
            features[np.arange(len(captions)), 170 + (captions[:, place - 1].astype(int) * 31 + captions[:, place]) % 4096] += 1
    train = group % 2 == 0
    model = LogisticRegression(max_iter=200).fit(features[train], agreement[train])
    assert model.score(features[~train], agreement[~train]) == pytest.approx(0.5, abs=0.015)


def test_every_scene_agrees_once_and_disagrees_once():
    one, other, pairs = pairs_of("multishape", 300)
    rows = np.flatnonzero(pairs.found)
    table = np.stack([truth(captions[rows], scenes[rows]) for scenes in (one, other) for captions in (pairs.first, pairs.second)])
    assert (np.array([1, -1, -1, 1])[:, None] == table).all()


def test_undetermined_captions_are_not_taken():
    one, other = (sample_scenes(PAPER_SCENES["spatial"], stream_of(0, "train", side), np.arange(500)) for side in (0, 1))
    skeletons, strict = relational(("left", "right")), Semantics(axis_distance=0.3)
    uniforms = np.random.default_rng(0).random((500, numbers_of(skeletons)))
    pairs = balanced_captions(one, other, skeletons, uniforms, strict)
    rows = np.flatnonzero(pairs.found)
    assert (truth(pairs.first[rows], one[rows], strict) == 1).all()


def test_forms_that_cannot_be_used():
    tree = Tree.of("there-is", "red")
    with pytest.raises(ConfigError, match="x: expected different places of 0 to 1"):
        Skeleton("x", tree, ((1, 1),))
    with pytest.raises(ConfigError, match="x: expected a shape at place 1, got red"):
        Skeleton("x", tree, ((None, 1),))
    with pytest.raises(ConfigError, match="exists cannot stand in place of there-is: symbols are missing"):
        Skeleton("x", tree, (), ((0, ("exists",)),))
    with pytest.raises(ConfigError, match="expected skeletons and numbers"):
        one = sample_scenes(PAPER_SCENES["oneshape"], stream_of(0, "train"), np.arange(3))
        balanced_captions(one, one, existential(), np.zeros((3, 2)))
    with pytest.raises(DataError, match="a length of at least 4"):
        existential()[0].fill(one, np.zeros((3, 1)), length=2)
