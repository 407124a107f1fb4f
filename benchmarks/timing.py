"""Measure the time and the peak memory of function calls."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import TypeVar

from torch.profiler import ProfilerActivity, profile

T = TypeVar("T")
Work = Callable[[], object]
Timer = Callable[[], float]


def interleaved(
    works: Mapping[str, Work], *, rounds: int, seconds: float, warm: bool = False, timer: Timer = time.perf_counter
) -> dict[str, float]:
    """Median seconds of a call of each function.

    The functions take turns, so that other load on the machine affects all of them alike.

    Args:
        works: functions to call, by name.
        rounds: turns of each function.
        seconds: length of a turn; at least one call is made.
        warm: whether all have been called before; if not, a first call of each does not count.
        timer: the clock; `time.process_time` counts the processor's time alone, where other processes compete for it.
    """
    took: dict[str, list[float]] = {name: [] for name in works}
    for work in () if warm else works.values():
        work()
    for _ in range(rounds):
        for name, work in works.items():
            end = timer() + seconds
            took[name].append(clock(work, timer))
            while timer() < end:
                took[name].append(clock(work, timer))
    return {name: median(times) for name, times in took.items()}


def clock(work: Work, timer: Timer = time.perf_counter) -> float:
    """Seconds of one call."""
    start = timer()
    work()
    return timer() - start


def peak_memory(work: Callable[[], T]) -> tuple[T, float]:
    """The result of `work`, and the most that tensors made inside it take at the same time, in MiB.

    Torch's own count of what is asked for and given back: it depends neither on what the process did before nor on what its
    allocator keeps. Scratch memory that a kernel takes behind torch's back is not in it.
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = work()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    changes = sorted((event["ts"], event["args"]["Ev Idx"], event["args"]["Bytes"]) for event in events if _of_memory(event))
    return result, max(accumulate(change for _, _, change in changes), default=0) / 2**20


def _of_memory(event: Mapping[str, object]) -> bool:
    return event.get("name") == "[memory]"
