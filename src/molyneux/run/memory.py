"""How a process that trains keeps its memory."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of the settings in glibc's malloc.h."""


def keep_freed_memory(kept: int = 2**30) -> None:
    """Keep memory that was freed for the next step, up to so many bytes; where the C library is not glibc nothing changes.

    By default glibc gives large blocks back to the system as soon as they are free, and every step of a training asks for them
    again, page by page: a step of an LSTM in 32 bits takes up to half as long again. Holds for the rest of the process, so it is
    for commands to call and not for libraries.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # other C libraries have no such function, Windows no such name
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_TRIM_THRESHOLD, kept)
        allocator.mallopt(_MMAP_THRESHOLD, min(kept, 2**25))  # the most that glibc accepts
