"""The loss of each model, computed again in NumPy from the formula of its paper and the codes that the model drew."""

import math

import numpy as np
import pytest
import torch

from molyneux.core import Batch, Progress
from molyneux.learn.objectives import ELBO
from molyneux.learn.vaes import CMVAE, HELVAE, MMJSD, MMVM, MVTCAE, CoDEVAE, GPoE, MMVAEPlus

START = Progress(0, 1)
SIZE, COUNT, DIM, PRIVATE, BETA = 5, 3, 2, 2, 1.3
PRESENT = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [1, 0, 1, 1, 1]], dtype=bool)


class Case:
    """A model with linear nets, a batch, its loss and the codes that it decoded, as arrays; everything else is computed here."""

    def __init__(self, linear, kind, *, missing=True, change=None, **settings):
        self.model = linear.build(kind, COUNT, objective=ELBO(BETA), **settings)
        if change is not None:
            with torch.no_grad():
                change(self.model)
        self.scale = linear.SCALE
        self.views = {name: view.double().numpy() for name, view in linear.views_of(self.model, SIZE).items()}
        self.present = PRESENT if missing else np.ones_like(PRESENT)
        views = {name: torch.from_numpy(view).float() for name, view in self.views.items()}
        batch = Batch(views, {name: torch.from_numpy(mask) for name, mask in zip(views, self.present, strict=True)})
        self.codes = {}
        for name, net in self.model.decoders.items():
            net.register_forward_pre_hook(lambda _, codes, key=name: self.codes.update({key: codes[0].detach().double().numpy()}))
        self.loss = self.model.loss(batch, START, torch.Generator().manual_seed(0)).total.item()
        self.batch = batch

    def experts(self):
        """Means and variances of the shared and private parts, each (M, B, D)."""
        parts = []
        for name, view in self.views.items():
            layer = self.model.encoders[name]
            raw = view @ layer.weight.detach().double().numpy().T + layer.bias.detach().double().numpy()
            bounded = 10 * np.tanh(raw / 10)
            loc, variance = raw[:, :DIM], np.exp(bounded[:, DIM : 2 * DIM])
            parts.append((loc, variance, raw[:, 2 * DIM : 2 * DIM + PRIVATE], np.exp(bounded[:, 2 * DIM + PRIVATE :])))
        return [np.stack(item) for item in zip(*parts, strict=True)]

    def log_likelihood(self, m, codes):
        """log p(x_m | codes) of codes (..., B, D + P), (..., B)."""
        name = self.model.spec.names[m]
        layer = self.model.decoders[name].body[0]
        mean = codes @ layer.weight.detach().double().numpy().T + layer.bias.detach().double().numpy()
        return log_normal(self.views[name], mean, self.scale**2)


def log_normal(x, mean, variance):
    return (-0.5 * ((x - mean) ** 2 / variance + np.log(2 * math.pi * variance))).sum(-1)


def log_laplace(x, mean, variance):
    scale = np.sqrt(variance / 2)
    return (-np.abs(x - mean) / scale - np.log(2 * scale)).sum(-1)


def kl(mean, variance, other=0.0, other_variance=1.0):
    """Divergence of one normal distribution from another, summed over dimensions."""
    ratio = variance / other_variance
    return 0.5 * (ratio + (mean - other) ** 2 / other_variance - 1 - np.log(ratio)).sum(-1)


def product(means, variances, powers):
    """Product of normal densities raised to powers."""
    precision = sum(power / variance for power, variance in zip(powers, variances, strict=True))
    weighted = sum(power * mean / variance for power, mean, variance in zip(powers, means, variances, strict=True))
    return weighted / precision, 1 / precision


def each_sample(case):
    """The numbers of the samples, and of the modalities that each has."""
    return [(b, np.flatnonzero(case.present[:, b])) for b in range(SIZE)]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_mvtcae(alpha, linear):
    case = Case(linear, MVTCAE, alpha=alpha)
    means, variances, *_ = case.experts()
    total = 0.0
    for b, seen in each_sample(case):
        n = len(seen)
        mean, variance = product(means[seen, b], variances[seen, b], np.ones(n))
        distortion = -sum(case.log_likelihood(m, case.codes[f"m{m}"])[0, b] for m in seen)
        if n == 1:
            total += distortion + BETA * kl(mean, variance)
            continue
        conditional = sum(kl(mean, variance, means[m, b], variances[m, b]) for m in seen)
        published = (n - alpha) / n * distortion + BETA * ((1 - alpha) * kl(mean, variance) + alpha / n * conditional)
        total += published * n / (n - alpha)
    assert case.loss == pytest.approx(total / SIZE, rel=1e-4)


