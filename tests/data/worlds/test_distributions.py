import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from molyneux.core import ConfigError, Factor
from molyneux.data.worlds.distributions import Combinations, pick

SHAPE, COLOUR = Factor("shape", ("line", "circle", "square")), Factor("colour", ("red", "green", "blue", "pink"))
RULES = [{"shape": "line", "colour": ["red", "green"]}, {"shape": ["circle", "square"], "colour": "pink"}]


def test_every_has_all_combinations_once():
    every = Combinations.every([SHAPE, COLOUR])
    assert len(every) == 12
    assert {tuple(row) for row in every.codes} == set(itertools.product(range(3), range(4)))
    assert np.array_equal(every.numbers(every.codes), np.arange(12))


def test_matching_and_difference_are_set_operations():
    every = Combinations.every([SHAPE, COLOUR])
    some = every.matching(RULES)
    assert {tuple(row) for row in some.codes} == {(0, 0), (0, 1), (1, 3), (2, 3)}
    rest = every - some
    assert len(rest) == 8
    assert not rest.contains(some.codes).any()
    assert (rest.contains(every.codes) ^ some.contains(every.codes)).all()
    assert len(every.matching([])) == 0


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=50))
def test_samples_are_contained(uniforms):
    some = Combinations.every([SHAPE, COLOUR]).matching(RULES)
    assert some.contains(some.sample(np.array(uniforms))).all()


def test_samples_are_uniform():
    some = Combinations.every([SHAPE, COLOUR]) - Combinations.every([SHAPE, COLOUR]).matching(RULES)
    drawn = some.numbers(some.sample(np.random.default_rng(0).random(80_000)))
    counts = np.bincount(drawn, minlength=12)[some.allowed]
    assert len(counts) == 8
    assert chisquare(counts).pvalue > 1e-3


def test_pick_takes_the_last_below_one():
    assert pick(np.array([0.0, np.nextafter(1.0, 0.0)]), 240).tolist() == [0, 239]


def test_unknown_names_are_told_at_once():
    with pytest.raises(ConfigError) as caught:
        Combinations.every([SHAPE, COLOUR]).matching([{"shpae": "line"}, {"colour": ["rde", "red"]}, {}])
    first, second, third = caught.value.problems
    assert "'shpae'" in first
    assert 'did you mean "shape"?' in first
    assert "'rde'" in second
    assert 'did you mean "red"?' in second
    assert "at least one factor" in third
