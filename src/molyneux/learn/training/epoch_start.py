"""The step that a model may have at the beginning of an epoch, and the training of copies of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from torch import nn

from molyneux.core import Epoch, EpochStart, Progress, seeds
from molyneux.learn.training.batches import BatchReader, Positions, evaluation_order, training_order
from molyneux.learn.training.steps import Steps


def begin_epoch(
    model: EpochStart, steps: Steps, reader: BatchReader, validation: BatchReader | None, *, number: int, first: int
) -> None:
    """Let a model do what it does before an epoch; see `core.EpochStart`.

    Args:
        model: that of the training.
        steps: of the stage.
        reader: of the samples to learn from.
        validation: of those that choose the best epoch.
        number: complete epochs of the stage.
        first: the first step of the epoch, counted in the stage.
    """
    seed = int(seeds.key(steps.seed, "learn", "epoch", steps.before + first)[0] >> 1)
    copies = _Copies(steps, reader, seed, first)
    progress = Progress(first, steps.steps, steps.stage.name)
    chosen = None if validation is None else validation.source
    model.start_epoch(Epoch(number, progress, reader.source, chosen, seed, copies.fit, copies.loss))


@dataclass
class _Copies:
    """Trains and evaluates copies of the model of a training, on samples that it learns from.

    Args:
        steps: of the stage.
        reader: of its samples.
        seed: of the order of the samples and of all noise.
        first: the step at which the training stands.
    """

    steps: Steps
    reader: BatchReader
    seed: int
    first: int

    def fit(self, model: nn.Module, rows: np.ndarray, epochs: int) -> None:
        """See `core.Epoch`. Batches are as large as in the training, or as there are samples."""
        size, together = min(self.steps.settings.batch_size, len(rows)), self.reader.source.spec.row_size
        copy, first = self._steps(model), self.first
        try:
            model.train()
            for epoch in range(epochs):
                order = training_order(len(rows), size, seed=self.seed, epoch=epoch, first=first, together=together)
                for batch in self.reader.read(_chosen(rows, order)):
                    copy.train(batch)
                first += len(order)
        finally:
            copy.close()

    def loss(self, model: nn.Module, rows: np.ndarray) -> float:
        """See `core.Epoch`."""
        copy, mode = self._steps(model), model.training
        order = evaluation_order(len(rows), self.steps.settings.batch_size)
        try:
            copy.validate(self.reader.read(_chosen(rows, order)))
        finally:
            copy.close()
            model.train(mode)
        return copy.validation_meter.means()["loss"]

    def _steps(self, model: nn.Module) -> Steps:
        steps = self.steps
        return Steps(model, steps.stage, steps.settings, steps.placement, self.seed, steps.steps, steps.before, steps.folder)


def _chosen(rows: np.ndarray, order: Iterable[Positions]) -> Iterator[Positions]:
    """An order of some samples, by their positions `rows` in the source."""
    return (Positions(each.number, rows[each.indices]) for each in order)
