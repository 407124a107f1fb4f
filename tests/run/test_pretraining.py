"""Contrastive pre-training in an experiment file: a stage without targets, and a stage without the contrastive objective."""

import csv
import math

import numpy as np
import pytest

from molyneux.core.config import parse_document
from molyneux.learn import load_spec, load_weights
from molyneux.run import make_model, read_experiment, run_experiment

FILE = """
data:
  arrays: {path: %s, targets: [y]}
learn:
  model:
    class_path: FusionPredictor
    init_args:
      encoders: {tabular: {class_path: MLP, init_args: {hidden: [16], width: 16}}}
      objectives:
        - {class_path: InStages, init_args: {objective: {class_path: Contrastive, init_args: {width: 8}}, stages: [align]}}
      targets: {unsupervised: [align]}
  stages:
    - {name: align, parameters: ["encoders.*", "objectives.*"], epochs: 4}
    - {name: predict, epochs: 2}
  batch_size: 50
  learning_rate: 0.01
  tensorboard: false
measure: [prediction]
report: [markdown]
"""


@pytest.fixture
def experiment(tmp_path):
    """Two tables that show the same three numbers with noise, by other linear maps."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=(600, 3))
    a, b = (hidden @ random.normal(size=(3, 6)) + 0.05 * random.normal(size=(600, 6)) for _ in range(2))
    np.savez(tmp_path / "own.npz", a=a.astype("float32"), b=b.astype("float32"), y=(hidden[:, 0] > 0).astype(int))
    return lambda *overrides: read_experiment(parse_document(FILE % (tmp_path / "own.npz"), "file.yaml"), overrides)


def rows_of(outcome, stage):
    """The history of a stage."""
    with (outcome.folder / "model" / "history.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["stage"] == str(stage)]


def test_modalities_are_aligned_before_the_targets_count(experiment, tmp_path):
    outcome = run_experiment(experiment(), tmp_path / "run")
    aligned, predicted = rows_of(outcome, 1), rows_of(outcome, 2)
    assert (len(aligned), len(predicted)) == (4, 2)
    for row in aligned:
        assert float(row["train/loss"]) == pytest.approx(float(row["train/contrast.a.b"]), rel=1e-5)
    assert float(aligned[-1]["train/contrast.a.b"]) < 0.5 * math.log(50) < float(aligned[0]["train/contrast.a.b"])
    for row in predicted:
        assert not row["train/contrast.a.b"]
        assert float(row["train/loss"]) == pytest.approx(float(row["train/nll.y"]), rel=1e-5)
    scores = {score.name: score for score in outcome.scores if len(score.about.get("source", ())) == 2}
    assert scores["prediction.accuracy"].value > 80


def test_pre_training_trains_no_head(experiment, tmp_path):
    settings = experiment(("learn.stages", [{"name": "align", "epochs": 1}]))
    outcome = run_experiment(settings, tmp_path / "run")
    spec = load_spec(outcome.folder / "model")
    start, trained = (make_model(settings.learn, spec, settings.seed) for _ in range(2))
    load_weights(trained, outcome.folder / "model")
    changed = {name for name, weight in start.named_parameters() if not weight.equal(dict(trained.named_parameters())[name])}
    assert {name.partition(".")[0] for name in changed} == {"encoders", "objectives"}
    assert "objectives.0.inner.log_scale" in changed
