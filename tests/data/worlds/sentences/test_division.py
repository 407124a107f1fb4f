"""Splits are disjoint and complete, of any seed; the published ones are the published ones."""

import random

import numpy as np
import pytest
from scipy import stats

from molyneux.core import ConfigError, DataError
from molyneux.data import Letters, PartsOfSpeech, Ynoc
from molyneux.data.worlds.sentences.division import KeyedDivision, PublishedDivision, _permuted, _round_keys


def permutation(size, seed, *names):
    """The keyed permutation of range(size) of a named stream."""
    keys = _round_keys(seed, *names)
    return np.array([_permuted(number, size, keys) for number in range(size)])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 200, 9_600, 12_345])
def test_permutations_are_permutations(size):
    first, second = permutation(size, 1, "a"), permutation(size, 2, "a")
    np.testing.assert_array_equal(np.sort(first), np.arange(size))
    assert size < 20 or (first != second).mean() > 0.95


def test_permutations_are_as_good_as_drawn():
    pairs = np.zeros((6, 6))
    for seed in range(3000):
        order = permutation(6, seed, "pairs")
        pairs[order[0], order[1]] += 1
    assert stats.chisquare(pairs[~np.eye(6, dtype=bool)]).pvalue > 1e-3
    order = permutation(100_000, 3, "large")
    assert abs(np.corrcoef(order[:-1], order[1:])[0, 1]) < 0.01
    steps = np.diff(order) % 100_000
    assert stats.kstest(steps / 100_000, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("world", [Ynoc(), Letters(), PartsOfSpeech()], ids=lambda world: world.name)
def test_splits_are_disjoint_and_complete_whatever_the_seed(world):
    numbers = {split: world.division.numbers(np.arange(size), split=split, seed=5) for split, size in world.splits.items()}
    together = np.sort(np.concatenate(list(numbers.values())))
    assert (np.diff(together) > 0).all()
    assert together[0] >= 0
    assert together[-1] < world.language.size
    again = world.division.numbers(np.arange(world.splits["test"]), split="test", seed=6)
    assert (again != numbers["test"]).mean() > 0.99
    np.testing.assert_array_equal(np.sort(again), np.sort(numbers["test"]))
    if not isinstance(world, PartsOfSpeech):
        np.testing.assert_array_equal(together, np.arange(world.language.size))


def test_the_seed_of_the_splits_decides_on_them():
    tests = [set(Letters(split_seed=seed).division.numbers(np.arange(32_000), split="test", seed=0).tolist()) for seed in (0, 1)]
    assert len(tests[0] & tests[1]) / 32_000 == pytest.approx(0.2, abs=0.01)


def test_a_cap_keeps_draws_within_their_form():
    division = KeyedDivision("example", [7, 1000, 50], cap=20, seed=0)
    numbers = np.concatenate([division.numbers(np.arange(size), split=split, seed=1) for split, size in division.sizes.items()])
    assert division.sizes == {"train": 28, "validation": 9, "test": 10}
    form = np.searchsorted([7, 1007], numbers, side="right")
    assert np.bincount(form).tolist() == [7, 20, 20]
    assert len(set(numbers.tolist())) == 47


def test_published_shuffles_are_those_of_python():
    """The published procedures, written plainly."""
    blocks, cap = [200, 1000, 50, 12], 100
    generator = random.Random(3)
    words = list(range(35))
    generator.shuffle(words)
    parts, start = ([], [], []), 0
    for block in blocks:
        kept = list(range(start, start + block))
        generator.shuffle(kept)
        kept, start = kept[:cap], start + block
        bounds = [0, int(0.6 * len(kept)), int(0.8 * len(kept)), len(kept)]
        for part, first, last in zip(parts, bounds, bounds[1:], strict=False):
            part += kept[first:last]
    for part in parts:
        generator.shuffle(part)
    compare(PublishedDivision(blocks, words=35, cap=cap, seed=3), parts, words)

    generator = random.Random(0)
    numbers, words = list(range(1262)), list(range(10))
    for _ in range(3):
        generator.shuffle(numbers)
    for _ in range(2):
        generator.shuffle(words)
    parts = (numbers[: int(0.6 * 1262)], numbers[int(0.6 * 1262) : int(0.8 * 1262)], numbers[int(0.8 * 1262) :])
    compare(PublishedDivision(blocks, words=10, cap=None, seed=0), parts, words)


def compare(division, parts, words):
    for (split, size), part in zip(division.sizes.items(), parts, strict=True):
        assert division.numbers(np.arange(size), split=split, seed=7).tolist() == part
    assert division.vocabulary.tolist() == words


def test_what_a_split_does_not_have():
    world = Ynoc()
    with pytest.raises(ConfigError, match="at most the 144,000 samples of the split test, got a size of 144,001"):
        world.source("test", 144_001, seed=0)
    assert len(world.source("test", 144_000, seed=0)) == 144_000
    for rows in ([144_000], [-1]):
        with pytest.raises(DataError, match="ynoc-v1, split test: expected numbers of its 144,000 samples"):
            world.batch(np.array(rows), split="test", seed=0)
    with pytest.raises(DataError, match="numbers of sentences below 720000 from 0, got 720000 to 720000"):
        world.language.write(np.array([720_000]))
    with pytest.raises(ConfigError, match="holds no combination out"):
        world.source("heldout", 1, seed=0)
    with pytest.raises(ConfigError, match='did you mean "train"'):
        world.batch(np.arange(3), split="trian", seed=0)


@pytest.mark.parametrize(
    ("make", "settings", "problems"),
    [
        (Ynoc, {"vocabulary": "real", "article": "the", "split": "pubished", "nuisances": ["templat"]}, 4),
        (Ynoc, {"nuisances": ["template", "template"]}, 1),
        (PartsOfSpeech, {"factors": "order", "cap": 4, "limit": 15, "nuisances": ["kinds"]}, 4),
        (PartsOfSpeech, {"split": "published", "cap": 5}, 1),
        (Letters, {"split": "random"}, 1),
    ],
)
def test_settings_that_cannot_be_used(make, settings, problems):
    with pytest.raises(ConfigError) as caught:
        make(**settings)
    assert len(caught.value.problems) == problems
