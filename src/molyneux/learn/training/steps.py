"""The steps of one stage: loss, gradient, optimiser, means of the terms, and the guard against NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm
from torch.optim import SGD, Adam, AdamW, Optimizer

from molyneux.core import Batch, ConfigError, Loss, Progress, Trainable, TrainingError, nearest, seeds
from molyneux.learn.checks import refuse
from molyneux.learn.files import save_batch
from molyneux.learn.training.batches import NumberedBatch
from molyneux.learn.training.checkpoints import State, restore_moments
from molyneux.learn.training.hardware import Placement, bf16_problem, use_channels_last
from molyneux.learn.training.processes import ALONE, Group, averaging
from molyneux.learn.training.settings import Stage, Training
from molyneux.learn.training.shared_draws import Share, SharedDraws


class Meter:
    """Means over the samples added since the last `reset`, without waiting for the device."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._sums: dict[tuple[str, ...], tuple[Tensor, int]] = {}

    def add(self, names: tuple[str, ...], values: Tensor, samples: int) -> None:
        """Count the terms `values` (T,) of a batch, which may have other terms than the batches before."""
        weighted = values * samples
        sums, count = self._sums.get(names, (None, 0))
        self._sums[names] = weighted if sums is None else sums + weighted, count + samples

    def counted(self, names: tuple[str, ...]) -> tuple[Tensor, int] | None:
        """The sums (T,) of batches with these terms and their number of samples; None where there were none."""
        return self._sums.get(names)

    def set(self, names: tuple[str, ...], sums: Tensor, samples: int) -> None:
        """Take the sums (T,) of batches with these terms from somebody who goes on adding to them."""
        self._sums[names] = sums, samples

    def own(self) -> None:
        """Copy sums that somebody else may add to."""
        self._sums = {names: (sums.clone(), count) for names, (sums, count) in self._sums.items()}

    @property
    def samples(self) -> int:
        """Number of samples added."""
        return sum(count for _, count in self._sums.values())

    def means(self) -> dict[str, float]:
        """Mean of every term over the samples whose batch had it."""
        totals: dict[str, tuple[float, int]] = {}
        for names, (sums, samples) in self._sums.items():
            for name, value in zip(names, sums.tolist(), strict=True):
                total, count = totals.get(name, (0.0, 0))
                totals[name] = total + value, count + samples
        return {name: total / count for name, (total, count) in totals.items()}

    def merged(self, records: Iterable[Iterable[Any]], like: Tensor) -> None:
        """Count, in place of what was added, what `to_json` of several meters gave."""
        self.reset()
        for record in records:
            for names, sums, count in record:
                self.add(tuple(names), torch.tensor(sums, dtype=like.dtype, device=like.device) / count, count)

    def to_json(self) -> list[Any]:
        """The sums as plain data, exactly."""
        return [[list(names), sums.tolist(), count] for names, (sums, count) in self._sums.items()]

    def restore(self, record: Iterable[Any], like: Tensor) -> None:
        """Go on from what `to_json` gave; `like` says on which device and in which precision."""
        self._sums = {
            tuple(names): (torch.tensor(sums, dtype=like.dtype, device=like.device), count) for names, sums, count in record
        }


def flatten(loss: Loss) -> tuple[tuple[str, ...], Tensor]:
    """Names and detached values (T,) of a loss: its terms, after the total, which is called `loss`."""
    precision = torch.float32 if loss.total.device.type == "mps" else torch.float64
    values = torch.stack([value.detach().to(precision) for value in (loss.total, *loss.terms.values())])
    return ("loss", *loss.terms), values


def broken_term(names: tuple[str, ...], numbers: list[float]) -> str | None:
    """The term that is NaN or infinite, None where all are numbers. Terms are named before the total they spoil."""
    broken = [name for name, value in zip(names, numbers, strict=True) if not math.isfinite(value)]
    if not broken:
        return None
    return broken[-1] if broken[0] == "loss" and len(broken) > 1 else broken[0]


