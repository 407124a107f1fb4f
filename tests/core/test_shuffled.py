import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from molyneux.core import ConfigError, DataError, seeds
from molyneux.core.shuffled import BlockOrder, KeyedPermutation

KEY = seeds.key(1, "order")


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 3_000), st.integers(0, 2**32))
def test_every_number_comes_once(size, seed):
    found = KeyedPermutation(size, seeds.key(seed))(np.arange(size))
    assert np.array_equal(np.sort(found), np.arange(size))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 900), st.integers(1, 200), st.integers(1, 20), st.integers(1, 9), st.integers(0, 900), st.integers(0, 900))
def test_any_part_of_an_order_is_that_of_the_whole(size, block, window, together, start, stop):
    order = BlockOrder(size, block, window, KEY, together)
    whole = order.positions(0, size)
    assert np.array_equal(np.sort(whole), np.arange(size))
    start, stop = sorted((min(start, size), min(stop, size)))
    assert np.array_equal(order.positions(start, stop), whole[start:stop])
    sets = whole[: size // together * together].reshape(-1, together)
    assert np.array_equal(sets, sets[:, :1] + np.arange(together))


def test_permutations_are_like_random_ones():
    size = 5_000
    orders = [KeyedPermutation(size, seeds.key(seed))(np.arange(size)) for seed in range(40)]
    firsts = np.array([order[:50] for order in orders]).ravel()
    assert kstest(firsts / size, "uniform").pvalue > 1e-3
    steps = np.concatenate([np.diff(order) for order in orders])
    shuffled = np.concatenate([np.diff(np.random.default_rng(seed).permutation(size)) for seed in range(40)])
    bins = np.linspace(-size, size, 21)
    found, expected = (np.histogram(each, bins)[0] for each in (steps, shuffled))
    assert chisquare(found, expected * found.sum() / expected.sum()).pvalue > 1e-3


def test_keys_give_other_orders_and_are_the_same_everywhere():
    one, other = (KeyedPermutation(1_000, seeds.key(seed))(np.arange(1_000)) for seed in (1, 2))
    assert (one == other).sum() < 20
    assert KeyedPermutation(10**12, KEY)(np.array([0, 1, 10**12 - 1])).tolist() == [722525849832, 284137746172, 592414668500]


def test_a_window_of_blocks_is_read_at_a_time():
    order = BlockOrder(10_000, 100, 5, KEY)
    for start in range(0, 10_000, 500):
        rows = order.positions(start, start + 500)
        assert len(np.unique(rows // 100)) == 5
    assert np.abs(np.diff(order.positions(0, 500))).mean() > 100


def test_a_rest_is_mixed_with_the_last_window():
    order = BlockOrder(1_050, 100, 5, KEY)
    whole, shift = order.positions(0, 1_050), int(KEY[1] % np.uint64(51))
    rest = set(range(shift)) | set(range(1_000 + shift, 1_050))
    assert not rest & set(whole[:500])
    assert np.flatnonzero(np.isin(whole, list(rest))).mean() < 900


def test_memory_does_not_grow_with_the_number():
    order = BlockOrder(10**12, 10**6, 16, KEY, 4)
    rows = order.positions(5 * 10**11, 5 * 10**11 + 1_000)
    assert len(np.unique(rows)) == 1_000
    assert rows.max() < 10**12


@pytest.mark.parametrize("name", ["size", "block", "window", "together"])
def test_numbers_below_one_are_refused(name):
    with pytest.raises(ConfigError, match=f"expected {name} of at least 1, got 0"):
        BlockOrder(**{"size": 5, "block": 2, "window": 2, "key": KEY, "together": 1, name: 0})
    with pytest.raises(ConfigError, match="at least one number"):
        KeyedPermutation(0, KEY)


def test_places_outside_an_order_are_refused():
    with pytest.raises(DataError, match="expected positions from 0 to 4, got 5"):
        KeyedPermutation(5, KEY)(np.array([5]))
