"""Sources become numbered batches, in an order that any step can be found again in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, DataError, Modality, Source, Spec, seeds


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
    """Refuse NaN, infinity and ids of no symbol in what is present; what lies behind a presence mask is never read."""
    for modality in spec.modalities:
        view = batch.views[modality.name]
        if not _is_sound(modality, view):
            broken = _broken(modality, view)
            rows = (broken.any(1) & batch.mask(modality.name)).nonzero().flatten().tolist()
            if rows:
                value = view[rows[0]].flatten()[broken[rows[0]]][0].item()
                raise DataError(_complaint(modality, value, int(indices[rows[0]])))


def _is_sound(modality: Modality, view: Tensor) -> bool:
    """Whether a view is sound, masked or not; it costs one look at each value."""
    if modality.symbols and view.numel():
        lowest, highest = (end.item() for end in view.aminmax())  # both are NaN if one value is
        return lowest >= 0 and highest < len(modality.symbols)
    return not view.is_floating_point() or bool(view.isfinite().all())


def _broken(modality: Modality, view: Tensor) -> Tensor:
    """Which values are no numbers or no ids, (B, values)."""
    values = view.reshape(len(view), -1).double()
    return ~((values >= 0) & (values < len(modality.symbols))) if modality.symbols else ~values.isfinite()


def _complaint(modality: Modality, value: float, sample: int) -> str:
    """What was expected of the value of a sample, what came, and what to do."""
    count = len(modality.symbols)
    expected, got = f"ids 0..{count - 1} of its {count} symbols", f"{value}"
    if not count:
        expected, got = "finite numbers", "NaN or infinity"
    return (
        f"modality {modality.name}: expected {expected}, got {got} in sample {sample}: "
        "correct the data or mark the modality as absent in that sample"
    )
