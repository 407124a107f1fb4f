"""How long, how fast and in what arithmetic a model learns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from molyneux.core import ConfigError, nearest

OptimizerName = Literal["adam", "adamw"]
Schedule = Literal["constant", "cosine", "linear"]
Precision = Literal["auto", "32", "bf16"]
Device = Literal["auto", "cpu", "gpu"]
Keep = Literal["best", "last"]


@dataclass(frozen=True, kw_only=True)
class Training:
    """Settings of `fit`.

    Args:
        epochs: passes over the training source; not used where `steps` is given.
        steps: optimiser steps in all; the last epoch may then be a part of one.
        batch_size: samples per step.
        optimizer: `adam` (Kingma and Ba, 2015; weight decay as an L2 penalty) or `adamw` (Loshchilov and Hutter, 2019;
            decoupled weight decay).
        learning_rate: the largest learning rate.
        betas: decay rates of the optimiser's running means of the gradient and of its square.
        weight_decay: strength of the weight decay.
        schedule: what the learning rate does after the warm-up: stay `constant`, or go to zero at the last step along half
            a `cosine` or a `linear` slope.
        warmup_steps: steps in which the learning rate rises linearly from zero.
        clip: largest norm of the gradient; None does not clip.
        precision: `32`, `bf16` (autocast: weights stay in 32 bits) or `auto`: bf16 where it is known to gain, which is for
            models with two-dimensional convolutions on processors with bf16 instructions and on GPUs that have it.
        channels_last: memory layout of images and convolutions; `auto`: where the model has two-dimensional convolutions.
        device: `cpu`, `gpu`, or `auto`: a GPU where there is one.
        threads: threads of one process; None leaves torch's own choice.
        patience: stop after so many epochs without a better validation loss; None never stops early.
        keep: which weights the model has in the end: of the epoch with the `best` validation loss, or of the `last`.
        tensorboard: whether to write a TensorBoard log beside the CSV one.

    Raises:
        ConfigError: with every setting that cannot be used.
    """

    epochs: int = 20
    steps: int | None = None
    batch_size: int = 128
    optimizer: OptimizerName = "adam"
    learning_rate: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.0
    schedule: Schedule = "cosine"
    warmup_steps: int = 0
    clip: float | None = None
    precision: Precision = "auto"
    channels_last: bool | Literal["auto"] = "auto"
    device: Device = "auto"
    threads: int | None = None
    patience: int | None = None
    keep: Keep = "best"
    tensorboard: bool = True

    def __post_init__(self) -> None:
        problems = [*self._choices(), *self._whole_numbers(), *self._numbers()]
        if problems:
            raise ConfigError(problems)

    def total_steps(self, samples: int) -> int:
        """Optimiser steps in all, for a training source of so many samples.

        Raises:
            ConfigError: the source does not fill one batch.
        """
        if samples < self.batch_size:
            raise ConfigError(
                f"batch_size: expected at most the {samples} samples of the training source, got {self.batch_size}: "
                "lower it or enlarge the source"
            )
        return self.steps or self.epochs * (samples // self.batch_size)

    def rate(self, step: int, steps: int) -> float:
        """Learning rate of step `step` (0-based) of `steps`.

        >>> Training(learning_rate=1.0, warmup_steps=4).rate(1, 10)
        0.5
        >>> round(Training(learning_rate=1.0, schedule="cosine").rate(5, 10), 6)
        0.5
        """
        warmup = min(1.0, (step + 1) / self.warmup_steps) if self.warmup_steps else 1.0
        fraction = min(1.0, max(0, step - self.warmup_steps) / max(1, steps - self.warmup_steps))
        decay = {"constant": 1.0, "linear": 1.0 - fraction, "cosine": 0.5 * (1.0 + math.cos(math.pi * fraction))}
        return self.learning_rate * warmup * decay[self.schedule]

    def _choices(self) -> Iterator[str]:
        allowed = {"optimizer": OptimizerName, "schedule": Schedule, "precision": Precision, "device": Device, "keep": Keep}
        for name, choices in allowed.items():
            value, known = getattr(self, name), get_args(choices)
            if value not in known:
                yield f"{name}: expected one of {', '.join(known)}, got {value!r}; {nearest(str(value), known)}"
        if self.channels_last not in (True, False, "auto"):
            yield f"channels_last: expected true, false or auto, got {self.channels_last!r}"

    def _whole_numbers(self) -> Iterator[str]:
        for name in ("epochs", "batch_size"):
            if getattr(self, name) < 1:
                yield f"{name}: expected at least 1, got {getattr(self, name)}"
        for name in ("steps", "threads", "patience"):
            value = getattr(self, name)
            if value is not None and value < 1:
                yield f"{name}: expected at least 1 or nothing, got {value}"
        if self.warmup_steps < 0:
            yield f"warmup_steps: expected 0 or more, got {self.warmup_steps}"

    def _numbers(self) -> Iterator[str]:
        if not 0 < self.learning_rate < math.inf:
            yield f"learning_rate: expected a number above 0, got {self.learning_rate}"
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            yield f"betas: expected two numbers from 0 to below 1, got {self.betas}"
        if not 0 <= self.weight_decay < math.inf:
            yield f"weight_decay: expected 0 or more, got {self.weight_decay}"
        if self.clip is not None and not 0 < self.clip < math.inf:
            yield f"clip: expected a number above 0 or nothing, got {self.clip}"
