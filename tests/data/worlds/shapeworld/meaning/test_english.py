"""Captions in English."""

import numpy as np
import pytest

from molyneux.core import DataError
from molyneux.data.worlds.shapeworld.meaning.language.english import english
from molyneux.data.worlds.shapeworld.meaning.language.vocabulary import PAPER_UNUSED
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

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
        ("exists both red square besides circle", "a red square is accompanied by a circle ."),
        ("exists red not besides circle", "a red shape is not accompanied by a circle ."),
        ("exists smaller-of-two red cross", "the smaller red shape is a cross ."),
        ("exists closest square unique both red circle blue", "the square closest to the only red circle is blue ."),
        ("bare-the square red", "the square is red ."),
        ("bare-two square both red ellipse", "two squares are red ellipses ."),
        ("bare-most red square", "most red shapes are squares ."),
        ("count-eq-2 any red", "exactly two shapes are red ."),
        ("count-eq-0 any red", "exactly zero shapes are red ."),
        ("count-lt-1 circle red", "fewer than one circle is red ."),
        ("count-neq-1 circle blue", "it is not exactly one circle that is blue ."),
        ("count-geq-2 cross not besides circle", "at least two crosses are not accompanied by a circle ."),
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
        ("1-fewer-than square circle red", "one fewer of the squares than of the circles is red ."),
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


PUBLISHED = (
    ("the square closest to the red circle is blue", "exists closest square unique both red circle blue"),
    ("the closest pentagon to the gray triangle is gray", "exists closest pentagon unique both gray triangle gray"),
    ("the blue left shape is a circle", "exists left-of-two blue circle"),
    ("a square is closer to a triangle than the blue shape", "exists square closer unique blue triangle"),
    ("a triangle is not farther from a gray triangle than a blue shape", "exists triangle not farther blue both gray triangle"),
    ("not three shapes are cyan", "count-neq-3 any cyan"),
    ("not one shape is a cross", "count-neq-1 any cross"),
    ("not zero shapes are cyan ellipses", "count-neq-0 any both cyan ellipse"),
    ("not three quarters of the shapes are green", "ratio-neq-three-quarters any green"),
    ("not half the squares are cyan", "ratio-neq-half square cyan"),
    ("not no shape is a blue triangle", "ratio-neq-0 any both blue triangle"),
    ("exactly no gray shape is a pentagon", "ratio-eq-0 gray pentagon"),
    ("more than no shape is a square", "ratio-gt-0 any square"),
    ("at least no shape is an ellipse", "ratio-geq-0 any ellipse"),
    ("at most all ellipses are red", "ratio-leq-1 ellipse red"),
    ("less than all shapes are triangles", "ratio-lt-1 any triangle"),
    ("exactly all crosses are yellow", "ratio-eq-1 cross yellow"),
    ("exactly a third of the shapes is green", "ratio-eq-third any green"),
    ("at most a third of the shapes is rectangles", "ratio-leq-third any rectangle"),
    ("less than one of the five shapes is crosses", "of-5 count-lt-1 any cross"),
    ("at most two of the four red shapes are a red ellipse", "of-4 count-leq-2 red both red ellipse"),
    ("a quarter of the six green shapes is a rectangle", "of-6 ratio-eq-quarter green rectangle"),
    ("none of the six green shapes is a rectangle", "of-6 ratio-eq-0 green rectangle"),
    ("half the six cyan shapes are a cyan circle", "of-6 ratio-eq-half cyan both cyan circle"),
    ("if a shape is a cross there is a red ellipse", "if there-is both red ellipse exists any cross"),
    ("either a square is red or exactly one shape is a circle", "or exists square red count-eq-1 any circle"),
    ("four less rectangles than semicircles are magenta", "4-fewer-than rectangle semicircle magenta"),
    ("the red circle is blue", "bare-the both red circle blue"),
)
"""Forms of the captions that were published in 2018 (`examples/agreement` of ShapeWorld), and what they mean."""


@pytest.mark.parametrize(("sentence", "polish"), PUBLISHED)
def test_published_captions_are_read_with_one_meaning(sentence, polish):
    assert [reading.polish for reading in english().readings(f"{sentence} .")] == [tuple(polish.split())]


def test_words_that_are_only_read_are_never_said():
    """No wording of a caption is one for reading alone, whatever is drawn; their words are in no vocabulary."""
    read_only = {" ".join([*sentence.split(), "."]) for sentence, _ in PUBLISHED[:20]}
    trees = [Tree.from_polish(polish.split()) for _, polish in PUBLISHED[:20]]
    said = {" ".join(english().say(tree, uniform=uniform)) for tree in trees for uniform in np.linspace(0, 0.999, 60)}
    assert not read_only & said
    assert set(english().words) == set(english().grammar.productions.words)


AWKWARD = (
    ("1-more-than red cyan rectangle", "one more of the red shapes than of the cyan shapes is a rectangle ."),
    ("exists both gray semicircle besides both blue rectangle", "a gray semicircle is accompanied by a blue rectangle ."),
    ("count-neq-1 cross blue", "it is not exactly one cross that is blue ."),
    ("of-3 count-neq-1 cross blue", "it is not exactly one of the three crosses that is blue ."),
    ("ratio-neq-quarter red circle", "it is not exactly a quarter of the red shapes that are circles ."),
)


@pytest.mark.parametrize(("polish", "sentence"), AWKWARD)
def test_sentences_are_said_as_people_would(polish, sentence):
    tree = Tree.from_polish(polish.split())
    assert " ".join(english().say(tree)) == sentence
    assert english().read(sentence) == tree
