"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from molyneux.core import ConflictError, store


@contextmanager
def appearing_folder(folder: Path) -> Iterator[Path]:
    """Give a temporary folder beside `folder` that takes its name when the block ends without an error.

    A failed attempt removes its temporary folder; that of a killed process is removed by the next attempt.

    Raises:
        ConflictError: something stands there already, or another process is writing it.
        StoreError: no permission, no space.
    """
    require_free(folder)
    part = folder.with_name(f".{folder.name}.part")
    with store.locked(part):
        try:
            _empty(part)
            yield part
            sync_folder(part)
            (part / ".lock").unlink()
            part.rename(folder)
            sync_folder(folder.parent)
        except BaseException as error:
            shutil.rmtree(part, ignore_errors=True)
            if isinstance(error, OSError):
                raise store.store_error(error, folder) from error
            raise


@contextmanager
def appearing_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, for libraries that open files themselves; errors as `appearing_folder`."""
    require_free(path)
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        part.rename(path)
        sync_folder(path.parent)
    except OSError as error:
        raise store.store_error(error, path) from error
    finally:
        if path.parent.is_dir():
            part.unlink(missing_ok=True)


def require_free(path: Path) -> None:
    """Raise ConflictError if a file or a folder with something in it stands at `path`, StoreError if that cannot be seen."""
    if path.name in ("", ".."):
        raise ConflictError(f"expected the name of something new, got {str(path)!r}: name it with --out")
    try:
        taken = path.is_file() or (path.is_dir() and any(path.iterdir()))
    except OSError as error:
        raise store.store_error(error, path) from error
    if taken:
        raise ConflictError(f"{path} exists: choose another place with --out, or move it away")


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _empty(folder: Path) -> None:
    for item in folder.iterdir():
        if item.is_dir():
            shutil.rmtree(item)
        elif item.name != ".lock":
            item.unlink()
