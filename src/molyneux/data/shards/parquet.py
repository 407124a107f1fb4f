"""Shards as Parquet files, which `pyarrow`, Hugging Face `datasets` and Ray Data read."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from molyneux.core import DataError
from molyneux.data.encodings.tables import TableColumns
from molyneux.data.encodings.views import require_readable, strings
from molyneux.data.formats.arrow_files import read_parquet
from molyneux.data.layout import to_batch
from molyneux.data.shards.formats import Contents, no_shard

_GROUP = 1000
"""Samples of a row group."""


class ParquetFormat:
    """See `ShardFormat`. A shard that is open lies in memory as it is packed, pictures as PNG."""

    open_at_once = 24

    def __init__(self, contents: Contents) -> None:
        self._contents, self._columns = contents, TableColumns(contents.spec, contents.arrays)

    def content(self, arrays: Mapping[str, np.ndarray], first: int, pool: Executor) -> bytes:
        """See `ShardFormat`."""
        stream, spec = BytesIO(), self._contents.filled
        batch = to_batch(arrays, self._contents.spec)
        with pq.ParquetWriter(stream, self._columns.schema, compression="zstd") as writer:
            for start in range(0, len(batch), _GROUP):
                part = batch[start : start + _GROUP]
                for modality in (modality for modality in spec.modalities if modality.kind == "text"):
                    require_readable(modality, part, strings(modality, part, spec))
                writer.write_table(self._columns.table(part, first + start, pool), row_group_size=len(part))
        return stream.getvalue()

    def open(self, path: Path, first: int, end: int) -> _ParquetRows:
        """See `ShardFormat`."""
        return _ParquetRows(path, self._contents, self._columns, end - first)


class _ParquetRows:
    """See `ShardRows`."""

    def __init__(self, path: Path, contents: Contents, columns: TableColumns, count: int) -> None:
        self.names, self._path, self._columns = contents.arrays, path, columns
        try:
            self._table = read_parquet(path).combine_chunks()
        except DataError as error:
            raise no_shard(path, error) from error
        if len(self._table) != count or self._table.schema != columns.schema:
            raise no_shard(path, f"expected {count:,} rows of {', '.join(columns.schema.names)}")

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """See `ShardRows`."""
        try:
            return self._columns.arrays(self._table.take(rows), self._path.name)
        except DataError as error:
            raise no_shard(self._path, error) from error
