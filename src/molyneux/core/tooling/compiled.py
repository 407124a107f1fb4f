"""Compilation of hot loops by numba, once: what was compiled is kept on disk, for all processes.

Where this package is the first to import it, numba takes settings from variables of the environment alone: a file
`.numba_config.yaml` in the working folder is not read, then or whenever something is compiled.

Compiled code lies beside the source files, or where these cannot be written in the user's cache folder (`NUMBA_CACHE_DIR` names
another). The logger `molyneux.compiling` says once in a process that something is compiled.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from molyneux.core.lazy import settings_apart

with settings_apart("numba") as _new:
    from numba import njit
    from numba.core import config, event
    from numba.core.caching import FunctionCache, IndexDataCacheFile
if _new:
    config._config_fname = ""

F = TypeVar("F", bound=Callable[..., Any])

LOGGER = "molyneux.compiling"


def compiled(function: F) -> F:
    """Compile at the first call, keep the result on disk, and let other threads run meanwhile.

    The stored result is renewed when the file of `function` changes, not when a compiled function that it calls from
    another file does: keep a kernel and what it calls in one file.
    """
    kernel = njit(nogil=True, no_cfunc_wrapper=True)(function)
    kernel._cache = _Cache(function)  # what `cache=True` does, with files that several processes can write
    return cast(F, kernel)


def kernel_folder(kernel: Callable[..., Any]) -> Path:
    """Where the code of a compiled function is kept."""
    return Path(str(cast(Any, kernel).stats.cache_path))


class _CacheFiles(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """One index of a function, and a file for the code of each signature, called by a hash of what the code is for.

    Numba counts the files, so that two processes which compile two signatures at once give them the same name.
    """

    def save(self, key: Any, data: Any) -> None:
        """Write the code, then the index that has it."""
        name = self._data_name_pattern.replace("{number:d}", hashlib.sha256(repr(key).encode()).hexdigest()[:16])
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


class _Cache(FunctionCache):  # type: ignore[misc]
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        files = vars(self)["_cache_file"]
        self._cache_file = _CacheFiles.__new__(_CacheFiles)
        self._cache_file.__dict__.update(vars(files))


class CompilationTime(event.Listener):  # type: ignore[misc]
    """Counts the seconds in which something is compiled.

    Attributes:
        seconds: wall-clock time so far.
    """

    def __init__(self) -> None:
        self.seconds, self._depth, self._began = 0.0, 0, 0.0

    def on_start(self, event: Any) -> None:
        """Something is compiled, perhaps for something else that is."""
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """It is done."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


@contextmanager
def compilation_time() -> Iterator[CompilationTime]:
    """Inside, the seconds of compilations are counted."""
    found = CompilationTime()
    event.register("numba:compile", found)
    try:
        yield found
    finally:
        event.unregister("numba:compile", found)


class _Announcement(event.Listener):  # type: ignore[misc]
    """Logs the first compilation of a process."""

    def __init__(self) -> None:
        self._told = threading.Event()

    def on_start(self, event: Any) -> None:
        """Something is compiled."""
        if not self._told.is_set() and event.data["dispatcher"].py_func.__module__.startswith(__name__.partition(".")[0]):
            self._told.set()
            logging.getLogger(LOGGER).info("compiling, once")

    def on_end(self, event: Any) -> None:
        """It is done."""


event.register("numba:compile", _Announcement())
