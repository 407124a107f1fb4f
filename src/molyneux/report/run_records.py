"""Read the recorded files of a run folder. No model is built and no sample is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    files,
    load_exhibits,
    store,
)
from molyneux.core.chain import require_one_run
from molyneux.core.tooling.documents import read_document


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
        loaded_by: of a model from outside, what `measure --model` loaded; else empty.
        asked: of such a model, the settings that were given for it.
        parent: the run whose weights the training started from: its `name`, the key `run` and the checksum `weights`; else empty.
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
    parent: Mapping[str, str] = field(default_factory=dict)
    loaded_by: str = ""
    asked: Mapping[str, Any] = field(default_factory=dict)


def read_run(folder: Path | str) -> RunRecords:
    """Read the folder of a run. Only `config.yaml` and `measure/scores.jsonl` are required; samples and weights are not read.

    Raises:
        StoreError: the folder, its `config.yaml` or its `measure/scores.jsonl` does not exist.
        CorruptFileError: a file cannot be parsed. ConflictError: a stage is of another run.
    """
    folder = Path(folder)
    text, config, scores = read_measured(folder)
    names = ("samples/contact_sheet.png", "machine.json", "model/stage.json", "model/history.csv")
    sheet, machine, model, history = (files.inside(folder, name) for name in names)
    specs = [files.inside(folder, f"{place}/spec.json") for place in ("samples", "model")]
    spec = next((store.read_json(path) for path in specs if store.is_file(path)), None)
    return RunRecords(
        name=folder.resolve().name,
        config=config,
        config_text=text,
        scores=scores,
        exhibits=tuple(load_exhibits(folder / "measure")),
        history=History.read_csv(history).columns() if store.is_file(history) else {},
        machine=store.read_json(machine) if store.is_file(machine) else {},
        spec=None if spec is None else Spec.from_json(spec),
        contact_sheet=files.read_plain(sheet) if store.is_file(sheet) else b"",
        parameters=_parameters(folder / "model") if store.is_file(model) else 0,
        parent=_parent(config),
        **_loaded(folder / "measure"),
    )


def read_measured(
    folder: Path, known: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[str, Mapping[str, Any], tuple[Score, ...]]:
    """The text of the `config.yaml` of a run, the settings in it, and the scores: what the record of a run is made of.

    Args:
        folder: of the run.
        known: settings by the text of a `config.yaml` that has them, which is not read again.

    Raises:
        StoreError, CorruptFileError, ConflictError: as `read_run`.
    """
    if not folder.is_dir():
        raise StoreError(f"expected the folder of a run, got {folder}, which is not one: name a folder made by molyneux run")
    text, config = _config(files.inside(folder, "config.yaml"), known or {})
    scores = files.inside(folder, "measure/scores.jsonl")
    if not store.is_file(scores):
        raise StoreError(f"expected the scores {scores}, which do not exist: run molyneux measure {folder} first")
    require_one_run(folder, config)
    return text, config, tuple(Score.load_lines(scores))


def _loaded(measured: Path) -> dict[str, Any]:
    """What the record of the measurement of a model from outside says of where it came from; nothing of other models."""
    if not store.is_file(files.inside(measured, "stage.json")):
        return {}
    details = store.read_stage(measured)["details"]
    loaded_by, asked = details.get("loaded_by"), details.get("asked")
    return {"loaded_by": str(loaded_by or ""), "asked": dict(asked) if isinstance(asked, Mapping) else {}}


def _parameters(model: Path) -> int:
    """The number of parameters that the record of a training tells; 0 where it tells none."""
    found = store.read_stage(model)["details"].get("parameters")
    return found if type(found) is int else 0


def _parent(config: Mapping[str, Any]) -> dict[str, str]:
    """What the settings say of the run that the training started from."""
    learn = config.get("learn")
    found = learn.get("start_from") if isinstance(learn, Mapping) else None
    return {name: str(found[name]) for name in ("name", "run", "weights") if name in found} if isinstance(found, Mapping) else {}


def _config(path: Path, known: Mapping[str, Mapping[str, Any]]) -> tuple[str, Mapping[str, Any]]:
    if not store.is_file(path):
        raise StoreError(f"expected the configuration {path}, which does not exist: name a folder made by molyneux run")
    if known and (text := files.read_plain(path).decode(errors="replace")) in known:
        return text, known[text]
    try:
        config = read_document(path)
    except ConfigError as error:
        raise CorruptFileError(f"{error}: restore it from a copy") from error
    return files.read_plain(path).decode(), config
