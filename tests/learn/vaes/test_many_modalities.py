"""Models of twelve modalities, whose names are what a data set calls them."""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load, save

from molyneux.core import Batch, Modality, Progress, Spec
from molyneux.data import ArraySource
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.objectives import IWAE, DReG
from molyneux.learn.posteriors import consensus_of_experts
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.vaes import CMVAE, DMVAE, HELVAE, MMJSD, MMVAE, MMVM, MVAE, MVTCAE, CoDEVAE, GPoE, MMVAEPlus, MoPoE

NAMES = ("BRK.B", "AAPL", "values", "training", "a/b", 'x">', "left-camera", "100%", "%2E", ".", "forward", "Größe 2")
SPEC = Spec(tuple(Modality(name, "tabular", (3,)) for name in NAMES))
SETTINGS = [
    (MVAE, {}),
    (MVAE, {"subsets": "all", "drawn": NAMES}),
    (MMVAE, {"objective": IWAE(2)}),
    (MoPoE, {}),
    (MoPoE, {"objective": IWAE(2)}),
    (CoDEVAE, {}),
    (CoDEVAE, {"subsets": "drawn"}),
    (GPoE, {"subsets": "all"}),
    (HELVAE, {}),
    (MMJSD, {"private_dim": {"BRK.B": 2}}),
    (MMVAEPlus, {"private_dim": {"BRK.B": 2, "values": 1}, "objective": DReG(2)}),
    (CMVAE, {"private_dim": 1, "clusters": 3}),
    (MMVM, {}),
    (MVTCAE, {}),
    (DMVAE, {"private_dim": {"BRK.B": 2, "values": 1}, "prior": ExPostMixture(components=2, samples=60)}),
]


def batch(size=60, missing=0.0):
    generator = torch.Generator().manual_seed(0)
    views = {name: torch.randn(size, 3, generator=generator) for name in NAMES}
    return Batch(views, {name: torch.rand(size, generator=generator) >= missing for name in NAMES} if missing else {})


def noise():
    return torch.Generator().manual_seed(1)


@pytest.mark.parametrize(("kind", "settings"), SETTINGS, ids=lambda item: getattr(item, "__name__", None))
def test_every_model_takes_them(kind, settings):
    torch.manual_seed(0)
    nets = dict.fromkeys(NAMES, Dense(width=6))
    model, other = (kind(SPEC, latent_dim=3, nets=nets, **settings) for _ in range(2))
    loss = model.loss(batch(missing=0.5), Progress(0, 1), noise())
    loss.total.backward()
    assert all(parameter.grad.isfinite().all() and parameter.grad.any() for parameter in model.parameters())
    model.eval().post_fit(ArraySource(SPEC, batch()), seed=0)
    other.eval().load_state_dict(load(save(model.state_dict())))
    codes = model.encode(batch(5, missing=0.8)).rsample(2, noise())
    assert torch.equal(codes.shared, other.encode(batch(5, missing=0.8)).rsample(2, noise()).shared)
    assert set(model.decode(codes)) == set(NAMES)
    assert model.log_likelihood(batch(5), 3, noise()).isfinite().all()
    alone = model.encode(batch(5), ["BRK.B"]).mean.shared
    only = replace(batch(5), views={"BRK.B": batch(5).views["BRK.B"]})
    assert torch.equal(alone, model.encode(only).mean.shared)


def test_bounds_of_many_subsets_are_those_of_all_in_the_mean():
    # With 9 modalities 511 subsets are estimated by 255: the closed-form divergence of the mixture, in the mean over draws.
    names = NAMES[:9]
    model = MoPoE(SPEC.restrict(names), latent_dim=2, nets=dict.fromkeys(names, Dense(width=4)))
    observation = model.observe(Batch({name: batch(4).views[name] * 3 for name in names}))
    experts, present = observation.experts, observation.present
    members = torch.tensor([[bool(number >> i & 1) for i in range(9)] for number in range(1, 512)])
    precision = torch.einsum("sm,mbd->sbd", members.float(), 1 / experts.variance)
    loc = torch.einsum("sm,mbd->sbd", members.float(), experts.loc / experts.variance) / precision
    known = 0.5 * (loc.square() + 1 / precision - 1 + precision.log()).sum(-1).mean(0)
    drawn = torch.Generator().manual_seed(0)
    found = torch.stack([model.stacked(observation, drawn).rate for _ in range(100)])
    torch.testing.assert_close(found.mean(0), known, rtol=0.01, atol=1e-3)
    assert torch.equal(model.joint(experts, present).mean, model.joint(experts, present).mean)


@pytest.mark.parametrize("subsets", ["all", "drawn"])
def test_subsets_that_are_drawn_count_for_all_with_their_learned_weights(subsets):
    names = NAMES[:9]
    model = CoDEVAE(SPEC.restrict(names), latent_dim=2, nets=dict.fromkeys(names, Dense(width=4)), subsets=subsets)
    with torch.no_grad():
        model.logits.normal_(generator=noise()).mul_(0.5)
    observation = model.observe(Batch({name: batch(4).views[name] * 3 for name in names}))
    observation.present[:] = torch.rand(9, 4, generator=noise()) < torch.tensor([1.0, 0.9, 0.7, 0.5])
    experts, present = observation.experts, observation.present
    known = consensus_of_experts(experts, present, model.correlation, members=model.members).kl()
    shares = model.shares(present)
    torch.testing.assert_close(shares.sum(0), torch.ones(4))
    assert (shares > 0).sum(0).tolist() == (2 ** present.sum(0) - 1).tolist()
    drawn, found = torch.Generator().manual_seed(0), []
    for _ in range(60 if subsets == "all" else 1500):
        stack = model.stacked(observation, drawn)
        found.append((stack.weight * stack.posterior.kl()).sum(0))
    each = torch.stack(found)
    error = each.std(0) / len(each) ** 0.5
    assert ((each.mean(0) - (shares * known).sum(0)).abs() < 4 * error + 0.01).all()


@pytest.mark.parametrize(("count", "chosen"), [(2, "all"), (5, "all"), (6, "drawn"), (9, "drawn")])
def test_codevae_draws_subsets_of_many_modalities_by_default_and_says_so(count, chosen):
    names = NAMES[:count]
    settings = {"latent_dim": 2, "nets": dict.fromkeys(names, Dense(width=4))}
    model = CoDEVAE(SPEC.restrict(names), **settings)
    assert model.subsets == chosen
    assert [("subsets: auto" in note) for note in model.training_notes] == [True] * (chosen == "drawn")
    for subsets in ("all", "drawn"):
        asked = CoDEVAE(SPEC.restrict(names), subsets=subsets, **settings)
        assert (asked.subsets, asked.training_notes) == (subsets, ())
