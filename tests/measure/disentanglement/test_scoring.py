"""Scores with chance, ceiling and interval; bad input; and the measure of a model's codes."""

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, DataError, NotApplicableError, Posterior
from molyneux.measure import Disentanglement
from molyneux.measure.disentanglement import METRICS, Repeats, outcomes, score_codes, tabulate

FAST = ("mig", "modularity", "sap")


def noisy(n, seed, noise=0.6):
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, [3, 5], (n, 2))
    return factors + noise * rng.normal(size=(n, 2)), factors


def find(scores, name, **about):
    (score,) = [score for score in scores if score.name == f"disentanglement.{name}" and dict(score.about) == about]
    return score


def test_scores_stand_beside_chance_ceiling_and_interval():
    codes, factors = noisy(2000, 0)
    scores = score_codes(
        codes, factors, names=("shape", "size"), metrics=("mig", "kim_mnih"), variants=("recommended", "published")
    )
    for metric in ("mig", "kim_mnih"):
        score = find(scores, metric, variant="recommended")
        assert score.n == 2000
        assert score.bounds == METRICS[metric].bounds
        assert score.chance == pytest.approx(0.0, abs=0.1)
        assert score.controls["true factors"] == pytest.approx(1.0, abs=0.02)
        low, high = score.interval or (score.value, score.value)  # where all halves agree there is none
        assert low <= score.value <= high
    by_factor = [find(scores, "mig", variant="recommended", factor=name).value for name in ("shape", "size")]
    assert np.mean(by_factor) == pytest.approx(find(scores, "mig", variant="recommended").value)
    assert find(scores, "kim_mnih", variant="published").chance == pytest.approx(0.5, abs=0.1)
    refused = find(scores, "mig", variant="published")
    assert refused.value is None
    assert refused.note.startswith("not applicable: mig draws 10,000 samples that have the factor shape, got 2,000")
    again = score_codes(codes, factors, names=("shape", "size"), metrics=("mig",))
    assert again == tuple(score for score in scores if score.name.endswith("mig") and score.about["variant"] == "recommended")


def test_factors_that_depend_on_each_other_have_a_lower_ceiling():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 4, 3000)
    factors = np.stack([first, np.where(rng.random(3000) < 0.5, first, rng.integers(0, 4, 3000))], 1)
    score = find(score_codes(factors, factors, metrics=("mig",)), "mig", variant="recommended")
    assert score.controls["true factors"] == score.value < 0.9


@pytest.mark.parametrize("metric", FAST)
def test_intervals_cover_what_many_samples_give(metric):
    truth = np.mean([outcomes(*noisy(60_000, seed), metric)[metric].value for seed in (100, 101)])
    covered = 0
    for seed in range(25):
        score = find(score_codes(*noisy(1500, seed), metrics=(metric,), seed=seed), metric, variant="recommended")
        low, high = score.interval or (score.value, score.value)  # where all halves agree there is none
        covered += low - 0.01 <= truth <= high + 0.01
        assert high - low < 0.25
    assert covered >= 21


def test_fewer_repeats_for_what_trains():
    assert Repeats(permutations=5, resamples=20).of(METRICS["dci"]) == (3, 3)
    assert Repeats(permutations=5, resamples=20).of(METRICS["mig"]) == (5, 20)
    codes, factors = noisy(500, 0)
    scores = score_codes(codes, factors, metrics=("mig",), repeats=Repeats(permutations=1, resamples=0))
    assert {score.interval for score in scores} == {None}
    with pytest.raises(ConfigError, match="permutations: expected at least 1, got 0"):
        Repeats(permutations=0)


