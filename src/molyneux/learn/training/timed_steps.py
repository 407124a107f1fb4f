"""The optimiser step of a training, for those who measure what it takes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from molyneux.core import Batch, TrainingStep
from molyneux.learn.training.batches import NumberedBatch
from molyneux.learn.training.hardware import Placement, keep_freed_memory, use_bf16, use_channels_last
from molyneux.learn.training.settings import Stage, Training
from molyneux.learn.training.steps import Steps


@dataclass(frozen=True)
class FitStep(TrainingStep):
    """A step as `fit` makes it: its optimiser, clipping, precision, memory layout, and the parameters that train.

    Args:
        training: the settings; of several stages the last.
    """

    training: Training

    @contextmanager
    def of(self, model: nn.Module, *, steps: int, seed: int) -> Iterator[Callable[[Batch, int], None]]:
        """A function that makes a step with a batch, given its number; the model trains and is on its device meanwhile."""
        stage = self.training.stages[-1] if self.training.stages else Stage(name="")
        settings = self.training.of_stage(stage) if self.training.stages else self.training
        device = next((item.device for item in model.parameters()), torch.device("cpu"))
        if use_channels_last(settings, model):
            model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        keep_freed_memory()
        placement = Placement(device, use_bf16(settings, model))
        with tempfile.TemporaryDirectory() as folder:
            made = Steps(model, stage, settings, placement, seed, steps, 0, Path(folder))
            model.train()
            try:
                yield lambda batch, number: made.train(NumberedBatch(number, batch))
            finally:
                made.close()
