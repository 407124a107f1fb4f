"""Training: a model and samples become a trained model."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from molyneux.core import PostFit, Source, store
from molyneux.learn.batches import EvaluationBatches, TrainingBatches
from molyneux.learn.checkpoints import Checkpoint, Checkpoints
from molyneux.learn.hardware import threads, use_bf16, use_channels_last, use_gpu
from molyneux.learn.history import History
from molyneux.learn.progress import FitProgress
from molyneux.learn.quiet import interruptible, quiet_lightning
from molyneux.learn.tensorboard import TensorBoardLog
from molyneux.learn.training import Training

if TYPE_CHECKING:
    from lightning.pytorch import Callback

    from molyneux.learn.module import LearningModule

_FREE = ("device", "keep", "tensorboard", "threads")
"""Settings that may change between a training and its continuation."""


def fit(
    model: nn.Module,
    train: Source,
    validation: Source | None,
    training: Training,
    folder: Path,
    *,
    seed: int,
    progress: FitProgress | None = None,
) -> History:
    """Train a model, or go on where an earlier call with the same folder stopped.

    After each epoch `folder` gets one consistent checkpoint (`checkpoints/`), the history (`history.csv`) and, if wanted, a
    TensorBoard log (`tensorboard/`). A call after a crash, a kill or Ctrl-C goes on after the last complete epoch, with as
    many threads as before unless `training` says how many, and gives, on the same machine, bit for bit what an uninterrupted
    call gives. A call after the end trains no more. In the end a model that satisfies `PostFit` is post-fitted. One call at a time in a process:
    torch's own generator and its number of threads belong to the process.

    Args:
        model: satisfies `core.Trainable`; in the end it holds the weights that `training.keep` names, in eval mode.
        train: the samples to learn from.
        validation: the samples that choose the best epoch; None validates nothing.
        training: the settings.
        folder: belongs to this training alone.
        seed: root seed of the order of the samples and of all noise. The weights a model starts with are not drawn here.
        progress: is told how it goes.

    Raises:
        ConfigError: the settings do not fit the source or the machine.
        ConflictError: `folder` was made by other settings, in another precision, with another number of threads, or is in use.
        CorruptFileError: a checkpoint was truncated or altered.
        DataError: samples hold NaN or infinity. TrainingError: the loss or its gradient do.
        StoreError: `folder` cannot be written.
    """
    steps = training.total_steps(len(train))
    if use_channels_last(training, model):
        model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    with store.locked(folder), threads(_thread_count(training, folder)):
        checkpoints = Checkpoints(folder / "checkpoints", _identity(model, train, validation, training, seed))
        start = checkpoints.resume(model) or Checkpoint()
        history = start.history
        if history.steps < steps and not history.out_of_patience(training.patience):
            batches = TrainingBatches(train, training.batch_size, seed=seed, steps=steps, epoch=history.epochs)
            fitting = _Fitting(model, batches, validation, training, folder, checkpoints, progress)
            history = fitting.go_on(start)
        history.write_csv(folder / "history.csv")
        if training.keep == "best":
            checkpoints.load_best(model, history)
        model.eval()
        if isinstance(model, PostFit):
            model.post_fit(train, seed=seed)
    return history


@dataclass(frozen=True)
class _Fitting:
    """One process's share of a training."""

    model: nn.Module
    batches: TrainingBatches
    validation: Source | None
    training: Training
    folder: Path
    checkpoints: Checkpoints
    progress: FitProgress | None

    def go_on(self, start: Checkpoint) -> History:
        """Train to the end and return the whole history."""
        # Lightning takes seconds to import, which nobody needs to wait for who only uses a model.
        from molyneux.learn.callbacks import Bookkeeper, ProgressTeller, history_writer
        from molyneux.learn.module import LearningModule

        batches, training = self.batches, self.training
        module = LearningModule(self.model, training, seed=batches.seed, steps=batches.steps, folder=self.folder, start=start)
        log = TensorBoardLog(self.folder / "tensorboard", start.history.steps) if training.tensorboard else None
        write = history_writer(self.folder, log, self.progress)
        keeper = Bookkeeper(module, self.checkpoints, start.history, write=write)
        tellers = [ProgressTeller(module, self.progress)] if self.progress else []
        self.model.train()
        try:
            self._call_lightning(module, [keeper, *tellers])
        finally:
            if log is not None:
                log.close()
        return keeper.history

    def _call_lightning(self, module: LearningModule, callbacks: list[Callback]) -> None:
        from lightning.pytorch import Trainer

        gpu = use_gpu(self.training)
        with quiet_lightning(), torch.random.fork_rng(devices=[torch.cuda.current_device()] if gpu else []):
            trainer = Trainer(
                accelerator="gpu" if gpu else "cpu",
                devices=1,
                precision="bf16-mixed" if use_bf16(self.training, self.model) else "32-true",
                max_epochs=self.batches.epochs - self.batches.epoch,
                callbacks=callbacks,
                default_root_dir=self.folder,
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
                num_sanity_val_steps=0,
            )
            validation = None if self.validation is None else EvaluationBatches(self.validation, self.training.batch_size)
            with interruptible(trainer):
                trainer.fit(module, self.batches, validation)


def _thread_count(training: Training, folder: Path) -> int:
    """How many threads: those asked for, else those that a training was begun with, else torch's own choice."""
    begun = Checkpoints.settings_in(folder / "checkpoints").get("threads")
    return training.threads or begun or torch.get_num_threads()


def _identity(model: nn.Module, train: Source, validation: Source | None, training: Training, seed: int) -> dict[str, Any]:
    """Everything the course of a training depends on that can be told from here."""
    settings = {name: value for name, value in dataclasses.asdict(training).items() if name not in _FREE}
    weights = {name: f"{tensor.dtype} {tuple(tensor.shape)}" for name, tensor in model.state_dict().items()}
    return {
        "training": settings,
        "precision": "bf16" if use_bf16(training, model) else "32",
        "threads": torch.get_num_threads(),
        "seed": seed,
        "model": {"class": type(model).__name__, "weights": store.fingerprint(weights)},
        "train": {"samples": len(train), "spec": train.spec.to_json()},
        "validation": None if validation is None else {"samples": len(validation), "spec": validation.spec.to_json()},
    }
