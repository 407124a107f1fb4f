"""Compilation of hot loops by numba.

Where this package is the first to import it, numba takes settings from variables of the environment alone: a file
`.numba_config.yaml` in the working folder is not read, then or whenever something is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from molyneux.core.lazy import settings_apart

with settings_apart("numba") as _new:
    from numba import njit
    from numba.core import config
if _new:
    config._config_fname = ""

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile at the first call, keep the result on disk, and let other threads run meanwhile.

    The stored result is renewed when the file of `function` changes, not when a compiled function that it calls from
    another file does: keep a kernel and what it calls in one file.
    """
    return cast(F, njit(cache=True, nogil=True)(function))
