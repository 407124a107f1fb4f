"""The native format of a shard: one safetensors file of the arrays of `data.layout`, read where it lies."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import ConfigError
from molyneux.data.formats.mapped_files import FileRows, MappedFile
from molyneux.data.layout import possible_columns
from molyneux.data.shards.formats import Contents, no_shard

_TYPES = {"bool": "BOOL", "uint8": "U8", "int16": "I16", "int32": "I32", "int64": "I64", "float32": "F32", "float64": "F64"}
"""Names of types in safetensors files."""
_HEAD = 1 << 20
"""Bytes that the head of a shard may have."""


class NativeFormat:
    """See `ShardFormat`."""

    open_at_once = 64

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    def content(self, arrays: Mapping[str, np.ndarray], first: int, pool: Executor) -> bytes:
        """See `ShardFormat`; wide types come first, so that all arrays are aligned.

        Raises:
            ConfigError: an array of a type that the format does not have.
        """
        if strange := [f"{name} ({array.dtype})" for name, array in arrays.items() if array.dtype.name not in _TYPES]:
            raise ConfigError(f"expected arrays of {', '.join(_TYPES)} to store in shards, got {', '.join(strange)}")
        head, offset, parts = dict[str, Any](), 0, list[memoryview]()
        for name, array in sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])):
            head[name] = {
                "dtype": _TYPES[array.dtype.name],
                "shape": list(array.shape),
                "data_offsets": [offset, offset + array.nbytes],
            }
            offset += array.nbytes
            parts.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        text = json.dumps(head, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return b"".join([len(text).to_bytes(8, "little"), text, *parts])

    def open(self, path: Path, first: int, end: int) -> _NativeRows:
        """See `ShardFormat`."""
        return _NativeRows(path, self._contents, end - first)


class _NativeRows:
    """See `ShardRows`: memory-mapped arrays. Of those that samples of the Spec may have, the shard has some."""

    def __init__(self, path: Path, contents: Contents, count: int) -> None:
        columns = {column.name: column for column in possible_columns(contents.spec)}
        file = MappedFile(path)
        try:
            length = int.from_bytes(file.array(0, (8,), np.dtype(np.uint8)).tobytes(), "little")
            if length > _HEAD:
                raise ValueError(f"its head has {length:,} bytes")
            head = json.loads(file.array(8, (length,), np.dtype(np.uint8)).tobytes())
            self._arrays = dict[str, FileRows]()
            for name, entry in head.items():
                column = columns.get(name)
                wanted = None if column is None else (_TYPES[column.dtype], [count, *column.shape])
                if column is None or (entry["dtype"], entry["shape"]) != wanted:
                    raise ValueError(f"expected {wanted}, got {entry} for {name}")
                start, stop = entry["data_offsets"]
                if stop - start != count * math.prod(column.shape) * np.dtype(column.dtype).itemsize or start < 0:
                    raise ValueError(f"{name} has {stop - start:,} bytes")
                array = file.array(8 + length + start, (count, *column.shape), np.dtype(column.dtype))
                self._arrays[name] = FileRows(path, array, 8 + length + start, shared=True)
            if lacking := [name for name in columns if name.startswith("view.") and name not in self._arrays]:
                raise ValueError(f"it has no {', '.join(lacking)}")
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise no_shard(path, error) from error
        self.names = tuple(self._arrays)

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """See `ShardRows`."""
        return {name: array.take(rows) for name, array in self._arrays.items()}
