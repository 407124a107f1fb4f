"""The settings of a training, and of its stages."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import Field

from molyneux.core import ConfigError, choice_problems
from molyneux.learn.checks import refuse

Count = Annotated[int, Field(ge=1)]
MOST_COUNT = 10**12
"""Epochs, steps or samples that a training may be asked for."""
_MOST = {"threads": 1024, "prefetch": 1024}
NumberOfSteps = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
"""Ranges stand in the annotations too, so that a file's numbers out of range are reported beside its other problems."""

OptimizerName = Literal["adam", "adamw", "sgd"]
Schedule = Literal["constant", "cosine", "linear"]
Precision = Literal["auto", "32", "bf16"]
Device = Literal["auto", "cpu", "cuda", "gpu", "mps"]
Memory = Literal["auto", "load", "stream"]
Keep = Literal["best", "last"]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage of a training, such as pre-training or fusion.

    The other settings have the meaning that they have in `Training`; what is None is as there.

    Args:
        name: passed to the model in `Progress.stage`; unique in a training.
        parameters: patterns of the names of the parameters that train, such as `encoders.*`; the others keep their values.
        epochs: passes over the training source.
        steps: optimiser steps of the stage; with 0 it is left out.
    """

    name: str
    parameters: tuple[str, ...] = ("*",)
    epochs: int | None = None
    steps: int | None = None
    optimizer: OptimizerName | None = None
    learning_rate: float | None = None
    betas: tuple[float, float] | None = None
    weight_decay: float | None = None
    schedule: Schedule | None = None
    warmup_steps: int | None = None
    clip: float | None = None
    patience: int | None = None


@dataclass(frozen=True, kw_only=True)
class Training:
    """Settings of `fit`.

    Args:
        epochs: passes over the training source; not used where `steps` is given.
        steps: optimiser steps in all; the last epoch may then be a part of one. With 0 no stage makes a step: only what is fitted
            after a training (`core.PostFit`) is fitted, to the weights as they are.
        batch_size: samples per step.
        optimizer: `adam` (Kingma and Ba, 2015; weight decay as an L2 penalty), `adamw` (Loshchilov and Hutter, 2019; decoupled
            weight decay) or `sgd`, gradient descent with momentum (weight decay as an L2 penalty).
        learning_rate: the largest learning rate.
        betas: decay rates of the optimiser's running means of the gradient and of its square; the first is the momentum of `sgd`,
            which has no second.
        weight_decay: strength of the weight decay.
        schedule: what the learning rate does after the warm-up: stay `constant`, or go to zero at the last step along half
            a `cosine` or a `linear` slope.
        warmup_steps: steps in which the learning rate rises linearly from zero.
        clip: largest norm of the gradient; None does not clip.
        stages: trained one after the other, each with an optimiser of its own, from the weights that `keep` names of the stage
            before; without stages there is one, which these settings describe.
        precision: `32`, `bf16` (autocast: weights stay in 32 bits) or `auto`: bf16 where it is known to gain, which depends on
            the model's layers, on processors with bf16 instructions and on CUDA devices that have it. Where a device has no
            bf16 arithmetic, `bf16` trains in 32 bits, and `fit` says so; it is never emulated.
        channels_last: memory layout of images and convolutions; `auto`: where the model has two-dimensional convolutions.
        device: `cpu`, `cuda`, `mps`, `gpu` (CUDA, or else MPS), or `auto`: CUDA where there is a device, the CPU otherwise.
        threads: threads of one process; None leaves torch's own choice.
        memory: `load` reads the samples into memory once, `stream` fetches each batch when it is needed; `auto` loads training
            and validation samples as long as they take no more than 512 MiB. The batches are the same.
        prefetch: batches that are fetched ahead where samples are streamed, by a thread for every two of them: 16 asks a slow
            source for eight batches at once. 0 fetches without a thread.
        patience: stop after so many epochs without a better validation loss; None never stops early.
        keep: which weights the model has in the end: of the epoch with the `best` validation loss, or of the `last`.
        checkpoint_seconds: a checkpoint is written when so much time has passed since the last one, and at the end of each
            stage. A killed process loses the work since the last checkpoint.
        tensorboard: whether to write a TensorBoard log, in `tensorboard/`.
        mlflow: whether to log to MLflow, in `mlflow/`; or the address of a tracking server, or the folder of a store.
        wandb: whether to log to Weights & Biases; or the name of the project there.

    Raises:
        ConfigError: with every setting that cannot be used.
    """

    epochs: Count = 20
    steps: NumberOfSteps | None = None
    batch_size: Count = 128
    optimizer: OptimizerName = "adam"
    learning_rate: Positive = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: NotNegative = 0.0
    schedule: Schedule = "cosine"
    warmup_steps: int = 0
    clip: Positive | None = None
    stages: tuple[Stage, ...] = ()
    precision: Precision = "auto"
    channels_last: bool | Literal["auto"] = "auto"
    device: Device = "auto"
    threads: Count | None = None
    memory: Memory = "auto"
    prefetch: int = 2
    patience: Count | None = None
    keep: Keep = "best"
    checkpoint_seconds: float = 60.0
    tensorboard: bool = True
    mlflow: bool | str = False
    wandb: bool | str = False

    def __post_init__(self) -> None:
        problems = [*self._choices(), *self._whole_numbers(), *self._numbers()]
        problems += [problem for problem in self._stages() if problem.split(".", 2)[-1] not in problems]
        refuse(problems)

    def total_steps(self, samples: int) -> int:
        """Optimiser steps of all stages for a training source of so many samples; raises ConfigError if they fill no batch."""
        if samples < self.batch_size:
            raise ConfigError(
                f"batch_size: expected at most the {samples} samples of the training source, got {self.batch_size}: "
                "lower it or enlarge the source"
            )
        if self.steps == 0:
            return 0
        if self.stages:
            return sum(self.of_stage(stage).total_steps(samples) for stage in self.stages)
        return self.epochs * (samples // self.batch_size) if self.steps is None else self.steps

    def of_stage(self, stage: Stage) -> Training:
        """The settings of one stage, as those of a training without stages.

        >>> training = Training(epochs=9, stages=(Stage(name="pretrain", learning_rate=0.1), Stage(name="fuse", epochs=2)))
        >>> pretrain, fuse = (training.of_stage(stage) for stage in training.stages)
        >>> pretrain.epochs, pretrain.learning_rate, fuse.epochs, fuse.learning_rate
        (9, 0.1, 2, 0.001)
        """
        own = {item.name: getattr(stage, item.name) for item in fields(stage) if item.name not in ("name", "parameters")}
        changes: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
        if "epochs" in changes:
            changes.setdefault("steps", None)  # epochs of a stage win over steps of the training
        if self.steps == 0:
            changes["steps"] = 0
        return replace(self, stages=(), **changes)

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
        yield from choice_problems(**{name: (getattr(self, name), known) for name, known in _words().items()})
        if self.channels_last not in (True, False, "auto"):
            yield f"channels_last: expected true, false or auto, got {self.channels_last!r}"

    def _whole_numbers(self) -> Iterator[str]:
        least = {"epochs": 1, "batch_size": 1, "steps": 0, "threads": 1, "patience": 1, "warmup_steps": 0, "prefetch": 0}
        for name, smallest in least.items():
            value, optional = getattr(self, name), name in ("steps", "threads", "patience")
            nothing = " or nothing" * optional
            if (value is not None or not optional) and type(value) is not int:
                yield f"{name}: expected an integer{nothing}, got {value!r}"
            elif value is not None and value < smallest:
                yield f"{name}: expected at least {smallest}{nothing}, got {value}"
            elif value is not None and value > (most := _MOST.get(name, MOST_COUNT)):
                yield f"{name}: expected at most {most:,}{nothing}, got {value:,}"

    def _numbers(self) -> Iterator[str]:
        if not 0 < self.learning_rate < math.inf:
            yield f"learning_rate: expected a number above 0, got {self.learning_rate}"
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            yield f"betas: expected two numbers from 0 to below 1, got {self.betas}"
        for name in ("weight_decay", "checkpoint_seconds"):
            if not 0 <= getattr(self, name) < math.inf:
                yield f"{name}: expected 0 or more, got {getattr(self, name)}"
        if self.clip is not None and not 0 < self.clip < math.inf:
            yield f"clip: expected a number above 0 or nothing, got {self.clip}"

    def _stages(self) -> Iterator[str]:
        names = [stage.name for stage in self.stages]
        if not all(names) or len(set(names)) != len(names):
            yield f"stages: expected names that differ and are not empty, got {', '.join(map(repr, names))}"
        for number, stage in enumerate(self.stages):
            if not stage.parameters:
                yield f"stages.{number}.parameters: expected at least one pattern of names, got none: leave it out to train all"
            try:
                self.of_stage(stage)
            except ConfigError as error:
                yield from (f"stages.{number}.{problem}" for problem in error.problems)


@cache
def _words() -> dict[str, tuple[str, ...]]:
    """By the name of a setting that is one of several words, these words."""
    return {name: get_args(hint) for name, hint in get_type_hints(Training).items() if get_origin(hint) is Literal}
