"""The base class of benchmarks: published data sets that lie in files."""

from __future__ import annotations

import hashlib
import os
from abc import abstractmethod
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from molyneux.core import Batch, ConfigError, JudgeMaterial, StoreError, files, seeds, store
from molyneux.data.dataset import Split, SplitDataset
from molyneux.data.sources import Views

ROOT = "MOLYNEUX_DATA"
"""The environment variable that names the folder in which published data sets lie, each in a folder of its own."""


class Benchmark(SplitDataset):
    """A data set whose samples are read from files. Nothing is downloaded.

    A benchmark can be made, and asked for its name, licence and origin, without its files; they are read when samples, their
    number or their spec are first asked for. The seed of a source is the order in which a split is read.

    Args:
        folder: where the files lie; by default the folder of this data set in the one that `MOLYNEUX_DATA` names.
    """

    folders: ClassVar[tuple[str, ...]]
    """Names that its folder may have."""

    files: ClassVar[tuple[str, ...]]
    """The files that are expected there."""

    optional: ClassVar[tuple[str, ...]] = ()
    """Files that are used where they are there."""

    published_as: ClassVar[str]
    """What the owners publish, and under which name."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        """Where the files are looked for.

        Raises:
            ConfigError: no folder was named, and `MOLYNEUX_DATA` is not set.
        """
        if self._folder is not None:
            return Path(self._folder)
        root, first = os.environ.get(ROOT), self.folders[0]
        if not root:
            raise ConfigError(f"folder: is missing: name the folder of the files, or set {ROOT} to one that holds it as {first}")
        found = (Path(root) / name for name in self.folders)
        return next((path for path in found if path.is_dir()), Path(root) / first)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data, with a hash of each file that is there in place of the folder."""
        return {**self.choices, "files": {name: _digest_of(path) for name, path in self._existing().items()}}

    @property
    @abstractmethod
    def choices(self) -> Mapping[str, Any]:
        """The settings but for the files, as plain data."""

    @abstractmethod
    def rows(self, rows: np.ndarray, split: Split) -> Batch:
        """The samples at these rows (B,) of a split, which lie within it, in the order of the files."""

    @property
    def together(self) -> int:
        """How many samples stay in a row whatever the seed, such as those of a contrast set; they divide every split."""
        return 1

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples at these positions (B,) of a split in the order of a seed; errors as `SplitDataset.batch` and `paths`."""
        place, member = np.divmod(self.numbers(indices, split), self.together)
        order = _order(self.name, split, (self.size(split) or 0) // self.together, seed)
        return self.rows(order[place] * self.together + member, split)

    def judge_material(self, modality: str, split: Split, size: int, *, seed: int) -> JudgeMaterial:
        """What a judge of a modality is trained on: at most `size` views with their factors."""
        available = self.size(split) or size
        return JudgeMaterial(Views(self.source(split, min(size, available), seed=seed), (modality,)))

    def paths(self) -> dict[str, Path]:
        """The files that are there, by name.

        Raises:
            StoreError: an expected file is missing; the message names the folder, the files, and where they are published.
        """
        paths, folder = self._existing(), self.folder
        if missing := [name for name in self.expected if name not in paths]:
            optional = f" (and {', '.join(self.optional)}, which can be left out)" if self.optional else ""
            raise StoreError(
                f"expected {', '.join(self.expected)}{optional} in {folder}, which lacks {', '.join(missing)}: {self.advice}"
            )
        return paths

    @property
    def advice(self) -> str:
        """What to do where a file is missing."""
        return f"put there {self.published_as}; nothing is downloaded"

    @property
    def expected(self) -> tuple[str, ...]:
        """The files that have to be there with these settings; `files` by default."""
        return self.files

    def _existing(self) -> dict[str, Path]:
        folder = self.folder
        return {name: folder / name for name in (*self.optional, *self.expected) if store.is_file(folder / name)}


def _digest_of(path: Path) -> str:
    """The BLAKE2b hash of a file's content, 16 hex digits; read once while size and time of change stay the same."""
    found = path.stat()
    return _digest(path, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=128)
def _digest(path: Path, size: int, changed: int) -> str:
    with files.open_plain(path) as stream:
        return hashlib.file_digest(stream, partial(hashlib.blake2b, digest_size=8)).hexdigest()


@lru_cache(maxsize=8)
def _order(name: str, split: Split, size: int, seed: int) -> np.ndarray:
    """The order in which a source of this seed reads a split: a permutation of its samples, or of rows of them, (size,)."""
    order = seeds.generator(seed, name, split, "order").permutation(size)
    order.setflags(write=False)
    return order
