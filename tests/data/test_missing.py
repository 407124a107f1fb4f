import itertools

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError
from molyneux.data import ArraySource, Missing


def masks(source, rows):
    batch = source.batch(rows)
    return np.stack([batch.mask(name).numpy() for name in source.spec.names], 1)


def test_follows_the_conditional_distribution(make):
    """Shares of all patterns against brute force: independent, given that one is present."""
    source, _ = make(40_000)
    rates = {"image": 0.8, "text": 0.5, "touch": 0.9}
    found = masks(Missing(source, rates, seed=3), np.arange(40_000))
    weights = {
        pattern: np.prod([1 - rate if here else rate for here, rate in zip(pattern, rates.values(), strict=True)])
        for pattern in itertools.product((False, True), repeat=3)
        if any(pattern)
    }
    for pattern, weight in weights.items():
        expected = weight / sum(weights.values())
        share = (found == pattern).all(1).mean()
        assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / 40_000), pattern
    assert found.any(1).all()


def test_a_sample_keeps_its_mask(make):
    missing = Missing(make(200)[0], {"image": 0.5, "text": 0.5}, seed=1)
    whole = masks(missing, np.arange(200))
    rows = np.random.default_rng(0).permutation(200)
    np.testing.assert_array_equal(masks(missing, rows), whole[rows])
    assert whole[:, 2].all()
    assert (masks(Missing(make(200)[0], {"image": 0.5, "text": 0.5}, seed=2), np.arange(200)) != whole).any()


def test_what_is_missing_stays_missing(make):
    source, batch = make(300, masks=True)
    found = masks(Missing(source, {"text": 1.0, "touch": 1.0}, seed=1), np.arange(300))
    gone = ~batch.present["image"].numpy()
    assert not found[gone, 0].any()
    assert found[gone, 1:].any(1).sum() == 0  # nothing that could be present is left: rates of 1 are kept
    assert found[~gone, 0].all()
    never_empty = masks(Missing(source, {"image": 0.5, "text": 0.9, "touch": 0.9}, seed=1), np.arange(300))
    assert never_empty.any(1).all()


def test_rates_that_cannot_be_used(make):
    source, _ = make(3)
    with pytest.raises(ConfigError) as caught:
        Missing(source, {"imaeg": 0.1, "text": 1.5}, seed=0)
    assert caught.value.problems == (
        "unknown modality 'imaeg'; did you mean \"image\"?",
        "expected a rate from 0 to 1 for text, got 1.5",
    )
    with pytest.raises(ConfigError, match="nothing would be left"):
        Missing(source, {"image": 1, "text": 1, "touch": 1}, seed=0)


def test_views_are_untouched(make):
    source, batch = make(10)
    found = Missing(source, {"image": 0.9}, seed=0).batch(np.arange(10))
    assert all(torch.equal(found.views[name], batch.views[name]) for name in batch.views)
    assert isinstance(source, ArraySource)
