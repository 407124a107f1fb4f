"""Export as one Parquet file that Hugging Face `datasets` reads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq

from molyneux.core import Source
from molyneux.data.encodings.tables import TableColumns
from molyneux.data.exports.chunks import batches
from molyneux.data.folders import appearing_file
from molyneux.data.layout import names_of


def export_parquet(
    source: Source,
    path: Path | str,
    *,
    chunk: int = 1000,
    threads: int = 2,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write one row per sample, in row groups of `chunk`, all or nothing.

    Columns: each modality (image: struct of PNG `bytes` and `path`; text: string; label: class; others: nested lists of
    numbers), then each factor as a class (-1 = absent), each quantity, each target and the lengths where there are any. A column
    has the name of what is in it, with `view.`, `factor.`, `quantity.` or `target.` before it where two have one name;
    lengths are always `length.<modality>`. What is missing, absent or not known is null. The schema carries the features of
    `datasets`, so `load_dataset("parquet", data_files=...)` gives pictures, classes and lists.

    Raises:
        SpecError: an image that PNG cannot hold. ConflictError: something stands at `path`.
        StoreError: no space, no permission; nothing is left behind.
    """
    path = Path(path)
    columns = TableColumns(source.spec, names_of(source))
    with (
        appearing_file(path) as part,
        ThreadPoolExecutor(threads) as pool,
        pq.ParquetWriter(part, columns.schema, compression="zstd") as writer,
    ):
        for rows, batch in batches(source, chunk, progress):
            writer.write_table(columns.table(batch, int(rows[0]), pool), row_group_size=len(rows))
