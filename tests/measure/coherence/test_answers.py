from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from molyneux.core import Factor, SpecError
from molyneux.measure.coherence import ReadCodes, best_constant, features_chance, majority, strict_chance
from molyneux.measure.coherence.scores import judge_scores
from molyneux.measure.scores import Recorder

VALUES = {"shape": 3, "size": 2, "colour": 5, "position": 4, "background": 2}
ORDER = {
    1: ("shape",),
    2: ("size", "shape"),
    3: ("size", "colour", "shape"),
    4: ("size", "colour", "shape", "position"),
    5: tuple(VALUES),
}


def factors(names):
    return tuple(Factor(name, tuple(f"{name}{value}" for value in range(VALUES[name]))) for name in names)


def uniform(level):
    names = ORDER[level]
    truth = np.array(list(product(*[range(VALUES[name]) for name in names])))
    return ReadCodes(factors(names), truth, truth.copy())


@pytest.mark.parametrize(
    ("level", "strict", "features"),
    [(1, 33.33, 0.333), (2, 16.67, 0.833), (3, 3.33, 1.033), (4, 0.83, 1.283), (5, 0.42, 1.783)],
)
def test_chance_and_the_best_constant_at_every_level(level, strict, features):
    answers = uniform(level)
    assert 100 * strict_chance(answers) == pytest.approx(strict, abs=0.005)
    assert features_chance(answers) == pytest.approx(features, abs=0.0005)
    combination, values = best_constant(answers)
    assert combination.strict.mean() == pytest.approx(strict_chance(answers))
    assert values.features.mean() == pytest.approx(features_chance(answers))
    assert answers.strict.all()
    assert (answers.features == len(answers.factors)).all()


def test_the_best_constant_of_skewed_samples():
    truth = np.array([[0, 0]] * 3 + [[1, 1]] * 2 + [[2, 1]] * 2)
    answers = ReadCodes(factors(("shape", "size")), truth, truth)
    combination, values = best_constant(answers)
    assert combination.strict.mean() == 3 / 7
    assert values.features.mean() == pytest.approx(3 / 7 + 4 / 7)


def test_absent_factors_are_not_asked_and_unreadable_ones_are_wrong():
    truth = np.array([[0, -1], [1, 1], [-1, -1], [2, 0]])
    read = np.array([[0, 1], [1, -1], [2, -1], [-1, 0]])
    answers = ReadCodes(factors(("shape", "size")), truth, read)
    assert answers.strict.tolist() == [True, False, True, False]
    assert answers.features.tolist() == [1, 1, 0, 1]
    assert strict_chance(answers) == pytest.approx(np.mean([1 / 3, 1 / 6, 1, 1 / 6]))
    assert features_chance(answers) == pytest.approx(np.mean([1 / 3, 5 / 6, 0, 5 / 6]))


def test_accuracy_of_each_factor_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    truth, read = rng.integers(0, 2, (500, 2)), rng.integers(-1, 2, (500, 2))
    answers = ReadCodes(factors(("shape", "size")), truth, read)
    for column in range(2):
        assert answers.right[:, column].mean() == accuracy_score(truth[:, column], read[:, column])
    assert answers.strict.mean() == accuracy_score(*(["".join(map(str, row)) for row in side] for side in (truth, read)))


@given(st.permutations(range(3)), st.integers(0, 100))
def test_the_order_of_factors_changes_nothing(order, seed):
    rng = np.random.default_rng(seed)
    names = ORDER[3]
    truth = np.stack([rng.integers(-1, VALUES[name], 30) for name in names], 1)
    read = np.stack([rng.integers(-1, VALUES[name], 30) for name in names], 1)
    answers = ReadCodes(factors(names), truth, read)
    other = answers.select([names[place] for place in order])
    assert np.array_equal(answers.strict, other.strict)
    assert np.array_equal(answers.features, other.features)
    assert strict_chance(answers) == pytest.approx(strict_chance(other))


def test_majority_skips_what_is_absent():
    assert majority(np.array([-1, -1, -1, 2, 1, 2])) == 2
    assert majority(np.array([-1])) == -1


def test_shapes_have_to_fit():
    with pytest.raises(SpecError, match=r"shape \(N, 2\)"):
        ReadCodes(factors(("shape", "size")), np.zeros((3, 2)), np.zeros((3, 1)))


def test_readers_that_read_nothing_agree_only_where_unreadable_counts():
    """Of four views, two are unreadable to both; of the others they read one alike, and one reads the other."""
    truth = np.array([[0, 0], [1, 1], [2, 0], [0, 1]])
    one, other = truth.copy(), truth.copy()
    one[:2], other[:2] = -1, -1
    other[3, 0] = -1
    exact, judged = (ReadCodes(factors(("shape", "size")), truth, read) for read in (one, other))
    recorder = Recorder("coherence", np.random.default_rng(0))
    found = {score.name: score for score in judge_scores((exact, exact), (judged, judged), recorder)}
    both, readable = found["coherence.readers_agree"], found["coherence.readers_agree_readable"]
    assert (both.value, both.n, readable.value, readable.n) == (75.0, 4, 50.0, 2)
    assert (both.controls, readable.controls) == ({"judge ceiling": 75.0}, {"judge ceiling": 50.0})
    nothing = ReadCodes(exact.factors, truth, np.full_like(truth, -1))
    found = {score.name: score.value for score in judge_scores((nothing, None), (nothing, None), recorder)}
    assert found == {
        "coherence.strict_judge": 0.0,
        "coherence.readers_agree": 100.0,
        "coherence.readers_agree_readable": None,
    }
