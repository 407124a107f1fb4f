"""Models with a prior that is fitted after training."""

import numpy as np
import pytest
import torch

from molyneux.core import PostFit, Progress
from molyneux.data import ArraySource
from molyneux.learn.priors import ExPostMixture, collect_codes
from molyneux.learn.vaes import DMVAE, MVAE

START = (Progress(0, 10), torch.Generator().manual_seed(1))


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("model", [DMVAE, MVAE])
def test_a_model_generates_from_the_prior_fitted_to_its_codes(model, build, batch_of):
    settings = {"private_dim": {"image": 2}} if model is DMVAE else {}
    made = build(model, 2, prior=ExPostMixture(components=4, samples=600), **settings)
    plain = build(model, 2, **settings)
    batch = batch_of(made.spec, 600)
    assert isinstance(made, PostFit)
    source = ArraySource(made.spec, batch)
    before = made.prior(10).rsample(1, noise())[0].shared.std()
    with torch.no_grad():
        for part in made.encoders.values():
            *_, last = [item for item in part.modules() if isinstance(item, torch.nn.Linear)]
            last.bias[:4] = 5.0
    made.post_fit(source, seed=3)
    drawn = made.prior(4000).rsample(1, noise())[0]
    codes, private = collect_codes(made, made.spec, source, 600, seed=3)
    np.testing.assert_allclose(drawn.shared.mean(0).numpy(), codes.mean(0), atol=0.2)
    assert drawn.shared.mean() > 1.0 > abs(before - 1)
    assert set(drawn.private) == set(private)
    loss, other = (item.loss(batch, *START) for item in (made, plain))
    assert loss.terms.keys() == other.terms.keys()
    assert made.log_likelihood(batch[:5], 3, noise()).isfinite().all()
    twin = build(model, 2, prior=ExPostMixture(components=4, samples=600), **settings)
    twin.load_state_dict(made.state_dict())
    assert torch.equal(twin.prior(9).rsample(2, noise()).shared, made.prior(9).rsample(2, noise()).shared)


def test_each_view_is_encoded_once(build, batch_of):
    model, rows = build(DMVAE, 3, private_dim={"image": 2}), {}
    for name, net in model.encoders.items():
        net.register_forward_hook(lambda _, __, raw, key=name: rows.update({key: rows.get(key, 0) + len(raw)}))
    collect_codes(model, model.spec, ArraySource(model.spec, batch_of(model.spec, 1200)), 1100, seed=0)
    assert rows == dict.fromkeys(model.spec.names, 1100)


def test_posteriors_of_subsets_are_those_of_one_encoding_each(build, batch_of):
    model = build(DMVAE, 3, private_dim={"image": 2, "touch": 1})
    batch, subsets = batch_of(model.spec, 20, missing=0.3), [("image", "text", "touch"), ("text",), ("touch", "image")]
    for subset, found in zip(subsets, model.encode_subsets(batch, subsets), strict=True):
        codes, expected = found.rsample(2, noise()), model.encode(batch, subset).rsample(2, noise())
        torch.testing.assert_close(codes.shared, expected.shared)
        torch.testing.assert_close(codes.private, expected.private)


def test_what_is_not_observed_follows_the_prior_given_the_shared_code(build, batch_of):
    model = build(DMVAE, 2, private_dim=2, prior=ExPostMixture(components=2, samples=50))
    for made in (*model.fitted.private.values(), model.fitted.shared):
        made.means.normal_(generator=noise())
        made.scale.mul_(0.01)
    batch = batch_of(model.spec, 40, missing=0.5)
    posterior = model.encode(batch)
    codes = posterior.rsample(3, noise())
    mask = batch.mask("image")
    means = model.fitted.private["image"].given(codes.shared).means
    nearest = (codes.private["image"].unsqueeze(-2) - means).norm(dim=-1).amin(-1)
    assert nearest[:, ~mask].max() < 0.1 < nearest[:, mask].median()
    torch.testing.assert_close(posterior.log_prob(codes)[:, mask], model.encode(batch[mask]).log_prob(codes[:, mask]))
    nothing = batch.observe([])
    assert model.log_likelihood(nothing, 4, noise()).abs().max() < 1e-4
