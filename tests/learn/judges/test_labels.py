import numpy as np
import pytest
import torch

from molyneux.core import Factor, Modality, NuisanceWindow, Spec, SpecError
from molyneux.learn.judges.labels import Components, labels, recode, share_within, union

FACTORS = (Factor("shape", ("square", "heart")), Factor("turn", tuple(map(str, range(12)))))
TURN = NuisanceWindow("turn", 3, {"square": 2, "heart": 4}, period={"square": 3, "heart": 12}, by="shape")
UNREADABLE = 2


def label(name, shapes, turns, weights, windows=(TURN,)):
    codes = {"shape": np.array([shapes]), "turn": np.array([turns])}
    weights = np.array([weights], np.float64)
    return labels(Components(codes, weights / weights.sum(), FACTORS), name, windows)[0]


@pytest.mark.parametrize(
    ("shapes", "turns", "weights", "expected"),
    [
        ([0, 0], [5, 5], [1, 1], 0),
        ([0, 1], [5, 5], [1, 1], UNREADABLE),
        ([0, 1], [5, 5], [8, 2], -1),  # neither 90 % nor at most two thirds
        ([0, 1], [5, 5], [95, 5], 0),
        ([1, 1, 1], [0, 1, 11], [1, 1, 1], 1),  # near each other around the circle
        ([1, 1, 1, 1], [0, 3, 6, 9], [1, 1, 1, 1], UNREADABLE),
        ([1, 1, 1, 1], [0, 3, 6, 9], [97, 1, 1, 1], 1),
        ([0, 0, 0, 0], [0, 3, 6, 9], [1, 1, 1, 1], 0),  # a square that turned to itself
        ([0, 0, 0], [0, 1, 2], [1, 1, 1], UNREADABLE),  # all its turns: no two of three hold more
        ([1, 1], [0, 6], [1, 1], UNREADABLE),  # two views, far apart
        ([-1, -1], [0, 6], [1, 1], -1),  # absent
    ],
)
def test_labels_of_a_mean(shapes, turns, weights, expected):
    square = NuisanceWindow("turn", {"square": 1, "heart": 3}, TURN.far, TURN.period, "shape")
    assert label("shape", shapes, turns, weights, (square,)) == expected


def test_a_nuisance_hides_only_the_factors_that_it_is_given_for():
    assert label("turn", [0, 1], [5, 5], [1, 1], ()) == 5
    assert label("shape", [1, 1], [0, 6], [1, 1], ()) == 1
    assert label("shape", [1, 1], [0, 6], [1, 1], (NuisanceWindow("x", 1, 1),)) == 1  # a nuisance that the source lacks


def test_windows_agree_with_counting():
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(0, 12, (200, 9)), rng.random((200, 9))
    window = rng.integers(1, 6, 200)
    period = np.where(rng.random(200) < 0.5, 12.0, np.inf)
    for row, share in enumerate(share_within(codes, weights, window.astype(float), period)):
        held = [
            sum(w for c, w in zip(codes[row], weights[row], strict=True) if (c in span or (period[row] == 12 and c + 12 in span)))
            for span in (range(start, start + window[row]) for start in range(12))
        ]
        assert share == pytest.approx(max(held), abs=1e-6)


def test_union_keeps_every_value_once(blobs):
    specs = [blobs(2, factors=("side",)).spec, blobs(2).spec, blobs(2, colours=("blue", "green")).spec]
    assert union(specs, ("colour", "side")) == (Factor("colour", ("red", "green", "blue")), Factor("side", ("left", "right")))
    with pytest.raises(SpecError, match="'shape'"):
        union(specs, ("shape",))


def test_recode_by_name():
    spec = Spec((Modality("touch", "tabular", (1,)),), (Factor("a", ("x", "y")), Factor("b", ("p", "q", "r"))))
    factors = (Factor("b", ("r", "p", "q")), Factor("c", ("1",)))
    codes = torch.tensor([[0, 0], [1, 2], [0, -1]])
    assert recode(codes, spec, factors).tolist() == [[1, -1], [0, -1], [-1, -1]]
