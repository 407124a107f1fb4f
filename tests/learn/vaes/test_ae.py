"""The autoencoder: codes without noise, and what cannot be asked of it."""

import pytest
import torch

from molyneux.core import Batch, Factor, Modality, NotApplicableError, Progress, Spec
from molyneux.data import ArraySource
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes import AE, VAE
from molyneux.measure import Evaluation, LatentProbe, Likelihood, PosteriorGap, evaluate

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
    with pytest.raises(NotApplicableError, match="nothing is present has no code"):
        model.encode(batch_of(model.spec, missing=0.5))
    with pytest.raises(NotApplicableError, match="no density"):
        model.encode(batch).log_prob(model.encode(batch).mean)


def test_a_fitted_prior_is_that_of_its_codes(build, batch_of):
    model = build(AE, prior=ExPostMixture(components=2, samples=300))
    batch = batch_of(model.spec, 300)
    model.post_fit(ArraySource(model.spec, batch), seed=0)
    codes, drawn = model.represent(batch)["shared"], model.prior(4000).rsample(1, noise())[0].shared
    torch.testing.assert_close(drawn.mean(0), codes.mean(0), atol=0.05, rtol=0.1)
    torch.testing.assert_close(drawn.std(0), codes.std(0), atol=0.05, rtol=0.1)


@pytest.mark.parametrize("fitted", [False, True])
def test_it_is_measured_as_far_as_measures_apply(fitted):
    factors = torch.randint(0, 3, (300, 1), generator=noise())
    spec = Spec((Modality("table", "tabular", (4,)),), (Factor("shape", ("a", "b", "c")),))
    source = ArraySource(spec, Batch({"table": 5.0 * factors + torch.randn(300, 4, generator=noise())}, {}, factors))
    model = AE(spec, latent_dim=3, prior=ExPostMixture(components=2) if fitted else None).eval()
    model.post_fit(source, seed=0)
    scores = evaluate([LatentProbe(), PosteriorGap(), Likelihood()], Evaluation(model, source)).scores
    refused = {score.name for score in scores if score.note.startswith("not applicable: ")}
    assert refused == ({"likelihood"} if fitted else {"likelihood", "posterior_gap"})
    assert "posterior_gap.rate" not in {score.name for score in scores}
    assert next(score for score in scores if score.name == "latent_probe.accuracy").value > 80
