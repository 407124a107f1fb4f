"""Controls of probes that need no training, against scikit-learn, and of a net that measures numbers by formula."""

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from molyneux.core import Batch, Factor, Modality, Posterior, Spec
from molyneux.data import ArraySource, CdSprites
from molyneux.learn import MLD
from molyneux.learn.encoders.nets import WhatWhere
from molyneux.learn.posteriors import DiagonalNormal
from molyneux.measure import LatentProbe, evaluate
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.prediction.neighbours import code_neighbours, raw_neighbours, untrained_neighbours
from molyneux.measure.prediction.probe import find_labels, split_samples


@pytest.mark.parametrize("size", [(300, 200), (6000, 1500)])
def test_nearest_neighbours_are_those_of_scikit_learn(size):
    rng = np.random.default_rng(3)
    fit, test = (rng.normal(size=(count, 4)) * [1, 10, 0.1, 0] + [5, 0, 0, 2] for count in size)
    labels, truth = (rng.integers(0, 3, count) for count in size)
    rows, asked = np.flatnonzero(rng.random(size[0]) < 0.7), np.flatnonzero(rng.random(size[1]) < 0.8)
    (found,) = code_neighbours({"code": fit}, {"code": test}).values()
    right = found.right(rows, labels[rows], asked, truth[asked])
    known, tried = rows[rows < 5000], asked[asked < 1000]
    scaler = StandardScaler().fit(fit[:5000])
    reference = KNeighborsClassifier(1, algorithm="brute").fit(scaler.transform(fit[known]), labels[known])
    assert (right == (reference.predict(scaler.transform(test[tried])) == truth[tried])).mean() > 0.999


class Coded:
    """Encodes an image as its number in the list of combinations, or as noise before training."""

    def __init__(self, tiny, trained):
        self.tiny, self.trained = tiny, trained

    def encode(self, batch, observed=None):
        posterior = self.tiny.Oracle().encode(batch, observed)
        if self.trained:
            return posterior
        noise = torch.randn(len(batch), 1, generator=torch.Generator().manual_seed(len(batch)))
        return Posterior(type(posterior.shared)(noise))


def test_a_probe_stands_beside_the_untrained_net_and_the_raw_input(tiny):
    source, train = tiny.Source(tiny.rows(900)), tiny.Source(tiny.rows(1200, seed=1))
    evaluation = tiny.evaluation(Coded(tiny, True), source=source, train=train, untrained=lambda: Coded(tiny, False))
    score = tiny.find(LatentProbe()(evaluation), "latent_probe.accuracy", source="image", code="shared", factor="shape")
    assert score.controls["raw input"] == 100.0  # each combination has one picture
    assert score.controls["untrained net"] == pytest.approx(100 / 3, abs=6)
    without = tiny.find(LatentProbe()(tiny.evaluation(Coded(tiny, True), source=source)), "latent_probe.accuracy",
                        source="image", code="shared", factor="shape")  # fmt: skip
    assert without.controls["raw input"] == 100.0
    assert "untrained net" not in without.controls


@torch.inference_mode()
def test_what_a_net_measures_by_formula_needs_no_training():
    """Place, size and ground of a figure are in the numbers that `WhatWhere` computes; its shape is not."""
    world = CdSprites(level=5)
    sources = {split: world.source(split, size, seed=1) for split, size in (("train", 2000), ("test", 500))}

    def make():
        torch.manual_seed(1)
        return MLD(world.spec, latent_dim={"image": 13, "text": 16}, rate=1.0, nets={"image": WhatWhere()})

    evaluation = Evaluation(make(), sources["test"], train=sources["train"], untrained=make)
    table, training = evaluation.table(("image",)), evaluation.training.table(("image",))
    near = untrained_neighbours(evaluation, ("image",), table, training, lambda codes: codes.means)["shared"]
    raw = raw_neighbours(evaluation, ("image",), table, training)
    found = {}
    for label in find_labels(world.spec, ["position", "size", "background", "shape"]):
        split = split_samples(evaluation, label, table, training, stream="test")
        found[label.name] = near.right(*split.arrays).mean(), raw.right(*split.arrays).mean()
    for name in ("position", "size", "background"):
        assert found[name][0] > 0.97, found
    assert found["position"][1] < 0.95
    assert found["shape"][1] < found["shape"][0] < 0.9


@pytest.mark.parametrize("train", [None, 1200])
def test_the_untrained_net_is_asked_for_the_samples_that_are_probed(tiny, train):
    """A net that its training leaves as it was is its own control: what it says is that of the nearest of its codes."""
    source, fitted = tiny.Source(tiny.rows(900)), None if train is None else tiny.Source(tiny.rows(train, seed=1))
    measured = LatentProbe()(tiny.evaluation(tiny.Oracle(), source=source, train=fitted, untrained=tiny.Oracle))
    for factor in ("shape", "size"):
        for name in ("image", "text"):
            score = tiny.find(measured, "latent_probe.accuracy", source=name, code="shared", factor=factor)
            assert score.controls["untrained net"] == 100.0, (name, factor)


def test_the_untrained_net_is_made_once_and_training_samples_are_read_once(tiny):
    made, asked = [], []

    class Counting(tiny.Source):
        def batch(self, indices):
            asked.append(len(indices))
            return super().batch(indices)

    def make():
        made.append(tiny.Oracle())
        return made[-1]

    train = Counting(tiny.rows(500, seed=2))
    same = {"train": train, "untrained": make}
    model = tiny.Oracle()
    conditions = [
        tiny.evaluation(model, source=tiny.Source(tiny.rows(300, seed=one)), about={"of": str(one)}, **same) for one in (0, 1)
    ]
    evaluate([LatentProbe()], conditions)
    assert len(made) == 1
    # Codes of the net, and those of the untrained one, for each of three sets of modalities; the inputs once.
    assert sum(asked) == 500 * (3 + 3 + 1)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e5])
def test_inputs_far_from_0_have_the_same_neighbours(offset):
    rng = np.random.default_rng(0)
    fit = rng.normal(size=(300, 3))
    near = fit[:60] + 1e-2 * rng.normal(size=(60, 3))
    spec = Spec((Modality("numbers", "tabular", (3,)),), (Factor("row", tuple(map(str, range(300)))),))

    def source(rows, codes):
        return ArraySource(
            spec, Batch({"numbers": torch.tensor(rows + offset, dtype=torch.float32)}, factors=torch.tensor(codes)[:, None])
        )

    class Nothing:
        def encode(self, batch, observed=None):
            return Posterior(DiagonalNormal(torch.zeros(len(batch), 1), torch.ones(len(batch), 1)))

    evaluation = Evaluation(Nothing(), source(near, np.arange(60)), train=source(fit, np.arange(300)))
    table, training = evaluation.table(("numbers",)), evaluation.training.table(("numbers",))
    found = raw_neighbours(evaluation, ("numbers",), table, training)
    rows = np.arange(300)
    assert found.right(rows, rows, rows[:60], rows[:60]).all()
