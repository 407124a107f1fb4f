"""JSON in files: whole documents, an object on each line, and a list of objects that is too large to be read whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from molyneux.core import DataError, files, store
from molyneux.core.characters import whole_characters
from molyneux.core.errors import short

_BLOCK = 8 << 20
"""Characters that are read at once."""

_LONGEST_HEAD, _LARGEST_ITEM = 1 << 12, 32 << 20
"""Characters of the name of a list with what stands around it, and of an object in it, at most."""

_BROKEN = (ValueError, RecursionError)
"""What the parser raises: also for integers of thousands of digits, and for lists in lists."""

_BETWEEN = re.compile(r"[\s,]*")

Record = Mapping[str, Any]
T = TypeVar("T")


def read_document(path: Path) -> Any:
    """What a file of JSON holds.

    Raises:
        StoreError: it cannot be read. DataError: it is no JSON.
    """
    with _reading(path):
        return json.loads(files.read_plain(path, most=store.MOST_LINES).decode("utf-8-sig"))


def read_lines(path: Path) -> Iterator[tuple[str, Record]]:
    """The objects of a file with one on each line, with what an error calls them; blank lines are left out.

    Raises:
        StoreError: it cannot be read. DataError: a line is no object in JSON.
    """
    with _reading(path), files.open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                where = f"{path}, line {number}"
                try:
                    yield where, _object(json.loads(line), where)
                except _BROKEN as error:
                    raise DataError(f"{where}: expected an object in JSON: {_told(error)}: restore the file") from error


def read_items(path: Path, key: str) -> Iterator[tuple[str, Record]]:
    """The objects of the list under `key` of a document, with what an error calls them; one at a time is in memory.

    Raises:
        StoreError: it cannot be read. DataError: there is no such list, it holds something else, or the file was cut.
    """
    decoder, head = json.JSONDecoder(), re.compile(rf'"{re.escape(key)}"\s*:\s*\[')
    with _reading(path), files.open_text(path) as stream:
        text = stream.read(_BLOCK)
        while (found := head.search(text)) is None:
            if not (block := stream.read(_BLOCK)):
                raise DataError(f"{path}: expected a list {key!r}, got none: restore the file")
            text = text[-_LONGEST_HEAD:] + block
        place, number = found.end(), 0
        while True:
            place = _end_of(_BETWEEN.match(text, place))
            if text[place : place + 1] == "]":
                return
            where = f"{path}, {key} {number}"
            try:
                item, end = decoder.raw_decode(text, place)
            except json.JSONDecodeError as error:
                block = "" if len(text) - place > _LARGEST_ITEM else stream.read(_BLOCK)
                if not block:
                    raise DataError(f"{where}: expected an object in JSON: {_told(error)}: restore the file") from error
                text, place = text[place:] + block, 0
                continue
            except (ValueError, RecursionError) as error:
                raise DataError(f"{where}: expected an object in JSON: {_told(error)}: restore the file") from error
            yield where, _object(item, where)
            place, number = end, number + 1


def value(record: Record, key: str, kind: type[T], where: str) -> T:
    """The value of a key; half a character in a text, which nothing stores, is U+FFFD.

    Raises:
        DataError: there is none, or it is of another kind.
    """
    found = record.get(key)
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        got = "none" if found is None else f"{type(found).__name__} {str(found)[:50]!r}"
        raise DataError(f"{where}: expected {key!r} as {kind.__name__}, got {got}: restore the file")
    if isinstance(found, str):
        whole: Any = whole_characters(found)
        return cast(T, whole)
    return found


def said(record: Record, key: str, where: str) -> str:
    """The text of a key, which is not blank; errors as `value`."""
    found = value(record, key, str, where)
    if not found.strip():
        raise DataError(f"{where}: expected {key!r} as a text, got an empty one: restore the file")
    return found


def _object(item: Any, where: str) -> Record:
    if not isinstance(item, dict):
        raise DataError(f"{where}: expected an object, got {type(item).__name__} {str(item)[:50]!r}: restore the file")
    return item


def _end_of(found: re.Match[str] | None) -> int:
    return 0 if found is None else found.end()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise store.read_error(error, path) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected text in UTF-8: {error}") from error
    except _BROKEN as error:
        raise DataError(f"{path}: expected JSON: {_told(error)}: restore the file") from error


def _told(error: Exception) -> str:
    """What is wrong, in words."""
    if isinstance(error, RecursionError):
        return "lists in lists too deep to read"
    return error.msg if isinstance(error, json.JSONDecodeError) else short(error)
