"""Files and folders on disk: atomic writes, checksums, locks, and folders that are complete or not.

Every file is written to a temporary name, flushed to disk and renamed, so a killed process leaves either the old file or
the new one. A *stage* (samples, model, scores, report) is a sub-folder that is complete once its `stage.json` exists; that
record holds the settings that produced the stage, a checksum of every file in it and a checksum of itself.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from molyneux.core import files
from molyneux.core.errors import ConflictError, CorruptFileError, StoreError
from molyneux.core.tooling.documents import differences

BLOCK = 1 << 22
"""Bytes in one block of a checksum."""

MOST_LINES = 1 << 29
"""Bytes of a file of JSON lines that are read; larger ones are refused."""
_JSON = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False)

_RECORD, _SHOWN = "stage.json", 500
_LONGEST = 100
"""Characters of a name that its file name keeps."""
_RESTORE = "restore it from a copy, or repeat the step that wrote it"
_MAKE_AGAIN = "restore it from a copy, or delete {} to make it again"
_SETTLED = files.SETTLED


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when the block ends without an error. Its permissions are those of new files.

    Raises:
        StoreError: no permission, no space, no such folder, or a device stands there; nothing is left behind.
    """
    temporary = path.with_name(f".{path.name[:_LONGEST]}.{secrets.token_hex(4)}.part")
    files.require_replaceable(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise store_error(error, path) from error
    finally:
        with suppress(OSError):  # it has its name, or the folder is gone
            temporary.unlink(missing_ok=True)


_UNREADABLE = (ValueError, EOFError, OverflowError, MemoryError, SyntaxError, TypeError, tokenize.TokenError)
"""What reading JSON or the head of an array raises where the bytes are others."""
_ELSEWHERE, _AGAIN = "choose another folder with --out", "and run the same command again"
_PERMISSION = f"no permission to write there: {_ELSEWHERE} or change its permissions"
_READ = {
    errno.ENOENT: "it is not there",
    errno.EACCES: "no permission to read it: change its permissions",
    errno.EISDIR: "it is a folder: name a file",
    errno.ENOTDIR: "a file stands where a folder is needed: name another place",
}
_WRITE = {
    errno.ENOSPC: f"the disk is full: free some space {_AGAIN}",
    errno.EDQUOT: f"the disk quota is used up: free some space {_AGAIN}",
    errno.EFBIG: f"the file is larger than the limit on file sizes allows: raise the limit {_AGAIN}",
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.EROFS: f"the file system is read-only: {_ELSEWHERE}",
    errno.ENOTDIR: f"a file stands where a folder is needed: {_ELSEWHERE}",
    errno.EEXIST: f"a file stands where a folder is needed: {_ELSEWHERE}",
    errno.ENOENT: f"no folder can be made there: {_ELSEWHERE}",
}
"""What an error of the operating system means, and what to do."""


def read_error(error: OSError, path: Path) -> StoreError:
    """The error for a file that cannot be read."""
    return StoreError(f"cannot read {path}: {_READ.get(error.errno or 0, str(error))}")


def store_error(error: OSError, path: Path, option: str = "--out") -> StoreError:
    """The error for a file or folder that cannot be written; another one is chosen with `option` of the command line."""
    meaning = _WRITE.get(error.errno or 0, str(error))
    with suppress(OSError):  # what stands there may not be seen
        if path.is_symlink() and not path.exists():
            meaning = f"a link to something that is not there stands there: {_ELSEWHERE} or remove the link"
    return StoreError(f"cannot write {path}: {meaning.replace('--out', option)}")


def file_name(name: str) -> str:
    """A file name for the name of a modality, a factor or a target, which may be any printable text.

    Characters other than letters, digits, `-`, `_` and `.` are percent-encoded; so is a dot at either end. A name with capitals,
    or of more than 100 characters, is followed by `~` and a hash of it, so that different names give file names that differ
    where capitals do not count too. Names are not decoded: `spec.json` has them.

    >>> file_name("left-camera"), file_name("a/../x"), file_name("BRK.B")
    ('left-camera', 'a%2f..%2fx', 'BRK.B~101f1962feea')
    """
    kept = re.sub(r"[^A-Za-z0-9._-]|^\.|\.$", lambda found: "".join(f"%{byte:02x}" for byte in found[0].encode()), name)
    if kept.lower() == kept and len(kept) <= _LONGEST:
        return kept
    return f"{kept[:_LONGEST]}~{hashlib.blake2b(name.encode(), digest_size=6).hexdigest()}"


def require_space(path: Path, needed: int) -> None:
    """Raise StoreError, with both numbers, where fewer bytes are free than `needed` for what is to be written at a path."""
    place = path.absolute()
    free = shutil.disk_usage(next(folder for folder in (place, *place.parents) if folder.exists())).free
    if needed > free:
        advice = "ask for fewer samples, free some space or choose another folder with --out"
        raise StoreError(f"cannot write {path}: it needs {needed:,} bytes and the disk has {free:,} free: {advice}")


def is_file(path: Path) -> bool:
    """Whether a file stands there; StoreError where that cannot be seen, such as in a folder that may not be entered."""
    with _looking(path):
        return path.is_file()


def is_folder(path: Path) -> bool:
    """Whether a folder stands there; errors as `is_file`."""
    with _looking(path):
        return path.is_dir()


@contextmanager
def _looking(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreError(
            f"cannot look at {str(path)[:_SHOWN]}: {reason}: name another place, or change its permissions"
        ) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    with writing(path) as stream:
        stream.write(content)


def write_text(path: Path, content: str) -> None:
    """Write a UTF-8 text file atomically."""
    write_bytes(path, content.encode())


def write_json(path: Path, record: Any) -> None:
    """Write a JSON file atomically, keys sorted."""
    write_text(path, json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file; StoreError if it is not there, CorruptFileError if it is not JSON."""
    with _reading(path):
        return json.loads(files.read_plain(path).decode())


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    """Write JSON lines atomically."""
    write_text(path, "".join(f"{_JSON.encode(record)}\n" for record in records))


def read_text(path: Path, *, most: int = MOST_LINES) -> str:
    """Read a text in UTF-8 from a file of at most so many bytes; errors as `read_json`."""
    with _reading(path):
        return files.read_plain(path, most=most).decode()


def read_lines(path: Path, *, most: int = MOST_LINES) -> list[dict[str, Any]]:
    """Read JSON lines, of one object each, from a file of at most so many bytes; errors as `read_json`."""
    return parse_lines(read_text(path, most=most), path)


def parse_lines(text: str, path: Path) -> list[dict[str, Any]]:
    """The objects in JSON lines, which are those of a file; CorruptFileError as `read_json`."""
    with _reading(path):
        return [_object(line, number) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _object(line: str, number: int) -> dict[str, Any]:
    """The JSON object in a line; ValueError, with its number, where there is none."""
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {number} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"line {number}: expected a JSON object, got {line[:40]}")
    return found


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Errors of a file that is not there, or cannot be read."""
    try:
        yield
    except FileNotFoundError as error:
        raise StoreError(f"expected the file {path}, which is not there") from error
    except RecursionError as error:
        raise CorruptFileError(f"{path} is damaged (brackets in brackets, too many to read): {_RESTORE}") from error
    except (*_UNREADABLE, OSError) as error:
        raise CorruptFileError(f"{path} is damaged ({error}): {_RESTORE}") from error


def write_array(path: Path, array: np.ndarray) -> None:
    """Write an array as .npy atomically. Objects are refused: nothing is pickled."""
    with writing(path) as stream:
        np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)


def read_array(path: Path) -> np.ndarray:
    """Read a .npy file, memory-mapped; errors as `read_json`."""
    with _reading(path):
        return np.lib.format.open_memmap(files.require_plain_file(path), mode="r")


def content_checksum(content: bytes) -> str:
    """What `checksum` gives for a file of this content."""
    blocks = memoryview(content)
    return _checksum(blocks[start : start + BLOCK] for start in range(0, len(content), BLOCK))


def checksum(path: Path) -> str:
    """SHA-256 of the SHA-256 digests of a file's blocks of `BLOCK` bytes, 64 hex digits; CorruptFileError if it is missing."""
    try:
        with files.open_plain(path) as stream:
            return _checksum(iter(lambda: stream.read(BLOCK), b""))
    except FileNotFoundError as error:
        raise CorruptFileError(f"{path} is missing: {_RESTORE}") from error


def _checksum(blocks: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(hashlib.sha256(block).digest())
    return digest.hexdigest()


def _checksum_once(path: Path) -> str:
    """The checksum of a file, computed once per process for every version of the file (by inode, size and time stamps)."""
    version = files.version(path, _SETTLED)
    return checksum(path) if version is None else _checksum_of(path.absolute(), version)


@lru_cache(maxsize=2**16)
def _checksum_of(path: Path, version: tuple[int, ...]) -> str:
    return checksum(path)


def fingerprint(settings: Any) -> str:
    """Hash of plain settings (dictionaries, lists, numbers, strings), independent of key order; 16 hex digits."""
    return hashlib.blake2b(_JSON.encode(settings).encode(), digest_size=8).hexdigest()


class StageFolder:
    """One step's folder in a run: absent, under way, or complete with a record.

    Args:
        folder: of its files.
        settings: everything that its content depends on, as plain data.
        remedy: what errors advise where a file is damaged.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], *, remedy: str = "") -> None:
        self.folder, self.remedy = folder, remedy
        self.settings = dict(settings)
        self.key = fingerprint(self.settings)

    @property
    def complete(self) -> bool:
        """Whether the stage is finished, by these very settings; ConflictError where other settings made it."""
        if is_file(self.folder / _RECORD) and not self.current:
            changed = differences(read_stage(self.folder)["settings"], self.settings)
            raise ConflictError(f"{self.folder} was made by another configuration ({changed}): choose another folder with --out")
        return self.current

    @property
    def current(self) -> bool:
        """Whether the stage is finished, by these very settings; False where other settings made it."""
        return is_file(self.folder / _RECORD) and bool(read_stage(self.folder, remedy=self.remedy)["key"] == self.key)

    def finish(self, details: Mapping[str, Any] | None = None, *, known: Mapping[str, str] | None = None) -> None:
        """Mark the stage complete: checksum every file in it, except those whose checksum is `known`, and write its record."""
        names = {path.relative_to(self.folder).as_posix(): path for path in files.files_below(self.folder)}
        sums = {name: (known or {}).get(name) or checksum(path) for name, path in names.items() if name != _RECORD}
        record = {"key": self.key, "settings": self.settings, "files": sums, "details": dict(details or {})}
        write_json(self.folder / _RECORD, {**record, "checksum": fingerprint(record)})

    def verify(self, names: Collection[str] | None = None) -> Mapping[str, Any]:
        """Check the files against their checksums and return the details given to `finish`; see `verify`."""
        return verify(self.folder, names, remedy=self.remedy)

    def clear(self) -> None:
        """Remove what an unfinished attempt or other settings left behind."""
        if self.folder.exists() and not self.current:
            shutil.rmtree(self.folder)


def verify(folder: Path, names: Collection[str] | None = None, *, remedy: str = "") -> Mapping[str, Any]:
    """Check the files of a finished stage, all or those of `names`, against their checksums; return the details of its record.

    A file is read once per process, and again when its size or time stamps change. Errors advise `remedy`, as in `StageFolder`.

    Raises:
        CorruptFileError: names the first file that was truncated, altered or removed; the record may be it.
        StoreError: the stage is not finished, or a name in its record is no plain file inside of the folder.
    """
    record = read_stage(folder, remedy=remedy)
    for name, expected in record["files"].items():
        if names is not None and name not in names:
            continue
        try:
            fault = (
                "" if _checksum_once(files.inside(folder, name)) == expected else "was truncated or altered since it was written"
            )
        except (FileNotFoundError, NotADirectoryError):
            fault = "is missing"
        except OSError as error:
            raise read_error(error, folder / name) from error
        if fault:
            raise CorruptFileError(f"{folder / name} {fault}: {remedy or _MAKE_AGAIN.format(folder)}")
    return record["details"]  # type: ignore[no-any-return]


def made_by(folder: Path) -> dict[str, Any]:
    """The settings that a stage was made by; none where it is not finished. Errors as `read_stage`."""
    return dict(read_stage(folder)["settings"]) if is_file(folder / _RECORD) else {}


def read_stage(folder: Path, *, remedy: str = "") -> dict[str, Any]:
    """The record of a finished stage: its `key`, `settings`, `files` (checksums by name) and `details`; errors as `verify`."""
    path, remedy = files.inside(folder, _RECORD), remedy or _MAKE_AGAIN.format(folder)
    if not is_file(path):
        raise StoreError(f"{path} is missing: {remedy}")
    try:
        record = read_json(path)
    except CorruptFileError as error:
        raise CorruptFileError(f"{path} is damaged: {remedy}") from error
    parts = {"key": str, "settings": dict, "files": dict, "details": dict, "checksum": str}
    if not isinstance(record, dict) or not all(isinstance(record.get(name), kind) for name, kind in parts.items()):
        raise CorruptFileError(f"{path} is damaged (it does not hold {', '.join(parts)}): {remedy}")
    if record.pop("checksum") != fingerprint(record):
        raise CorruptFileError(f"{path} was altered since it was written: {remedy}")
    return record


@contextmanager
def locked(folder: Path, option: str = "--out") -> Iterator[None]:
    """Hold a folder against other processes; the lock goes with the process, however it ends.

    If the block fails before anything is written, the folder and the lock are removed again where they were not there before.

    Raises:
        ConflictError: another process holds it; another one is chosen with `option` of the command line.
    """
    lock = folder / ".lock"
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    new = not lock.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = lock.open("a")
    except OSError as error:
        raise store_error(error, folder, option) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            advice = f"wait for it, or choose another folder with {option}"
            raise ConflictError(f"another process is working in {folder}: {advice}") from error
        try:
            yield
        except BaseException:
            if new and folder.is_dir() and [path.name for path in folder.iterdir()] == [".lock"]:
                lock.unlink()
                with suppress(OSError):  # something else is in it by now
                    for empty in made:
                        empty.rmdir()
            raise
