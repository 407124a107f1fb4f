"""Arrays in `.npy` and `.npz` files: what a file promises is compared with what it has before memory is asked for."""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from molyneux.core import DataError, files, store
from molyneux.core.errors import short
from molyneux.data.formats.limits import require_unpacked, told
from molyneux.data.formats.mapped_files import MappedFile, is_shape

_MAGIC = b"\x93NUMPY"
_LENGTHS = {1: "<H", 2: "<I", 3: "<I"}
"""How the length of a header is written, by the version of the format."""

_SAVED = "arrays of numbers or texts as numpy.savez writes them"
_LONGEST_HEADER, _MOST_ARRAYS, _BLOCK = 10_000, 10_000, 1 << 24

UNPACKING = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, NotImplementedError, RuntimeError)
"""What a damaged archive raises."""

_TYPE = re.compile(r"""['"]descr['"]\s*:\s*u?['"]([<>|=]?[a-zA-Z?]\d{0,9}(?:\[\w{1,20}\])?)['"]""")
_FIELDS = re.compile(r"""['"]descr['"]\s*:\s*\[""")
_ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
_SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(((?:\s*\d{1,15}L?\s*,?)*)\s*\)""")


class ArrayHeader(NamedTuple):
    """What the head of a `.npy` file says of its array."""

    shape: tuple[int, ...]
    dtype: np.dtype
    fortran: bool
    start: int
    """Where the values begin."""

    @property
    def bytes(self) -> int:
        """Of the values."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_array_header(stream: IO[bytes]) -> ArrayHeader:
    """The head of a `.npy` file, which is read as the words that it consists of and not evaluated.

    Raises:
        ValueError: it is none, or one of records, of Python objects or of other values than numbers and texts.
    """
    magic = stream.read(len(_MAGIC) + 2)
    if magic[: len(_MAGIC)] != _MAGIC or len(magic) < len(_MAGIC) + 2 or magic[len(_MAGIC)] not in _LENGTHS:
        raise ValueError("it is no .npy file")
    kind = _LENGTHS[magic[len(_MAGIC)]]
    length = stream.read(struct.calcsize(kind))
    count = struct.unpack(kind, length)[0] if len(length) == struct.calcsize(kind) else 0
    text = stream.read(count).decode("latin-1") if count <= _LONGEST_HEADER else ""
    named, order, shape = _TYPE.search(text), _ORDER.search(text), _SHAPE.search(text)
    if named is None and _FIELDS.search(text):
        raise ValueError("its values are records of several fields")
    if named is None or order is None or shape is None or len(text) < count:
        raise ValueError("its head does not say type, order and shape of an array")
    try:
        dtype = np.dtype(named[1])
    except TypeError as error:
        raise ValueError(f"its values are of the unknown type {named[1]}") from error
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read")
    if dtype.kind not in "biufcSU":
        raise ValueError(f"its values are of type {dtype}")
    axes = tuple(int(axis.rstrip("L")) for axis in re.findall(r"\d+L?", shape[1]))
    if not is_shape(axes):
        raise ValueError(f"its shape is {short(axes)}")
    return ArrayHeader(axes, dtype, order[1] == "True", len(magic) + len(length) + count)


def map_array(path: Path) -> tuple[MappedFile, np.ndarray]:
    """The array of a `.npy` file, of which only rows that are asked for are read, and the file.

    Raises:
        StoreError: the file cannot be read. DataError: it is no `.npy` file, holds other values than numbers and texts, or was
            cut.
    """
    with _reading(path, "an array of numbers or texts as numpy.save writes it"), files.open_plain(path) as stream:
        head = read_array_header(stream)
    mapped = MappedFile(path)
    return mapped, mapped.array(head.start, head.shape, head.dtype, fortran=head.fortran)


def array_names(path: Path) -> list[str]:
    """The names of the arrays of a `.npz` file; errors as `read_arrays`."""
    with _reading(path, _SAVED), files.open_plain(path) as stream, zipfile.ZipFile(stream) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]


def read_arrays(path: Path, *, without: Collection[str] = ()) -> dict[str, np.ndarray]:
    """The arrays of a `.npz` file by name, but for some, which are not read.

    Raises:
        StoreError: the file cannot be read. DataError: it is no `.npz` file, holds other values than numbers and texts, is
            damaged, or unpacks to more than its size allows.
    """
    with _reading(path, _SAVED), files.open_plain(path) as stream:
        size = stream.seek(0, 2)
        with zipfile.ZipFile(stream) as archive:
            parts = [file for file in archive.infolist() if file.filename.removesuffix(".npy") not in without]
            if len(parts) > _MOST_ARRAYS:
                raise ValueError(f"it holds {len(parts):,} files, where at most {_MOST_ARRAYS:,} are read")
            if odd := next((file.filename for file in parts if not file.filename.endswith(".npy")), None):
                raise ValueError(f"it holds {short(odd)}, which is no array")
            require_unpacked(path, size, sum(file.file_size for file in parts))
            return {file.filename.removesuffix(".npy"): unpack_array(archive, file) for file in parts}


def is_archive(path: Path) -> bool:
    """Whether a file is an archive in the format zip."""
    try:
        return zipfile.is_zipfile(path)
    except (zipfile.BadZipFile, ValueError, EOFError, struct.error):
        return False


def unpack_array(archive: zipfile.ZipFile, file: zipfile.ZipInfo) -> np.ndarray:
    """An array of an archive; memory is asked for once its head and its entry in the archive agree.

    Raises:
        ValueError and others of `UNPACKING`: it is damaged, or holds other values than numbers and texts.
    """
    if file.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{short(file.filename)} is compressed in another way than numpy does")
    try:
        with archive.open(file) as stream:
            head = read_array_header(stream)
            if head.start + head.bytes != file.file_size:
                raise ValueError(f"it promises {told(head.bytes)} and has {told(max(0, file.file_size - head.start))}")
            content = np.empty(head.bytes, np.uint8)
            for start in range(0, head.bytes, _BLOCK):
                part = content[start : start + _BLOCK]
                if stream.readinto(part.data) != len(part):  # type: ignore[attr-defined]
                    raise ValueError("it ends early")
            stream.read(1)  # the checksum is compared at the end
    except ValueError as error:
        raise ValueError(f"{short(file.filename)}: {error}") from error
    flat = content.view(head.dtype) if head.bytes else np.empty(math.prod(head.shape), head.dtype)
    return flat.reshape(head.shape[::-1]).T if head.fortran else flat.reshape(head.shape)


@contextmanager
def _reading(path: Path, expected: str) -> Iterator[None]:
    try:
        yield
    except UNPACKING as error:
        raise DataError(f"{path}: expected {expected}, got a file that cannot be read ({short(error)})") from error
    except (MemoryError, OverflowError) as error:
        raise DataError(
            f"{path}: expected {expected}, got a file that cannot be read: more than fits into memory ({short(error)})"
        ) from error
    except OSError as error:
        raise store.read_error(error, path) from error