@pytest.mark.parametrize("samples", ["stratified", "drawn"])
def test_mmjsd(samples, linear):
    case = Case(linear, MMJSD, samples=samples, private_dim={"m0": PRIVATE, "m1": PRIVATE, "m2": PRIVATE})
    means, variances, private_means, private_variances = case.experts()
    total = 0.0
    for b, seen in each_sample(case):
        weights = np.full(len(seen) + 1, 1 / (len(seen) + 1))
        every_mean = [*means[seen, b], np.zeros(DIM)]
        every_variance = [*variances[seen, b], np.ones(DIM)]
        dynamic = product(every_mean, every_variance, weights)
        total += BETA * sum(w * kl(*part, *dynamic) for w, *part in zip(weights, every_mean, every_variance, strict=True))
        for m in seen:
            each = case.log_likelihood(m, case.codes[f"m{m}"])[:, b]
            total -= each[seen].mean() if samples == "stratified" else each[0]
            total += BETA * kl(private_means[m, b], private_variances[m, b])
    assert case.loss == pytest.approx(total / SIZE, rel=1e-4)


def test_gpoe(linear):
    case = Case(linear, GPoE, change=lambda model: model.logits.normal_(generator=torch.Generator().manual_seed(0)))
    means, variances, *_ = case.experts()
    powers = np.exp(case.model.logits.detach().double().numpy())
    total = 0.0
    for b, seen in each_sample(case):
        alpha = powers[seen] / powers[seen].sum(0)
        np.testing.assert_allclose(alpha.sum(0), 1)
        mean, variance = product(means[seen, b], variances[seen, b], alpha)
        assert (variance <= variances[seen, b].max(0) + 1e-9).all()
        assert (variance >= variances[seen, b].min(0) - 1e-9).all()
        total += BETA * kl(mean, variance) - sum(case.log_likelihood(m, case.codes[f"m{m}"])[0, b] for m in seen)
    assert case.loss == pytest.approx(total / SIZE, rel=1e-4)
    posterior = case.model.encode(case.batch, ["m1", "m2"]).shared
    mean, _ = product(means[1:, 2], variances[1:, 2], np.exp([[-np.inf] * DIM, np.log(powers[2])]))
    np.testing.assert_allclose(posterior.mean[2].detach(), mean, rtol=1e-4)


def grid_moments(means, variances):
    """Mean and variances of (sum_m sqrt(q_m))^2 in two dimensions, by summation over a grid."""
    axis = np.linspace(-12, 12, 600)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    roots = sum(np.exp(0.5 * log_normal(points, mean, variance)) for mean, variance in zip(means, variances, strict=True))
    density = roots**2 / (roots**2).sum()
    mean = density @ points
    return mean, density @ (points - mean) ** 2


def test_helvae(linear):
    case = Case(linear, HELVAE)
    means, variances, *_ = case.experts()
    total = 0.0
    for b, seen in each_sample(case):
        mean, variance = grid_moments(means[seen, b], variances[seen, b])
        total += BETA * kl(mean, variance) - sum(case.log_likelihood(m, case.codes[f"m{m}"])[0, b] for m in seen)
    assert case.loss == pytest.approx(total / SIZE, rel=1e-3)


def test_the_exact_pool_of_helvae(linear):
    case = Case(linear, HELVAE, pooling="exact")
    means, variances, *_ = case.experts()
    pairs = [(i, j) for i in range(COUNT) for j in range(i, COUNT)]
    codes, total = case.codes["m0"], 0.0

    def root(m, at, b):
        return np.exp(0.5 * log_normal(at, means[m, b], variances[m, b]))

    for b, seen in each_sample(case):
        overlap = {}
        for i, j in pairs:
            between = (means[i, b] - means[j, b]) ** 2 / (variances[i, b] + variances[j, b])
            spread = np.sqrt(2 * np.sqrt(variances[i, b] * variances[j, b]) / (variances[i, b] + variances[j, b]))
            known = i in seen and j in seen
            overlap[i, j] = known * (1 if i == j else 2) * (spread * np.exp(-between / 4)).prod()
        whole = sum(overlap.values())  # the integral of the squared sum of roots
        for s, pair in enumerate(pairs):
            density = 2 * np.log(sum(root(m, codes[s, b], b) for m in seen)) - np.log(whole)
            rate = density - log_normal(codes[s, b], 0.0, 1.0)
            distortion = -sum(case.log_likelihood(m, case.codes[f"m{m}"])[s, b] for m in seen)
            total += overlap[pair] / whole * (distortion + BETA * rate) if overlap[pair] else 0.0
    assert case.loss == pytest.approx(total / SIZE, rel=1e-4)


