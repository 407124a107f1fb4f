"""The one LightningModule that trains every model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm
from torch.optim import Adam, AdamW, Optimizer

from molyneux.core import Batch, Loss, Progress, Trainable, TrainingError, seeds
from molyneux.learn.batches import NumberedBatch
from molyneux.learn.checkpoints import Checkpoint, restore_moments
from molyneux.learn.files import save_batch
from molyneux.learn.hardware import use_channels_last
from molyneux.learn.meter import Meter, broken_term, flatten
from molyneux.learn.training import Training

_OPTIMIZERS: dict[str, type[Adam]] = {"adam": Adam, "adamw": AdamW}


class LearningModule(pl.LightningModule):
    """Steps, optimiser and guards around a plain model that knows nothing of Lightning.

    All randomness of step `n` is a function of (seed, `n`): the generator handed to the model, and torch's own generator,
    which is seeded before each step because dropout takes no generator. Validation uses the same noise after every epoch
    and the schedules' final values, so that its losses can be compared.

    Args:
        model: satisfies `Trainable`.
        training: the settings.
        seed: root seed of all noise.
        steps: optimiser steps in all.
        folder: where a batch that breaks the training is written.
        start: where training stood before.
    """

    def __init__(self, model: nn.Module, training: Training, *, seed: int, steps: int, folder: Path, start: Checkpoint) -> None:
        super().__init__()
        if not isinstance(model, Trainable):
            raise TrainingError(f"expected a model with a training loss, got a {type(model).__name__} without: give it `loss`")
        self.model, self.settings, self.seed, self.steps, self.folder = model, training, seed, steps, folder
        self.train_meter, self.validation_meter = Meter(), Meter()
        self.steps_done = start.history.steps
        self._start = start
        self._channels_last = use_channels_last(training, model)
        self._groups: list[dict[str, Any]] = []
        self._current: NumberedBatch | None = None

    def configure_optimizers(self) -> Optimizer:
        """The optimiser, with the moments of the checkpoint that training goes on from."""
        parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        optimizer: Optimizer = _OPTIMIZERS[self.settings.optimizer](
            parameters,
            lr=self.settings.learning_rate,
            betas=self.settings.betas,
            weight_decay=self.settings.weight_decay,
            fused=True,
        )
        restore_moments(self.model, optimizer, self._start.moments)
        self._groups = optimizer.param_groups
        return optimizer

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> NumberedBatch:
        """The batch on the device, images with their channels last where that is faster."""
        moved: NumberedBatch = batch.to(device)
        if not self._channels_last:
            return moved
        views = {
            name: view.contiguous(memory_format=torch.channels_last) if view.ndim == 4 else view
            for name, view in moved.batch.views.items()
        }
        return replace(moved, batch=replace(moved.batch, views=views))

    def training_step(self, batch: NumberedBatch, index: int) -> Tensor:
        """Loss of a batch; sets the learning rate of its step."""
        self._current = batch
        for group in self._groups:
            group["lr"] = self.settings.rate(batch.number, self.steps)
        loss = self._loss(batch.batch, Progress(batch.number, self.steps), "train", batch.number)
        names, values = flatten(loss)
        self._guard(broken_term(names, values))
        self.train_meter.add(names, values, len(batch))
        return loss.total

    def validation_step(self, batch: NumberedBatch, index: int) -> None:
        """Count the loss of a batch."""
        self._current = batch
        loss = self._loss(batch.batch, Progress(self.steps, self.steps), "validation", batch.number)
        names, values = flatten(loss)
        self._guard(broken_term(names, values), "validation/")
        self.validation_meter.add(names, values, len(batch))

    def configure_gradient_clipping(self, optimizer: Optimizer, *_: Any, **__: Any) -> None:
        """Clip, and refuse a gradient that is no number before it spoils the weights."""
        parameters = [parameter for parameter in self.model.parameters() if parameter.grad is not None]
        norm = get_total_norm([parameter.grad for parameter in parameters if parameter.grad is not None])
        if not bool(norm.isfinite()):
            self._guard(f"gradient of {self._broken_gradient()}")
        if self.settings.clip is not None:
            clip_grads_with_norm_(parameters, self.settings.clip, norm)
        self.steps_done += 1  # nothing that can fail comes after the gradient

    def _loss(self, batch: Batch, progress: Progress, *stream: str | int) -> Loss:
        dropout = int(seeds.key(self.seed, "learn", "dropout", *stream)[0] >> 1)
        torch.default_generator.manual_seed(dropout)  # torch.manual_seed takes as long as a small model's step
        if self.device.type == "cuda":
            torch.cuda.manual_seed(dropout)
        generator = seeds.torch_generator(self.seed, "learn", "noise", *stream, device=self.device.type)
        return self.model.loss(batch, progress, generator)

    def _broken_gradient(self) -> str:
        gradients = ((name, parameter.grad) for name, parameter in self.model.named_parameters())
        return next(name for name, gradient in gradients if gradient is not None and not bool(gradient.isfinite().all()))

    def _guard(self, broken: str | None, where: str = "") -> None:
        if broken is None or self._current is None:
            return
        step = self.steps_done
        path = self.folder / f"broken-batch-step-{step}.safetensors"
        save_batch(self._current.batch, path)
        raise TrainingError(
            f"expected finite numbers, got NaN or infinity in {where}{broken} at step {step} (the batch is in {path}): "
            "lower the learning rate, set clip, or look for what is special in that batch"
        )
