"""Pickles of others, read without running code: arrays and plain containers, and nothing else.

A pickle is a program that names functions of any module to be called. Here only those that make arrays have a meaning, and what
they make is ours; every other name is refused. Nothing of numpy is called by the pickle, so the names that its modules had in
earlier versions (`numpy.core`, and `numpy._core` from 2.0 on) make no difference. Large arrays stay in the file.

What a pickle makes is bounded by its size: a few bytes can say that a list holds itself many times, that a text has 2^62 bytes,
or that a value is copied again and again (`molyneux.data.formats.pickled_values` has the bounds).
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, ClassVar

from molyneux.core import DataError, StoreError, files, store
from molyneux.core.errors import short
from molyneux.data.formats.mapped_files import MappedFile
from molyneux.data.formats.pickled_values import Budget, LargeBytes, PickledArray, PickledClass, PickledScalar, PickledType, plain

_LARGE = 1 << 16
"""Bytes from which the content of an array stays in the file."""


def _from_buffer(content: Any, kind: Any, shape: Any, order: str, *_: Any) -> PickledArray:
    """An array as protocol 5 writes it."""
    if order not in ("C", "F"):
        raise ValueError("an array whose axes are in another order than C or F")
    made = PickledArray()
    made.state = (shape, kind, order == "F", content)
    return made


_ARRAY_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray")
_MADE: dict[tuple[str, str], Callable[..., Any] | type] = {
    **{(module, "_reconstruct"): PickledArray for module in _ARRAY_MODULES},
    **{(module, "scalar"): PickledScalar for module in _ARRAY_MODULES},
    **{(module, "_frombuffer"): _from_buffer for module in ("numpy.core.numeric", "numpy._core.numeric")},
    ("numpy", "dtype"): PickledType,
    ("numpy", "ndarray"): PickledClass,
    **{
        (module, name): PickledClass
        for module in ("numpy", "numpy.rec", "numpy.core.records", "numpy._core.records")
        for name in ("recarray", "record")
    },
}
"""What the names in a pickle stand for."""

_METHODS = {
    ("_codecs", "encode"): "encoded",
    ("collections", "OrderedDict"): "mapping",
    ("torch", "Size"): "row",
    **{
        (module, name): method
        for module in ("builtins", "__builtin__")
        for name, method in (("set", "distinct"), ("frozenset", "fixed"), ("bytes", "encoded"))
    },
}
"""The names that stand for a method of `Budget`, because what they make is a copy."""


class RefusedError(Exception):
    """A pickle names something that is not read."""


class _Part:
    """The bytes of an open file up to a given place. Reading beyond it is an error that is raised before memory is allocated."""

    def __init__(self, stream: IO[bytes], end: int) -> None:
        self._stream, self._end = stream, end
        self.tell = stream.tell

    def read(self, count: int) -> bytes:
        """The next bytes."""
        self._require(count)
        return self._stream.read(count)

    def readline(self) -> bytes:
        """The next line."""
        return self._stream.readline(max(0, self._end - self._stream.tell()))

    def skip(self, count: int) -> None:
        """Go on behind the next bytes."""
        self._require(count)
        self._stream.seek(count, 1)

    def _require(self, count: int) -> None:
        if not 0 <= count <= self._end - self._stream.tell():
            raise EOFError(f"{count} more bytes are promised, which are not there")


class PickleReader(pickle._Unpickler):
    """The standard library's unpickler in Python, with replacements for allowed names and without extension codes.

    Args:
        stream: an open file, where the pickle begins.
        end: the place in the file where it has to end.
        budget: what may be copied.
    """

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = dict(pickle._Unpickler.dispatch)
    names: ClassVar[dict[tuple[str, str], Any]] = _MADE
    """What the names in a pickle stand for."""

    def __init__(self, stream: IO[bytes], end: int, budget: Budget) -> None:
        self._part, self._budget = _Part(stream, end), budget
        super().__init__(self._part, encoding="latin1")

    def find_class(self, module: str, name: str) -> Any:
        """The replacement of a name; RefusedError if the name is not allowed."""
        if (module, name) in _METHODS:
            return getattr(self._budget, _METHODS[module, name])
        if (module, name) not in self.names:
            raise RefusedError(short(f"{module}.{name}"))
        return self.names[module, name]

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to objects outside of the pickle."""
        raise RefusedError(f"the object {short(pid)!r} of another file" if isinstance(pid, str) else "an object of another file")

    def get_extension(self, code: int) -> Any:
        """Refuse names that are registered in the process."""
        raise RefusedError(f"the extension {code}")

    def _frame(self) -> None:
        """Frames only help reading ahead; without them, the place in the file is known."""
        self.read(8)  # type: ignore[attr-defined]

    def _build(self) -> None:
        state = self.stack.pop()  # type: ignore[attr-defined]
        made = self.stack[-1]  # type: ignore[attr-defined]
        if not isinstance(made, PickledArray | PickledType):
            raise RefusedError(f"attributes of {type(made).__name__}")
        made.__setstate__(state)

    def _new(self) -> None:
        raise ValueError("an object that no function makes")

    def _long_bytes(self, size: int) -> None:
        length = int.from_bytes(self.read(size), "little")  # type: ignore[attr-defined]
        if length < _LARGE:
            self.append(self.read(length))  # type: ignore[attr-defined]
            return
        self.append(LargeBytes(self._part.tell(), length))  # type: ignore[attr-defined]
        self._part.skip(length)

    def _old_string(self) -> None:
        """Bytes of Python 2, which are text or the content of an array."""
        self._long_bytes(4)
        if isinstance(found := self.stack[-1], bytes):  # type: ignore[attr-defined]
            self.stack[-1] = found.decode("latin-1")  # type: ignore[attr-defined]

    def _dictionary(self) -> None:
        items = self.pop_mark()  # type: ignore[attr-defined]
        self.append({})  # type: ignore[attr-defined]
        self._entries(items)

    def _set_items(self) -> None:
        self._entries(self.pop_mark())  # type: ignore[attr-defined]

    def _set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()  # type: ignore[attr-defined]
        self._entries([key, value])

    def _entries(self, items: list[Any]) -> None:
        made = self.stack[-1]  # type: ignore[attr-defined]
        if not isinstance(made, dict) or len(items) % 2:
            raise ValueError("entries of what is no dictionary")
        made.update(zip(self._budget.keys(items[::2]), items[1::2], strict=True))

    def _set_of(self, items: Iterable[Any]) -> frozenset[Any]:
        return frozenset(self._budget.keys(items))

    def _add_items(self) -> None:
        items = self.pop_mark()  # type: ignore[attr-defined]
        made = self.stack[-1]  # type: ignore[attr-defined]
        if not isinstance(made, set):
            raise ValueError("members of what is no set")
        made.update(self._set_of(items))

    dispatch[pickle.FRAME[0]] = _frame
    dispatch[pickle.BUILD[0]] = _build
    dispatch[pickle.BINBYTES[0]] = lambda self: self._long_bytes(4)
    dispatch[pickle.BINBYTES8[0]] = lambda self: self._long_bytes(8)
    dispatch[pickle.BYTEARRAY8[0]] = lambda self: self._long_bytes(8)
    dispatch[pickle.BINSTRING[0]] = _old_string
    dispatch[pickle.DICT[0]] = _dictionary
    dispatch[pickle.SETITEM[0]] = _set_item
    dispatch[pickle.SETITEMS[0]] = _set_items
    dispatch[pickle.ADDITEMS[0]] = _add_items
    dispatch[pickle.FROZENSET[0]] = lambda self: self.append(self._set_of(self.pop_mark()))
    dispatch.update(dict.fromkeys((code[0] for code in (pickle.INST, pickle.OBJ, pickle.NEWOBJ, pickle.NEWOBJ_EX)), _new))


