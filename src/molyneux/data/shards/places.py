"""Folders on a disk of this machine, and folders at an address of `fsspec` such as `s3://bucket/name`, by the same methods."""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from molyneux.core import ConfigError, CorruptFileError, StoreError, files, store

_SEEN = 300
"""Characters of an error of a store elsewhere that a message keeps."""

_EXTRAS = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "az": "adlfs", "hdfs": "pyarrow"}
"""The packages that some addresses need."""

_OBJECTS = ("s3", "s3a", "gs", "gcs", "abfs", "az")
"""Stores without folders, where making one would make a bucket."""


class Location(Protocol):
    """A folder of files by their names, without folders in it."""

    @property
    def name(self) -> str:
        """Its path or address, for messages and to open it again."""
        ...

    def names(self) -> list[str]:
        """Names of its files, sorted; none where the folder is not there."""
        ...

    def size(self, name: str) -> int | None:
        """Bytes of a file; None where it is not there."""
        ...

    def read(self, name: str) -> bytes:
        """The content of a small file; StoreError where it is not there or too large."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all; StoreError where that is not possible."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        ...

    def remove_unfinished(self) -> None:
        """Remove what processes left behind that were killed while they wrote."""
        ...

    def require_space(self, needed: int) -> None:
        """StoreError where it is known that so many bytes do not fit."""
        ...

    def local(self, name: str, check: Callable[[Path], None]) -> AbstractContextManager[Path]:
        """The path of a file on this machine, which stays there for the context; checked the first time, errors as `check`."""
        ...


def location_of(address: Path | str, *, cache: Path | None = None, cached: int = 32) -> Location:
    """The folder at a path, or at an address with `://` of a file system that `fsspec` knows.

    Args:
        address: of the folder.
        cache: where files of an address are kept while they are used; a temporary folder by default.
        cached: how many of them at most.

    Raises:
        ConfigError: `fsspec` does not know the address, or a package for it is not installed.
    """
    if isinstance(address, Path) or "://" not in address:
        return NearFolder(Path(address))
    return FarFolder(address, cache=cache, cached=cached)


class NearFolder:
    """A folder on a disk of this machine; see `Location`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._checked = set[str]()

    @property
    def name(self) -> str:
        """See `Location`."""
        return str(self.folder)

    def names(self) -> list[str]:
        """See `Location`."""
        if not store.is_folder(self.folder):
            return []
        return sorted(path.name for path in self.folder.iterdir() if path.is_file() and not path.name.startswith("."))

    def size(self, name: str) -> int | None:
        """See `Location`."""
        path = files.inside(self.folder, name)
        return path.stat().st_size if store.is_file(path) else None

    def read(self, name: str) -> bytes:
        """See `Location`."""
        path = files.inside(self.folder, name)
        try:
            return files.read_plain(path)
        except OSError as error:
            raise store.read_error(error, path) from error

    def write(self, name: str, content: bytes) -> None:
        """See `Location`."""
        store.write_bytes(files.inside(self.folder, name), content)

    def remove(self, name: str) -> None:
        """See `Location`."""
        with suppress(FileNotFoundError):
            files.inside(self.folder, name).unlink()

    def remove_unfinished(self) -> None:
        """See `Location`."""
        for path in self.folder.glob(".*.part"):
            path.unlink(missing_ok=True)

    def require_space(self, needed: int) -> None:
        """See `Location`."""
        store.require_space(self.folder, needed)

    @contextmanager
    def local(self, name: str, check: Callable[[Path], None]) -> Iterator[Path]:
        """See `Location`."""
        path = files.inside(self.folder, name)
        if name not in self._checked:
            check(path)
            self._checked.add(name)
        yield path


