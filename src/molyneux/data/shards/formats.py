"""What a format of shards does, and which there are."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from molyneux.core import CorruptFileError, Spec

NATIVE = "native"
FORMATS = {NATIVE: ".safetensors", "parquet": ".parquet", "webdataset": ".tar"}
"""The formats of shards, and the endings of their files."""


@dataclass(frozen=True)
class Contents:
    """What samples consist of.

    Args:
        spec: what a batch looks like.
        arrays: names of the arrays (`data.layout`) of a batch.
    """

    spec: Spec
    arrays: tuple[str, ...]

    @cached_property
    def filled(self) -> Spec:
        """The spec without what batches do not carry."""
        from molyneux.data.encodings.facts import filled_spec  # the native format does without

        return filled_spec(self.spec, self.arrays)


class ShardRows(Protocol):
    """The samples of a shard that is open; any number of threads may take some."""

    names: tuple[str, ...]
    """Of the arrays."""

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Copies of the arrays of samples, by positions (B,) in the shard; CorruptFileError where they are damaged."""
        ...


class ShardFormat(Protocol):
    """How the samples of a shard are written and read. What is read back is equal, wherever it means something.

    Raises:
        SpecError: the format cannot hold such samples.
    """

    open_at_once: int
    """How many shards of this format a source keeps open."""

    def content(self, arrays: Mapping[str, np.ndarray], first: int, pool: Executor) -> bytes:
        """The file of a shard; the same samples give the same bytes.

        Args:
            arrays: of its samples, whole.
            first: number of its first sample.
            pool: threads that help.

        Raises:
            DataError: samples that would not be read back as they are.
        """
        ...

    def open(self, path: Path, first: int, end: int) -> ShardRows:
        """The samples of a file that `content` made, from number `first` on and before `end`; CorruptFileError if it is none."""
        ...


def no_shard(path: Path, problem: object) -> CorruptFileError:
    """The error of a file that is no shard, or none of such samples."""
    return CorruptFileError(f"{path} is no shard of these samples ({problem}): restore it, or store the samples anew")
