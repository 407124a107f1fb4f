"""IDMVAE: the bound of MMVAE+ and two terms that compare codes of different samples."""

import pytest
import torch
from torch.nn import functional

from molyneux.core import Batch, Modality, Progress, Spec
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.likelihoods import Normal
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.vaes import IDMVAE, MMVAEPlus
from molyneux.learn.vaes.idmvae import nt_xent

START = Progress(0, 10)
SPEC = Spec((Modality("a", "tabular", (4,)), Modality("b", "tabular", (3,)), Modality("c", "tabular", (5,))))


def noise(seed=1):
    return torch.Generator().manual_seed(seed)


def model_of(kind=IDMVAE, spec=SPEC, **settings):
    torch.manual_seed(0)
    nets = dict.fromkeys(spec.names, Dense(width=16))
    return kind(spec, latent_dim=2, private_dim={"a": 2, "b": 1}, family="normal", nets=nets, **settings)


def some(size=9, missing=0.0):
    views = {modality.name: torch.randn(size, *modality.shape, generator=noise(3)) for modality in SPEC.modalities}
    present = {name: torch.rand(size, generator=noise(number)) >= missing for number, name in enumerate(views)}
    return Batch(views, present) if missing else Batch(views)


def compared(first, second, temperature=1.0):
    """The definition, code by code."""
    codes = torch.cat([first, second])
    each = []
    for i, code in enumerate(codes):
        alike = (functional.cosine_similarity(code[None], codes) / temperature).exp()
        each.append(-(alike[(i + len(first)) % len(codes)] / (alike.sum() - alike[i])).log())
    return torch.stack(each).mean()


@pytest.mark.parametrize("temperature", [1.0, 0.2])
def test_codes_are_compared_as_defined(temperature):
    first, second = torch.randn(7, 3, generator=noise()), torch.randn(7, 3, generator=noise(2))
    torch.testing.assert_close(nt_xent(first, second, temperature), compared(first, second, temperature))
    assert nt_xent(first, first, 0.01) < 1e-3 < nt_xent(first, second, 0.01)


def test_without_its_two_terms_it_is_mmvae_plus():
    batch = some(missing=0.3)
    mine, other = model_of(cross=0.0, augmentation=0.0), model_of(MMVAEPlus)
    other.load_state_dict(mine.state_dict())
    found, bound = mine.loss(batch, START, noise()), other.loss(batch, START, noise())
    assert torch.equal(found.total, bound.total)
    whole = model_of(cross=2.0, augmentation=3.0).loss(batch, START, noise())
    torch.testing.assert_close(whole.total, bound.total + 2 * whole.terms["cross"] + 3 * whole.terms["augmentation"])


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_shared_codes_are_compared_between_every_two_modalities(missing):
    batch, model = some(missing=missing), model_of()
    found = model.loss(batch, START, noise()).terms["cross"]
    total = 0.0
    for first in SPEC.names:
        for second in SPEC.names:
            both = batch.mask(first) & batch.mask(second)
            if first != second and both.any():
                codes = [model.encode(batch, [name]).mean.shared[both] for name in (first, second)]
                total = total + compared(*codes) * both.float().mean()
    torch.testing.assert_close(found, total / 2)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_generated_views_are_read_as_the_codes_that_they_were_made_of(missing, monkeypatch):
    """With codes that are drawn as their means: one sample after the other, by the model's own encoder and decoder."""
    monkeypatch.setattr(
        DiagonalNormal, "rsample", lambda self, shape=(), generator=None: self.loc.expand(*shape, *self.loc.shape)
    )
    batch, model = some(missing=missing), model_of()
    found = model.loss(batch, START, noise()).terms["augmentation"]
    total = 0.0
    for name in SPEC.names:
        rows = batch.mask(name).nonzero().squeeze(1)
        codes = model.encode(batch[rows], [name]).mean
        before = torch.arange(len(rows)).roll(1)
        again = [codes.shared[before], codes.shared]
        for kept, (shared, private) in {"shared": (again[1], before), "private": (again[0], torch.arange(len(rows)))}.items():
            own = {f: codes.private[f][private] for f in codes.private}
            decoded = model.decode(type(codes)(shared, own), [name])[name].mean
            read = model.encode(Batch({name: decoded}), [name]).mean
            if kept == "shared":
                total = total + compared(codes.shared, read.shared) * len(rows) / len(batch)
            elif name in model.private_dims:
                total = total + compared(codes.private[name], read.private[name]) * len(rows) / len(batch)
    torch.testing.assert_close(found, total / 2)


@pytest.mark.slow
def test_training_makes_shared_codes_agree_and_generated_views_read_as_their_codes():
    """Two modalities of two common numbers and two own ones, and samples that were not trained on."""

    def drawn(size, seed):
        common, own, other = torch.randn(3, size, 2, generator=noise(seed))
        return Batch({"a": torch.cat([common, own], 1), "b": torch.cat([common, other], 1)})

    spec = Spec((Modality("a", "tabular", (4,)), Modality("b", "tabular", (4,))))
    terms = {}
    for weight in (1e-6, 1.0):
        torch.manual_seed(0)
        nets, likelihoods = dict.fromkeys(spec.names, Dense(width=32)), dict.fromkeys(spec.names, Normal(scale=0.3))
        settings = {"nets": nets, "likelihoods": likelihoods, "cross": weight, "augmentation": weight, "temperature": 0.05}
        model = IDMVAE(spec, latent_dim=4, private_dim=2, **settings)
        optimiser = torch.optim.Adam(model.parameters(), 5e-3)
        for step in range(300):
            optimiser.zero_grad()
            model.loss(drawn(128, step), Progress(step, 300), noise(step)).total.backward()
            optimiser.step()
        with torch.no_grad():
            terms[weight] = model.eval().loss(drawn(500, 1000), START, noise()).terms
    for name in ("cross", "augmentation"):
        assert terms[1.0][name] < 0.9 * terms[1e-6][name], terms
