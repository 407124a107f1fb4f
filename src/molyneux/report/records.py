"""Read the recorded files of a run folder, and read and write the records of a study. No model is built and no sample is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from molyneux.core import (
    ConfigError,
    CorruptFileError,
    Exhibit,
    History,
    Score,
    Spec,
    StoreError,
    about_names,
    files,
    load_exhibits,
    store,
)
from molyneux.core.chain import require_one_run
from molyneux.core.config import read_document
from molyneux.report.settings import flatten, portable

FILE, COSTS = "records.jsonl", "costs.jsonl"
_FORMAT = 2
"""Version of the lines of `records.jsonl`. Lines without one were written before several modalities became lists of names."""


@dataclass(frozen=True)
class RunRecords:
    """What the folder of one run holds, as plain data. Fields whose file does not exist are empty.

    Args:
        name: name of the folder.
        config: the resolved configuration.
        config_text: the same, as text of `config.yaml`.
        scores: the scores of all measures under all conditions.
        history: columns of the training log by name; an empty entry of a column is NaN.
        machine: the machine and the versions of the packages it ran with.
        contact_sheet: a picture of some samples, PNG.
        parameters: number of parameters of the model; 0 where it is not recorded.
    """

    name: str
    config: Mapping[str, Any]
    config_text: str
    scores: tuple[Score, ...]
    exhibits: tuple[Exhibit, ...] = ()
    history: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    spec: Spec | None = None
    contact_sheet: bytes = b""
    parameters: int = 0


@dataclass(frozen=True)
class StudyRun:
    """One run of a study.

    Args:
        settings: its resolved settings under dotted names, `seed` among them.
        scores: under all conditions.
        cost: `steps`, `seconds` and `threads` of its training and the `processor` they are of; empty where it is not recorded.
        sealed: whether its record has a checksum, which earlier versions did not write.
    """

    settings: Mapping[str, Any]
    scores: tuple[Score, ...]
    cost: Mapping[str, Any] = field(default_factory=dict)
    sealed: bool = True

    @property
    def seed(self) -> str:
        """The seed as text; empty where none is recorded."""
        return str(self.settings.get("seed", ""))


def read_run(folder: Path) -> RunRecords:
    """Read the folder of a run. Only `config.yaml` and `measure/scores.jsonl` are required; samples and weights are not read.

    Raises:
        StoreError: the folder, its `config.yaml` or its `measure/scores.jsonl` does not exist.
        CorruptFileError: a file cannot be parsed. ConflictError: a stage is of another run.
    """
    if not folder.is_dir():
        raise StoreError(f"expected the folder of a run, got {folder}, which is not one: name a folder made by molyneux run")
    text, config = _config(files.inside(folder, "config.yaml"))
    scores = files.inside(folder, "measure/scores.jsonl")
    if not store.is_file(scores):
        raise StoreError(f"expected the scores {scores}, which do not exist: run molyneux measure {folder} first")
    require_one_run(folder, config)
    names = ("samples/contact_sheet.png", "machine.json", "model/stage.json", "model/history.csv")
    sheet, machine, model, history = (files.inside(folder, name) for name in names)
    specs = [files.inside(folder, f"{place}/spec.json") for place in ("samples", "model")]
    spec = next((store.read_json(path) for path in specs if store.is_file(path)), None)
    return RunRecords(
        name=folder.resolve().name,
        config=config,
        config_text=text,
        scores=tuple(Score.from_json(record) for record in store.read_lines(scores)),
        exhibits=tuple(load_exhibits(folder / "measure")),
        history=History.read_csv(history).columns() if store.is_file(history) else {},
        machine=store.read_json(machine) if store.is_file(machine) else {},
        spec=None if spec is None else Spec.from_json(spec),
        contact_sheet=files.read_plain(sheet) if store.is_file(sheet) else b"",
        parameters=_parameters(folder / "model") if store.is_file(model) else 0,
    )


def _parameters(model: Path) -> int:
    """The number of parameters that the record of a training tells; 0 where it tells none."""
    found = store.read_stage(model)["details"].get("parameters")
    return found if type(found) is int else 0


def study_run(folder: Path) -> StudyRun:
    """The record of a finished run, in which absolute paths are cut to their last part; errors as `read_run`."""
    run = read_run(folder)
    scores = [replace(score, origin=portable(score.origin)) for score in run.scores]
    return StudyRun(portable(flatten(run.config)), tuple(scores))


def save_study(path: Path, runs: Sequence[StudyRun]) -> None:
    """Write `records.jsonl`: one line per run, ordered by settings so that the same study gives the same bytes.

    Each line holds the `checksum` of its settings and scores.
    """
    records = [
        {"format": _FORMAT, "settings": dict(run.settings), "scores": [score.to_json() for score in run.scores]} for run in runs
    ]
    plain = json.loads(json.dumps(records, allow_nan=False))  # as it is read back: keys are text
    sealed = [{**record, "checksum": store.fingerprint(record)} for record in plain]
    store.write_lines(path, sorted(sealed, key=lambda record: json.dumps(record["settings"], sort_keys=True)))


def load_study(path: Path) -> list[StudyRun]:
    """Read what `save_study` wrote, now or in an earlier version, and the costs in `costs.jsonl` beside it.

    Args:
        path: the file, or the folder that holds it.

    Raises:
        StoreError: it does not exist, or holds no record. CorruptFileError: it does not hold the records of runs, or a record is
            not what its checksum says.
    """
    path = path / FILE if path.is_dir() else path
    records = store.read_lines(path)
    if not records:
        raise StoreError(f"expected records of runs in {path}, which is empty: run the sweep, or name another file")
    costs = _costs(path.with_name(COSTS))
    runs = by_seed([_study_run(item, path, number) for number, item in enumerate(records, start=1)])
    return [replace(run, cost=costs.get(cost_key(run), {})) for run in runs]


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


def _costs(path: Path) -> dict[str, Mapping[str, Any]]:
    """What trainings cost, by `cost_key`."""
    rows = store.read_lines(path) if store.is_file(path) else []
    return {"-".join(str(row["run"]).split("-")[-2:]): row for row in rows}


def _study_run(record: Mapping[str, Any], path: Path, line: int) -> StudyRun:
    """The run of a record; CorruptFileError, with the number of its line, where it is none."""
    sealed = _checked(record, path, line)
    try:
        current = record if record.get("format") == _FORMAT else _converted(record)
        return StudyRun(flatten(current["settings"]), tuple(Score.from_json(score) for score in current["scores"]), sealed=sealed)
    except (KeyError, TypeError, AttributeError) as error:
        raise CorruptFileError(
            f"line {line} of {path} is no record of a run, which has settings and scores: "
            "name a file records.jsonl, restore it from a copy, or run the sweep again"
        ) from error


def _checked(record: Mapping[str, Any], path: Path, line: int) -> bool:
    """Whether a record has a checksum; CorruptFileError where it is another one than that of its content."""
    told = record.get("checksum")
    if told is not None and told != store.fingerprint({name: value for name, value in record.items() if name != "checksum"}):
        raise CorruptFileError(f"line {line} of {path} was altered since it was written: restore it from a copy, or run it again")
    return told is not None


def _config(path: Path) -> tuple[str, Mapping[str, Any]]:
    if not store.is_file(path):
        raise StoreError(f"expected the configuration {path}, which does not exist: name a folder made by molyneux run")
    try:
        config = read_document(path)
    except ConfigError as error:
        raise CorruptFileError(f"{error}: restore it from a copy") from error
    return files.read_plain(path).decode(), config


def _converted(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of format 1 in format 2: `image+text` becomes a list of names.

    A name with a plus sign in it stands for several modalities only if each of its parts is a modality of the record.
    """
    names = {name for score in record["scores"] for name in _modalities(score["about"]) if "+" not in name}

    def value(text: str) -> str | tuple[str, ...]:
        parts = text.split("+")
        return about_names(parts) if names.issuperset(parts) else text

    def about(score: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value(text) if isinstance(text, str) else text for name, text in score["about"].items()}

    scores = [{**score, "about": about(score)} for score in record["scores"]]
    return {**record, "scores": scores}


def _modalities(about: Mapping[str, Any]) -> Iterator[str]:
    return (about[name] for name in ("modality", "source", "target") if isinstance(about.get(name), str))