@dataclass
class Steps:
    """The optimiser steps of one stage, and its validation.

    All randomness of step `n`, counted over all stages, is a function of (seed, `n`): the generator handed to the model, and
    torch's own generator, which is seeded before each step because dropout takes no generator. Validation uses the same noise
    after every epoch and the schedules' final values, so that its losses can be compared.

    Several processes each compute the loss of their part of a batch, with the numbers that the generator draws for the whole;
    what dropout drops, each draws for its own. Gradients and terms are averaged by the number of samples.

    Args:
        model: satisfies `Trainable`; on the device of `placement`.
        stage: its name is empty where the training has only one.
        settings: of the stage, as those of a training.
        placement: device and precision.
        seed: root seed of all noise.
        steps: optimiser steps of the stage.
        before: optimiser steps of the stages before.
        folder: where a batch with a NaN loss or gradient is written.
        group: the processes that make them together.
    """

    model: nn.Module
    stage: Stage
    settings: Training
    placement: Placement
    seed: int
    steps: int
    before: int
    folder: Path
    group: Group = ALONE
    train_meter: Meter = field(default_factory=Meter)
    validation_meter: Meter = field(default_factory=Meter)

    def __post_init__(self) -> None:
        if not isinstance(self.model, Trainable):
            kind = type(self.model).__name__
            raise TrainingError(f"expected a model with a training loss, got a {kind} without: give it `loss`")
        self._device = self.placement.device
        names = trained_names(self.model, self.stage.parameters)
        trainable = [(name, parameter) for name, parameter in self.model.named_parameters() if parameter.requires_grad]
        self.trained = {name: parameter for name, parameter in trainable if name in names}
        self._frozen = [parameter for name, parameter in trainable if name not in names]
        for parameter in self._frozen:
            parameter.requires_grad_(False)
        self.optimizer = optimizer_of(self.settings, list(self.trained.values()))
        self._averaged: Any = None
        self._compared: dict[frozenset[str], int] = {}
        spec = getattr(self.model, "spec", None)
        pictures = [modality.name for modality in spec.modalities if modality.kind == "image"] if spec else []
        self._pictures = pictures if use_channels_last(self.settings, self.model) else []

    def restore(self, state: State) -> None:
        """Go on from a checkpoint: the optimiser's moments and the means of the epoch under way."""
        restore_moments(self.model, self.optimizer, state.moments)
        self.train_meter.restore(state.sums, self._zero)

    def close(self) -> None:
        """Let the parameters train again that this stage held fixed."""
        for parameter in self._frozen:
            parameter.requires_grad_(True)
        self._averaged = None
        self.optimizer.zero_grad()

    def train(self, batch: NumberedBatch) -> None:
        """One optimiser step."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.rate(batch.number, self.steps)
        names, values = self.gradient(batch)
        norm = get_total_norm([item.grad for item in self.trained.values() if item.grad is not None])
        *numbers, length = torch.cat([values, norm.to(values).reshape(1)]).tolist()  # the only wait for the device in a step
        self.check(names, numbers, length, batch)
        if self.settings.clip is not None:
            clip_grads_with_norm_(list(self.trained.values()), self.settings.clip, norm)
        self.optimizer.step()
        self.train_meter.add(names, values, len(batch) if batch.share is None else batch.share.size)

    def gradient(self, batch: NumberedBatch) -> tuple[tuple[str, ...], Tensor]:
        """Names and values (T,) of the terms of a step's loss, whose gradient the parameters then have."""
        self.optimizer.zero_grad()
        number, progress = self.before + batch.number, self.progress(batch)
        if self.group.size > 1:
            self._require_mean(batch, progress)
        weight = 1.0 if batch.share is None else len(batch) / batch.share.size
        loss = self._loss(batch, progress, "train", number)
        (loss.total * (self.group.size * weight) if self.group.size > 1 else loss.total).backward()  # type: ignore[no-untyped-call]
        names, values = flatten(loss)
        return names, self.group.mean(names, values, weight)

    def progress(self, batch: NumberedBatch) -> Progress:
        """Where a training stands at the step with a batch."""
        return Progress(batch.number, self.steps, self.stage.name)

    def check(self, names: tuple[str, ...], numbers: list[float], length: float, batch: NumberedBatch) -> None:
        """Raise TrainingError if a term of the loss of a step, or the norm of its gradient, is NaN or infinite."""
        number = self.before + batch.number
        self._guard(broken_term(names, numbers), batch, number)
        if not math.isfinite(length):
            self._guard(f"gradient of {self._broken_gradient()}", batch, number)

    def dropout_seed(self, *stream: str | int) -> int:
        """What torch's own generator is seeded with before a loss."""
        return int(seeds.key(self.seed, "learn", "dropout", *stream)[0] >> 1)

    def noise(self, *stream: str | int) -> torch.Generator:
        """The generator that is handed to the model for a loss."""
        return seeds.torch_generator(self.seed, "learn", "noise", *stream, device=self._device.type)

    def validate(self, batches: Iterable[NumberedBatch]) -> None:
        """Mean losses of the validation samples, in eval mode and without gradients."""
        self.validation_meter.reset()
        self.model.eval()
        with torch.inference_mode():
            for batch in batches:
                progress = Progress(self.steps, self.steps, self.stage.name)
                names, values = flatten(self._loss(batch, progress, "validation", batch.number))
                self._guard(broken_term(names, values.tolist()), batch, self.before + self.steps, "validation/")
                self.validation_meter.add(names, values, len(batch))
        if self.group.size > 1:
            self.validation_meter.merged(self.group.gathered(self.validation_meter.to_json()), self._zero)
        self.model.train()

    def _loss(self, batch: NumberedBatch, progress: Progress, *stream: str | int) -> Loss:
        own = () if batch.share is None else (batch.share.start,)
        dropout = self.dropout_seed(*stream, *own)
        torch.default_generator.manual_seed(dropout)  # torch.manual_seed takes as long as a small model's step
        if self._device.type == "cuda":
            torch.cuda.manual_seed(dropout)
        elif self._device.type == "mps":
            torch.mps.manual_seed(dropout)
        generator = self.noise(*stream)
        try:
            with self.placement.autocast(), _draws(generator, batch.share):
                return self._computed(self._placed(batch.batch), progress, generator)
        except RuntimeError as error:
            if "primitive" in str(error) and self.placement.bf16:
                raise ConfigError(bf16_problem(self.model)) from error
            raise

    def _computed(self, batch: Batch, progress: Progress, generator: torch.Generator) -> Loss:
        """The loss, whose gradient is averaged over the processes where there are several."""
        if self.group.size == 1 or not self.model.training:
            assert isinstance(self.model, Trainable)
            return self.model.loss(batch, progress, generator)
        self._averaged = self._averaged or averaging(self.model)
        total = self._averaged(batch, progress, generator)
        return Loss(total, self._averaged.module.found.terms)

    def _require_mean(self, batch: NumberedBatch, progress: Progress) -> None:
        """Raise ConfigError if the loss is no mean over samples.

        Compared for samples with the same masks when there are the first, and again whenever twice as many steps are done.
        """
        masks = frozenset(name for name in batch.batch.tensors() if name.startswith(("present.", "known.")))
        if batch.number < self._compared.get(masks, 0):
            return
        self._compared[masks] = 2 * batch.number + 1
        device = self._device.type

        def loss(model: nn.Module, rows: Batch, share: Share | None) -> Loss:
            assert isinstance(model, Trainable)
            generator = seeds.torch_generator(self.seed, "learn", "comparison", device=device)
            with _draws(generator, share):
                return model.loss(rows, progress, generator)

        from molyneux.learn.training.whole_batch import whole_batch_problem  # one process needs none

        spec = getattr(self.model, "spec", None)
        problem = whole_batch_problem(self.model, loss, self._placed(batch.batch), spec.row_size if spec else 1)
        if problem:
            raise ConfigError(
                f"processes: expected a loss that is a mean over samples, got that of {type(self.model).__name__}, which looks "
                f"at the whole batch ({problem}): train it with one process"
            )

    def _placed(self, batch: Batch) -> Batch:
        """The batch on the device, images with their channels last where that is faster."""
        placed = batch if self._device.type == "cpu" else batch.to(self._device)
        pictures = {name: placed.views[name].contiguous(memory_format=torch.channels_last) for name in self._pictures}
        return replace(placed, views={**placed.views, **pictures}) if pictures else placed

    @property
    def _zero(self) -> Tensor:
        """A number as the terms of losses are: on their device, in their precision."""
        return flatten(Loss(torch.zeros((), device=self._device)))[1]

    def _broken_gradient(self) -> str:
        gradients = ((name, parameter.grad) for name, parameter in self.model.named_parameters())
        broken = (name for name, gradient in gradients if gradient is not None and not bool(gradient.isfinite().all()))
        return next(broken, "all parameters together")  # each is finite, and the sum of their squares is not

    def _guard(self, broken: str | None, batch: NumberedBatch, step: int, where: str = "") -> None:
        if broken is None:
            return
        path = self.folder / f"broken-batch-step-{step}.safetensors"
        save_batch(batch.batch, path)
        raise TrainingError(
            f"expected finite numbers, got NaN or infinity in {where}{broken} at step {step} (the batch is in {path}): "
            "lower the learning rate, set clip, or look for what is special in that batch"
        )


def _draws(generator: torch.Generator, share: Share | None) -> AbstractContextManager[Any]:
    """What a loss of all or a part of a batch is computed within."""
    return nullcontext() if share is None else SharedDraws(generator, share)


def optimizer_of(settings: Training, parameters: list[nn.Parameter]) -> Optimizer:
    """The optimiser that settings ask for."""
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.optimizer == "sgd":
        return SGD(parameters, lr=rate, momentum=settings.betas[0], weight_decay=decay)
    kind: type[Adam] = AdamW if settings.optimizer == "adamw" else Adam
    return kind(parameters, lr=rate, betas=settings.betas, weight_decay=decay, fused=True)


def trained_names(model: nn.Module, patterns: tuple[str, ...]) -> set[str]:
    """The names of the parameters that match a pattern and that the model itself does not hold fixed.

    Raises:
        ConfigError: a pattern matches no parameter.
    """
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    matches = {pattern: {name for name in names if fnmatchcase(name, pattern)} for pattern in patterns}
    refuse(
        f"stages.parameters: expected patterns of names of trained parameters, got {pattern!r}, which none matches; "
        f"{nearest(pattern, names)}"
        for pattern, found in matches.items()
        if not found
    )
    return set().union(*matches.values())
