"""Which samples lie in which shard, and the format of a shard: one safetensors file of the arrays of `data.layout`.

A folder of shards has

<first>-<end>.safetensors   the samples from number `first` on, before number `end`
manifest.json               the Spec, what made the samples, and a checksum of every shard; written when all shards are there
<first>-<end>.json          while some are missing: the checksum of a shard that is there
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import ConfigError, ConflictError, CorruptFileError, Spec, SpecError, StoreError, store
from molyneux.core.tooling.documents import differences
from molyneux.data.formats.mapped_files import MappedFile
from molyneux.data.layout import ArrayColumn
from molyneux.data.shards.places import Location

MANIFEST, ENDING = "manifest.json", ".safetensors"
_DIGITS = 12
_TYPES = {"bool": "BOOL", "uint8": "U8", "int16": "I16", "int32": "I32", "int64": "I64", "float32": "F32", "float64": "F64"}
"""Names of types in safetensors files."""
_HEAD = 1 << 20
"""Bytes that the head of a shard may have."""


@dataclass(frozen=True)
class Shard:
    """A shard that is there.

    Args:
        first: number of its first sample.
        end: number after its last one.
        bytes: of the file.
        checksum: of the file, as `store.checksum` gives it.
    """

    first: int
    end: int
    bytes: int
    checksum: str

    @property
    def file(self) -> str:
        """Name of the file."""
        return f"{span_name(self.first, self.end)}{ENDING}"


def span_name(first: int, end: int) -> str:
    """The name of a shard, without an ending."""
    return f"{first:0{_DIGITS}d}-{end:0{_DIGITS}d}"


def spans(size: int, shard: int) -> list[tuple[int, int]]:
    """First and end of every shard of so many samples each; the last one may be smaller.

    >>> spans(10, 4)
    [(0, 4), (4, 8), (8, 10)]
    """
    return [(first, min(first + shard, size)) for first in range(0, size, shard)]


@dataclass(frozen=True)
class Manifest:
    """What a folder of shards holds.

    Args:
        spec: what a batch looks like.
        origin: everything the samples depend on; None where the source could not say.
        shard: samples of a shard; the last may have fewer.
        shards: all of them, in order.
    """

    spec: Spec
    origin: Mapping[str, Any] | None
    shard: int
    shards: tuple[Shard, ...]

    @property
    def size(self) -> int:
        """How many samples there are."""
        return self.shards[-1].end if self.shards else 0

    def write(self, place: Location) -> None:
        """Write it; the same content has the same bytes."""
        rows = [[shard.first, shard.end, shard.bytes, shard.checksum] for shard in self.shards]
        record = {"origin": self.origin, "shard": self.shard, "shards": rows, "spec": self.spec.to_json()}
        content = {**record, "checksum": store.fingerprint(record)}
        place.write(MANIFEST, (json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode())

    @classmethod
    def read(cls, place: Location) -> Manifest:
        """The manifest of a folder.

        Raises:
            StoreError: there is none: no samples are stored there, or not all shards.
            CorruptFileError: it was altered, or its shards do not follow one another.
        """
        if place.size(MANIFEST) is None:
            waiting = sum(name.endswith(ENDING) for name in place.names())
            some = f"{waiting} shards, but not all of them: run the same command again" if waiting else "no samples in shards"
            raise StoreError(f"expected samples in shards in {place.name}, found {some}")
        advice = "restore it from a copy, or store the samples anew"
        try:
            record = json.loads(place.read(MANIFEST).decode())
            if record.pop("checksum") != store.fingerprint(record):
                raise ValueError("it was altered since it was written")
            shards = tuple(Shard(int(a), int(b), int(c), str(d)) for a, b, c, d in record["shards"])
            found = cls(Spec.from_json(record["spec"]), record["origin"], int(record["shard"]), shards)
            if [(shard.first, shard.end) for shard in shards] != spans(found.size, found.shard):
                raise ValueError("its shards do not follow one another")
        except (KeyError, TypeError, ValueError, AttributeError, SpecError, RecursionError) as error:
            raise CorruptFileError(f"{place.name}/{MANIFEST} is damaged ({error}): {advice}") from error
        return found


def require_same(known: Mapping[str, Any] | None, wanted: Mapping[str, Any] | None, place: Location) -> None:
    """ConflictError unless both origins are of the same samples, however many."""
    if known is None or wanted is None:
        raise ConflictError(
            f"{place.name} holds samples of which it is not known what made them: choose another folder with --out"
        )
    before, now = ({name: value for name, value in origin.items() if name != "size"} for origin in (known, wanted))
    if before != now:
        changed = differences(before, now)
        raise ConflictError(f"{place.name} holds samples of another origin ({changed}): choose another folder with --out")


def shard_content(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The arrays of a shard as the content of a safetensors file; wide types come first, so that all are aligned.

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


def shard_arrays(path: Path, columns: Mapping[str, ArrayColumn], count: int) -> dict[str, np.ndarray]:
    """The arrays of a shard of so many samples, memory-mapped; of `columns`, those that it has.

    Raises:
        CorruptFileError: it is no shard of such samples.
    """
    file = MappedFile(path)
    try:
        length = int.from_bytes(file.array(0, (8,), np.dtype(np.uint8)).tobytes(), "little")
        if length > _HEAD:
            raise ValueError(f"its head has {length:,} bytes")
        head = json.loads(file.array(8, (length,), np.dtype(np.uint8)).tobytes())
        found = {}
        for name, entry in head.items():
            column = columns.get(name)
            wanted = None if column is None else (_TYPES[column.dtype], [count, *column.shape])
            if column is None or (entry["dtype"], entry["shape"]) != wanted:
                raise ValueError(f"expected {wanted}, got {entry} for {name}")
            start, stop = entry["data_offsets"]
            if stop - start != count * math.prod(column.shape) * np.dtype(column.dtype).itemsize or start < 0:
                raise ValueError(f"{name} has {stop - start:,} bytes")
            found[name] = file.array(8 + length + start, (count, *column.shape), np.dtype(column.dtype))
        if lacking := [name for name in columns if name.startswith("view.") and name not in found]:
            raise ValueError(f"it has no {', '.join(lacking)}")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise CorruptFileError(f"{path} is no shard of these samples ({error}): restore it, or store the samples anew") from error
    return found
