"""The studio: how soon it is there, what a slider costs, and what is left after many tabs and many odd requests.

    python benchmarks/studio.py [--quick] [--out FOLDER]

A client speaks to the server as a browser does. Processor time and memory are those of the server; times by the clock depend on
what else the machine does. A request without an answer, and a traceback in the log of the server, end the benchmark.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp
from odd import odd_requests, odd_sockets
from record import Record, options
from tabs import Server, Tab, served, visiting

WHAT = (
    "The studio under load, on the page Codes: processor seconds, seconds by the clock, and memory in MiB before, at most, and "
    "after everything is closed; a tab moves a slider again as soon as it shows the answer"
)
CODES = "/codes?model=gebid-level5"
DIFFUSION = "/codes?model=cdsprites-level5"
_CLOSED = 30.0
"""Seconds after which the server has forgotten tabs that were closed."""


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("studio", WHAT, arguments.out)
    quick = arguments.quick
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "log.txt") as server:
        _done(_start(server, record))
        _done(_one(server, record, CODES, 3 if quick else 40))
        if not quick:
            _done(_one(server, record, DIFFUSION, 20))
        closed = 1.0 if quick else _CLOSED
        _done(_many(server, record, tabs=3 if quick else 20, seconds=2 if quick else 60, closed=closed))
        _done(_odd(server, record, count=60 if quick else 10_000, closed=closed))
        if server.faults or server.process.poll() is not None:
            raise SystemExit(f"the server did not bear it:\n{server.log.read_text()[-4_000:]}")
    record.write()


def _done(work: Coroutine[object, object, None]) -> None:
    """Run it to its end, in a thread whose loop is its own."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


async def _start(server: Server, record: Record) -> None:
    """Until the link is printed, and the first page after it."""
    up, begun = server.seconds, time.monotonic()
    async with aiohttp.ClientSession() as session, session.get(server.address + "/ask") as answer:
        await answer.read()
    first = time.monotonic() - begun
    record.add({"what": "until the server is up", "processor s": up, "memory after": server.memory})
    record.add({"what": "the first page after it", "processor s": server.seconds - up, "median s": first})


async def _ready(tab: Tab) -> None:
    await tab.until(lambda: tab.sliders("number ") and tab.shown.is_set())


async def _one(server: Server, record: Record, path: str, moves: int) -> None:
    """One tab that moves sliders of a code."""
    async with visiting(server, path) as tab:
        await _ready(tab)
        await asyncio.sleep(1)
        stream, before = random.Random(1), server.seconds
        took = [await _moved(tab, stream) for _ in range(moves)]
        spent = (server.seconds - before) / moves
    model = path.rpartition("=")[2]
    record.add({"what": f"a move, {model}", "count": moves, "processor s": spent, **_times(took)})


async def _moved(tab: Tab, stream: random.Random) -> float:
    sliders = tab.sliders("number ")
    slider = stream.choice(sliders)
    props = slider[1]["props"]
    return await tab.move(slider, stream.uniform(float(props["min"]), float(props["max"])))


async def _many(server: Server, record: Record, *, tabs: int, seconds: float, closed: float = _CLOSED) -> None:
    """Many tabs at once, for some time."""

    async def visit(number: int, seconds: float) -> list[float]:
        async with visiting(server, CODES) as tab:
            await _ready(tab)
            stream, took, end = random.Random(number), [], time.monotonic() + seconds
            while time.monotonic() < end:
                took.append(await _moved(tab, stream))
            return took

    async def visits(seconds: float) -> list[float]:
        return [part for parts in await asyncio.gather(*(visit(number, seconds) for number in range(tabs))) for part in parts]

    await visits(seconds / 20)  # so that what is kept for all is there before
    await asyncio.sleep(closed)
    memory, before = server.memory, server.seconds
    took = await visits(seconds)
    spent = (server.seconds - before) / len(took)
    await asyncio.sleep(closed)
    row = {"what": f"{tabs} tabs, {seconds:g} s", "count": len(took), "processor s": spent, **_times(took)}
    record.add({**row, **_memory(server, memory)})


async def _odd(server: Server, record: Record, *, count: int, closed: float = _CLOSED) -> None:
    """Odd requests and odd messages, in parts of a hundred at a time."""
    await odd_requests(server.address, count // 20, seed=0)
    await asyncio.sleep(closed)
    memory, before, begun = server.memory, server.seconds, time.monotonic()
    half = count // 2
    statuses = await odd_requests(server.address, half, seed=1)
    answered = await odd_sockets(server.address, count - half, seed=2)
    clock = (time.monotonic() - begun) / count
    spent = (server.seconds - before) / count
    await asyncio.sleep(closed)
    async with visiting(server, "/ask?model=gebid-level5&count=1") as tab:
        await tab.until(tab.shown.is_set)
    if bad := {status for status in statuses if status >= 500}:
        raise SystemExit(f"expected no fault of the server, got {sorted(bad)}")
    row = {"what": "odd requests and messages", "count": len(statuses) + answered, "processor s": spent, "median s": clock}
    record.add({**row, **_memory(server, memory)})


def _times(took: list[float]) -> dict[str, float]:
    return {"median s": statistics.median(took), "slowest s": max(took)}


def _memory(server: Server, before: float) -> dict[str, float]:
    after = server.memory
    return {"memory before": before, "most memory": server.peak, "memory after": after, "after / before": after / before}


if __name__ == "__main__":
    main()