@pytest.mark.parametrize("standard", [0.0, 0.25])
@pytest.mark.parametrize("divergence", ["bound", "monte_carlo"])
def test_mmvm(divergence, standard, linear):
    case = Case(linear, MMVM, divergence=divergence, standard=standard)
    means, variances, *_ = case.experts()
    total = 0.0
    for b, seen in each_sample(case):
        for m in seen:
            codes = case.codes[f"m{m}"][0, b]
            total -= case.log_likelihood(m, case.codes[f"m{m}"])[0, b]
            if divergence == "bound":
                others = np.mean([kl(means[m, b], variances[m, b], means[n, b], variances[n, b]) for n in seen])
                total += BETA * ((1 - standard) * others + standard * kl(means[m, b], variances[m, b]))
            else:
                mixture = np.mean([np.exp(log_normal(codes, means[n, b], variances[n, b])) for n in seen])
                prior = (1 - standard) * mixture + standard * np.exp(log_normal(codes, 0.0, 1.0))
                total += BETA * (log_normal(codes, means[m, b], variances[m, b]) - np.log(prior))
    assert case.loss == pytest.approx(total / SIZE, rel=1e-4)


def stratified_bound(case, log_density, log_prior, private_kl):
    """The bound of MMVAE+: of each expert a sample, and private codes of which only its own modality infers one."""
    means, variances, private_means, private_variances = case.experts()
    total = 0.0
    for b, seen in each_sample(case):
        for m in seen:
            shared = case.codes["m0"][m, b, :DIM]
            density = np.log(np.mean([np.exp(log_density(shared, means[n, b], variances[n, b])) for n in seen]))
            likelihood = sum(case.log_likelihood(n, case.codes[f"m{n}"])[m, b] for n in seen)
            rate = density - log_prior(shared) + private_kl(private_means[m, b], private_variances[m, b])
            total += (BETA * rate - likelihood) / len(seen)
    return total / SIZE


def laplace_kl(mean, variance):
    scale, distance = np.sqrt(variance / 2), np.abs(mean)
    return (distance + scale * np.exp(-distance / scale) - 1 - np.log(scale)).sum(-1)


FAMILIES = {"normal": (log_normal, kl, 1.0), "laplace": (log_laplace, laplace_kl, 2.0)}


@pytest.mark.parametrize("family", ["normal", "laplace"])
def test_mmvae_plus(family, linear):
    case = Case(linear, MMVAEPlus, private_dim=PRIVATE, family=family)
    density, private_kl, unit = FAMILIES[family]
    expected = stratified_bound(case, density, lambda codes: density(codes, 0.0, unit), private_kl)
    assert case.loss == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("family", ["normal", "laplace"])
def test_cmvae(family, linear):
    case = Case(
        linear, CMVAE, private_dim=PRIVATE, family=family, clusters=4, change=lambda model: model.loss_prior.logits.normal_()
    )
    density, private_kl, unit = FAMILIES[family]
    means = case.model.loss_prior.means.detach().double().numpy()
    weights = case.model.loss_prior.logits.detach().double().softmax(0).numpy()

    def log_prior(codes):
        """The paper's sum over clusters, with q(c | z) in proportion to p(c) p(z | c)."""
        each = weights * np.exp(density(codes, means, unit))
        share = each / each.sum()
        found = case.model.assign(torch.from_numpy(codes).float()[None])[0].detach()
        np.testing.assert_allclose(found, share, rtol=1e-4)
        return (share * (np.log(weights) + density(codes, means, unit) - np.log(share))).sum()

    assert case.loss == pytest.approx(stratified_bound(case, density, log_prior, private_kl), rel=1e-4)


