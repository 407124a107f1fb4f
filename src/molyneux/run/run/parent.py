"""The run that a training starts from: what a run says of it, whether its weights fit, and how they are taken.

Settings name the folder of the parent (`learn.start_from`). Resolved settings name the parent itself instead, by its weights: the
key of a run depends on them and on no folder, and its report is written where the parent is gone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from molyneux.core import ConfigError, ConflictError, StoreError, store
from molyneux.core.tooling.documents import differences
from molyneux.learn import start_from
from molyneux.learn.files import load_config
from molyneux.learn.training.checkpoints import Checkpoints
from molyneux.learn.training.start import start_problems
from molyneux.run.run.stored import remedy, require_trained_here, stored_settings

_WEIGHTS = "weights.safetensors"
_FILES = ("config.yaml", "spec.json", _WEIGHTS)


@dataclass(frozen=True, kw_only=True)
class Parent:
    """The run that a training starts from, as resolved settings have it.

    Args:
        name: what it was called.
        run: key of the record of its model, which its settings, samples and seed make.
        weights: checksum of the file of its weights.
    """

    name: str
    run: str
    weights: str

    def __post_init__(self) -> None:
        if not all(re.fullmatch(r"[\w.-]{1,100}", value) for value in (self.name, self.run, self.weights)):
            raise ConfigError("expected name, key and checksum of a run, got other words: name the folder of the run")


def parent_of(folder: Path) -> Parent:
    """What a finished run, or an export of one, is known by as a parent; its weights are checked.

    Raises:
        StoreError: it is no folder of a run, or its model is not trained. CorruptFileError: a file of it was altered.
    """
    require_trained_here(folder)
    name = str(stored_settings(folder).get("name", "experiment"))
    if not store.is_file(folder / "model" / "stage.json"):
        raise StoreError(f"expected a trained model in {folder}, got none: run molyneux learn {folder} first")
    store.verify(folder / "model", _FILES, remedy=remedy(folder / "model"))
    record = store.read_stage(folder / "model")
    if _WEIGHTS not in record["files"]:
        raise StoreError(f"expected the weights of a model in {folder / 'model'}, got none: name another run")
    return Parent(name=name, run=record["key"], weights=record["files"][_WEIGHTS])


def require_start(model: nn.Module, settings: Mapping[str, Any], folder: Path) -> None:
    """Raise ConfigError if a model cannot start from the weights of the run in a folder; names weights and settings.

    Args:
        model: that of the experiment, of which only names and shapes of weights count.
        settings: of the model, resolved, which are told where they differ.
        folder: of the parent.
    """
    theirs = load_config(folder / "model")
    own, other = (str(each.get("class_path")).rpartition(".")[2] for each in (settings, theirs))
    if own != other:
        raise ConfigError(f"learn.start_from: expected a run of the model {own}, as in learn.model, got {other} in {folder}")
    if problems := start_problems(model, folder / "model"):
        changed = differences(theirs.get("init_args") or {}, settings.get("init_args") or {})
        told = f" (learn.model.init_args: {changed})" if changed else ""
        raise ConfigError([f"learn.start_from: {folder} does not fit learn.model{told}: {problem}" for problem in problems])


def begin_from(model: nn.Module, parent: Parent, folder: Path | None, stage: Path) -> None:
    """Give a model the weights of its parent, unless its training was begun before and goes on from a checkpoint.

    Args:
        model: that of the experiment, as it is made.
        parent: as the settings have it.
        folder: of the parent; None where only the run knows of it.
        stage: the folder of the model under way.

    Raises:
        StoreError: the folder of the parent is not known, or is not there. ConflictError: its weights are others by now.
        CorruptFileError: they were altered. SpecError: they do not fit.
    """
    if Checkpoints.settings_in(stage / "checkpoints"):
        return
    if folder is None:
        raise StoreError(
            f"expected the folder of {parent.name}, whose weights {stage.parent} starts from: name it with --continue-from in "
            "the command molyneux run that began this"
        )
    found = parent_of(folder)
    if found.weights != parent.weights:
        raise ConflictError(
            f"the weights in {folder} are no longer those that {stage.parent} starts from: restore them from a copy, or choose "
            "another folder with --out"
        )
    start_from(model, folder / "model")
