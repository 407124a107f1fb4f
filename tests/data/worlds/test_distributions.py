import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from molyneux.core import ConfigError, Factor, Quantity, seeds
from molyneux.data.worlds.combinations import Combinations, pick
from molyneux.data.worlds.distributions import Choice, Entities, Excluding, MixtureDistribution, Product, Uniform

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


X, TURN = Quantity("x", (0.0, 1.0)), Quantity("turn", (0.0, 360.0), "degrees", periodic=True)
LINE_AT_LEFT = Product((Choice(SHAPE, ("line",)), Uniform(X, high=0.5)))
OFTEN_RED = MixtureDistribution((Choice(COLOUR, ("red",)), Choice(COLOUR)), (1.0, 3.0))
OBJECT = Excluding(Product((Choice(SHAPE), OFTEN_RED, Uniform(X), Uniform(TURN, 90.0, 270.0))), LINE_AT_LEFT)
SCENE = Entities(OBJECT, 3)


@pytest.fixture(scope="module")
def scenes():
    """Scenes of three objects each, in which no line lies at the left."""
    return SCENE.sample(seeds.uniforms(seeds.key(1, "scenes"), np.arange(30_000), SCENE.count))


def test_what_is_drawn_is_contained_and_what_is_held_out_never_occurs(scenes):
    assert {name: values.shape for name, values in scenes.items()} == dict.fromkeys(("shape", "colour", "x", "turn"), (30_000, 3))
    assert SCENE.contains(scenes).all()
    assert OBJECT.contains(scenes).shape == (30_000, 3)
    assert not ((scenes["shape"] == 0) & (scenes["x"] < 0.5)).any()
    other = {name: values.copy() for name, values in scenes.items()}
    other["shape"][7, 2], other["x"][7, 2], other["turn"][9, 0] = 0, 0.2, 280.0
    assert np.flatnonzero(~SCENE.contains(other)).tolist() == [7, 9]


def test_what_is_left_keeps_its_chances(scenes):
    shape, x = scenes["shape"].ravel(), scenes["x"].ravel()
    assert chisquare(np.bincount(shape), len(shape) * np.array([0.2, 0.4, 0.4])).pvalue > 1e-3
    assert kstest(x[shape == 0], "uniform", (0.5, 0.5)).pvalue > 1e-3
    assert kstest(x[shape == 1], "uniform").pvalue > 1e-3
    assert kstest(scenes["turn"].ravel(), "uniform", (90.0, 180.0)).pvalue > 1e-3
    chances = np.array([1 / 4 + 3 / 16, 3 / 16, 3 / 16, 3 / 16])
    assert chisquare(np.bincount(scenes["colour"].ravel()), len(shape) * chances).pvalue > 1e-3
    both = np.bincount(scenes["shape"][:, 0] * 3 + scenes["shape"][:, 1], minlength=9)
    alone = np.array([0.2, 0.4, 0.4])
    assert chisquare(both, 30_000 * np.outer(alone, alone).ravel()).pvalue > 1e-3


def test_a_scene_is_a_function_of_its_numbers(scenes):
    rows = np.random.default_rng(0).permutation(30_000)[:500]
    again = SCENE.sample(seeds.uniforms(seeds.key(1, "scenes"), rows, SCENE.count))
    assert all(np.array_equal(again[name], scenes[name][rows]) for name in scenes)


def test_held_out_agrees_with_enumeration():
    free = Product((Choice(SHAPE), Choice(COLOUR)))
    region = MixtureDistribution(
        tuple(
            Product((Choice(SHAPE, shapes), Choice(COLOUR, colours)))
            for shapes, colours in (
                (("line",), ("red", "green")),
                (("circle", "square"), ("pink",)),
            )
        )
    )
    every = Combinations.every([SHAPE, COLOUR])
    values = {"shape": every.codes[:, 0], "colour": every.codes[:, 1]}
    rest = every - every.matching(RULES)
    assert np.array_equal(Excluding(free, region).contains(values), rest.allowed)
    drawn = Excluding(free, region).sample(np.random.default_rng(0).random((80_000, 2)))
    counts = np.bincount(every.numbers(np.stack([drawn["shape"], drawn["colour"]], 1)), minlength=12)
    assert (counts > 0).tolist() == rest.allowed.tolist()
    assert chisquare(counts[rest.allowed]).pvalue > 1e-3


def test_many_factors_are_not_enumerated():
    factors = [Factor(f"f{number}", tuple(map(str, range(10)))) for number in range(30)]
    wide = Product(tuple(Choice(factor) for factor in factors))
    held = Product(tuple(Choice(factor, ("0", "1", "2", "3", "4")) for factor in factors[:2]))
    some = Excluding(wide, held)
    drawn = some.sample(np.random.default_rng(0).random((1000, 30)))
    assert some.contains(drawn).all()


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Choice(COLOUR, ("rde",)), 'did you mean "red"'),
        (lambda: Choice(COLOUR, (), ()), "at least one value"),
        (lambda: Choice(COLOUR, ("red",), (0.0,)), "1 weights above 0"),
        (lambda: Uniform(X, 0.5, 1.5), "rising ends within 0 to 1"),
        (lambda: Product((Choice(COLOUR), Choice(COLOUR))), "no name in two"),
        (lambda: MixtureDistribution((Choice(COLOUR), Choice(SHAPE))), "the same names"),
        (lambda: Excluding(Choice(COLOUR), Uniform(X)), "'x', which is not drawn"),
        (lambda: Entities(Uniform(X), 0), "at least 1 entity"),
        (lambda: Excluding(Uniform(X), Uniform(X)).sample(np.zeros((2, 1))), "nearly everything"),
    ],
)
def test_distributions_that_cannot_be(make, problem):
    with pytest.raises(ConfigError, match=problem):
        make()
