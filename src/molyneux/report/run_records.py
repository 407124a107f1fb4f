"""What a run left behind, read from its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from molyneux.core import CorruptFileError, Exhibit, History, Score, Spec, StoreError, load_exhibits, store


@dataclass(frozen=True)
class RunRecords:
    """Records of one run; what was not recorded is empty.

    Args:
        name: name of the folder.
        config: the resolved configuration.
        config_text: the same, as it was written.
        scores: what was measured.
        exhibits: what a measure shows beside its scores.
        history: columns of the training log; an empty entry of a column is NaN.
        machine: where it ran, and with which versions.
        spec: what the samples look like.
        contact_sheet: a picture of the samples, PNG.
        parameters: how many numbers the model has; 0 where that is not recorded.
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


def read_run(folder: Path) -> RunRecords:
    """Read a run.

    Raises:
        StoreError: the folder, its `config.yaml` or its `measure/scores.jsonl` is not there.
        CorruptFileError: a file cannot be read.
    """
    if not folder.is_dir():
        raise StoreError(f"expected the folder of a run, got {folder}, which is not one: name a folder made by molyneux run")
    text, config = _config(folder / "config.yaml")
    scores = folder / "measure" / "scores.jsonl"
    if not store.is_file(scores):
        raise StoreError(f"expected the scores {scores}, which are not there: run molyneux measure {folder} first")
    history = folder / "model" / "history.csv"
    spec, sheet = folder / "samples" / "spec.json", folder / "samples" / "contact_sheet.png"
    machine, model = folder / "machine.json", folder / "model" / "stage.json"
    return RunRecords(
        name=folder.resolve().name,
        config=config,
        config_text=text,
        scores=tuple(Score.from_json(record) for record in store.read_lines(scores)),
        exhibits=tuple(load_exhibits(folder / "measure")),
        history=History.read_csv(history).columns() if store.is_file(history) else {},
        machine=store.read_json(machine) if store.is_file(machine) else {},
        spec=Spec.from_json(store.read_json(spec)) if spec.is_file() else None,
        contact_sheet=sheet.read_bytes() if sheet.is_file() else b"",
        parameters=store.read_json(model).get("details", {}).get("parameters", 0) if model.is_file() else 0,
    )


def _config(path: Path) -> tuple[str, Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        config = yaml.safe_load(text)
    except FileNotFoundError as error:
        raise StoreError(f"expected the configuration {path}, which is not there: name a folder made by molyneux run") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CorruptFileError(f"{path} is no YAML ({error}): restore it, or run the same command again") from error
    if not isinstance(config, dict):
        raise CorruptFileError(f"expected settings by name in {path}, got {type(config).__name__}: restore it")
    return text, config
