"""What stands for arrays, types and scalars while a pickle is read, and plain values made of them, within a budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from molyneux.data.formats.limits import MOST_LEVELS, told, unpacked_limit
from molyneux.data.formats.mapped_files import MappedFile, is_shape

_CODE = re.compile(r"[<>|=]?[biufcSUVO?]\d{0,10}")
"""Codes of the types of arrays that are read."""

_FEWEST_VALUES, _VALUES = 1_000_000, 4
"""How many values every file may stand for, and how many for each of its bytes."""

_KEY_PARTS, _INTEGER_BITS, _MOST_FIELDS = 100, 4096, 1000
"""Parts that a key of a dictionary may have, bits of an integer, and fields of a type."""


class Budget:
    """A limit of what is copied while a pickle is read: as many bytes, and as many members, as its file has bytes.

    Args:
        size: bytes of the file.
    """

    def __init__(self, size: int) -> None:
        self.size, self._left = size, size + (1 << 16)
        self.values = max(_FEWEST_VALUES, _VALUES * size)
        """How many values may be made, shared ones counted wherever they stand."""

    def spend(self, count: int) -> None:
        """Raise ValueError where more has been copied than there is in the file."""
        self._left -= count
        if self._left < 0:
            raise ValueError(f"it copies more than the {told(self.size)} that it has")

    def encoded(self, text: Any = "", encoding: str = "latin1") -> bytes:
        """What Python 3 writes bytes as for protocols below 3."""
        if not isinstance(text, str):
            raise ValueError("bytes of what is no text")
        self.spend(len(text))
        return text.encode(encoding if encoding in ("ascii", "utf-8") else "latin1")

    def mapping(self, items: Any = ()) -> dict[Any, Any]:
        """An ordered dictionary as a plain one."""
        pairs = list(items.items()) if isinstance(items, dict) else items
        if not isinstance(pairs, list | tuple) or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError("a dictionary of what is no list of pairs")
        self.spend(len(pairs))
        return dict(zip(self.keys([pair[0] for pair in pairs]), [pair[1] for pair in pairs], strict=True))

    def row(self, items: Any = ()) -> tuple[Any, ...]:
        """A tuple of the members of a list."""
        if not isinstance(items, list | tuple):
            raise ValueError("a tuple of what is no list")
        self.spend(len(items))
        return tuple(items)

    def distinct(self, items: Any = ()) -> set[Any]:
        """A set of the members of a list."""
        if not isinstance(items, list | tuple):
            raise ValueError("a set of what is no list")
        self.spend(len(items))
        return set(self.keys(items))

    def fixed(self, items: Any = ()) -> frozenset[Any]:
        """A set that does not change, of the members of a list."""
        return frozenset(self.distinct(items))

    @staticmethod
    def keys(items: Iterable[Any]) -> list[Any]:
        """The same values; ValueError if one cannot be a key, or if its hash would take long or overflow the stack."""
        found = list(items)
        for key in found:
            left, count = [key], 0
            while left:
                part, count = left.pop(), count + 1
                if isinstance(part, tuple | frozenset) and len(part) <= _KEY_PARTS:
                    left += part
                elif not isinstance(part, str | bytes | int | float | PickledScalar | None) or _is_long(part):
                    raise ValueError(f"a key of type {type(part).__name__}")
                if count > _KEY_PARTS:
                    raise ValueError(f"a key of more than {_KEY_PARTS} parts")
        return found


def _is_long(part: Any) -> bool:
    return isinstance(part, int) and part.bit_length() > 60  # below, different integers have different hashes


class LargeBytes:
    """A run of bytes that stays in the file."""

    def __init__(self, offset: int, length: int) -> None:
        self.offset, self.length = offset, length


class PickledClass:
    """What stands for a class that a pickle names as an argument, such as `numpy.ndarray`."""


class PickledType:
    """What stands for a numpy dtype: its code, and its state once it is there."""

    def __init__(self, code: Any, *_: Any) -> None:
        self.code, self.state = code, None
        self._made: np.dtype | None = None
        self._fields = 1
        """Plain types that it consists of, shared ones counted wherever they stand."""

    def __setstate__(self, state: Any) -> None:
        self.state, self._made = state, None

    def made(self, budget: Budget, level: int = 0) -> np.dtype:
        """The numpy dtype; raises ValueError for one that is not read."""
        if self._made is None:
            self._made = self._make(budget, level)
        return self._made

    def _make(self, budget: Budget, level: int) -> np.dtype:
        order, fields = ("|", None) if self.state is None else (_text(self.state[1]), self.state[4])
        if level > MOST_LEVELS:
            raise ValueError(f"types in each other on more than {MOST_LEVELS} levels")
        if fields:
            names = self.state[3] or fields
            budget.spend(len(names))
            parts = {_text(name): fields[name] for name in names}
            formats = [part[0].made(budget, level + 1) for part in parts.values()]
            self._fields = sum(part[0]._fields for part in parts.values())
            if self._fields > _MOST_FIELDS:
                raise ValueError(f"a type of more than {_MOST_FIELDS} fields")
            offsets, size = [part[1] for part in parts.values()], self.state[5]
            if not all(isinstance(place, int) and place >= 0 for place in (*offsets, size)):
                raise ValueError("a type whose fields have no places")
            return np.dtype({"names": list(parts), "formats": formats, "offsets": offsets, "itemsize": size})
        if not _CODE.fullmatch(code := _text(self.code)):
            raise ValueError(f"values of type {code[:20]}")
        found = np.dtype(code)
        return found.newbyteorder(">" if order == ">" else "<") if order in ("<", ">") else found


class PickledArray:
    """What stands for a numpy array until its state is there."""

    def __init__(self, *_: Any) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class PickledScalar:
    """What stands for a numpy scalar."""

    def __init__(self, kind: Any, content: Any = b"") -> None:
        self.kind, self.content = kind, content


def plain(found: Any, mapped: MappedFile, budget: Budget, other: Callable[[Any], Any] = lambda found: None) -> Any:
    """The values of a pickle, with arrays and scalars in place of their stand-ins.

    Args:
        found: what a pickle made.
        mapped: its file.
        budget: what may be copied.
        other: makes values of what stands for something else; None where it is nothing that is read.

    Raises:
        ValueError, TypeError and others: something in it is none of what is read, or stands for more values than the budget has.
    """
    return _Values(mapped, budget, other).plain(found)


class _Values:
    """Makes plain values; what is shared is made once, and counted wherever it stands."""

    def __init__(self, mapped: MappedFile, budget: Budget, other: Callable[[Any], Any]) -> None:
        self._mapped, self._budget, self._other, self._level = mapped, budget, other, 0
        self._made: dict[int, tuple[Any, int, Any]] = {}
        self._count = 0
        """Values that have been made."""

    def plain(self, found: Any) -> Any:
        if found is None or isinstance(found, bool | float | complex | str | bytes):
            self._add(1)
            return found
        if isinstance(found, int):
            if found.bit_length() > _INTEGER_BITS:
                raise ValueError(f"an integer of {found.bit_length()} bits")
            self._add(1)
            return found
        if (known := self._made.get(id(found))) is None:
            before = self._count
            known = (self._make(found), self._count - before, found)
            self._made[id(found)] = known
        else:
            self._add(known[1])
        return known[0]

    def _add(self, count: int) -> None:
        self._count += count
        if self._count > self._budget.values:
            raise ValueError(f"it stands for more than {self._budget.values:,} values")

    def _make(self, found: Any) -> Any:
        self._add(1)
        self._level += 1
        if self._level > MOST_LEVELS:
            raise ValueError(f"containers in each other on more than {MOST_LEVELS} levels")
        made = self._made_of(found)
        self._level -= 1
        return made

    def _made_of(self, found: Any) -> Any:
        if isinstance(found, dict):
            return {self.plain(key): self.plain(value) for key, value in found.items()}
        if isinstance(found, list | tuple | set | frozenset):
            return type(found)([self.plain(item) for item in found])
        if isinstance(found, PickledArray):
            return self._array(found)
        if isinstance(found, PickledScalar):
            raw = self._bytes(found.content)
            return np.frombuffer(raw, found.kind.made(self._budget))[0].item()
        if isinstance(found, LargeBytes):
            return self._bytes(found)
        if (made := self._other(found)) is not None:
            return made
        raise TypeError("a type in the place of a value")

    def _array(self, found: PickledArray) -> np.ndarray:
        shape, kind, fortran, content = found.state[-4:]
        dtype = kind.made(self._budget)
        if not is_shape(shape):
            raise ValueError("an array without a shape")
        if isinstance(content, LargeBytes):
            return self._mapped.array(content.offset, shape, dtype, fortran=bool(fortran))
        if isinstance(content, list):
            return self._objects(content, shape, dtype)
        flat = np.frombuffer(self._bytes(content), dtype)
        return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)

    def _objects(self, content: list[Any], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        self._budget.spend(len(content))
        if dtype.itemsize * len(content) > unpacked_limit(self._budget.size):
            raise ValueError(f"an array of {told(dtype.itemsize * len(content))}")
        made = np.empty(len(content), dtype)
        for row, item in enumerate(content):
            made[row] = self.plain(item)
        return made.reshape(shape)

    def _bytes(self, content: Any) -> bytes:
        if isinstance(content, LargeBytes):
            self._budget.spend(content.length)
            return self._mapped.array(content.offset, (content.length,), np.dtype("u1")).tobytes()
        return self._budget.encoded(content) if isinstance(content, str) else _checked(content)


def _checked(content: Any) -> bytes:
    if not isinstance(content, bytes):
        raise ValueError(f"an array whose content is of type {type(content).__name__}")
    return content


def _text(value: Any) -> str:
    if not isinstance(value, str | bytes) or len(value) > 1000:
        raise ValueError("a name of a type that is no short text")
    return value.decode("latin-1") if isinstance(value, bytes) else value
