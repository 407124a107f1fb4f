"""The check values of CdSprites+: counts, lengths, vocabulary, chance and constant answers, from the grammar itself."""

from collections import Counter

import numpy as np
import pytest

from molyneux.data.worlds import CdSprites
from molyneux.data.worlds.cdsprites_settings import HIGH, LOW, MIDDLE, QUADRANTS, TEMPLATES
from molyneux.data.worlds.dsprites import ROTATIONS

LEVELS = (1, 2, 3, 4, 5)
GRAMMARS = {level: CdSprites(level=level).grammar for level in LEVELS}


def per_level(*values):
    return pytest.mark.parametrize(("level", "value"), list(zip(LEVELS, values, strict=True)))


@per_level(3, 6, 30, 120, 240)
def test_unique_captions(level, value):
    assert len(set(GRAMMARS[level].captions)) == len(GRAMMARS[level].captions) == value


@per_level((5, 6.0, 7), (9, 11.0, 13), (13, 16.4, 20), (25, 30.4, 36), (33, 38.9, 45))
def test_lengths(level, value):
    lengths = [len(caption) for caption in GRAMMARS[level].captions]
    assert (min(lengths), round(float(np.mean(lengths)), 1), max(lengths)) == value
    assert GRAMMARS[level].length == value[2]


@per_level((3, 1), (5, 2), (10, 3), (15, 6), (18, 8))
def test_vocabulary_and_words(level, value):
    words = [caption.split(" ") for caption in GRAMMARS[level].captions]
    assert (len({word for caption in words for word in caption}), *{len(caption) for caption in words}) == value


@per_level(11, 15, 21, 22, 22)
def test_characters(level, value):
    assert len(set("".join(GRAMMARS[level].captions))) == value


def test_longest_caption_and_anagrams():
    captions = GRAMMARS[5].captions
    assert [caption for caption in captions if len(caption) == 45] == ["small yellow ellipse at bottom right on light"]
    assert len({tuple(sorted(caption)) for caption in captions}) == 240


def test_dsprites_counts_per_shape_and_size():
    assert len(MIDDLE) ** 2 * ROTATIONS == 25_000
    assert [len(x) * len(y) * ROTATIONS for x, y in QUADRANTS.values()] == [2560, 1920, 1920, 1440]
    assert (LOW, HIGH) == ((1, 2, 3, 5, 6, 7, 8, 9), (26, 27, 28, 29, 30, 31))


@per_level((33.33, 0.333), (16.67, 0.833), (3.33, 1.033), (0.83, 1.283), (0.42, 1.783))
def test_chance(level, value):
    counts = [len(factor.values) for factor in GRAMMARS[level].factors]
    assert (round(100 / np.prod(counts), 2), round(sum(1 / count for count in counts), 3)) == value


def letters_score(captions, constant):
    """Letters: equal letters over a caption's own length, averaged, in per cent."""
    return 100 * np.mean([np.mean([letter == constant[place] for place, letter in enumerate(c)]) for c in captions])


@per_level(33.3, 38.65, 34.0, 29.65, 27.4)
def test_majority_string(level, value):
    """Fact 19: the most frequent letter of each place, ties to the first caption in alphabetical order."""
    captions = sorted(GRAMMARS[level].captions)
    places = range(GRAMMARS[level].length)
    constant = [Counter(c[place] for c in captions if place < len(c)).most_common(1)[0][0] for place in places]
    assert letters_score(captions, constant) == pytest.approx(value, abs=0.05)


@per_level(43.65, 39.92, 34.06, 29.70, 27.40)
def test_best_constant_string(level, value):
    """The best string weighs a letter by one over its caption's length; it beats the majority string at every level."""
    captions = GRAMMARS[level].captions
    places = range(GRAMMARS[level].length)
    weights = [Counter() for _ in places]
    for caption in captions:
        for place, letter in enumerate(caption):
            weights[place][letter] += 1 / len(caption)
    constant = [weight.most_common(1)[0][0] for weight in weights]
    assert letters_score(captions, constant) == pytest.approx(value, abs=0.01)


def test_order_of_a_caption():
    assert TEMPLATES[5] == "{size} {colour} {shape} {position} {background}"
    assert GRAMMARS[4].captions[0] == "small red square at top left"
