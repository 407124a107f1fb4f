"""Samples of two to four modalities, some of them missing, and every method for missing modalities with small settings."""

import inspect
from dataclasses import replace

import pytest
import torch

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.core.config import Factory
from molyneux.learn import MVAE, FusionPredictor, MoPoE, SubsetPredictors
from molyneux.learn.encoders import MLP, LeNet, RecurrentSteps
from molyneux.learn.fusion import BottleneckAttention, Concatenation, LowRank, Pooling
from molyneux.learn.predictors import Head, imputations
from molyneux.learn.predictors.imputations import SMIL, MeanImputation, ShaSpec, TokenImputation, VAEImputation

WORDS = ("", "red", "square", "moves")
MODALITIES = (
    Modality("force.1", "series", (6, 3)),
    Modality("table", "tabular", (5,)),
    Modality("picture", "image", (1, 12, 12), "uint8"),
    Modality("caption 2", "text", (6,), "uint8", WORDS, padding=0),
)
TARGETS = (
    Target("y", "class", ("a", "b", "c")),
    Target("agree", "agreement"),
    Target("labels", "multilabel", ("p", "q")),
    Target("where", "number", shape=(2,), bounds=(-4.0, 4.0)),
    Target("size", "number"),
)
ENCODERS = {"image": LeNet(channels=4, layers=2), "tabular": MLP((6,), 6), "series": RecurrentSteps("gru", 6)}
VAE = VAEImputation(Factory(MVAE, {"latent_dim": 3}))
LISTED = [getattr(imputations, name) for name in imputations.__all__]
IMPUTATIONS = {
    item
    for item in LISTED
    if isinstance(item, type) and issubclass(item, imputations.Imputation) and not inspect.isabstract(item)
}
METHODS = {
    "dropout": {"modality_dropout": 0.4},
    "mean": {"imputation": MeanImputation()},
    "mean view": {"imputation": MeanImputation("view"), "fusion": LowRank(6, 2)},
    "token": {"imputation": TokenImputation()},
    "token of parts": {"imputation": TokenImputation(), "fusion": BottleneckAttention(8, heads=2, feedforward=8)},
    "vae": {"imputation": VAE},
    "shaspec": {"imputation": ShaSpec(8)},
    "smil": {"imputation": SMIL(4), "fusion": Pooling("mean", 8)},
    "smil with dropout": {"imputation": SMIL(4), "modality_dropout": {"table": 0.5}},
    "subsets": None,
}
assert {type(item["imputation"]) for item in METHODS.values() if item and "imputation" in item} == IMPUTATIONS


@pytest.fixture(params=METHODS)
def method(request):
    """The name of every method."""
    return request.param


@pytest.fixture
def spec_of():
    """Makes specs of the first so many modalities and targets."""

    def make(count=2, *, tasks=1, first=0):
        return Spec(MODALITIES[first : first + count], targets=TARGETS[:tasks])

    return make


@pytest.fixture
def build():
    """Builds the predictor of a method, the same at every call."""

    def make(name, spec, *, seed=0, **others):
        torch.manual_seed(seed)
        common = {"encoders": ENCODERS, "fusion": Concatenation(), "head": Head(8)}
        if METHODS[name] is None:
            return SubsetPredictors(spec, **{**common, **others})
        settings = {**common, **METHODS[name], **others}
        if name == "mean view" and any(item.symbols for item in spec.modalities):
            settings["imputation"] = MeanImputation()  # symbols have no mean
        if name == "vae" and len(spec.modalities) > 2:
            settings["imputation"] = VAEImputation(Factory(MoPoE, {"latent_dim": 3}))
        return FusionPredictor(spec, **settings)

    return make


@pytest.fixture
def batch_of():
    """Makes random samples of a spec; every third lacks the first modality, every fifth the second and so on, none all."""

    def make(spec, size=16, *, seed=0, complete=False):
        generator = torch.Generator().manual_seed(seed)
        views, lengths = {}, {}
        for modality in spec.modalities:
            low, high = (1, len(modality.symbols)) if modality.symbols else (0, 256)
            if modality.dtype == "uint8":
                views[modality.name] = torch.randint(low, high, (size, *modality.shape), generator=generator).to(torch.uint8)
            else:
                views[modality.name] = torch.randn(size, *modality.shape, generator=generator)
            if modality.kind in ("series", "text"):
                lengths[modality.name] = 1 + torch.randperm(size, generator=generator) % modality.max_length
        rows = torch.arange(size)
        cycles = zip(spec.names, ((3, 1), (5, 2), (4, 3), (7, 0)), strict=False)
        present = {} if complete else {name: rows % cycle != rest for name, (cycle, rest) in cycles}
        if present:
            last = spec.names[-1]
            present[last] = present[last] | ~torch.stack(list(present.values())).any(0)
        targets = {target.name: values_of(target, size, generator) for target in spec.targets}
        return Batch(views, present=present, lengths=lengths, targets=targets)

    return make


@pytest.fixture
def refill():
    """Replaces what is masked: by NaN in numbers, by other bytes in pictures and texts, and by other lengths."""

    def make(batch, spec, seed):
        generator = torch.Generator().manual_seed(seed)
        views, lengths = {}, dict(batch.lengths)
        for modality in spec.modalities:
            view, mask = batch.views[modality.name], batch.mask(modality.name)
            rows = mask.reshape(-1, *[1] * (view.dim() - 1))
            high = len(modality.symbols) or 256
            noise = torch.randint(0, high, view.shape, generator=generator).to(view.dtype)
            views[modality.name] = torch.where(
                rows, view, noise if modality.dtype == "uint8" else torch.full_like(view, torch.nan)
            )
            if modality.name in lengths:
                other = torch.randint(0, modality.max_length + 1, mask.shape, generator=generator)
                lengths[modality.name] = torch.where(mask, lengths[modality.name], other)
        return replace(batch, views=views, lengths=lengths)

    return make


def values_of(target, size, generator):
    """Random values of a target."""
    if target.task == "number":
        return torch.rand((size, *target.shape), generator=generator)
    high = len(target.symbols) if target.task == "class" else 2
    values = torch.randint(0, high, (size, *target.stored_shape), generator=generator)
    return values.to(torch.uint8) if target.task == "multilabel" else values
