"""Robustness under conditions: a model reads its answer from a table that is corrupted, so its curve is known."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch.distributions import Categorical, Normal

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.data import ArraySource
from molyneux.data.imperfections import Corrupted, Dropout
from molyneux.measure import Evaluation, Prediction, Robustness, evaluate

N = 4000
SPEC = Spec(
    (Modality("x", "tabular", (1,)), Modality("z", "tabular", (1,))),
    targets=(Target("sign", "class", ("low", "high")), Target("size", "number")),
)
STRENGTHS = (0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass
class Reads:
    """Says what the first modality says, or always the same."""

    constant: bool = False

    def predict(self, batch, observed=None):
        x = batch.views["x"][:, 0] * (0 if self.constant else 1)
        high = (x > 0).float()
        return {"sign": Categorical(torch.stack([1 - high, high], 1), validate_args=False), "size": Normal(x, 1.0)}


def evaluations(model):
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.choice([-1.0, 1.0], (N, 1)).astype(np.float32))
    targets = {"sign": (x[:, 0] > 0).long(), "size": x[:, 0]}
    source = ArraySource(SPEC, Batch({"x": x, "z": x.clone()}, targets=targets))
    plain = Evaluation(model, source, seed=1)
    found = [plain]
    for strength in STRENGTHS:
        about = {"corruption": "dropout", "corrupted": "x", "strength": f"{strength:g}"}
        noisy = Corrupted(source, Dropout(modalities=("x",)), strength, seed=1)
        found.append(Evaluation(model, noisy, about=about, seed=1))
    return found


def scores_of(model, **settings):
    measured = evaluate([Prediction(alone=False), Robustness(**settings)], evaluations(model)).scores
    return {(score.name, score.about["measure"]): score for score in measured if score.name.startswith("robustness")}


def test_areas_of_a_model_that_loses_what_is_dropped():
    """A lost value is 0 and read as low: the accuracy falls from 1 to the share of low, the error rises to 1."""
    found = scores_of(Reads())
    accuracy = found["robustness.area", "prediction.accuracy"]
    assert accuracy.value == pytest.approx(75, abs=1)
    assert accuracy.interval[0] < 75 < accuracy.interval[1]
    assert accuracy.about == {"source": ("x", "z"), "target": "sign", "measure": "prediction.accuracy", "under": "dropout of x"}
    assert accuracy.chance == pytest.approx(50, abs=0.1)
    assert found["robustness.loss", "prediction.accuracy"].value == pytest.approx(25, abs=1)
    error = found["robustness.area", "prediction.mse"]
    assert error.value == pytest.approx(0.5, abs=0.02)
    assert error.higher_is_better is False
    assert found["robustness.loss", "prediction.mse"].value == pytest.approx(0.5, abs=0.02)
    assert error.origin["strengths"] == [0.0, *STRENGTHS]


def test_a_constant_model_loses_nothing():
    found = scores_of(Reads(constant=True), of=["prediction.accuracy", "prediction.mse"])
    assert {name for _, name in found} == {"prediction.accuracy", "prediction.mse"}
    for name in ("prediction.accuracy", "prediction.mse"):
        assert found["robustness.loss", name].value == pytest.approx(0, abs=1e-9)
    assert found["robustness.area", "prediction.accuracy"].value == pytest.approx(50, abs=2)
    assert found["robustness.area", "prediction.mse"].value == pytest.approx(1)


def test_a_score_that_there_is_not_is_told():
    measured = evaluate([Prediction(), Robustness(of=["prediction.acuracy", "prediction.mse"])], evaluations(Reads())).scores
    notes = [score.note for score in measured if score.name == "robustness"]
    assert notes == ['not applicable: no score prediction.acuracy; did you mean "prediction.accuracy"?']
    assert any(score.name == "robustness.area" for score in measured)


def test_without_strengths_there_is_no_curve():
    (score,) = [s for s in evaluate([Prediction(), Robustness()], evaluations(Reads())[:1]).scores if s.name == "robustness"]
    assert score.note.startswith("not applicable: no curve of any score with a direction over strengths")
