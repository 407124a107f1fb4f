"""Sources become numbered batches, in an order that any step can be found again in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, DataError, Source, Spec, seeds


@dataclass(frozen=True)
class NumberedBatch:
    """A batch that knows its place.

    Args:
        number: the optimiser step it belongs to in training; its position in the source order in evaluation.
        indices: (B,) positions of its samples in the source.
        batch: the samples.
    """

    number: int
    indices: np.ndarray
    batch: Batch

    def __len__(self) -> int:
        return len(self.indices)

    def to(self, device: torch.device | str) -> NumberedBatch:
        """The same batch on a device."""
        return NumberedBatch(self.number, self.indices, self.batch.to(device))


class TrainingBatches:
    """Every sample once an epoch, in an order drawn for the epoch; iterating gives one epoch after the other.

    The order of epoch `e` is a function of (seed, `e`) alone, so training can go on from any epoch. The incomplete batch
    at the end of an epoch is left out (its samples come earlier in most other epochs), so that every step averages over
    as many samples.

    Args:
        source: where the samples come from.
        batch_size: samples per batch.
        seed: root seed of the orders.
        steps: number of batches after which everything ends.
        epoch: the epoch that the first iteration gives.
    """

    def __init__(self, source: Source, batch_size: int, *, seed: int, steps: int, epoch: int = 0) -> None:
        self.source, self.batch_size, self.seed, self.steps, self.epoch = source, batch_size, seed, steps, epoch

    @property
    def per_epoch(self) -> int:
        """Batches of a whole epoch."""
        return len(self.source) // self.batch_size

    @property
    def epochs(self) -> int:
        """Epochs in all; the last may be incomplete."""
        return -(-self.steps // self.per_epoch)

    def __iter__(self) -> Iterator[NumberedBatch]:
        epoch, self.epoch = self.epoch, self.epoch + 1
        order = seeds.generator(self.seed, "learn", "order", epoch).permutation(len(self.source))
        first = epoch * self.per_epoch
        for number in range(first, min(first + self.per_epoch, self.steps)):
            start = (number - first) * self.batch_size
            yield _fetch(self.source, number, order[start : start + self.batch_size])


class EvaluationBatches:
    """Every sample of a source once, in its own order; the last batch may be smaller."""

    def __init__(self, source: Source, batch_size: int) -> None:
        self.source, self.batch_size = source, batch_size

    def __len__(self) -> int:
        return -(-len(self.source) // self.batch_size)

    def __iter__(self) -> Iterator[NumberedBatch]:
        for number in range(len(self)):
            start = number * self.batch_size
            yield _fetch(self.source, number, np.arange(start, min(start + self.batch_size, len(self.source))))


def _fetch(source: Source, number: int, indices: np.ndarray) -> NumberedBatch:
    batch = source.batch(indices).check(source.spec)
    _check_numbers(batch, source.spec, indices)
    return NumberedBatch(number, indices, batch)


def _check_numbers(batch: Batch, spec: Spec, indices: np.ndarray) -> None:
    """Refuse NaN and infinity in what is present; what lies behind a presence mask is never read."""
    for modality in spec.modalities:
        view = batch.views[modality.name]
        if view.is_floating_point() and not bool(view.isfinite().all()):
            broken = _broken(view) & batch.mask(modality.name)
            if bool(broken.any()):
                sample = indices[int(broken.nonzero()[0, 0])]
                raise DataError(
                    f"modality {modality.name}: expected finite numbers, got NaN or infinity in sample {sample}: "
                    "correct the data or mark the modality as absent in that sample"
                )


def _broken(view: Tensor) -> Tensor:
    return ~view.flatten(1).isfinite().all(1)
