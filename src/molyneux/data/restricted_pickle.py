"""Pickles of others, read without running code: arrays and plain containers, and nothing else.

A pickle is a program that names functions of any module to be called. Here only those that make arrays have a meaning, and what
they make is ours; every other name is refused. Nothing of numpy is called by the pickle, so the names that its modules had in
earlier versions (`numpy.core`, and `numpy._core` from 2.0 on) make no difference. Large arrays stay in the file.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np

from molyneux.core import DataError, StoreError, store
from molyneux.data.mapped_files import MappedFile

_LARGE = 1 << 16
"""Bytes from which the content of an array stays in the file."""

_KINDS = "biufcSUVO"


class _Bytes:
    """A run of bytes that stays in the file."""

    def __init__(self, offset: int, length: int) -> None:
        self.offset, self.length = offset, length


class _Type:
    """What stands for a numpy dtype: its code, and its state once it is there."""

    def __init__(self, code: Any, *_: Any) -> None:
        self.code, self.state = code, None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    @property
    def dtype(self) -> np.dtype:
        """The numpy dtype; raises ValueError for one that is not read."""
        order, fields = ("|", None) if self.state is None else (_text(self.state[1]), self.state[4])
        if fields:
            names = self.state[3] or fields
            parts = {_text(name): fields[name] for name in names}
            formats = [part[0].dtype for part in parts.values()]
            offsets = [part[1] for part in parts.values()]
            return np.dtype({"names": list(parts), "formats": formats, "offsets": offsets, "itemsize": self.state[5]})
        found = np.dtype(_text(self.code))
        if found.kind not in _KINDS:
            raise ValueError(f"values of type {found}")
        return found.newbyteorder(">" if order == ">" else "<") if order in ("<", ">") else found


class _Array:
    """What stands for a numpy array until its state is there."""

    def __init__(self, *_: Any) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def made(self, mapped: MappedFile) -> np.ndarray:
        """The array; raises ValueError or TypeError if its state is none."""
        shape, kind, fortran, content = self.state[-4:]
        dtype = kind.dtype
        if isinstance(content, _Bytes):
            return mapped.array(content.offset, shape, dtype, fortran=fortran)
        if isinstance(content, list):
            return _objects(content, shape, dtype, mapped)
        raw = content.encode("latin-1") if isinstance(content, str) else bytes(content)
        flat = np.frombuffer(raw, dtype)
        return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _from_buffer(content: Any, kind: _Type, shape: Any, order: str, *_: Any) -> _Array:
    """What protocol 5 writes arrays as."""
    if order not in ("C", "F"):
        raise ValueError(f"an array with its axes in order {order}")
    made = _Array()
    made.state = (shape, kind, order == "F", content)
    return made


class _Scalar:
    """What stands for a numpy scalar."""

    def __init__(self, kind: _Type, content: Any = b"") -> None:
        self.kind, self.content = kind, content

    def made(self) -> Any:
        """A Python number or string."""
        raw = self.content.encode("latin-1") if isinstance(self.content, str) else self.content
        return np.frombuffer(raw, self.kind.dtype)[0].item()


def _encode(text: Any = "", encoding: str = "latin1") -> bytes:
    """What Python 3 writes bytes as for protocols below 3."""
    return str(text).encode(encoding if encoding in ("ascii", "utf-8") else "latin1")


class _Class:
    """What stands for a class that a pickle names as an argument, such as `numpy.ndarray`."""


_ARRAY_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray")
_MADE: dict[tuple[str, str], Callable[..., Any] | type] = {
    **{(module, "_reconstruct"): _Array for module in _ARRAY_MODULES},
    **{(module, "scalar"): _Scalar for module in _ARRAY_MODULES},
    **{(module, "_frombuffer"): _from_buffer for module in ("numpy.core.numeric", "numpy._core.numeric")},
    ("numpy", "dtype"): _Type,
    ("numpy", "ndarray"): _Class,
    ("_codecs", "encode"): _encode,
    ("collections", "OrderedDict"): dict,
    **{
        (module, name): kind
        for module in ("builtins", "__builtin__")
        for name, kind in (("set", set), ("frozenset", frozenset), ("bytes", _encode))
    },
    **{
        (module, name): _Class
        for module in ("numpy", "numpy.rec", "numpy.core.records", "numpy._core.records")
        for name in ("recarray", "record")
    },
}
"""What the names in a pickle stand for."""


class _RefusedError(Exception):
    """A name that is not read."""


class _Reader(pickle._Unpickler):
    """The unpickler of the standard library in Python, with other meanings of names, and without those of extensions."""

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = dict(pickle._Unpickler.dispatch)

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, encoding="latin1")
        self._stream = stream

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _MADE:
            raise _RefusedError(f"{module}.{name}")
        return _MADE[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise _RefusedError(f"the object {pid!r} of another file")

    def get_extension(self, code: int) -> Any:
        raise _RefusedError(f"the extension {code}")

    def _frame(self) -> None:
        """Frames only help reading ahead; without them, the place in the file is known."""
        self.read(8)  # type: ignore[attr-defined]

    def _build(self) -> None:
        state = self.stack.pop()  # type: ignore[attr-defined]
        made = self.stack[-1]  # type: ignore[attr-defined]
        if not isinstance(made, _Array | _Type):
            raise _RefusedError(f"attributes of {type(made).__name__}")
        made.__setstate__(state)

    def _long_bytes(self, size: int) -> None:
        length = int.from_bytes(self.read(size), "little")  # type: ignore[attr-defined]
        if length < _LARGE:
            self.append(self.read(length))  # type: ignore[attr-defined]
            return
        self.append(_Bytes(self._stream.tell(), length))  # type: ignore[attr-defined]
        self._stream.seek(length, 1)

    def _old_string(self) -> None:
        """Bytes of Python 2, which are text or the content of an array."""
        self._long_bytes(4)
        if isinstance(found := self.stack[-1], bytes):  # type: ignore[attr-defined]
            self.stack[-1] = found.decode("latin-1")  # type: ignore[attr-defined]

    dispatch[pickle.FRAME[0]] = _frame
    dispatch[pickle.BUILD[0]] = _build
    dispatch[pickle.BINBYTES[0]] = lambda self: self._long_bytes(4)
    dispatch[pickle.BINBYTES8[0]] = lambda self: self._long_bytes(8)
    dispatch[pickle.BYTEARRAY8[0]] = lambda self: self._long_bytes(8)
    dispatch[pickle.BINSTRING[0]] = _old_string


def read_pickle(path: Path, *, offset: int = 0) -> tuple[MappedFile, Any]:
    """What a pickle holds, and the file, in which its large arrays stay.

    Args:
        path: the file.
        offset: where in it the pickle begins.

    Raises:
        StoreError: it cannot be read, or it names code; the message has the name. DataError: it is no pickle, or was cut.
    """
    mapped = MappedFile(path)
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            return mapped, _plain(_Reader(stream).load(), mapped)
    except _RefusedError as error:
        raise StoreError(
            f"{path}: expected a pickle of arrays and plain containers, got one that names {error}: it is not read, for a pickle "
            "can run code; take the file from its publishers, or save its arrays with numpy.savez"
        ) from error
    except OSError as error:
        raise store.read_error(error, path) from error
    except (pickle.UnpicklingError, EOFError, struct.error) as error:
        raise DataError(
            f"{path}: expected a whole pickle, got one that ends early or is none ({error}): restore the file"
        ) from error
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, UnicodeError) as error:
        raise DataError(f"{path}: expected a pickle of arrays and plain containers, got one that is damaged ({error})") from error


def _plain(found: Any, mapped: MappedFile) -> Any:
    """The same with arrays in the place of what stands for them."""
    if isinstance(found, _Array):
        return found.made(mapped)
    if isinstance(found, _Scalar):
        return found.made()
    if isinstance(found, dict):
        return {_plain(key, mapped): _plain(value, mapped) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return type(found)([_plain(item, mapped) for item in found])
    if isinstance(found, _Bytes):
        return mapped.array(found.offset, (found.length,), np.dtype("u1")).tobytes()
    if isinstance(found, _Type | _Class) or (isinstance(found, type) or callable(found)):
        raise TypeError("a type in the place of a value")
    return found


def _objects(content: list[Any], shape: tuple[int, ...], dtype: np.dtype, mapped: MappedFile) -> np.ndarray:
    made = np.empty(len(content), dtype)
    for row, item in enumerate(content):
        made[row] = _plain(item, mapped)
    return made.reshape(shape)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
