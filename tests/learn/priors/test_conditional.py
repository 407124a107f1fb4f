"""Priors of private codes given the shared one: densities, samples, their part of the bound, and what they learn."""

import math
from typing import Annotated

import pytest
import torch
from scipy import integrate, stats

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, Trainable
from molyneux.core.config import Factory, Supplied
from molyneux.core.config import build as build_setting
from molyneux.data import ArraySource
from molyneux.learn import priors
from molyneux.learn.objectives import IWAE
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.priors import ExPostMixture
from molyneux.learn.priors.conditional import ConditionalFlow, ConditionalMixture, ConditionalNormal
from molyneux.learn.vaes import DMVAE

PRIORS = [
    ConditionalNormal(width=8),
    ConditionalMixture(components=3, width=8),
    ConditionalFlow(layers=2, width=8, bins=4),
]
SPEC = Spec((Modality("a", "tabular", (3,)), Modality("b", "tabular", (2,))))
EVERY = pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def density_of(prior, shared=2, private=1, spread=4.0):
    """A density that is far from a standard normal."""
    torch.manual_seed(3)
    made = prior.density(shared, private).requires_grad_(False)
    for part in [part for part in made.modules() if isinstance(part, torch.nn.Linear)]:
        part.weight.mul_(spread if part.weight.abs().max() < 0.05 else 1.0)
    return made


def build(private_prior, seed=0, **settings):
    torch.manual_seed(seed)
    given = {"latent_dim": 2, "private_dim": {"a": 2}, **settings}
    return DMVAE(SPEC, private_prior=private_prior, **given).eval()


def batch_of(size=12, missing=False):
    views = {"a": torch.randn(size, 3, generator=noise(1)), "b": torch.randn(size, 2, generator=noise(2))}
    return Batch(views, {"a": torch.arange(size) % 3 > 0} if missing else {})


@pytest.mark.parametrize("name", ["ConditionalNormal", "ConditionalMixture", "ConditionalFlow"])
def test_a_file_names_it_by_its_class(name):
    kind = Annotated[Factory[Trainable], Supplied(("spec",), "molyneux.learn")]
    chosen = {"private_dim": {"a": 2}, "private_prior": {"class_path": name, "init_args": {"width": 4}}}
    made = build_setting(kind, {"class_path": "DMVAE", "init_args": chosen})
    assert type(made.value.make(spec=SPEC).private_priors["a"]) is type(getattr(priors, name)(width=4).density(24, 2))
    assert made.plain["init_args"]["private_prior"]["init_args"]["width"] == 4


@EVERY
def test_the_density_has_mass_one_and_samples_follow_it(prior):
    given = density_of(prior).given(torch.tensor([[0.5, -1.0]]))
    grid = torch.linspace(-12, 12, 6001).reshape(-1, 1, 1)
    density, points = given.log_prob(grid).exp().squeeze(-1).numpy(), grid.flatten().numpy()
    assert integrate.trapezoid(density, points) == pytest.approx(1.0, abs=5e-3)
    drawn = given.rsample((20_000,), noise()).flatten()
    mean = integrate.trapezoid(points * density, points)
    assert drawn.mean().item() == pytest.approx(mean, abs=0.05)
    assert given.mean.item() == pytest.approx(mean, abs=0.25)
    assert drawn.square().mean().item() == pytest.approx(integrate.trapezoid(points**2 * density, points), rel=0.05)


@EVERY
def test_leading_axes_are_kept(prior):
    given = density_of(prior, private=3).given(torch.randn(4, 5, 2, generator=noise()))
    assert given.mean.shape == (4, 5, 3)
    assert given.rsample((), noise()).shape == (4, 5, 3)
    assert given.log_prob(torch.zeros(4, 5, 3)).shape == (4, 5)
    assert given.log_prob(torch.zeros(7, 4, 1, 3)).shape == (7, 4, 5)


def test_the_mixture_is_the_sum_of_its_components():
    given = density_of(ConditionalMixture(components=3, width=8), private=2).given(torch.tensor([[0.5, -1.0]]))
    code = torch.tensor([[0.3, -0.7]])
    total = 0.0
    for weight, loc, log_variance in zip(
        given.log_weights[0].exp(), given.components.loc[0], given.components.log_variance[0], strict=True
    ):
        total += weight.item() * stats.norm.pdf(code[0], loc, (0.5 * log_variance).exp()).prod()
    assert given.log_prob(code).item() == pytest.approx(math.log(total), rel=1e-4)


@EVERY
def test_the_divergence_in_the_loss_is_that_from_the_prior_given_the_code(prior):
    """Against SciPy, sample by sample, with the codes that the model draws."""
    model = build(prior)
    batch = batch_of(4000, missing=True)
    observation = model.observe(batch)
    found = model.loss(batch, Progress(0, 1), noise(5)).terms["rate.private.a"].item()
    stack, private = model.stacked(observation, None), observation.private["a"]
    generator = noise(7)
    total = torch.zeros(len(batch))
    for _ in range(10):
        shared, code = stack.rsample(1, generator)[0], private.rsample((), generator)
        posterior = stats.norm(private.loc.detach(), private.stddev.detach()).logpdf(code.detach()).sum(-1)
        for row, weight in zip(shared, stack.weight, strict=True):
            learned = model.prior(len(batch)).private["a"].given(row).log_prob(code).detach()
            total += weight * batch.mask("a") * (torch.from_numpy(posterior).float() - learned) / 10
    assert found == pytest.approx(total.mean().item(), rel=0.03, abs=0.02)


