"""Measure a stored run a second time and compare the scores: does its folder give the numbers that it claims?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from molyneux.core import Score, StoreError, store
from molyneux.core.chain import require_one_run
from molyneux.core.workers import Workers
from molyneux.learn.training.hardware import on_device, threads
from molyneux.measure import evaluate
from molyneux.run.run.folder import RunFolder, open_experiment
from molyneux.run.run.report import Outcome, Silent, read_scores
from molyneux.run.run.same_samples import require_same_samples
from molyneux.run.run.steps import shared_evaluations
from molyneux.run.run.stored import RUN_FOLDER, given_folder, stored_settings
from molyneux.run.run.under_way import Run, RunProgress

Key = tuple[str, tuple[tuple[str, str | tuple[str, ...]], ...]]
_MOST_THREADS = 1024


@dataclass(frozen=True)
class Repeated:
    """What measuring again gave.

    Args:
        outcome: the folder with the scores of this measurement.
        changed: a sentence for each score whose value, interval or number of samples is not the stored one.
    """

    outcome: Outcome
    changed: tuple[str, ...]


def measure_again(
    folder: Path | str, *, trust: bool = False, workers: Workers | None = None, progress: RunProgress | None = None
) -> Repeated:
    """Measure the model of a run again and compare; nothing is written.

    With as many threads as before, since how many share a sum decides its last digits, and resampling makes more of these.

    Args:
        folder: of a run that was measured, or an export of one, opened.
        trust: whether classes that are not of this package are imported, which runs their code.
        workers: processes that reach the folder too, and share what is measured; see `open_workers`.
        progress: is called as it goes.

    Raises:
        StoreError: it is no folder of a run, was not measured, or data that it needs are not there.
        ConflictError: its samples are no longer those that it was made with.
        CorruptFileError: a file was truncated, altered or removed.
    """
    folder = given_folder(folder, RUN_FOLDER)
    with _told_what_was_left_out(folder):
        return _measure_again(folder, trust, workers, progress or Silent())


def _measure_again(folder: Path, trust: bool, workers: Workers | None, told: RunProgress) -> Repeated:
    experiment = open_experiment(folder, trust=trust)
    run = Run(RunFolder(folder, experiment), told, workers)
    if not run.folder.model.complete:
        raise StoreError(f"expected a trained model in {folder}, got none: run molyneux learn {folder} first")
    run.folder.model.verify()
    require_one_run(folder, stored_settings(folder))
    stored = read_scores(folder)
    if details := _of_samples(folder):
        require_same_samples(details, experiment.data, run.source, folder, (experiment.measure.split,))
    told.begin("measure", "measuring again")
    with threads(_threads(folder)):
        given = shared_evaluations(run)
        with on_device(given[0].model, _device(folder) if workers is None else "cpu"):
            found = evaluate(experiment.measure.measures, given, progress=told.advance).scores
    return Repeated(Outcome(folder, found, (), experiment.resolved), tuple(_changes(stored, found)))


@contextmanager
def _told_what_was_left_out(folder: Path) -> Iterator[None]:
    """Errors about the user's files in an export without them, with what to do."""
    try:
        yield
    except StoreError as error:
        if _names_files(folder) and not (folder / "files").exists():
            advice = "the data are not part of this export: put them there, or export the run anew with --include-data"
            raise StoreError(f"{error} ({advice})") from error
        raise


def _names_files(folder: Path) -> bool:
    """Whether the data of a run are those that an export has, or leaves out, below `files`."""
    data = (stored_settings(folder) or {}).get("data") or {}
    places = [data.get(section) for section in ("arrays", "table", "folder")]
    paths = [place.get("path") if isinstance(place, Mapping) else place for place in places]
    return any(isinstance(path, str) and Path(path).parts[:1] == ("files",) for path in paths)


def _of_samples(folder: Path) -> Mapping[str, Any]:
    """What the record of the samples says; nothing where the run has none."""
    stage = folder / "samples"
    return store.read_stage(stage)["details"] if store.is_file(stage / "stage.json") else {}


def _device(folder: Path) -> str:
    """The device that the stored scores were measured on, where it is here; else the processor, on which last digits differ."""
    recorded = store.read_stage(folder / "measure")["details"]
    return "cuda" if recorded.get("device") == "cuda" and torch.cuda.is_available() else "cpu"


def _threads(folder: Path) -> int | None:
    """With how many threads the stored scores were measured; None where their record does not say it."""
    machine = store.read_stage(folder / "measure")["details"].get("machine")
    count = machine.get("threads") if isinstance(machine, Mapping) else None
    return count if type(count) is int and 1 <= count <= _MOST_THREADS else None


def _changes(stored: Sequence[Score], found: Sequence[Score]) -> list[str]:
    before, after = _by_key(stored), _by_key(found)
    sentences = []
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if old is None or new is None or (old.value, old.interval, old.n) != (new.value, new.interval, new.n):
            about = ", ".join(f"{name} {value}" for name, value in key[1])
            words = ["none" if score is None else f"{score.value} {score.interval or ''}".strip() for score in (old, new)]
            sentences.append(f"{key[0]} ({about}): stored {words[0]}, measured {words[1]}")
    return sentences


def _by_key(scores: Sequence[Score]) -> Mapping[Key, Score]:
    return {(score.name, tuple(sorted(score.about.items()))): score for score in scores}
