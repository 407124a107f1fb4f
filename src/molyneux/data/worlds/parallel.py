"""A batch cut into chunks that threads share."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def spread(work: Callable[[slice], None], count: int, *, threads: int, chunk: int = 128) -> None:
    """Call `work` with slices that cover range(count), on `threads` threads.

    Chunks are small enough for a processor's cache and are the same for any number of threads. `work` should spend its time
    in compiled code, which lets the other threads run.
    """
    slices = [slice(start, min(start + chunk, count)) for start in range(0, count, chunk)]
    if threads == 1 or len(slices) < 2:
        for part in slices:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, slices):
            pass
