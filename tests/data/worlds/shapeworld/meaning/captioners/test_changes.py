"""Changes of captions, one by one on captions whose changed forms are written down."""

import numpy as np
import pytest

from molyneux.core import ConfigError
from molyneux.data.worlds.shapeworld.meaning.captioners.changes import (
    Negate,
    Replace,
    ReplaceAttribute,
    argument_of,
    bounds,
    inverse,
    others,
    quantifiers,
)
from molyneux.data.worlds.shapeworld.meaning.captioners.parts import Seen
from molyneux.data.worlds.shapeworld.meaning.captioners.rewriting import (
    AddAttribute,
    AddObject,
    Restate,
    Then,
    exchange_attributes,
    exchange_clauses,
    exchange_nouns,
)
from molyneux.data.worlds.shapeworld.meaning.trees.programs import ends, packed, programs_of, structures, trees_of
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES, RELATIONS, SYMBOLS, Tree

MANY = 400


def results(change, polish, shapes=("square", "circle"), colours=("red", "blue")):
    """All captions that a change makes of one, in Polish notation."""
    programs = np.tile(programs_of([Tree.from_polish(polish.split())]), (MANY, 1))
    present = np.ones((MANY, len(shapes)), bool)
    shape = np.tile([CODES[name] for name in shapes], (MANY, 1))
    colour = np.tile([CODES[name] for name in colours], (MANY, 1))
    about = Seen(present, shape, colour, np.zeros((MANY, 7), np.int64))
    out, changed = change.apply(programs, about, np.random.default_rng(0).random((MANY, max(1, change.numbers))))
    assert len(out) == len(changed) == MANY
    return {" ".join(tree.polish) for tree in trees_of(out[changed])}


