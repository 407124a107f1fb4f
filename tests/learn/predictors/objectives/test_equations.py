"""The auxiliary objectives against closed forms, brute force, torch.distributions and the published check values."""

import math
from dataclasses import replace

import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm
from torch.distributions import Categorical, Normal, kl_divergence
from torch.nn import functional

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, SpecError, Target
from molyneux.learn import FusionPredictor
from molyneux.learn.encoders import MLP, Encoding, EncodingSpec, Identity
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.fusion import ProductOfExperts
from molyneux.learn.objectives import Warmup
from molyneux.learn.objectives.contrast import info_nce
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.predictors.fusion_predictor import TargetLoss
from molyneux.learn.predictors.imputations import MeanImputation
from molyneux.learn.predictors.objectives import (
    MFM,
    Contrastive,
    InStages,
    MultiSimilarity,
    PredictorStep,
    PublishedMFM,
    PublishedMVAE,
    RefNet,
    RefNetReconstruction,
    SupervisedMVAE,
)
from molyneux.learn.predictors.objectives.mfm import discrepancy_from_normal
from molyneux.learn.predictors.objectives.reconstruction import Reconstructions, sigmoid_cross_entropy

START = Progress(0, 10)
A, B = Modality("a", "tabular", (2,)), Modality("b", "tabular", (2,))
SPEC = Spec((A, B), targets=(Target("y", "class", ("no", "yes")),))


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def samples(size=9, seed=0, **present):
    views = {"a": draw(size, 2, seed=seed), "b": draw(size, 2, seed=seed + 1)}
    return Batch(views, present, targets={"y": torch.arange(size) % 2})


def step_of(vectors, features):
    """A step in which modalities have these vectors, which are their views too, and both classes the same probability."""
    batch = Batch(vectors, targets={"y": torch.zeros(len(features), dtype=torch.long)})
    encodings = {name: Encoding(x, x.unsqueeze(1), torch.ones(len(x), 1, dtype=torch.bool)) for name, x in vectors.items()}
    found = {"y": Categorical(logits=torch.zeros(len(features), 2))}
    return PredictorStep(batch, SPEC, encodings, features, found, START, model=None)