@pytest.mark.parametrize(
    ("codes", "factors", "error", "message"),
    [
        ([[1.0], [2.0]], [[0], [1, 2]], DataError, "factors: expected rows of the same length, got ragged ones"),
        ([[1.0], [2.0]], [[0.5], [1.0]], DataError, "factors: expected integers, got float64: number the values"),
        ([[1.0], [2.0]], [[0.0], [1.0]], DataError, "factors: expected integers, got float64: turn them into integers"),
        ([[1.0], [2.0]], [["a"], ["b"]], DataError, "factors: expected integers, got <U1: number the values"),
        ([[1.0], [2.0]], [[False], [True]], DataError, "factors: expected integers, got bool: turn them into integers"),
        ([[1.0], [2.0]], np.array([[0], [2**63]], np.uint64), DataError, "factors: expected numbers of values below 2"),
        ([[1.0], [2.0]], [[0], [-2]], DataError, "factors: expected codes from 0, and -1 for absent, got -2"),
        ([[1.0], [2.0]], [0, 1], DataError, r"factors: expected \(samples, factors\), got shape \(2,\)"),
        ([[1.0], [2.0]], [[0], [1], [0]], DataError, "expected a row of factors for each code, got 2 codes and 3 rows"),
        ([1.0, 2.0], [[0], [1]], DataError, r"codes: expected \(samples, dimensions\), at least one dimension, got shape \(2,\)"),
        ([[1.0], ["x"]], [[0], [1]], DataError, r"codes: expected real numbers \(samples, dimensions\), got <U32"),
        ([[1.0], [np.nan]], [[0], [1]], DataError, r"got 1 that are not, the first \(nan\) in row 1, dimension 0"),
        ([[1j], [2.0]], [[0], [1]], DataError, r"codes: expected real numbers \(samples, dimensions\), got complex128"),
        (torch.ones(2, 1, requires_grad=True), [[0], [1]], DataError, "codes: expected numbers .* requires grad"),
        ([[1.0], [2.0]], [[3], [3]], NotApplicableError, "factor 1 takes one value only in 2 samples, two are needed"),
        ([[1.0], [2.0]], [[-1], [-1]], NotApplicableError, "factor 1 takes no value in 2 samples, two are needed"),
    ],
)
def test_bad_input_is_told_in_one_sentence(codes, factors, error, message):
    with pytest.raises(error, match=message) as told:
        tabulate(codes, factors)
    assert "\n" not in str(told.value)


def test_what_is_left_out_as_dead_is_said():
    codes, factors = noisy(500, 0)
    wide = np.column_stack([codes, np.zeros(500), 1e-5 * codes[:, 0]])
    found = score_codes(wide, factors, metrics=["mig"], variants=["recommended", "published"], repeats=Repeats(1, 0))
    assert find(found, "mig", variant="recommended").note == "2 of 4 dimensions left out as dead"
    assert find(found, "mig", variant="recommended", factor="factor 1").note == ""
    assert "dead" not in find(found, "mig", variant="published").note
    kept = score_codes(wide, factors, metrics=["mig"], dead=0, repeats=Repeats(1, 0))
    assert find(kept, "mig", variant="recommended").note == "1 of 4 dimensions left out as dead"
    assert kept[0].origin["dead"] == 0


def test_presence_is_a_factor_of_scores_of_arrays_too():
    codes, factors = noisy(500, 0)
    factors[::2, 1] = -1
    found = score_codes(codes, factors, metrics=["mig"], presence=True, repeats=Repeats(1, 0))
    assert {score.about.get("factor") for score in found} == {None, "factor 1", "factor 2", "factor 2 is present"}
    assert outcomes(codes, factors, "mig", presence=True)["mig"].matrix.shape == (2, 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variants": ["publishd"]}, "unknown variant 'publishd'; did you mean \"published\""),
        ({"variants": "recommended"}, "variants: expected a list of names, got the text 'recommended'"),
        ({"metrics": "mig"}, "metrics: expected a list of names, got the text 'mig'"),
        ({"metrics": ["migg"]}, "unknown metric 'migg'"),
    ],
)
def test_words_that_nobody_knows_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        score_codes(*noisy(100, 0), **settings)


