"""A flow that is fitted to codes: what it is before the fit, what it finds, and that the fit repeats."""

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, PostFit
from molyneux.core.config import build as build_setting
from molyneux.data import ArraySource
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.priors.fitted_flow import ExPostFlow

QUICK = {"layers": 2, "width": 32, "steps": 250, "learning_rate": 1e-2}


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def rings(count=4000):
    """A shared code of two values, and a private one on a ring whose radius depends on it."""
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=count)
    shared = np.where(kind, 3.0, -3.0) + 0.3 * rng.standard_normal(count)
    angle = rng.uniform(0, 2 * np.pi, count)
    ring = np.c_[np.cos(angle), np.sin(angle)] * np.where(kind, 1.0, 3.0)[:, None]
    return np.c_[shared, ring + 0.1 * rng.standard_normal((count, 2))]


def test_until_it_is_fitted_a_density_is_standard_normal():
    settings = ExPostFlow(**QUICK)
    codes = torch.randn(4, 5, generator=noise())
    standard = DiagonalNormal.standard((4, 3))
    found = settings.density(2, 3).given(codes[:, :2]).log_prob(codes[:, 2:])
    torch.testing.assert_close(found, standard.log_prob(codes[:, 2:]), atol=1e-4, rtol=1e-4)
    found = settings.density(3).marginal(4).log_prob(codes[:, 2:])
    torch.testing.assert_close(found, standard.log_prob(codes[:, 2:]), atol=1e-4, rtol=1e-4)


@pytest.mark.slow
def test_fitting_finds_what_codes_were_drawn_from():
    codes = rings()
    made = ExPostFlow(**QUICK).density(1, 2)
    made.fit(codes, seed=0)
    for place, radius in ((3.0, 1.0), (-3.0, 3.0)):
        drawn = made.given(torch.full((2000, 1), place)).rsample((), noise()).norm(dim=-1)
        assert drawn.median().item() == pytest.approx(radius, abs=0.3)
    shared = ExPostFlow(**QUICK).density(1)
    shared.fit(codes[:, :1], seed=0)
    density = shared.marginal(len(codes)).log_prob(torch.from_numpy(codes[:, :1]).float()).mean().item()
    mixture = ExPostMixture(2).density(1)
    mixture.fit(codes[:, :1], seed=0)
    best = mixture.marginal(len(codes)).log_prob(torch.from_numpy(codes[:, :1]).float()).mean().item()
    assert density == pytest.approx(best, abs=0.15)  # two normals are the truth


def test_the_same_seed_gives_the_same_weights_and_another_gives_others():
    settings = ExPostFlow(layers=2, width=16, steps=20)
    codes, made = rings(500), [settings.density(1, 2) for _ in range(3)]
    for density, seed in zip(made, (3, 3, 4), strict=True):
        density.fit(codes, seed)
    made[0].fit(codes, 3)
    first, again, other = ([*density.state_dict().values()] for density in made)
    assert all(torch.equal(one, two) for one, two in zip(first, again, strict=True))
    assert not all(torch.equal(one, two) for one, two in zip(first, other, strict=True))
    assert not any(parameter.requires_grad for parameter in made[0].parameters())


def test_codes_that_hold_nan_are_left_out_and_too_few_are_not_fitted_to():
    settings = ExPostFlow(layers=2, width=16, steps=20)
    codes, gaps = rings(400), rings(400)
    gaps[::2, 1] = np.nan
    made = [settings.density(1, 2) for _ in range(3)]
    for density, values in zip(made, (codes[1::2], gaps, codes[:19]), strict=True):
        density.fit(values, seed=0)
    assert torch.equal(made[0].centre, made[1].centre)
    assert torch.equal(made[2].centre, torch.zeros(3))


def test_a_model_generates_from_the_flows_fitted_to_its_codes():
    from molyneux.core import Batch, Modality, Spec
    from molyneux.learn.vaes import DMVAE

    spec = Spec((Modality("a", "tabular", (4,)), Modality("b", "tabular", (3,))))
    torch.manual_seed(0)
    settings = ExPostFlow(layers=2, width=16, steps=60, samples=500)
    made, twin = (DMVAE(spec, latent_dim=2, private_dim={"a": 2}, prior=settings).eval() for _ in range(2))
    source = ArraySource(spec, Batch({"a": torch.randn(600, 4) + 5, "b": torch.randn(600, 3)}))
    assert isinstance(made, PostFit)
    made.post_fit(source, seed=1)
    codes = made.encode(source.batch(range(600))).mean
    drawn = made.prior(2000).rsample(1, noise())[0]
    for found, wanted in ((drawn.shared, codes.shared), (drawn.private["a"], codes.private["a"])):
        torch.testing.assert_close(found.mean(0), wanted.mean(0), atol=0.4, rtol=0)
    twin.load_state_dict(made.state_dict())
    assert torch.equal(twin.prior(9).rsample(2, noise()).private["a"], made.prior(9).rsample(2, noise()).private["a"])
    assert made.log_likelihood(source.batch(range(5)), 4, noise()).isfinite().all()


@pytest.mark.parametrize(
    ("value", "kind"),
    [({"components": 8}, ExPostMixture), ({"layers": 2}, ExPostFlow), ({"class_path": "ExPostFlow"}, ExPostFlow)],
)
def test_a_file_names_it_by_its_settings_or_its_class(value, kind):
    made = build_setting(ExPostMixture | ExPostFlow | None, value)
    assert type(made.value) is kind
    assert build_setting(ExPostMixture | ExPostFlow | None, made.plain).value == made.value


@pytest.mark.parametrize("settings", [{"layers": 0}, {"samples": 0}, {"bins": 1}, {"learning_rate": 0.0}])
def test_settings_are_checked(settings):
    with pytest.raises(ConfigError, match=r"prior\.\w+: expected"):
        ExPostFlow(**settings)
