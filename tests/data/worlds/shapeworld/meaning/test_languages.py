"""Every language: trees are said, and sentences read, without a loss and with one meaning."""

import numpy as np
import pytest

from molyneux.core import ConfigError, DataError
from molyneux.data.worlds.shapeworld.meaning.language.captions import LANGUAGES, paraphrase, parse, realise, say
from molyneux.data.worlds.shapeworld.meaning.language.language import pretty, words_of
from molyneux.data.worlds.shapeworld.meaning.language.vocabulary import Vocabulary
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of
from molyneux.data.worlds.shapeworld.meaning.trees.random_trees import random_trees
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS, Tree

TREES = random_trees(1500, 1, connectives=3)


@pytest.fixture(params=sorted(LANGUAGES))
def language(request):
    return LANGUAGES[request.param]()


def test_random_trees_have_every_symbol_and_repeat():
    assert {name for tree in TREES for name in tree.polish} == set(SYMBOLS)
    assert random_trees(5, 1, connectives=3) == TREES[:5]
    assert {tree.kind for tree in random_trees(50, 2, connectives=0, kinds=("count",))} == {"count"}
    with pytest.raises(ConfigError, match="no statements of the kinds counts"):
        random_trees(1, 1, kinds=("counts",))


def test_every_tree_is_said_and_read_back_and_has_no_other_meaning(language):
    said = language.realise(TREES)
    for tree, ids in zip(TREES, said.ids, strict=True):
        words = language.everything.decode(ids)
        assert language.readings(words) == [tree]
        assert words_of(pretty(words)) == [pretty(words[:1]), *words[1:]]
    again = language.realise([language.read(pretty(language.everything.decode(ids))) for ids in said.ids])
    np.testing.assert_array_equal(again.ids, said.ids)


def test_every_wording_has_the_meaning_it_was_drawn_for(language):
    trees = TREES[:1000]
    uniforms = np.random.default_rng(3).random(len(trees))
    said = language.realise(trees, uniforms=uniforms)
    different = 0
    for tree, ids in zip(trees, said.ids, strict=True):
        words = language.everything.decode(ids)
        assert language.readings(words) == [tree]
        different += words != language.say(tree)
    assert different > len(trees) / 3
    assert language.say(TREES[7], uniform=float(uniforms[7])) == language.everything.decode(said.ids[7])


def test_arrays_of_codes_repeated_rows_and_batches_give_the_same(language):
    programs = programs_of(TREES[:200])
    rows = np.random.default_rng(0).integers(0, 200, 1000)
    whole, part = language.realise(programs), language.realise(programs[rows])
    assert whole.ids.dtype == whole.lengths.dtype == np.int64
    np.testing.assert_array_equal(part.lengths, whole.lengths[rows])
    np.testing.assert_array_equal(part.ids, whole.ids[rows, : part.ids.shape[1]])
    assert (whole.lengths == (whole.ids != 0).sum(1)).all()
    one = language.realise(programs[3:4], length=60)
    assert one.ids.shape == (1, 60)
    np.testing.assert_array_equal(one.ids[0, : whole.lengths[3]], whole.ids[3, : whole.lengths[3]])
    assert language.realise(programs[:0]).ids.shape == (0, 0)


def test_the_vocabulary_of_symbols_has_the_words_of_their_sentences_and_no_others(language):
    symbols = ("there-is", "exists", "left", "smallest", "not", "and", "both", "red", "circle", "ellipse", "any")
    trees = [tree for tree in random_trees(6000, 4, connectives=1, kinds=("existential",)) if set(tree.polish) <= set(symbols)]
    vocabulary = language.vocabulary(symbols)
    found = language.realise(trees, vocabulary)
    assert set(np.unique(found.ids)) <= set(range(len(vocabulary.symbols)))
    words = {word for tree in trees for word in language.say(tree)}
    assert words <= set(vocabulary.words)
    assert set(vocabulary.words) <= set(language.vocabulary().words) <= set(language.words)
    with pytest.raises(DataError, match="the vocabulary has no word"):
        language.realise(TREES, vocabulary)


def test_sentences_end_with_the_end_symbol_of_a_vocabulary(language):
    vocabulary = language.vocabulary(special=("<pad>", "<bos>", "<eos>"))
    said, plain = language.realise(TREES[:50], vocabulary), language.realise(TREES[:50], language.vocabulary())
    np.testing.assert_array_equal(said.lengths, plain.lengths + 1)
    assert (said.ids[np.arange(50), said.lengths - 1] == 2).all()
    assert vocabulary.decode(said.ids[9]) == language.say(TREES[9])
    text = vocabulary.modality(40, dtype="uint8")
    assert (text.padding, text.start, text.end, text.symbols) == (0, 1, 2, vocabulary.symbols)


def test_bad_rows_are_refused(language):
    good = programs_of([Tree.of("there-is", "red")])
    for row, message in (
        ([3, 0], "row 1 is no statement.*green"),
        ([0, 0], "nothing"),
        ([9999, 0], "9999"),
        ([0, 3], "no statement"),
    ):
        with pytest.raises(DataError, match=message):
            language.realise(np.concatenate([good, np.array([row], np.int16)]))
    with pytest.raises(DataError, match="at most 3 words, got one of"):
        language.realise(good, length=3)
    with pytest.raises(DataError, match=r"codes \(n, L\) and no or n uniform numbers"):
        language.realise(good, uniforms=np.zeros(2))


def test_vocabularies():
    assert Vocabulary(("b", "a", "a")).symbols == ("<pad>", "a", "b")
    with pytest.raises(ConfigError, match="special symbols that are no words"):
        Vocabulary(("a",), ())
    with pytest.raises(ConfigError, match="special symbols that are no words"):
        Vocabulary(("<pad>",))
    with pytest.raises(DataError, match="expected ids of 0 to 1, got 2"):
        Vocabulary(("a",)).decode([2])


def test_by_name():
    tree = Tree.of("there-is", "circle")
    assert say(tree) == ["there", "is", "a", "circle", "."]
    assert parse("Es gibt einen Kreis.", "german") == tree
    assert parse(paraphrase(tree, 0.99)) == tree
    assert realise([tree], "german").lengths.tolist() == [5]
    with pytest.raises(ConfigError, match=r"unknown language 'germann'.*german"):
        say(tree, "germann")
