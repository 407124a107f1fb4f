"""Sentences of people that a model of ShapeWorld is given, and that its readers read."""

import pytest

from molyneux.core import DataError
from molyneux.data import ShapeWorld
from molyneux.run import read_value
from molyneux.run.trained.given import given_views


def notes_of(world, text):
    (given,) = given_views(world.spec, {"text": text}, lambda: world, name="a model", raw=False)
    return given.notes, given.wordings[0].nearest


def test_how_a_sentence_was_read_is_told_where_it_is_in_other_words():
    world = ShapeWorld(kind="quantification", views=("text",))
    assert notes_of(world, "Most shapes are red") == ((), "most shapes are red .")
    notes, caption = notes_of(world, "are most shapes red?")
    assert caption == "most shapes are red ."
    assert notes == ("'are most shapes red?' is read as 'most shapes are red .'",)
    notes, _ = notes_of(ShapeWorld(kind="quantities", views=("text",)), "squares are red")
    assert "a plural without" in notes[0]
    with pytest.raises(DataError, match=r"'purple' .magenta"):
        notes_of(ShapeWorld(kind="oneshape", views=("text",)), "there is a purple square")


def test_the_reader_of_a_world_reads_questions():
    found = read_value(ShapeWorld(kind="oneshape", views=("text",)), "Isn't there a red square?")
    assert any("'there is a red square .'" in note for note in found.notes)
    assert any("as without it" in note for note in found.notes)