@pytest.mark.parametrize("objective", [RefNet(1.0), RefNet(1.0, refined="encodings"), RefNetReconstruction(1.0, ())])
def test_refnet_with_an_identity_refiner_one_perfect_and_one_orthogonal_modality(objective):
    """The published check value: two equal logits, weight 1: ln 2 + 0 + 1."""
    encodings = {name: EncodingSpec(name, "tabular", 2, 1, 2, (2,), sequence=False) for name in ("a", "b")}
    loss = objective.build(SPEC, encodings, 2)
    features, other = torch.tensor([[3.0, 4.0]]), torch.tensor([[-8.0, 6.0]])
    with torch.no_grad():
        for name, parameter in loss.named_parameters():
            identity = torch.eye(2).repeat(len(parameter) // 2, 1) if parameter.dim() == 2 else torch.zeros_like(parameter)
            assert name.endswith(("weight", "bias"))
            parameter.copy_(identity)
    step = step_of({"a": 5 * features, "b": other}, features)
    found = loss(step)
    assert [*found.terms.values()] == pytest.approx([0, 1], abs=1e-6)
    model = FusionPredictor(SPEC)
    model.objectives.append(loss)
    assert model.step_loss(step).total.item() == pytest.approx(math.log(2) + 0 + 1, abs=1e-6)


def test_info_nce_by_brute_force():
    first, second = (functional.normalize(draw(6, 4, seed=seed), dim=1) for seed in (0, 1))
    expected = 0.0
    for one, two in ((first, second), (second, first)):
        for i in range(6):
            shares = [math.exp(5.0 * float(one[i] @ two[j])) for j in range(6)]
            expected -= math.log(shares[i] / sum(shares)) / 12
    assert info_nce(first, second, 5.0).item() == pytest.approx(expected, rel=1e-5)
    assert info_nce(first[:1].expand(7, -1), second[:1].expand(7, -1), 20.0).item() == pytest.approx(math.log(7), rel=1e-5)
    assert info_nce(torch.eye(4), torch.eye(4), 100.0).item() == pytest.approx(0, abs=1e-6)
    assert info_nce(first[:0], second[:0], 1.0) == info_nce(first[:1], second[:1], 1.0) == 0


def test_the_temperature_is_learned_and_bounded():
    objective = FusionPredictor(SPEC, objectives=(Contrastive(width=3),)).objectives[0]
    assert objective.scale.item() == pytest.approx(1 / 0.07, rel=1e-5)
    optimiser = torch.optim.SGD(objective.parameters(), 1.0)
    reached = []
    for sign, steps in ((-1.0, 20), (1.0, 20), (-1.0, 3)):
        for _ in range(steps):
            optimiser.zero_grad()
            (sign * objective.scale.log()).backward()
            optimiser.step()
        reached.append(objective.scale.item())
    assert reached[0] == pytest.approx(100, rel=1e-5)
    assert reached[1] == pytest.approx(1, rel=1e-5)
    assert 1 < reached[2] <= 100  # it comes back from a bound


def test_multi_similarity_by_brute_force():
    cosines = functional.normalize(draw(8, 3), dim=1)
    cosines, labels = cosines @ cosines.T, torch.tensor([0, 0, 1, 1, 1, 2, 0, 1])
    for margin in (None, 0.1):
        settings = MultiSimilarity(alpha=2.0, beta=10.0, threshold=0.3, margin=margin)
        model = settings.build(SPEC, {}, 3)
        expected = []
        for i in range(8):
            positive = [float(cosines[i, j]) for j in range(8) if j != i and labels[i] == labels[j]]
            negative = [float(cosines[i, j]) for j in range(8) if labels[i] != labels[j]]
            if margin is not None:
                closest, farthest = max(negative), min(positive, default=math.inf)
                positive, negative = [s for s in positive if s < closest + 0.1], [s for s in negative if s > farthest - 0.1]
            pull = math.log1p(sum(math.exp(-2 * (s - 0.3)) for s in positive)) / 2
            expected.append(pull + math.log1p(sum(math.exp(10 * (s - 0.3)) for s in negative)) / 10)
        found = model.each(cosines, labels.unsqueeze(1) == labels, torch.ones(8, dtype=torch.bool))
        torch.testing.assert_close(found, torch.tensor(expected), rtol=1e-4, atol=1e-6)


def test_the_discrepancy_by_numerical_integration():
    codes, width = draw(5, 1), 0.7

    def kernel(x, y):
        return math.exp(-((x - y) ** 2) / (2 * width))

    values = codes.flatten().tolist()
    inside = sum(kernel(x, y) for x in values for y in values) / 25
    across = sum(quad(lambda y, x=x: kernel(x, y) * norm.pdf(y), -12, 12)[0] for x in values) / 5
    prior = quad(lambda d: math.exp(-(d**2) / (2 * width)) * norm.pdf(d, scale=math.sqrt(2)), -20, 20)[0]  # y - y' has variance 2
    assert discrepancy_from_normal(codes, (width,)).item() == pytest.approx(inside + prior - 2 * across, rel=1e-4)


def test_the_discrepancy_is_small_for_normal_codes_alone():
    normal, shifted, narrow = draw(800, 6), draw(800, 6) + 0.5, 0.3 * draw(800, 6)
    small, *large = (discrepancy_from_normal(codes, (0.5, 1.0)).item() for codes in (normal, shifted, narrow))
    drawn = draw(800, 6, seed=9)
    pairs = [torch.cdist(a, b).square() for a, b in ((shifted, shifted), (drawn, drawn), (shifted, drawn))]
    sampled = sum(
        sign * (-pair / (12 * b)).exp().mean() / 2 for b in (0.5, 1.0) for pair, sign in zip(pairs, (1, 1, -2), strict=True)
    )
    assert 0 <= small < 0.005
    assert min(large) > 10 * small
    assert large[0] == pytest.approx(sampled.item(), abs=0.01)
    assert discrepancy_from_normal(normal[:0]) == 0


def test_published_check_values_of_reconstruction_and_bound():
    zeros, ones = torch.zeros(1, 5), torch.ones(1, 5)
    assert sigmoid_cross_entropy(zeros, zeros).mean().item() == pytest.approx(0.693147, abs=1e-6)
    assert sigmoid_cross_entropy(ones, ones).mean().item() == pytest.approx(0.582203, abs=1e-6)
    posterior = DiagonalNormal(torch.ones(1, 2), torch.zeros(1, 2))
    assert (sigmoid_cross_entropy(zeros, zeros).mean(1) + posterior.kl()).item() == pytest.approx(1.693147, abs=1e-6)


@pytest.mark.parametrize("kind", ["likelihood", "mse", "sigmoid"])
def test_costs_of_a_reconstruction_count_what_is_within_the_length(kind):
    torch.manual_seed(0)
    spec = Spec((Modality("s", "series", (4, 3)),))
    decoders = Reconstructions(spec, ("s",), {"series": Dense(5, 1)}, 2, kind)
    view, lengths = draw(3, 4, 3), torch.tensor([4, 1, 2])
    batch, codes = Batch({"s": view}, lengths={"s": lengths}), draw(3, 2, seed=4)
    empty = torch.zeros(3, 1)
    step = PredictorStep(batch, spec, {"s": Encoding(empty, empty.unsqueeze(1), empty > 1)}, codes, {}, START, model=None)
    decoder = decoders.decoders["s"].decoder
    raw = (decoder.body if kind == "likelihood" else decoder)(codes).reshape(3, 4, 3)
    for row, length in enumerate(lengths.tolist()):
        made, true = raw[row, :length], view[row, :length]
        if kind == "likelihood":
            expected = -Normal(made, 1.0).log_prob(true).sum()
        elif kind == "mse":
            expected = (made - true).square().mean()
        else:
            expected = functional.binary_cross_entropy(made.sigmoid(), true.sigmoid())
        torch.testing.assert_close(decoders("s", codes, step)[row], expected)


def mvae(objective, **settings):
    torch.manual_seed(0)
    encoders = {"tabular": MLP((), 4)}
    return FusionPredictor(SPEC, encoders=encoders, fusion=ProductOfExperts(3), objectives=(objective,), **settings).eval()


def parts(model, batch):
    """Means and variances of the experts, by independent arithmetic."""
    encodings = model.encodings(batch)
    raw = {name: layer(encodings[name].vector) for name, layer in model.fusion.projections.layers.items()}
    return {name: (item[:, :3], (10 * torch.tanh(item[:, 3:] / 10)).exp()) for name, item in raw.items()}


def test_the_bound_by_the_distributions_of_torch():
    model, batch = mvae(SupervisedMVAE(weight=0.5, beta=2.0, scales={"b": 3.0})), samples()
    loss, experts, views = model.loss(batch, START), parts(model, batch), batch.views
    precision = 1 + sum(1 / variance for _, variance in experts.values())
    joint = sum(mean / variance for mean, variance in experts.values()) / precision
    prior = Normal(torch.zeros(3), 1.0)
    expected = {"rate": kl_divergence(Normal(joint, precision.rsqrt()), prior).sum(1)}
    for name, (mean, variance) in experts.items():
        own = Normal(mean / (1 + variance), (variance / (1 + variance)).sqrt())  # times the prior
        expected[f"alone/rate.{name}"] = kl_divergence(own, prior).sum(1)
        body = model.objectives[0].reconstructions.decoders[name].decoder.body
        for term, code in ((f"distortion.{name}", joint), (f"alone/distortion.{name}", own.mean)):
            expected[term] = -Normal(body(code)[:, 0], 1.0).log_prob(views[name]).sum(1)
    for name, each in expected.items():
        torch.testing.assert_close(loss.terms[name], each.mean().detach())
    scales = {name: 2.0 if "rate" in name else 3.0 if name.endswith("b") else 1.0 for name in expected}
    total = loss.terms["nll.y"] + 0.5 * sum(scales[name] * each.mean() for name, each in expected.items())
    torch.testing.assert_close(loss.total, total)


def test_codes_are_drawn_where_there_is_a_generator_and_the_divergence_is_annealed():
    model, batch = mvae(SupervisedMVAE(beta=Warmup(1.0, fraction=0.5))), samples()
    mean, drawn = (model.loss(batch, START, item) for item in (None, torch.Generator().manual_seed(0)))
    assert mean.terms["distortion.a"] != drawn.terms["distortion.a"]
    late = model.loss(batch, Progress(10, 10))
    rates = sum(term for name, term in late.terms.items() if "rate" in name)
    torch.testing.assert_close(late.total - mean.total, rates)


def test_the_published_mvae_has_no_divergence_and_experts_without_the_prior():
    model, batch = mvae(PublishedMVAE(weight=0.5), target_weight=2.0), samples()
    loss, experts = model.loss(batch, START), parts(model, batch)
    assert not any("rate" in name for name in loss.terms)
    decoder = model.objectives[0].reconstructions.decoders["a"].decoder
    expected = functional.binary_cross_entropy(decoder(experts["a"][0])[:, 0].sigmoid(), batch.views["a"].sigmoid())
    torch.testing.assert_close(loss.terms["alone/distortion.a"], expected.detach())
    added = sum(term for name, term in loss.terms.items() if "distortion" in name)
    torch.testing.assert_close(loss.total.detach(), 2 * loss.terms["nll.y"] + 0.5 * added)


def test_mfm_reconstructs_from_the_private_and_the_shared_factor():
    torch.manual_seed(0)
    settings = MFM(weight=0.5, mmd=3.0, private=3, hidden=(), decoders={"a": Dense(4, 1)})
    model, batch = FusionPredictor(SPEC, encoders={"tabular": Identity()}, objectives=(settings,)).eval(), samples()
    loss, objective = model.loss(batch, START), model.objectives[0]
    shared = torch.cat([*batch.views.values()], 1)
    added = 3 * discrepancy_from_normal(shared, settings.bandwidths)
    for name, view in batch.views.items():
        private = objective.private[name](view)
        made = objective.reconstructions.decoders[name].decoder(torch.cat([private, shared], 1))[:, 0]
        torch.testing.assert_close(loss.terms[f"reconstruction.{name}"], functional.mse_loss(made, view).detach())
        added = added + 0.5 * functional.mse_loss(made, view) + 3 * discrepancy_from_normal(private, settings.bandwidths)
    torch.testing.assert_close(loss.total, loss.terms["nll.y"] + added)
    assert objective.reconstructions.decoders["a"].decoder[0].weight.shape == (4, 3 + 4)


def test_the_published_mfm_has_no_discrepancy():
    model, batch = FusionPredictor(SPEC, objectives=(PublishedMFM(weight=0.5),), target_weight=2.0).eval(), samples()
    terms = model.loss(batch, START).terms
    assert set(terms) == {"nll.y", "accuracy.y", "reconstruction.a", "reconstruction.b"}
    expected = 2 * terms["nll.y"] + 0.5 * (terms["reconstruction.a"] + terms["reconstruction.b"])
    torch.testing.assert_close(model.loss(batch, START).total.detach(), expected)


def test_an_objective_counts_in_its_stages_alone():
    model = FusionPredictor(SPEC, objectives=(InStages(RefNet(2.0), ("first",)),), unsupervised=("first",)).eval()
    first, later = (model.loss(samples(), replace(START, stage=stage)) for stage in ("first", "later"))
    assert first.total.item() == pytest.approx(2 * float(first.terms["alignment.a"] + first.terms["alignment.b"]), rel=1e-5)
    assert later.total.item() == pytest.approx(later.terms["nll.y"].item(), rel=1e-6)
    assert not any(name.startswith("alignment") for name in later.terms)


def test_pairs_weigh_the_product_of_their_modalities():
    spec = replace(SPEC, modalities=(A, B, Modality("c", "tabular", (2,))))
    torch.manual_seed(0)
    model = FusionPredictor(spec, objectives=(Contrastive(0.5, 3, weights={"a": 2.0, "c": 3.0}),)).eval()
    batch = replace(samples(), views={**samples().views, "c": draw(9, 2, seed=7)})
    loss = model.loss(batch, START)
    pairs = {"a.b": 2.0, "a.c": 6.0, "b.c": 3.0}
    added = sum(weight * loss.terms[f"contrast.{pair}"] for pair, weight in pairs.items())
    torch.testing.assert_close(loss.total.detach(), loss.terms["nll.y"] + 0.5 * added)


@pytest.mark.parametrize(
    ("made", "problems"),
    [
        (lambda: RefNet(-1.0, (0,), "features", 0.0), ("weight", "hidden", "temperature")),
        (lambda: RefNet(refined="fused"), ("refined",)),
        (lambda: Contrastive(width=0, temperature=2.0, weights={"a": -1.0}), ("width", "weights.a", "temperature")),
        (lambda: MultiSimilarity(alpha=0.0, threshold=3.0, margin=-1.0), ("alpha", "threshold", "margin")),
        (
            lambda: MFM(mmd=-1.0, private=0, reconstruction="mae", bandwidths=()),
            ("mmd", "private", "reconstruction", "bandwidths"),
        ),
        (lambda: PublishedMFM(hidden=(0,)), ("hidden",)),
        (lambda: SupervisedMVAE(beta=-1.0, reconstruction="mae"), ("beta", "reconstruction")),
        (lambda: FusionPredictor(SPEC, targets=TargetLoss(unsupervised=("first",))), ("targets.unsupervised",)),
        (lambda: InStages(RefNet(), ()), ("stages",)),
        (lambda: FusionPredictor(SPEC, targets=TargetLoss(-1.0)), ("targets.weight",)),
        (lambda: FusionPredictor(SPEC, objectives=(Contrastive(weights={"d": 1.0}),)), ("weights",)),
        (lambda: FusionPredictor(SPEC, objectives=(Contrastive(),), modalities=("a",)), ("Contrastive",)),
        (lambda: FusionPredictor(SPEC, objectives=(MultiSimilarity("z"),)), ("target",)),
        (lambda: FusionPredictor(SPEC, objectives=(MFM(decoders={"d": Dense()}),)), ("decoders",)),
        (lambda: FusionPredictor(SPEC, objectives=(MFM(scales={"d": 1.0}),)), ("scales",)),
    ],
)
def test_settings_that_cannot_be_used_are_refused_together(made, problems):
    with pytest.raises(ConfigError) as error:
        made()
    assert [sentence.partition(":")[0] for sentence in error.value.problems] == [*problems]


def test_a_bound_needs_a_product_of_experts():
    with pytest.raises(
        SpecError, match="SupervisedMVAE: expected the fusion ProductOfExperts, whose code it decodes, got Concat"
    ):
        FusionPredictor(SPEC, objectives=(SupervisedMVAE(),))
    with pytest.raises(SpecError, match=r"beside the product that the fusion has \(b\), got none"):
        FusionPredictor(SPEC, fusion=ProductOfExperts(3, beside=("b",)), objectives=(PublishedMVAE(),))
    with pytest.raises(SpecError, match="SupervisedMVAE: expected no imputation"):
        FusionPredictor(SPEC, fusion=ProductOfExperts(3), objectives=(SupervisedMVAE(),), imputation=MeanImputation())
