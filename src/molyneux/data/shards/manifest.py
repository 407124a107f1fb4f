"""Which samples lie in which shard.

A folder of shards has

<first>-<end>.safetensors   the samples from number `first` on, before number `end`; .parquet or .tar in other formats
manifest.json               the Spec, what made the samples, and a checksum of every shard; written when all shards are there
<first>-<end>.json          while some are missing: the checksum of a shard that is there
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from molyneux.core import ConflictError, CorruptFileError, Spec, SpecError, StoreError, store
from molyneux.core.tooling.documents import differences
from molyneux.data.shards.formats import FORMATS, NATIVE
from molyneux.data.shards.places import Location

MANIFEST = "manifest.json"
_DIGITS = 12
_SHARD = re.compile(rf"\d{{{_DIGITS},}}-\d{{{_DIGITS},}}({'|'.join(re.escape(ending) for ending in FORMATS.values())})")


@dataclass(frozen=True)
class Shard:
    """A shard that is there.

    Args:
        first: number of its first sample.
        end: number after its last one.
        bytes: of the file.
        checksum: of the file, as `store.checksum` gives it.
        format: one of `FORMATS`.
    """

    first: int
    end: int
    bytes: int
    checksum: str
    format: str = NATIVE

    @property
    def file(self) -> str:
        """Name of the file."""
        return f"{span_name(self.first, self.end)}{FORMATS[self.format]}"


def span_name(first: int, end: int) -> str:
    """The name of a shard, without an ending."""
    return f"{first:0{_DIGITS}d}-{end:0{_DIGITS}d}"


def is_shard(name: str) -> bool:
    """Whether a file has the name of a shard in one of the formats."""
    return _SHARD.fullmatch(name) is not None


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
        arrays: names of those that a sample consists of (`data.layout`); in the native format the shards say it.
        format: one of `FORMATS`.
    """

    spec: Spec
    origin: Mapping[str, Any] | None
    shard: int
    shards: tuple[Shard, ...]
    arrays: tuple[str, ...] = ()
    format: str = NATIVE

    @property
    def size(self) -> int:
        """How many samples there are."""
        return self.shards[-1].end if self.shards else 0

    def write(self, place: Location) -> None:
        """Write it; the same content has the same bytes."""
        rows = [[shard.first, shard.end, shard.bytes, shard.checksum] for shard in self.shards]
        record: dict[str, Any] = {"origin": self.origin, "shard": self.shard, "shards": rows, "spec": self.spec.to_json()}
        if self.format != NATIVE:
            record |= {"arrays": list(self.arrays), "format": self.format}
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
            waiting = sum(map(is_shard, place.names()))
            some = f"{waiting} shards, but not all of them: run the same command again" if waiting else "no samples in shards"
            raise StoreError(f"expected samples in shards in {place.name}, found {some}")
        advice = "restore it from a copy, or store the samples anew"
        try:
            record = json.loads(place.read(MANIFEST).decode())
            if record.pop("checksum") != store.fingerprint(record):
                raise ValueError("it was altered since it was written")
            kind, arrays = record.get("format", NATIVE), tuple(map(str, record.get("arrays", ())))
            if kind not in FORMATS:
                raise ValueError(f"expected one of the formats {', '.join(FORMATS)}, got {kind!r}")
            shards = tuple(Shard(int(a), int(b), int(c), str(d), kind) for a, b, c, d in record["shards"])
            found = cls(Spec.from_json(record["spec"]), record["origin"], int(record["shard"]), shards, arrays, kind)
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
