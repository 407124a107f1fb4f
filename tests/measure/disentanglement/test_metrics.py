"""The contract: what every metric keeps, in its recommended variant and in all."""

import numpy as np
import pytest

from molyneux.core import ConfigError, NotApplicableError
from molyneux.measure.disentanglement import METRICS, Repeats, outcomes, score_codes, tabulate
from molyneux.measure.disentanglement.table import DEAD

RANKED = sorted(set(METRICS) - {"explicitness"})
"""Those whose recommended variant sees nothing of codes but their order."""

WAYS = [(name, variant) for name, metric in METRICS.items() for variant in metric.variants]


def mixed(n=6000, seed=0):
    """Codes that know two of three factors well, one of them twice, and one dimension of noise."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, [3, 6, 2], (n, 3))
    clean = factors[:, [0, 1, 1]] + 0.3 * rng.normal(size=(n, 3))
    return np.column_stack([clean, rng.normal(size=n)]), factors


def scores(codes, factors, metric, variant="recommended", seed=1):
    return {name: outcome.value for name, outcome in outcomes(codes, factors, metric, variant=variant, seed=seed).items()}


def test_the_registry_is_sorted_and_complete():
    assert list(METRICS) == sorted(METRICS) == ["dci", "explicitness", "higgins", "irs", "kim_mnih", "mig", "modularity", "sap"]
    assert all(
        name == metric.name and metric.description.endswith(".") and "recommended" in metric.variants
        for name, metric in METRICS.items()
    )


@pytest.mark.parametrize(("metric", "variant"), WAYS, ids="-".join)
def test_every_way_gives_the_same_finite_numbers_again(metric, variant):
    codes, factors = mixed(12_000)
    if (metric, variant) == ("dci", "dlib"):
        codes, factors = codes[:300], factors[:300]
    found = outcomes(codes, factors, metric, variant=variant, seed=1)
    first = {name: outcome.value for name, outcome in found.items()}
    assert first == scores(codes, factors, metric, variant)
    assert all(-1 <= value <= 1 for value in first.values())
    assert tuple(first) == METRICS[metric].scores
    for name, outcome in found.items():
        if outcome.factors is not None and name != "dci_completeness":
            assert outcome.factors.mean() == pytest.approx(outcome.value)
        assert outcome.matrix is None or outcome.matrix.shape == (4, 3)


@pytest.mark.parametrize("metric", METRICS)
def test_the_order_of_dimensions_and_the_names_of_values_do_not_count(metric):
    codes, factors = mixed()
    before = scores(codes, factors, metric)
    renamed = np.array([7, 2, 9, 4, 0, 5])[factors]
    for changed in (scores(codes[:, [2, 0, 3, 1]], factors, metric), scores(codes, renamed, metric)):
        assert changed == pytest.approx(before, abs=0.03 if metric == "dci" or changed is not before else 1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_sign_and_scale_do_not_count(metric):
    codes, factors = mixed()
    before = scores(codes, factors, metric)
    assert scores(codes * [1, 3, 0.2, 1] + [5, 0, -2, 1], factors, metric) == pytest.approx(before, abs=1e-6)
    assert scores(codes * [1, -1, -1, 1], factors, metric) == pytest.approx(before, abs=0.02)


@pytest.mark.parametrize("metric", RANKED)
def test_rising_functions_of_dimensions_change_nothing(metric):
    codes, factors = mixed()
    bent = np.column_stack([np.exp(codes[:, 0] / 3), np.sinh(codes[:, 1] / 3), np.arctan(codes[:, 2]) * 3, codes[:, 3] ** 3 / 5])
    assert scores(bent, factors, metric) == scores(codes, factors, metric)


@pytest.mark.parametrize("metric", METRICS)
def test_dead_dimensions_change_nothing(metric):
    codes, factors = mixed()
    rng = np.random.default_rng(2)
    noise = 0.1 * np.sqrt(DEAD * codes.var(0).max()) * rng.normal(size=len(codes))
    dead = np.column_stack([np.full(len(codes), 0.1), codes, noise, np.zeros(len(codes))])
    assert scores(dead, factors, metric) == scores(codes, factors, metric)
    nothing = outcomes(dead[:, [0, -1]], factors, metric)
    assert {outcome.value for outcome in nothing.values()} == {0.0}
    assert {outcome.note for outcome in nothing.values()} == {"no dimension of the code varies"}


def test_dead_dimensions_ruin_published_variants():
    codes, factors = mixed(12_000)
    dead = np.column_stack([codes, np.zeros(len(codes))])
    broken = outcomes(dead, factors, "modularity", variant="published")["modularity"]
    assert np.isnan(broken.value)
    assert broken.note == "a dimension without information makes the published formula 0/0"
    assert (
        scores(dead, factors, "kim_mnih", "published")["kim_mnih"]
        < 0.4
        < scores(codes, factors, "kim_mnih", "published")["kim_mnih"]
    )


@pytest.mark.parametrize("metric", METRICS)
def test_known_factors_score_above_noise_and_below_themselves(metric):
    codes, factors = mixed()
    noise = np.random.default_rng(3).normal(size=codes.shape)
    best, some, none = (scores(given, factors, metric) for given in (factors, codes, noise))
    for name, value in best.items():
        assert value == pytest.approx(1.0, abs=0.01)
        assert none[name] < some[name] <= value + 1e-9
        assert none[name] == pytest.approx(0.0, abs=0.08)


@pytest.mark.parametrize("metric", METRICS)
def test_few_samples_and_rare_values_do(metric):
    """Three carriers of a value, thirty of a factor: the recommended variants ask for no more."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [2, 3], (200, 2))
    factors[30:, 1] = -1
    factors[:3, 1] = 2
    codes = factors + 0.1 * rng.normal(size=factors.shape)
    assert all(np.isfinite(list(scores(codes, factors, metric).values())))


