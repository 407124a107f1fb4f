"""Samples of two to six modalities, with sequences, tables, pictures and texts, and every fusion with small settings."""

import inspect

import pytest
import torch

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.learn import FusionPredictor, fusion
from molyneux.learn.encoders import MLP, ResNet
from molyneux.learn.predictors import Head

WORDS = ("", "red", "square", "moves")
MODALITIES = (
    Modality("force.1", "series", (8, 3)),
    Modality("table", "tabular", (5,)),
    Modality("position", "series", (8, 2)),
    Modality("picture", "image", (1, 12, 12), "uint8"),
    Modality("caption 2", "text", (8,), "uint8", WORDS, padding=0),
    Modality("points", "set", (8, 3)),
)
TARGETS = (
    Target("y", "class", ("a", "b", "c")),
    Target("agree", "agreement"),
    Target("labels", "multilabel", ("p", "q")),
    Target("where", "number", shape=(8, 2), bounds=(-4.0, 4.0)),
    Target("size", "number"),
)
LISTED = [getattr(fusion, name) for name in fusion.__all__]
FUSIONS = [item for item in LISTED if isinstance(item, type) and issubclass(item, fusion.Fusion) and not inspect.isabstract(item)]
SMALL = {
    fusion.TensorFusion: {"width": 2},
    fusion.LowRank: {"features": 8, "rank": 3},
    fusion.MultiplicativeInteractions: {"features": 6},
    fusion.MulT: {"width": 8, "heads": 2, "layers": 1, "self_layers": 1, "dropout": 0.0},
    fusion.BottleneckAttention: {"width": 8, "heads": 2, "feedforward": 12},
    fusion.Perceiver: {"width": 8, "heads": 2, "latents": 4, "feedforward": 12},
    fusion.KalmanFilter: {"state": 4, "hidden": 8},
    fusion.ProductOfExperts: {"latent": 6},
}
VARIANTS = [
    fusion.Concatenation((9, 6)),
    fusion.Pooling("max", 8),
    fusion.Pooling("sum", 8),
    fusion.EarlyFusion(steps=True),
    fusion.MultiplicativeInteractions("vector"),
    fusion.MultiplicativeInteractions("scalar"),
    fusion.NLGate(readout="all", scaled=False),
    fusion.MulT(8, 2, 1, self_layers=1, dropout=0.0, causal=True, own=True, readout="last"),
    fusion.KalmanFilter(4, 8, steps=True),
    fusion.ProductOfExperts(6, beside=("table",)),
]
ENCODERS = {"image": ResNet((8, 8)), "tabular": MLP((6,), 6)}


@pytest.fixture(params=[*(kind(**SMALL.get(kind, {})) for kind in FUSIONS), *VARIANTS], ids=repr)
def settings(request):
    """Every fusion, some with several settings."""
    return request.param


@pytest.fixture
def spec_of():
    """Makes specs of the first so many modalities and targets; a fusion whose features have steps gets a target that has."""

    def make(count, settings=None, *, tasks=1):
        stepwise = isinstance(settings, fusion.AtEachStep) or getattr(settings, "steps", False)
        tasks = max(tasks, 4) if stepwise else tasks
        return Spec(MODALITIES[:count], targets=TARGETS[:tasks])

    return make


@pytest.fixture
def build():
    """Builds a predictor in evaluation mode, the same at every call; without encoders the fusion chooses."""

    def make(settings, spec, *, seed=0, **others):
        torch.manual_seed(seed)
        encoders = {} if isinstance(settings, fusion.EarlyFusion) else ENCODERS
        return FusionPredictor(spec, encoders=encoders, fusion=settings, head=Head(16), **others).eval()

    return make


@pytest.fixture
def batch_of():
    """Makes random samples of a spec, with sequences of all lengths but 0."""

    def make(spec, size=10, *, seed=0):
        generator = torch.Generator().manual_seed(seed)
        views, lengths = {}, {}
        for modality in spec.modalities:
            if modality.symbols:
                views[modality.name] = torch.randint(1, len(modality.symbols), (size, *modality.shape), generator=generator)
            elif modality.kind == "image":
                views[modality.name] = torch.randint(0, 256, (size, *modality.shape), generator=generator)
            else:
                views[modality.name] = torch.randn(size, *modality.shape, generator=generator)
            if modality.dtype == "uint8":
                views[modality.name] = views[modality.name].to(torch.uint8)
            if modality.kind in ("series", "set", "text"):
                lengths[modality.name] = 1 + torch.randperm(size, generator=generator) % modality.max_length
        targets = {target.name: values_of(target, size, generator) for target in spec.targets}
        return Batch(views, lengths=lengths, targets=targets)

    return make


def values_of(target, size, generator):
    """Random values of a target."""
    if target.task == "number":
        return torch.rand((size, *target.shape), generator=generator)
    high = len(target.symbols) if target.task == "class" else 2
    values = torch.randint(0, high, (size, *target.stored_shape), generator=generator)
    return values.to(torch.uint8) if target.task == "multilabel" else values