def test_names_have_to_fit():
    with pytest.raises(DataError, match=r"expected a different name for each of 1 factors, got \['a', 'b'\]"):
        tabulate([[1.0], [2.0]], [[0], [1]], names=("a", "b"))
    for names in ("a", [""], [1]):
        with pytest.raises(DataError, match="names: expected a list of texts that are not empty"):
            tabulate([[1.0], [2.0]], [[0], [1]], names=names)


@pytest.mark.parametrize("dead", [-1, 1, np.nan])
def test_dead_is_a_share(dead):
    with pytest.raises(ConfigError, match="dead: expected a share of at least 0 and below 1"):
        outcomes(*noisy(100, 0), "mig", dead=dead)


class Place:
    def __init__(self, mean):
        self.mean = mean

    def rsample(self, sample_shape=(), generator=None):
        return self.mean + 0.3 * torch.randn(*sample_shape, *self.mean.shape, generator=generator)

    def log_prob(self, value):
        return torch.zeros(value.shape[:-1])


class Coder:
    """Shared codes: shape and size in a dimension each, and a dead one. The private code of the image holds the tilt."""

    def encode(self, batch, observed=None):
        shape, size, tilt = batch.factors.float().T
        shared = torch.stack([shape, 2 - size, torch.zeros_like(size)], 1)
        return Posterior(Place(shared), {"image": Place(tilt[:, None])})


def test_the_measure_says_what_each_code_knows(tiny):
    measured = Disentanglement(metrics=FAST, resamples=3, permutations=1)(tiny.evaluation(Coder(), n=1500))

    def value(name, **about):
        return tiny.find(measured, f"disentanglement.{name}", variant="recommended", **about).value

    for source in ("image", "text", ("image", "text")):
        assert value("mig", source=source, code="shared", factor="shape") == pytest.approx(1.0, abs=0.01)
        assert value("mig", source=source, code="shared", factor="tilt") == 0.0
    assert value("sap", source="image", code="private.image", factor="tilt") == pytest.approx(1.0)
    (gallery,) = measured.exhibits
    assert gallery.columns == ("dimension", "shape", "size", "tilt")
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in gallery.rows}
    assert rows["shared given image and text, 1"] == ["1.00", "", ""]
    assert rows["private.image given image, 1"] == ["", "", "1.00"]
    assert "shared given image, 3" not in rows
    sampled = Disentanglement(metrics=("mig",), draw="sample", resamples=0)(tiny.evaluation(Coder(), n=1500))
    by_mean, by_sample = (
        tiny.find(found, "disentanglement.mig", source="image", code="shared", factor="shape").value
        for found in (measured, sampled)
    )
    assert by_sample < by_mean


def test_factors_that_do_not_vary_are_left_out_and_presence_is_one(tiny):
    rows = tiny.rows(600)
    factors = tiny.combinations[rows].copy()
    factors[:, 2] = 1
    factors[::2, 0] = -1
    evaluation = tiny.evaluation(Coder(), source=tiny.Source(rows, factors=factors))
    measured = Disentanglement(metrics=("mig",), presence=True, resamples=0)(evaluation)
    score = tiny.find(measured, "disentanglement.mig", source="image", code="shared", factor="shape is present")
    assert score.origin["left out"] == ["tilt"]
    assert score.value > 0.9
    factors[:] = 1
    with pytest.raises(NotApplicableError, match="no factor takes two values among the samples"):
        Disentanglement()(evaluation)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metrics": ["mgi"]}, "unknown metric 'mgi'; did you mean \"mig\""),
        ({"variants": ["best"]}, "unknown variant 'best'"),
        ({"draw": "mode"}, "unknown draw 'mode'"),
        ({"samples": 3}, "samples: expected at least 20, got 3"),
        ({"dead": 1.0}, "dead: expected a share of at least 0 and below 1, got 1.0"),
        ({"resamples": -1}, "resamples: expected at least 0, got -1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ConfigError, match=message):
        Disentanglement(**settings)
