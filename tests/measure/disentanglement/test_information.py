"""Counts, entropies, bins and draws against brute force and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import adjusted_mutual_info_score

from molyneux.core import NotApplicableError
from molyneux.measure.disentanglement import adjusted_information, expected_information, tabulate
from molyneux.measure.disentanglement.groups import group
from molyneux.measure.disentanglement.information import (
    bins_for,
    count_pairs,
    entropy,
    equal_width,
    joint_counts,
    library_bins,
    mutual_information,
    published_bins,
)


def related(n=400, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 5, n)
    return first, np.where(rng.random(n) < 0.5, first, rng.integers(0, 7, n))


@given(st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_mutual_information_agrees_with_sklearn(seed):
    first, second = related(200, seed)
    (counts,) = count_pairs(second[:, None], first, width=7, height=5)
    assert mutual_information(counts) == pytest.approx(mutual_info_score(first, second))
    assert entropy(counts.sum(1)) == pytest.approx(mutual_info_score(first, first))


def test_small_cases():
    pairs = np.array([1, 2, 1, 2])
    for other, expected in ((pairs, np.log(2)), (np.array([1, 1, 2, 2]), 0.0)):
        assert mutual_information(count_pairs(other[:, None] - 1, pairs - 1, width=2, height=2))[0] == pytest.approx(expected)
    assert entropy(np.zeros(4)) == 0.0


def test_expected_information_is_that_of_permutations_and_of_sklearn():
    first, second = related()
    (counts,) = count_pairs(second[:, None], first, width=7, height=5)
    expected = expected_information(counts.sum(1), counts.sum(0))
    rng = np.random.default_rng(0)
    permuted = [mutual_info_score(first, rng.permutation(second)) for _ in range(300)]
    assert expected == pytest.approx(np.mean(permuted), abs=4 * np.std(permuted) / np.sqrt(300))
    height, information = entropy(counts.sum(1)), mutual_information(counts)
    adjusted = (information - expected) / (max(height, entropy(counts.sum(0))) - expected)
    assert adjusted == pytest.approx(adjusted_mutual_info_score(first, second, average_method="max"))


def test_bins_keep_or_lose_the_maximum():
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    codes = np.stack([values, values[::-1]], 1)
    assert (library_bins(codes, 3) + 1).T.tolist() == [[1, 1, 2, 2, 3, 3], [3, 3, 2, 2, 1, 1]]
    spread = np.random.default_rng(0).normal(size=(1000, 50))
    for bins in (equal_width, published_bins, library_bins):
        places = bins(spread)
        assert places.max() == 19
        edges = spread.min(0) + np.linspace(0, 1, 21)[:, None] * np.ptp(spread, axis=0)
        inside = (places >= 0).nonzero()
        assert (spread[inside] >= edges[places[inside], inside[1]] - 1e-12).all()
        assert (spread[inside] <= edges[places[inside] + 1, inside[1]] + 1e-12).all()
    lost = published_bins(spread) < 0
    assert 0 < lost.sum() < 50
    assert (spread[lost] == np.broadcast_to(spread.max(0), spread.shape)[lost]).all()
    assert not equal_width(np.ones((4, 2))).any()


def test_joint_counts_of_carriers_in_bins_of_equal_mass():
    rng = np.random.default_rng(0)
    codes, factor = rng.normal(size=(3000, 2)), rng.integers(-1, 3, 3000)
    codes[:, 1] = np.round(codes[:, 1] * 2)
    half = rng.random(3000) < 0.5
    counts = joint_counts(tabulate(codes, factor[:, None]), 0, half)
    carried = factor >= 0
    assert counts.shape == (2, 2, 3, 20)
    assert counts.sum((1, 3)).tolist() == [np.bincount(factor[carried]).tolist()] * 2
    assert counts[0, 1].sum() == (half & carried).sum()
    sizes = counts[0].sum((0, 1))
    assert sizes.max() - sizes.min() <= 1
    distinct, brute = np.unique(codes[carried, 1], return_inverse=True)
    assert len(distinct) <= 20
    assert np.array_equal(
        counts[1].sum(0)[:, : len(distinct)], count_pairs(brute[:, None], factor[carried], width=len(distinct), height=3)[0]
    )


def test_bins_grow_with_values_and_shrink_with_samples():
    even = [bins_for(np.full(values, n // values)) for n, values in ((10_000, 2), (10_000, 30), (100_000, 140), (60, 3), (20, 5))]
    assert even == [20, 60, 280, 12, 5]
    with pytest.raises(NotApplicableError, match="factor 1 has 50 values and needs at least 250 samples that carry it, got 100"):
        adjusted_information(tabulate(np.random.default_rng(0).normal(size=(100, 1)), np.arange(100)[:, None] % 50))


def test_rare_values_fill_bins_of_their_own():
    assert bins_for(np.array([9760, 240])) == 70  # 240 and three standard errors, of 10,000, in two bins
    assert bins_for(np.array([240, 9760])) == 70
    assert bins_for(np.array([990, 10])) == 25  # 20 samples for each value and bin
    assert bins_for(np.full(40, 100)) == 80


def test_knowledge_is_between_nothing_and_everything():
    rng = np.random.default_rng(0)
    factor = rng.integers(0, 40, 8000)
    noisy = np.where(rng.random(8000) < 0.5, factor, rng.integers(0, 40, 8000))
    known = adjusted_information(tabulate(np.stack([factor, factor**3 - 5, noisy, rng.normal(size=8000)], 1), factor[:, None]))[
        :, 0
    ]
    assert known[:2] == pytest.approx([1.0, 1.0])
    assert 0.2 < known[2] < 0.4
    assert known[3] == 0.0


def test_significance_is_what_it_says():
    """One table in a thousand may pass for knowledge; of 200 at most a few."""
    rng = np.random.default_rng(0)
    factor = rng.integers(0, [2, 30], (500, 2))
    found = [adjusted_information(tabulate(rng.normal(size=(500, 3)), factor)).any() for _ in range(200)]
    assert sum(found) <= 3


def test_draws_are_distinct_of_one_value_and_even():
    factor = np.repeat([0, 1, -1], [50, 10, 40])
    order = np.random.default_rng(0).permutation(100)
    groups = group(tabulate(np.zeros((100, 1)), factor[order, None]), 0)
    rows = groups.batches(np.repeat([0, 1], 4000), 20, np.random.default_rng(1))
    assert (factor[order][rows[:4000]] == 0).all()
    assert all(len(set(batch)) == 20 for batch in rows[:100].tolist())
    assert (rows[4000:, 10:] == -1).all()
    assert (np.sort(rows[4000:, :10], axis=1) == np.flatnonzero(factor[order] == 1)).all()
    drawn = np.bincount(rows[:4000].ravel(), minlength=100)[factor[order] == 0]
    assert drawn == pytest.approx(np.full(50, 1600), abs=6 * np.sqrt(1600 * 0.6))
    first = np.bincount(rows[:4000, 0], minlength=100)[factor[order] == 0]
    assert first == pytest.approx(np.full(50, 80), abs=6 * np.sqrt(80))