def read_pickle(path: Path, *, offset: int = 0) -> tuple[MappedFile, Any]:
    """What a pickle holds, and the file, in which its large arrays stay.

    Args:
        path: the file.
        offset: where in it the pickle begins.

    Raises:
        StoreError: it cannot be read, or it names code; the message has the name. DataError: it is no pickle, was cut, or makes
            more than its size allows.
    """
    mapped = MappedFile(path)
    budget = Budget(mapped.size)
    with damaged_pickle(path, "a pickle of arrays and plain containers"):
        try:
            with files.open_plain(path) as stream:
                stream.seek(offset)
                return mapped, plain(PickleReader(stream, mapped.size, budget).load(), mapped, budget)
        except RefusedError as error:
            raise StoreError(
                f"{path}: expected a pickle of arrays and plain containers, got one that names {error}: it is not read, for a "
                "pickle can run code; take the file from its publishers, or save its arrays with numpy.savez"
            ) from error


@contextmanager
def damaged_pickle(path: Path, expected: str) -> Iterator[None]:
    """What a pickle of a damaged or hostile file raises as one of our errors."""
    try:
        yield
    except OSError as error:
        raise store.read_error(error, path) from error
    except (pickle.UnpicklingError, EOFError, struct.error) as error:
        raise DataError(
            f"{path}: expected {expected}, got one that ends early or is none ({short(error)}): restore the file"
        ) from error
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, MemoryError) as error:
        raise DataError(f"{path}: expected {expected}, got one that is damaged ({short(error)})") from error
