"""Files that `torch.save` wrote, read without running code: tensors, arrays, numbers and plain containers, and nothing else.

The pickle in such a file names how tensors are made of runs of bytes that stand elsewhere in the file. It is read as those of
`formats.restricted_pickle`, and tensors are views of the mapped file: nothing is copied, and no library is asked to trust the
numbers in it.
"""

from __future__ import annotations

import math
import mmap
import pickle
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

import torch

from molyneux.core import StoreError, files
from molyneux.core.errors import short
from molyneux.data.formats.array_files import is_archive
from molyneux.data.formats.limits import told, unpacked_limit
from molyneux.data.formats.mapped_files import MappedFile, is_shape
from molyneux.data.formats.pickled_values import Budget, plain
from molyneux.data.formats.restricted_pickle import PickleReader, RefusedError, damaged_pickle

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_LITTLE = b"little"
_LOCAL_HEADER, _NAME_LENGTHS = 30, 26
"""Bytes of the fixed part of what stands before a file in an archive, and where in it the lengths of its names are."""

_TYPES = {
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
    "Float": torch.float32,
    "Double": torch.float64,
    "Bool": torch.bool,
    "Byte": torch.uint8,
    "Char": torch.int8,
    "Short": torch.int16,
    "Int": torch.int32,
    "Long": torch.int64,
    "ComplexFloat": torch.complex64,
    "ComplexDouble": torch.complex128,
}


class _Kind(NamedTuple):
    """What stands for a class of storages: the type of their numbers."""

    dtype: torch.dtype


class _Stored:
    """What stands for a run of numbers elsewhere in the file.

    Args:
        key: its name there.
        dtype: of the numbers.
        count: of the numbers.
    """

    def __init__(self, key: str, dtype: torch.dtype, count: int) -> None:
        self.key, self.dtype, self.count = key, dtype, count

    @property
    def bytes(self) -> int:
        """Its size."""
        return self.count * self.dtype.itemsize


class _Tensor:
    """What stands for a tensor: how its numbers lie in a storage."""

    def __init__(self, stored: Any, offset: Any, shape: Any, stride: Any, *_: Any) -> None:
        if not isinstance(stored, _Stored):
            raise ValueError("a tensor without numbers")
        if not is_shape(shape) or not is_shape(stride) or not is_shape((offset,)) or len(shape) != len(stride):
            raise ValueError("a tensor without a shape")
        last = offset + sum((axis - 1) * step for axis, step in zip(shape, stride, strict=True)) if math.prod(shape) else -1
        if last >= stored.count:
            raise ValueError(f"a tensor of shape {shape} in {stored.count} numbers")
        self.stored, self.offset, self.shape, self.stride = stored, offset, shape, stride


def _parameter(data: Any, *_: Any) -> _Tensor:
    if not isinstance(data, _Tensor):
        raise ValueError("a parameter that is no tensor")
    return data


class _Reader(PickleReader):
    """Reads the pickle of a file of tensors."""

    names: ClassVar[dict[tuple[str, str], Any]] = {
        **PickleReader.names,
        **{("torch", f"{name}Storage"): _Kind(dtype) for name, dtype in _TYPES.items()},
        **{(module, "UntypedStorage"): _Kind(torch.uint8) for module in ("torch", "torch.storage")},
        ("torch._utils", "_rebuild_tensor_v2"): _Tensor,
        ("torch._utils", "_rebuild_tensor"): _Tensor,
        ("torch._utils", "_rebuild_parameter"): _parameter,
    }

    def __init__(self, stream: IO[bytes], end: int, budget: Budget) -> None:
        super().__init__(stream, end, budget)
        self.stored: dict[str, _Stored] = {}

    def persistent_load(self, pid: Any) -> _Stored:
        whole = isinstance(pid, tuple) and len(pid) in (5, 6) and pid[0] == "storage"
        if not whole or not isinstance(pid[1], _Kind) or not is_shape((pid[4],)) or not isinstance(pid[2], str):
            raise ValueError("numbers without a type, a name or a size")
        if pid[5:] not in ((), (None,)):
            raise ValueError("numbers that are part of others")
        return self.stored.setdefault(pid[2], _Stored(pid[2], pid[1].dtype, pid[4]))


