"""Read and write the records of a study, one of which is made of the folder of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from molyneux.core import StoreError, files, store
from molyneux.core.json_lines import append_lines, finished_lines
from molyneux.report.record_lines import RecordLines, StudyRun
from molyneux.report.run_records import read_measured
from molyneux.report.settings import flatten, portable

FILE, COSTS = "records.jsonl", "costs.jsonl"


def study_run(folder: Path | str, known: Mapping[str, Mapping[str, Any]] | None = None) -> StudyRun:
    """The record of a finished run, in which absolute paths are cut to their last part; errors as `read_run`.

    Args:
        folder: of the run.
        known: settings by the text of a `config.yaml` that has them, which is not read again.
    """
    _, config, scores = read_measured(Path(folder), known)
    origins = {place: portable(origin) for place, origin in {id(score.origin): score.origin for score in scores}.items()}
    found = (replace(score, origin=own) if (own := origins[id(score.origin)]) != score.origin else score for score in scores)
    return StudyRun(portable(flatten(config)), tuple(found))


def save_records(path: Path | str, runs: Sequence[StudyRun]) -> None:
    """Write `records.jsonl` anew, in the order of settings, so that the same runs give the same bytes; see `record_lines`."""
    path = Path(path)
    lines = RecordLines(path)
    store.write_text(path, "".join(f"{line}\n" for run in sorted(runs, key=_by_settings) for line in lines.write(run)))


def append_records(path: Path | str, run: StudyRun) -> None:
    """Add the lines of a run below those of a file, which stay as they are; the file is made where it is not there.

    The file is replaced at once, so a process that is killed leaves what was there. Of two processes that append at the same
    time one may undo what the other did: hold the folder (`store.locked`).

    Raises:
        StoreError: the file cannot be read or written. CorruptFileError: it does not hold the records of runs.
    """
    path = Path(path)
    lines, before = RecordLines(path), ""
    if store.is_file(path):
        list(lines.read(store.read_lines(path, most=files.MOST_TEXT)))
        before = store.read_text(path)
    new = "".join(f"{line}\n" for line in lines.write(run))
    if new:
        store.write_text(path, before + ("" if before.endswith("\n") or not before else "\n") + new)


class RecordsFile:
    """The file of records of a study under way: what is there is read once, and a run that is added is written at once.

    Adding one of ten thousand runs takes as long as adding the first. Who adds holds the folder (`store.locked`); a line that
    another process did not write to its end, because its machine went, is passed over.

    Args:
        path: `records.jsonl`, which need not be there.

    Attributes:
        runs: those that were there.

    Raises:
        StoreError: the file cannot be read or written. CorruptFileError: it does not hold the records of runs.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._lines, self._first = path, RecordLines(path), True
        self.runs = list(self._lines.read(finished_lines(path, most=files.MOST_TEXT)))

    def add(self, run: StudyRun) -> None:
        """Write the lines of a run below the others; nothing where it is there."""
        if lines := self._lines.write(run):
            append_lines(self.path, lines, first=self._first)
            self._first = False


def load_records(path: Path | str) -> list[StudyRun]:
    """Read what `save_records` and `append_records` wrote, in the order of the lines, and the costs in `costs.jsonl` beside it.

    Args:
        path: the file, or the folder that holds it.

    Raises:
        StoreError: it does not exist, holds no record, or has another format. CorruptFileError: it does not hold the records of
            runs, or a line is not what its checksum says.
    """
    path = Path(path)
    path = path / FILE if path.is_dir() else path
    runs = list(RecordLines(path).read(store.read_lines(path, most=files.MOST_TEXT)))
    if not runs:
        raise StoreError(f"expected records of runs in {path}, which is empty: run the sweep, or name another file")
    costs = path.with_name(COSTS)
    return with_costs(runs, store.read_lines(costs) if store.is_file(costs) else [])


def with_costs(runs: Sequence[StudyRun], costs: Sequence[Mapping[str, Any]]) -> list[StudyRun]:
    """The runs, see `by_seed`, each with what its training cost, of the lines of `costs.jsonl`."""
    known = {"-".join(str(row["run"]).split("-")[-2:]): row for row in costs}
    return [replace(run, cost=known.get(cost_key(run), {})) for run in by_seed(runs)]


def _by_settings(run: StudyRun) -> str:
    return json.dumps(dict(run.settings), sort_keys=True)


def by_seed(runs: Sequence[StudyRun]) -> list[StudyRun]:
    """The runs with the seeds of equal settings in the order of their numbers, so that 2 stands before 10, and 1 before both.

    The settings keep the order in which each of them stands first. Records of a sweep come in the order of its trainings or of
    the digests of their settings.
    """
    groups: dict[str, list[StudyRun]] = {}
    for run in runs:
        same = {name: value for name, value in run.settings.items() if name != "seed"}
        groups.setdefault(store.fingerprint(same), []).append(run)
    return [run for group in groups.values() for run in sorted(group, key=lambda run: seed_order(run.seed))]


def seed_order(seed: str) -> tuple[bool, int, str]:
    """What seeds are sorted by: numbers by size, then everything else by its text.

    >>> sorted(["10", "2", "-1", ""], key=seed_order)
    ['-1', '2', '10', '']
    """
    number = int(seed) if seed.removeprefix("-").isdecimal() else None
    return number is None, number or 0, seed


def cost_key(run: StudyRun) -> str:
    """The end of the name of a run's folder, by which `costs.jsonl` knows it; empty where its origin is not recorded."""
    experiment = str(run.scores[0].origin.get("experiment") or "") if run.scores else ""
    return f"seed{run.seed}-{experiment[:8]}" if experiment else ""
