"""Samples that lie in shards, read as one source."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import Batch, CorruptFileError, store
from molyneux.core.sources import check_positions
from molyneux.data.layout import Limits, to_batch
from molyneux.data.shards.formats import NATIVE, Contents, ShardFormat, ShardRows
from molyneux.data.shards.manifest import MANIFEST, Manifest, Shard, is_shard
from molyneux.data.shards.places import NearFolder, location_of
from molyneux.data.stored import StoredSource

_AT_ONCE = 8
"""Shards that are fetched from an address at the same time."""


class ShardedSource:
    """Samples in shards of any format: opening reads the manifest alone, and memory does not grow with their number.

    Native and WebDataset shards are memory-mapped; of Parquet shards, those that are open (24) lie in memory, packed. Shards at
    an address are fetched into a cache when they are needed, up to eight of a batch at the same time. The order of a training
    reads those of few shards at a time (`core.shuffled.BlockOrder`). Any number of threads and processes may read.

    Args:
        address: the folder or address that `store_shards` wrote to.
        verify: whether to compare each shard with its checksum when it is first opened.
        cache: where shards of an address are kept; a temporary folder by default.
        cached: how many of them.

    Attributes:
        spec: what a batch looks like.
        origin: everything the samples depend on.
        block_size: samples that lie together, those of a shard.

    Raises:
        StoreError: no samples are there, or not all shards. CorruptFileError: the manifest was altered.
    """

    checks_values = True
    """Values are compared with their bounds whenever a batch is read."""

    def __init__(self, address: Path | str, *, verify: bool = True, cache: Path | None = None, cached: int = 32) -> None:
        self._place = location_of(address, cache=cache, cached=cached)
        self.address, self.verify = self._place.name, verify
        self._again: Mapping[str, Any] = {"verify": verify, "cache": cache, "cached": cached}
        self.manifest = Manifest.read(self._place)
        self.spec = self.manifest.spec
        self.origin = self.manifest.origin or {"shards": [shard.checksum for shard in self.manifest.shards]}
        self.block_size = self.manifest.shard
        self._format = format_of(self.manifest.format, Contents(self.spec, self.manifest.arrays))
        self._limits = Limits(self.spec)
        self._opened = OrderedDict[int, ShardRows]()
        self._lock, self._opening = threading.Lock(), defaultdict[int, threading.Lock](threading.Lock)

    def __len__(self) -> int:
        return self.manifest.size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions.

        Raises:
            DataError: a position outside the source, or a value that is NaN, infinite or out of bounds.
            CorruptFileError: names the shard that was truncated, altered or removed. StoreError: one cannot be fetched.
        """
        rows = check_positions(indices, len(self))
        numbers = rows // self.block_size
        whole: dict[str, np.ndarray] = {}
        for number, shard in self._shards(np.unique(numbers).tolist()):
            here = np.flatnonzero(numbers == number)
            for name, taken in shard.take(rows[here] - number * self.block_size).items():
                if len(here) == len(rows):
                    whole[name] = taken
                else:
                    whole.setdefault(name, np.empty((len(rows), *taken.shape[1:]), taken.dtype))[here] = taken
        if not len(rows):
            whole = self._rows(0).take(rows)
        batch = to_batch(whole, self.spec)
        return batch if self._limits.hold(whole) else batch.check_values(self.spec, rows)

    def __reduce__(self) -> tuple[Callable[[], ShardedSource], tuple[()]]:
        """Travel to other processes as an address, not as the content of the shards."""
        return partial(ShardedSource, self.address, **self._again), ()

    def _shards(self, numbers: list[int]) -> Iterator[tuple[int, ShardRows]]:
        """These shards, each opened when it is asked for; several that are fetched from an address are so at the same time."""
        if isinstance(self._place, NearFolder) or sum(number not in self._opened for number in numbers) < 2:
            yield from ((number, self._rows(number)) for number in numbers)
            return
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="shards") as pool:
            try:
                yield from zip(numbers, pool.map(self._rows, numbers), strict=True)
            finally:
                pool.shutdown(cancel_futures=True)

    def _rows(self, number: int) -> ShardRows:
        if (found := self._known(number)) is None:
            with self._lock:
                opening = self._opening[number]
            with opening:
                if (found := self._known(number)) is None:
                    found = self._open(number)
        return found

    def _known(self, number: int) -> ShardRows | None:
        with self._lock:
            if number in self._opened:
                self._opened.move_to_end(number)
            return self._opened.get(number)

    def _open(self, number: int) -> ShardRows:
        shard = self.manifest.shards[number]
        with self._place.local(shard.file, partial(self._check, shard)) as path:
            found = self._format.open(path, shard.first, shard.end)
        with self._lock:
            if self._opened and set((first := next(iter(self._opened.values()))).names) != set(found.names):
                raise CorruptFileError(
                    f"{self.address}/{shard.file}: expected the arrays {', '.join(first.names)}, got {', '.join(found.names)}: "
                    "store the samples anew"
                )
            self._opened[number] = found
            while len(self._opened) > self._format.open_at_once:
                self._opened.popitem(last=False)
            self._opening.pop(number, None)
        return found

    def _check(self, shard: Shard, path: Path) -> None:
        """CorruptFileError unless the file is the one that was written."""
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            size = None
        if size != shard.bytes or (self.verify and store.checksum(path) != shard.checksum):
            fault = "is missing" if size is None else "was truncated or altered since it was written"
            raise CorruptFileError(
                f"{self.address}/{shard.file} {fault}: restore it from a copy, or delete it and store the samples again"
            )


def open_stored(folder: Path | str, *, verify: bool = True) -> StoredSource | ShardedSource:
    """Stored samples of either kind: in one folder (`store_samples`), or in shards (`store_shards`).

    Args:
        folder: or an address with `://`, of samples in shards.
        verify: whether the files of a folder are compared with their checksums first; shards are when they are first opened.

    Raises:
        StoreError: no samples are there. CorruptFileError: they were altered.
    """
    if isinstance(folder, Path) or "://" not in folder:
        place = NearFolder(Path(folder))
        if not any(name == MANIFEST or is_shard(name) for name in place.names()):
            return StoredSource(place.folder, verify=verify)
    return ShardedSource(folder)


def format_of(name: str, contents: Contents) -> ShardFormat:
    """The format of a name, one of `FORMATS`, for samples that consist of `contents`; SpecError if it cannot hold them."""
    if name == NATIVE:
        from molyneux.data.shards.native import NativeFormat

        return NativeFormat(contents)
    if name == "parquet":
        from molyneux.data.shards.parquet import ParquetFormat

        return ParquetFormat(contents)
    from molyneux.data.shards.webdataset import WebDatasetFormat

    return WebDatasetFormat(contents)
