"""Captions in English."""

import numpy as np
import pytest

from molyneux.core import DataError
from molyneux.data.worlds.shapeworld.meaning.english import english
from molyneux.data.worlds.shapeworld.meaning.trees import Tree
from molyneux.data.worlds.shapeworld.meaning.vocabulary import PAPER_UNUSED
from molyneux.data.worlds.shapeworld.scenes import COLOURS, SHAPES

PAPER_NOUNS = ("any", "both", *SHAPES, *(colour for colour in COLOURS if colour != "gray"))


def said(polish):
    return " ".join(english().say(Tree.from_polish(polish.split())))


@pytest.mark.parametrize(
    ("polish", "sentence"),
    [
        ("there-is both red square", "there is a red square ."),
        ("there-is ellipse", "there is an ellipse ."),
        ("exists any both blue circle", "a shape is a blue circle ."),
        ("exists both red cross left blue", "a red cross is to the left of a blue shape ."),
        ("exists pentagon not below red", "a pentagon is not below a red shape ."),
        ("exists cyan closer unique both red circle square", "a cyan shape is closer to a square than the only red circle is ."),
        ("exists circle different-colour cross", "a circle is a different color from a cross ."),
        ("exists both red square besides circle", "a red square exists besides a circle ."),
        ("exists red not besides circle", "a red shape does not exist besides a circle ."),
        ("exists smaller-of-two red cross", "the smaller red shape is a cross ."),
        ("exists closest square unique both red circle blue", "the square closest to the only red circle is blue ."),
        ("bare-the square red", "the square is red ."),
        ("bare-two square both red ellipse", "two squares are red ellipses ."),
        ("bare-most red square", "most red shapes are squares ."),
        ("count-eq-2 any red", "exactly two shapes are red ."),
        ("count-eq-0 any red", "exactly zero shapes are red ."),
        ("count-lt-1 circle red", "fewer than one circle is red ."),
        ("count-neq-1 circle blue", "not exactly one circle is blue ."),
        ("count-geq-2 cross not besides circle", "at least two crosses do not exist besides a circle ."),
        ("ratio-lt-half red circle", "less than half of the red shapes are circles ."),
        ("ratio-leq-two-thirds square blue", "at most two thirds of the squares are blue ."),
        ("ratio-eq-third square not circle", "exactly a third of the squares are not circles ."),
        ("ratio-neq-1 cross gray", "not all crosses are gray ."),
        ("ratio-eq-1 cross gray", "all crosses are gray ."),
        ("ratio-eq-0 square red", "no square is red ."),
        ("ratio-gt-0 square red", "more than none of the squares are red ."),
        ("of-3 count-gt-1 red circle", "more than one of the three red shapes is a circle ."),
        ("of-3 ratio-eq-0 red circle", "none of the three red shapes are circles ."),
        ("of-8 bare-most any circle", "most of the eight shapes are circles ."),
        ("2-more-than square circle red", "two more squares than circles are red ."),
        ("1-fewer-than square circle red", "one fewer square than circles is red ."),
        ("times-eq-half cross square blue", "half as many crosses as squares are blue ."),
        ("times-lt-equal cross square blue", "fewer crosses than squares are blue ."),
        ("and there-is square exists circle red", "there is a square and a circle is red ."),
        (
            "and there-is square and there-is cross there-is circle",
            "there is a square and there is a cross and there is a circle .",
        ),
        ("if there-is square there-is circle", "if there is a circle , then there is a square ."),
        ("iff there-is square there-is circle", "there is a square if and only if there is a circle ."),
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
    ("polish", "sentence"),
    [
        ("there-is both red square", "a square exists that is red ."),
        ("exists square red", "there is a square that is red ."),
        ("exists square red", "a square is a red shape ."),
        ("if there-is square there-is circle", "there is a square if there is a circle ."),
        ("ratio-eq-1 cross gray", "every cross is grey ."),
        ("exists cross same-shape unique both gray circle", "a cross has the same shape as the one grey circle ."),
        (
            "ratio-gt-half cross not different-colour square",
            "more than half the crosses do not have a different colour from a square .",
        ),
        ("count-lt-3 square red", "less than three squares are red ."),
    ],
)
def test_other_wordings_are_read(polish, sentence):
    assert english().read(sentence).polish == tuple(polish.split())
    wordings = {
        " ".join(english().say(Tree.from_polish(polish.split()), uniform=value)) for value in np.linspace(0, 1, 199, False)
    }
    assert sentence in wordings
    assert all(english().readings(wording) == [Tree.from_polish(polish.split())] for wording in wordings)


@pytest.mark.parametrize(
    ("data", "symbols", "size"),
    [
        ("oneshape", ("there-is",), 22),
        ("multishape", ("there-is",), 22),
        ("spatial", ("exists", "left", "right", "above", "below"), 28),
        ("quantification", ("ratio-eq-0", "bare-the", "exists", "bare-two", "bare-most", "ratio-eq-1"), 38),
    ],
)
def test_vocabularies_have_the_published_sizes(data, symbols, size):
    vocabulary = english().vocabulary((*symbols, *PAPER_NOUNS), unused=PAPER_UNUSED[data])
    assert len(vocabulary.words) == size
    assert vocabulary.symbols == ("<pad>", *sorted(vocabulary.words))


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("there is a purple square .", r"after 'there is a', expected .* got 'purple'"),
        ("a square is to the left .", r"after 'a square is to the left', expected 'of', got '\.'"),
        ("there is a square", r"after 'there is a square', expected '\.', 'and', 'if', 'or', 'that', got nothing"),
        ("there is an square .", r"after 'there is an', expected 'ellipse', got 'square'"),
        ("exactly one square are red .", r"after 'exactly one square', expected .*'is'.*got 'are'"),
        ("there is a square . and", "expected the end, got 'and'"),
        ("", "after 'the beginning', expected 'a'"),
    ],
)
def test_what_is_no_sentence_says_where_it_stops(sentence, message):
    with pytest.raises(DataError, match=message):
        english().read(sentence)


def test_only_statements_are_said():
    with pytest.raises(DataError, match="row 0 is no statement in Polish notation: red"):
        english().say(Tree("red"))
