"""Compilation of hot loops by numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile at the first call, keep the result on disk, and let other threads run meanwhile.

    The stored result is renewed when the file of `function` changes, not when a compiled function that it calls from
    another file does: keep a kernel and what it calls in one file.
    """
    return cast(F, njit(cache=True, nogil=True)(function))
