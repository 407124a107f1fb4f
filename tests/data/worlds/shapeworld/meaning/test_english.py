"""Captions in English: said and read back."""

import numpy as np
import pytest

from molyneux.core import DataError
from molyneux.data.worlds.shapeworld.meaning.english import english
from molyneux.data.worlds.shapeworld.meaning.trees import SYMBOLS, Tree


def said(polish):
    return " ".join(english().say(Tree.from_polish(polish.split())))


@pytest.mark.parametrize("seed", range(4))
def test_every_tree_is_said_and_read_back_and_has_no_other_meaning(seed, a_tree):
    rng, grammar = np.random.default_rng(seed), english()
    for _ in range(400):
        tree = a_tree(rng, connectives=3)
        words = grammar.say(tree)
        assert grammar.readings(words) == [tree]
        assert grammar.say(grammar.read(words)) == words
        assert set(words) <= set(grammar.words)


def test_every_symbol_is_said(a_tree):
    rng = np.random.default_rng(9)
    drawn = {name for _ in range(4000) for name in a_tree(rng).polish}
    assert drawn == set(SYMBOLS)


@pytest.mark.parametrize(
    ("polish", "sentence"),
    [
        ("there-is both red square", "there is a red square ."),
        ("there-is ellipse", "there is an ellipse ."),
        ("exists any both blue circle", "a shape is a blue circle ."),
        ("exists both red cross left blue", "a red cross is to the left of a blue shape ."),
        ("exists pentagon not below red", "a pentagon is not below a red shape ."),
        ("exists cyan closer unique both red circle square", "a cyan shape is closer to a square than the only red circle ."),
        ("exists circle different-colour cross", "a circle is a different color from a cross ."),
        ("exists both red square besides circle", "a red square exists besides a circle ."),
        ("exists red not besides circle", "a red shape does not exist besides a circle ."),
        ("exists smaller-of-two red cross", "the smaller red shape is a cross ."),
        ("exists closest square unique both red circle blue", "the square closest to the only red circle is blue ."),
        ("count-eq-2 any red", "exactly two shapes are red ."),
        ("count-lt-1 circle red", "fewer than one circle is red ."),
        ("count-neq-1 circle blue", "not exactly one circle is blue ."),
        ("ratio-lt-half red circle", "less than half of the red shapes are circles ."),
        ("ratio-leq-two-thirds square blue", "at most two thirds of the squares are blue ."),
        ("ratio-neq-1 cross gray", "not all crosses are gray ."),
        ("ratio-eq-0 square red", "no square is red ."),
        ("of-3 count-gt-1 red circle", "more than one of the three red shapes is a circle ."),
        ("2-more-than square circle red", "two more squares than circles are red ."),
        ("times-eq-half cross square blue", "exactly half as many crosses as squares are blue ."),
        ("bare-the square red", "the square is red ."),
        ("bare-most red square", "most red shapes are squares ."),
        ("and there-is square exists circle red", "there is a square and a circle is red ."),
        ("if there-is square there-is circle", "there is a square if there is a circle ."),
        ("either there-is square there-is circle", "either there is a square or there is a circle , but not both ."),
        (
            "or and there-is square there-is circle not-true there-is cross",
            "either both there is a square and there is a circle or it is not true that there is a cross , or both .",
        ),
    ],
)
def test_sentences(polish, sentence):
    assert said(polish) == sentence
    assert english().read(sentence.capitalize().split()).polish == tuple(polish.split())


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("there is a purple square .", r"after 'there is a', expected .* got 'purple'"),
        ("a square is to the left .", r"after 'a square is to the left', expected 'of', got '\.'"),
        ("there is a square", r"after 'there is a square', expected .*'\.'.* got nothing"),
        ("there is a square . and", "expected"),
        ("", "after 'the beginning', expected 'a'"),
    ],
)
def test_what_is_no_sentence_says_where_it_stops(sentence, message):
    with pytest.raises(DataError, match=message):
        english().read(sentence.split())


def test_only_statements_are_said():
    with pytest.raises(DataError, match="expected a statement, got a colour: red"):
        english().say(Tree("red"))
