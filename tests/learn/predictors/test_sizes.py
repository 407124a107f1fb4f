"""The numbers of weights are those of the ShapeWorld paper's models, computed from its code, and what does nothing is too."""

from pathlib import Path

import pytest
import torch

from molyneux.core import Progress
from molyneux.learn.encoders import BagOfWords, PaperCNN, RecurrentWords
from molyneux.learn.predictors import (
    MAC,
    Attention,
    CoAttention,
    Constant,
    FiLM,
    JoinedVectors,
    JointTransformer,
    NeuralModules,
    PictureInLSTM,
    PictureOnly,
    RelationNetwork,
    StackedAttention,
    TextOnly,
)

GRU, BAG = RecurrentWords("gru"), BagOfWords(64)
ALTERNATING = {"order": "alternating"}
PAPER = [
    (PictureOnly, {}, (2_122_528, 2_122_528, 2_122_528)),
    (TextOnly, {}, (59_360, 59_552, 59_872)),
    (JoinedVectors, {}, (2_410_240, 2_410_432, 2_410_752)),
    (JoinedVectors, {"joining": "add"}, (2_410_240, 2_410_432, 2_410_752)),
    (JoinedVectors, {"words": GRU}, (2_404_032, 2_404_224, 2_404_544)),
    (JoinedVectors, {"words": BAG}, (2_386_144, 2_386_528, 2_387_168)),
    (JoinedVectors, {"joining": "concat"}, (2_180_864, 2_181_056, 2_181_376)),
    (PictureInLSTM, {}, (21_657_088, 21_657_280, 21_657_600)),
    (CoAttention, {}, (68_576, 68_768, 69_088)),
    (CoAttention, ALTERNATING, (84_128, 84_320, 84_640)),
    (CoAttention, {**ALTERNATING, "guided": False}, (71_840, 72_032, 72_352)),
]


def weights(model):
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(("kind", "settings", "sizes"), PAPER)
def test_numbers_of_weights(kind, settings, sizes, spec_of):
    with torch.device("meta"):
        found = [weights(kind(spec_of(side=(64, 64), longest=6, symbols=symbols), **settings)) for symbols in (23, 29, 39)]
    assert tuple(found) == sizes


@pytest.mark.parametrize("kind", [Attention, FiLM, JointTransformer, MAC, NeuralModules, RelationNetwork, StackedAttention])
def test_the_documentation_has_the_numbers_of_weights_of_the_small_models(kind, spec_of):
    page = (Path(__file__).parents[3] / "docs" / "reference" / "learn" / "predictors.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{kind.__name__}` |"))
    with torch.device("meta"):
        count = weights(kind(spec_of(side=(64, 64), symbols=23)))
    assert row.endswith(f"| {count:,} |")
    assert count < 1_500_000


def test_the_convolutions(spec_of):
    spec = spec_of(side=(64, 64))
    trunk = PaperCNN().build(spec.modality("scene.1"))
    assert weights(trunk) == 24_352
    found = trunk(torch.rand(2, 3, 64, 64))
    assert found.parts.shape == (2, 64, 64)
    assert found.vector.shape == (2, 4096)
    assert trunk.grid == (8, 8)


def test_what_does_nothing_without_guidance(spec_of, batch_of):
    """The weights of the first attention, which only guides; the 12,288 of the guidance are not there."""
    spec = spec_of(side=(64, 64))
    model = CoAttention(spec, order="alternating", guided=False)
    model.loss(batch_of(spec), Progress(0, 1)).total.backward()
    dead = {name: parameter.numel() for name, parameter in model.named_parameters() if parameter.grad is None}
    assert sum(dead.values()) == 6_336
    model = CoAttention(spec, order="alternating")
    model.loss(batch_of(spec), Progress(0, 1)).total.backward()
    assert all(parameter.grad is not None and parameter.grad.abs().max() > 0 for parameter in model.parameters())


def test_published_weights(spec_of):
    torch.manual_seed(0)
    model = JoinedVectors(spec_of(side=(64, 64), symbols=200), initialisation="published")
    picture, text = model.picture.layers, model.words.table.weight
    deviations = [layer.weight.std().item() for layer in picture if isinstance(layer, torch.nn.Conv2d)]
    assert deviations == pytest.approx([(2 / 3) ** 0.5, (2 / 16) ** 0.5, (2 / 32) ** 0.5], rel=0.05)
    assert text.std().item() == pytest.approx(32**0.5, rel=0.05)
    assert model.map.weight.std().item() == pytest.approx((2 / 64) ** 0.5, rel=0.05)


def test_the_published_readout_is_zero_for_shorter_captions(spec_of, batch_of, build):
    spec = spec_of()
    batch = batch_of(spec, 8)  # of 0 to 7 words of at most 7
    last, published = (build(TextOnly, spec, words=RecurrentWords(readout=readout)) for readout in ("last", "published"))
    found = [model.features(batch) for model in (last, published)]
    torch.testing.assert_close(found[1][7], found[0][7])
    assert found[1][:7].abs().max() == 0
    assert (found[0][1:].abs().amax(1) > 0).all()
    last, published = (build(PictureInLSTM, spec, readout=readout) for readout in ("last", "published"))
    torch.testing.assert_close(published.features(batch)[7], last.features(batch)[7])
    assert published.features(batch)[:7].abs().max() == 0


def test_a_constant_has_one_weight_and_says_always_the_same(spec_of, batch_of):
    spec = spec_of()
    assert weights(Constant(spec)) == 1
    for agrees in (True, False):
        model = Constant(spec, agrees=agrees)
        for bias in (-3.0, 0.0, 3.0):
            torch.nn.init.constant_(model.answers.outputs["true"].last.weight, bias)
            assert ((model.predict(batch_of(spec))["true"].probs > 0.5) == agrees).all()
