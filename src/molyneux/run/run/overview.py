"""How far a run is and what it is: read from its folder, also while it is running, without torch."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from molyneux.core import History, MolyneuxError, files, store
from molyneux.run.run.stored import STAGES, stored_settings

_LOCKS = Path("/proc/locks")
_STEP_NAMES = {"samples": "samples", "model": "training", "measure": "scores", "report": "report"}


@dataclass(frozen=True)
class RunOverview:
    """What is in the folder of a run now.

    Args:
        folder: of the run.
        settings: the resolved settings.
        done: the stages that are finished.
        running: whether a process holds the folder.
        history: the rows of the training so far.
        exported: whether it is an export, which has no report.
    """

    folder: Path
    settings: Mapping[str, Any]
    done: tuple[str, ...]
    running: bool
    history: History = field(repr=False)
    exported: bool = False

    @property
    def model(self) -> str:
        """Class of the model, without its package."""
        return _class(_part(self.settings, "learn").get("model"))

    @property
    def data(self) -> str:
        """Class of the world or data set, with its level where it has one."""
        data = _part(self.settings, "data")
        for name in ("world", "benchmark", "own", "dataset"):
            if isinstance(part := data.get(name), Mapping):
                level = _part(part, "init_args").get("level")
                return _class(part) + (f" level {level}" if level is not None else "")
        return ""

    @property
    def state(self) -> str:
        """How far it is, in a few words."""
        left = [name for name in STAGES if name not in self.done]
        if self.exported and not {"model", "measure"} & set(left):
            return "done, an export"
        if not left:
            return "done"
        what = _STEP_NAMES[left[0]]
        if left[0] == "model" and self.history.epochs:
            what = f"training, {self.history.steps:,} steps"
        return (
            f"running: {what}"
            if self.running
            else f"stopped before its {what}"
            if what in _STEP_NAMES.values()
            else f"stopped in {what}"
        )

    def differences(self, other: RunOverview) -> dict[str, tuple[Any, Any]]:
        """Settings in which two runs differ, by their dotted path; None where one lacks it."""
        first, second = _flat(self.settings), _flat(other.settings)
        names = sorted(first.keys() | second.keys())
        return {name: (first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)}


def overview(folder: Path | str) -> RunOverview:
    """What is in the folder of a run now.

    Raises:
        StoreError: it is no folder of a run. CorruptFileError: its settings were altered.
    """
    folder = Path(folder)
    settings = stored_settings(folder)
    done = tuple(name for name in STAGES if store.is_file(files.inside(folder, f"{name}/stage.json")))
    path, history = files.inside(folder, "model/history.csv"), History()
    if store.is_file(path):
        try:
            read = History.read_csv(path)
        except MolyneuxError:  # it is being written
            read = History()
        history = read if all("step" in row for row in read.rows) else history  # a file of somebody else has others
    exported = store.is_file(files.inside(folder, "export.json"))
    return RunOverview(folder, settings, done, _held(folder), history, exported)


def _held(folder: Path) -> bool:
    """Whether a process holds the lock of a folder; nothing is written, and nobody who wants it is held up."""
    try:
        lock = (folder / ".lock").stat(follow_symlinks=False)
    except OSError:
        return False
    try:
        locks = files.read_plain(_LOCKS).decode()
    except OSError:  # of another system than Linux
        return _is_locked(folder / ".lock")
    return any(line.split()[5].rpartition(":")[2] == str(lock.st_ino) for line in locks.splitlines() if " FLOCK " in line)


def _is_locked(lock: Path) -> bool:
    """Whether a file is locked, by a shared lock of a moment."""
    handle = os.open(lock, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _part(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of settings; empty where it is no mapping, as in a file of somebody else."""
    part = settings.get(name)
    return part if isinstance(part, Mapping) else {}


def _class(part: Any) -> str:
    return str(part.get("class_path", "")).rpartition(".")[2] if isinstance(part, Mapping) else ""


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Settings by dotted path."""
    if isinstance(value, Mapping) and value:
        found: dict[str, Any] = {}
        for name, part in value.items():
            found |= _flat(part, f"{path}.{name}" if path else str(name))
        return found
    return {path: value}
