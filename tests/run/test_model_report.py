"""Performance, complexity and robustness by one call: the parts of the report, and what the imperfections do to a known model."""

import numpy as np
import pytest
import torch

from molyneux import FusionPredictor, Interactions, Training, evaluate_model, fit
from molyneux.core import ConfigError, Modality, Spec
from molyneux.data.imperfections import GaussianNoise
from molyneux.learn.predictors import Head
from molyneux.measure import Complexity, Prediction
from molyneux.run import ConditionSettings, usual_imperfections

WORLD = Interactions(targets=("redundancy",), noise=0.1, size=4, embedding="linear")
TEST = WORLD.source("test", 200, seed=1)


@pytest.fixture(scope="module")
def trained():
    torch.manual_seed(0)
    model = FusionPredictor(WORLD.spec, head=Head(8))
    settings = Training(steps=60, batch_size=50, learning_rate=0.03, keep="last")
    return model, fit(model, WORLD.source("train", 1000, seed=1), training=settings)


@pytest.fixture(scope="module")
def report(trained):
    model, history = trained
    return evaluate_model(model, TEST, history, measures=(Prediction(), Complexity(repeats=1, steps=0)), seed=3)


def value(scores, name, **about):
    (found,) = [score.value for score in scores if score.name == name and about.items() <= score.about.items()]
    return found


def test_three_sides(trained, report):
    model, history = trained
    both = ("x1", "x2")
    accuracy = value(report.performance, "prediction.accuracy", source=both)
    assert accuracy > 0.99
    assert value(report.complexity, "complexity.parameters") == sum(item.numel() for item in model.parameters())
    assert value(report.complexity, "complexity.training_time") == history.rows[-1]["seconds"]
    assert [score.n for score in report.complexity if score.name == "complexity.training_time"] == [1000]
    names = [name for part in (report.performance, report.complexity, report.robustness) for name in part]
    assert len(names) + sum("strength" in score.about for score in report.scores) == len(report.scores)
    text = str(report)
    assert [text.index(title) for title in ("**Performance**", "**Complexity**", "**Robustness**")] == sorted(
        text.index(title) for title in ("**Performance**", "**Complexity**", "**Robustness**")
    )


def test_an_area_is_that_of_the_scores_at_every_strength(report):
    about = {"source": ("x1", "x2"), "corrupted": "x1"}
    strengths = [0.2, 0.4, 0.6, 0.8, 1.0]
    curve = [value(report.performance, "prediction.accuracy", source=("x1", "x2"))]
    curve += [value(report.scores, "prediction.accuracy", strength=f"{strength:g}", **about) for strength in strengths]
    areas = [
        score.value
        for score in report.robustness
        if score.name == "robustness.area"
        and score.about["measure"] == "prediction.accuracy"
        and score.about["source"] == ("x1", "x2")
    ]
    assert any(area == pytest.approx(np.trapezoid(curve, [0.0, *strengths])) for area in areas)
    assert len(areas) == 3  # noise on each modality, and modalities missing at rates


@pytest.mark.slow
def test_a_data_set_gives_its_splits(trained, tmp_path):
    from molyneux.data import ArrayDataset

    rng = np.random.default_rng(0)
    np.savez(tmp_path / "own.npz", a=rng.normal(size=(90, 3)), b=rng.normal(size=(90, 2)), y=rng.integers(0, 2, 90))
    data = ArrayDataset(path=str(tmp_path / "own.npz"), targets=("y",))
    model = FusionPredictor(data.spec, head=Head(4))
    history = fit(model, data, training=Training(epochs=1, batch_size=10))
    assert "validation/loss" in history.rows[-1]
    found = evaluate_model(model, data, history, measures=(Prediction(), Complexity(repeats=1, steps=1)), conditions=())
    assert value(found.complexity, "complexity.training_step") > 0  # of the training samples
    assert {score.n for score in found.complexity if score.name == "complexity.training_step"} == {10}  # as it was trained
    assert found.robustness == ()
    assert {score.n for score in found.performance if score.name == "prediction.accuracy"} == {len(data.source("test"))}


def test_what_cannot_be_evaluated_is_refused(trained):
    model, _ = trained
    with pytest.raises(ConfigError, match="expected corruptions and missing modalities, got another split"):
        evaluate_model(model, TEST, conditions=[ConditionSettings(split="validation")])
    with pytest.raises(ConfigError, match="endless: name a size"):
        evaluate_model(model, WORLD)
    with pytest.raises(ConfigError, match="no modality 'x9'"):
        evaluate_model(
            model, TEST, conditions=[ConditionSettings(corruption=GaussianNoise(modalities=("x9",)), strengths=(0.5,))]
        )


def test_every_kind_of_modality_has_an_imperfection_of_its_own():
    letters, words = tuple(" abcdefg"), ("<pad>", "red", "blue circle")
    spec = Spec(
        (
            Modality("table", "tabular", (3,)),
            Modality("letters", "text", (5,), "int64", symbols=letters),
            Modality("words", "text", (5,), "int64", symbols=words),
        )
    )
    *alone, together = usual_imperfections(spec, (0.5, 1.0))
    assert [item.corruption.name for item in alone] == ["gaussian-noise", "typos", "dropout"]
    assert [item.corruption.modalities for item in alone] == [("table",), ("letters",), ("words",)]
    assert together.missing == ("table", "letters", "words")
    assert together.strengths == (0.5,)  # a sample without any modality says nothing
    (only,) = usual_imperfections(Spec((Modality("table", "tabular", (3,)),)))
    assert only.corruption is not None
