"""A series of two-way questions as the page has it: state, answers, words and drawings, without a server."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest

from molyneux.core import ConfigError
from molyneux.report.page import render_html
from molyneux.run import read_choices
from molyneux.studio import which
from molyneux.studio.hands import moving_svg
from molyneux.studio.library import Library
from molyneux.studio.which_page import which_page

RECORDS = Path(__file__).parents[2] / "studies" / "results" / "molyneux-v1"


@pytest.fixture(scope="module")
def library():
    return Library(results=[RECORDS])


@pytest.fixture(scope="module")
def series(library):
    return which.series_of(library, which.WhichState())


def test_an_address_has_the_answers_and_nothing_else():
    state = which.WhichState.from_query([("answers", "01x1"), ("number", "9"), ("seed", "-4")])
    assert (state.answers, state.number, state.seed) == ("011", 3, 0)
    assert state.said == (0, 1, 1)
    full = which.WhichState(answers="01" * 40, number=99).checked()
    assert len(full.answers) == which.QUESTIONS
    assert full.number == which.QUESTIONS - 1
    there = which.WhichState(answers="10", number=1, alike=False)
    assert which.WhichState.from_query(parse_qsl(there.query())) == there


def test_a_series_is_of_new_shapes_from_touch_to_sight(library, series):
    assert (series.role, series.questions.source, series.questions.target) == ("new", "touch", "image")
    assert series.asking.roles == ("new", "felt", "seen", "bridged")
    assert series.asking.bridged == 128
    assert len(series.questions) == which.QUESTIONS
    assert which.series_of(library, which.WhichState()) is series
    other = which.series_of(library, which.WhichState(given="image", role="felt", alike=True, seed=1))
    assert (other.role, other.questions.source) == ("felt", "image")
    assert which.question_words(other) != which.question_words(series)


def test_everybody_is_counted_over_the_questions_that_were_answered(series):
    right = series.questions.right
    state = which.WhichState(
        answers="".join(str(choice) for choice in right[:3].tolist()) + str(1 - right[3]), number=3
    ).checked()
    name = series.asking.model.name
    assert series.right(state.said) == 3
    shares = dict(series.shares(state.said))
    assert shares["you, 3 of 4"] == 0.75
    assert shares["guessing"] == 0.5
    points = series.answers[name].points[:4]
    assert shares[f"{name}, {points.sum():g} of 4"] == points.mean()
    assert which.verdict(series, state).startswith("Wrong. ")
    assert which.verdict(series, state.changed(number=0)).startswith("Right. ")


def test_the_model_is_told_of_as_it_chose(series):
    name, right = series.asking.model.name, series.questions.right
    for row, chosen in enumerate(series.answers[name].chosen.tolist()):
        said = "".join(str(choice) for choice in right[: row + 1].tolist())
        told = which.verdict(series, which.WhichState(answers=said, number=row))
        assert told == f"Right. {name} chose the {'right one too' if chosen == right[row] else 'wrong one'}."
    whole = which.WhichState(answers="".join(map(str, right.tolist())))
    assert which.summary(series, whole).startswith(f"You chose right {which.QUESTIONS} of {which.QUESTIONS} times")


def test_other_models_are_refused_in_a_sentence(library):
    with pytest.raises(ConfigError, match="cannot be asked which is which"):
        which.asking_of(library, "gebid-level5")


def test_curves_are_those_of_the_records(series):
    studies = read_choices([RECORDS])
    assert list(which.asked_studies(studies, series)) == ["molyneux-v1"]
    more = {"molyneux-v1-short": [*studies["molyneux-v1"]] * 2, **studies}
    assert list(which.asked_studies(more, series)) == ["molyneux-v1", "molyneux-v1-short"]
    (curve,) = which.record_curves(studies, "molyneux-v1", series, alike=False)
    assert curve.name == "ContrastiveEncoders"
    counts = {value for run in studies["molyneux-v1"] for name, value in run.settings.items() if name.endswith(".bridged")}
    assert [point.bridged for point in curve.points] == sorted(counts)
    assert len(counts) >= 4
    assert 50 < curve.points[0].value < curve.points[-1].value < 100
    assert which.record_curves(studies, "other", series, alike=False) == ()


def test_a_hand_is_told_moment_by_moment_and_lifted_fingers_are_nowhere():
    finger = np.array([[0.0, 0.0], [1.0, 0.0], [np.nan, np.nan], [1.0, 2.0]])
    svg = moving_svg([finger, finger + 1], 'a "hand"')
    label = re.search(r'aria-label="([^"]*)"', svg).group(1)
    assert label == "a &quot;hand&quot;, as 2 fingers move"
    first, second = json.loads(re.search(r'data-fingers="([^"]*)"', svg).group(1).replace("&quot;", '"'))
    assert first[2] is None
    assert len(first) == len(second) == 4
    assert max(max(point) for point in (*first, *second) if point) == 94.0
    assert svg.count("<circle") == 2
    assert re.search(r'<path[^>]* d="', svg) is None  # no outline stands still


def test_the_page_without_a_server_tells_what_is_right_and_what_was_chosen(library, series):
    page = which_page(library)
    assert [section.title for section in page.sections] == ["The question", "Two that are alike", "Any two shapes"]
    text = render_html(page)
    assert text.count("<img") == 40
    assert text.count('class="finger-0"') == 20
    cells = [cell for section in page.sections[1:] for row in section.blocks[0].rows for cell in row]
    assert sum("; molyneux-shapes chose it" in cell.reading or cell.reading.endswith("chose it") for cell in cells) == 20
    rows = page.sections[1].blocks[0].rows
    chosen = series.answers["molyneux-shapes"].chosen[: len(rows)].tolist()
    assert [["chose it" in cell.reading for cell in row[1:]].index(True) for row in rows] == chosen


def test_answers_of_the_page_without_a_server_are_hidden_until_one_is_chosen(library):
    text = render_html(which_page(library))
    names = re.findall(r'<input type="radio" name="([^"]*)"', text)
    assert len(names) == 40
    assert all(names.count(name) == 2 for name in names)  # two to choose from in each row
    assert "table.gallery.asked tr:not(:has(input:checked)) .reading { display: none; }" in text
    for image in re.findall(r"<img [^>]*>", text):  # nor are they told to who does not see
        assert not re.search("same|another|chose", re.sub(r'src="[^"]*"', "", image))
    assert not re.search(r'<td class="(right|wrong)"', text)


def test_what_one_sense_alone_met_is_new_to_contrastive_encoders(library):
    for role, told in (("felt", "felt and never seen"), ("seen", "seen and never felt")):
        words = which.about_training(which.series_of(library, which.WhichState(role=role)))
        assert told in words
        assert words.endswith("to them these shapes are new.")
        assert "Molyneux's own question" not in words
    assert which.about_training(which.series_of(library, which.WhichState())).endswith("met these shapes in its training.")


def test_geometry_is_beside_the_model(series):
    assert which.WhichState().alike
    assert series.answers[which.GEOMETRY].points.mean() == 1.0
    assert list(dict(series.shares((0, 1))))[2] == "geometry, 2 of 2"
