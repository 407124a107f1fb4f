"""Molyneux's question in words, from records: which variant asks it, and what it answers."""

from pathlib import Path

import pytest

from molyneux.core import Factor, Modality, Spec
from molyneux.report import KeptApart
from molyneux.run import read_transfers
from molyneux.studio import story
from molyneux.studio.library import Library
from molyneux.studio.question_page import question_page

RECORDS = Path(__file__).parents[2] / "studies" / "results"
SPEC = Spec(
    (
        Modality("image", "image", (3, 8, 8), "uint8"),
        Modality("text", "text", (9,), "int64", symbols=("<pad>", *"abcdefg")),
        Modality("touch", "series", (9, 5)),
    ),
    (),
)
HEARTS = {"shape": ("heart",)}


@pytest.fixture(scope="module")
def studies():
    return story.fitting(read_transfers([RECORDS]), SPEC)


def test_only_studies_that_kept_something_apart_are_shown(studies):
    assert next(iter(studies)) == "molyneux-question-diffusion"
    assert set(studies) == {"molyneux-question", "molyneux-question-diffusion", "molyneux-question-diffusion-early"}


def test_the_answer_is_that_of_the_records(studies):
    variants = studies["molyneux-question-diffusion"]
    assert story.first_asked(variants, SPEC) == "never-seen"
    one = next(one for one in variants if one.name == "never-seen")
    felt, seen = (one.apart[sense, "text"].written for sense in ("touch", "image"))
    told = story.answer(variants, SPEC)
    assert told.startswith("No: hearts that were felt and named, and never seen, are named by touch in ")
    assert f"by touch in {felt} % of cases and by sight in {seen} % (guessing 33.3 %)" in told
    assert "by way of the name" in told
    assert any(
        "earlier, unnamed reader" in text for text in story.limits(variants, Factor("shape", ("square", "ellipse", "heart")))
    )


def test_a_study_of_controls_alone_answers_nothing(studies):
    variants = [one for one in studies["molyneux-question-diffusion"] if not one.kept.sets]
    assert story.answer(variants, SPEC) == ""
    assert story.first_asked(variants, SPEC) == variants[0].name


@pytest.mark.parametrize(
    ("kept", "words"),
    [
        (KeptApart(HEARTS, (("touch", "text"),)), "felt and named"),
        (KeptApart(HEARTS, (("image", "text"), ("touch",))), "seen and named, or felt"),
        (KeptApart(HEARTS, (), ("touch",)), "seen and named"),
        (KeptApart(HEARTS), "seen, felt and named together, as all others"),
    ],
)
def test_how_samples_came_is_told_in_words(kept, words):
    assert story.kept_words(SPEC, kept) == words


def test_paths_are_told_in_words():
    naming, direct, through = story.paths_of(SPEC)
    assert [story.path_title(SPEC, path) for path in naming] == ["See it: what is it called?", "Feel it: what is it called?"]
    assert story.path_word(SPEC, through[0]) == "sight → name → touch"
    bridged = KeptApart(HEARTS, (("image", "text"), ("touch", "text")))
    assert story.joined_words(SPEC, bridged, direct[0]) == "In training, hearts were never seen and felt together."
    assert story.joined_words(SPEC, bridged, naming[0]) == "In training, hearts were also seen and named together."
    assert story.paths_of(SPEC.restrict(("image", "text"))) == ()


def test_the_page_without_a_server_has_all_of_it():
    page = question_page(Library(results=[RECORDS / "molyneux-question-diffusion"]))
    assert page.answer.startswith("No: hearts")
    assert [section.name for section in page.filled][:2] == ["question", "training"]
    assert len(page.filled) == 6
    assert question_page(Library()).answer == ""
