from itertools import product

import numpy as np
import pytest
import torch

from molyneux.core import Modality, SpecError
from molyneux.measure.coherence import ConstantText, LetterAccuracy

ALPHABET = " abcdefghijklmnopqrstuvwxyz"
SHAPES = ("square", "ellipse", "heart")
SIZES, COLOURS = ("small", "big"), ("red", "yellow", "green", "blue", "pink")
PLACES, GROUNDS = [f"at {v} {h}" for v in ("top", "bottom") for h in ("left", "right")], ("on light", "on dark")
LEVELS = {
    1: (SHAPES,),
    2: (SIZES, SHAPES),
    3: (SIZES, COLOURS, SHAPES),
    4: (SIZES, COLOURS, SHAPES, PLACES),
    5: (SIZES, COLOURS, SHAPES, PLACES, GROUNDS),
}


def captions(level):
    return [" ".join(words) for words in product(*LEVELS[level])]


def encode(texts, length=None):
    length = length or max(map(len, texts))
    return torch.tensor([[ALPHABET.index(letter) for letter in text.ljust(length)] for text in texts], dtype=torch.uint8)


def text(length, padding=0):
    return Modality("text", "text", (length,), "uint8", tuple(ALPHABET), padding)


def test_letters_as_published_ignore_the_tail_and_padded_letters_do_not():
    letters = LetterAccuracy.of(text(10), encode(["heartxxxxx", "heart", "heerty"], 10), encode(["heart"] * 3, 10))
    assert letters.published == pytest.approx([1.0, 1.0, 0.8])
    assert letters.padded == pytest.approx([0.5, 1.0, 0.8])


def test_letters_against_a_plain_loop():
    rng = np.random.default_rng(0)
    truth = [text for text in captions(4) for _ in range(2)]
    read = ["".join(rng.choice(list(text)) for _ in text) for text in truth]
    letters = LetterAccuracy.of(text(36), encode(read, 36), encode(truth, 36))
    for number, (one, other) in enumerate(zip(truth, read, strict=True)):
        assert letters.published[number] == pytest.approx(sum(a == b for a, b in zip(one, other, strict=True)) / len(one))
        assert letters.padded[number] == pytest.approx(
            np.mean([a == b for a, b in zip(one.ljust(36), other.ljust(36), strict=True)])
        )


def test_text_without_padding_id_counts_every_position():
    letters = LetterAccuracy.of(text(4, padding=None), encode(["ab  "]), encode(["abc "]))
    assert letters.published == letters.padded == pytest.approx([0.75])


def test_an_empty_text_has_one_position():
    assert LetterAccuracy.of(text(3), encode(["   "]), encode(["   "])).published == pytest.approx([1.0])


def test_shapes_have_to_fit():
    with pytest.raises(SpecError, match="expected texts of shape"):
        LetterAccuracy.of(text(3), encode(["abc"]), encode(["abcd"]))


@pytest.mark.parametrize(("level", "percent"), [(1, 43.65), (2, 39.92), (3, 34.06), (4, 29.70), (5, 27.40)])
def test_the_best_constant_caption_scores_what_it_promises(level, percent):
    truth = encode(captions(level))
    constant = ConstantText(text(truth.shape[1]))
    for part in truth.split(7):
        constant.add(part)
    answer = torch.from_numpy(constant.ids).to(torch.uint8).expand_as(truth)
    scored = LetterAccuracy.of(constant.modality, answer, truth)
    assert 100 * constant.published == pytest.approx(100 * scored.published.mean(), abs=1e-9)
    assert 100 * constant.published == pytest.approx(percent, abs=0.005)


def test_no_other_constant_is_better():
    """Positions do not interact, so trying every symbol at every position is an exhaustive search."""
    truth = encode(captions(3))
    constant = ConstantText(text(truth.shape[1]))
    constant.add(truth)
    best = torch.from_numpy(constant.ids).to(torch.uint8)
    for position in range(truth.shape[1]):
        for symbol in range(27):
            other = best.clone()
            other[position] = symbol
            scored = LetterAccuracy.of(constant.modality, other.expand_as(truth), truth)
            assert scored.published.mean() <= constant.published + 1e-12
    padded = np.max([(truth == symbol).double().mean(0).numpy() for symbol in range(27)], axis=0).mean()
    assert constant.padded == pytest.approx(padded)
