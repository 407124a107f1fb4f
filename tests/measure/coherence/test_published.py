from itertools import product

import pytest

from molyneux.core import Factor
from molyneux.measure.coherence import published_features

ALL = (
    Factor("size", ("small", "big")),
    Factor("colour", ("red", "yellow", "green", "blue", "pink")),
    Factor("shape", ("square", "ellipse", "heart")),
    Factor("position", ("at top left", "at top right", "at bottom left", "at bottom right")),
    Factor("background", ("on light", "on dark")),
)
LEVELS = {1: ALL[2:3], 2: (ALL[0], ALL[2]), 3: ALL[:3], 4: ALL[:4], 5: ALL}


@pytest.mark.parametrize(("level", "plain", "padded"), [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 3, 4), (5, 5, 4 + 1 / 240)])
def test_the_published_parser_marks_true_captions_wrong(level, plain, padded):
    captions = [" ".join(words) for words in product(*[factor.values for factor in LEVELS[level]])]
    assert published_features(captions, captions, level, LEVELS[level]).mean() == plain
    spaced = [caption.ljust(45) for caption in captions]
    assert published_features(spaced, captions, level, LEVELS[level]).mean() == pytest.approx(padded)


def test_the_published_parser_accepts_what_only_contains_a_word():
    assert published_features(["heartxxxxx"], ["heart"], 1, LEVELS[1]).tolist() == [1]
    assert published_features(["bigsmall square"], ["small square"], 2, LEVELS[2]).tolist() == [2]
    assert published_features([""], ["small square"], 2, LEVELS[2]).tolist() == [0]
