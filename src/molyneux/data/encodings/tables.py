"""Samples as the rows of a table, whose columns Hugging Face `datasets` knows by their features, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from molyneux.core import Batch, DataError, Modality, Spec, SpecError, Target
from molyneux.data.encodings.facts import filled_spec
from molyneux.data.encodings.views import images_of, pictures, png_bytes, strings, text_ids

_ARROW = {"float32": pa.float32(), "int64": pa.int64(), "uint8": pa.uint8()}
_PICTURE = pa.struct({"bytes": pa.binary(), "path": pa.string()})


class _Column(NamedTuple):
    """One column: its part of a batch and its name there, its Arrow type, its feature in `datasets`, and its values.

    Values are made of a batch, the number of its first sample and a pool of threads.
    """

    key: tuple[str, str]
    type: pa.DataType
    feature: dict[str, Any]
    values: Callable[[Batch, int, Executor], pa.Array]


class TableColumns:
    """The columns in which samples are written.

    A column for each modality (image: struct of PNG `bytes` and `path`; text: string; label: class; others: nested lists of
    numbers), factor (a class, -1 = absent), quantity, target and length. A column has the name of what is in it, with `view.`,
    `factor.`, `quantity.` or `target.` before it where two have one name; lengths are `length.<modality>`. What is missing or not
    known is null.

    Args:
        spec: of the samples.
        names: of the arrays (`data.layout`) that their batches hold.

    Attributes:
        schema: of the table, with the features of `datasets`.

    Raises:
        SpecError: an image that PNG cannot hold, or names of which no columns can be made.
    """

    def __init__(self, spec: Spec, names: Collection[str]) -> None:
        self._spec, self._names = filled_spec(spec, names), tuple(names)
        images_of(spec)
        lengths = [name.partition(".")[2] for name in names if name.startswith("length.")]
        self._columns = _columns(self._spec, lengths)
        titles = _titles([column.key for column in self._columns])
        self._titles = {column.key: title for column, title in zip(self._columns, titles, strict=True)}
        features = {title: column.feature for title, column in zip(titles, self._columns, strict=True)}
        fields = [pa.field(title, column.type) for title, column in zip(titles, self._columns, strict=True)]
        self.schema = pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})

    def table(self, batch: Batch, first: int, pool: Executor) -> pa.Table:
        """The rows of samples.

        Args:
            batch: the samples.
            first: number of the first of them.
            pool: its threads pack images.
        """
        return pa.table([column.values(batch, first, pool) for column in self._columns], schema=self.schema)

    def arrays(self, table: pa.Table, where: str) -> dict[str, np.ndarray]:
        """The arrays of rows that `table` made; zeros for what is missing.

        Args:
            table: of the same schema.
            where: what an error calls it.

        Raises:
            DataError: a row has no such value.
        """
        found = dict[str, np.ndarray]()
        for modality in self._spec.modalities:
            column = self._column(table, "view", modality.name)
            self._add_mask(found, f"present.{modality.name}", column, where)
            found[f"view.{modality.name}"] = _view(modality, column, where)
        for target in self._spec.targets:
            column = self._column(table, "target", target.name)
            self._add_mask(found, f"known.{target.name}", column, where)
            found[f"target.{target.name}"] = _values(column, target.stored_shape, target.dtype, where)
        if self._spec.factors:
            codes = [self._column(table, "factor", factor.name) for factor in self._spec.factors]
            found["factors"] = np.stack([pc.fill_null(column, -1).to_numpy() for column in codes], 1)
        if self._spec.quantities:
            columns = [self._column(table, "quantity", quantity.name) for quantity in self._spec.quantities]
            found["quantities"] = np.stack([pc.fill_null(column, np.nan).to_numpy() for column in columns], 1)
        for name in self._names:
            if name.startswith("length."):
                found[name] = _values(self._column(table, "", name), (), "int64", where)
        return {name: found[name] for name in self._names}

    def _column(self, table: pa.Table, part: str, name: str) -> pa.ChunkedArray:
        return table.column(self._titles[part, name])

    def _add_mask(self, found: dict[str, np.ndarray], name: str, column: pa.ChunkedArray, where: str) -> None:
        if name in self._names:
            found[name] = column.is_valid().to_numpy()
        elif column.null_count:
            raise DataError(f"{where}: expected {name.partition('.')[2]} in every row, got none in {column.null_count}")


def _titles(keys: Sequence[tuple[str, str]]) -> list[str]:
    """A title for each pair of a part and a name: the name alone, or `part.name` where another pair would have that title too.

    >>> _titles([("view", "text"), ("view", "label"), ("target", "label")])
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
        return _Column(key, _PICTURE, {"_type": "Image"}, lambda *given: _pictures(modality, *given))
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


def _pictures(modality: Modality, batch: Batch, first: int, pool: Executor) -> pa.Array:
    contents = enumerate(png_bytes(modality, batch, pool), first)
    return pa.array([content and {"bytes": content, "path": f"{row}.png"} for row, content in contents], _PICTURE)


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


def _view(modality: Modality, column: pa.ChunkedArray, where: str) -> np.ndarray:
    """The views of a column; zeros where one is missing, padding where a text is."""
    if modality.kind == "image":
        contents = [None if picture is None else picture["bytes"] for picture in column.to_pylist()]
        return pictures(modality, contents, where)
    if modality.kind == "text":
        return text_ids(modality, column.to_pylist(), where)
    return _values(column, modality.shape, modality.dtype, where)


def _values(column: pa.ChunkedArray, shape: tuple[int, ...], dtype: str, where: str) -> np.ndarray:
    """The numbers (B, *shape) of a column of numbers or of nested lists of them; zeros where it has null."""
    here = column.is_valid().to_numpy()
    flat = column.drop_null().combine_chunks()
    for size in shape:
        if flat.null_count or pc.any(pc.not_equal(pc.list_value_length(flat), size)).as_py():
            raise DataError(f"{where}: expected lists of {size} numbers, got others")
        flat = flat.flatten()
    if flat.null_count:
        raise DataError(f"{where}: expected numbers, got null among them")
    found = np.zeros((len(here), *shape), dtype)
    found[here] = flat.to_numpy().reshape(-1, *shape)
    return found
