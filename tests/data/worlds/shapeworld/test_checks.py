"""The checks of `studies/shapeworld_checks.py` run, and their scores of contrast sets are those of Winoground."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

STUDIES = Path(__file__).parents[4] / "studies"


@pytest.fixture
def studies(monkeypatch):
    """The folder of the studies among the modules; they are forgotten in the end."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(STUDIES))
    yield lambda name: __import__(name)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(STUDIES)):
            del sys.modules[name]


def test_scores_of_sets(studies):
    scores = np.array([[[3, 1], [2, 4]], [[3, 1], [5, 6]], [[3, 4], [1, 9]], [[0, 0], [0, 0]]], float)
    found = studies("shapeworld_foils").set_scores(scores)
    assert found["text"].tolist() == [True, True, False, False]
    assert found["image"].tolist() == [True, False, True, False]
    assert found["group"].tolist() == [True, False, False, False]


def test_random_scores_are_at_chance(studies):
    scores = np.random.default_rng(0).random((40_000, 2, 2))
    found = studies("shapeworld_foils").set_scores(scores)
    assert [found[name].mean() for name in ("text", "image", "group")] == pytest.approx([1 / 4, 1 / 4, 1 / 6], abs=0.01)


def test_records(studies, tmp_path, monkeypatch):
    """The parts that take least time."""
    monkeypatch.setattr(sys, "argv", ["checks", "--quick", "--out", str(tmp_path), "--part", "semantics", "held-out"])
    studies("shapeworld_checks").main()
    semantics, held_out = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("semantics", "held-out"))
    assert all(row["different"] == 0 for row in semantics["rows"])
    assert all(row["scenes"] == row["within the distribution"] for row in held_out["rows"])
    assert {"what", "machine", "seed", "size", "processor seconds"} <= semantics.keys()
