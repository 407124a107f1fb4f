"""Tables in Parquet and Arrow files of others: bounded before they are read, and checked before a value of them is used.

A few bytes of these formats can stand for any amount of text: a dictionary whose one long entry every row has, compressed runs,
views of one piece of memory. Values are counted as what they stand for. Offsets in damaged files can lead out of memory; all are
checked before a value is looked at.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import ipc

from molyneux.core import DataError, files, store
from molyneux.core.errors import short
from molyneux.data.formats.limits import MOST_LEVELS, require_unpacked
from molyneux.data.formats.parquet_promises import Promised

_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
"""Bytes of a value by its type in Parquet."""

_ROWS, _FEW_ROWS = 1024, 64
"""Of a Parquet file that are counted at once; fewer where each text repeats the begin of the one before."""

_TOGETHER = 1 << 25
"""Bytes of values of Parquet, as they stand in its pages, that are counted at once."""

_LEAST = 8
"""Bytes of a value as a Python object refers to it."""

_FILE_HEAD = b"ARROW1\0\0"
_DICTIONARY, _BATCH = 2, 3
"""Messages of an Arrow stream that have a body."""


def read_parquet(path: Path) -> pa.Table:
    """The table of a Parquet file.

    Raises:
        StoreError: it cannot be read. DataError: it is none, is damaged, or unpacks to more than its size allows.
    """
    with _reading(path, "Parquet"):
        size = path.stat().st_size
        promised = Promised(path)
        require_unpacked(path, size, promised.pages)
        with pq.ParquetFile(path) as file:
            leaves = [file.schema.column(number) for number in range(len(file.schema))]
        widths = {leaf.path: max(_LEAST, _WIDTHS.get(leaf.physical_type, leaf.length or 0)) for leaf in leaves}
        require_unpacked(path, size, sum(max(promised.values[name], promised.rows) * width for name, width in widths.items()))
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        lists = [leaf.path for leaf in leaves if leaf.max_repetition_level and leaf.path not in texts]
        rows = max(1, min(_ROWS, _TOGETHER // promised.widest))
        try:
            _count(path, size, texts + lists, texts, rows)
        except (pa.ArrowException, OSError):  # as texts that repeat the begin of the one before cannot be read as dictionaries
            _count(path, size, texts + lists, [], min(rows, _FEW_ROWS))
        with pq.ParquetFile(path) as file:
            return _checked(file.read(), path, size)


def _count(path: Path, size: int, columns: list[str], texts: list[str], rows: int) -> None:
    """Raise DataError where columns unpack to too much; some rows at a time, with texts of dictionaries (`texts`) not copied."""
    total = 0
    if columns:
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(rows, columns=columns):
                batch.validate(full=True)
                total += sum(unpacked_bytes(column) for column in batch.columns)
                require_unpacked(path, size, total)


def read_arrow(path: Path) -> pa.Table:
    """The table of a file in Arrow's file format, or in its stream format, in which `datasets` saves.

    Raises:
        StoreError: it cannot be read. DataError: it is none, is damaged, or unpacks to more than its size allows.
    """
    with _reading(path, "Arrow"), pa.memory_map(str(path)) as stream:
        size = stream.size()
        start = (
            len(_FILE_HEAD) if stream.read(len(_FILE_HEAD)) == _FILE_HEAD else 0
        )  # then a stream follows, and a list of its parts
        stream.seek(start)
        total = 0
        for message in ipc.MessageReader.open_stream(stream):
            total += _promised(message)
            require_unpacked(path, size, total)
        stream.seek(start)
        return _checked(ipc.open_stream(stream).read_all(), path, size)


def _promised(message: pa.Message) -> int:
    """The bytes to which the compressed parts of a message of an Arrow stream unpack."""
    head = _Table.root(message.metadata)
    kind, batch = head.number(1, "B"), head.table(2)
    if kind not in (_DICTIONARY, _BATCH) or batch is None:
        return 0
    batch = batch.table(1) if kind == _DICTIONARY else batch
    if batch is None or batch.table(3) is None:
        return 0
    body = message.body
    places = [place for place, length in batch.pairs(2) if length >= 8 and 0 <= place <= len(body) - 8]
    return sum(max(0, *struct.unpack_from("<q", body, place), 0) for place in places)


class _Table:
    """A table of a flatbuffer (google.github.io/flatbuffers): its fields lie where a list of offsets before or behind it says."""

    def __init__(self, content: Any, place: int) -> None:
        self._content, self._place = content, place
        self._fields = place - self._read("i", place)

    @classmethod
    def root(cls, content: Any) -> _Table:
        """The outermost table."""
        return cls(content, *struct.unpack_from("<I", content))

    def number(self, field: int, kind: str) -> int:
        """The number of a field; 0 where it has none."""
        place = self._of(field)
        return self._read(kind, place) if place else 0

    def table(self, field: int) -> _Table | None:
        """The table of a field."""
        place = self._of(field)
        return _Table(self._content, place + self._read("I", place)) if place else None

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """The pairs of 64-bit numbers of a field."""
        if place := self._of(field):
            place += self._read("I", place)
            for number in range(self._read("I", place)):
                yield struct.unpack_from("<qq", self._content, place + 4 + 16 * number)

    def _of(self, field: int) -> int:
        entry = 4 + 2 * field
        offset = self._read("H", self._fields + entry) if entry < self._read("H", self._fields) else 0
        return self._place + offset if offset else 0

    def _read(self, kind: str, place: int) -> int:
        if place < 0:
            raise ValueError("a part that begins before its file")
        found: int = struct.unpack_from(f"<{kind}", self._content, place)[0]
        return found


def unpacked_bytes(array: pa.Array | pa.ChunkedArray) -> int:
    """The bytes that the values of a checked column have when each is written out; at least 8 for a row."""
    if isinstance(array, pa.ChunkedArray):
        return sum(unpacked_bytes(chunk) for chunk in array.chunks)
    kind, rows = array.type, len(array)
    least = _LEAST * rows
    if isinstance(kind, pa.BaseExtensionType):
        return unpacked_bytes(array.storage)
    if pa.types.is_struct(kind):
        return least + sum(unpacked_bytes(array.field(number)) for number in range(kind.num_fields))
    if pa.types.is_dictionary(kind):
        return least + _repeated(array.dictionary, array.indices)
    if pa.types.is_run_end_encoded(kind):
        return least + rows * _longest(array.values)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return least + int(pc.sum(array.sizes).as_py() or 0) * max(_LEAST, _longest(array.values))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return least + unpacked_bytes(array.flatten())
    if pa.types.is_map(kind):
        return least + unpacked_bytes(array.keys) + unpacked_bytes(array.items)
    return least + int(_lengths(array).sum())


def _repeated(values: pa.Array, indices: pa.Array) -> int:
    """The bytes of values of a dictionary at these places."""
    if pa.types.is_nested(values.type) or pa.types.is_dictionary(values.type):
        return len(indices) * _longest(values)
    lengths = _lengths(values)
    known = np.asarray(indices.drop_null().cast(pa.int64()).to_numpy())
    return int((np.bincount(known, minlength=len(lengths)) * lengths).sum()) if len(lengths) else 0


def _longest(values: pa.Array) -> int:
    """At most this many bytes has one of some values."""
    if pa.types.is_nested(values.type) or pa.types.is_dictionary(values.type):
        return unpacked_bytes(values)
    return int(_lengths(values).max(initial=0))


def _lengths(array: pa.Array) -> np.ndarray:
    """The bytes (N,) int64 of values that are neither lists nor records."""
    kind, rows = array.type, len(array)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(
        kind
    ):  # 16 bytes for each, of which the first four are the length
        views = array.buffers()[1]
        found = np.frombuffer(views, np.int32)[4 * array.offset :: 4][:rows] if views is not None else np.zeros(rows)
        return np.asarray(found, np.int64)
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
        return np.full(rows, -(-kind.bit_width // 8), np.int64)
    if pa.types.is_null(kind) or pa.types.is_union(kind):
        return np.zeros(rows, np.int64)
    return np.asarray(pc.fill_null(pc.binary_length(array), 0).to_numpy(zero_copy_only=False), np.int64)


def _checked(table: pa.Table, path: Path, size: int) -> pa.Table:
    """The same table, all of whose offsets, indices and texts are right, and which unpacks to no more than its size allows."""
    require_unpacked(path, size, _LEAST * len(table))
    table.validate(full=True)
    require_unpacked(path, size, sum(unpacked_bytes(column) for column in table.columns))
    _require_names(list(table.schema))
    return table


def _require_names(fields: list[pa.Field], level: int = 0) -> None:
    """Raise ValueError where a name is no text, or two fields in a field have the same, or fields lie in each other too deep."""
    names = [field.name for field in fields]
    if level > MOST_LEVELS or (level and len(set(names)) < len(names)):
        raise ValueError("fields in a field that have one name, or too many levels of fields")
    for field in fields:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        _require_names([kind.field(number) for number in range(kind.num_fields)], level + 1)


@contextmanager
def _reading(path: Path, kind: str) -> Iterator[None]:
    try:
        files.require_plain_file(path)
        yield
    except (pa.ArrowException, ValueError, EOFError, struct.error, MemoryError, OverflowError) as error:
        raise DataError(
            f"{path}: expected a table in the format {kind}, got something else or a damaged file ({short(error)})"
        ) from error
    except OSError as error:
        if error.errno is not None:
            raise store.read_error(error, path) from error
        raise DataError(f"{path}: expected a table in the format {kind}, got a damaged file ({short(error)})") from error
