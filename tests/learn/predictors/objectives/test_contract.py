"""The contract of the auxiliary objectives, for every one that is listed, with two to four modalities."""

import inspect
from dataclasses import replace

import pytest
import torch

from molyneux.core import Batch, Modality, Progress, Spec, Target
from molyneux.core.config import build as from_plain
from molyneux.core.config import plain
from molyneux.learn import FusionPredictor, load_weights, save_model
from molyneux.learn.encoders import MLP, RecurrentSteps
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.fusion import AtEachStep, Concatenation, ProductOfExperts
from molyneux.learn.predictors import Head, objectives
from molyneux.learn.predictors.objectives import (
    MFM,
    Contrastive,
    InStages,
    MultiSimilarity,
    PublishedMFM,
    PublishedMVAE,
    RefNet,
    RefNetReconstruction,
    SupervisedMVAE,
)

START = Progress(0, 10)
WORDS = ("", "red", "square", "moves")
MODALITIES = (
    Modality("force.1", "series", (8, 3)),
    Modality("table", "tabular", (5,)),
    Modality("caption 2", "text", (8,), "uint8", WORDS, padding=0),
    Modality("picture", "image", (1, 12, 12), "uint8"),
)
TARGETS = (Target("y", "class", ("a", "b", "c")), Target("labels", "multilabel", ("p", "q")))
LISTED = [getattr(objectives, name) for name in objectives.__all__]
OTHERS = (objectives.OGMGE, objectives.RMFE)  # which act in training mode alone: they have tests of their own
KINDS = [
    item
    for item in LISTED
    if isinstance(item, type) and issubclass(item, objectives.AuxiliaryObjective) and not inspect.isabstract(item)
    if item not in OTHERS
]
SMALL = {
    Contrastive: {"width": 5},
    MFM: {"private": 4, "hidden": (6,)},
    PublishedMFM: {"private": 4, "hidden": (6,)},
    RefNetReconstruction: {"hidden": (9,)},
    InStages: {"objective": RefNet(), "stages": ("",)},
}
VARIANTS = [
    RefNet(hidden=(7,), refined="encodings"),
    RefNet(temperature=0.2),
    MultiSimilarity("labels", margin=None),
    Contrastive(0.5, 5, weights={"table": 2.0}),
    MFM(private=4, hidden=(), reconstruction="likelihood", scales="auto"),
    SupervisedMVAE(decoders={"series": Dense(8, 1), "table": Dense(8, 1)}, reconstruction="mse"),
    SupervisedMVAE(beside=("table",)),
]
ENCODERS = {"series": RecurrentSteps(width=6), "tabular": MLP((6,), 6), "text": RecurrentSteps(width=6), "image": MLP((6,), 6)}


@pytest.fixture(params=[*(kind(**SMALL.get(kind, {})) for kind in KINDS), *VARIANTS], ids=lambda item: repr(item)[:60])
def objective(request):
    return request.param


def build(objective, count=3, seed=0):
    torch.manual_seed(seed)
    spec, fusion = Spec(MODALITIES[:count], targets=TARGETS), Concatenation()
    if isinstance(objective, SupervisedMVAE | PublishedMVAE):
        fusion = ProductOfExperts(6, beside=objective.beside)
    return FusionPredictor(spec, encoders=ENCODERS, fusion=fusion, head=Head(8), objectives=(objective,)).eval()


def samples(spec, size=12, seed=0):
    generator, views, lengths = torch.Generator().manual_seed(seed), {}, {}
    for item in spec.modalities:
        if item.dtype == "uint8":
            high = len(item.symbols) or 256
            views[item.name] = torch.randint(0, high, (size, *item.shape), generator=generator, dtype=torch.uint8)
        else:
            views[item.name] = torch.randn(size, *item.shape, generator=generator)
        if item.kind in ("series", "text"):
            lengths[item.name] = 1 + torch.randperm(size, generator=generator) % 8
    targets = {"y": torch.arange(size) % 3, "labels": torch.randint(0, 2, (size, 2), generator=generator, dtype=torch.uint8)}
    return Batch(views, lengths=lengths, targets=targets)


def gradients(model):
    return torch.cat(
        [torch.zeros_like(item).flatten() if item.grad is None else item.grad.flatten() for item in model.parameters()]
    )


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_gradient_reaches_every_parameter(objective, count):
    model = build(objective, count).train()
    loss = model.loss(samples(model.spec, 24), START, torch.Generator().manual_seed(0))
    loss.total.backward()
    assert loss.total.isfinite()
    assert loss.total.dtype == torch.float32
    assert len(loss.terms) > 3
    assert not any(term.requires_grad for term in loss.terms.values())
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name


