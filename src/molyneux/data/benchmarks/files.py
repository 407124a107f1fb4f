"""Where the files of published data sets lie, and what is said where they do not."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from molyneux.core import ConfigError, StoreError, store

ROOT = "MOLYNEUX_DATA"
"""The environment variable that names the folder in which published data sets lie, each in a folder of its own."""


def dataset_folder(folder: Path | None, names: Sequence[str]) -> Path:
    """The folder of a data set: the one that is given, else the first of these names that is there in the folder of data sets.

    Raises:
        ConfigError: none is given, and `MOLYNEUX_DATA` is not set.
    """
    if folder is not None:
        return Path(folder)
    root = os.environ.get(ROOT)
    if not root:
        raise ConfigError(f"folder: is missing: name the folder of the files, or set {ROOT} to one that holds it as {names[0]}")
    found = (Path(root) / name for name in names)
    return next((path for path in found if path.is_dir()), Path(root) / names[0])


def existing(folder: Path, files: Sequence[str]) -> dict[str, Path]:
    """Those of these files that are in a folder."""
    return {name: folder / name for name in files if store.is_file(folder / name)}


def missing(folder: Path, files: str, owners: str) -> StoreError:
    """The error that says which files are expected where, and what their owners publish."""
    return StoreError(f"expected {files} in {folder}, which does not have them: put there {owners}; nothing is downloaded")


def digests(files: Mapping[str, Path]) -> dict[str, str]:
    """By name, the BLAKE2b hash of a file's content, 16 hex digits; read once while size and time of change stay the same."""
    stamps = {name: path.stat() for name, path in files.items()}
    return {name: _digest(files[name], stamp.st_size, stamp.st_mtime_ns) for name, stamp in stamps.items()}


@lru_cache(maxsize=16)
def _digest(path: Path, size: int, changed: int) -> str:
    digest = hashlib.blake2b(digest_size=8)
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
