"""Controls of probes that need no training, against scikit-learn, and of a net that measures numbers by formula."""

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from molyneux.core import Posterior
from molyneux.data import CdSprites
from molyneux.learn import MLD
from molyneux.learn.nets import WhatWhere
from molyneux.measure import LatentProbe
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
    near = untrained_neighbours(evaluation, ("image",), 2000, lambda codes: codes.means)["shared"]
    raw = raw_neighbours(evaluation, ("image",), table, training)
    found = {}
    for label in find_labels(world.spec, ["position", "size", "background", "shape"]):
        split = split_samples(evaluation, label, table, training, stream="test")
        found[label.name] = near.right(*split.arrays).mean(), raw.right(*split.arrays).mean()
    for name in ("position", "size", "background"):
        assert found[name][0] > 0.97, found
    assert found["position"][1] < 0.95
    assert found["shape"][1] < found["shape"][0] < 0.9
