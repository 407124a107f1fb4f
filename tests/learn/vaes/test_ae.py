"""The autoencoder: codes without noise, and what cannot be asked of it."""

import pytest
import torch

from molyneux.core import NotApplicableError, Progress
from molyneux.data import ArraySource
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes import AE, VAE

START = Progress(0, 10)


def noise(seed=1):
    return torch.Generator().manual_seed(seed)


def test_its_loss_is_the_distortion_and_its_codes_are_what_the_encoder_says(build, batch_of):
    model = build(AE)
    batch = batch_of(model.spec)
    loss = model.loss(batch, START)
    assert loss.terms.keys() == {"distortion.image"}
    assert loss.total.item() == loss.terms["distortion.image"].item()
    raw = model.encoders["image"](batch.views["image"] / 255)
    posterior = model.encode(batch)
    torch.testing.assert_close(posterior.mean.shared, raw)
    assert torch.equal(posterior.rsample(3, noise()).shared, posterior.mean.shared.expand(3, -1, -1))
    torch.testing.assert_close(-model.decode(posterior.mean)["image"].log_prob(batch.views["image"] / 255).mean(), loss.total)


def test_its_encoder_gives_half_the_numbers(build):
    last = [[*build(kind).encoders["image"].modules()][-1].out_features for kind in (AE, VAE)]
    assert last == [4, 8]


def test_what_needs_a_prior_does_not_apply(build, batch_of):
    model = build(AE)
    batch = batch_of(model.spec)
    with pytest.raises(NotApplicableError, match="has no prior: have one fitted"):
        model.prior(3)
    with pytest.raises(NotApplicableError, match="no likelihood of samples"):
        model.log_likelihood(batch, 3)
    with pytest.raises(NotApplicableError, match="nothing is present has no code"):
        model.encode(batch_of(model.spec, missing=0.5))
    with pytest.raises(NotApplicableError, match="no density"):
        model.encode(batch).log_prob(model.encode(batch).mean)


def test_a_fitted_prior_is_that_of_its_codes(build, batch_of):
    model = build(AE, prior=ExPostMixture(components=2, samples=300))
    batch = batch_of(model.spec, 300)
    model.settle(ArraySource(model.spec, batch), seed=0)
    codes, drawn = model.represent(batch)["shared"], model.prior(4000).rsample(1, noise())[0].shared
    torch.testing.assert_close(drawn.mean(0), codes.mean(0), atol=0.05, rtol=0.1)
    torch.testing.assert_close(drawn.std(0), codes.std(0), atol=0.05, rtol=0.1)
