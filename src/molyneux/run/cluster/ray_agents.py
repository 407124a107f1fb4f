"""Ends the agents of a Ray that was started here, when the process that started it is gone, however it went.

Ray's own servers and workers end by themselves within seconds; its agents first try for a minute to tell a server that is gone
too. This file is also the program of a small process that waits for the end of its standard input, and imports nothing else.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_GRACE = 2.0
"""Seconds in which they may end by themselves."""

Started = tuple[int, int]
"""A process: its number, and when it began, since numbers are given again."""


def watch_agents() -> subprocess.Popen[bytes] | None:
    """A process that ends what the raylets below this one have started, as soon as its standard input is closed.

    None where there are none, or the system does not tell of its processes in `/proc`.
    """
    return watch(_below_raylets(os.getpid()))


def watch(processes: Iterable[Started]) -> subprocess.Popen[bytes] | None:
    """A process that ends some others as soon as its standard input is closed; None where there are none."""
    words = [f"{number}:{begin}" for number, begin in processes]
    if not words:
        return None
    command = [sys.executable, "-I", "-S", __file__, *words]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)


def begin_of(number: int) -> int:
    """When a process began, in ticks since the machine did; 0 where there is none."""
    return next((begin for pid, _, _, begin in _processes([number])), 0)


def _below_raylets(top: int) -> list[Started]:
    known = list(_processes(int(path.name) for path in Path("/proc").glob("[0-9]*")))
    wanted = {pid for pid, parent, name, _ in known if parent == top and name == "raylet"}
    return [(pid, begin) for pid, parent, _, begin in known if parent in wanted]


def _processes(numbers: Iterable[int]) -> Iterator[tuple[int, int, str, int]]:
    """Number, parent, name and begin of the processes that are there."""
    for number in numbers:
        with suppress(OSError):  # it has ended
            head, _, rest = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")
            fields = rest.split()
            yield number, int(fields[1]), head.partition("(")[2], int(fields[19])


def main(words: Iterable[str]) -> None:
    """Wait for the end of standard input, then kill the processes `NUMBER:BEGIN` that are still there."""
    sys.stdin.buffer.read()
    time.sleep(_GRACE)
    for number, begin in (map(int, word.split(":")) for word in words):
        if begin_of(number) == begin:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
