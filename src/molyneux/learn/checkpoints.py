"""Checkpoints: one consistent set of files an epoch, so that training goes on exactly where it stopped.

A checkpoint is the folder `epoch-<number>` with the weights, the optimiser's moments and a `stage.json` that holds the
history, the settings that made it and a checksum of every file. It is written under another name and renamed when
complete. The last epoch's and the best epoch's are kept.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from molyneux.core import CorruptFileError, store
from molyneux.learn.history import History
from molyneux.learn.tensors import assign, load_tensors, save_tensors

_WEIGHTS, _MOMENTS, _NAME, _PART = "weights.safetensors", "optimizer.safetensors", "epoch-", ".part"


@dataclass(frozen=True)
class Checkpoint:
    """Where training stood after an epoch.

    Args:
        history: of all epochs so far.
        moments: state of the optimiser, `<parameter>/<name>`.
    """

    history: History = field(default_factory=History)
    moments: Mapping[str, Tensor] = field(default_factory=dict)


class Checkpoints:
    """The checkpoints of one training.

    Args:
        folder: where they live.
        settings: everything that the course of the training depends on, as plain data; other settings are refused.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder, self.settings = folder, settings

    def save(self, model: nn.Module, optimizer: Optimizer, history: History) -> None:
        """Write the checkpoint of the last epoch of `history`, then drop those that are neither last nor best."""
        target = self._path(history.epochs)
        part = target.with_name(target.name + _PART)
        shutil.rmtree(part, ignore_errors=True)
        try:
            save_tensors(part / _WEIGHTS, model.state_dict())
            save_tensors(part / _MOMENTS, moments(model, optimizer))
            store.Stage(part, self.settings).finish({"history": history.to_json()})
            shutil.rmtree(target, ignore_errors=True)
            part.replace(target)
        except OSError as error:
            raise store.store_error(error, target) from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
        for epoch in set(self._epochs()) - {history.epochs, history.best_epoch}:
            shutil.rmtree(self._path(epoch), ignore_errors=True)

    @classmethod
    def settings_in(cls, folder: Path) -> Mapping[str, Any]:
        """The settings that the last checkpoint of a folder was made by; none where there is no checkpoint.

        Raises:
            CorruptFileError: its record is damaged.
        """
        checkpoints = cls(folder, {})
        last = max(checkpoints._epochs(), default=0)
        return store.made_by(checkpoints._path(last)) if last else {}

    def resume(self, model: nn.Module) -> Checkpoint | None:
        """Put the last checkpoint's weights into `model`; None where there is none.

        Raises:
            ConflictError: it was made by other settings; the message names them.
            CorruptFileError: a file of it was truncated, altered or removed.
        """
        last = max(self._epochs(), default=0)
        if not last:
            return None
        history = self._verified(last)
        if history.epochs != last:
            raise CorruptFileError(f"{self._path(last)} holds another epoch: delete {self.folder} and train again")
        self._load(model, last)
        return Checkpoint(history, load_tensors(self._path(last) / _MOMENTS)[0])

    def load_best(self, model: nn.Module, history: History) -> None:
        """Put the best epoch's weights into `model`; errors as `resume`."""
        self._verified(history.best_epoch)
        self._load(model, history.best_epoch)

    def _verified(self, epoch: int) -> History:
        stage = store.Stage(self._path(epoch), self.settings)
        if not stage.complete:
            raise CorruptFileError(f"{self._path(epoch)} is missing or incomplete: delete {self.folder} and train again")
        return History.from_json(stage.verify()["history"])

    def _load(self, model: nn.Module, epoch: int) -> None:
        path = self._path(epoch) / _WEIGHTS
        assign(model, load_tensors(path)[0], str(path))

    def _epochs(self) -> Iterator[int]:
        for path in self.folder.glob(f"{_NAME}*"):
            if path.name.removeprefix(_NAME).isdigit():
                yield int(path.name.removeprefix(_NAME))

    def _path(self, epoch: int) -> Path:
        return self.folder / f"{_NAME}{epoch:06d}"


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