class FarFolder:
    """A folder at an address of `fsspec`; what is read from it lies in a cache of a bounded number of files. See `Location`.

    Args:
        address: such as `s3://bucket/name`.
        cache: the folder of the cache; a temporary one, removed in the end, by default.
        cached: files that are kept in it.
    """

    def __init__(self, address: str, *, cache: Path | None = None, cached: int = 32) -> None:
        import fsspec

        self.name = address.rstrip("/")
        protocol = address.partition("://")[0]
        try:
            found = fsspec.core.url_to_fs(self.name)
        except ImportError as error:
            package = _EXTRAS.get(protocol)
            advice = f": pip install {package}" if package else ""
            raise ConfigError(f"{address}: addresses of {protocol} need a package that is not installed{advice}") from error
        except ValueError as error:
            raise ConfigError(f"{address}: expected a path, or an address such as s3://bucket/name: {error}") from error
        self._system: Any = found[0]
        self._objects = protocol in _OBJECTS
        self._folder = str(found[1]).rstrip("/")
        self._cached, self._kept = cached, OrderedDict[str, Path]()
        self._lock, self._fetching = threading.Lock(), defaultdict[str, threading.Lock](threading.Lock)
        self._used = Counter[str]()
        self._cache = cache
        self._own: Path | None = None

    def names(self) -> list[str]:
        """See `Location`."""
        with _telling(self.name, "read"):
            if not self._system.exists(self._folder):
                return []
            self._system.invalidate_cache(self._folder)
            return sorted(str(found).rsplit("/", 1)[-1] for found in self._system.ls(self._folder, detail=False))

    def size(self, name: str) -> int | None:
        """See `Location`."""
        with _telling(f"{self.name}/{name}", "read"):
            self._system.invalidate_cache(self._folder)  # others may have written it meanwhile
            try:
                return int(self._system.info(self._at(name))["size"])
            except FileNotFoundError:
                return None

    def read(self, name: str) -> bytes:
        """See `Location`."""
        with _telling(f"{self.name}/{name}", "read"):
            return bytes(self._system.cat_file(self._at(name)))

    def write(self, name: str, content: bytes) -> None:
        """See `Location`; an object store shows a file only when all of it has arrived."""
        with _telling(f"{self.name}/{name}", "write"):
            if not self._objects:
                self._system.makedirs(self._folder, exist_ok=True)
            self._system.pipe_file(self._at(name), content)

    def remove(self, name: str) -> None:
        """See `Location`."""
        with _telling(f"{self.name}/{name}", "write"), suppress(FileNotFoundError):
            self._system.rm_file(self._at(name))

    def remove_unfinished(self) -> None:
        """See `Location`; files that are not whole are not seen there."""

    def require_space(self, needed: int) -> None:
        """See `Location`; what is free elsewhere is not known."""

    @contextmanager
    def local(self, name: str, check: Callable[[Path], None]) -> Iterator[Path]:
        """See `Location`: fetched into the cache, of which the file that was used longest ago leaves.

        Several threads fetch several files at the same time, and none twice.
        """
        with self._lock:
            fetching = self._fetching[name]
            self._used[name] += 1
        try:
            with fetching:
                if name not in self._kept:
                    self._fetch(name, check)
            yield self._kept[name]
        finally:
            with self._lock:
                self._used[name] -= 1
                self._kept.move_to_end(name) if name in self._kept else None
                unused = [other for other in self._kept if not self._used[other]]
                for other in unused[: max(0, len(self._kept) - self._cached)]:
                    self._kept.pop(other).unlink(missing_ok=True)

    def _fetch(self, name: str, check: Callable[[Path], None]) -> None:
        with self._lock:
            path = self._folder_of_cache() / store.file_name(name)
        part = path.with_name(f".{path.name}.part")
        with _telling(f"{self.name}/{name}", "read"):
            self._system.get_file(self._at(name), str(part))
        try:
            check(part)
        except CorruptFileError:
            part.unlink(missing_ok=True)
            raise
        with self._lock:
            self._kept[name] = part.replace(path)

    def _at(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def _folder_of_cache(self) -> Path:
        if self._own is None:
            if self._cache is not None:
                self._cache.mkdir(parents=True, exist_ok=True)
            self._own = Path(tempfile.mkdtemp(prefix="shards-", dir=self._cache))
            weakref.finalize(self, shutil.rmtree, self._own, ignore_errors=True)
        return self._own


@contextmanager
def _telling(address: str, what: str) -> Iterator[None]:
    """StoreError, with the address, for what a file system elsewhere raises."""
    try:
        yield
    except (StoreError, ConfigError):
        raise
    except FileNotFoundError as error:
        raise StoreError(f"cannot {what} {address}: it is not there") from error
    except Exception as error:
        # File systems raise errors of their own libraries, which share no base class.
        reason = " ".join(str(error).split())[:_SEEN] or type(error).__name__
        raise StoreError(f"cannot {what} {address}: {reason}: check the address and the credentials") from error
