"""Compilation of hot loops by numba, once: what was compiled is kept on disk, for all processes.

Where this package is the first to import it, numba takes settings from variables of the environment alone: a file
`.numba_config.yaml` in the working folder is not read, then or whenever something is compiled.

Compiled code lies in `__pycache__/kernels` beside the source files, or where these cannot be written in the user's cache folder
(`NUMBA_CACHE_DIR` names another), in a folder for each function and each state of all that it is compiled from. Of processes that
need the same code at once, one compiles and the others wait for it. The logger `molyneux.compiling` says once in a process that
something is compiled.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import pickle
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar, cast

import numpy as np

from molyneux.core.lazy import settings_apart

with settings_apart("numba") as _new:
    from llvmlite import ir
    from numba import njit, types
    from numba.core import config, event
    from numba.core.compiler_lock import global_compiler_lock
    from numba.extending import intrinsic
if _new:
    config._config_fname = ""

F = TypeVar("F", bound=Callable[..., Any])

LOGGER = "molyneux.compiling"
KEPT_STATES = 4
"""States of its sources of which the code of a function is kept; that of earlier ones is removed when something is compiled."""
_UNREADABLE = (AttributeError, EOFError, ImportError, pickle.UnpicklingError)


def compiled(function: F) -> F:
    """Compile at the first call, keep the result on disk, and let other threads run meanwhile.

    The stored result is renewed when `function` changes, a compiled function that it calls, or a constant that they use.
    """
    kernel = njit(nogil=True, no_cfunc_wrapper=True)(function)
    kernel.compile = _Once(kernel)
    return cast(F, kernel)


@intrinsic  # type: ignore[untyped-decorator]
def upper_product(_: Any, first: Any, second: Any) -> tuple[Any, Callable[..., Any]]:
    """Upper 64 bits of the product of two uint64, in compiled code: one instruction, which takes four products without it."""

    def generate(_: Any, builder: Any, __: Any, factors: Any) -> Any:
        wide, half = ir.IntType(128), ir.IntType(64)
        product = builder.mul(*(builder.zext(factor, wide) for factor in factors))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), half)

    return types.uint64(types.uint64, types.uint64), generate


def kernel_folder(kernel: Callable[..., Any]) -> Path:
    """Where the code of a compiled function and of others of its file is kept."""
    return cast(_Once, cast(Any, kernel).compile).folder().parents[1]


class _Once:
    """Compiles a function for a signature, or reads what another process compiled; at most one does so at a time."""

    def __init__(self, kernel: Any) -> None:
        self._kernel, self._compile, self._depth = kernel, kernel.compile, 0
        self._folder: Path | None = None

    def __call__(self, signature: Any) -> Any:
        with global_compiler_lock, self._locked():
            try:
                return self._compile(signature)
            except _UNREADABLE:  # a class that the stored index names has moved since: its code is made anew
                shutil.rmtree(self.folder(), ignore_errors=True)
                return self._compile(signature)

    def folder(self) -> Path:
        """The folder of the code; the first call chooses it, when all that the function uses has been defined."""
        if self._folder is None:
            function = self._kernel.py_func
            place = _place(Path(function.__code__.co_filename)) / f"{function.__module__}.{function.__qualname__}"
            folder = place / _state(function)
            new = not folder.exists()
            with global_compiler_lock:
                before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
                try:
                    self._kernel.enable_caching()
                finally:
                    config.CACHE_DIR = before
            if new:
                _forget(place)
            self._folder = folder
        return self._folder

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Inside, no other process compiles the function."""
        # Each process locks what calls before what is called, so that no two wait for each other.
        folder = self.folder()
        if self._depth or (lock := _opened(folder.with_name("lock"))) is None:
            yield
            return
        self._depth += 1
        try:
            with suppress(OSError):  # file systems without locks
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            self._depth -= 1
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_UN)  # a fork of this process may have the file, too
            os.close(lock)


def _place(source: Path) -> Path:
    """The folder for the code of a source file: named by the user, beside the file, or of the user."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    beside = source.parent / "__pycache__" / "kernels"
    with suppress(OSError):
        beside.mkdir(parents=True, exist_ok=True)
    if os.access(beside, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "molyneux" / "kernels"


def _opened(path: Path) -> int | None:
    """A file to lock, or nothing where none can be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None


def _forget(place: Path) -> None:
    """Remove the code of all but the latest states of the sources."""
    with suppress(OSError):
        states = sorted((path for path in place.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
        for path in states[:-KEPT_STATES]:
            shutil.rmtree(path, ignore_errors=True)


def _state(function: Callable[..., Any]) -> str:
    """A hash of what a function is compiled from: its code, that of compiled functions that it calls, and constants.

    Of what is in memory, not in files: these may have been written since they were imported.
    """
    reached: dict[Callable[..., Any], None] = {}
    _reach(function, reached)
    found = hashlib.sha256()
    for each in sorted(reached, key=lambda each: (each.__module__, each.__qualname__)):
        names = sorted(_names(each.__code__) & each.__globals__.keys())
        cells = [cell.cell_contents for cell in each.__closure__ or ()]
        used = (each.__code__, each.__defaults__, *cells, *(each.__globals__[name] for name in names))
        found.update(f"{each.__module__}.{each.__qualname__} {_text(used)};".encode())
    return found.hexdigest()[:16]


def _reach(function: Callable[..., Any], reached: dict[Callable[..., Any], None]) -> None:
    """Add a function and all compiled functions that it calls."""
    if function not in reached:
        reached[function] = None
        for name in _names(function.__code__) & function.__globals__.keys():
            if hasattr(function.__globals__[name], "py_func"):
                _reach(function.__globals__[name].py_func, reached)


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _text(value: Any) -> str:
    """What is compiled of a value, the same in every process."""
    if isinstance(value, CodeType):
        return f"{value.co_code.hex()}{value.co_varnames}{value.co_names}{_text(value.co_consts)}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return f"({','.join(map(_text, value))})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_text, value)))}}}"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    return repr(value) if isinstance(value, bool | int | float | complex | str | np.generic) else type(value).__name__


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