def test_private_codes_of_other_modalities_come_from_the_auxiliary_priors(linear):
    def change(model):
        for parameter in model.auxiliary.log_variances.values():
            parameter.fill_(-12.0)

    case = Case(linear, MMVAEPlus, private_dim=PRIVATE, missing=False, change=change)
    for m in range(COUNT):
        private = np.abs(case.codes[f"m{m}"][:, :, DIM:]).max((1, 2))
        assert [bool(size < 0.05) for size in private] == [n != m for n in range(COUNT)]
    shared = [codes[..., :DIM] for codes in case.codes.values()]
    assert all(np.array_equal(shared[0], other) for other in shared)
    generated = case.model.prior(4000).rsample(1, torch.Generator().manual_seed(0))[0].private["m1"]
    assert generated.std().item() == pytest.approx(
        math.sqrt(2), rel=0.1
    )  # the standard Laplace prior, whatever the auxiliary one


def consensus(means, variances, correlation):
    """Winkler's posterior in each dimension, from the covariance matrix of the experts' errors."""
    mean, variance = np.empty(DIM), np.empty(DIM)
    for d in range(DIM):
        spread = np.sqrt(variances[:, d])
        covariance = correlation * np.outer(spread, spread)
        np.fill_diagonal(covariance, spread**2)
        inverse = np.linalg.inv(covariance)
        variance[d] = 1 / inverse.sum()
        mean[d] = inverse.sum(0) @ means[:, d] * variance[d]
    return mean, variance


@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.9])
def test_codevae(correlation, linear):
    case = Case(linear, CoDEVAE, correlation=correlation, entropy=7.0, change=lambda model: model.logits.normal_())
    means, variances, *_ = case.experts()
    subsets = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]  # the order of `all_subsets`
    table = torch.softmax(case.model.logits.detach().double(), 0).numpy()
    share = {subset: table[sum(2**m for m in subset) - 1] for subset in subsets}
    total = 7.0 * (math.log(7) + sum(item * math.log(item) for item in share.values())) * SIZE
    for b, seen in each_sample(case):
        known = [subset for subset in subsets if set(subset) <= set(seen)]
        whole = sum(share[subset] for subset in known)
        for subset in known:
            members, s = list(subset), subsets.index(subset)
            rate = kl(*consensus(means[members, b], variances[members, b], correlation))
            likelihood = sum(case.log_likelihood(m, case.codes[f"m{m}"])[s, b] for m in seen)
            total += share[subset] / whole * (BETA * rate - likelihood)
    assert case.loss == pytest.approx(total / SIZE, rel=1e-4)
    everything = case.model.encode(case.batch).shared
    mean, variance = consensus(means[:, 0], variances[:, 0], correlation)
    np.testing.assert_allclose(everything.mean[0].detach(), mean, rtol=1e-3)
    np.testing.assert_allclose(everything.variance[0].detach(), variance, rtol=1e-3)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_one_subset_for_each_sample_has_the_loss_of_codevae_in_expectation(missing, linear):
    losses = []
    for subsets in ("all", "drawn"):
        model = linear.build(CoDEVAE, 3, subsets=subsets)
        with torch.no_grad():
            model.logits.copy_(torch.linspace(-1, 1, 7))
        views = {name: view.repeat(4000, 1) for name, view in linear.views_of(model, 3).items()}
        present = {name: torch.rand(3, generator=torch.Generator().manual_seed(i)) >= missing for i, name in enumerate(views)}
        batch = Batch(views, {name: mask.repeat(4000) for name, mask in present.items()})
        with torch.no_grad():
            losses.append(model.loss(batch, START, torch.Generator().manual_seed(0)).total.item())
    assert losses[1] == pytest.approx(losses[0], rel=0.03)


def drawn_from(case):
    """The mean of the codes that bounds draw, by weight."""
    stack = case.model.stacked(case.model.observe(case.batch), None)
    codes = stack.rsample(4000, torch.Generator().manual_seed(0))
    return (codes.mean(0) * (stack.weight / stack.weight.sum(0).clamp_min(1e-9)).unsqueeze(-1)).sum(0).detach()


@pytest.mark.parametrize("kind", [MVTCAE, MMJSD, GPoE, HELVAE, MMVM, MMVAEPlus, CMVAE], ids=lambda kind: kind.__name__)
def test_the_codes_of_the_loss_are_those_of_the_posterior(kind, linear):
    case = Case(linear, kind)
    posterior = case.model.encode(case.batch).shared
    torch.testing.assert_close(drawn_from(case), posterior.mean.detach(), atol=0.1, rtol=0.05)
