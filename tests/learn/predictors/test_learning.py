"""Predictors that join a picture and a text learn what neither of them tells alone; settings in files; one trainer for all."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Progress, Spec, Target, Trainable
from molyneux.core.config import Factory, Supplied, build
from molyneux.learn import Training, fit
from molyneux.learn.encoders import BagOfWords, NetVector, RecurrentWords, StridedCNN
from molyneux.learn.predictors import (
    MAC,
    Attention,
    CoAttention,
    CompactBilinear,
    Constant,
    FiLM,
    Head,
    JoinedVectors,
    JoiningPredictor,
    JointTransformer,
    PictureOnly,
    RelationNetwork,
    StackedAttention,
    TextOnly,
)

WORDS = ("", "red", "green", "left", "right", "square", ".")
SPEC = Spec(
    (Modality("image", "image", (3, 16, 16), "uint8"), Modality("text", "text", (5,), "uint8", WORDS, padding=0)),
    targets=(Target("true", "agreement"),),
)


class Squares:
    """A red and a green square, one at the left and one at the right; captions say where one of them is, right in every other."""

    spec = SPEC

    def __init__(self, size=64, seed=0):
        rng = np.random.default_rng(seed)
        left, named, side = rng.integers(0, 2, size), rng.integers(0, 2, size), rng.integers(0, 2, size)
        pixels = np.zeros((size, 3, 16, 16), np.uint8)
        rows, top = np.arange(size), rng.integers(0, 10, size)
        for down, right in np.ndindex(6, 5):
            pixels[rows, left, top + down, 1 + right] = 255
            pixels[rows, 1 - left, top + down, 10 + right] = 255
        long = rng.random(size) < 0.5
        ids = np.stack([1 + named, np.where(long, 5, 3 + side), np.where(long, 3 + side, 6), np.where(long, 6, 0), 0 * side], 1)
        self.tensors = [torch.from_numpy(part) for part in (pixels, ids.astype(np.uint8))]
        self.truth = torch.from_numpy(((named == left) == (side == 0)).astype(np.int64))

    def __len__(self):
        return len(self.truth)

    def batch(self, indices):
        at = torch.as_tensor(np.asarray(indices))
        return Batch({"image": self.tensors[0][at], "text": self.tensors[1][at]}, targets={"true": self.truth[at]})


TRUNK = StridedCNN((16, 32))
INTERACTIVE = {
    "CNN+LSTM:Mult": (JoinedVectors, {}),
    "FiLM": (FiLM, {"trunk": TRUNK, "blocks": 2, "width": 32}),
    "RelationNetwork": (RelationNetwork, {"trunk": TRUNK, "width": 48, "layers": 2}),
    "MAC": (MAC, {"trunk": TRUNK, "cells": 2}),
    "JointTransformer": (JointTransformer, {"trunk": TRUNK, "layers": 2, "width": 32, "words": BagOfWords(32)}),
    "StackedAttention": (StackedAttention, {"trunk": TRUNK}),
    "Attention": (Attention, {"trunk": TRUNK}),
    "CoAttention": (CoAttention, {}),
    "CompactBilinear": (CompactBilinear, {"size": 512}),
}


def trained(model, source, steps, rate=2e-3):
    """The share of right answers in training after so many steps, in evaluation mode."""
    optimizer, batch = torch.optim.Adam(model.parameters(), lr=rate), source.batch(range(len(source)))
    for step in range(1, steps + 1):
        model.train()
        optimizer.zero_grad()
        model.loss(batch, Progress(0, 1)).total.backward()
        optimizer.step()
        if step % 15 == 0 or step == steps:
            model.eval()
            accuracy = model.loss(batch, Progress(0, 1)).terms["accuracy.true"].item()
            if accuracy == 1:
                break
    return accuracy


@pytest.mark.slow
@pytest.mark.parametrize("name", INTERACTIVE)
def test_it_overfits_a_few_samples_that_need_both_modalities(name, for_some_seed):
    def overfits(seed):
        kind, settings = INTERACTIVE[name]
        torch.manual_seed(seed)
        assert trained(kind(SPEC, **settings), Squares(), 250) == 1

    for_some_seed(overfits)


@pytest.mark.slow
def test_what_sees_one_modality_cannot_tell():
    """What a larger sample of scenes shows: neither the picture nor the text alone helps."""
    source = Squares(2000)
    for kind in (TextOnly, Constant):
        torch.manual_seed(0)
        assert trained(kind(SPEC), source, 15) < 0.56
    torch.manual_seed(0)
    assert trained(PictureOnly(SPEC), source, 5) < 0.56


def test_fit_trains_any_of_them(tmp_path):
    source = Squares(64)
    torch.manual_seed(0)
    model = FiLM(SPEC, trunk=TRUNK, blocks=1, width=16)
    history = fit(model, source, source, Training(epochs=2, batch_size=32, tensorboard=False), tmp_path, seed=0)
    assert {"train/loss", "train/nll.true", "train/accuracy.true", "validation/accuracy.true"} < set(history.rows[0])


def test_settings_in_a_file():
    from typing import Annotated

    kind = Annotated[Factory[Trainable], Supplied(("spec",), "molyneux.learn")]
    given = {
        "class_path": "FiLM",
        "init_args": {
            "blocks": 2,
            "trunk": {"class_path": "StridedCNN", "init_args": {"channels": [8, 16]}},
            "words": "BagOfWords",
            "head": {"width": 32},
        },
    }
    model = build(kind, given).value.make(spec=SPEC)
    assert isinstance(model, FiLM)
    assert (len(model.blocks), model.picture.grid, model.answers.hidden[0].out_features) == (2, (4, 4), 32)
    with pytest.raises(ConfigError) as caught:
        build(
            kind,
            {"class_path": "FiLM", "init_args": {"blockz": 2, "trunk": "StridedCN", "words": {"class_path": "Head"}}},
        )
    assert len(caught.value.problems) == 3
    agreement = {"class_path": "VAEAgreement", "init_args": {"vae": {"class_path": "MVAE", "init_args": {"latent_dim": 4}}}}
    assert build(kind, agreement).value.make(spec=SPEC).vae.latent_dim == 4


class Sum(JoiningPredictor):
    """The sum of the vectors of all modalities, whatever their kinds."""

    def __init__(self, spec, width=8):
        super().__init__(spec, {name: NetVector(width=width) for name in spec.names})
        self.answer_from(width, Head(16))

    def join(self, encodings):
        return torch.stack([encoding.vector for encoding in encodings.values()]).sum(0)


def test_a_predictor_of_other_kinds_of_modality():
    """Encoders are nets; lengths reach them, and what is absent adds nothing."""
    spec = Spec(
        (Modality("touch", "series", (9, 2)), Modality("table", "tabular", (4,)), *SPEC.modalities),
        targets=(Target("count", "number"),),
    )
    torch.manual_seed(0)
    model, text = Sum(spec).eval(), Squares(6).tensors[1]
    views = {"touch": torch.randn(6, 9, 2), "table": torch.randn(6, 4), "image": Squares(6).tensors[0], "text": text}
    batch = Batch(views, lengths={"touch": torch.arange(6)}, targets={"count": torch.arange(6.0)})
    loss = model.loss(batch, Progress(0, 1))
    loss.total.backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    longer = replace(batch, views={**views, "touch": views["touch"].where(batch.positions("touch", spec)[:, :, None], 1e6)})
    torch.testing.assert_close(model.features(longer), model.features(batch))
    alone = [model.features(batch, [name]) for name in spec.names]
    torch.testing.assert_close(torch.stack(alone).sum(0), model.features(batch))


def test_several_texts_have_to_be_told_apart():
    tree = Modality("tree", "text", (9,), "uint8", ("", "and", "not", "red"), padding=0)
    spec = Spec((*SPEC.modalities, tree), targets=SPEC.targets)
    with pytest.raises(ConfigError, match=r"text: expected the name of one of the samples' several \(text, tree\), got none"):
        FiLM(spec)
    with pytest.raises(ConfigError, match="image: expected a modality of kind image, got 'text'; known: image"):
        FiLM(spec, image="text", text="tree")
    assert FiLM(spec, text="tree").words.modality == tree


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (lambda: FiLM(SPEC, blocks=0), "blocks: expected at least 1, got 0"),
        (lambda: MAC(SPEC, cells=1, self_attention=True), "self_attention: expected false with one cell"),
        (lambda: JointTransformer(SPEC, width=30), "width: expected an even multiple of the 4 heads, got 30"),
        (lambda: JoinedVectors(SPEC, joining="times"), "joining: expected one of mult, add, concat, got 'times'"),
        (lambda: JoinedVectors(SPEC, initialisation="hee"), "initialisation: expected one of he, published"),
        (lambda: CoAttention(SPEC, guided=False), "guided: expected true in the parallel order"),
        (lambda: Constant(Spec(SPEC.modalities, targets=(Target("n", "number"),)), agrees=True), "agrees: expected samples"),
        (lambda: StridedCNN((12,), norm="group"), "channels: expected multiples of 8 with group normalisation"),
        (lambda: StridedCNN(()), "channels: expected numbers of channels, at least 1 each"),
        (lambda: RecurrentWords(bidirectional=True, readout="published"), "readout: expected last with bidirectional"),
        (lambda: BagOfWords(0), "width: expected at least 1, got 0"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        settings()
