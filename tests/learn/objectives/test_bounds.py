"""ELBO and IWAE from given terms and log-weights."""

import math

import pytest
import torch

from molyneux.core import ConfigError, Progress
from molyneux.learn.objectives import ELBO, IWAE, ElboTerms, Estimates, LogWeights, Warmup


class Given(Estimates):
    """Estimates that are known."""

    def __init__(self, terms=None, log_weights=None, scales=None, progress=None):
        self.given, self.log, self.scales, self.progress = terms, log_weights, scales, progress or Progress(0, 1)

    def terms(self):
        return self.given

    def log_weights(self, k, *, chunk, detached=False):
        assert len(self.log.values) == k
        return self.log

    def sampled(self):
        raise NotImplementedError

    def distortion(self, codes):
        raise NotImplementedError


def loss_of(objective, *given, **settings):
    return objective.build(4).loss(Given(*given, **settings))


EVERY = torch.ones(3, dtype=torch.bool)


def test_divergence_is_counted_once():
    # Four reconstruction terms of -10 nats and two divergences of 1, for three samples: 120 + 6 in sum, 42 in the mean.
    terms = ElboTerms(
        {name: torch.full((3,), 10.0) for name in "abcd"}, {"shared": torch.ones(3), "private.a": torch.ones(3)}, EVERY
    )
    loss = loss_of(ELBO(), terms, scales=dict.fromkeys("abcd", 1.0))
    assert 3 * loss.total.item() == pytest.approx(126.0)


def test_scales_and_beta_weigh_the_loss_and_not_its_terms():
    distortion = torch.tensor([1.0, 3.0], requires_grad=True)
    terms = ElboTerms({"image": distortion, "text": torch.tensor([5.0, 5.0])}, {"shared": torch.tensor([2.0, 4.0])}, EVERY[:2])
    loss = loss_of(ELBO(4.0), terms, scales={"image": 0.5, "text": 2.0})
    assert loss.total.item() == pytest.approx(0.5 * 2 + 2.0 * 5 + 4.0 * 3)
    found = {name: term.item() for name, term in loss.terms.items()}
    assert found == {"distortion.image": 2.0, "distortion.text": 5.0, "rate.shared": 3.0}
    assert not any(term.requires_grad for term in loss.terms.values())
    loss.total.backward()
    assert distortion.grad.tolist() == [0.25, 0.25]


def test_capacity_and_free_bits_count_where_something_is_present():
    rate = {"shared": torch.tensor([1.0, 4.0, 0.0]), "private.a": torch.tensor([0.5, 0.5, 0.0])}
    terms = ElboTerms({"a": torch.zeros(3)}, rate, torch.tensor([True, True, False]))
    rising = ELBO(3.0, capacity=Warmup(2.0, fraction=1.0))
    assert loss_of(rising, terms, scales={"a": 1.0}, progress=Progress(5, 10)).total.item() == pytest.approx(3 * (0.5 + 3.5) / 3)
    free = ELBO(2.0, free_bits=1.0)  # 5/3 of the shared code are above 2/3 of a nat, 1/3 of the private one below
    assert loss_of(free, terms, scales={"a": 1.0}).total.item() == pytest.approx(2 * (5 / 3 + 2 / 3))
    with pytest.raises(ConfigError, match="exclude each other"):
        ELBO(capacity=1.0, free_bits=1.0)


def test_importance_weighting_is_the_log_mean_of_weights():
    values, weight = torch.randn(5, 2, 3).requires_grad_(), torch.tensor([[0.3, 0.5, 0.0], [0.7, 0.5, 2.0]])
    loss = loss_of(IWAE(5), None, LogWeights(values, weight))
    bound = (values.exp().mean(0).log() * weight).sum(0).mean()
    assert loss.total.item() == pytest.approx(-bound.item(), rel=1e-5)
    assert loss.terms["elbo"] < loss.terms["iwae"]
    loss.total.backward()  # the gradient of each log-weight is its share of the weights
    shares = values.detach().softmax(0) * weight / 3
    torch.testing.assert_close(values.grad, -shares)
    assert loss_of(IWAE(1), None, LogWeights(values[:1], weight)).terms["iwae"] == pytest.approx(
        (values[0] * weight).sum(0).mean().item()
    )
    assert math.isfinite(loss_of(IWAE(1), None, LogWeights(torch.full((1, 2, 3), -1e4), weight)).total)
