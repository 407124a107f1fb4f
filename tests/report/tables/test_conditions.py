import csv
import io
from dataclasses import replace

import pytest

from molyneux.core import Score
from molyneux.report.tables import base_scores, condition_tables, prediction_scores, prediction_tables, scores_to_csv, to_csv

ABOUT = {"source": "text", "target": "image"}


def under(score: Score, value: float, **condition) -> Score:
    return replace(score, value=value, interval=(value - 1, value + 1), about={**score.about, **condition})


@pytest.fixture
def scores(made) -> list[Score]:
    strict = made.share("coherence.strict", ABOUT, 50.0, chance=3.3)
    factor = made.share("coherence.accuracy", {**ABOUT, "factor": "shape"}, 60.0, chance=33.3)
    corrupted = [
        under(score, 48.0 - 10 * number, corruption=name, strength=strength)
        for score in (strict, factor)
        for name in ("noise", "occlusion")
        for number, strength in enumerate(("0.25", "10", "2"))
    ]
    others = [under(strict, 31.0, missing=("image",)), under(strict, 45.0, split="heldout")]
    unmeasured = replace(under(strict, 0.0, missing=("image", "text")), value=None, interval=None, note="nothing is left to see")
    return [strict, factor, *corrupted, *others, unmeasured]


def test_strengths_and_conditions_are_columns_beside_the_samples_as_they_are(scores):
    corruptions, conditions = condition_tables(scores)
    titles = ["measure", "of what", "corruption", "unchanged", "0.25", "2", "10", "chance"]
    assert [column.title for column in corruptions.columns] == titles
    shown = [[entry.shown for entry in row] for row in corruptions.rows]
    assert [row[2] for row in shown] == ["noise", "occlusion"]  # whole scores only: CSV has those of factors
    assert [entry.value for entry in corruptions.rows[0][3:]] == [50.0, 48.0, 28.0, 38.0, 3.3]
    assert shown[0][4] == "48.0 (47.0\u201349.0)"
    titles = [column.title for column in conditions.columns]
    assert titles == [
        "measure",
        "of what",
        "unchanged",
        "image missing",
        "held-out combinations",
        "image + text missing",
        "chance",
    ]
    assert [entry.text for entry in conditions.rows[0]][2:] == ["50.0", "31.0", "45.0", "n/a\u00b9", "3.3"]
    assert "\u00b9 nothing is left to see" in conditions.notes
    assert [row["10"] for row in csv.DictReader(io.StringIO(to_csv(corruptions)))] == ["38.0", "38.0"]
    assert condition_tables(base_scores(scores)) == []
    assert len(base_scores(scores)) == 2
    assert base_scores(scores[2:]) == scores[2:]  # measured under conditions alone


def test_measures_of_one_title_are_told_apart_by_their_family(scores):
    strict = under(scores[0], 40.0, missing=("image",))
    other = replace(strict, name="reconstruction.strict")
    (table,) = condition_tables([strict, other])
    assert [row[0].text for row in table.rows] == ["Coherence: strict, %", "Reconstruction: strict, %"]
    (table,) = condition_tables([strict])
    assert [row[0].text for row in table.rows] == ["Strict, %"]


def test_csv_has_every_score_under_every_condition(scores):
    rows = list(csv.DictReader(io.StringIO(scores_to_csv(scores))))
    assert len(rows) == len(scores)
    for row, score in zip(rows, scores, strict=True):
        assert row["score"] == score.name
        assert (float(row["value"]) if row["value"] else None) == score.value
        assert row["strength"] == score.about.get("strength", "")
        assert float(row["judge ceiling"]) == 99.9
    assert rows[-1]["missing"] == "image + text"
    assert rows[-1]["note"] == "nothing is left to see"


def test_predictions_have_a_table_by_target_and_one_of_single_labels():
    def score(measure, target, value, **about):
        return Score(f"prediction.{measure}", value, {"target": target, **about}, n=100, chance=0.25, controls={"majority": 0.3})

    measured = [score("accuracy", "topic", 0.9), score("mae", "age", 3.0), score("macro_f1", "topic", 0.8)]
    labels = [score("f1", "genres", 0.5, label=name) for name in ("drama", "comedy")]
    assert prediction_scores([*labels, *measured, Score("a.b", 1.0)])[:2] == labels
    whole, single = prediction_tables([*measured, *labels])
    assert [[entry.shown for entry in row[:2]] for row in whole.rows] == [
        ["topic", "Accuracy"],
        ["", "Macro F1"],
        ["age", "Mean absolute error"],
    ]
    assert [column.title for column in whole.columns] == ["target", "measure", "value", "chance", "most common value", "n"]
    assert [[entry.text for entry in row[:2]] for row in single.rows] == [["genres", "drama"], ["genres", "comedy"]]
    assert prediction_tables([Score("a.b", 1.0)]) == []


def test_a_corruption_of_one_modality_names_it(scores):
    noisy = [under(scores[0], 40.0, corruption="noise", corrupted="image", strength=strength) for strength in ("1", "2")]
    (table,) = condition_tables([*scores[:2], *noisy])
    assert [entry.shown for entry in table.rows[0]][2:4] == ["noise of image", "50.0 (49.0\u201351.0)"]
