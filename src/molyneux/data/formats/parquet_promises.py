"""What a Parquet file promises, read without the library, which ends the process over some damages of the footer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import IO, Any

from molyneux.core import files

_MAGIC, _TAIL, _LARGEST = b"PAR1", 8, 1 << 24
_MOST_LEVELS = 20

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
"""Types of the compact protocol of Thrift; those from 4 to 6 are integers."""

_ROWS, _GROUPS, _GROUP_COLUMNS, _GROUP_ROWS, _COLUMN = 3, 4, 1, 3, 3
_PATH, _VALUES, _COMPRESSED, _DATA_PLACE, _DICTIONARY_PLACE = 3, 5, 7, 9, 11
_PAGE_SIZE, _PAGE_COMPRESSED, _PAGE, _PAGE_2, _PAGE_VALUES = 2, 3, 5, 8, 1
"""Numbers of fields of the footer, of a column in it, and of what stands before a page (parquet.thrift of the format)."""

_SMALL_HEAD, _LARGEST_HEAD = 1 << 12, 1 << 24
"""Bytes of what stands before a page: as first tried, and at most."""


class Promised:
    """What a Parquet file promises.

    Args:
        path: of the file.

    Raises:
        ValueError: it has no footer, or one that is damaged. OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.rows = 0
        """Of the table."""
        self.values = Counter[str]()
        """Of each column, by its path: more than rows where they are lists."""
        self.pages = 0
        """Bytes to which all pages unpack."""
        self.widest = 1
        """Bytes of a value, as the mean of the page where it is largest."""
        with files.open_plain(path) as stream:
            footer = _footer(stream)
            for group in _structs(footer.get(_GROUPS)):
                self.rows += _whole(group.get(_GROUP_ROWS))
                for column in _structs(group.get(_GROUP_COLUMNS)):
                    self._add(stream, column.get(_COLUMN))
        self.rows = max(self.rows, _whole(footer.get(_ROWS)))

    def _add(self, stream: IO[bytes], about: Any) -> None:
        """Count the values of a part of a column, and look at what stands before each of its pages."""
        if not isinstance(about, dict) or not isinstance(parts := about.get(_PATH), list):
            raise ValueError("its footer has a column without a name")
        name, values = ".".join(part.decode() for part in parts if isinstance(part, bytes)), _whole(about.get(_VALUES))
        self.values[name] += values
        place, dictionary = _whole(about.get(_DATA_PLACE)), about.get(_DICTIONARY_PLACE, 0)
        place = min(place, _whole(dictionary)) if dictionary else place
        end, seen = place + _whole(about.get(_COMPRESSED)), 0
        while place < end and seen < values:
            head, length = _page_head(stream, place)
            size, found = _whole(head.get(_PAGE_SIZE)), head.get(_PAGE) or head.get(_PAGE_2)
            count = _whole(found.get(_PAGE_VALUES)) if isinstance(found, dict) else 0
            self.pages, self.widest = self.pages + size, max(self.widest, size // max(count, 1) if found else 1)
            place, seen = place + length + _whole(head.get(_PAGE_COMPRESSED)), seen + count


def _footer(stream: IO[bytes]) -> dict[int, Any]:
    size = stream.seek(0, 2)
    stream.seek(max(0, size - _TAIL))
    tail = stream.read()
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > min(size - _TAIL, _LARGEST):
        raise ValueError("it has no footer of Parquet")
    stream.seek(size - _TAIL - length)
    return _Compact(stream.read(length)).struct()


def _page_head(stream: IO[bytes], place: int) -> tuple[dict[int, Any], int]:
    """What stands before a page, and how many bytes that takes."""
    window = _SMALL_HEAD
    while True:
        stream.seek(place)
        content = stream.read(window)
        reader = _Compact(content)
        try:
            return reader.struct(), reader.place
        except EOFError as error:
            if len(content) < window or window >= _LARGEST_HEAD:
                raise ValueError("it has a page that ends early") from error
            window *= 16


def _structs(found: Any) -> list[dict[int, Any]]:
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ValueError("its footer lacks a list of row groups or of columns")
    return found


def _whole(found: Any) -> int:
    if not isinstance(found, int) or found < 0:
        raise ValueError("its footer has a number of rows or of values that is none")
    return found


class _Compact:
    """Reads the compact protocol of Thrift: structures as dictionaries by the numbers of fields."""

    def __init__(self, content: bytes) -> None:
        self._content, self._level = content, 0
        self.place = 0
        """How many bytes have been read."""

    def struct(self) -> dict[int, Any]:
        """The structure at this place."""
        self._level += 1
        if self._level > _MOST_LEVELS:
            raise ValueError("its footer has too many levels")
        found, field = dict[int, Any](), 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            found[field] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind)
        self._level -= 1
        return found

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):  # truth values of a list have a byte each
            return self._byte()
        if _BYTE < kind < _DOUBLE:
            return self._integer()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind == _STRUCT:
            return self.struct()
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            return self._list(count, (head & 15,))
        if kind == _MAP:
            count = self._unsigned()
            head = self._byte() if count else 0
            return self._list(count, (head >> 4, head & 15))
        raise ValueError("its footer is damaged")

    def _list(self, count: int, kinds: tuple[int, ...]) -> list[Any]:
        if count > len(self._content) - self.place:
            raise EOFError("its footer ends early")
        self._level += 1
        if self._level > _MOST_LEVELS:
            raise ValueError("its footer has too many levels")
        found = [self._value(kind) for _ in range(count) for kind in kinds]
        self._level -= 1
        return found

    def _integer(self) -> int:
        found = self._unsigned()
        return found >> 1 ^ -(found & 1)

    def _unsigned(self) -> int:
        found = shift = 0
        while shift < 70:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
        raise ValueError("its footer has a number that does not end")

    def _bytes(self, count: int) -> bytes:
        if count > len(self._content) - self.place:
            raise EOFError("its footer ends early")
        self.place += count
        return self._content[self.place - count : self.place]

    def _byte(self) -> int:
        return self._bytes(1)[0]
