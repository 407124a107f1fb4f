"""From sources to numbered, checked batches: the order of training, memory or streaming, and prefetching.

The order of the samples is a function of the seed and the epoch alone, so training can go on from any step. Whether samples
are loaded or streamed, by which threads and how far ahead, changes nothing in the batches.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, DataError, Source, Spec, seeds
from molyneux.core.shuffled import BlockOrder
from molyneux.learn.training.settings import Training
from molyneux.learn.training.shared_draws import Share

LOADED_BYTES = 2**29
"""What `memory: auto` loads at most: 512 MiB."""

_CHUNK_BYTES = 2**24
"""What is fetched at once while a source is loaded."""


class Positions(NamedTuple):
    """The samples of one batch.

    Args:
        number: the step of the stage in training; the position of the batch in evaluation.
        indices: (B,) positions of its samples in the source.
        share: which samples of a larger batch they are; None where they are all of it.
    """

    number: int
    indices: np.ndarray
    share: Share | None = None


Group = Sequence[Positions]
"""Batches whose samples are asked for at once."""


@dataclass(frozen=True)
class NumberedBatch:
    """A batch with its number, see `Positions`."""

    number: int
    batch: Batch
    share: Share | None = None

    def __len__(self) -> int:
        return len(self.batch)


_FETCHED_BYTES = 2**25
"""What is made at once of a source that is slow in small batches, unless one batch is larger: 32 MiB."""

_WINDOW = 16
"""Blocks of samples that lie together, such as shards, that are shuffled with one another."""


def training_order(
    size: int, batch_size: int, *, seed: int, epoch: int, first: int = 0, together: int = 1, block: int | None = None
) -> Sequence[Positions]:
    """The batches of one epoch: every sample once, in an order drawn for the epoch.

    The incomplete batch at the end is left out, so that every step averages over as many samples. Epochs count from 0 over all
    stages; the first batch belongs to step `first`. So many samples in a row stay `together` (`Spec.row_size`): a world draws a
    contrast set once, and a model encodes its views once. An incomplete set comes last. Where samples lie in blocks, such as
    shards (`block_size` of their source), those of 16 blocks at a time are shuffled, and no order is held in memory
    (`core.shuffled.BlockOrder`).
    """
    if block is not None:
        blocks = BlockOrder(size, block, _WINDOW, seeds.key(seed, "learn", "order", epoch), together)
        return _Computed(blocks, batch_size, range(first, first + size // batch_size), first)
    sets = seeds.generator(seed, "learn", "order", epoch).permutation(size // together)
    whole = (sets[:, None] * together + np.arange(together)).ravel()
    order = np.concatenate([whole, np.arange(len(whole), size)])
    count = size // batch_size
    return [Positions(first + i, rows) for i, rows in enumerate(order[: count * batch_size].reshape(count, batch_size))]


@dataclass(frozen=True)
class _Computed(Sequence[Positions]):
    """Batches of an order, each computed when it is asked for.

    Args:
        order: of the samples.
        batch_size: samples of a batch.
        numbers: of the batches.
        first: the number of the batch with which the order begins.
    """

    order: BlockOrder
    batch_size: int
    numbers: range
    first: int

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Positions: ...

    @overload
    def __getitem__(self, place: slice) -> _Computed: ...

    def __getitem__(self, place: int | slice) -> Positions | _Computed:
        if isinstance(place, slice):
            return _Computed(self.order, self.batch_size, self.numbers[place], self.first)
        number = self.numbers[place]
        start = (number - self.first) * self.batch_size
        return Positions(number, self.order.positions(start, start + self.batch_size))


def evaluation_order(size: int, batch_size: int) -> Iterator[Positions]:
    """Every sample of a source once, in its own order; the last batch may be smaller."""
    starts = enumerate(range(0, size, batch_size))
    return (Positions(number, np.arange(start, min(start + batch_size, size))) for number, start in starts)


class BatchReader:
    """Reads numbered, checked batches of a source.

    Args:
        source: where the samples come from.
        prefetch: batches that are fetched ahead, by a thread for every two of them; 0 fetches without a thread.
        pin: whether to copy batches to page-locked memory, which a CUDA device reads while it computes.
    """

    def __init__(self, source: Source, *, prefetch: int = 0, pin: bool = False) -> None:
        self.source, self._prefetch, self._pin = source, prefetch, pin
        self.needs_views = False
        """Whether a sample without any modality is an error, where samples have several."""

    def __len__(self) -> int:
        return len(self.source)

    @property
    def block_size(self) -> int | None:
        """How many samples lie together, such as those of a shard; None where any order is as good."""
        found: int | None = getattr(self.source, "block_size", None)
        return found

    def read(self, order: Iterable[Positions]) -> Generator[NumberedBatch, None, None]:
        """The batches in this order.

        A source that is slow in small batches (`fetch_size`) is asked for the samples of several at once.

        Raises:
            DataError: a batch holds NaN, infinity, or numbers out of range, or a sample without any modality where that is an
                error. SpecError: it does not fit the Spec of its source.
        """
        groups = _grouped(order, self._fetch_size)
        if self._prefetch:
            yield from _ahead(self._fetch, groups, self._prefetch)
        else:
            yield from itertools.chain.from_iterable(map(self._fetch, groups))

    @property
    def _fetch_size(self) -> int:
        """How many samples are asked for at once, unless one batch has more; 1 where small batches are as fast."""
        wanted: int | None = getattr(self.source, "fetch_size", None)
        return 1 if wanted is None else max(1, min(wanted, _FETCHED_BYTES // max(1, self.source.spec.sample_bytes)))

    def _fetch(self, group: Group) -> Iterable[NumberedBatch]:
        """The batches of a group: one is checked here, several when each is asked for, so that an error comes in its turn."""
        if len(group) == 1:
            return [self._checked(group[0], self.source.batch(group[0].indices))]
        whole = self.source.batch(np.concatenate([positions.indices for positions in group]))
        ends = np.cumsum([len(positions.indices) for positions in group]).tolist()
        parts = zip(group, [0, *ends], ends, strict=False)
        return (self._checked(positions, whole[start:end]) for positions, start, end in parts)

    def _checked(self, positions: Positions, batch: Batch) -> NumberedBatch:
        if not isinstance(self.source, LoadedSource) and not getattr(self.source, "checks_values", False):
            batch.check_values(self.source.spec, positions.indices)
        if self.needs_views:
            require_views(batch, self.source.spec, positions.indices)
        return NumberedBatch(positions.number, batch.map(Tensor.pin_memory) if self._pin else batch, positions.share)


def require_views(batch: Batch, spec: Spec, numbers: np.ndarray) -> None:
    """Raise DataError, with the number of the sample, if one of a batch of several modalities has none of them."""
    if len(spec.modalities) < 2 or any(name not in batch.present for name in spec.names):
        return
    here = torch.stack([batch.present[name] for name in spec.names]).any(0)
    if not bool(here.all()):
        first = numbers[int((~here).nonzero()[0])]
        raise DataError(
            f"expected at least one of {', '.join(spec.names)} in every sample to learn from, got none in sample {first} (and in "
            f"{int((~here).sum()) - 1} others of its batch): leave them out, for nothing can be learned from them"
        )


class LoadedSource:
    """The samples of another source in memory, checked, as arrays by the names of `Batch.tensors`; its batches are the same."""

    def __init__(self, spec: Spec, arrays: dict[str, np.ndarray], *, block_size: int | None = None) -> None:
        self.spec, self.block_size, self._arrays = spec, block_size, arrays

    def __len__(self) -> int:
        return len(next(iter(self._arrays.values())))

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        # NumPy's take copies whole rows: three times as fast as torch.index_select on one thread.
        return Batch.from_tensors({name: torch.from_numpy(array.take(indices, axis=0)) for name, array in self._arrays.items()})


def readers(
    train: Source,
    validation: Source | None,
    training: Training,
    *,
    device: str,
    loader: Callable[[Source], LoadedSource | None] | None = None,
) -> tuple[BatchReader, BatchReader | None]:
    """The readers of both sources, in memory or streamed as `training.memory` says.

    A source whose attribute `in_memory` is true is read where it lies. A source whose batches do not all hold the same tensors
    is streamed. Sources are loaded by `loader`, by default `load`.
    """
    left, made = LOADED_BYTES if training.memory == "auto" else math.inf, []
    for source in (train, *([] if validation is None else [validation])):
        size = len(source) * source.spec.sample_bytes
        kept = bool(getattr(source, "in_memory", False))
        loaded = None if kept or training.memory == "stream" or size > left else (loader or load)(source)
        left -= size if loaded else 0
        threaded = device == "cuda" or not (kept or loaded)
        made.append(BatchReader(loaded or source, prefetch=training.prefetch if threaded else 0, pin=device == "cuda"))
    return made[0], made[1] if len(made) > 1 else None


def load(source: Source) -> LoadedSource | None:
    """The whole source in memory, checked; None where some batches hold tensors that others do not, such as presence masks."""
    size, spec = len(source), source.spec
    chunk = max(1, min(4096, size, _CHUNK_BYTES // max(1, spec.sample_bytes)))
    arrays: dict[str, np.ndarray] = {}
    for start in range(0, size, chunk):
        rows = np.arange(start, min(start + chunk, size))
        tensors = source.batch(rows).check_values(spec, rows).tensors()
        if not arrays:
            arrays = {name: np.empty((size, *tensor.shape[1:]), tensor.numpy().dtype) for name, tensor in tensors.items()}
        if arrays.keys() != tensors.keys():
            return None
        for name, tensor in tensors.items():
            arrays[name][rows[0] : rows[-1] + 1] = tensor.numpy()
    return LoadedSource(spec, arrays, block_size=getattr(source, "block_size", None))


def _grouped(order: Iterable[Positions], size: int) -> Iterator[Group]:
    """Batches in a row that have up to `size` samples together; one that has more alone."""
    group: list[Positions] = []
    count = 0
    for positions in order:
        if group and count + len(positions.indices) > size:
            yield group
            group, count = [], 0
        group.append(positions)
        count += len(positions.indices)
    if group:
        yield group


def _ahead(
    fetch: Callable[[Group], Iterable[NumberedBatch]], groups: Iterable[Group], count: int
) -> Generator[NumberedBatch, None, None]:
    """The batches of `map(fetch, groups)`, fetched `count` batches ahead or more; errors come in turn.

    A thread for every two of these batches fetches a group at a time, so that a source that waits, for a network or a disk, does
    so for several groups at once. The order of the batches does not depend on which thread is the first.
    """
    threads = max(1, count // 2)
    waiting: deque[tuple[int, Future[Iterable[NumberedBatch]]]] = deque()
    left = 0
    with ThreadPoolExecutor(threads, thread_name_prefix="prefetch") as pool:
        try:
            for group in groups:
                waiting.append((len(group), pool.submit(fetch, group)))
                left += len(group)
                while left - waiting[0][0] >= count and len(waiting) > threads:
                    size, future = waiting.popleft()
                    left -= size
                    yield from future.result()
            while waiting:
                yield from waiting.popleft()[1].result()
        finally:
            for _, future in waiting:
                future.cancel()