@pytest.mark.parametrize(
    ("change", "polish", "expected"),
    [
        (Replace("", inverse(("left", "right"))), "exists square not left circle", {"exists square not right circle"}),
        (Replace("", inverse(("left", "right"))), "there-is square", set()),
        (
            Replace("", others(("red", "blue", "green")), argument=1),
            "exists red left blue",
            {"exists red left red", "exists red left green"},
        ),
        (
            Replace("", quantifiers("closest")),
            "count-eq-2 square red",
            {"count-eq-1 square red", "count-eq-3 square red"},
        ),
        (Replace("", quantifiers("closest")), "ratio-lt-quarter square red", {"ratio-lt-third square red"}),
        (
            Replace("", quantifiers("range")),
            "ratio-eq-half square red",
            {f"ratio-{comparator}-half square red" for comparator in ("lt", "leq", "neq", "geq", "gt")},
        ),
        (Replace("", bounds((-1, 1))), "of-2 count-eq-1 square red", {"of-3 count-eq-1 square red"}),
        (
            Replace("", bounds((-2, 2))),
            "of-5 count-eq-1 square red",
            {"of-3 count-eq-1 square red", "of-7 count-eq-1 square red"},
        ),
        (ReplaceAttribute("", "shape", existing=1.0), "exists red square", {"exists red circle"}),
        (ReplaceAttribute("", "colour", existing=1.0), "exists red square", {"exists blue square"}),
        (ReplaceAttribute("", "either", existing=1.0), "exists red square", {"exists red circle", "exists blue square"}),
        (ReplaceAttribute("", "both", existing=1.0), "there-is both red square", {"there-is both blue circle"}),
        (ReplaceAttribute("", "both", existing=1.0), "exists red square", set()),
        (
            ReplaceAttribute("", "colour", existing=0.0, colours=("red", "white", "gray")),
            "there-is red",
            {"there-is white", "there-is gray"},
        ),
        (ReplaceAttribute("", "either", existing=1.0, argument=0), "exists red left square", {"exists blue left square"}),
        (Negate(), "exists both red square left circle", {"exists both red square not left circle"}),
        (Negate(), "exists square not left circle", {"exists square left circle"}),
        (Negate(), "2-more-than square circle red", {"2-more-than square circle not red"}),
        (Negate(), "there-is square", set()),
        (Negate("", statement=True), "there-is square", {"not-true there-is square"}),
        (Negate("", statement=True), "not-true there-is square", {"there-is square"}),
        (exchange_nouns(""), "exists both red square left circle", {"exists circle left both red square"}),
        (exchange_nouns(""), "exists square not left leftmost red", {"exists leftmost red not left square"}),
        (exchange_nouns(""), "exists square closer red unique cross", {"exists red closer square unique cross"}),
        (exchange_nouns(""), "ratio-eq-1 square red", {"ratio-eq-1 red square"}),
        (exchange_nouns(""), "ratio-eq-1 square left red", set()),
        (exchange_nouns(""), "2-more-than both red square circle blue", {"2-more-than circle both red square blue"}),
        (exchange_nouns("", RELATIONS[:2]), "exists square not left circle", set()),
        (exchange_nouns("", RELATIONS[:2]), "exists square above circle", set()),
        (exchange_clauses("", ("if",)), "if there-is square exists red circle", {"if exists red circle there-is square"}),
        (exchange_clauses("", ("if",)), "and there-is square there-is circle", set()),
        (
            exchange_attributes(""),
            "exists both red square left both blue circle",
            {"exists both blue square left both red circle", "exists both red circle left both blue square"},
        ),
        (exchange_attributes(""), "exists both red square left both red square", set()),
        (AddAttribute("", ("cross",), ("green",)), "there-is red", {"there-is both red cross"}),
        (
            AddAttribute("", ("cross",), ("green",)),
            "exists square left both red circle",
            {"exists both green square left both red circle"},
        ),
        (AddAttribute("", ("cross",), ("green",)), "there-is any", set()),
        (AddObject("", ("cross",), ("green",)), "exists red square", {"and exists red square there-is both green cross"}),
        (Restate(""), "there-is both red square", {"exists red square", "exists square red"}),
        (Restate(""), "there-is red", {"exists any red"}),
        (Restate(""), "exists any red", {"there-is red"}),
        (Restate(""), "exists any both red square", {"there-is both red square"}),
        (Restate(""), "exists square red", {"there-is both red square"}),
        (Restate(""), "exists red left square", set()),
        (Restate(""), "exists red blue", set()),
        (
            Then("", exchange_nouns("", ("left",)), Replace("", inverse(("left", "right")))),
            "exists square left both red circle",
            {"exists both red circle right square"},
        ),
    ],
)
def test_changes(change, polish, expected):
    assert results(change, polish) == expected


def test_quantifiers_are_replaced_by_others_of_their_kind():
    for by in ("closest", "quantity", "range", "any"):
        for name, alternatives in quantifiers(by).items():
            assert name not in alternatives
            for other in alternatives:
                assert SYMBOLS[other].kind == SYMBOLS[name].kind
                if by in ("closest", "quantity"):
                    assert SYMBOLS[other].comparator == SYMBOLS[name].comparator


def test_an_unknown_attribute():
    with pytest.raises(ConfigError, match="what: "):
        ReplaceAttribute("", "size")


def test_where_the_parts_of_a_tree_end():
    polish = ("exists", "both", "red", "square", "not", "left", "leftmost", "circle")
    program = np.pad(programs_of([Tree.from_polish(polish)]), ((0, 0), (0, 2)))
    assert ends(program)[0].tolist() == [8, 4, 3, 4, 8, 8, 8, 8, 0, 0]
    assert [argument_of(program, number) for number in (0, 1, 2, -1)] == [(1, 4), (4, 8), (0, 0), (4, 8)]
    assert packed(np.array([[0, 3, 0, 4, 0]], np.int16)).tolist() == [[3, 4, 0, 0, 0]]


def test_structures_know_all_but_colours_and_shapes():
    sentences = (
        "exists red square",
        "exists blue circle",
        "exists square red",
        "there-is both red square",
        "exists red left square",
    )
    programs = programs_of([Tree.from_polish(polish.split()) for polish in sentences])
    found = structures(programs)
    assert found[0] == found[1]
    assert len(set(found.tolist())) == 4
    assert np.array_equal(structures(np.pad(programs, ((0, 0), (0, 9)))), found)
