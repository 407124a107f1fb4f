"""From sources to numbered, checked batches: the order of training, memory or streaming, and prefetching.

The order of the samples is a function of the seed and the epoch alone, so training can go on from any step. Whether samples
are loaded or streamed, by which thread and how far ahead, changes nothing in the batches.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, DataError, Source, Spec, seeds
from molyneux.learn.training import Training

LOADED_BYTES = 2**29
"""What `memory: auto` loads at most: 512 MiB."""

_CHUNK_BYTES = 2**24
"""What is fetched at once while a source is loaded."""

_BYTES = {"float32": 4, "int64": 8, "uint8": 1}


class Positions(NamedTuple):
    """The samples of one batch.

    Args:
        number: the step of the stage in training; the position of the batch in evaluation.
        indices: (B,) positions of its samples in the source.
    """

    number: int
    indices: np.ndarray


@dataclass(frozen=True)
class NumberedBatch:
    """A batch with its number, see `Positions`."""

    number: int
    batch: Batch

    def __len__(self) -> int:
        return len(self.batch)


def training_order(size: int, batch_size: int, *, seed: int, epoch: int, first: int = 0) -> list[Positions]:
    """The batches of one epoch: every sample once, in an order drawn for the epoch.

    The incomplete batch at the end is left out (its samples come earlier in most other epochs), so that every step averages
    over as many samples.

    Args:
        size: samples of the source.
        batch_size: samples per batch.
        seed: root seed of the orders.
        epoch: number of the epoch, from 0, over all stages.
        first: the step that its first batch belongs to.
    """
    order = seeds.generator(seed, "learn", "order", epoch).permutation(size)
    count = size // batch_size
    return [Positions(first + i, rows) for i, rows in enumerate(order[: count * batch_size].reshape(count, batch_size))]


def evaluation_order(size: int, batch_size: int) -> list[Positions]:
    """Every sample of a source once, in its own order; the last batch may be smaller."""
    starts = enumerate(range(0, size, batch_size))
    return [Positions(number, np.arange(start, min(start + batch_size, size))) for number, start in starts]


class Reader:
    """Reads numbered, checked batches of a source.

    Args:
        source: where the samples come from.
        prefetch: batches that a thread fetches ahead; 0 fetches without a thread.
        pin: whether to copy batches to page-locked memory, from which they travel to a CUDA device while it computes.
    """

    def __init__(self, source: Source, *, prefetch: int = 0, pin: bool = False) -> None:
        self.source, self._prefetch, self._pin = source, prefetch, pin

    def __len__(self) -> int:
        return len(self.source)

    def read(self, order: Iterable[Positions]) -> Generator[NumberedBatch, None, None]:
        """The batches in this order.

        Raises:
            DataError: a batch holds NaN, infinity, or numbers out of range. SpecError: it does not fit the Spec of its source.
        """
        if self._prefetch:
            yield from _ahead(self._fetch, order, self._prefetch)
        else:
            yield from map(self._fetch, order)

    def _fetch(self, positions: Positions) -> NumberedBatch:
        batch = self.source.batch(positions.indices)
        if not isinstance(self.source, LoadedSource):
            check(batch, self.source.spec, positions.indices)
        return NumberedBatch(positions.number, batch.map(Tensor.pin_memory) if self._pin else batch)


class LoadedSource:
    """The samples of another source in memory, checked; its batches are the same.

    Args:
        spec: what a batch looks like.
        arrays: all samples, by the names of `Batch.tensors`.
    """

    def __init__(self, spec: Spec, arrays: dict[str, np.ndarray]) -> None:
        self.spec, self._arrays = spec, arrays

    def __len__(self) -> int:
        return len(next(iter(self._arrays.values())))

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        # NumPy's take copies whole rows: three times as fast as torch.index_select on one thread.
        return Batch.from_tensors({name: torch.from_numpy(array.take(indices, axis=0)) for name, array in self._arrays.items()})


def readers(train: Source, validation: Source | None, training: Training, *, device: str) -> tuple[Reader, Reader | None]:
    """The readers of both sources, in memory or streamed as `training.memory` says.

    A source whose attribute `in_memory` is true is read where it lies. A source whose batches do not all hold the same tensors
    is streamed.
    """
    left, made = LOADED_BYTES if training.memory == "auto" else math.inf, []
    for source in (train, *([] if validation is None else [validation])):
        size = len(source) * sample_bytes(source.spec)
        kept = bool(getattr(source, "in_memory", False))
        loaded = None if kept or training.memory == "stream" or size > left else load(source)
        left -= size if loaded else 0
        threaded = device == "cuda" or not (kept or loaded)
        made.append(Reader(loaded or source, prefetch=training.prefetch if threaded else 0, pin=device == "cuda"))
    return made[0], made[1] if len(made) > 1 else None


def load(source: Source) -> LoadedSource | None:
    """The whole source in memory; None where some batches hold tensors that others do not, such as presence masks.

    Raises:
        DataError, SpecError: as `Reader.read`.
    """
    size, spec = len(source), source.spec
    chunk = max(1, min(4096, size, _CHUNK_BYTES // max(1, sample_bytes(spec))))
    arrays: dict[str, np.ndarray] = {}
    for start in range(0, size, chunk):
        rows = np.arange(start, min(start + chunk, size))
        tensors = check(source.batch(rows), spec, rows).tensors()
        if not arrays:
            arrays = {name: np.empty((size, *tensor.shape[1:]), tensor.numpy().dtype) for name, tensor in tensors.items()}
        if arrays.keys() != tensors.keys():
            return None
        for name, tensor in tensors.items():
            arrays[name][rows[0] : rows[-1] + 1] = tensor.numpy()
    return LoadedSource(spec, arrays)


def sample_bytes(spec: Spec) -> int:
    """Bytes that one sample takes in memory, without masks and lengths."""
    views = sum(_BYTES[modality.dtype] * modality.size for modality in spec.modalities)
    targets = sum(_BYTES[target.dtype] * math.prod(target.stored_shape) for target in spec.targets)
    return views + targets + 8 * len(spec.factors) + 4 * len(spec.quantities)


def _ahead(fetch: Callable[[Positions], NumberedBatch], order: Iterable[Positions], count: int) -> Iterator[NumberedBatch]:
    """What `map(fetch, order)` gives, fetched up to `count` batches ahead by one thread; its errors are raised here, in turn."""
    waiting: deque[Future[NumberedBatch]] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="prefetch") as pool:
        try:
            for positions in order:
                waiting.append(pool.submit(fetch, positions))
                if len(waiting) > count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@dataclass(frozen=True)
class _Numbers:
    """Some tensor of a batch, and the range that its numbers must be in.

    Args:
        what: of what the numbers are, such as `modality image`.
        values: (B, ...).
        low, high: the range; infinite bounds ask only for finite numbers.
        expected: the range in words.
        advice: what to do about others.
        counted: which samples (B,) or values (B, ...) count; called only if some number is out of range.
    """

    what: str
    values: Tensor
    low: float
    high: float
    expected: str
    advice: str
    counted: Callable[[], Tensor]

    @property
    def sound(self) -> bool:
        """Whether all numbers are in range, those that do not count too; one look at each number."""
        if not self.values.numel():
            return True
        lowest, highest = (end.item() for end in self.values.aminmax())  # both are NaN if one number is
        return self.low <= lowest and highest <= self.high and not math.isinf(lowest) and not math.isinf(highest)

    def complaint(self, indices: np.ndarray) -> str | None:
        """The sentence about the first number out of range that counts; None where none does."""
        values = self.values.reshape(len(self.values), -1).double()
        counted = self.counted().reshape(len(values), -1)
        broken = ~((values >= self.low) & (values <= self.high) & ~values.isinf()) & counted
        rows = broken.any(1).nonzero().flatten().tolist()
        if not rows:
            return None
        value = self.values.reshape(len(values), -1)[rows[0]][broken[rows[0]]][0].item()
        got = value if math.isfinite(value) or math.isfinite(self.low) else "NaN or infinity"
        return f"{self.what}: expected {self.expected}, got {got} in sample {indices[rows[0]]}: {self.advice}"


def check(batch: Batch, spec: Spec, indices: np.ndarray) -> Batch:
    """Return the batch if it fits the Spec and all its numbers are sound.

    What lies behind a mask or beyond a length is not looked at; -1 in factors and NaN in quantities mean absent.

    Args:
        batch: the samples.
        spec: of their source.
        indices: (B,) their positions there, for the message.

    Raises:
        SpecError: names, shapes or dtypes differ.
        DataError: NaN, infinity, or numbers out of range: ids, lengths, targets, factors.
    """
    batch.check(spec)
    for numbers in (*_views(batch, spec), *_lengths(batch, spec), *_targets(batch, spec), *_causes(batch, spec)):
        problem = None if numbers.sound else numbers.complaint(indices)
        if problem:
            raise DataError(problem)
    return batch


def _views(batch: Batch, spec: Spec) -> Iterator[_Numbers]:
    for modality in spec.modalities:
        view, count = batch.views[modality.name], len(modality.symbols)
        if count or view.is_floating_point():
            expected = f"ids 0..{count - 1} of its {count} symbols" if count else "finite numbers"
            low, high = (0, count - 1) if count else (-math.inf, math.inf)
            advice = "correct the data or mark the modality as absent in that sample"
            counted = partial(_counted, batch, spec, modality.name)
            yield _Numbers(f"modality {modality.name}", view, low, high, expected, advice, counted)


def _counted(batch: Batch, spec: Spec, name: str) -> Tensor:
    """Which numbers of a view are present and within the lengths, (B, *shape)."""
    view = batch.views[name]
    present = _per_sample(batch.mask(name), view)
    if name not in batch.lengths:
        return present
    axis = 1 + (spec.modality(name).length_axis or 0)
    shape = [size if place in (0, axis) else 1 for place, size in enumerate(view.shape)]
    return present & batch.positions(name, spec).reshape(shape)


def _per_sample(mask: Tensor, values: Tensor) -> Tensor:
    """A mask (B,) for each of the values (B, ...)."""
    return mask.reshape(-1, *[1] * (values.ndim - 1)).expand_as(values)


def _lengths(batch: Batch, spec: Spec) -> Iterator[_Numbers]:
    for name in spec.names:
        if name in batch.lengths:
            longest = spec.modality(name).max_length
            counted = partial(batch.mask, name)
            yield _Numbers(f"lengths of {name}", batch.lengths[name], 0, longest, f"0..{longest}", "correct the lengths", counted)


def _targets(batch: Batch, spec: Spec) -> Iterator[_Numbers]:
    advice = "correct the data or mark the target as unknown in that sample"
    for target in spec.targets if batch.targets else ():
        values = batch.targets[target.name]
        low, high = 0.0, len(target.symbols) - 1 if target.task == "class" else 1.0
        expected = f"codes {low:.0f}..{high:.0f}"
        if target.task == "number":
            ends = zip(target.bounds, (-math.inf, math.inf), strict=True)
            low, high = (other if end is None else float(np.float32(end)) for end, other in ends)  # as they are stored
            bounded = target.bounds != (None, None)
            expected = f"numbers within the bounds {target.bounds}" if bounded else "finite numbers"
        counted = partial(_known, batch, target.name)
        yield _Numbers(f"target {target.name}", values, low, high, expected, advice, counted)


def _known(batch: Batch, name: str) -> Tensor:
    return _per_sample(batch.known_mask(name), batch.targets[name])


def _causes(batch: Batch, spec: Spec) -> Iterator[_Numbers]:
    advice = "correct the data"
    if batch.factors is not None:
        for factor, codes in zip(spec.factors, batch.factors.unbind(1), strict=True):
            last = len(factor.values) - 1
            expected = f"codes 0..{last}, or -1 where it is absent"
            yield _Numbers(
                f"factor {factor.name}", codes, -1, last, expected, advice, partial(torch.ones_like, codes, dtype=torch.bool)
            )
    if batch.quantities is not None:
        values = batch.quantities.nan_to_num(0.0, math.inf, -math.inf)
        expected = "finite numbers, or NaN where they are absent"
        yield _Numbers("quantities", values, -math.inf, math.inf, expected, advice, values.isinf)
