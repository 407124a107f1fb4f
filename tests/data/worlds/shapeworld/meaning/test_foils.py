"""Foils are false and differ in one thing, paraphrases keep the truth."""

import numpy as np
import pytest

from molyneux.core import ConfigError, seeds
from molyneux.data.worlds.shapeworld.meaning import captioners
from molyneux.data.worlds.shapeworld.meaning.captioners.rewriting import exchange_attributes
from molyneux.data.worlds.shapeworld.meaning.foils.foils import FOILS, PARAPHRASES, TWO_SIDED, foils, paraphrases
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of, trees_of
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES, SYMBOLS, Tree
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth, truth_table
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes, stream_of
from molyneux.data.worlds.shapeworld.scenes.settings import PUBLISHED_COLOURS, SceneSettings

KEY, COUNT = seeds.key(0, "foils"), 900


@pytest.fixture(scope="module")
def true_captions():
    settings = SceneSettings(counts=range(3, 9), attributes="reinforced", size=(0.1, 0.22))
    scenes = sample_scenes(settings, stream_of(3, "train"), np.arange(COUNT))
    clauses = captioners.MixedCaptioner(
        [
            captioners.existential(),
            captioners.relational(),
            captioners.selection(),
            captioners.quantification(),
            captioners.number_bound(),
            captioners.comparison(),
        ]
    )
    captioner = captioners.MixedCaptioner([clauses, captioners.Logical(clauses)], weights=[2, 1])
    captions = captioner.draw(scenes, np.ones(COUNT, bool), KEY, np.arange(COUNT))
    rows = np.flatnonzero(captions.ok)
    return scenes[rows], captions.programs[rows]


def words(programs):
    return [sorted(row[row > 0].tolist()) for row in programs]


@pytest.mark.parametrize("kind", FOILS)
def test_foils_are_false_and_of_their_kind(kind, true_captions):
    scenes, programs = true_captions
    found = foils(scenes, programs, KEY, np.arange(len(scenes)), kinds=(kind,), colours=PUBLISHED_COLOURS)
    rows = np.flatnonzero(found.ok)
    assert len(rows) > (3 if kind == "clauses exchanged" else 25)
    assert (truth(found.programs[rows], scenes[rows]) == -1).all()
    assert len(trees_of(found.programs[rows])) == len(rows)
    assert not (found.programs[rows] == CODES["white"]).any()
    pairs = [(sorted(a), sorted(b)) for a, b in zip(words(programs[rows]), words(found.programs[rows]), strict=True)]
    if "exchanged" in kind:
        assert all(mine == other for mine, other in pairs)  # the same words
    elif kind.endswith(("replaced", "changed", "turned")):
        most = 2 if kind == "object replaced" else 1
        lost = [sum(mine.count(code) > other.count(code) for code in set(mine)) for mine, other in pairs]
        assert set(lost) <= set(range(1, most + 1))
        assert all(len(mine) == len(other) for mine, other in pairs)
    elif kind in ("negation", "denial"):
        assert {abs(len(mine) - len(other)) for mine, other in pairs} == {1}


@pytest.mark.parametrize("kind", PARAPHRASES)
def test_paraphrases_keep_the_truth_wherever_it_is_determined(kind, true_captions):
    scenes, programs = true_captions
    found = paraphrases(scenes, programs, KEY, np.arange(len(scenes)), kinds=(kind,))
    rows = np.flatnonzero(found.ok)[:60]
    assert len(rows) > 10
    assert words(found.programs[rows]) != words(programs[rows]) or "exchanged" in kind or kind == "same turned"
    others = scenes[np.arange(0, len(scenes), 3)]
    mine, other = (truth_table(captions[rows], others) for captions in (programs, found.programs))
    assert ((mine == other) | (mine == 0) | (other == 0)).all()
    assert (mine == -1).any()


def test_paraphrases_of_false_captions_are_false(true_captions):
    scenes, programs = true_captions
    false = foils(scenes, programs, KEY, np.arange(len(scenes)), kinds=("colour replaced", "shape replaced"))
    rows = np.flatnonzero(false.ok)
    found = paraphrases(scenes[rows], false.programs[rows], KEY, rows)
    assert found.ok.sum() > 100
    assert (truth(found.programs[found.ok], scenes[rows][found.ok]) == -1).all()


def test_foils_depend_on_scene_and_number_alone(true_captions):
    scenes, programs = true_captions
    whole, rows = foils(scenes, programs, KEY, np.arange(len(scenes))), np.array([40, 7])
    part = foils(scenes[rows], programs[rows], KEY, rows)
    assert np.array_equal(part.programs, whole.programs[rows])
    assert np.array_equal(part.kind, whole.kind[rows])
    assert set(whole.kind[whole.ok]) >= {0, 1, 3, 4, 14, 15}


def test_what_has_no_foil_or_is_undetermined_is_left_out(true_captions):
    scenes, programs = true_captions
    there_is = np.array([SYMBOLS[tree.symbol].kind == "existential" and tree.symbol == "there-is" for tree in trees_of(programs)])
    found = foils(scenes, programs, KEY, np.arange(len(scenes)), kinds=("relation turned", "quantifier changed"))
    assert not found.ok[there_is].any()
    assert not found.programs[~found.ok].any()
    table = truth(programs, scenes[np.roll(np.arange(len(scenes)), 1)])
    unsure = foils(scenes[np.roll(np.arange(len(scenes)), 1)], programs, KEY, np.arange(len(scenes)), kinds=("denial",))
    assert (table == 0).any()
    assert np.array_equal(unsure.ok, table != 0)


def test_kinds():
    assert set(TWO_SIDED) < set(FOILS)
    with pytest.raises(ConfigError, match="kinds: "):
        foils(None, None, KEY, np.arange(0), kinds=("colour exchanged",))
    with pytest.raises(ConfigError, match="kinds: expected at least one"):
        paraphrases(None, None, KEY, np.arange(0), kinds=())


def test_kinds_of_foils_do_not_overlap(true_captions):
    """What is turned is not replaced, and what is said by a word is no number that was changed."""
    scenes, programs = true_captions
    changed = {
        kind: {
            (names[a], names[b])
            for mine, other in zip(*_found(scenes, programs, kind), strict=True)
            for a, b in zip(mine, other, strict=False)
            if a != b
        }
        for kind in ("relation turned", "relation replaced", "selector turned", "selector replaced", "number changed")
        for names in [("", *SYMBOLS)]
    }
    for what in ("relation", "selector"):
        assert changed[f"{what} turned"]
        assert changed[f"{what} replaced"]
        assert not changed[f"{what} turned"] & changed[f"{what} replaced"]
    words = {"ratio-eq-0", "ratio-eq-1", "ratio-neq-0", "ratio-neq-1"}
    assert not any(words & set(pair) for pair in changed["number changed"])


def test_attributes_are_exchanged_where_whole_nouns_would_not_be():
    single = programs_of([Tree.from_polish(("exists", "semicircle", "above", "square"))])
    full = programs_of([Tree.from_polish(("exists", "both", "red", "semicircle", "above", "square"))])
    change = exchange_attributes("")
    for programs, fits in ((single, False), (full, True)):
        done = change.apply(programs, None, np.full((1, 3), 0.3))[1]
        assert done.tolist() == [fits]


def _found(scenes, programs, kind):
    found = foils(scenes, programs, KEY, np.arange(len(scenes)), kinds=(kind,))
    return programs[found.ok].tolist(), found.programs[found.ok].tolist()
