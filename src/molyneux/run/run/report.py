"""What a run left behind, and its report: read and written from its records alone, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from molyneux.core import store
from molyneux.core.chain import require_one_run
from molyneux.core.errors import StoreError
from molyneux.core.score import Score
from molyneux.run.run.stored import (
    RUN_FOLDER,
    given_folder,
    machine,
    measured,
    opened,
    record_machine,
    remedy,
    report_stage,
    stored_settings,
)


class StepProgress(Protocol):
    """Receives the progress of the steps of a run. Calls may be frequent and must be cheap."""

    def begin(self, step: str, note: str) -> None:
        """A step begins; the note says in words what it does, or that it was done before."""
        ...

    def advance(self, done: int, total: int, note: str = "") -> None:
        """So much of the present step is done."""
        ...


class Silent:
    """A `RunProgress` that shows nothing."""

    def begin(self, step: str, note: str) -> None:
        """See `RunProgress`."""

    def advance(self, done: int, total: int, note: str = "") -> None:
        """See `RunProgress`."""

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """See `FitProgress`."""

    def epoch(self, row: Mapping[str, float | int | None]) -> None:
        """See `FitProgress`."""

    def note(self, text: str) -> None:
        """See `TakesNotes`; it is in the record of the run."""


@dataclass(frozen=True)
class Outcome:
    """What a run left behind.

    Args:
        folder: where it is.
        scores: as far as they are made.
        pages: the same.
        settings: resolved.
        notes: what was converted, cut or drawn so that the user's own files could be read, one sentence each.
    """

    folder: Path
    scores: tuple[Score, ...]
    pages: tuple[Path, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def report_run(folder: Path | str, *, progress: StepProgress | None = None) -> Outcome:
    """Write the report of a stored run again, from its scores and records alone: no samples, model or judges.

    Raises:
        ConflictError: the folder is in use.
        CorruptFileError: a file that the report uses was truncated, altered or removed.
        StoreError: it is no folder of a run, cannot be written, or nothing was measured yet.
    """
    folder = given_folder(folder, RUN_FOLDER)
    settings = stored_settings(folder)
    with opened(folder):
        record_machine(folder)
        write_report(folder, settings, progress or Silent())
        return outcome_of(folder, settings)


def write_report(folder: Path, settings: Mapping[str, Any], progress: StepProgress) -> None:
    """Write the report; only records are read, and those are checked before."""
    if not measured(folder, settings):
        raise StoreError(f"expected {folder / 'measure'} to be complete before step report: run molyneux measure {folder} first")
    require_one_run(folder, settings)
    store.verify(folder / "measure", remedy=remedy(folder / "measure"))
    for name, used in (("samples", ("spec.json", "contact_sheet.png")), ("model", ("history.csv", "spec.json"))):
        if (folder / name).is_dir():  # a copy may leave them out
            store.verify(folder / name, used, remedy=remedy(folder / name))
    stage = report_stage(folder, settings)
    if stage.current:
        progress.begin("report", "done before: checking its files")
        stage.verify()
        return
    stage.clear()
    progress.begin("report", "writing the report")
    from molyneux.report import write_run  # draws: takes a second to import, which only a report that is made needs

    write_run(folder, settings["report"]["formats"])
    stage.finish({"machine": machine()})


def outcome_of(folder: Path, settings: Mapping[str, Any]) -> Outcome:
    """What is in the folder of a run of these resolved settings."""
    recipe = folder / "samples" / "recipe.json"
    found = store.read_json(recipe) if store.is_file(recipe) else {}
    notes = tuple(map(str, (found.get("notes") or ()))) if isinstance(found, Mapping) else ()
    if not measured(folder, settings):
        return Outcome(folder, (), (), settings, notes)
    pages = sorted((folder / "report").glob("report.*")) if report_stage(folder, settings).current else []
    return Outcome(folder, tuple(read_scores(folder)), tuple(pages), settings, notes)


def read_scores(folder: Path) -> list[Score]:
    """The scores of a run.

    Raises:
        StoreError: it has none yet. CorruptFileError: they were truncated or altered. DataError: they cannot be read.
    """
    store.verify(folder / "measure", ["scores.jsonl"], remedy=remedy(folder / "measure"))
    return Score.load_lines(folder / "measure" / "scores.jsonl")
