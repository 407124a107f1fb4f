import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from torch.distributions import Independent, Normal

from molyneux.core import Batch, Codes, ConfigError, Modality, NotApplicableError, Posterior, Spec
from molyneux.measure import Likelihood

LOADINGS = {"left": torch.tensor([[1.0, 0.5], [0.2, -0.7]]), "right": torch.tensor([[0.3, 1.0]])}


class Cloud:
    """Codes from a normal distribution given by mean (B, D) and covariance (D, D)."""

    def __init__(self, mean, covariance):
        self.mean, self.root = mean, torch.linalg.cholesky(covariance)

    def rsample(self, sample_shape=(), generator=None):
        return self.mean + torch.randn(*sample_shape, *self.mean.shape, generator=generator) @ self.root.T

    def log_prob(self, value):
        return torch.distributions.MultivariateNormal(self.mean, scale_tril=self.root).log_prob(value)


class FactorAnalysis:
    """x_m = W_m z + noise of variance 1, with its exact posterior: every bound is the exact log-likelihood."""

    def encode(self, batch, observed=None):
        precision = torch.eye(2) + sum(LOADINGS[name].T @ LOADINGS[name] for name in observed)
        covariance = torch.linalg.inv(precision)
        return Posterior(Cloud(sum(batch.views[name] @ LOADINGS[name] for name in observed) @ covariance, covariance))

    def prior(self, size):
        return Posterior(Cloud(torch.zeros(size, 2), torch.eye(2)))

    def decode(self, codes, only=None):
        return {name: Independent(Normal(codes.shared @ LOADINGS[name].T, 1.0), 1) for name in only}

    def log_likelihood(self, batch, k, generator=None):
        observed = [name for name in LOADINGS if bool(batch.mask(name).all())]
        posterior = self.encode(batch, observed)
        z = posterior.shared.rsample((k,), generator)
        total = self.prior(len(batch)).shared.log_prob(z) - posterior.shared.log_prob(z)
        for name, made in self.decode(Codes(z), observed).items():
            total = total + made.log_prob(batch.views[name])
        return total.logsumexp(0) - math.log(k)


class Samples:
    spec = Spec((Modality("left", "tabular", (2,)), Modality("right", "tabular", (1,))))

    def __init__(self, n):
        noise = torch.Generator().manual_seed(0)
        z = torch.randn(n, 2, generator=noise)
        self.views = {name: z @ weights.T + torch.randn(n, len(weights), generator=noise) for name, weights in LOADINGS.items()}

    def __len__(self):
        return len(self.views["left"])

    def batch(self, indices):
        return Batch({name: view[indices] for name, view in self.views.items()})


def log_density(x, weights):
    return multivariate_normal(cov=(weights @ weights.T + torch.eye(len(weights))).numpy()).logpdf(x.numpy())


def test_bounds_of_an_exact_posterior_are_the_log_likelihood(tiny):
    source = Samples(300)
    measured = Likelihood(k=4)(tiny.evaluation(FactorAnalysis(), source=source, readers={}, exact={}))
    both = log_density(torch.cat(list(source.views.values()), 1), torch.cat(list(LOADINGS.values())))
    for name in ("likelihood.elbo", "likelihood.iwae"):
        score = next(score for score in measured.scores if score.name == name and not score.about)
        assert score.value == pytest.approx(both.mean(), abs=1e-4)
        assert (score.unit, score.n) == ("nats", 300)
        assert score.interval[0] < score.value < score.interval[1]
    for name, weights in LOADINGS.items():
        score = tiny.find(measured, "likelihood.iwae", target=name)
        assert score.value == pytest.approx(log_density(source.views[name], weights).mean(), abs=1e-4)


def test_the_conditional_is_the_predictive_density(tiny):
    source = Samples(100)
    measured = Likelihood(k=1000)(tiny.evaluation(FactorAnalysis(), source=source, readers={}, exact={}))
    score = tiny.find(measured, "likelihood.conditional", source="left", target="right")
    both = log_density(torch.cat(list(source.views.values()), 1), torch.cat(list(LOADINGS.values())))
    expected = (both - log_density(source.views["left"], LOADINGS["left"])).mean()
    assert score.value == pytest.approx(expected, abs=0.02)


def test_samples_and_k_are_limits(tiny):
    measured = Likelihood(k=2, samples=50)(tiny.evaluation(FactorAnalysis(), source=Samples(100), readers={}, exact={}))
    assert {score.n for score in measured.scores} == {50}
    assert measured.scores[0].origin["k"] == 2
    with pytest.raises(ConfigError, match="k: expected at least 1, got 0"):
        Likelihood(k=0)


def test_models_without_a_likelihood_are_told(tiny):
    with pytest.raises(NotApplicableError, match=r"estimates log-likelihoods .* Oracle does not"):
        Likelihood()(tiny.evaluation(tiny.Oracle()))


def test_infinite_values_become_a_score_without_a_value(tiny):
    class Broken(FactorAnalysis):
        def log_likelihood(self, batch, k, generator=None):
            return torch.full((len(batch),), np.nan)

    measured = Likelihood()(tiny.evaluation(Broken(), source=Samples(10), readers={}, exact={}))
    assert measured.scores[0].value is None
    assert measured.scores[0].note == "10 of 10 values are not finite"


def test_controls_are_what_is_reached_without_the_other_sense(tiny):
    source = Samples(400)
    measured = Likelihood(k=200)(tiny.evaluation(FactorAnalysis(), source=source, readers={}, exact={}))
    apart = sum(log_density(source.views[name], weights).mean() for name, weights in LOADINGS.items())
    joint = next(score for score in measured.scores if score.name == "likelihood.iwae" and not score.about)
    assert joint.controls["modalities apart"] == pytest.approx(apart, abs=1e-3)
    assert joint.value > joint.controls["modalities apart"]
    score = tiny.find(measured, "likelihood.conditional", source="left", target="right")
    posterior = FactorAnalysis().encode(Batch(source.views), ["left"]).shared
    mean, loading = posterior.mean.roll(1, 0) @ LOADINGS["right"].T, LOADINGS["right"]
    variance = loading @ posterior.root @ posterior.root.T @ loading.T + 1
    expected = Normal(mean, variance.sqrt()).log_prob(source.views["right"]).mean()
    assert score.controls["unpaired"] == pytest.approx(float(expected), abs=0.02)
    assert score.value > score.controls["unpaired"]
    assert not tiny.find(measured, "likelihood.iwae", target="left").controls


def test_few_codes_are_decoded_at_once_on_a_processor(tiny):
    rows = []

    class Counting(FactorAnalysis):
        def decode(self, codes, only=None):
            rows.append(codes.shared.shape[:-1].numel())
            return super().decode(codes, only)

    Likelihood(k=16)(tiny.evaluation(Counting(), source=Samples(300), readers={}, exact={}))
    assert max(rows) == 160
