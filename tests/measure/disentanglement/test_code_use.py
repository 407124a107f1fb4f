import numpy as np
import pytest
import torch
from scipy.stats import entropy
from torch.distributions import Categorical, Independent, Normal

from molyneux.core import Batch, Codes, ConfigError, Modality, NotApplicableError, Posterior, Spec
from molyneux.data import ArraySource
from molyneux.learn.likelihoods import CategoricalViews
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.measure import CodeUse, Evaluation
from molyneux.measure.disentanglement import hoyer
from molyneux.measure.reconstruction import SymbolFrequencies

SPEC = Spec((Modality("table", "tabular", (4,)),))
N = 5000


class Linear:
    """Codes are the first two of four numbers halved, with deviation 0.5, and a third dimension that says nothing."""

    def encode(self, batch: Batch, observed=None):
        table = batch.views["table"]
        mean = torch.stack([table[:, 0] / 2, table[:, 1] / 2, torch.zeros(len(table))], 1)
        return Posterior(DiagonalNormal(mean, torch.tensor([0.25, 0.25, 1.0]).log().expand_as(mean)))

    def decode(self, codes: Codes, only=None):
        mean = torch.cat([2 * codes.shared[..., :2], torch.zeros_like(codes.shared[..., :2])], -1)
        return {"table": Independent(Normal(mean, 1.0, validate_args=False), 1, validate_args=False)}

    def prior(self, size):
        return Posterior(DiagonalNormal.standard((size, 3)))


class Deterministic(Linear):
    def prior(self, size):
        raise NotApplicableError("no prior")


def evaluation(model):
    table = torch.from_numpy(np.random.default_rng(0).standard_normal((N, 4)).astype(np.float32))
    return Evaluation(model, ArraySource(SPEC, Batch({"table": table})), seed=1, samples=N)


def found(model):
    return {(score.name, score.about.get("variant", "")): score for score in CodeUse()(evaluation(model)).scores}


def test_numbers_are_those_of_the_closed_forms():
    scores = found(Linear())
    # KL(N(m, 1/4) || N(0, 1)) = (m^2 + 1/4 - 1 + ln 4) / 2, with E m^2 = 1/4, twice
    assert scores["code_use.rate", ""].value == pytest.approx(0.25 + 0.25 - 1 + np.log(4), abs=0.06)
    # squared errors: (2 * 0.5 * noise)^2 = 1 for two numbers, 1 for the other two
    assert scores["code_use.distortion", ""].value == pytest.approx(0.5 * 4 + 2 * np.log(2 * np.pi), abs=0.1)
    assert scores["code_use.active_units", ""].value == 2
    assert scores["code_use.total_correlation", ""].value == pytest.approx(0, abs=4e-3)
    means = np.random.default_rng(0).standard_normal((N, 4)).astype(np.float32)[:, :2] / 2
    assert scores["code_use.hoyer", ""].value == pytest.approx(hoyer(means.astype(float)), abs=1e-6)
    assert abs(scores["code_use.hoyer", "centred"].value - scores["code_use.hoyer", ""].value) < 0.02
    for name, control, expected in (
        ("code_use.hoyer", "normal codes", hoyer(np.random.default_rng(1).standard_normal((N, 3)))),
        ("code_use.total_correlation", "independent dimensions", 0.0),
    ):
        assert scores[name, ""].controls[control] == pytest.approx(expected, abs=1e-2)
        low, high = scores[name, ""].interval
        assert low <= scores[name, ""].value + 4e-3 <= high + 8e-3
    assert scores["code_use.distortion", ""].about == {"source": "table", "target": "table"}


class Guessing(Linear):
    """Reads two letters as numbers and writes any of four symbols."""

    def encode(self, batch: Batch, observed=None):
        mean = batch.views["text"].float()
        return Posterior(DiagonalNormal(mean, torch.zeros_like(mean)))

    def decode(self, codes: Codes, only=None):
        return {"text": Independent(Categorical(logits=torch.zeros(*codes.shared.shape[:-1], 2, 4)), 1)}

    def prior(self, size):
        return Posterior(DiagonalNormal.standard((size, 2)))


def test_distortion_of_texts_stands_beside_the_frequencies_of_their_symbols():
    ids = np.random.default_rng(0).choice(3, p=[0.5, 0.25, 0.25], size=(500, 2)).astype(np.uint8)
    spec = Spec((Modality("text", "text", (2,), "uint8", symbols=tuple("abcd")),))
    source = ArraySource(spec, Batch({"text": torch.from_numpy(ids)}))
    scores = CodeUse().measure(Evaluation(Guessing(), source, seed=1, samples=500)).scores
    (score,) = (score for score in scores if score.name == "code_use.distortion")
    assert score.value == pytest.approx(2 * np.log(4))
    assert score.controls["constant"] == pytest.approx(sum(entropy(np.bincount(column)) for column in ids.T))


def test_texts_are_counted_up_to_their_end():
    """The control is what a model of these frequencies pays, padding apart: none of the symbols behind `end` is asked for."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 4, 500)
    ids = np.where(
        np.arange(4) < lengths[:, None], rng.integers(2, 4, (500, 4)), np.where(np.arange(4) == lengths[:, None], 1, 0)
    )
    spec = Spec((Modality("text", "text", (4,), "uint8", symbols=tuple("_.ab"), end=1, padding=0),))
    frequencies = SymbolFrequencies(spec.modality("text"))
    for part in (ids[:123], ids[123:]):
        frequencies.add(torch.from_numpy(part.astype(np.uint8)))
    counted = np.arange(4) <= lengths[:, None]
    logits = np.full((4, 4), -np.inf)
    for place in range(4):
        shares = np.bincount(ids[counted[:, place], place], minlength=4) / max(1, counted[:, place].sum())
        logits[place] = np.log(np.where(shares > 0, shares, 1e-30))
    model = CategoricalViews(torch.from_numpy(logits.T).expand(500, 4, 4), torch.Size([500]), spec.modality("text"))
    assert frequencies.log_likelihood == pytest.approx(float(model.log_prob(torch.from_numpy(ids)).mean()))


def test_a_dimension_that_only_some_resamples_vary_in_has_no_interval():
    """Posterior means of a collapsed dimension may differ in their last bit for a few samples."""
    table = np.random.default_rng(0).standard_normal((400, 4)).astype(np.float32)
    table[:, 1], table[:2, 1] = 0.5, 0.6
    source = ArraySource(SPEC, Batch({"table": torch.from_numpy(table)}))
    scores = {
        (score.name, score.about.get("variant", "")): score
        for score in CodeUse()(Evaluation(Deterministic(), source, seed=1, samples=400)).scores
    }
    assert scores["code_use.hoyer", ""].value > 0.5
    assert scores["code_use.hoyer", ""].interval is None


def test_a_model_without_a_prior_has_no_rate():
    scores = found(Deterministic())
    assert ("code_use.rate", "") not in scores
    assert scores["code_use.active_units", ""].value == 2


def test_one_sample_has_no_spread():
    with pytest.raises(ConfigError, match="samples: expected at least 2, got 1"):
        CodeUse(samples=1)
