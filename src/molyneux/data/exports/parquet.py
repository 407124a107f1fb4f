"""Export as one Parquet file that Hugging Face `datasets` reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from molyneux.core import Batch, Modality, Source, Spec, SpecError, Target
from molyneux.data.exports.samples import batches, filled_spec, images_of, png_bytes, strings
from molyneux.data.folders import appearing_file
from molyneux.data.layout import columns_of

_ARROW = {"float32": pa.float32(), "int64": pa.int64(), "uint8": pa.uint8()}


class _Column(NamedTuple):
    """One column: its part of a batch and its name there, its Arrow type, its feature in `datasets`, and its values.

    Values are made of a batch, the number of its first sample and a pool of threads.
    """

    key: tuple[str, str]
    type: pa.DataType
    feature: dict[str, Any]
    values: Callable[[Batch, int, Executor], pa.Array]


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
    spec = filled_spec(source)
    images_of(spec)
    lengths = [column.name.partition(".")[2] for column in columns_of(source) if column.name.startswith("length.")]
    columns = _columns(spec, lengths)
    names = _names([column.key for column in columns])
    features = {name: column.feature for name, column in zip(names, columns, strict=True)}
    fields = [pa.field(name, column.type) for name, column in zip(names, columns, strict=True)]
    schema = pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})
    with (
        appearing_file(path) as part,
        ThreadPoolExecutor(threads) as pool,
        pq.ParquetWriter(part, schema, compression="zstd") as writer,
    ):
        for rows, batch in batches(source, chunk, progress):
            arrays = [column.values(batch, int(rows[0]), pool) for column in columns]
            writer.write_table(pa.table(arrays, schema=schema), row_group_size=len(rows))


def _names(keys: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each pair of a part and a name: the name alone, or `part.name` where another pair would have that name too.

    >>> _names([("view", "text"), ("view", "label"), ("target", "label")])
    ['text', 'view.label', 'target.label']
    """
    names = [name for _, name in keys]
    found = [name if names.count(name) == 1 else f"{part}.{name}" for part, name in keys]
    if len(set(found)) < len(keys):
        raise SpecError(f"expected names of which columns can be made, got {', '.join(found)}: rename one of them")
    return found


def _columns(spec: Spec, lengths: list[str]) -> list[_Column]:
    found = [_view_column(modality, spec) for modality in spec.modalities]
    for number, factor in enumerate(spec.factors):
        feature = {"names": list(factor.values), "_type": "ClassLabel"}
        found.append(_Column(("factor", factor.name), pa.int64(), feature, _column_of("factors", number)))
    for number, quantity in enumerate(spec.quantities):
        feature = {"dtype": "float32", "_type": "Value"}
        found.append(_Column(("quantity", quantity.name), pa.float32(), feature, _column_of("quantities", number)))
    found += [_target_column(target) for target in spec.targets]
    feature = {"dtype": "int64", "_type": "Value"}
    for name in lengths:
        found.append(_Column(("", f"length.{name}"), pa.int64(), feature, lambda b, *_, n=name: pa.array(b.lengths[n].numpy())))
    return found


def _column_of(part: str, number: int) -> Callable[[Batch, int, Executor], pa.Array]:
    """What takes one column of the factors or quantities of a batch; NaN becomes null."""
    return lambda batch, first, pool: pa.array(getattr(batch, part)[:, number].numpy(), from_pandas=True)


def _view_column(modality: Modality, spec: Spec) -> _Column:
    key = ("view", modality.name)
    if modality.kind == "image":
        kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
        return _Column(key, kind, {"_type": "Image"}, lambda batch, first, pool: _pictures(modality, batch, first, pool, kind))
    if modality.kind == "text":
        feature = {"dtype": "string", "_type": "Value"}
        return _Column(key, pa.string(), feature, lambda batch, *_: pa.array(strings(modality, batch, spec), pa.string()))

    def values(batch: Batch, first: int, pool: Executor) -> pa.Array:
        view = batch.views[modality.name].numpy()
        return _numbers(view.astype(np.int64) if modality.kind == "label" else view, ~batch.mask(modality.name).numpy())

    if modality.kind == "label":
        return _Column(key, pa.int64(), {"names": list(modality.symbols), "_type": "ClassLabel"}, values)
    return _Column(key, *_nested(modality.dtype, len(modality.shape)), values)


def _target_column(target: Target) -> _Column:
    def values(batch: Batch, first: int, pool: Executor) -> pa.Array:
        return _numbers(batch.targets[target.name].numpy(), ~batch.known_mask(target.name).numpy())

    kind, feature = _nested(target.dtype, len(target.stored_shape))
    if target.task == "class":
        feature = {"names": list(target.symbols), "_type": "ClassLabel"}
    return _Column(("target", target.name), kind, feature, values)


def _nested(dtype: str, axes: int) -> tuple[pa.DataType, dict[str, Any]]:
    """Type and feature of numbers in so many nested lists."""
    kind: pa.DataType = _ARROW[dtype]
    feature: dict[str, Any] = {"dtype": dtype, "_type": "Value"}
    for _ in range(axes):
        kind, feature = pa.list_(kind), {"feature": feature, "_type": "Sequence"}
    return kind, feature


def _pictures(modality: Modality, batch: Batch, first: int, pool: Executor, kind: pa.DataType) -> pa.Array:
    contents = enumerate(png_bytes(modality, batch, pool), first)
    return pa.array([content and {"bytes": content, "path": f"{row}.png"} for row, content in contents], kind)


def _numbers(values: np.ndarray, missing: np.ndarray) -> pa.Array:
    """Numbers, and nested lists of them without a Python object per number; null where a sample is `missing`."""
    if values.ndim == 1:
        return pa.array(values, mask=missing)
    array = pa.array(np.ascontiguousarray(values).reshape(-1))
    for axis in range(values.ndim - 1, 0, -1):
        size, count = values.shape[axis], int(np.prod(values.shape[:axis]))
        offsets = pa.array(np.arange(count + 1, dtype=np.int32) * np.int32(size))
        array = pa.ListArray.from_arrays(offsets, array, mask=pa.array(missing) if axis == 1 else None)
    return array