def test_a_single_dimension_and_a_single_factor():
    codes, factors = mixed()
    assert scores(codes[:, :1], factors, "mig")["mig"] > 0.2
    for metric in ("modularity", "higgins", "kim_mnih", "dci"):
        with pytest.raises(NotApplicableError, match=f"{metric} needs at least 2 factors, got 1"):
            outcomes(codes, factors[:, :1], metric)
    for metric in ("mig", "sap"):
        with pytest.raises(NotApplicableError, match=f"{metric} needs at least 2 dimensions, got 1"):
            outcomes(codes[:, :1], factors, metric, variant="published")


def test_a_copy_of_every_dimension_does_not_hide_what_forests_need():
    _, factors = mixed()
    found = scores(np.tile(factors, 6), factors, "dci")
    assert found["dci_disentanglement"] == pytest.approx(1.0, abs=0.01)
    assert found["dci_completeness"] == pytest.approx(1 - np.log(6) / np.log(18), abs=0.1)


@pytest.mark.parametrize("metric", ["higgins", "kim_mnih"])
def test_published_draws_need_enough_of_each_value(metric):
    codes, factors = mixed(300)
    with pytest.raises(NotApplicableError, match=f"{metric} as published draws 64 samples of one value, got a value of factor 2"):
        outcomes(codes, factors, metric, variant="published")
    rare = np.where(np.arange(300) < 3, 0, np.arange(300) // 3)
    with pytest.raises(NotApplicableError, match=f"{metric} needs a value of factor 1 with 4 samples in each"):
        METRICS[metric].variants["recommended"](tabulate(codes, np.stack([rare, factors[:, 0]], 1)), np.random.default_rng(0))


def test_unknown_names_are_answered_with_the_nearest():
    codes, factors = mixed(100)
    with pytest.raises(ConfigError, match="unknown metric 'migg'; did you mean \"mig\""):
        outcomes(codes, factors, "migg")
    with pytest.raises(ConfigError, match=r"unknown metric \['mig'\]"):
        outcomes(codes, factors, ["mig"])
    with pytest.raises(ConfigError, match="mig has no variant 'paper'"):
        outcomes(codes, factors, "mig", variant="paper")


@pytest.mark.parametrize("metric", METRICS)
def test_two_carriers_are_too_few_for_most_and_harm_none(metric):
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 2, (100, 2))
    factors[2:, 1], factors[:2, 1] = -1, (0, 1)
    codes = factors + 0.1 * rng.normal(size=factors.shape)
    with pytest.raises(NotApplicableError, match="factor 2"):
        outcomes(codes, factors, metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("values", [(2, 300), (2, 2, 300), (140, 2, 5)])
def test_noise_is_worth_nothing_however_many_values_factors_have(metric, values):
    """Factors of many values leave few samples a value, and a maximum over factors is above its mean."""
    spread, seeds = 0.06 if metric == "higgins" else 0.012, 2 if metric == "dci" else 4
    found = noise_scores(metric, values, samples=3000, seeds=seeds)
    assert np.mean(found) == pytest.approx(0.0, abs=4 * spread / np.sqrt(seeds))


def test_batches_of_rare_values_are_not_told_by_their_noise():
    """A linear classifier gains 0.04 from batches of 10 beside such of 64 where all else is alike."""
    assert np.mean(noise_scores("higgins", (2, 500), samples=10_000, seeds=20)) == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize("metric", ["mig", "sap", "dci", "modularity"])
def test_codes_of_intervals_know_nearly_everything_however_rare_a_value_is(metric):
    """Each value is an interval of its dimension, as of posterior means; all but what bins mix on their edges is known."""
    rng = np.random.default_rng(0)
    zipf = rng.choice(10, 20_000, p=1 / np.arange(1, 11) / np.sum(1 / np.arange(1, 11)))
    even = rng.integers(0, [2, 40], (20_000, 2))
    factors = np.column_stack([rng.random(20_000) < 0.024, rng.random(20_000) < 0.075, zipf, even]).astype(int)
    for name, outcome in outcomes(factors + rng.uniform(0, 0.5, factors.shape), factors, metric).items():
        found = outcome.value if outcome.factors is None else outcome.factors
        assert np.min(found) > (0.85 if name == "sap" else 0.92), name


@pytest.mark.parametrize("metric", ["higgins", "kim_mnih", "mig", "sap", "modularity", "explicitness"])
@pytest.mark.parametrize("kind", ["one of two", "all three"])
def test_codes_that_are_nearly_always_the_same_tell_nothing_by_small_batches(metric, kind):
    """A factor of many values has small batches, in which a sparse dimension often does not vary at all."""
    found = []
    seeds = 4
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        factors, normal = rng.integers(0, (2, 300), (5000, 2)), rng.normal(size=(5000, 3))
        sparse = np.column_stack([normal[:, 0] > 2, normal[:, 1]]).astype(float)
        codes = sparse if kind == "one of two" else np.maximum(normal - [0, 1, 2], 0)
        found += scores(codes, factors, metric, seed=seed).values()
    spread = 0.15 if metric == "higgins" else 0.05
    assert np.mean(found) == pytest.approx(0.0, abs=4 * spread / np.sqrt(seeds))


def test_scores_of_dimensions_that_are_hardly_used_stay_in_bounds():
    """The 99 % quantile is 0 or 1 by chance for a dimension that is another number in 0.9 % of the samples."""
    rng = np.random.default_rng(0)
    factors = np.stack([rng.integers(0, k, 10_000) for k in (2, 5)], 1)
    codes = (rng.random((10_000, 2)) < 0.009).astype(float)
    for seed in range(4):
        assert -1 <= scores(codes, factors, "irs", seed=seed)["irs"] <= 1
        (score, *_) = score_codes(codes, factors, metrics=["irs"], repeats=Repeats(permutations=1, resamples=3), seed=seed)
        assert -1 <= score.interval[0] <= score.value <= score.interval[1] <= 1


@pytest.mark.parametrize("factor", [1e155, 1e-170])
def test_codes_may_be_huge_or_tiny(factor):
    codes, factors = mixed()
    for metric in ("mig", "kim_mnih"):
        assert scores(factor * codes, factors, metric) == pytest.approx(scores(codes, factors, metric))


def noise_scores(metric, values, *, samples, seeds):
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        factors = rng.integers(0, values, (samples, len(values)))
        found += scores(rng.normal(size=(samples, 4)), factors, metric, seed=seed).values()
    return found


def test_what_scikit_learn_cannot_fit_is_said_in_our_words():
    rng = np.random.default_rng(0)
    factors = np.stack([rng.permutation(60) < 1, rng.integers(0, 2, 60)], 1).astype(int)
    codes = rng.normal(size=(60, 2))
    seen = set()
    for seed in range(8):
        for metric in ("dci", "sap", "explicitness"):
            try:
                outcomes(codes, factors, metric, variant="dlib", seed=seed)
            except NotApplicableError as error:
                seen.add(str(error))
    assert seen == {
        f"{metric} dlib needs two values of factor 1 among the 40 samples it fits, got one: "
        "give more samples or use the recommended variant"
        for metric in ("dci", "sap", "explicitness")
    }


def test_dimensions_of_other_scales_are_kept_where_scales_mean_nothing():
    factors = np.random.default_rng(0).integers(0, [2, 255], (20_000, 2))
    assert outcomes(factors, factors, "mig")["mig"].value == pytest.approx(0.5, abs=0.01)
    assert outcomes(factors, factors, "mig", dead=0)["mig"].value == pytest.approx(1.0, abs=0.01)
