"""Captions in German."""

import numpy as np
import pytest

from molyneux.core import DataError
from molyneux.data.worlds.shapeworld.meaning.language.german import german
from molyneux.data.worlds.shapeworld.meaning.language.language import pretty
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree


@pytest.mark.parametrize(
    ("polish", "sentence"),
    [
        ("there-is both red square", "Es gibt ein rotes Quadrat."),
        ("there-is both green circle", "Es gibt einen grünen Kreis."),
        ("there-is white", "Es gibt eine weiße Figur."),
        ("exists both red square left circle", "Ein rotes Quadrat ist links von einem Kreis."),
        ("exists ellipse right both blue ellipse", "Eine Ellipse ist rechts von einer blauen Ellipse."),
        ("exists circle not any", "Ein Kreis ist keine Figur."),
        ("exists circle not red", "Ein Kreis ist nicht rot."),
        ("exists left-of-two circle left right-of-two circle", "Der linke Kreis ist links vom rechten Kreis."),
        ("exists smallest both red ellipse below unique ellipse", "Die kleinste rote Ellipse ist unter der einzigen Ellipse."),
        ("exists closest square circle red", "Das einem Kreis am nächsten liegende Quadrat ist rot."),
        ("exists square closer unique circle lightest cross", "Ein Quadrat ist näher am hellsten Kreuz als der einzige Kreis."),
        ("exists square farther circle cross", "Ein Quadrat ist weiter von einem Kreuz entfernt als ein Kreis."),
        ("exists square not same-colour circle", "Ein Quadrat hat nicht dieselbe Farbe wie ein Kreis."),
        ("exists square not different-shape circle", "Ein Quadrat hat keine andere Form als ein Kreis."),
        ("exists square besides unique ellipse", "Ein Quadrat existiert zusätzlich zur einzigen Ellipse."),
        ("bare-the circle red", "Der Kreis ist rot."),
        ("bare-most red square", "Die meisten roten Figuren sind Quadrate."),
        ("ratio-eq-0 both red cross any", "Kein rotes Kreuz ist eine Figur."),
        ("ratio-eq-1 both red cross any", "Alle roten Kreuze sind Figuren."),
        ("ratio-gt-0 red square", "Mehr als null Prozent der roten Figuren sind Quadrate."),
        ("ratio-lt-half both red circle above square", "Weniger als die Hälfte der roten Kreise sind über einem Quadrat."),
        ("count-geq-1 both red ellipse not square", "Mindestens eine rote Ellipse ist kein Quadrat."),
        ("count-eq-3 both red circle both blue circle", "Genau drei rote Kreise sind blaue Kreise."),
        ("of-3 count-gt-1 both red circle ellipse", "Mehr als einer der drei roten Kreise ist eine Ellipse."),
        ("of-4 ratio-eq-1 both red circle gray", "Alle vier roten Kreise sind grau."),
        ("2-more-than square both red circle blue", "Verglichen mit den roten Kreisen sind zwei Quadrate mehr blau."),
        ("times-eq-twice square circle blue", "Doppelt so viele Quadrate wie Kreise sind blau."),
        ("and there-is square exists circle red", "Es gibt ein Quadrat und ein Kreis ist rot."),
        ("if exists circle red there-is square", "Wenn es ein Quadrat gibt, dann ist ein Kreis rot."),
        ("iff bare-two circle red there-is square", "Genau dann, wenn zwei Kreise rot sind, gibt es ein Quadrat."),
        ("not-true exists circle same-shape square", "Es ist nicht wahr, dass ein Kreis dieselbe Form wie ein Quadrat hat."),
        (
            "either there-is square not-true there-is circle",
            "Entweder es gibt ein Quadrat oder es ist nicht wahr, dass es einen Kreis gibt, aber nicht beides.",
        ),
    ],
)
def test_sentences(polish, sentence):
    tree = Tree.from_polish(polish.split())
    assert pretty(german().say(tree)) == sentence
    assert german().read(sentence) == tree


def test_other_wordings():
    tree = Tree.of("exists", "square", "red")
    wordings = {pretty(german().say(tree, uniform=value)) for value in np.linspace(0, 1, 50, False)}
    assert "Es gibt ein Quadrat, das rot ist." in wordings
    assert german().read("Ein Quadrat ist rot, wenn es einen Kreis gibt.") == Tree.of("if", tree, Tree.of("there-is", "circle"))


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("Ein rote Quadrat ist blau.", "after 'ein', expected .*'rotes'.* got 'rote'"),
        ("Es gibt ein Kreis.", "after 'es gibt ein', expected .* got 'kreis'"),
        ("Wenn ein Kreis ist rot, gibt es ein Quadrat.", "after 'wenn ein kreis', expected .* got 'ist'"),
    ],
)
def test_what_is_no_sentence_says_where_it_stops(sentence, message):
    with pytest.raises(DataError, match=message):
        german().read(sentence)
