"""The contract of the models of several modalities: subsets, missing modalities, composition of batches, exact likelihoods."""

import math
from itertools import combinations

import pytest
import torch

from molyneux.core import Batch, NotApplicableError, Progress
from molyneux.learn.posteriors import DiagonalLaplace, DiagonalNormal
from molyneux.learn.vaes import CMVAE, IDMVAE, MHVAE, MMVAE, MMVAEPlus

START = Progress(0, 10)
COUNTS = (2, 3, 4, 5)
LAPLACE = (CMVAE, MMVAE, MMVAEPlus)


def noise(seed=1):
    return torch.Generator().manual_seed(seed)


def subsets(names):
    return [chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size)]


def normal(kind):
    """Settings of a model whose codes have the prior N(0, 1)."""
    return {"family": "normal"} if kind in LAPLACE else {}


@pytest.mark.parametrize("count", COUNTS)
def test_every_subset_is_a_condition(multimodal_class, count, build, batch_of):
    model = build(multimodal_class, count)
    batch = batch_of(model.spec, 6, missing=0.3)
    for chosen in subsets(model.spec.names):
        posterior = model.encode(batch, chosen)
        codes = posterior.rsample(2, noise())
        assert codes.shared.isfinite().all()
        try:
            density = posterior.log_prob(codes)
        except NotApplicableError:  # a product of flows is only drawn from
            continue
        assert density.isfinite().all()
        # What is not observed is as what is absent from the batch, and as what is masked.
        for other in (model.encode(batch.observe(chosen)), model.encode_subsets(batch, [chosen])[0]):
            torch.testing.assert_close(other.log_prob(codes), density)
    decoded = model.decode(codes)
    assert all(decoded[name].view.shape[:2] == (2, 6) for name in model.spec.names)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_the_loss_is_finite_and_trains_every_net(multimodal_class, count, missing, build, batch_of):
    model = build(multimodal_class, count).train()
    loss = model.loss(batch_of(model.spec, 16, missing=missing), START, noise())
    loss.total.backward()
    assert loss.total.isfinite()
    assert all(term.isfinite() and not term.requires_grad for term in loss.terms.values())
    assert all(parameter.grad.isfinite().all() and parameter.grad.any() for parameter in model.parameters())


@pytest.fixture
def same_noise(monkeypatch):
    """Every sample of a batch gets the same noise, so that a loss does not depend on where in a batch a sample stands."""

    def of(family):
        drawn = family._noise

        def noise_for_all(self, shape, generator):
            return drawn(self, (*shape[:-2], 1, shape[-1]), generator).expand(shape)

        monkeypatch.setattr(family, "_noise", noise_for_all)

    of(DiagonalNormal)
    of(DiagonalLaplace)
    uniform = torch.rand

    def rand(*shape, **settings):
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else None
        return uniform(*shape, **settings) if sizes is None else uniform((*sizes[:-1], 1), **settings).expand(sizes)

    monkeypatch.setattr(torch, "rand", rand)


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_the_loss_of_a_batch_is_the_mean_of_its_parts(multimodal_class, missing, build, batch_of, same_noise):
    if multimodal_class is MHVAE:
        pytest.skip("its codes have axes of their own, and so has their noise")
    compared = {"cross": 0.0, "augmentation": 0.0} if multimodal_class is IDMVAE else {}  # these compare samples
    model = build(multimodal_class, 3, **compared).train()
    batch = batch_of(model.spec, 9, missing=missing)
    order = torch.randperm(9, generator=noise())
    whole = model.loss(batch, START, noise())
    for parts in ([batch[:4], batch[4:]], [batch[:1], batch[1:2], batch[2:]], [batch[order]], [batch[torch.arange(18) % 9]]):
        losses = [model.loss(part, START, noise()) for part in parts]
        sizes = torch.tensor([len(part) for part in parts]) / sum(map(len, parts))
        found = (torch.stack([loss.total for loss in losses]) * sizes).sum()
        torch.testing.assert_close(found, whole.total, rtol=1e-4, atol=1e-4)
        for name, term in whole.terms.items():
            each = torch.stack([loss.terms[name] for loss in losses])
            torch.testing.assert_close((each * sizes).sum(), term, rtol=1e-4, atol=1e-3)


def evidence(linear, model, views, names):
    """Exact log-likelihood, (B,) nats; with clusters, of the mixture of normal distributions that they make."""
    if not isinstance(model, CMVAE):
        return linear.evidence(model, views, names)
    prior = model.loss_prior
    each = [linear.evidence(model, views, names, mean=mean) for mean in prior.means.detach()]
    return (torch.stack(each) + prior.logits.detach().log_softmax(0).unsqueeze(-1)).logsumexp(0)


def make_wide(model, linear):
    """Give experts that know little, with wide posteriors, so that importance weights are bounded and vary little."""
    for name, encoder in model.encoders.items():
        private = model.private_dims.get(name, 0)
        with torch.no_grad():
            encoder.weight.mul_(0.2)
            encoder.bias.zero_()
            encoder.bias[linear.DIM : 2 * linear.DIM] = 1.5
            encoder.bias[len(encoder.bias) - private :] = 0.5


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_the_likelihood_is_exact_within_its_error(multimodal_class, count, linear):
    settings = {"private_dim": 1} if multimodal_class.has_private else {}
    model = linear.build(multimodal_class, count, **normal(multimodal_class), **settings)
    name, columns = model.spec.names[0], linear.DIM + settings.get("private_dim", 0)
    if linear.weights(model, name)[0].shape[1] != columns:
        pytest.skip("decoders take other codes than the shared one")
    make_wide(model, linear)
    views = linear.views_of(model, 4)

    def estimates(number, samples):
        """Independent estimates from so many importance samples each: (number, 4); every row of a batch has noise of its own."""
        repeated = Batch({name: view.repeat(number, 1) for name, view in views.items()}).observe(chosen)
        return model.log_likelihood(repeated, samples, noise(samples)).view(number, 4)

    for chosen in subsets(model.spec.names) if count == 2 else [model.spec.names, model.spec.names[1:]]:
        exact = evidence(linear, model, views, chosen)
        # The mean of independent estimates of the likelihood itself has no bias; its error comes from their spread.
        draws, single = estimates(24, 100), estimates(200, 1)
        ratio = (draws - exact).exp()
        error = ratio.std(0) / math.sqrt(len(ratio))
        assert ((ratio.mean(0) - 1).abs() < 5 * error + 1e-3).all(), chosen
        assert (error < 0.3).all(), chosen
        assert (single.mean(0) < exact + 3 * single.std(0) / math.sqrt(200)).all()
        assert (single.mean(0) < draws.mean(0) + 3 * single.std(0) / math.sqrt(200)).all()


def test_the_loss_of_one_bound_is_above_the_negative_evidence(multimodal_class, linear):
    if multimodal_class.__name__ not in ("CMVAE", "CoDEVAE", "GPoE", "HELVAE", "MMVAE", "MMVAEPlus", "MoPoE"):
        pytest.skip("the loss is no bound, or a sum of several")
    settings = {"private_dim": 1} if multimodal_class.has_private else {}
    model = linear.build(multimodal_class, 3, **normal(multimodal_class), **settings)
    views = linear.views_of(model, 4)
    many = Batch({name: view.repeat(3000, 1) for name, view in views.items()})
    with torch.no_grad():
        found = model.loss(many, START, noise()).total.item()
    assert found > -evidence(linear, model, views, model.spec.names).mean().item()
