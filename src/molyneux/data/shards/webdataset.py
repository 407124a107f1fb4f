"""Shards as WebDataset archives: tar files of numbered samples, which other tools read from the first byte to the last."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np

from molyneux.core import DataError
from molyneux.data.encodings.archives import FACTS, archive_arrays, archive_index, ending_of, sample_files, write_archive
from molyneux.data.encodings.views import images_of, require_distinct, require_readable, strings
from molyneux.data.formats.mapped_files import MappedFile, let_go
from molyneux.data.layout import to_batch
from molyneux.data.shards.formats import Contents, no_shard

_CHUNK = 1000
"""Samples that are packed at once."""


class WebDatasetFormat:
    """See `ShardFormat`. A shard that is open is memory-mapped, with a list of where its files lie."""

    open_at_once = 64

    def __init__(self, contents: Contents) -> None:
        self._contents, spec = contents, contents.filled
        images_of(spec)
        for modality in spec.modalities:
            require_distinct(f"modality {modality.name}", modality.symbols if modality.kind == "label" else ())
        for target in spec.targets:
            require_distinct(f"target {target.name}", target.symbols if target.task == "class" else ())
        self._endings = [ending_of(modality) for modality in spec.modalities] + [FACTS]

    def content(self, arrays: Mapping[str, np.ndarray], first: int, pool: Executor) -> bytes:
        """See `ShardFormat`."""
        stream, spec = BytesIO(), self._contents.filled
        batch = to_batch(arrays, self._contents.spec)
        parts = [batch[start : start + _CHUNK] for start in range(0, len(batch), _CHUNK)]
        for part in parts:
            for modality in (modality for modality in spec.modalities if modality.kind == "text"):
                require_readable(modality, part, strings(modality, part, spec))
        write_archive(stream, first, chain.from_iterable(sample_files(spec, part, pool) for part in parts))
        return stream.getvalue()

    def open(self, path: Path, first: int, end: int) -> _ArchiveRows:
        """See `ShardFormat`."""
        return _ArchiveRows(path, self._contents, self._endings, first, end - first)


class _ArchiveRows:
    """See `ShardRows`."""

    def __init__(self, path: Path, contents: Contents, endings: list[str], first: int, count: int) -> None:
        self.names, self._path, self._contents, self._endings = contents.arrays, path, contents, endings
        file = MappedFile(path)
        self._data = file.array(0, (file.size,), np.dtype(np.uint8))
        try:
            with file.from_beginning_to_end():
                self._index = archive_index(self._data, first, count, endings)
        except ValueError as error:
            raise no_shard(path, error) from error

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """See `ShardRows`."""
        found = {
            ending: [self._data[place : place + size].tobytes() if place >= 0 else None for place, size in entries]
            for ending, entries in zip(self._endings, self._index[rows].transpose(1, 0, 2).tolist(), strict=True)
        }
        let_go(self._data)
        try:
            return archive_arrays(found, self._contents.filled, self.names, self._path.name)
        except DataError as error:
            raise no_shard(self._path, error) from error
