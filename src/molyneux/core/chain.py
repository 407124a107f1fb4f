"""The stages of a run belong together: the key of each is in the settings of the next, and `config.yaml` has these settings.

A stage that was copied from another run has a record that is right in itself. Whatever reads a stored run compares it with the
settings of the run and with the stages before.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from molyneux.core import files, store
from molyneux.core.errors import ConflictError
from molyneux.core.tooling.documents import differences

_SECTIONS = {"samples": ("seed", "data"), "model": ("seed", "learn"), "measure": ("measure",)}
"""By stage, the sections of `config.yaml` that are in the settings of its record."""


def require_one_run(folder: Path, settings: Mapping[str, Any]) -> None:
    """Raise an error if a finished stage in a folder belongs to a run with other settings; stages may be missing.

    Args:
        folder: of a run.
        settings: its resolved settings, as `config.yaml` has them.

    Raises:
        ConflictError: a stage is of another run; names it and what differs.
        CorruptFileError: a record is damaged. StoreError: a link stands in place of a stage.
    """
    made = {name: store.made_by(files.inside(folder, name)) for name in _SECTIONS}
    for name, sections in _SECTIONS.items():
        recorded = {part: made[name][part] for part in sections if part in made[name]}
        wanted = {part: settings.get(part) for part in recorded}
        if store.fingerprint(recorded) != store.fingerprint(wanted):
            _refuse(folder, name, differences(recorded, wanted))
    before = samples_key(folder, settings, made["samples"])
    if before is not None and made["model"].get("samples", before) != before:
        _refuse(folder, "model", "its samples are others")
    if made["measure"]:
        _require_measured(folder, settings, made, before)


def _require_measured(
    folder: Path, settings: Mapping[str, Any], made: Mapping[str, Mapping[str, Any]], samples: str | None
) -> None:
    """Raise ConflictError where the scores are of another model, or of other samples."""
    measure, learn = made["measure"], settings.get("learn") or {}
    expected: Any = learn.get("model")  # of a model from outside, which has no stage and no samples of its own
    if isinstance(measure.get("model"), str):
        model = made["model"] or {"seed": settings.get("seed"), "learn": learn, "samples": samples}
        expected = store.fingerprint(model) if made["model"] or samples else measure["model"]
    if store.fingerprint(measure.get("model")) != store.fingerprint(expected):
        _refuse(folder, "measure", "its model is another")
    if samples is not None and measure.get("samples", samples) != samples:
        _refuse(folder, "measure", "its samples are others")


def samples_key(folder: Path, settings: Mapping[str, Any], made: Mapping[str, Any]) -> str | None:
    """The key of a run's samples, from their record or from the data set that the scores name; None if neither is there."""
    if made:
        return store.fingerprint(made)
    version = recorded_version(folder)
    if version is None:
        return None
    parts = {"seed": settings.get("seed"), "data": settings.get("data")}
    return store.fingerprint({**parts, "version": version or None})


def recorded_version(folder: Path) -> str | None:
    """The name with version of the data set of a run's scores; empty for stored samples, None if no score names it."""
    path = files.inside(folder, "measure/scores.jsonl")
    records = store.read_lines(path) if store.is_file(path) else []
    origin = records[0].get("origin") if records else None
    if not isinstance(origin, Mapping) or not isinstance(origin.get("world"), str):
        return None
    return "" if origin["world"] == "stored samples" else str(origin["world"])


def _refuse(folder: Path, name: str, what: str) -> None:
    raise ConflictError(
        f"{folder / name} is not of the run whose settings are in {folder / 'config.yaml'} ({what}): "
        "restore the one that was replaced from a copy"
    )
