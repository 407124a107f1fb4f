"""The history of a training in TensorBoard, MLflow and Weights & Biases, by their own libraries.

Each row of the history is logged once, however often the training was interrupted: what a log holds already is looked up when
the training goes on, and not logged again. What a killed process logged beyond its last checkpoint is hidden (TensorBoard) or
kept: the repeated epochs have the same losses to the last digit.
"""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from molyneux.core import History, StoreError, store
from molyneux.core.history import Row
from molyneux.learn.checks import refuse
from molyneux.learn.training.settings import Training

_PACKAGES = {"tensorboard": "tensorboard", "mlflow": "mlflow-skinny", "wandb": "wandb"}
"""What is imported for each setting, and what installs it."""

_AXES = ("epoch", "step")
_LAST = "seconds"
"""The column that is logged last: where it is there, the others of its row are."""

_PROJECT = "molyneux"


class Logs:
    """The logs that the settings ask for.

    Args:
        training: the settings.
        folder: of the training; local logs go into its sub-folders.
        history: the rows until now.

    Raises:
        StoreError: a log cannot be opened.
    """

    def __init__(self, training: Training, folder: Path, history: History) -> None:
        self._logs: list[_Log] = []
        if training.tensorboard:
            self._logs.append(_TensorBoard(folder / "tensorboard", history.steps))
        if training.mlflow:
            self._logs.append(_MLflow(folder, training.mlflow))
        if training.wandb:
            self._logs.append(_WandB(folder, training.wandb))
        for row in history.rows:
            self.add(row)

    def add(self, row: Row) -> None:
        """Log the row of an epoch, in the logs that lack it."""
        for log in self._logs:
            log.add(row)

    def close(self) -> None:
        """Close all logs."""
        for log in self._logs:
            log.close()


def require_packages(training: Training) -> None:
    """Raise a ConfigError with a sentence for each package that the settings need and that is not installed."""
    refuse(
        f"{name}: expected the package {name}, which is not installed: pip install {package}"
        for name, package in _PACKAGES.items()
        if getattr(training, name) and importlib.util.find_spec(name) is None
    )


class _Log(ABC):
    """A log that gets every row once; rows up to `step` are logged already."""

    def __init__(self, step: int) -> None:
        self.step = step

    def add(self, row: Row) -> None:
        """Log a row, unless it is logged already."""
        if row["step"] > self.step:
            self.step = int(row["step"])
            columns = {key: value for key, value in row.items() if key not in _AXES}
            last = {_LAST: columns.pop(_LAST)}
            self.write({self.name(key): float(value) for key, value in (columns | last).items()})

    def name(self, column: str) -> str:
        """The name of a column in the log."""
        return column

    @abstractmethod
    def write(self, values: Mapping[str, float]) -> None:
        """Log the values of step `self.step`, in their order."""

    @abstractmethod
    def close(self) -> None:
        """The training is at its end, or is interrupted."""


class _TensorBoard(_Log):
    """Event files in `folder`; steps after `step`, which a killed process may have written, are hidden (`purge_step`)."""

    def __init__(self, folder: Path, step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        super().__init__(step)
        self._folder = folder
        with _store_errors(folder):
            self._remove_host_name()
            purge = step + 1 if step or any(folder.glob("events.out.tfevents.*")) else None
            self._writer: Any = SummaryWriter(folder, purge_step=purge)

    def write(self, values: Mapping[str, float]) -> None:
        with _store_errors(self._folder):
            for key, value in values.items():
                self._writer.add_scalar(key, value, self.step)
            self._writer.flush()

    def close(self) -> None:
        with _store_errors(self._folder):
            self._writer.close()
            self._remove_host_name()

    def _remove_host_name(self) -> None:
        """TensorBoard names its files after the machine, which is nobody's business where records are shared."""
        host = f".{socket.gethostname()}."
        for path in self._folder.glob("events.out.tfevents.*"):
            if host in path.name:
                path.rename(path.with_name(path.name.replace(host, ".")))


class _MLflow(_Log):
    """A run of the experiment `molyneux`, in a store of files in `folder`, in another folder or at a tracking address.

    Its identifier is kept in `mlflow.json`, so that a training that goes on finds its run.
    """

    def __init__(self, folder: Path, address: bool | str) -> None:
        place = folder / "mlflow" if address is True else Path(str(address))
        uri = str(address) if ":" in str(address) else place.resolve().as_uri()
        record = folder / "mlflow.json"
        with _file_store_allowed():
            from mlflow import MlflowClient
            from mlflow.exceptions import MlflowException

            try:
                self._client: Any = MlflowClient(uri)
                self._run = store.read_json(record)["run"] if record.exists() else self._new_run(self._client, folder)
                known = self._client.get_metric_history(self._run, _LAST)
            except MlflowException as error:
                raise StoreError(f"cannot log to MLflow at {uri} ({error}): look at the setting mlflow") from error
        store.write_json(record, {"run": self._run, "uri": uri})
        super().__init__(max((metric.step for metric in known), default=0))

    @staticmethod
    def _new_run(client: Any, folder: Path) -> str:
        found = client.get_experiment_by_name(_PROJECT)
        experiment = found.experiment_id if found else client.create_experiment(_PROJECT)
        place = folder.resolve()
        return str(client.create_run(experiment, run_name=f"{place.parent.name}/{place.name}").info.run_id)

    def write(self, values: Mapping[str, float]) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        with _file_store_allowed():
            self._client.log_batch(self._run, [Metric(key, value, now, self.step) for key, value in values.items()])

    def close(self) -> None:
        with _file_store_allowed():
            self._client.set_terminated(self._run, "FINISHED")

    def name(self, column: str) -> str:
        """MLflow takes letters, digits and a few signs; others become their code point, `<` being `_3c_`."""
        part, slash, term = column.partition("/") if column.startswith(("train/", "validation/")) else ("", "", column)
        return part + slash + re.sub(r"[^\w .-]|(?<=\.)\.", lambda found: f"_{ord(found[0]):x}_", term, flags=re.ASCII)


class _WandB(_Log):
    """A run of Weights & Biases; its identifier and the last step logged are kept in `wandb.json`."""

    def __init__(self, folder: Path, project: bool | str) -> None:
        import wandb

        self._record = folder / "wandb.json"
        known = store.read_json(self._record) if self._record.exists() else {}
        self._id = known.get("run") or os.urandom(8).hex()
        name = _PROJECT if project is True else str(project)
        self._run: Any = wandb.init(project=name, dir=str(folder), id=self._id, resume="allow")
        super().__init__(int(known.get("step", 0)))

    def write(self, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=self.step)
        store.write_json(self._record, {"run": self._id, "step": self.step})

    def close(self) -> None:
        self._run.finish()


@contextmanager
def _store_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise store.store_error(error, folder) from error


@contextmanager
def _file_store_allowed() -> Iterator[None]:
    """Inside the block MLflow 3 opens stores of files, which it otherwise asks for with an environment variable."""
    name = "MLFLOW_ALLOW_FILE_STORE"
    before = os.environ.get(name)
    os.environ[name] = before or "true"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