def read_tensors(path: Path, expected: str, *, mapped_only: bool = False) -> Any:
    """What a file of tensors, arrays, numbers and plain containers holds; tensors stay in it.

    Args:
        path: the file.
        expected: what it should hold, for the message, such as `a list of samples`.
        mapped_only: whether the format before version 1.6 of PyTorch is refused, which has to be read from its begin.

    Raises:
        StoreError: it cannot be read, or names code. DataError: it is no such file, or was cut or damaged.
    """
    mapped, since = MappedFile(path), " since version 1.6" if mapped_only else ""
    budget = Budget(mapped.size)
    with damaged_pickle(path, f"{expected} that torch.save wrote{since}"), files.open_plain(path) as stream:
        try:
            zipped = is_archive(path)
            if not zipped and mapped_only:
                raise ValueError("something else")
            found, places = (_zipped if zipped else _in_a_row)(stream, mapped.size, budget)
        except RefusedError as error:
            raise StoreError(
                f"{path}: expected tensors and plain containers, got a file that names {error}: it is "
                f"not read, for it could run code; save it anew as {expected}"
            ) from error
        return plain(found, mapped, budget, other=_Tensors(stream, mapped.size, places))


class _Tensors:
    """Makes tensors of what stands for them, in a file that is mapped once."""

    def __init__(self, stream: IO[bytes], size: int, places: Mapping[str, int]) -> None:
        self._map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)  # torch warns of memory that cannot be written
        self._limit, self._places = unpacked_limit(size), places

    def __call__(self, found: Any) -> torch.Tensor | None:
        """The tensor; None for what stands for something else."""
        if not isinstance(found, _Tensor):
            return None
        stored, count = found.stored, math.prod(found.shape)
        if count * stored.dtype.itemsize > self._limit:
            raise ValueError(f"a tensor of {told(count * stored.dtype.itemsize)}")
        if not count:
            return torch.empty(found.shape, dtype=stored.dtype)
        flat = torch.frombuffer(self._map, dtype=stored.dtype, count=stored.count, offset=self._places[stored.key])
        return flat.as_strided(found.shape, found.stride, found.offset)


def _zipped(stream: IO[bytes], size: int, budget: Budget) -> tuple[Any, dict[str, int]]:
    """What stands for the content of a file since version 1.6, and where the numbers of each name begin."""
    with _archive(stream) as archive:
        files = {name.partition("/")[2]: info for name, info in archive.NameToInfo.items()}
        if (order := files.get("byteorder")) and (order.file_size > len(_LITTLE) or archive.read(order) != _LITTLE):
            raise ValueError("numbers whose highest bytes come first")
        if "data.pkl" not in files:
            raise ValueError("an archive without data.pkl")
        begin, length = _place(stream, size, files["data.pkl"])
        stream.seek(begin)
        reader = _Reader(stream, begin + length, budget)
        found, places = reader.load(), {}
        for key, stored in reader.stored.items():
            place, length = _place(stream, size, files[f"data/{key}"])
            places[key] = _fitting(stored, place, length)
    return found, places


@contextmanager
def _archive(stream: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(stream) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"an archive that is damaged: {short(error)}") from error


def _place(stream: IO[bytes], size: int, info: zipfile.ZipInfo) -> tuple[int, int]:
    """Where a file in an archive begins, and its length; it has to stand there as it is."""
    stream.seek(info.header_offset)
    head = stream.read(_LOCAL_HEADER)
    if head[:4] != b"PK\3\4" or len(head) < _LOCAL_HEADER or info.compress_type != zipfile.ZIP_STORED:
        raise ValueError("an archive whose files are compressed or damaged")
    lengths = sum(int.from_bytes(head[_NAME_LENGTHS + part : _NAME_LENGTHS + part + 2], "little") for part in (0, 2))
    begin = info.header_offset + _LOCAL_HEADER + lengths
    if begin + info.file_size > size:
        raise EOFError("a file in its archive goes on behind its end")
    return begin, info.file_size


def _in_a_row(stream: IO[bytes], size: int, budget: Budget) -> tuple[Any, dict[str, int]]:
    """The same for a file before version 1.6: pickles, one after the other, and then the numbers."""
    read: Callable[[], Any] = lambda: _Reader(stream, size, budget).load()  # noqa: E731
    if read() != _MAGIC or read() != _PROTOCOL or not isinstance(machine := read(), dict):
        raise pickle.UnpicklingError("something else")
    if not machine.get("little_endian", True):
        raise ValueError("numbers whose highest bytes come first")
    reader = _Reader(stream, size, budget)
    found, keys, places = reader.load(), read(), {}
    if not isinstance(keys, list):
        raise ValueError("numbers without names")
    for key in keys:
        count, stored = int.from_bytes(stream.read(8), "little"), reader.stored.get(key) if isinstance(key, str) else None
        if stored is None or count != stored.count:
            raise ValueError("numbers of another size or name than those of its tensors")
        places[key] = _fitting(stored, stream.tell(), size - stream.tell())
        stream.seek(stored.bytes, 1)
    return found, places


def _fitting(stored: _Stored, place: int, length: int) -> int:
    if stored.bytes > length:
        raise EOFError(f"{told(stored.bytes)} are promised where {told(length)} are")
    return place
