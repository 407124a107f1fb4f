"""Checkpoints: one consistent set of files from which a training goes on exactly where it stopped.

A checkpoint is a folder with the weights, the optimiser's moments, the weights of the best epoch where those are others, and a
`stage.json` that holds everything else that the rest of the training depends on, the settings that made it, and a checksum of
every file. It is written under another name and renamed when complete; then the one before it is removed.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from molyneux.core import CorruptFileError, History, StoreError, store
from molyneux.core.history import MONITORED
from molyneux.learn.files import assign, load_tensors, save_tensors

_WEIGHTS, _MOMENTS, _BEST = "weights.safetensors", "optimizer.safetensors", "best.safetensors"
_NAME, _PART = "checkpoint-", ".part"


@dataclass
class State:
    """Where a training stands.

    Args:
        history: of the complete epochs of all stages.
        stage: position of the stage under way.
        step: optimiser steps done in this stage.
        epochs_before: complete epochs of the stages before.
        steps_before: optimiser steps of the stages before.
        seconds: of training and validation, so far.
        epoch_seconds: of training, in the epoch under way.
        sums: what the means over the epoch under way are made of, as `Meter.to_json` gives it.
        best: the weights after the stage's epoch with the lowest validation loss; None as long as nothing was validated.
        moments: the optimiser's state after a checkpoint was read, `<parameter>/<name>`.
    """

    history: History = field(default_factory=History)
    stage: int = 0
    step: int = 0
    epochs_before: int = 0
    steps_before: int = 0
    seconds: float = 0.0
    epoch_seconds: float = 0.0
    sums: list[Any] = field(default_factory=list)
    best: Mapping[str, Tensor] | None = None
    moments: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def stage_history(self) -> History:
        """The rows of the stage under way."""
        return self.history.since(self.epochs_before)

    @property
    def validated(self) -> bool:
        """Whether the last epoch of the stage was validated; without validation no epoch is the best."""
        rows = self.stage_history.rows
        return bool(rows) and MONITORED in rows[-1]

    @property
    def best_is_last(self) -> bool:
        """Whether the weights as they are now are those of the stage's best epoch."""
        rows = self.stage_history
        return rows.steps == self.steps_before + self.step and rows.best_epoch == rows.epochs

    def to_json(self) -> dict[str, Any]:
        """Everything but the tensors, as plain data."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {**plain, "history": self.history.to_json()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> State:
        """Read what `to_json` wrote."""
        return cls(history=History.from_json(record["history"]), **{name: record[name] for name in _PLAIN})


_PLAIN = ("stage", "step", "epochs_before", "steps_before", "seconds", "epoch_seconds", "sums")


class Checkpoints:
    """The checkpoints of one training.

    Args:
        folder: where they live.
        settings: everything that the course of the training depends on, as plain data; other settings are refused.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder, self.settings = folder, settings
        self._inside = False

    def begin(self) -> None:
        """Begin: a checkpoint then refuses to be written where somebody has removed the folder of the training since."""
        self._inside = self.folder.parent.is_dir()

    def save(self, model: nn.Module, optimizer: Optimizer | None, state: State) -> None:
        """Write a checkpoint, then remove those before it; there is no optimiser before a stage has begun.

        Raises:
            StoreError: the folder of the training is gone since `begin`, or it cannot be written to.
        """
        if self._inside and not self.folder.parent.is_dir():
            raise StoreError(
                f"{self.folder.parent} was removed or renamed during the training: start it again, or restore the folder"
            )
        target = self.folder / f"{_NAME}{state.stage + 1:02d}-{state.step:09d}"
        part = target.with_name(target.name + _PART)
        shutil.rmtree(part, ignore_errors=True)
        try:
            sums = {_WEIGHTS: save_tensors(part / _WEIGHTS, model.state_dict())}
            sums[_MOMENTS] = save_tensors(part / _MOMENTS, {} if optimizer is None else moments(model, optimizer))
            if state.best is not None and not state.best_is_last:
                sums[_BEST] = save_tensors(part / _BEST, state.best)
            store.StageFolder(part, self.settings).finish(state.to_json(), known=sums)
            shutil.rmtree(target, ignore_errors=True)
            part.replace(target)
        except OSError as error:
            raise store.store_error(error, target) from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
        for path in self._paths():
            if path != target:
                shutil.rmtree(path, ignore_errors=True)

    @classmethod
    def settings_in(cls, folder: Path) -> Mapping[str, Any]:
        """The settings that the last checkpoint of a folder was made by, or none; raises CorruptFileError if it is damaged."""
        paths = cls(folder, {})._paths()
        return store.made_by(paths[-1]) if paths else {}

    def resume(self, model: nn.Module) -> State | None:
        """Where the last checkpoint stands, its weights in `model`; None where there is no checkpoint. Earlier ones are removed.

        Raises:
            ConflictError: it was made by other settings; the message names them.
            CorruptFileError: a file of it was truncated, altered or removed.
        """
        paths = self._paths()
        if not paths:
            return None
        path = paths[-1]
        record = store.StageFolder(path, self.settings)
        advice = f"restore it from a copy, or delete {self.folder} to train again from the start"
        if not record.complete:
            raise CorruptFileError(f"{path} is incomplete: {advice}")
        try:
            state = State.from_json(record.verify())
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptFileError(f"{path} is damaged ({error!r}): {advice}") from error
        assign(model, load_tensors(path / _WEIGHTS)[0], str(path / _WEIGHTS))
        state.moments = load_tensors(path / _MOMENTS)[0]
        if (path / _BEST).exists():
            state.best = load_tensors(path / _BEST)[0]
        elif state.validated and state.best_is_last:
            state.best = copy_of(model)
        for earlier in paths[:-1]:  # a kill came before they were removed
            shutil.rmtree(earlier, ignore_errors=True)
        return state

    def _paths(self) -> list[Path]:
        """The complete checkpoints, the latest last."""
        return sorted(path for path in self.folder.glob(f"{_NAME}*") if not path.name.endswith(_PART))


def copy_of(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the weights, on their device."""
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def moments(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """State of an optimiser by the names of the model's parameters, `<parameter>/<name>`."""
    return {
        f"{parameter}/{name}": value
        for parameter, tensor in model.named_parameters()
        for name, value in optimizer.state.get(tensor, {}).items()
    }


def restore_moments(model: nn.Module, optimizer: Optimizer, saved: Mapping[str, Tensor]) -> None:
    """Give an optimiser the state that `moments` returned.

    Moments get the memory layout of their parameter, which fused optimisers rely on.
    """
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for key, value in saved.items():
            parameter, name = key.rsplit("/", 1)
            tensor = parameters[parameter]
            same = value.shape == tensor.shape
            own = torch.empty_like(tensor) if same else torch.empty_like(value, device=tensor.device)
            optimizer.state[tensor][name] = own.copy_(value)
