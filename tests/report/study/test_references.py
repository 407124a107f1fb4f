"""Chance and controls of a study: one number for several settings only where all of them have it."""

import csv
import io
from dataclasses import replace

import pytest

from molyneux.core import Score
from molyneux.report import StudyRun, chosen_tables, study_tables, to_csv
from molyneux.report.study import study_page
from molyneux.report.study.groups import divide
from molyneux.report.study.pages import strict_drawings
from molyneux.report.study.references import RANGES
from molyneux.report.tables.table import DASH

UNTRAINED = {4: (68.0, 70.8), 64: (50.0, 51.2)}
"""What an untrained net has, by the bridged shapes and the seed."""


def scored(name: str, value: float, role: str, **controls: float) -> Score:
    about = {"source": "touch", "target": "image", "role": role}
    kept = {"n": 100, "unit": "%", "bounds": (0.0, 100.0), "higher_is_better": True, "chance": 50.0}
    return Score(name, value, about, (value - 2, value + 2), controls=controls, **kept)


def sweep(untrained=UNTRAINED, constant: float = 52.0) -> list[StudyRun]:
    """Two seeds of each number of bridged shapes."""
    return [
        StudyRun(
            {"data.bridging.bridged": bridged, "seed": seed},
            (
                scored(
                    "choice.accuracy", 60 + seed, "bridged", constant=constant, **{"untrained net": untrained[bridged][seed - 1]}
                ),
                scored("choice.accuracy", 55 + seed, "new", constant=constant, **{"untrained net": 49.0}),
            ),
        )
        for bridged in untrained
        for seed in (1, 2)
    ]


def rows(table) -> dict[str, list[str]]:
    return {row[0].text: [entry.text for entry in row[1:]] for row in table.rows}


def test_a_control_that_differs_stands_below_each_setting_and_one_that_agrees_at_the_end():
    (table,) = study_tables(sweep())
    assert [row[0].text for row in table.rows] == [
        "bridged 4",
        "bridged 4, untrained net",
        "bridged 64",
        "bridged 64, untrained net",
        "chance",
        "best constant",
        "untrained net",
    ]
    found = rows(table)
    assert found["bridged 4, untrained net"] == ["69.4", DASH.text]
    assert found["bridged 64, untrained net"] == ["50.6", DASH.text]
    assert found["untrained net"] == [DASH.text, "49.0"]
    assert found["chance"] == ["50.0", "50.0"]
    assert found["best constant"] == ["52.0", "52.0"]


def test_no_row_for_all_settings_holds_what_one_of_them_has():
    """Every number of a row without a setting is that of each setting, in whatever order they come."""
    for runs in (sweep(), sweep()[::-1]):
        (table,) = study_tables(runs)
        (part,) = divide(runs)
        titles = {"chance": None, "best constant": "constant", "untrained net": "untrained net"}
        for row in table.rows:
            if row[0].text not in titles:
                continue
            control = titles[row[0].text]
            for entry, key in zip(row[1:], part.main, strict=True):
                own = {over.controls[control] if control else over.chance for over in part.column(key)}
                assert entry is DASH or list(own) == pytest.approx([entry.value])


def test_chance_that_differs_stands_below_each_setting_and_is_no_line():
    def other(run: StudyRun) -> StudyRun:
        chance = 25.0 if run.settings["data.bridging.bridged"] == 64 else 50.0
        return replace(run, scores=tuple(replace(score, chance=chance) for score in run.scores))

    runs = list(map(other, sweep()))
    found = rows(study_tables(runs)[0])
    assert found["bridged 4, chance"] == ["50.0", "50.0"]
    assert found["bridged 64, chance"] == ["25.0", "25.0"]
    assert "chance" not in found
    (part,), (same,) = divide(runs), divide(sweep())
    assert ("chance" in dict(strict_drawings(part).keys), "chance" in dict(strict_drawings(same).keys)) == (False, True)


def test_a_control_that_some_setting_lacks_is_that_of_the_others():
    runs = sweep({4: (60.0, 60.0), 64: (60.0, 60.0)})
    assert rows(study_tables(runs)[0])["untrained net"] == ["60.0", "49.0"]
    bare = [
        run
        if run.settings["data.bridging.bridged"] == 4
        else replace(run, scores=tuple(replace(score, controls={"constant": 52.0}) for score in run.scores))
        for run in runs
    ]
    found = rows(study_tables(bare)[0])
    assert found["bridged 4, untrained net"] == ["60.0", "49.0"]
    assert "untrained net" not in found
    assert "bridged 64, untrained net" not in found
    nothing = [
        replace(run, scores=tuple(replace(score, value=None, interval=None, controls={}) for score in run.scores))
        if run.settings["data.bridging.bridged"] == 64
        else run
        for run in runs
    ]
    assert rows(study_tables(nothing)[0])["untrained net"] == ["60.0", "49.0"]  # 64 has no score that it would stand beside


def test_controls_agree_as_they_are_written():
    found = rows(study_tables(sweep({4: (50.02, 50.02), 64: (49.98, 49.98)}))[0])
    assert found["untrained net"] == ["50.0", "49.0"]
    assert not any(label.endswith(", untrained net") for label in found)


def test_a_page_of_many_settings_gives_the_range_and_csv_what_each_has():
    many = {count: (50.0 + count, 52.0 + count) for count in range(1, 14)}
    (table,) = study_tables(sweep(many))
    shown = rows(table.on_page)
    assert shown["untrained net"] == ["52.0\u201364.0", "49.0"]
    assert not any(label.endswith(", untrained net") for label in shown)
    assert len(shown) == 13 + 3
    written = {row[""]: row for row in csv.DictReader(io.StringIO(to_csv(table)))}
    values = [row for label, row in written.items() if label.endswith(", untrained net")]
    assert [float(row["role bridged: Accuracy, %"]) for row in values] == [51.0 + count for count in many]
    page = study_page(sweep(many), "many")
    (main,) = (block for section in page.sections if section.name == "results" for block in section.blocks[:1])
    assert rows(main.on_page) == shown


def test_controls_that_hardly_differ_are_a_range_on_pages_and_numbers_in_csv():
    (table,) = study_tables(sweep({4: (49.9, 49.9), 64: (50.4, 50.4)}))
    shown = rows(table.on_page)
    assert shown["untrained net"] == ["49.9\u201350.4", "49.0"]
    assert not any(label.endswith(", untrained net") for label in shown)
    assert rows(table)["bridged 64, untrained net"] == ["50.4", DASH.text]
    assert RANGES in table.notes
    assert RANGES not in study_tables(sweep())[0].notes


def test_a_range_of_some_settings_says_of_how_many():
    many = sweep(dict.fromkeys(range(1, 14), (60.0, 60.0)))
    some = [
        replace(run, scores=tuple(replace(score, controls={}) for score in run.scores))
        if run.settings["data.bridging.bridged"] < 4
        else run
        for run in many
    ]
    (row,) = (row for row in study_tables(some)[0].on_page.rows if row[0].text == "untrained net")
    assert [entry.shown for entry in row[1:]] == ["60.0 (10 of 13 settings)", "49.0 (10 of 13 settings)"]


def test_chosen_tables_and_ablations_keep_to_it_too():
    about = {"source": "touch", "target": "image", "role": "bridged"}
    (table,) = chosen_tables(sweep(), [("choice.accuracy", about)])
    assert rows(table)["bridged 64, untrained net"] == ["50.6"]
    assert "untrained net" not in rows(table)
