"""Two-way choice against brute force, and its controls and intervals."""

import numpy as np
import pytest

from molyneux.core import ConfigError
from molyneux.measure import TwoWayChoice
from molyneux.measure.two_way_choice import distances, pairs_interval, two_way_choices


def test_every_pair_of_choices_is_asked():
    rng = np.random.default_rng(0)
    away, given, choices = rng.integers(0, 6, (14, 17)).astype(float), rng.integers(0, 4, 14), rng.integers(0, 4, 17)
    same = np.eye(14, 17, dtype=bool)
    found = two_way_choices(away, given, choices, same=same)
    for a in range(4):
        for b in range(4):
            told = []
            for i in np.flatnonzero(given == a):
                right = [j for j in np.flatnonzero(choices == a) if not same[i, j]]
                wrong = np.flatnonzero(choices == b)
                won = [(away[i, j] < away[i, k]) + 0.5 * (away[i, j] == away[i, k]) for j in right for k in wrong]
                told += [np.mean(won)] if won else []
            assert np.isnan(found[a, b]) if a == b else found[a, b] == pytest.approx(np.mean(told))


def test_codes_that_say_the_same_of_everything_are_at_chance():
    found = two_way_choices(np.zeros((8, 8)), np.arange(8) % 2, np.arange(8) % 2)
    assert found[0, 1] == found[1, 0] == 0.5


def test_one_value_gives_no_choice():
    assert two_way_choices(np.zeros((4, 4)), np.zeros(4, int), np.zeros(4, int)) is None


def test_intervals_hold_for_new_values():
    """Shapes differ in how well they are known: the interval covers the mean of all shapes in about 95 of 100 cases."""
    rng, covered = np.random.default_rng(1), 0
    for _ in range(200):
        known = rng.normal(0.0, 0.15, 24)
        right = np.clip(0.7 + (known[:, None] + known) / 2 + rng.normal(0, 0.05, (24, 24)), 0, 1)
        np.fill_diagonal(right, np.nan)
        low, high = pairs_interval(right, rng)
        covered += low <= 70.0 <= high
    assert covered >= 178
    perfect = np.where(np.eye(24, dtype=bool), np.nan, 1.0)
    low, high = pairs_interval(perfect, rng)
    assert 80 < low < 100 == high


def test_distances_are_those_of_their_name():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    true = np.linalg.norm(one[:, None] - other, axis=2)
    assert (np.argsort(distances(one, other), 1) == np.argsort(true, 1)).all()
    cosine = 1 - (one @ other.T) / np.linalg.norm(one, axis=1)[:, None] / np.linalg.norm(other, axis=1)
    assert np.allclose(distances(one, other, "cosine"), cosine)


def test_settings_that_cannot_be_used(tiny):
    with pytest.raises(ConfigError, match="distance: expected one of cosine, euclidean"):
        TwoWayChoice(distance="cosin")
    with pytest.raises(ConfigError, match=r"pairs: expected two modalities, got \['image'\]"):
        TwoWayChoice(pairs=[["image"]])
    with pytest.raises(ConfigError, match="by: no factor 'rol'"):
        TwoWayChoice(by="rol").check(tiny.spec)


def test_an_oracle_knows_everything(tiny):
    evaluation = tiny.evaluation(tiny.Oracle(), source=tiny.Source(tiny.rows(120)))
    scores = TwoWayChoice()(evaluation).scores
    assert {(score.about["source"], score.about["target"]) for score in scores} == {("image", "text"), ("text", "image")}
    for score in scores:
        assert score.chance == 50
        low, high = score.interval
        assert low <= score.value <= high


def test_within_a_sense_a_sample_is_never_its_own_answer(tiny):
    evaluation = tiny.evaluation(tiny.Oracle(), source=tiny.Source(tiny.rows(120)))
    (score,) = TwoWayChoice(pairs=[["image", "image"]])(evaluation).scores
    assert (score.about["source"], score.about["target"]) == ("image", "image")
    assert score.value is not None
    codes, values = np.array([[0.0], [3.0], [0.1], [3.1]]), np.array([0, 0, 1, 1])  # what is nearest is always the wrong one
    asked = two_way_choices(distances(codes, codes), values, values, same=np.eye(4, dtype=bool))
    assert asked[0, 1] == 0.25  # of 0.0, only 3.1 is farther than 3.0; of 3.0, both are nearer than 0.0
