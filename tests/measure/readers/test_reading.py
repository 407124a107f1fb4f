"""What a reader says of views: shares that are accepted, read, and read correctly."""

import numpy as np
import pytest
import torch

from molyneux.core import Factor, Modality, Reading, Spec, SpecError
from molyneux.measure.readers import LabelledViews, reading_scores

SPEC = Spec(
    (Modality("image", "image", (1, 1, 2), "uint8"),), (Factor("shape", ("square", "disc")), Factor("size", ("small", "big")))
)


class ByPixels:
    """Reads shape and size in the two pixels of a view: 0 and 1 are codes, anything else is unreadable."""

    factors = ("shape", "size")

    def __init__(self, *, forced=False):
        self.forced = forced

    def read(self, view):
        codes = view[:, 0, 0].long()
        return Reading(torch.where(codes > 1, -1, codes), self.factors, forced=codes % 2 if self.forced else None)


VIEWS = np.array([[0, 0], [1, 1], [1, 9], [8, 0]], np.uint8)[:, None, None]


def found(reader, shown, **settings):
    scores, reading = reading_scores(reader, SPEC, shown, **settings)
    assert all(score.n == len(shown.views) and score.unit == "%" for score in scores)
    return {(score.name, *score.about.items()): score.value for score in scores}, reading


def test_shares_of_what_is_accepted_read_and_right():
    values, reading = found(ByPixels(), LabelledViews(VIEWS, {"shape": ["square", "square", "disc", "square"]}))
    assert values == {
        ("reading.accepted",): 50.0,
        ("reading.read", ("factor", "shape")): 75.0,
        ("reading.correct", ("factor", "shape")): 50.0,  # of all four: an abstention is no right answer
        ("reading.read", ("factor", "size")): 75.0,
    }
    assert reading.codes.tolist() == [[0, 0], [1, 1], [1, -1], [-1, 0]]


def test_forced_choice_and_what_views_were_taken_for():
    shown = LabelledViews(VIEWS, {"shape": ["square", "square", "disc", "square"]})
    values, _ = found(ByPixels(forced=True), shown, named="shape")
    assert values["reading.correct_forced", ("factor", "shape")] == 75.0
    assert values["reading.accepted_as", ("shape", "square")] == 25.0
    assert values["reading.accepted_as", ("shape", "disc")] == 25.0


def test_a_truth_that_is_no_value_is_refused():
    with pytest.raises(SpecError, match="factor shape has no value 'heart'"):
        reading_scores(ByPixels(), SPEC, LabelledViews(VIEWS, {"shape": ["heart"] * 4}))
