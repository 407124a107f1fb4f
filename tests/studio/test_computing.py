"""One queue: a bounded number at a time, newer ones replace older ones of the same place, errors reach who waits."""

import asyncio
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from molyneux.studio.computing import Computing, SupersededError


def finished(coroutine):
    """The result of a coroutine, in a loop of a thread of its own: a browser that tests drive keeps one in this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.fixture
def computing():
    made = Computing(1)
    yield made
    made.close()


def test_results_and_errors_reach_who_waits(computing):
    async def both():
        assert await computing.run("a", "x", lambda job: 3) == 3
        with pytest.raises(ZeroDivisionError):
            await computing.run("a", "x", lambda job: 1 / 0)
        return await computing.run("a", "x", lambda job: threading.current_thread().name)

    assert finished(both()).startswith("computing")


def test_a_newer_one_replaces_those_that_wait_and_stops_the_one_that_runs(computing):
    begun, seen, released = threading.Event(), [], threading.Event()

    def long(job):
        begun.set()
        released.wait(10)
        seen.append(job.stopped)
        job.check()

    async def many():
        first = asyncio.ensure_future(computing.run("a", "x", long))
        await asyncio.to_thread(begun.wait, 10)
        middle = [asyncio.ensure_future(computing.run("a", "x", lambda job, n=n: seen.append(n))) for n in range(20)]
        await asyncio.sleep(0)
        last = asyncio.ensure_future(computing.run("a", "x", lambda job: "last"))
        await asyncio.sleep(0)
        released.set()
        return await asyncio.gather(first, *middle, last, return_exceptions=True)

    results = finished(many())
    assert results[-1] == "last"
    assert all(isinstance(part, SupersededError) for part in results[:-1])
    assert seen == [True]
    assert computing.waiting == 0


def test_other_owners_and_places_are_left_alone(computing):
    async def some():
        return await asyncio.gather(
            computing.run("a", "x", lambda job: 1), computing.run("a", "y", lambda job: 2), computing.run("b", "x", lambda job: 3)
        )

    assert finished(some()) == [1, 2, 3]


def test_at_most_as_many_as_there_are_workers():
    computing, running, most, lock = Computing(2), 0, 0, threading.Lock()

    def busy(job):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1

    async def some():
        await asyncio.gather(*(computing.run(n, "x", busy) for n in range(8)))

    finished(some())
    computing.close()
    assert most == 2


def test_who_leaves_stops_what_was_for_him(computing):
    begun, released = threading.Event(), threading.Event()

    def long(job):
        begun.set()
        released.wait(10)

    async def leaves():
        one = asyncio.ensure_future(computing.run("a", "x", long))
        await asyncio.to_thread(begun.wait, 10)
        two = asyncio.ensure_future(computing.run("a", "y", lambda job: "begun"))
        other = asyncio.ensure_future(computing.run("b", "y", lambda job: "other"))
        await asyncio.sleep(0)
        computing.stop("a")
        released.set()
        return await asyncio.gather(one, two, other, return_exceptions=True)

    one, two, other = finished(leaves())
    assert isinstance(one, SupersededError)
    assert isinstance(two, SupersededError)
    assert other == "other"


def test_how_far_it_is_is_told_in_the_loop(computing):
    told = []

    def steps(job):
        for step in range(4):
            job.tell(step / 4, f"step {step}")

    async def some():
        await computing.run(
            "a", "x", steps, told=lambda share, words: told.append((share, words, threading.current_thread().name))
        )
        await asyncio.sleep(0)
        return threading.current_thread().name

    here = finished(some())
    assert [part[:2] for part in told] == [(0.0, "step 0"), (0.25, "step 1"), (0.5, "step 2"), (0.75, "step 3")]
    assert {part[2] for part in told} == {here}


def test_a_process_ends_while_something_is_computed():
    """Torn down beneath a thread in C++ code, an interpreter aborts: it must end before."""
    code = (
        "import asyncio, torch\n"
        "from molyneux.studio.computing import Computing\n"
        "made = Computing(1)\n"
        "big = torch.randn(500, 500)\n"
        "def endless(job):\n"
        "    while True:\n"
        "        big @ big\n"
        "async def main():\n"
        "    asyncio.ensure_future(made.run('a', 'x', endless))\n"
        "    await asyncio.sleep(0.2)\n"
        "asyncio.run(main())\n"
        "made.close(patience=0.1)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 130
    assert "terminate" not in ended.stderr


def test_closing_waits_for_what_ends_soon():
    made = Computing(1)
    ended = threading.Event()

    def short(job):
        time.sleep(0.2)
        ended.set()

    async def asked():
        task = asyncio.ensure_future(made.run("a", "x", short))
        await asyncio.sleep(0.05)
        task.cancel()

    finished(asked())
    made.close()
    assert ended.is_set()


def test_where_a_slider_moves_on_the_one_that_runs_is_finished_and_only_the_last_one_follows(computing):
    begun, released = threading.Event(), threading.Event()

    def first(job):
        begun.set()
        released.wait(10)
        return "first"

    async def moves():
        running = asyncio.ensure_future(computing.run("a", "x", first, follows=True))
        await asyncio.to_thread(begun.wait, 10)
        later = [asyncio.ensure_future(computing.run("a", "x", lambda job, n=n: n, follows=True)) for n in range(5)]
        await asyncio.sleep(0)
        assert computing.waiting == 2
        released.set()
        return await asyncio.gather(running, *later, return_exceptions=True)

    results = finished(moves())
    assert (results[0], results[-1]) == ("first", 4)
    assert all(isinstance(part, SupersededError) for part in results[1:-1])
    assert computing.waiting == 0


def test_a_closed_page_stops_also_what_a_newer_one_follows(computing):
    begun, released = threading.Event(), threading.Event()

    def first(job):
        begun.set()
        released.wait(10)

    async def closed():
        jobs = [asyncio.ensure_future(computing.run("a", "x", first, follows=True))]
        await asyncio.to_thread(begun.wait, 10)
        jobs.append(asyncio.ensure_future(computing.run("a", "x", first, follows=True)))
        await asyncio.sleep(0)
        computing.stop("a")
        found = await asyncio.gather(*jobs, return_exceptions=True)
        released.set()
        return found

    assert all(isinstance(part, SupersededError) for part in finished(closed()))
