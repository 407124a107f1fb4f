"""Samples are written in shards, by any number of processes and machines, and a stopped one goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import ConfigError, ConflictError, Source, StoreError, nearest, store
from molyneux.core.sources import Span, origin_of
from molyneux.core.workers import Workers
from molyneux.data.layout import ArrayColumn, columns_of, read_arrays
from molyneux.data.shards.formats import FORMATS, NATIVE, Contents, ShardFormat
from molyneux.data.shards.manifest import MANIFEST, Manifest, Shard, is_shard, require_same, span_name, spans
from molyneux.data.shards.places import Location, location_of
from molyneux.data.shards.source import ShardedSource, format_of
from molyneux.data.sources import require_positive

_HEAD_ESTIMATE = 4096
"""Bytes of the head of a shard, by which the space that is needed is estimated."""


def store_shards(
    source: Source,
    address: Path | str,
    *,
    shard: int,
    file_format: str = NATIVE,
    part: tuple[int, int] = (1, 1),
    chunk: int = 4096,
    threads: int = 1,
    workers: Workers | None = None,
    progress: Callable[[int], None] | None = None,
) -> ShardedSource | Span | None:
    """Write the samples of a source in shards, or one part of them, and open them when all are there.

    Shard `j` belongs to part `1 + j mod n` of n: a part needs no others, so n machines make a data set by n commands that differ
    in this number alone. Whoever writes the last shard writes the manifest. A shard that is there is not made again, so a
    stopped command goes on where it was; a folder of fewer samples of the same origin is added to. The bytes depend on the
    source and `shard` alone.

    Args:
        source: what to store; with an `origin`, since shards of several processes have to be of the same samples.
        address: a folder, or an address of `fsspec` such as `s3://bucket/name`.
        shard: samples of a shard; each is held in memory while it is written.
        file_format: `native`, memory-mapped and the fastest; `webdataset`, tar files as `export_webdataset` writes them; or
            `parquet`, tables as `export_parquet` writes them. Other tools read the last two; they hold pictures as PNG, which
            loses nothing, and texts as strings. What lies in a missing view is not kept. Their bytes also depend on the versions
            of Pillow and pyarrow.
        part: which part of how many, counted from 1.
        chunk: samples made at once by a thread.
        threads: how many make samples.
        workers: make and write the shards, one each at a time, on machines that reach `address` too; this process by default.
        progress: called with the number of samples written, or found, since the last call.

    Returns:
        The samples, the first ones where the folder holds more; None while shards of other parts are missing.

    Raises:
        ConfigError: a number below 1, or a part beyond their number; an unknown format; the source does not say what made its
            samples.
        ConflictError: the folder holds something else.
        SpecError: the format cannot hold such samples, as PNG cannot hold floats.
        DataError: a value is NaN, infinite or out of bounds, or a text is no longer the same when it is read from a string.
        StoreError: no space, no permission; shards that are written stay.
    """
    require_positive(shard=shard, chunk=chunk, threads=threads)
    if file_format not in FORMATS:
        raise ConfigError(f"unknown format of shards {file_format!r}; {nearest(str(file_format), FORMATS)}")
    number, parts = part
    if not 1 <= number <= parts:
        raise ConfigError(f"expected a part from 1 to the number of parts, such as 2/8, got {number}/{parts}")
    origin, place = origin_of(source), location_of(address)
    if origin is None:
        raise ConfigError(
            "expected samples that say what made them, such as those of a world, got others: store them with store_samples"
        )
    folder = _Folder(place, origin, shard, file_format)
    if (whole := folder.opened(len(source))) is not None:
        if progress is not None:
            progress(len(source))
        return whole
    known, wanted = folder.known(), spans(len(source), shard)
    mine = [span for index, span in enumerate(wanted) if index % parts == number - 1 and span not in known]
    if progress is not None and (found := sum(end - first for first, end in wanted if (first, end) in known)):
        progress(found)
    where = place.name if "://" in place.name or workers is None else str(Path(place.name).resolve())
    writer = _Writer(source, where, shard, file_format, chunk, threads)
    format_of(file_format, writer.contents)  # refuses what it cannot hold before anything is made
    place.require_space(sum((end - first) * writer.sample_bytes + _HEAD_ESTIMATE for first, end in mine))
    for written in map(writer, mine) if workers is None else workers.map(writer, mine):
        if progress is not None:
            progress(written)
    folder.finish(source, writer.contents)
    return folder.opened(len(source))


@dataclass(frozen=True)
class _Writer:
    """Writes shards of a source, in this process or another one; what they need is opened once in each.

    Args:
        source: what to store.
        address: of the folder.
        shard: samples of a shard.
        format: of the shards.
        chunk: samples made at once by a thread.
        threads: how many make samples.
    """

    source: Source
    address: str
    shard: int
    format: str
    chunk: int
    threads: int

    def __call__(self, span: tuple[int, int]) -> int:
        """Write the shard of these samples, if it is not there; how many they are."""
        first, end = span
        if self._folder.shard_of(span) is None:
            with ThreadPoolExecutor(self.threads) as pool:
                arrays = _arrays(self.source, self._columns, span, self.chunk, pool)
                content = self._encoding.content(arrays, first, pool)
            self._folder.add(Shard(first, end, len(content), store.content_checksum(content), self.format), content)
        return end - first

    @cached_property
    def contents(self) -> Contents:
        """What the samples consist of."""
        return Contents(self.source.spec, tuple(column.name for column in self._columns))

    @property
    def sample_bytes(self) -> int:
        """Bytes of a sample."""
        return sum(column.bytes for column in self._columns)

    @cached_property
    def _columns(self) -> tuple[ArrayColumn, ...]:
        return columns_of(self.source)

    @cached_property
    def _encoding(self) -> ShardFormat:
        return format_of(self.format, self.contents)

    @cached_property
    def _folder(self) -> _Folder:
        origin = origin_of(self.source)
        assert origin is not None  # asked before
        return _Folder(location_of(self.address), origin, self.shard, self.format)


class _Folder:
    """A folder of shards while it is written, perhaps by several processes.

    Args:
        place: where it is.
        origin: of the samples.
        shard: samples of a shard.
        file_format: of the shards.
    """

    def __init__(self, place: Location, origin: Mapping[str, Any], shard: int, file_format: str) -> None:
        self.place, self.origin, self.shard, self.format = place, dict(origin), shard, file_format

    def opened(self, size: int) -> ShardedSource | Span | None:
        """The first so many samples; None where they are not all there. ConflictError where the folder holds something else."""
        manifest = self._manifest()
        if manifest is None or manifest.size < size:
            return None
        whole = ShardedSource(self.place.name)
        return whole if manifest.size == size else Span(whole, 0, size)

    def known(self) -> dict[tuple[int, int], Shard]:
        """The shards that are there, by first and end; ConflictError where the folder holds something else."""
        manifest = self._manifest()
        found = {(shard.first, shard.end): shard for shard in (() if manifest is None else manifest.shards)}
        for name in self.place.names():
            if name == MANIFEST or is_shard(name):
                continue
            try:
                content = self.place.read(name)
            except StoreError:
                if self.place.size(name) is None:  # another process wrote the manifest meanwhile, and removed it
                    return self.known()
                raise
            shard = self._begun(name, content)
            if self.place.size(shard.file) == shard.bytes:
                found[shard.first, shard.end] = shard
        return found

    def shard_of(self, span: tuple[int, int]) -> Shard | None:
        """The shard of these samples, if another process has written it since `known` was asked; errors as `known`."""
        name = f"{span_name(*span)}.json"
        if self.place.size(name) is None:
            return None
        shard = self._begun(name, self.place.read(name))
        return shard if self.place.size(shard.file) == shard.bytes else None

    def add(self, shard: Shard, content: bytes) -> None:
        """Write a shard, and then that it is there."""
        self.place.write(shard.file, content)
        record = {"origin": self.origin, "size": self.shard, "shard": [shard.first, shard.end, shard.bytes, shard.checksum]}
        record |= {"format": self.format} if self.format != NATIVE else {}
        self.place.write(f"{span_name(shard.first, shard.end)}.json", json.dumps(record, sort_keys=True).encode())

    def finish(self, source: Source, contents: Contents) -> None:
        """Write the manifest, if all shards are there, and remove what only an unfinished folder needs."""
        known, wanted = self.known(), spans(len(source), self.shard)
        if any(span not in known for span in wanted) or self.opened(len(source)) is not None:
            return
        shards = tuple(known[span] for span in wanted)
        Manifest(contents.spec, self.origin, self.shard, shards, contents.arrays, self.format).write(self.place)
        kept = {MANIFEST, *(known[span].file for span in wanted)}
        for name in self.place.names():
            if name not in kept:
                self.place.remove(name)
        self.place.remove_unfinished()

    def _manifest(self) -> Manifest | None:
        if self.place.size(MANIFEST) is None:
            return None
        manifest = Manifest.read(self.place)
        self._require_same(manifest.origin, manifest.shard, manifest.format)
        return manifest

    def _begun(self, name: str, content: bytes) -> Shard:
        """The shard of which a file says that it is there."""
        try:
            record = json.loads(content.decode())
            kind = record.get("format", NATIVE)
            first, end, length, checksum = record["shard"]
            shard, origin, size = Shard(first, end, length, checksum, kind), dict(record["origin"]), int(record["size"])
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ConflictError(
                f"{self.place.name} holds {name}, which is no part of samples in shards: choose another folder with --out"
            ) from error
        self._require_same(origin, size, kind)
        return shard

    def _require_same(self, origin: Mapping[str, Any] | None, shard: int, file_format: str) -> None:
        require_same(origin, self.origin, self.place)
        if file_format != self.format:
            raise ConflictError(
                f"{self.place.name} holds shards in the format {file_format}, not {self.format}: choose another folder with --out"
            )
        if shard != self.shard:
            raise ConflictError(
                f"{self.place.name} holds shards of {shard:,} samples, not of {self.shard:,}: choose another folder with --out"
            )


def _arrays(
    source: Source, columns: tuple[ArrayColumn, ...], span: tuple[int, int], chunk: int, pool: ThreadPoolExecutor
) -> dict[str, np.ndarray]:
    """The samples of a shard as arrays, made in chunks by the threads of a pool."""
    first, end = span
    arrays = {column.name: np.empty((end - first, *column.shape), column.dtype) for column in columns}

    def make(start: int) -> None:
        for name, rows in read_arrays(source, tuple(arrays), np.arange(start, min(start + chunk, end))).items():
            arrays[name][start - first : start - first + len(rows)] = rows

    for _ in pool.map(make, range(first, end, chunk)):
        pass
    return arrays
