"""Small samples with pictures, captions of different lengths and targets, and every predictor built for them."""

import inspect

import pytest
import torch

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.learn import predictors
from molyneux.learn.encoders import BagOfWords, PixelPatches, RecurrentWords, StridedCNN
from molyneux.learn.predictors import (
    MAC,
    MCTN,
    Attention,
    CoAttention,
    Constant,
    JoinedVectors,
    JointTransformer,
    PictureInLSTM,
    Predictor,
    SubsetPredictors,
    TextOnly,
    VAEAgreement,
)

AGREEMENT = Target("true", "agreement")
TASKS = (
    AGREEMENT,
    Target("shape", "class", ("square", "circle", "cross")),
    Target("colours.in.it", "multilabel", ("red", "green")),
    Target("size", "number", shape=(2,), bounds=(0.0, 4.0)),
    Target("count", "number"),
)
LISTED = [getattr(predictors, name) for name in predictors.__all__]
CLASSES = [item for item in LISTED if isinstance(item, type) and issubclass(item, Predictor) and not inspect.isabstract(item)]
OTHERS = (MCTN, SubsetPredictors, VAEAgreement)  # read sequences, or have losses of other models: they have tests of their own
MODELS = [item for item in CLASSES if item not in OTHERS]


def variant(kind, name, **defaults):
    """A model as a user of these settings sees it."""

    class Variant(kind):
        def __init__(self, spec, **settings):
            super().__init__(spec, **{**defaults, **settings})

    Variant.__name__ = name
    return Variant


VARIANTS = [
    variant(JoinedVectors, "JoinedVectors-add", joining="add", words=BagOfWords(8)),
    variant(JoinedVectors, "JoinedVectors-concat", joining="concat", words=RecurrentWords("gru", bidirectional=True)),
    variant(CoAttention, "CoAttention-alternating", order="alternating"),
    variant(Attention, "Attention-mlp", score="mlp"),
    variant(MAC, "MAC-gate", self_attention=True, gate=True),
    variant(JointTransformer, "JointTransformer-patches", trunk=PixelPatches(4, 16)),
    variant(TextOnly, "TextOnly-gru", words=RecurrentWords("gru")),
    variant(Attention, "Attention-group", trunk=StridedCNN((8, 16), blocks=1, norm="group")),
    variant(Constant, "Constant-true", agrees=True),
]
SMALL = {PictureInLSTM: {"width": 16}}


@pytest.fixture(params=[*MODELS, *VARIANTS], ids=lambda model: model.__name__)
def kind(request):
    """Every predictor, some with several settings."""
    return request.param


@pytest.fixture
def spec_of():
    """Makes specs of pictures and captions, whose names say nothing of their kinds; symbol 0 is padding."""

    def make(*, side=(16, 24), longest=7, tasks=1, symbols=9):
        words = ("", *(f"w{number}" for number in range(1, symbols)))
        picture = Modality("scene.1", "image", (3, *side), "uint8")
        arities = tuple(symbol % 3 for symbol in range(symbols))  # which makes any text one or several trees, whole or not
        text = Modality("caption 2", "text", (longest,), "uint8", words, padding=0, arities=arities)
        return Spec((text, picture), targets=TASKS[:tasks])

    return make


@pytest.fixture
def build():
    """Builds a model in evaluation mode, the same at every call."""

    def make(kind, spec, *, seed=0, **settings):
        torch.manual_seed(seed)
        base = next((SMALL[item] for item in kind.__mro__ if item in SMALL), {})
        return kind(spec, **{**base, **settings}).eval()

    return make


@pytest.fixture
def batch_of():
    """Makes random samples of a spec; captions have all lengths, none too."""

    def make(spec, size=10, *, seed=0):
        generator = torch.Generator().manual_seed(seed)
        text, picture = spec.modalities
        ids = torch.randint(1, len(text.symbols), (size, *text.shape), generator=generator)
        lengths = torch.arange(size) % (text.shape[0] + 1)
        ids = ids.where(torch.arange(text.shape[0]) < lengths.unsqueeze(1), 0).to(torch.uint8)
        pixels = torch.randint(0, 256, (size, *picture.shape), generator=generator, dtype=torch.uint8)
        targets = {target.name: values_of(target, size, generator) for target in spec.targets}
        return Batch({text.name: ids, picture.name: pixels}, targets=targets)

    return make


def values_of(target, size, generator):
    """Random values of a target."""
    if target.task == "number":
        return torch.rand((size, *target.shape), generator=generator)
    high = len(target.symbols) if target.task == "class" else 2
    values = torch.randint(0, high, (size, *target.stored_shape), generator=generator)
    return values.to(torch.uint8) if target.task == "multilabel" else values
