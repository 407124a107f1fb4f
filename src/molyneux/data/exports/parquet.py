"""Export as one Parquet file that the `datasets` library of Hugging Face reads with its types."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from molyneux.core import Batch, Modality, Source, Spec, SpecError
from molyneux.data.exports.encoding import encode_batch, require_pictures
from molyneux.data.exports.reading import batches, filled_spec, images_of, strings
from molyneux.data.folders import appearing_file

_ARROW = {"float32": pa.float32(), "int64": pa.int64(), "uint8": pa.uint8()}


def export_parquet(
    source: Source,
    path: Path,
    *,
    chunk: int = 1000,
    threads: int = 2,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write one row per sample, in row groups of `chunk`, all or nothing.

    Columns: each modality (image: struct of PNG `bytes` and `path`; text: string; label: class; others: nested lists of
    numbers), then each factor as a class (-1 = absent), then `target`. What is missing is null. The schema carries the
    features of `datasets`, so `load_dataset("parquet", data_files=...)` gives pictures, classes and lists.

    Raises:
        SpecError: an image that PNG cannot hold, or a factor with the name of a modality.
        ConflictError: something stands at `path`. StoreError: no space, no permission; nothing is left behind.
    """
    spec = filled_spec(source)
    for modality in images_of(spec):
        require_pictures(modality)
    schema = _schema(spec)
    with (
        appearing_file(path) as part,
        ThreadPoolExecutor(threads) as pool,
        pq.ParquetWriter(part, schema, compression="zstd") as writer,
    ):
        for rows, batch in batches(source, chunk, progress):
            columns = _columns(spec, batch, int(rows[0]), pool)
            writer.write_table(pa.table(columns, schema=schema), row_group_size=len(rows))


def _schema(spec: Spec) -> pa.Schema:
    modalities = list(spec.modalities)
    names = [modality.name for modality in modalities] + [factor.name for factor in spec.factors]
    if len(set(names)) != len(names):
        raise SpecError(f"expected columns of different names, got {', '.join(names)}: rename a modality or a factor")
    fields = [pa.field(modality.name, _arrow_type(modality)) for modality in modalities]
    features = {modality.name: _feature(modality) for modality in modalities}
    for factor in spec.factors:
        fields.append(pa.field(factor.name, pa.int64()))
        features[factor.name] = {"names": list(factor.values), "_type": "ClassLabel"}
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})


def _arrow_type(modality: Modality) -> pa.DataType:
    if modality.kind == "image":
        return pa.struct({"bytes": pa.binary(), "path": pa.string()})
    if modality.kind == "text":
        return pa.string()
    if modality.kind == "label":
        return pa.int64()
    kind = _ARROW[modality.dtype]
    for _ in modality.shape:
        kind = pa.list_(kind)
    return kind


def _feature(modality: Modality) -> dict[str, Any]:
    """The feature of `datasets` that fits a modality."""
    if modality.kind == "image":
        return {"_type": "Image"}
    if modality.kind == "text":
        return {"dtype": "string", "_type": "Value"}
    if modality.kind == "label":
        return {"names": list(modality.symbols), "_type": "ClassLabel"}
    feature: dict[str, Any] = {"dtype": modality.dtype, "_type": "Value"}
    for _ in modality.shape:
        feature = {"feature": feature, "_type": "Sequence"}
    return feature


def _columns(spec: Spec, batch: Batch, first: int, pool: Executor) -> dict[str, pa.Array]:
    found = {modality.name: _column(modality, batch, first, pool) for modality in spec.modalities}
    if batch.factors is not None:
        codes = {factor.name: pa.array(batch.factors[:, column].numpy()) for column, factor in enumerate(spec.factors)}
        found.update(codes)
    return found


def _column(modality: Modality, batch: Batch, first: int, pool: Executor) -> pa.Array:
    if modality.kind == "image":
        pictures = [
            None if content is None else {"bytes": content, "path": f"{first + row}.png"}
            for row, content in enumerate(encode_batch(modality, batch, pool))
        ]
        return pa.array(pictures, _arrow_type(modality))
    if modality.kind == "text":
        return pa.array(strings(modality, batch), pa.string())
    return _numbers(modality, batch)


def _numbers(modality: Modality, batch: Batch) -> pa.Array:
    """Labels, and nested lists of numbers without a Python object per number."""
    view, missing = batch.views[modality.name].numpy(), ~batch.mask(modality.name).numpy()
    if not modality.shape:
        return pa.array(view.astype(np.int64), mask=missing)
    array = pa.array(view.reshape(-1))
    for axis in range(len(modality.shape), 0, -1):
        size, count = view.shape[axis], int(np.prod(view.shape[:axis]))
        offsets = pa.array(np.arange(count + 1, dtype=np.int32) * np.int32(size))
        array = pa.ListArray.from_arrays(offsets, array, mask=pa.array(missing) if axis == 1 else None)
    return array
