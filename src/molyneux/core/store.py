"""The folder of a run: atomic writes, checksums, and "is this already there?".

Every file is written to a temporary name, flushed to disk and renamed, so a killed process leaves either the old file or
the new one. A *stage* (samples, model, scores, report) is a sub-folder that is complete once its `stage.json` exists; that
record holds the hash of the settings that produced the stage and a checksum of every file in it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from molyneux.core.errors import ConflictError, CorruptFileError, StoreError

BLOCK = 1 << 22
"""Bytes in one block of a checksum."""

_RECORD = "stage.json"
_LONGEST = 100
"""Characters of a name that its file name keeps."""


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only when the block ends without an error.

    Raises:
        StoreError: no permission, no space, or no such folder; nothing is left behind.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
        temporary = None
    except OSError as error:
        raise store_error(error, path) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def read_error(error: OSError, path: Path) -> StoreError:
    """The clear sentence for a file that cannot be read."""
    reasons = {
        errno.ENOENT: "it is not there",
        errno.EACCES: "no permission to read it: change its permissions",
        errno.EISDIR: "it is a folder: name a file",
        errno.ENOTDIR: "a file stands where a folder is needed: name another place",
    }
    return StoreError(f"cannot read {path}: {reasons.get(error.errno or 0, str(error))}")


def store_error(error: OSError, path: Path) -> StoreError:
    """The clear sentence for an operating-system error at `path`."""
    reasons = {
        errno.ENOSPC: "the disk is full: free some space and run the same command again",
        errno.EDQUOT: "the disk quota is used up: free some space and run the same command again",
        errno.EFBIG: "the file is larger than the limit on file sizes allows: raise the limit and run the same command again",
        errno.EACCES: "no permission to write there: choose another folder with --out or change its permissions",
        errno.EPERM: "no permission to write there: choose another folder with --out or change its permissions",
        errno.EROFS: "the file system is read-only: choose another folder with --out",
        errno.ENOTDIR: "a file stands where a folder is needed: choose another folder with --out",
        errno.EEXIST: "a file stands where a folder is needed: choose another folder with --out",
    }
    return StoreError(f"cannot write {path}: {reasons.get(error.errno or 0, str(error))}")


def file_name(name: str) -> str:
    """A file name for the name of a modality, a factor or a target, which may be any printable text.

    Characters other than letters, digits, `-`, `_` and `.` are percent-encoded; so is a dot at either end. A name with capitals,
    or of more than 100 characters, is followed by `~` and a hash of it, so that different names give file names that differ
    where capitals do not count too. Names are not decoded: `spec.json` has them.

    >>> file_name("left-camera"), file_name("a/../x"), file_name("BRK.B")
    ('left-camera', 'a%2f..%2fx', 'BRK.B~101f1962feea')
    """
    kept = "".join(symbol if re.fullmatch(r"[A-Za-z0-9._-]", symbol) else _percent(symbol) for symbol in name)
    kept = re.sub(r"^\.|\.$", "%2e", kept)
    if kept.lower() == kept and len(kept) <= _LONGEST:
        return kept
    return f"{kept[:_LONGEST]}~{hashlib.blake2b(name.encode(), digest_size=6).hexdigest()}"


def _percent(symbol: str) -> str:
    return "".join(f"%{byte:02x}" for byte in symbol.encode())


def is_file(path: Path) -> bool:
    """Whether a file stands there.

    Raises:
        StoreError: that cannot be seen, such as in a folder that may not be entered.
    """
    try:
        return path.is_file()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreError(f"cannot look at {path}: {reason}: name another place, or change its permissions") from error


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
    """Read a JSON file.

    Raises:
        StoreError: it is not there. CorruptFileError: it is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"expected the file {path}, which is not there") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CorruptFileError(f"{path} is damaged ({error}): delete it and run the same command again") from error


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    """Write JSON lines atomically."""
    write_text(
        path, "".join(json.dumps(record, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
    )


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines; errors as `read_json`."""
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    except FileNotFoundError as error:
        raise StoreError(f"expected the file {path}, which is not there") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CorruptFileError(f"{path} is damaged ({error}): delete it and run the same command again") from error


def write_array(path: Path, array: np.ndarray) -> None:
    """Write an array as .npy atomically. Objects are refused: nothing is pickled."""
    with writing(path) as stream:
        np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)


def read_array(path: Path, *, mmap: bool = True) -> np.ndarray:
    """Read a .npy file, memory-mapped by default.

    Raises:
        StoreError: it is not there. CorruptFileError: truncated or no array.
    """
    try:
        return np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False)  # type: ignore[no-any-return]
    except FileNotFoundError as error:
        raise StoreError(f"expected the file {path}, which is not there") from error
    except (ValueError, EOFError, OSError) as error:
        raise CorruptFileError(
            f"{path} is truncated or is no array ({error}): delete it and run the same command again"
        ) from error


def checksum(path: Path, known: Mapping[int, bytes] | None = None) -> str:
    """SHA-256 of the SHA-256 digests of a file's blocks of `BLOCK` bytes, 64 hex digits.

    The tree lets several workers hash what they write while it is hot.

    Args:
        path: the file.
        known: digests of whole blocks, by number, that need not be read again.
    """
    known = known or {}
    digest = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as stream:
            for number in range(-(-os.fstat(stream.fileno()).st_size // BLOCK)):
                if number not in known:
                    stream.seek(number * BLOCK)
                    digest.update(hashlib.sha256(stream.read(BLOCK)).digest())
                else:
                    digest.update(known[number])
    except FileNotFoundError as error:
        raise CorruptFileError(f"{path} is missing: delete its folder and run the same command again") from error
    return digest.hexdigest()


def fingerprint(settings: Any) -> str:
    """Hash of plain settings (dictionaries, lists, numbers, strings), independent of key order; 16 hex digits."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class Stage:
    """One step's folder in a run: absent, under way, or complete with a record.

    Args:
        folder: where its files live.
        settings: everything that its content depends on, as plain data.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.settings = dict(settings)
        self.key = fingerprint(self.settings)

    @property
    def complete(self) -> bool:
        """Whether the stage is finished, by these very settings.

        Raises:
            ConflictError: it was made by other settings.
        """
        path = self.folder / _RECORD
        if not is_file(path):
            return False
        record = _read_record(self.folder)
        if record["key"] != self.key:
            changed = differences(record["settings"], self.settings)
            raise ConflictError(
                f"{self.folder} was made by another configuration ({changed}): choose another folder with --out or delete it"
            )
        return True

    @property
    def current(self) -> bool:
        """Whether the stage is finished, by these very settings; False where other settings made it."""
        return is_file(self.folder / _RECORD) and _read_record(self.folder)["key"] == self.key

    def finish(self, details: Mapping[str, Any] | None = None, *, known: Mapping[str, str] | None = None) -> None:
        """Mark the stage complete: checksum every file in it, except those whose checksum is `known`, and write its record."""
        names = {str(path.relative_to(self.folder)): path for path in self._files()}
        files = {name: (known or {}).get(name) or checksum(path) for name, path in names.items()}
        record = {"key": self.key, "settings": self.settings, "files": files, "details": dict(details or {})}
        write_json(self.folder / _RECORD, record)

    def verify(self) -> Mapping[str, Any]:
        """Check every file against its checksum and return the details given to `finish`.

        Raises:
            CorruptFileError: names the first file that was truncated, altered or removed.
        """
        return verify(self.folder)

    def clear(self) -> None:
        """Remove what an unfinished attempt or other settings left behind."""
        if self.folder.exists() and not self.current:
            shutil.rmtree(self.folder)

    def _files(self) -> list[Path]:
        return sorted(
            path for path in self.folder.rglob("*") if path.is_file() and path.name != _RECORD and not path.name.startswith(".")
        )


def verify(folder: Path) -> Mapping[str, Any]:
    """Check every file of a finished stage against its checksum; return the details of its record."""
    record = _read_record(folder)
    for name, expected in record["files"].items():
        if checksum(folder / name) != expected:
            raise CorruptFileError(
                f"{folder / name} was truncated or altered since it was written: delete {folder} and run the same command again"
            )
    return record["details"]  # type: ignore[no-any-return]


def made_by(folder: Path) -> dict[str, Any]:
    """The settings that a stage was made by; none where it is not finished. Errors as `read_json`."""
    return dict(_read_record(folder)["settings"]) if is_file(folder / _RECORD) else {}


def _read_record(folder: Path) -> dict[str, Any]:
    """The record of a finished stage; errors as `read_json`."""
    record = read_json(folder / _RECORD)
    parts = {"key": str, "settings": dict, "files": dict, "details": dict}
    if not isinstance(record, dict) or not all(isinstance(record.get(name), kind) for name, kind in parts.items()):
        expected = "no record of a stage with key, settings, files and details"
        raise CorruptFileError(f"{folder / _RECORD} is damaged ({expected}): delete {folder} and run the same command again")
    return record


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder against other processes; the lock goes with the process, however it ends.

    Raises:
        ConflictError: another process holds it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise store_error(error, folder) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConflictError(
                f"another process is working in {folder}: wait for it, or choose another folder with --out"
            ) from error
        yield
    finally:
        os.close(handle)


class _Absent:
    """Stands for what a record does not have."""

    def __repr__(self) -> str:
        return "not there"


_ABSENT = _Absent()


def differences(old: Any, new: Any, at: str = "") -> str:
    """The first few places where two plain records differ, as `path: old -> new`."""
    found: list[str] = []

    def walk(a: Any, b: Any, path: str) -> None:
        if isinstance(a, dict) and isinstance(b, dict):
            for name in sorted({*a, *b}):
                walk(a.get(name, _ABSENT), b.get(name, _ABSENT), f"{path}.{name}" if path else str(name))
        elif a != b:
            found.append(f"{path}: {a!r} -> {b!r}")

    walk(old, new, at)
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")
