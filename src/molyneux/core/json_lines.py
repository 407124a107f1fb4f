"""Files of JSON lines to which a process adds while it works, so that the last line may not have been written to its end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from molyneux.core import store


def finished_lines(path: Path, *, most: int = store.MOST_LINES) -> list[dict[str, Any]]:
    """The objects in the lines of a file, without a last one that was not written to its end; none where there is no file.

    Raises:
        CorruptFileError: another line is no JSON object, or the file has more than `most` bytes.
    """
    if not store.is_file(path):
        return []
    text = store.read_text(path, most=most)
    return store.parse_lines(text[: _finished(text)], path)


def append_lines(path: Path, lines: Iterable[str], *, first: bool = False, sync: bool = True) -> None:
    """Add lines below those of a file, in one write; it is made where it is not there.

    Args:
        path: of the file.
        lines: without line breaks.
        first: whether the file may end with an unfinished line, which is removed.
        sync: whether they are on the disk when this returns, which may take 10 ms; else soon after.

    Raises:
        StoreError: no permission, no space.
    """
    if first and store.is_file(path):
        text = store.read_text(path)
        if (end := _finished(text)) < len(text) or not text.endswith("\n"):
            store.write_text(path, text[:end].removesuffix("\n") + ("\n" if text[:end].strip() else ""))
    content = "".join(f"{line}\n" for line in lines).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as stream:
            stream.write(content)
            if sync:
                os.fsync(stream.fileno())
    except OSError as error:
        raise store.store_error(error, path) from error


def _finished(text: str) -> int:
    """Where the last line of a text ends that was written to its end: JSON, or followed by a line break."""
    end = text.rfind("\n") + 1
    try:
        json.loads(text[end:] or "{}")
    except ValueError:
        return end
    return len(text)
