"""HDF5 files: what they hold is checked, and rows of large data sets are read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from molyneux.core import ConfigError, DataError, StoreError, nearest
from molyneux.data.mapped_files import MappedFile


def require_h5py() -> ModuleType:
    """The module h5py.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import h5py
    except ImportError as error:
        raise ConfigError("HDF5 files need h5py, which is not installed: pip install 'h5py>=3.11,<4'") from error
    return h5py  # type: ignore[no-any-return]


def open_hdf5(path: Path) -> Any:
    """An HDF5 file, open for reading.

    Raises:
        ConfigError: h5py is not installed. StoreError: the file is not there. DataError: it is no HDF5 file, or was cut.
    """
    h5py = require_h5py()
    try:
        return h5py.File(path, "r")
    except FileNotFoundError as error:
        raise StoreError(f"expected the file {path}, which is not there") from error
    except OSError as error:
        raise DataError(f"{path}: expected a whole HDF5 file, got one that is cut or of another kind ({error})") from error


def find_dataset(group: Any, name: str, shape: Sequence[int | None], where: str) -> Any:
    """A data set of numbers in an HDF5 file or group.

    Args:
        group: where it is looked for.
        name: of the data set.
        shape: what it must have; None stands for any length of at least 1.
        where: what an error calls the group.

    Raises:
        DataError: there is none, or it has another shape or holds no numbers; names both.
    """
    h5py = require_h5py()
    found = group.get(name)
    if not isinstance(found, h5py.Dataset):
        raise DataError(f"{where}: expected a data set {name!r}, got none; {nearest(name, group)}")
    wanted = ", ".join("any" if axis is None else str(axis) for axis in shape)
    fits = found.ndim == len(shape) and all(axis in (None, have) and have for axis, have in zip(shape, found.shape, strict=True))
    if not fits or found.dtype.kind not in "biuf":
        raise DataError(f"{where}: expected {name!r} as numbers of shape ({wanted}), got {found.dtype} {found.shape}")
    return found


class Hdf5Rows:
    """Rows of a data set of an HDF5 file; those of one that lies in one piece are read past the library, and let go again.

    Args:
        path: the file.
        name: the data set.
        shape: as in `find_dataset`.

    Raises:
        StoreError or DataError: as `open_hdf5` and `find_dataset`.
    """

    def __init__(self, path: Path, name: str, shape: Sequence[int | None]) -> None:
        self.path, self._name = path, name
        with open_hdf5(path) as file:
            found = find_dataset(file, name, shape, str(path))
            self.shape, self.dtype, place = tuple(found.shape), found.dtype, found.id.get_offset()
        self._mapped = None if place is None else MappedFile(path)
        self._array = None if self._mapped is None else self._mapped.array(place, self.shape, self.dtype)

    def __len__(self) -> int:
        return int(self.shape[0])

    def take(self, rows: np.ndarray) -> np.ndarray:
        """These rows (B, ...), in any order, repeats allowed."""
        if self._array is not None and self._mapped is not None:
            copied = self._mapped.take(self._array, rows)
            self._mapped.release()
            return copied
        distinct, inverse = np.unique(rows, return_inverse=True)
        with open_hdf5(self.path) as file:
            read = file[self._name][distinct] if len(distinct) else np.empty((0, *self.shape[1:]), self.dtype)
        found: np.ndarray = read[inverse.reshape(-1)]
        return found
