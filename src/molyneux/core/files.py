"""Files that somebody else may have written: plain ones alone, inside of their folder, bounded in size.

What opens a file of a stored folder goes through here. A link, a pipe, a device or a socket is refused before anything is read
of it, and so is a name that leads out of the folder; no call waits for another process.
"""

from __future__ import annotations

import errno
import io
import os
import pickle
import stat
import struct
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from molyneux.core.errors import StoreError

DAMAGED = (
    OSError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    pickle.UnpicklingError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What libraries raise for the content of damaged files, beside errors of their own; OSError may also be one of the system."""

SETTLED = 2_000_000_000
"""Nanoseconds after its last change from which the time stamp of a file tells one content from the next on every file system."""
MOST_TEXT = 1 << 26
"""Bytes of a text (JSON, JSON lines, YAML) that are read at once; larger ones are refused, for they take 20 times the memory."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def inside(folder: Path, name: str | os.PathLike[str]) -> Path:
    """The path of a file in a folder. The folder itself may be a link; nothing below it may. It need not be there.

    >>> inside(Path("runs/a"), "model/history.csv").as_posix()
    'runs/a/model/history.csv'

    Args:
        folder: that holds it.
        name: relative to the folder, as a record of the folder has it.

    Raises:
        StoreError: the name leads out of the folder, or it or a folder on the way is a link, a pipe, a socket or a device.
    """
    text = os.fspath(name)
    parts = Path(text).parts
    if not parts or Path(text).is_absolute() or ".." in parts or "\0" in text:
        raise StoreError(f"expected the name of a file inside of {folder}, got {text!r}: get the folder anew from who made it")
    path = folder
    for part in parts:
        path = path / part
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise StoreError(f"cannot look at {path}: {reason}: name another place, or change its permissions") from error
        if stat.S_ISLNK(mode):
            raise StoreError(
                f"expected a plain file or folder at {path}, got a link, which is not followed: put a copy in its place"
            )
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise StoreError(f"expected a plain file or folder at {path}, got {_kind(mode)}: put a copy in its place")
    return path


def open_plain(path: Path, *, most: int | None = None) -> io.BufferedReader:
    """Open a plain file for reading, without ever waiting; a link to a plain file is followed (see `inside`).

    Args:
        path: of the file.
        most: bytes that it may have.

    Raises:
        StoreError: it is a pipe, a device, a socket or a folder, or has more bytes than `most`.
        OSError: it is not there or cannot be read; the caller knows what it was wanted for.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise StoreError(f"expected a plain file at {path}, got a socket: put a file in its place") from error
        raise
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"expected a plain file at {path}, got {_kind(status.st_mode)}: put a file in its place")
        if most is not None and status.st_size > most:
            raise StoreError(f"expected at most {most:,} bytes in {path}, got {status.st_size:,}: name another file")
        os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def version(path: Path, settled: int = SETTLED) -> tuple[int, ...] | None:
    """What tells the versions of a file apart (inode, size and time stamps); None while it is too new for that."""
    status = path.stat()
    found = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return None if time.time_ns() - status.st_ctime_ns < settled else found


def read_plain(path: Path, *, most: int = MOST_TEXT) -> bytes:
    """The content of a plain file of at most so many bytes; errors as `open_plain`."""
    with open_plain(path, most=most) as stream:
        content = stream.read(most + 1)  # of a file in /proc, whose size is told as 0
    if len(content) > most:
        raise StoreError(f"expected at most {most:,} bytes in {path}, got more: name another file")
    return content


def open_text(path: Path, *, newline: str | None = None) -> TextIO:
    """Open a plain file of UTF-8, with its mark or without one, for reading lines; errors as `open_plain`."""
    return io.TextIOWrapper(open_plain(path), encoding="utf-8-sig", newline=newline)


def require_plain_file(path: Path, *, most: int | None = None) -> Path:
    """The path, for libraries that open files themselves; errors as `open_plain`."""
    open_plain(path, most=most).close()
    return path


def require_replaceable(path: Path) -> None:
    """Raise StoreError where something other than a plain file, such as a device or a link to nothing, would be replaced."""
    try:
        mode = path.lstat().st_mode
    except OSError:  # nothing is there, or whoever writes it finds out
        return
    if stat.S_ISLNK(mode) and not path.exists():
        raise StoreError(f"cannot write {path}: a link to something that is not there stands there: name another place")
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        raise StoreError(f"cannot write {path}: expected a place for a file, got {_kind(mode)}: name another place")


def files_below(folder: Path) -> Iterator[Path]:
    """The plain files in a folder and its sub-folders, sorted, hidden ones left out.

    Raises:
        StoreError: a link, a pipe, a device or a socket is among them.
    """
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith("."):
            continue
        mode = inside(folder, path.name).lstat().st_mode
        if stat.S_ISDIR(mode):
            yield from files_below(path)
        elif stat.S_ISREG(mode):
            yield path
        else:
            raise StoreError(f"expected a plain file at {path}, got {_kind(mode)}: remove it")


def _kind(mode: int) -> str:
    return next((words for test, words in _KINDS if test(mode)), "something else")
