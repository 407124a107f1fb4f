"""The records of a study: for each run its settings and its scores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from molyneux.core import CorruptFileError, Score, store
from molyneux.report.run_records import read_run
from molyneux.report.settings import flatten, portable

FILE = "records.jsonl"


@dataclass(frozen=True)
class StudyRun:
    """One run of a study.

    Args:
        settings: resolved settings under dotted names, `seed` among them.
        scores: what was measured.
    """

    settings: Mapping[str, Any]
    scores: tuple[Score, ...]

    @property
    def seed(self) -> str:
        """The seed as text; empty where none is recorded."""
        return str(self.settings.get("seed", ""))


def study_run(folder: Path) -> StudyRun:
    """The record of a finished run, without the folders of its machine; errors as `read_run`."""
    run = read_run(folder)
    scores = [replace(score, origin=portable(score.origin)) for score in run.scores]
    return StudyRun(portable(flatten(run.config)), tuple(scores))


def save_study(path: Path, runs: Sequence[StudyRun]) -> None:
    """Write `records.jsonl`: one line per run, ordered by settings so that the same study gives the same bytes."""
    records = [{"settings": dict(run.settings), "scores": [score.to_json() for score in run.scores]} for run in runs]
    store.write_lines(path, sorted(records, key=lambda record: json.dumps(record["settings"], sort_keys=True)))


def load_study(path: Path) -> list[StudyRun]:
    """Read what `save_study` wrote; `path` is the file or the folder it is in.

    Raises:
        StoreError: it is not there. CorruptFileError: it does not hold runs.
    """
    path = path / FILE if path.is_dir() else path
    records = store.read_lines(path)
    try:
        return [
            StudyRun(flatten(item["settings"]), tuple(Score.from_json(score) for score in item["scores"])) for item in records
        ]
    except (KeyError, TypeError, AttributeError) as error:
        raise CorruptFileError(f"expected lines with settings and scores in {path} ({error!r}): run the sweep again") from error
