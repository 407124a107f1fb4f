"""Answers of studies, comparisons and the matrix of models have the numbers of the records, and are refused otherwise."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from molyneux.report import StudyRun

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def runs_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[StudyRun]]:
    monkeypatch.syspath_prepend(str(DOCS))
    from tables import runs_of

    return runs_of


def changed(runs: list[StudyRun], name: str, score: str, value: float) -> list[StudyRun]:
    """The runs with another value of a score of one variant."""

    def of(run: StudyRun) -> StudyRun:
        if run.settings["name"] != name:
            return run
        found = (replace(one, value=value, interval=None) if one.name == score else one for one in run.scores)
        return replace(run, scores=tuple(found))

    return [of(run) for run in runs]


def test_every_page_of_results_has_an_answer(runs_of: Any) -> None:
    from answers import ANSWERS

    pages = {path.stem for path in (DOCS / "results").glob("*.md")} - {"benchmarks", "index", "leaderboard"}
    assert set(ANSWERS) == pages


def test_an_answer_has_the_numbers_of_the_records(runs_of: Any) -> None:
    from answers import said

    assert "slots-12 is 1.00, that of MAT-0.1 0.17" in said("ynoc-slots", runs_of)

    def other(names: str) -> list[StudyRun]:
        return changed(runs_of(names), "slots-12", "disentanglement.mig", 0.5)

    assert "slots-12 is 0.50, that of MAT-0.1 0.17" in said("ynoc-slots", other)


def test_an_answer_that_the_records_contradict_is_refused(runs_of: Any) -> None:
    from answers import said

    def other(names: str) -> list[StudyRun]:
        return changed(runs_of(names), "slots-12", "disentanglement.mig", 0.1)

    with pytest.raises(SystemExit, match="the records do not say any more that slots is above mat"):
        said("ynoc-slots", other)


def test_readings_of_an_earlier_reader_are_said_to_be_such(runs_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from answers import answered

    assert "Read by an earlier, unnamed reader" in answered("level-5-parts", runs_of)
    assert "The tables below were read by an earlier" in answered("level-5", runs_of)
    assert "Captions were read as today's reader reads them" in answered("incomplete", runs_of)
    assert "earlier" not in answered("av-mnist", runs_of)
    monkeypatch.setattr("molyneux.data.worlds.captions.CaptionReader.version", "2")
    assert "Captions were read as today" not in answered("incomplete", runs_of)


def test_level_5_is_said_to_be_what_the_model_that_comes_with_the_package_has(runs_of: Any) -> None:
    from compared import compared, found
    from picked import OfModel, picked

    drawn = picked(OfModel("cdsprites-level5", "coherence.strict", {"source": "text", "target": "image"}), runs_of)
    for text in (found(runs_of), compared(runs_of)):
        assert f"{drawn.written} % of " in text
        assert "hand-made window" in text
    with pytest.raises(SystemExit, match="comes with the package"):
        picked(OfModel("cdsprites-level9", "coherence.strict"), runs_of)


def test_the_matrix_marks_guessing_and_names_a_model_to_start_with(runs_of: Any) -> None:
    from matrix import matrix

    shown = matrix("fusion", runs_of)
    assert "start with GradBlend (AV-MNIST)" in shown
    assert "∅ 50.6" in shown

    def other(names: str) -> list[StudyRun]:
        return changed(runs_of(names), "EF", "prediction.accuracy", 95.0)

    assert "start with EF (AV-MNIST" in matrix("fusion", other)
    assert "nothing is recommended" in matrix("pictures", runs_of)


def test_ratios_of_the_comparison_are_those_of_the_benchmarks(runs_of: Any) -> None:
    import compared

    from molyneux.core import store

    rows = store.read_json(compared.RESULTS / "generation.json")["rows"]
    ratio = next(row["times plain"] for row in rows if row["way"] == "in memory" and row["level"] == 5 and "1" in row["workers"])
    assert f"[{ratio:.0f} times as fast](../results/benchmarks.md#generation)" in compared.of_page("why.compared", runs_of)


def test_links_lead_from_where_the_text_stands(runs_of: Any) -> None:
    from compared import of_page

    assert "](docs/results/level-5.md)" in of_page("readme.found", runs_of)
    assert "](results/level-5.md)" in of_page("found", runs_of)