def test_a_batch_of_one_and_the_order_of_a_batch(objective):
    model = build(objective)
    batch, order = samples(model.spec), torch.randperm(12, generator=torch.Generator().manual_seed(1))
    whole, turned = (model.loss(item, START) for item in (batch, batch[order]))
    for name, term in whole.terms.items():
        torch.testing.assert_close(turned.terms[name], term, rtol=1e-3, atol=1e-5)
    model.train().loss(batch[:1], START, torch.Generator().manual_seed(0)).total.backward()
    assert gradients(model).isfinite().all()


def test_what_is_absent_or_beyond_a_length_is_never_read(objective):
    model = build(objective, 2).train()
    batch, mask = samples(model.spec), torch.arange(12) >= 5
    clean = replace(batch, present=dict.fromkeys(model.spec.names, mask))
    views = {name: view.clone() for name, view in clean.views.items()}
    for view in views.values():
        view[:5] = torch.nan
    views["force.1"][torch.arange(8) >= batch.lengths["force.1"].unsqueeze(1)] = torch.nan
    losses, found = [], []
    for one in (clean, replace(clean, views=views)):
        model.zero_grad()
        losses.append(model.loss(one, START, torch.Generator().manual_seed(0)).total)
        losses[-1].backward()
        found.append(gradients(model))
    assert losses[0].isfinite()
    assert torch.equal(losses[0], losses[1])
    assert torch.equal(*found)


def test_samples_without_a_modality_do_not_count_for_it(objective):
    model, rows = build(objective), torch.arange(12) % 3 > 0
    batch = samples(model.spec)
    partly = model.loss(replace(batch, present={"table": rows}), START).terms
    only = model.loss(batch[rows], START).terms
    concerned = [name for name in only if "table" in name]
    for name in concerned:
        torch.testing.assert_close(partly[name], only[name], rtol=1e-3, atol=1e-5)
    own = {name for name in only if not name.startswith(("nll.", "accuracy."))}
    beside = getattr(objective, "beside", ())
    assert concerned or beside or own == {f"similarity.{objective.target or 'y'}"}


@pytest.mark.parametrize("missing", [("table",), ("force.1", "table"), ("force.1", "table", "caption 2")])
def test_nobody_has_a_modality(objective, missing):
    model = build(objective).train()
    batch = replace(samples(model.spec), present=dict.fromkeys(missing, torch.zeros(12, dtype=torch.bool)))
    loss = model.loss(batch, START, torch.Generator().manual_seed(0))
    loss.total.backward()
    assert loss.total.isfinite()
    assert gradients(model).isfinite().all()
    if len(missing) > 2:
        own = [term for name, term in loss.terms.items() if not name.startswith(("nll.", "accuracy.", "mmd"))]
        assert all(term == 0 for term in own), loss.terms


@pytest.mark.kernels
def test_half_precision_of_the_nets_gives_full_precision_of_the_loss(objective):
    model = build(objective)
    batch = samples(model.spec)
    full = model.loss(batch, START).total
    with torch.autocast("cpu", torch.bfloat16):
        half = model.loss(batch, START).total
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(full.item(), rel=0.1)


def test_weights_and_settings_can_be_stored_and_loaded(objective, tmp_path):
    model, other = build(objective), build(from_plain(objectives.AuxiliaryObjective, plain(objective)).value, seed=5)
    save_model(model, tmp_path, {"class_path": "FusionPredictor"})
    load_weights(other, tmp_path)
    batch = samples(model.spec)
    assert torch.equal(model.loss(batch, START).total, other.loss(batch, START).total)
    if not isinstance(objective, InStages):
        assert isinstance(from_plain(objectives.AuxiliaryObjective, type(objective).__name__).value, type(objective))


def test_features_of_steps_count_as_their_mean(objective):
    if isinstance(objective, SupervisedMVAE | PublishedMVAE):
        pytest.skip("its fusion is a product of experts")
    spec = Spec(MODALITIES[:2], targets=(*TARGETS, Target("where", "number", shape=(8, 2))))
    encoders = {"series": RecurrentSteps(width=6, readout="mean"), "tabular": MLP((6,), 6)}
    torch.manual_seed(0)
    model = FusionPredictor(spec, encoders=encoders, fusion=AtEachStep(Concatenation()), objectives=(objective,))
    batch = samples(spec)
    batch = replace(batch, targets={**batch.targets, "where": torch.randn(12, 8, 2)})
    model.loss(batch, START).total.backward()
    assert gradients(model).isfinite().all()


@pytest.mark.slow
def test_training_lowers_what_it_adds(objective):
    model = build(objective, 2).train()
    model.target_weight = 0.0
    batch, optimiser = samples(model.spec, 24), torch.optim.Adam(model.parameters(), 3e-3)

    def loss():
        return model.loss(batch, START, torch.Generator().manual_seed(0)).total  # with the same noise in every step

    before = loss().item()
    for _ in range(25):
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()
    assert loss().item() < before - 0.01 * abs(before)
