"""Strings become ids and ids become strings, by the modality alone."""

import time

import numpy as np
import pytest
import torch

from molyneux.core import DataError, Modality, values_of, views_of

SPELLED = Modality("text", "text", (12,), "uint8", (" ", *"abcdefghijklmnopqrstuvwxyz"), 0)
WORDS = Modality(
    "text", "text", (6,), "uint8", ("<pad>", "<bos>", "<eos>", "a", "red", "Square", ".", "a/an", "left-most"), 0, 1, 2
)
OPEN = Modality("text", "text", (4,), "int64", ("<pad>", "<bos>", "<eos>", "<unk>", "it", "'", "s"), 0, 1, 2)
PLAIN = Modality("meaning", "text", (4,), "uint8", ("<pad>", "both", "red", "square"), 0)
SHAPE = Modality("shape", "label", (), "int64", ("heart", "Square", "7"))


def back(modality, values):
    found = views_of(modality, values)
    return values_of(modality, found.view, found.lengths)


def test_characters():
    found = views_of(SPELLED, ["red heart", "a"])
    assert found.view.dtype == torch.uint8
    assert found.view.shape == (2, 12)
    assert found.lengths is None
    assert found.notes == ()
    assert values_of(SPELLED, found.view) == ["red heart", "a"]
    assert back(SPELLED, "heart") == ["heart"]
    assert back(SPELLED, np.array(["heart", "a"])) == ["heart", "a"]


def test_words_end_where_there_is_room():
    found = views_of(WORDS, ["a red square.", "A RED Square ."])
    assert found.view.tolist() == [[3, 4, 5, 6, 2, 0]] * 2
    assert found.lengths is None
    assert back(WORDS, ["a/an left-most", ""]) == ["a/an left-most", ""]
    assert views_of(WORDS, "a a a a a a").view.tolist() == [[3] * 6]


def test_lengths_are_told_where_only_they_say_the_end():
    found = views_of(PLAIN, ["both red square", "red"])
    assert found.lengths.tolist() == [3, 1]
    assert values_of(PLAIN, found.view, found.lengths) == ["both red square", "red"]


def test_what_is_converted_is_told():
    found = views_of(SPELLED, ["red", "Red\theart", "BIG"])
    assert found.notes == (
        "capital letters became small ones (value 2, 2 of 3)",
        "line breaks and other blanks became spaces (value 2, 1 of 3)",
    )
    assert values_of(SPELLED, found.view) == ["red", "red heart", "big"]
    found = views_of(OPEN, "it's hot")
    assert found.view.tolist() == [[4, 5, 6, 3]]
    assert found.notes == ("words that the vocabulary lacks became <unk>",)
    other = Modality("t", "text", (4,), "uint8", (" ", "a", "\N{REPLACEMENT CHARACTER}"), 0)
    assert back(other, "ab") == ["a\N{REPLACEMENT CHARACTER}"]
    composed = Modality("t", "text", (4,), "uint8", (" ", "\N{LATIN SMALL LETTER E WITH ACUTE}"), 0)
    assert back(composed, "e\N{COMBINING ACUTE ACCENT}") == ["\N{LATIN SMALL LETTER E WITH ACUTE}"]


@pytest.mark.parametrize(
    ("modality", "values", "said"),
    [
        (SPELLED, "heart 5", r"characters of its alphabet \(' ', a-z\), got '5' at place 7"),
        (SPELLED, ["a", "b\N{SLIGHTLY SMILING FACE}"], "value 2: .* at place 2"),
        (SPELLED, "\N{HEBREW LETTER ALEF}\N{HEBREW LETTER BET}", "at place 1"),
        (SPELLED, "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "at place 4"),
        (SPELLED, "\ud83d", "at place 1"),
        (SPELLED, "nul\0", "at place 4"),
        (SPELLED, 10_000 * "a", "at most 12 characters, got 10,000"),
        (SPELLED, 2_000_000 * "a", "at most 1,000,000 characters, got 2,000,000"),
        (SPELLED, None, "got None: leave the modality out"),
        (SPELLED, [], "at least one value"),
        (SPELLED, ["a", None], "value 2: expected a string, got None"),
        (SPELLED, [["a"]], "expected a string, got a list"),
        (SPELLED, b"heart", "got a bytes"),
        (SPELLED, {"a"}, "got a set: make it a list"),
        (SPELLED, (text for text in "a"), "got a generator: make it a list"),
        (SPELLED, 3, r"ids of shape \(12,\)"),
        (SPELLED, np.zeros((2, 3), int), r"got shape \(2, 3\)"),
        (SPELLED, np.full(12, 27), "ids from 0 to 26, got 27"),
        (SPELLED, np.zeros(12), "ids as whole numbers, got float64"),
        (WORDS, "a redd square", "got 'redd' as word 2; did you mean \"red\""),
        (WORDS, "a blue square", "got 'blue' as word 2; known: .*red"),
        (WORDS, "a <eos>", "got '<eos>' as word 2"),
        (WORDS, "a red square . a red square .", "at most 6 words, got 8"),
        (SHAPE, "hart", "one of its 3 symbols, got 'hart'; did you mean \"heart\""),
        (SHAPE, 3, "ids from 0 to 2, got 3"),
        (SHAPE, -1, "got -1"),
        (SHAPE, 1.0, "whole numbers, got float64"),
        (SHAPE, True, "whole numbers, got bool"),
        (SHAPE, ["heart", 1], "value 2: expected a string, got a int"),
    ],
    ids=lambda value: "" if not isinstance(value, str) else value[:20].encode("ascii", "replace").decode(),
)
def test_what_cannot_be_a_text_is_refused(modality, values, said):
    with pytest.raises(DataError, match=said) as caught:
        views_of(modality, values)
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)


def test_labels():
    assert views_of(SHAPE, ["heart", "SQUARE", "7"]).view.tolist() == [0, 1, 2]
    assert views_of(SHAPE, 1).view.tolist() == [1]
    assert views_of(SHAPE, np.array([2, 0])).view.tolist() == [2, 0]
    assert values_of(SHAPE, torch.tensor([2, 0])) == ["7", "heart"]


def test_a_view_that_does_not_fit_is_refused():
    for view, said in (
        (torch.zeros(2, 5), r"shape \(N, 12\), got \(2, 5\)"),
        (torch.full((1, 12), 30), "ids 0..26, got 30"),
        (torch.zeros(1, 12), "expected ids, got torch.float32"),
    ):
        with pytest.raises(DataError, match=said):
            values_of(SPELLED, view)
    with pytest.raises(DataError, match="expected a Modality"):
        views_of("text", "heart")


def test_ten_thousand_texts_take_a_tenth_of_a_second():
    texts = [f"red {chr(97 + number % 26)} heart"[:12] for number in range(10_000)]
    words = ["a red Square ."] * 10_000
    for modality, values in ((SPELLED, texts), (WORDS, words)):
        views_of(modality, values[:10])
        spent = min(_seconds(modality, values) for _ in range(3))
        assert spent < 0.1
        assert back(modality, values) == values


def _seconds(modality, values):
    start = time.process_time()
    views_of(modality, values)
    return time.process_time() - start