@EVERY
@pytest.mark.parametrize("objective", [None, IWAE(3)], ids=["ELBO", "IWAE"])
def test_gradient_reaches_the_prior_and_absent_modalities_cost_nothing(prior, objective):
    model = build(prior, objective=objective).train()
    batch = batch_of(40, missing=True)
    model.loss(batch, Progress(0, 1), noise()).total.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())
    nothing = model.loss(batch.observe([]), Progress(0, 1), noise())
    assert all(abs(term.item()) < 1e-5 for term in (nothing.total, *nothing.terms.values()))
    partly = Batch({**batch.views, "a": torch.where(batch.mask("a")[:, None], batch.views["a"], torch.nan)}, batch.present)
    assert torch.equal(model.loss(batch, Progress(0, 1), noise()).total, model.loss(partly, Progress(0, 1), noise()).total)


@EVERY
def test_codes_of_what_is_not_observed_follow_the_prior_given_the_shared_code(prior):
    model = build(prior)
    batch = batch_of(30, missing=True)
    posterior, mask = model.encode(batch), batch.mask("a")
    codes = posterior.rsample(4, noise())
    learned = model.prior(30).private["a"].given(codes.shared).log_prob(codes.private["a"])
    found = posterior.log_probs(codes)["private.a"]
    torch.testing.assert_close(found[:, ~mask], learned[:, ~mask])
    whole = model.encode(batch[mask]).private["a"]
    torch.testing.assert_close(found[:, mask], whole.log_prob(codes.private["a"][:, mask]))
    nothing = batch.observe([])
    assert model.log_likelihood(nothing, 4, noise()).abs().max() < 1e-4


@EVERY
def test_importance_sampling_finds_the_evidence_by_brute_force(prior):
    """p(x) by averaging p(x|z) over many codes of the prior, for views of two modalities."""
    model = build(prior).requires_grad_(False)
    for encoder in model.encoders.values():  # wide posteriors, whose importance weights vary little
        encoder[-1].bias[2:4] += 1.5
        encoder[-1].bias[6:] += 1.5
    batch = batch_of(3)
    found = model.log_likelihood(batch, 10_000, noise())
    codes = model.prior(1).rsample(100_000, noise(3))
    views = model.decode(codes)
    for row in range(3):
        each = sum(views[name].log_prob(batch.views[name][row : row + 1]) for name in SPEC.names)
        brute = torch.logsumexp(each, 0) - math.log(len(each))
        assert found[row].item() == pytest.approx(brute.item(), abs=0.1)


def test_a_prior_fitted_after_training_is_one_of_the_shared_code_alone():
    model = build(PRIORS[0], prior=ExPostMixture(2, 50))
    source = ArraySource(SPEC, batch_of(60))
    model.post_fit(source, seed=0)
    assert set(model.fitted.private.keys()) == set()
    prior = model.prior(5)
    assert prior.private["a"] is model.private_priors["a"]
    other = build(PRIORS[0], seed=4, prior=ExPostMixture(2, 50))
    other.load_state_dict(model.state_dict())
    assert torch.equal(other.prior(5).rsample(2, noise()).private["a"], prior.rsample(2, noise()).private["a"])


def test_without_one_nothing_has_changed():
    torch.manual_seed(0)
    plain = DMVAE(SPEC, latent_dim=2, private_dim={"a": 2}).eval()
    assert not [name for name in plain.state_dict() if "prior" in name]
    model, batch = build(None), batch_of()
    assert torch.equal(plain.loss(batch, Progress(0, 1), noise()).total, model.loss(batch, Progress(0, 1), noise()).total)
    private = model.observe(batch).private["a"]
    rate = model.loss(batch, Progress(0, 1), noise()).terms["rate.private.a"]
    torch.testing.assert_close(rate, 3 * private.kl().mean())


@EVERY
def test_it_learns_how_the_private_code_depends_on_the_shared_one(prior):
    shared = torch.randn(256, 2, generator=noise())
    private = shared[:, :1] + 0.1 * torch.randn(256, 1, generator=noise(1))
    torch.manual_seed(0)
    made = prior.density(2, 1)
    optimizer = torch.optim.Adam(made.parameters(), 2e-2)
    for _ in range(80):
        optimizer.zero_grad()
        loss = -made.given(shared).log_prob(private).mean()
        loss.backward()
        optimizer.step()
    independent = 0.5 * math.log(2 * math.pi * math.e * private.var().item())
    assert loss.item() < independent - 1.0  # the entropy of the noise is 2.3 nats below that of the code


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (ConditionalNormal, {"width": 0}),
        (ConditionalMixture, {"components": 0}),
        (ConditionalFlow, {"bins": 1}),
    ],
)
def test_settings_are_checked(kind, settings):
    with pytest.raises(ConfigError, match=r"private_prior\.\w+: expected at least"):
        kind(**settings)


def test_the_closed_form_of_two_normals():
    first, second = (
        DiagonalNormal(torch.randn(4, 2, generator=noise(s)), torch.randn(4, 2, generator=noise(s + 9))) for s in (0, 1)
    )
    codes = first.rsample((200_000,), noise())
    torch.testing.assert_close(
        first.kl_to(second), (first.log_prob(codes) - second.log_prob(codes)).mean(0), atol=0.05, rtol=0.02
    )
    torch.testing.assert_close(first.kl_to(DiagonalNormal.standard((4, 2))), first.kl())
