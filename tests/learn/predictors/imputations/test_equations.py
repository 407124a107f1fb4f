"""Imputations against closed forms, direct computation and independent implementations."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from torch.nn import functional

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, SpecError, Target
from molyneux.core.config import Factory
from molyneux.learn import MVAE, FusionPredictor, Stage, SubsetPredictors, Training, fit, save_model
from molyneux.learn.encoders import MLP, Encoding, LeNet
from molyneux.learn.fusion import Concatenation, LowRank
from molyneux.learn.predictors import Head, UnimodalHeads
from molyneux.learn.predictors.imputations import SMIL, MeanImputation, ShaSpec, TokenImputation, VAEImputation, drop_modalities
from molyneux.learn.predictors.imputations.smil import Centroids
from molyneux.learn.priors import ExPostMixture

START = Progress(0, 10)
SPEC = Spec((Modality("a", "tabular", (3,)), Modality("b", "tabular", (4,))), targets=(Target("y", "class", ("0", "1")),))


def samples(size=12, *, seed=0, lacking=True):
    generator = torch.Generator().manual_seed(seed)
    views = {item.name: torch.randn(size, *item.shape, generator=generator) for item in SPEC.modalities}
    rows = torch.arange(size)
    present = {"a": rows % 3 != 0, "b": rows % 3 != 1} if lacking else {}
    return Batch(views, present=present, targets={"y": torch.randint(0, 2, (size,), generator=generator)})


def predictor(**settings):
    torch.manual_seed(0)
    return FusionPredictor(SPEC, encoders={"tabular": MLP((6,), 5)}, **{"head": Head(8), **settings})


def imputed(model, batch):
    return model.imputer(model.encodings(batch), model.encoders, batch)


def test_modality_dropout_keeps_one_and_has_the_conditional_distribution():
    size = 60_000
    rows = torch.arange(size)
    here = {"a": rows % 4 != 0, "b": rows % 4 != 1, "c": torch.ones(size, dtype=torch.bool)}
    items = {
        name: Encoding(torch.ones(size, 2), torch.ones(size, 1, 2), mask.unsqueeze(1), present=mask)
        for name, mask in here.items()
    }
    rates = {"a": 0.5, "b": 0.8}
    found = drop_modalities(items, rates, torch.Generator().manual_seed(0))
    kept = torch.stack([item.present for item in found.values()], 1)
    assert kept.any(1).all()
    assert not (kept & ~torch.stack(list(here.values()), 1)).any()
    assert kept[:, 2].all()  # not named: always kept
    complete = rows % 4 >= 2
    assert abs(kept[complete, 0].float().mean() - 0.5) < 0.02
    assert abs(kept[complete, 1].float().mean() - 0.2) < 0.02
    for name, item in found.items():
        gone = ~item.present
        assert not item.vector[gone].any(), name
        assert not item.mask[gone].any(), name
    both = drop_modalities({name: items[name] for name in "ab"}, rates, torch.Generator().manual_seed(1))
    pattern = torch.stack([item.present for item in both.values()], 1)[complete]
    weights = {(True, True): 0.5 * 0.2, (True, False): 0.5 * 0.8, (False, True): 0.5 * 0.2}
    for which, weight in weights.items():
        share = (pattern == torch.tensor(which)).all(1).float().mean().item()
        assert share == pytest.approx(weight / sum(weights.values()), abs=0.015)
    alone = drop_modalities({"a": items["a"]}, {"a": 0.9}, torch.Generator().manual_seed(1))
    assert torch.equal(alone["a"].present, items["a"].present)


def test_modality_dropout_acts_in_training_alone_and_hides_nothing_from_objectives():
    model = predictor(modality_dropout=0.9, objectives=(UnimodalHeads(),))
    batch = samples(lacking=False)
    step = model.train().training_step(batch, START, torch.Generator().manual_seed(0))
    assert all(item.present.all() for item in step.encodings.values())
    plain = predictor(objectives=(UnimodalHeads(),))
    expected = plain.train().training_step(batch, START)
    changed = (step.features != expected.features).any(1)
    assert changed.float().mean() > 0.5
    halves = torch.stack([(step.features[:, :5] == 0).all(1), (step.features[:, 5:] == 0).all(1)], 1)
    assert not halves.all(1).any()
    assert torch.equal(halves.any(1), changed)
    assert torch.equal(model.eval().predict(batch)["y"].logits, plain.eval().predict(batch)["y"].logits)
    with pytest.raises(ConfigError, match=r"missing.dropout.a: expected a share in 0..1, below 1, got 1.0"):
        predictor(modality_dropout={"a": 1.0})
    with pytest.raises(ConfigError, match=r"missing.dropout: no modality 'z'"):
        predictor(modality_dropout={"z": 0.5})
    with pytest.raises(ConfigError, match=r"missing.dropout: expected a share in 0..1, below 1, got 1.5"):
        predictor(modality_dropout=1.5)


def test_the_mean_encoding_is_that_of_the_samples_that_have_the_modality():
    model = predictor(imputation=MeanImputation(decay=0.0)).train()
    batch = samples()
    step = model.training_step(batch, START)
    expected = step.encodings["a"].vector[batch.mask("a")].mean(0)
    found = imputed(model.eval(), batch)["a"]
    torch.testing.assert_close(found.vector[0], expected)
    torch.testing.assert_close(found.parts[0, 0], expected)
    assert found.present.all()
    assert torch.equal(found.vector[1], step.encodings["a"].vector[1])
    fading = predictor(imputation=MeanImputation(decay=0.5)).train()
    batches = [samples(seed=seed) for seed in range(3)]
    for one in batches:
        fading.training_step(one, START)
    vectors = [fading.encodings(one)["b"].vector[one.mask("b")].mean(0) for one in batches]
    weighted = sum(0.5 ** (2 - number) * vector for number, vector in enumerate(vectors)) / 1.75
    torch.testing.assert_close(imputed(fading.eval(), batch)["b"].vector[1], weighted)


def test_the_mean_view_is_the_plain_mean_of_all_samples_that_have_it():
    model = predictor(imputation=MeanImputation("view")).train()
    batches = [samples(size, seed=size) for size in (5, 12)]
    for batch in batches:
        model.training_step(batch, START)
    mean = torch.cat([batch.views["a"][batch.mask("a")] for batch in batches]).mean(0, keepdim=True)
    torch.testing.assert_close(model.imputer.means["a"].mean, mean[0])
    torch.testing.assert_close(imputed(model.eval(), batches[0])["a"].vector[0], model.encoders["a"](mean).vector[0])
    text = Spec((*SPEC.modalities, Modality("t", "text", (3,), "uint8", ("", "x"), padding=0)), targets=SPEC.targets)
    with pytest.raises(SpecError, match="symbols have no mean view, but t has"):
        FusionPredictor(text, imputation=MeanImputation("view"))


def test_statistics_do_not_change_in_evaluation():
    for imputation in (MeanImputation(), MeanImputation("view"), SMIL(3)):
        model = predictor(imputation=imputation).train()
        model.loss(samples(), START)
        before = {name: value.clone() for name, value in model.state_dict().items()}
        model.eval().loss(samples(seed=1), START)
        model.predict(samples(seed=2))
        assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_a_token_is_one_encoding_for_all_and_is_told_as_present():
    model = predictor(imputation=TokenImputation(), fusion=LowRank(6, 2))
    batch = samples()
    found = imputed(model, batch)["a"]
    gone = ~batch.mask("a")
    assert torch.equal(found.vector[gone], model.imputer.tokens[0][:5].expand(int(gone.sum()), 5))
    assert found.present.all()
    model.loss(batch, START).total.backward()
    assert model.imputer.tokens[0].grad[:5].abs().min() > 0


def test_shaspec_is_its_equations():
    model = predictor(imputation=ShaSpec(7, alignment=0.5, domain=0.25))
    batch, imputer = samples(), model.imputer
    vectors = {name: item.vector for name, item in model.encodings(batch).items()}
    shared = {name: imputer.shared(imputer.entries[name](vector)) for name, vector in vectors.items()}
    specific = {name: imputer.specific[name](vector) for name, vector in vectors.items()}
    found = imputed(model, batch)
    for row in range(12):
        lacks = {0: "a", 1: "b"}.get(row % 3)
        for name in "ab":
            projected = imputer.projection(torch.cat([shared[name][row], specific[name][row]]))
            expected = shared["b" if name == "a" else "a"][row] if name == lacks else shared[name][row] + projected
            torch.testing.assert_close(found[name].vector[row], expected)
    assert model.fusion.features == 14
    loss = model.loss(batch, START)
    both = batch.mask("a") & batch.mask("b")
    alignment = (shared["a"] - shared["b"])[both].abs().mean()
    logits = torch.cat([imputer.classifier(specific[name][batch.mask(name)]) for name in "ab"])
    truth = torch.tensor([0] * int(batch.mask("a").sum()) + [1] * int(batch.mask("b").sum()))
    domain = functional.cross_entropy(logits, truth)
    torch.testing.assert_close(loss.terms["alignment"], alignment.detach())
    torch.testing.assert_close(loss.terms["domain"], domain.detach())
    torch.testing.assert_close(loss.total, loss.terms["nll.y"] + 0.5 * alignment + 0.25 * domain)


def test_centroids_of_batches_come_to_those_of_lloyd():
    random = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    points = centres[random.integers(0, 3, 3_000)] + 0.5 * random.standard_normal((3_000, 2))
    points[:3] = centres + 0.1
    centroids = Centroids(3, 2, decay=0.95)
    for batch in np.split(points, 60):
        centroids.add(torch.from_numpy(batch).float())
    lloyd = KMeans(3, n_init=5, random_state=0).fit(points).cluster_centers_
    for centre in lloyd:
        assert np.linalg.norm(centroids.means.numpy() - centre, axis=1).min() < 0.15
    few = Centroids(4, 2, decay=0.9)
    few.add(torch.ones(2, 2))
    assert few.counts.tolist() == [1.0, 1.0, 0.0, 0.0]
    few.add(torch.zeros(0, 2))
    assert few.counts.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_a_centroid_that_nothing_is_near_to_moves():
    centroids = Centroids(2, 1, decay=0.1)
    centroids.add(torch.tensor([[0.0], [100.0]]))
    for _ in range(4):
        centroids.add(torch.tensor([[0.0], [0.1], [3.0]]))
    assert centroids.means.max() < 4


def test_smil_reconstructs_by_a_mixture_of_centroids_and_regularises():
    model = predictor(imputation=SMIL(3)).train()
    batch, imputer = samples(), model.imputer
    model.loss(batch, START)
    model.eval()
    vectors = {name: item.vector for name, item in model.encodings(batch).items()}
    row = 0  # which lacks a
    weights = imputer.weights["a"]["b"](vectors["b"][row]).softmax(0)
    mixture = weights @ imputer.centroids["a"].means
    mean = imputer.regularisation["a"](mixture)[:5]
    found = imputed(model, batch)["a"]
    torch.testing.assert_close(found.vector[row], mixture * functional.softplus(mean))
    assert functional.softplus(imputer.regularisation["a"].bias[:5]).tolist() == pytest.approx([1.0] * 5)
    loss = model.loss(batch, START)
    here = batch.mask("a") & batch.mask("b")
    errors = []
    for name, other in ("ab", "ba"):
        predicted = imputer.weights[name][other](vectors[other][here]).softmax(1) @ imputer.centroids[name].means
        errors.append((predicted - vectors[name][here]).square().mean(1))
    torch.testing.assert_close(loss.terms["reconstruction"], torch.cat(errors).mean().detach())


def test_the_meta_loss_is_that_of_complete_samples_after_a_step_on_the_others():
    """The inner step by hand: its gradient by finite steps of a head of one layer, and that of the outer loss through it."""
    model = predictor(imputation=SMIL(3, rate=0.3), head=Head(layers=0)).eval()
    batch = samples(24)
    model.train().loss(batch, START)
    model.eval()
    complete = batch.mask("a") & batch.mask("b")
    features = model.features(batch).detach()
    last = model.answers.outputs["y"].last
    weight, bias = last.weight.detach().clone().requires_grad_(), last.bias.detach().clone().requires_grad_()
    truth = batch.targets["y"]
    inner = functional.cross_entropy(features[~complete] @ weight.T + bias, truth[~complete])
    slopes = torch.autograd.grad(inner, [weight, bias], create_graph=True)
    moved = [part - 0.3 * slope for part, slope in zip((weight, bias), slopes, strict=True)]
    outer = functional.cross_entropy(features[complete] @ moved[0].T + moved[1], truth[complete])
    loss = model.loss(batch, START)
    torch.testing.assert_close(loss.terms["meta.nll"], outer.detach())
    whole = functional.cross_entropy(features @ weight.T + bias, truth)
    expected = torch.autograd.grad(whole + outer, weight)[0]
    loss.total.backward()
    torch.testing.assert_close(last.weight.grad, expected, rtol=1e-4, atol=1e-6)
    assert model.loss(samples(lacking=False), START).terms["meta.nll"] == 0
    with torch.inference_mode():
        assert model.loss(batch, START).terms["meta.nll"] == 0
    dropping = predictor(imputation=SMIL(3), modality_dropout=0.4).train()
    found = dropping.loss(samples(24, lacking=False), START, torch.Generator().manual_seed(0))
    assert found.terms["meta.nll"] > 0  # those of which dropout hid a modality are the incomplete ones
    alone = Spec(SPEC.modalities[:1], targets=SPEC.targets)
    with pytest.raises(ConfigError, match="SMIL: expected at least two modalities, got a"):
        FusionPredictor(alone, imputation=SMIL())


def test_the_vae_decodes_what_is_missing_from_the_posterior_of_what_is_present():
    model = predictor(imputation=VAEImputation(Factory(MVAE, {"latent_dim": 2}))).eval()
    batch, vae = samples(), model.imputer.vae
    found = imputed(model, batch)
    decoded = vae.decode(vae.encode(batch, ["b"]).mean, ["a"])["a"].mean
    torch.testing.assert_close(found["a"].vector[0], model.encoders["a"](decoded[:1]).vector[0])
    whole = model.encodings(batch)
    assert torch.equal(found["a"].vector[1], whole["a"].vector[1])
    assert all(item.present.all() for item in found.values())
    loss = model.loss(batch, START)
    torch.testing.assert_close(loss.total, loss.terms["nll.y"] + loss.terms["imputation"])
    loss.total.backward()
    assert all(parameter.grad.isfinite().all() for parameter in vae.parameters())
    assert model.fuse(whole).shape == (12, 10)  # without the samples, zeros


def test_the_loss_of_the_predictor_does_not_train_the_vae():
    model = predictor(imputation=VAEImputation(Factory(MVAE, {"latent_dim": 2})))
    step = model.train().training_step(samples(), START)
    (-step.found["y"].log_prob(step.batch.targets["y"]).mean()).backward()
    assert all(parameter.grad is None for parameter in model.imputer.parameters())
    assert all(parameter.grad is not None for parameter in model.encoders.parameters())


class InMemory:
    """Samples in memory, as a source."""

    in_memory = True

    def __init__(self, batch):
        self.data, self.spec = batch, SPEC

    def __len__(self):
        return len(self.data)

    def batch(self, indices):
        return self.data[torch.from_numpy(np.asarray(indices))]


def test_a_vae_trains_in_its_stage_and_is_fixed_in_others(tmp_path):
    model = predictor(imputation=VAEImputation(Factory(MVAE, {"latent_dim": 2})))
    start = {name: value.clone() for name, value in model.state_dict().items()}
    stages = (Stage(name="imputation", steps=3), Stage(name="prediction", steps=3))
    source = InMemory(samples(24))
    training = Training(batch_size=8, stages=stages[:1], precision="32", threads=1, tensorboard=False)
    fit(model, source, None, training, tmp_path / "one", seed=1)
    after = {name: value.clone() for name, value in model.state_dict().items()}
    changed = {name.split(".")[0] for name, value in after.items() if not torch.equal(value, start[name])}
    assert changed == {"imputer"}
    again = predictor(imputation=VAEImputation(Factory(MVAE, {"latent_dim": 2})))
    fit(again, source, None, replace(training, stages=stages), tmp_path / "two", seed=1)
    for name, value in again.state_dict().items():
        assert torch.equal(value, after[name]) == (name.startswith("imputer") or torch.equal(value, start[name])), name
    assert not torch.equal(again.state_dict()["answers.hidden.0.weight"], start["answers.hidden.0.weight"])
    with pytest.raises(ConfigError, match="expected a trained VAE in the stage prediction, got one that no stage has trained"):
        predictor(imputation=VAEImputation(Factory(MVAE, {"latent_dim": 2}))).loss(samples(), Progress(0, 3, "prediction"))


def test_a_vae_of_a_folder_is_loaded_and_needs_no_stage(tmp_path):
    torch.manual_seed(5)
    vae = MVAE(replace(SPEC, targets=()), latent_dim=2)
    save_model(vae, tmp_path, {})
    model = predictor(imputation=VAEImputation(Factory(MVAE, {"latent_dim": 2}), folder=tmp_path))
    assert all(torch.equal(value, model.imputer.vae.state_dict()[name]) for name, value in vae.state_dict().items())
    loss = model.loss(samples(), Progress(0, 3, "prediction"))
    torch.testing.assert_close(loss.total.detach(), loss.terms["nll.y"])
    with pytest.raises(ConfigError, match="expected none, since codes follow the posterior"):
        predictor(imputation=VAEImputation(Factory(MVAE, {"prior": ExPostMixture()})))


def test_each_subset_has_the_gradient_of_a_predictor_of_its_own():
    torch.manual_seed(0)
    settings = {"encoders": {"tabular": MLP((6,), 5)}, "head": Head(8)}
    model, batch = SubsetPredictors(SPEC, **settings), samples()
    assert model.subsets == (("a",), ("b",), ("a", "b"))
    model.loss(batch, START).total.backward()
    for subset, part in zip(model.subsets, model.predictors, strict=True):
        own = FusionPredictor(SPEC, modalities=subset, **settings)
        own.load_state_dict(part.state_dict())
        rows = torch.stack([batch.mask(name) for name in subset]).all(0)
        own.loss(replace(batch[rows], present={}), START).total.backward()
        for name, parameter in own.named_parameters():
            torch.testing.assert_close(dict(part.named_parameters())[name].grad, parameter.grad)


def test_each_sample_is_answered_by_the_predictor_of_what_it_has():
    torch.manual_seed(0)
    model, batch = SubsetPredictors(SPEC, fusion=Concatenation()).eval(), samples()
    found = model.predict(batch)["y"].logits
    for row, subset in ((0, 1), (1, 0), (2, 2)):
        expected = model.predictors[subset].predict(batch[row : row + 1])["y"].logits[0]
        torch.testing.assert_close(found[row], expected)
    nothing = model.predict(batch, [])["y"].logits
    torch.testing.assert_close(nothing, model.nothing.predict(batch)["y"].logits)
    terms = model.loss(batch, START).terms
    assert {"nll.y", "accuracy.y", "loss.a", "loss.b", "loss.a.b"} == terms.keys()
    assert terms["accuracy.y"] == (found.argmax(1) == batch.targets["y"]).float().mean()
    with pytest.raises(ConfigError, match="most: expected at least 3, the subsets of 2 modalities, got 2"):
        SubsetPredictors(SPEC, most=2)


def test_settings_that_cannot_be_used():
    for make, sentence in (
        (lambda: MeanImputation("views"), "of: "),
        (lambda: MeanImputation(decay=1.0), "decay: expected a share"),
        (lambda: ShaSpec(0), "width: expected at least 1"),
        (lambda: SMIL(0), "centroids: expected at least 1"),
        (lambda: SMIL(rate=-math.inf), "rate: expected a number of at least 0"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            make()


@pytest.mark.parametrize(
    "imputation", [MeanImputation("view"), VAEImputation(Factory(MVAE, {"latent_dim": 3}))], ids=["mean", "vae"]
)
def test_stand_ins_leave_batch_normalisation_to_the_real_views(imputation):
    spec = Spec((Modality("i", "image", (1, 12, 12), "uint8"), SPEC.modality("a")), targets=SPEC.targets)
    generator = torch.Generator().manual_seed(0)
    batches = [
        Batch(
            {"i": torch.randint(0, 256, (9, 1, 12, 12), generator=generator).to(torch.uint8), "a": torch.randn(9, 3)},
            present={"i": torch.arange(9) % 3 != number},
            targets={"y": torch.arange(9) % 2},
        )
        for number in (0, 1)
    ]

    def model(imputation):
        torch.manual_seed(0)
        return FusionPredictor(spec, encoders={"i": LeNet(channels=4, layers=2)}, imputation=imputation).train()

    plain, imputing = model(None), model(imputation)
    for batch in batches:
        for one in (plain, imputing):
            one.loss(batch, START, torch.Generator().manual_seed(0))
    expected = dict(plain.encoders["i"].named_buffers())
    assert expected
    for name, value in imputing.encoders["i"].named_buffers():
        assert torch.equal(value, expected[name]), name
    lacking = replace(batches[0], present={"i": torch.zeros(9, dtype=torch.bool)})
    training = imputed(imputing, lacking)["i"].vector
    training.square().sum().backward()
    assert all(one.grad.abs().max() > 0 for one in imputing.encoders["i"].parameters())
    assert all(part.training for part in imputing.encoders["i"].modules())
    torch.testing.assert_close(training, imputed(imputing.eval(), lacking)["i"].vector)
