"""One queue of computations for all pages, in a bounded number of threads; what a newer one makes stale is dropped."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_PATIENCE, _INTERRUPTED = 2.0, 130
"""Seconds in which computations may end when the queue is closed, and the exit status of a process that does not wait longer."""


class SupersededError(Exception):
    """A computation was stopped, or a newer one of the same place took its place."""


class Computation(Generic[T]):
    """One computation: it may ask whether it is still wanted, and tell how far it is.

    Args:
        function: what is computed, given the job itself.
        finished: the future that a page waits for, of the loop of the server.
        told: called in the loop with a share from 0 to 1 and a few words.
    """

    def __init__(
        self, function: Callable[[Computation[T]], T], finished: asyncio.Future[T], told: Callable[[float, str], object] | None
    ) -> None:
        self._function, self._finished, self._told, self._stop = function, finished, told, threading.Event()
        self._loop = finished.get_loop()
        self.begun = False

    @property
    def stopped(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Ask it to stop; one that waits in the queue is never begun. Called in the loop."""
        self._stop.set()
        if not self._finished.done():
            self._finished.set_exception(SupersededError())

    def check(self) -> None:
        """Raise SupersededError if nobody waits for it any more; long computations call it between their parts."""
        if self.stopped:
            raise SupersededError

    def tell(self, share: float, words: str = "") -> None:
        """Tell how far it is."""
        self.check()
        if self._told is not None:
            self._call(self._told, share, words)

    def compute(self) -> None:
        """Compute it, in the thread of a worker."""
        if self.stopped:
            return
        self.begun = True
        try:
            value = self._function(self)
        except BaseException as error:  # told to who waits for it
            self._call(self._end, None, error)
        else:
            self._call(self._end, value, None)

    def _end(self, value: Any, error: BaseException | None) -> None:
        if self._finished.done():
            return
        if error is None:
            self._finished.set_result(value)
        else:
            self._finished.set_exception(error)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)


class Computing:
    """A queue of computations.

    Args:
        workers: computations at a time; each has one thread.
    """

    def __init__(self, workers: int = 1) -> None:
        self._queue: queue.SimpleQueue[Computation[Any] | None] = queue.SimpleQueue()
        self._jobs: dict[tuple[Hashable, str], list[Computation[Any]]] = {}
        self._busy = set[int]()
        self._threads = [
            threading.Thread(target=self._work, name=f"computing-{number}", daemon=True) for number in range(max(1, workers))
        ]
        for thread in self._threads:
            thread.start()
        atexit.register(self._leave)

    def _work(self) -> None:
        number = threading.get_ident()
        while (job := self._queue.get()) is not None:
            self._busy.add(number)
            try:
                job.compute()
            finally:
                self._busy.discard(number)
            del job  # what it holds, such as samples, is not kept until the next one comes

    async def run(
        self,
        owner: Hashable,
        place: str,
        function: Callable[[Computation[T]], T],
        *,
        told: Callable[[float, str], object] | None = None,
        follows: bool = False,
    ) -> T:
        """Compute something in a worker and wait for it.

        Args:
            owner: who asks, such as an open page.
            place: what it is for; an earlier computation of the same owner and place is stopped.
            function: what is computed, given the `Computation`.
            told: called with how far it is.
            follows: whether an earlier one of the same place that is begun is finished first, as where a slider moves on: each
                answer is short, and one that is always stopped would never be shown.

        Raises:
            SupersededError: it was stopped, or a newer one came. What `function` raises.
        """
        job: Computation[T] = Computation(function, asyncio.get_running_loop().create_future(), told)
        key = (owner, place)
        for earlier in self._jobs.get(key, ()):
            if not (follows and earlier.begun):
                earlier.stop()
        self._jobs[key] = [*(earlier for earlier in self._jobs.get(key, ()) if not earlier.stopped), job]
        self._queue.put(job)
        try:
            return await job._finished
        except asyncio.CancelledError:
            job.stop()
            raise
        finally:
            self._ended(key, job)

    def _ended(self, key: tuple[Hashable, str], job: Computation[Any]) -> None:
        """Forget a computation, and stop those that were asked for before it."""
        jobs = self._jobs.get(key, [])
        place = jobs.index(job) if job in jobs else 0
        for earlier in jobs[:place]:
            earlier.stop()
        left = [other for other in jobs[place:] if other is not job]
        if left:
            self._jobs[key] = left
        else:
            self._jobs.pop(key, None)

    def stop(self, owner: Hashable, place: str = "") -> None:
        """Stop all computations of an owner, or that of one place."""
        for key, jobs in list(self._jobs.items()):
            if key[0] == owner and place in ("", key[1]):
                for job in list(jobs):
                    job.stop()

    @property
    def waiting(self) -> int:
        """Computations that somebody waits for."""
        return sum(map(len, self._jobs.values()))

    def close(self, *, patience: float = _PATIENCE) -> None:
        """Stop everything and end the workers.

        Args:
            patience: seconds that are waited for computations that run. One that runs on is cut off when the process exits.
        """
        for job in [job for jobs in self._jobs.values() for job in jobs]:
            job.stop()
        for _ in self._threads:
            self._queue.put(None)
        until = time.monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        if not self._busy:
            atexit.unregister(self._leave)

    def _leave(self) -> None:
        """End the process where a worker still computes: torn down beneath it, the interpreter aborts in C++ code."""
        if self._busy:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    stream.flush()
            os._exit(_INTERRUPTED)
