"""The table and the curves of the studies of missing senses, from records of runs."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from molyneux.core import Score
from molyneux.data import Interactions, Missing
from molyneux.report import StudyRun, flatten

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    return runpy.run_path(str(ROOT / "docs" / "missing_senses.py"))


def run(method, rate, seed, base):
    """A run of a study: accuracies that fall with the rate of the test samples, and scores that are not to be read."""
    missing = {"x1": rate, "x2": rate} if rate else {}
    settings = flatten(
        {"name": method, "seed": seed, "data": {"missing": missing, "world": {"class_path": "molyneux.data.Interactions"}}}
    )
    both, fields = ("x1", "x2"), {"unit": "%", "chance": 50.0}
    scores = [Score("prediction.accuracy", base, {"source": both, "target": "synergy"}, **fields)]
    for strength in ("0.3", "0.9"):
        about = {"source": both, "target": "synergy", "corruption": "missing", "corrupted": both, "strength": strength}
        scores.append(Score("prediction.accuracy", base - 10 * float(strength), about, **fields))
        scores.append(Score("prediction.accuracy", 1.0, {**about, "source": "x1"}, **fields))
    scores.append(Score("prediction.accuracy", 2.0, {"source": both, "target": "synergy", "missing": ("x1",)}, **fields))
    return StudyRun(settings, tuple(scores))


@pytest.fixture
def runs():
    levels = {"zeros": 80.0, "token": 90.0}
    return [run(name, rate, seed, level + seed) for name, level in levels.items() for rate in (0.0, 0.3, 0.9) for seed in (0, 2)]


def test_rates_of_training_and_test_are_read_together(script, runs):
    assert script["methods"](runs) == ["zeros", "token"]
    assert script["rates"](runs) == [0.0, 0.3, 0.9]
    found = script["at"](runs, "token", "synergy", 0.9, 0.3)
    assert found.values == (87.0, 89.0)
    assert script["at"](runs, "token", "synergy", 0.9, 0.6) is None


def test_the_table_has_complete_rows_beside_equal_rates(script, runs):
    lines = [line for line in script["rate_table"]("any", runs).splitlines() if line.startswith("|")]
    token = next(line for line in lines if "token" in line)
    cells = [cell.strip().partition(" ")[0] for cell in token.strip("|").split("|")][2:]
    assert cells == ["91.0", "88.0", "82.0", "88.0", "82.0", "91.0", "91.0"]
    assert any("best possible" in line for line in lines)


def test_without_records_it_is_said_how_they_are_made(script):
    assert "molyneux sweep configs/studies/missing-senses.yaml" in script["rate_table"]("missing-senses", [])
    assert script["rate_curves"]("missing-senses", []) == []


def test_curves_are_a_line_for_each_method(script, runs):
    (curve,) = script["rate_curves"]("missing-senses", runs)
    drawn = curve.svg()
    assert curve.name == "missing-senses-synergy"
    assert drawn == curve.svg()
    assert drawn.count("<svg ") == 1
    for word in ("zeros", "token", "rate of missing modalities"):
        assert word in drawn
    assert '<rect width="100%" height="100%" fill="#ffffff"/>' in drawn


@pytest.mark.parametrize("rate", [0.3, 0.9])
def test_the_best_accuracy_is_that_of_the_masks_that_are_drawn(script, rate):
    world = Interactions()
    source = Missing(world.source("test", 20_000, seed=1), {"x1": rate, "x2": rate}, seed=1)
    batch = source.batch(np.arange(20_000))
    patterns = np.stack([batch.mask(name).numpy() for name in world.names], 1)
    for target in ("redundancy", "unique x1", "synergy"):
        each = {names: world.accuracy(target, names) for names in (("x1",), ("x2",), ("x1", "x2"))}
        expected = np.mean([each[tuple(np.array(world.names)[row])] for row in patterns])
        assert script["best_accuracy"](world, target, rate) == pytest.approx(expected, abs=0.01)
    assert script["best_accuracy"](world, "unique x1", 0.0) == world.accuracy("unique x1")
