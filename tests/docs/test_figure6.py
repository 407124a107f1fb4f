"""Sentences about Figure 6 of ShapeWorld have the numbers of the records, and are refused where these say otherwise."""

from dataclasses import replace
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
RECORDS = "shapeworld-figure6+shapeworld-figure6-unbound"


@pytest.fixture
def runs(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    from tables import runs_of

    return runs_of(RECORDS)


def changed(runs, model, kind, variant, value):
    """The runs with another accuracy of one model on one data set."""

    def of(run):
        wanted = {"name": model, "data.world.init_args.kind": kind, "data.world.init_args.variant": variant}
        if any(run.settings[key] != one for key, one in wanted.items()):
            return run
        scores = (
            replace(score, value=value, interval=(value - 0.1, value + 0.1)) if score.name == "prediction.accuracy" else score
            for score in run.scores
        )
        return replace(run, scores=tuple(scores))

    return [of(run) for run in runs]


def test_numbers_are_those_of_the_records(runs):
    from figure6 import said

    assert "(66 to 67 against 82)" in said("control", runs)
    other = said("control", changed(runs, "HCA-parallel", "quantification", "balanced", 61.0))
    assert "(61 to 67 against 82)" in other
    assert "74 / 76 / 77; the paper's has 57 / 57 / 56" in said("splits", runs)


@pytest.mark.parametrize(
    ("part", "model", "kind", "variant", "value", "claim"),
    [
        ("control", "HCA-parallel", "quantification", "balanced", 90.0, "all models are below the control on QUANTIFICATION"),
        ("control", "CNN-LSTM-Mult", "spatial", "balanced", 70.0, "CNN-LSTM-Mult is above it"),
        ("control", "CNN-LSTM-Mult", "spatial", "published", 75.0, "all are below it on published SPATIAL"),
        ("splits", "CNN-only", "spatial", "balanced", 51.0, "what sees one modality is at 50.0 on balanced data"),
        ("splits", "HCA-alternating", "spatial", "balanced", 80.0, "the HCA models are below counts on SPATIAL"),
    ],
)
def test_a_sentence_that_the_records_contradict_is_refused(runs, part, model, kind, variant, value, claim):
    from figure6 import said

    with pytest.raises(SystemExit, match=f"do not say any more that {claim}"):
        said(part, changed(runs, model, kind, variant, value))
