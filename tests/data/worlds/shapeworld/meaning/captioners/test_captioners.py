"""Captioners: captions have the wanted truth, as an independent evaluator says too, and are functions of their numbers alone."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from molyneux.core import ConfigError, seeds
from molyneux.data.worlds.shapeworld.meaning import captioners
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import Captions, filled, redrawn
from molyneux.data.worlds.shapeworld.meaning.captioners.parts import Nouns, Row, SymbolPart, kth_of, seen
from molyneux.data.worlds.shapeworld.meaning.captioners.quantities import UNSAID
from molyneux.data.worlds.shapeworld.meaning.captioners.standard import NOUN, RELATION_FAMILIES
from molyneux.data.worlds.shapeworld.meaning.language.english import english
from molyneux.data.worlds.shapeworld.meaning.trees.programs import trees_of
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes, stream_of
from molyneux.data.worlds.shapeworld.scenes.settings import SceneSettings

KEY = seeds.key(5, "captions")
STANDARD = {
    "existential": captioners.existential(),
    "single attribute": captioners.single_attribute(),
    "relational": captioners.relational(),
    "selection": captioners.selection(),
    "quantification": captioners.quantification(),
    "bare": captioners.quantification(kinds=("bare",)),
    "number bound": captioners.number_bound(),
    "comparison": captioners.comparison(),
}
ALL = {
    **STANDARD,
    "mixture": captioners.MixedCaptioner(list(STANDARD.values()), weights=[1, 1, 2, 2, 1, 1, 1, 1]),
    "logical": captioners.Logical(captioners.MixedCaptioner(list(STANDARD.values()))),
    "published existential": captioners.PublishedExistential(),
    "published spatial": captioners.PublishedSpatial(),
    "published quantification": captioners.PublishedQuantification(),
}


def load(name):
    spec = importlib.util.spec_from_file_location(f"shapeworld_{name}", Path(__file__).parents[1] / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


brute_force = load("brute_force")


@pytest.fixture(scope="module")
def scenes():
    settings = SceneSettings(counts=range(4, 10), attributes="reinforced", size=(0.1, 0.22))
    return sample_scenes(settings, stream_of(2, "train"), np.arange(300))


@pytest.mark.parametrize("name", ALL)
def test_captions_have_the_wanted_truth_as_the_brute_force_evaluator_says(name, scenes):
    captioner, wanted = ALL[name], np.arange(300) % 2 == 0
    captions = captioner.draw(scenes, wanted, KEY, np.arange(300))
    rows = np.flatnonzero(captions.ok)
    assert len(rows) > 150
    assert captions.programs.shape == (300, captioner.length)
    assert not captions.programs[~captions.ok].any()
    assert ((captions.kind[rows] == 0) == wanted[rows]).all()
    assert set(captions.kind[rows]) <= set(range(len(captioner.kinds)))
    for row, tree in zip(rows, trees_of(captions.programs[rows]), strict=True):
        entities = brute_force.entities_of(scenes, row)
        value = brute_force.Evaluator(entities, captioner.semantics).statement(tree)
        assert value == (1 if wanted[row] else -1), (row, str(tree), captioner.kinds[captions.kind[row]])
    for tree in trees_of(captions.programs[rows[:40]]):
        assert english().read(english().say(tree)) == tree


@pytest.mark.parametrize("name", ALL)
def test_a_caption_depends_on_its_scene_and_its_number_alone(name, scenes):
    captioner, wanted = ALL[name], np.arange(300) % 3 > 0
    whole = captioner.draw(scenes, wanted, KEY, np.arange(300))
    for rows in (np.array([17]), np.array([211, 5, 5]), np.arange(100, 130)):
        part = captioner.draw(scenes[rows], wanted[rows], KEY, rows)
        assert np.array_equal(part.programs, whole.programs[rows])
        assert np.array_equal(part.kind, whole.kind[rows])
        assert np.array_equal(part.ok, whole.ok[rows])
    other = captioner.draw(scenes, wanted, seeds.key(6, "captions"), np.arange(300))
    assert not np.array_equal(other.programs, whole.programs)


@pytest.mark.parametrize("name", STANDARD)
def test_the_skeleton_does_not_depend_on_the_scene(name, scenes):
    captioner, count = STANDARD[name], 300
    forms, numbers = captioner.forms(KEY, np.arange(count)), np.random.default_rng(0).random((count, captioner.numbers))
    mine, _ = captioner.fill(scenes, np.arange(count), forms, numbers)
    other, _ = captioner.fill(scenes, np.arange(count)[::-1], forms, np.random.default_rng(1).random((count, captioner.numbers)))
    assert np.array_equal(mine > 0, other > 0)
    assert trees_of(mine[:20])


def test_every_change_falsifies_some_captions(scenes):
    drawn = {name: set() for name in STANDARD}
    for name, captioner in STANDARD.items():
        captions = captioner.draw(scenes, np.zeros(300, bool), KEY, np.arange(300))
        drawn[name] = {captioner.kinds[kind] for kind in captions.kind[captions.ok]}
        missing = set(captioner.kinds[1:]) - drawn[name]
        assert not missing, (name, missing)


def test_every_relation_selector_and_quantifier_is_said(scenes):
    symbols = set()
    for name in ("relational", "selection", "quantification", "comparison", "number bound"):
        many = scenes[np.arange(300).repeat(8)]
        captions = STANDARD[name].draw(many, np.arange(2400) % 2 == 0, KEY, np.arange(2400))
        symbols |= {symbol for tree in trees_of(captions.programs[captions.ok]) for symbol in tree.polish}
    relations = {name for names in RELATION_FAMILIES.values() for name in names}
    assert relations <= symbols
    assert {"left-of-two", "lowermost", "closest", "farther-of-two", "biggest", "darker-of-two", "unique", "not"} <= symbols
    assert {"count-leq-2", "ratio-eq-third", "of-3", "2-more-than", "times-eq-equal"} <= symbols
    assert not symbols & set(UNSAID)


def test_clauses_have_the_truth_values_that_the_kind_says(scenes):
    captioner = ALL["logical"]
    captions = captioner.draw(scenes, np.arange(300) % 2 == 0, KEY, np.arange(300))
    assert {captioner.kinds[kind] for kind in captions.kind[captions.ok]} >= {"first false", "second false", "both false"}
    for row in np.flatnonzero(captions.ok & (captions.kind > 0))[:60]:
        tree, entities = trees_of(captions.programs[row : row + 1])[0], brute_force.entities_of(scenes, row)
        first, second = (brute_force.Evaluator(entities, Semantics()).statement(clause) for clause in tree.children)
        assert (first, second) == {1: (1, 1), 2: (-1, 1), 3: (1, -1), 4: (-1, -1)}[captions.kind[row]]


def test_captions_of_one_entity():
    one = sample_scenes(SceneSettings(counts=(1,)), stream_of(0, "train"), np.arange(50))
    captions = STANDARD["relational"].draw(one, np.ones(50, bool), KEY, np.arange(50))
    assert trees_of(captions.programs[captions.ok]) == [] or (truth(captions.programs[captions.ok], one[captions.ok]) == 1).all()
    assert STANDARD["existential"].draw(one, np.arange(50) % 2 == 0, KEY, np.arange(50)).ok.all()


def test_the_subject_is_one_of_the_focus_for_half_of_the_captions(scenes):
    focus = np.zeros_like(scenes.present)
    focus[:, 2] = True
    numbers = np.random.default_rng(3).random((30000, 8))
    about = seen(scenes, np.arange(30000) % 300, numbers, focus)
    expected = 0.5 + 0.5 * np.mean(1 / scenes.present.sum(1))
    assert (about.picks[:, 0] == 2).mean() == pytest.approx(expected, abs=0.015)
    subject, same = about.picks[:, 0], about.picks[:, 3]
    rows = np.arange(30000)
    possible = ((about.shape == about.shape[rows, subject][:, None]) & about.present).sum(1) > 1
    assert (about.shape[rows, same] == about.shape[rows, subject])[possible].all()
    assert (same != subject).all()
    assert (about.picks[:, 1] != about.picks[:, 2]).all()


def test_kth_of_is_uniform():
    mask = np.tile([[False, True, True, False, True]], (30000, 1))
    found = np.bincount(kth_of(mask, np.random.default_rng(0).random(30000)), minlength=5) / 30000
    assert found == pytest.approx([0, 1 / 3, 1 / 3, 0, 1 / 3], abs=0.015)
    assert kth_of(np.zeros((2, 3), bool), np.array([0.0, 0.999])).tolist() == [0, 0]


def test_the_first_accepted_candidate_is_taken():
    def propose(rows, numbers):
        return (numbers[:, :1] * 1000).astype(np.int16) + 1, np.zeros(len(rows), np.int16), numbers[:, 0] < 0.02 * rows

    found = redrawn(propose, KEY, np.arange(40), numbers=1, length=2)
    assert not found.ok[0]
    assert found.ok[5:].all()
    assert (found.programs[found.ok, 0] <= 20 * np.arange(40)[found.ok] + 1).all()


def test_a_bounded_search_says_what_was_tried():
    calls = []

    def draw(pending, attempts):
        calls.append(len(pending))
        return (pending[:, None],), pending != 3

    with pytest.raises(ConfigError, match="no pair was found for at least 1 of 5 samples in 10 scenes each"):
        filled(draw, 5, tries=10, what="pair")
    assert calls == [50]
    calls.clear()
    with pytest.raises(ConfigError, match="no pair was found for at least 1 of 200 samples in 10 scenes each"):
        filled(draw, 200, tries=10, what="pair")
    assert calls == [200, 9]
    (values,), tries = filled(lambda pending, attempts: ((pending,), attempts >= pending), 4, tries=8, what="pair")
    assert values.tolist() == tries.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: captioners.relational(families=("sideways",)), "families: "),
        (lambda: captioners.relational(families=()), "families: expected at least one"),
        (lambda: captioners.quantification(kinds=("many",)), "kinds: "),
        (lambda: captioners.MixedCaptioner([]), "captioners: expected at least one"),
        (
            lambda: captioners.MixedCaptioner([STANDARD["bare"], captioners.existential(Semantics.paper())]),
            "all of one semantics",
        ),
        (lambda: captioners.MixedCaptioner([STANDARD["bare"]], weights=[0]), "weights: expected 1 numbers"),
        (lambda: captioners.Logical(STANDARD["bare"], ("nor",)), "connectives: "),
        (lambda: captioners.PublishedExistential(modes=(1, 2)), "modes: expected 6 numbers"),
        (lambda: captioners.PublishedQuantification(quantifiers=("bare-some",)), "quantifiers: "),
        (lambda: captioners.ChangedCaptioner(Row(SymbolPart("there-is"), Nouns(NOUN)), []), "changes: expected at least one"),
        (lambda: Nouns({"shape colour": 1.0}), "patterns: expected 1 of none, any, shape"),
    ],
)
def test_settings_that_cannot_be_used(make, says):
    with pytest.raises(ConfigError, match=says):
        make()


def test_captions_that_are_not_found_are_empty():
    assert not Captions.none(3, 4).ok.any()
