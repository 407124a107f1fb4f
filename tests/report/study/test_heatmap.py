"""Breakdowns of a study: the rows of the published table, our numbers in them, and pages without records."""

import pytest

from molyneux.core import Score
from molyneux.data import ShapeWorld
from molyneux.report import StudyRun, study_breakdowns, to_html, to_markdown, write_study
from molyneux.report.published_breakdowns import named_breakdowns

PLACE = "data.world.init_args"
SPLITS = ("test", "train", "validation")


def share(name, accuracy, split, n=200, **about):
    condition = {} if split == "test" else {"split": split}
    fields = {"interval": (accuracy - 1, accuracy + 1), "n": n, "unit": "%", "bounds": (0.0, 100.0), "chance": 50.0}
    origin = {"world": "shapeworld-v1", "split": split}
    return Score(name, accuracy, {"target": "agreement", **about, **condition}, origin=origin, **fields)


def run(name, kind, variant, seed=1, *, crossed=True, steps=5000, whole=70.0):
    spec = ShapeWorld(kind=kind, variant=variant).spec
    scores = []
    for shift, split in enumerate(SPLITS):
        scores.append(share("prediction.accuracy", whole + shift, split, source=("image", "text")))
        for factor in spec.factors:
            for place, value in enumerate(factor.values):
                scores.append(
                    share("breakdown.accuracy", min(90.0, 10.0 + 10 * place), split, n=100, factor=factor.name, value=value)
                )
        for truth, base in (("true", 20.0), ("false", 60.0)):
            for name_, value in (("nouns", "full"), ("nouns", "hypernym"), ("symbol", "bare-most")):
                if crossed:
                    about = {"factor": ("truth", name_), "value": (truth, value)}
                    scores.append(share("breakdown.accuracy", base + shift, split, n=50 if truth == "true" else 150, **about))
    settings = {"name": name, "seed": seed, "learn.steps": steps, "learn.model.class_path": f"molyneux.learn.{name}"}
    world = {"data.world.class_path": "molyneux.data.ShapeWorld", f"{PLACE}.kind": kind, f"{PLACE}.variant": variant}
    return StudyRun({**settings, **world}, tuple(scores))


def row_of(table, title):
    number = next(place for place, row in enumerate(table.rows) if row[0].text == title)
    return [
        {column.whole: entry for column, entry in zip(table.columns, row, strict=True)} for row in table.rows[number : number + 2]
    ]


def test_rows_name_factors_and_values_that_the_worlds_have():
    for named in named_breakdowns("shapeworld"):
        spec = ShapeWorld(**named.settings).spec
        for name in named.factors:
            spec.factor(name)
        for factors, values in (cell for row in named.rows for part in row.parts for cell in part):
            for factor, value in zip(factors, values, strict=True):
                assert value in spec.factor(factor).values
        for row in named.rows:
            assert set(row.published) == set(named.models)
            assert {len(numbers) for numbers in row.published.values()} == {len(named.splits)}
    assert sum(len(named.rows) for named in named_breakdowns("shapeworld")) == 25
    assert named_breakdowns("cdsprites") == ()


def test_published_numbers_stand_below_ours():
    runs = [run(name, "quantification", "published") for name in ("CNN-only", "HCA-parallel")]
    (table,) = study_breakdowns(runs)
    assert table.title == "QUANTIFICATION, published: accuracy, %"
    published = ["LSTM-only", "CNN-LSTM-Mult", "HCA-parallel", "HCA-alternating"]
    assert [group for group, _ in table.spans] == ["", *published, "CNN-only"]  # those without runs too
    assert row_of(table, "all samples")[0]["LSTM-only test"].text == "\N{EN DASH}"
    assert row_of(table, "all samples")[1]["LSTM-only test"].text == "56"
    ours, published = row_of(table, "all samples")
    assert [ours[f"HCA-parallel {split}"].text for split in ("train", "val.", "test")] == ["71", "72", "70"]
    assert [published[f"HCA-parallel {split}"].text for split in ("train", "val.", "test")] == ["76", "77", "78"]
    assert published["CNN-only test"].text == ""
    ours, published = row_of(table, "with most")
    assert ours["HCA-parallel test"].value == pytest.approx(40.0)  # true and false captions count half each
    assert published["HCA-parallel train"].text == "69"
    ours, _ = row_of(table, "with no")
    assert ours["HCA-parallel test"].text == "\N{EN DASH}"
    assert any("A dash" in note for note in table.notes)


def test_changes_are_counted_together():
    (table,) = study_breakdowns([run("LSTM-only", "multishape", "published")])
    ours, _ = row_of(table, "I: random attr.")
    assert ours["LSTM-only test"].value == pytest.approx((20 + 40 + 60) / 3)  # values 1, 3 and 5 of the factor


def test_seeds_are_averaged():
    runs = [run("LSTM-only", "oneshape", "published", seed, whole=whole) for seed, whole in ((1, 60.0), (2, 64.0))]
    (table,) = study_breakdowns(runs)
    assert row_of(table, "all samples")[0]["LSTM-only test"].value == pytest.approx(62.0)
    assert any(note.startswith("Means over 2 seeds") for note in table.notes)


def test_worlds_without_a_published_table_show_all_values():
    runs = [run("LSTM-only", kind, variant) for variant in ("published", "balanced") for kind in ("spatial", "oneshape")]
    tables = study_breakdowns(runs)
    assert [table.title.partition(":")[0] for table in tables] == [
        "ONESHAPE, published",
        "SPATIAL, published",
        "ONESHAPE, balanced",
        "SPATIAL, balanced",
    ]
    titles = [row[0].text for row in tables[3].rows]
    assert titles[:4] == ["all samples", "truth: false", "truth: true", "change: independent"]
    assert "change: mirrored" in titles
    assert not any("entities" in title for title in titles)
    relational = study_breakdowns([run("LSTM-only", "relational", "balanced")])[0]
    assert any(row[0].text.startswith("entities: ") for row in relational.rows)


def test_short_trainings_are_not_set_beside_published_numbers():
    (table,) = study_breakdowns([run("LSTM-only", "oneshape", "published", steps=10)])
    assert "published" not in [row[0].text for row in table.rows]


def test_a_page_without_records_has_the_published_numbers(tmp_path):
    tables = study_breakdowns([], "shapeworld")
    assert len(tables) == 4
    assert row_of(tables[0], "all samples")[0]["LSTM-only train"].text == "51"
    assert study_breakdowns([], "nobody") == []
    runs = [run("LSTM-only", "oneshape", "published", crossed=False)]
    write_study(runs, tmp_path, name="heat")
    text = (tmp_path / "study.html").read_text()
    assert "Accuracy by factor" in text
    assert 'colspan="3">LSTM-only' in text
    assert "Breakdown: accuracy" not in text  # once is enough
    assert to_html(study_breakdowns(runs)[0]).count("<tr") == 2 + 12
    assert "| C: no hypernyms | \N{EN DASH} |" in to_markdown(study_breakdowns(runs)[0])
