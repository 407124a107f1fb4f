import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from torch.distributions import Independent, Normal

from molyneux.core import Batch, Codes, ConfigError, Modality, NotApplicableError, Posterior, Spec
from molyneux.measure import Likelihood
from molyneux.measure.likelihood import weight_statistics

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


class Wide(FactorAnalysis):
    """The same model with a posterior of twice the variance: bounds are below the log-likelihood and tighten with k."""

    def encode(self, batch, observed=None):
        exact = super().encode(batch, observed).shared
        return Posterior(Cloud(exact.mean, 2 * exact.root @ exact.root.T))

    def log_weights(self, batch, k, generator=None):
        observed = [name for name in LOADINGS if bool(batch.mask(name).all())]
        posterior = self.encode(batch, observed)
        z = posterior.shared.rsample((k,), generator)
        total = self.prior(len(batch)).shared.log_prob(z) - posterior.shared.log_prob(z)
        return total + sum(made.log_prob(batch.views[name]) for name, made in self.decode(Codes(z), observed).items())

    def log_likelihood(self, batch, k, generator=None):
        return self.log_weights(batch, k, generator).logsumexp(0) - math.log(k)


def test_the_weights_of_a_wide_posterior_have_the_known_effective_sample_size(tiny):
    """E[w]^2 / E[w^2] of N(0, C) weighed by N(0, 2C) in D = 2 dimensions is (sqrt(3) / 2)^D, the variance of log w is D / 2."""
    source = Samples(200)
    measured = Likelihood(k=2000, diagnostics=True)(tiny.evaluation(Wide(), source=source, readers={}, exact={}))
    both = log_density(torch.cat(list(source.views.values()), 1), torch.cat(list(LOADINGS.values())))
    found = {score.name: score for score in measured.scores if not score.about}
    error = found["likelihood.sampling_error"].value
    assert error == pytest.approx(math.sqrt((4 / 3 - 1) / 2000 / 200), rel=0.02)
    assert found["likelihood.iwae"].value == pytest.approx(both.mean(), abs=4 * error)
    assert found["likelihood.effective_samples"].value == pytest.approx(2000 * 3 / 4, rel=0.01)
    assert found["likelihood.weight_variance"].value == pytest.approx(1.0, rel=0.02)
    assert found["likelihood.effective_samples"].bounds == (1.0, 2000.0)
    assert tiny.find(measured, "likelihood.effective_samples", target="left").n == 200


def test_diagnostics_change_no_bound_and_need_weights(tiny):
    evaluation = tiny.evaluation(Wide(), source=Samples(30), readers={}, exact={})
    plain, diagnosed = (Likelihood(diagnostics=on)(evaluation).scores for on in (False, True))
    assert [score for score in diagnosed if score in plain] == list(plain)
    assert len(diagnosed) == len(plain) + 9
    without = tiny.evaluation(FactorAnalysis(), source=Samples(30), readers={}, exact={})
    assert len(Likelihood(diagnostics=True)(without).scores) == len(plain)
    with pytest.raises(ConfigError, match="diagnostics: expected k of at least 2, got 1"):
        Likelihood(k=1, diagnostics=True)


def test_statistics_of_weights_are_those_of_numpy():
    weights = np.random.default_rng(0).normal(size=(50, 4)) * 3 - 100
    found = weight_statistics(torch.from_numpy(weights))
    plain = np.exp(weights + 100)
    effective = plain.sum(0) ** 2 / (plain**2).sum(0)
    np.testing.assert_allclose(found["iwae"], np.log(plain.mean(0)) - 100)
    np.testing.assert_allclose(found["effective_samples"], effective)
    np.testing.assert_allclose(found["weight_variance"], weights.var(0, ddof=1))
    np.testing.assert_allclose(found["sampling_error"], plain.var(0, ddof=1) / 50 / plain.mean(0) ** 2)


def test_differences_of_bounds_are_conditional_densities(tiny):
    source = Samples(150)
    measure = Likelihood(k=4, directions="all", conditionals="both")
    measured = measure(tiny.evaluation(FactorAnalysis(), source=source, readers={}, exact={}))
    both = log_density(torch.cat(list(source.views.values()), 1), torch.cat(list(LOADINGS.values()))).mean()
    for name, other in (("left", "right"), ("right", "left")):
        score = tiny.find(measured, "likelihood.conditional_difference", source=name, target=other)
        assert score.value == pytest.approx(both - log_density(source.views[name], LOADINGS[name]).mean(), abs=1e-4)
        assert score.controls["marginal"] == pytest.approx(log_density(source.views[other], LOADINGS[other]).mean(), abs=1e-4)
        assert tiny.find(measured, "likelihood.conditional", source=name, target=other)


def test_every_subset_has_its_marginal(tiny):
    class Third(Samples):
        spec = Spec((*Samples.spec.modalities, Modality("third", "tabular", (1,))))

    loadings = {**LOADINGS, "third": torch.tensor([[0.5, 0.5]])}

    class Three(FactorAnalysis):
        def log_likelihood(self, batch, k, generator=None):
            names = [name for name in loadings if bool(batch.mask(name).all())]
            x, weights = torch.cat([batch.views[name] for name in names], 1), torch.cat([loadings[name] for name in names])
            return torch.from_numpy(log_density(x, weights)).float()

        def encode(self, batch, observed=None):
            return Posterior(Cloud(torch.zeros(len(batch), 2), torch.eye(2)))

        def decode(self, codes, only=None):
            return {name: Independent(Normal(codes.shared @ loadings[name].T, 1.0), 1) for name in only}

    source = Third(60)
    source.views["third"] = torch.randn(60, 1, generator=torch.Generator().manual_seed(1))
    evaluation = tiny.evaluation(Three(), source=source, readers={}, exact={})
    measured = Likelihood(marginals="all", directions="all", conditionals="difference")(evaluation)
    targets = {score.about["target"] for score in measured.scores if score.name == "likelihood.iwae" and score.about}
    assert targets == {"left", "right", "third", ("left", "right"), ("left", "third"), ("right", "third")}
    x, weights = (
        torch.cat([source.views["left"], source.views["third"]], 1),
        torch.cat([LOADINGS["left"], loadings["third"]]),
    )
    score = tiny.find(measured, "likelihood.iwae", target=("left", "third"))
    assert score.value == pytest.approx(log_density(x, weights).mean(), abs=1e-4)
    joint = tiny.find(measured, "likelihood.conditional_difference", source=("left", "third"), target="right")
    every = torch.cat([source.views[name] for name in source.spec.names], 1)
    whole = log_density(every, torch.cat([loadings[name] for name in source.spec.names])).mean()
    assert joint.value == pytest.approx(whole - log_density(x, weights).mean(), abs=1e-4)
    assert not [score for score in measured.scores if score.name == "likelihood.conditional"]


def test_many_draws_are_no_loop_over_samples(tiny):
    calls = []

    class Counting(FactorAnalysis):
        def log_likelihood(self, batch, k, generator=None):
            calls.append((len(batch), k))
            return super().log_likelihood(batch, k, generator)

    Likelihood(k=1000, directions=[])(tiny.evaluation(Counting(), source=Samples(300), readers={}, exact={}, batch_size=300))
    assert {size for size, k in calls if k == 1000} == {160, 140}
