"""Processes on a Ray cluster that live for many pieces of work, and whose work is moved to others when they are lost."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from molyneux.core import ConfigError, MolyneuxError, StoreError
from molyneux.run.cluster.ray_agents import watch_agents

P = TypeVar("P")
R = TypeVar("R")

ATTEMPTS = 3
"""How often a piece of work is begun whose process or machine is lost."""

LAST_SECONDS = 30.0
"""How long work that is stopped may take to keep what it has."""

_LOOK = 1.0
"""Seconds between two looks at work that is under way."""

_LOSSES = 5
"""Processes in a row that may be lost while they start."""

_HELD = 4
"""Functions that a process keeps."""


class RayWorkers:
    """Up to `jobs` processes on a Ray cluster; see `core.workers.Workers`. A context: when it is left, the processes end.

    Processes start when there is work for them, and live until the end, so that what they import and open, they do once. Of a
    machine that is lost, the pieces under way are computed by other processes; pieces that are done are not computed again.

    Args:
        jobs: processes at most; None has as many as the cluster has room for, of what is there at the beginning.
        address: of a cluster; None takes the one that RAY_ADDRESS names, or starts Ray on this machine.
        threads: of a process, which reserves as many processors; None shares those of this machine out among `jobs`.
        gpus: part of a GPU that a process has to itself, such as 0.25, or how many; None shares the GPUs of the cluster out.

    Raises:
        ConfigError: Ray is not installed, no cluster answers at the address, or no machine of it has so many processors or GPUs.
    """

    def __init__(
        self, jobs: int | None = None, address: str | None = None, *, threads: int | None = None, gpus: float | None = 0.0
    ) -> None:
        if gpus is not None and not (0 <= gpus <= 1 or (gpus > 1 and gpus == int(gpus))):
            raise ConfigError(f"--gpus: expected a part of a GPU from 0 to 1, or a whole number of them, got {gpus}")
        self._ray = _import_ray()
        self.threads = threads or (1 if jobs is None else max(1, cores() // jobs))
        local = address is None and "RAY_ADDRESS" not in os.environ
        asked = jobs or max(1, cores() // self.threads)
        variables = thread_settings(self.threads) | {name: os.environ[name] for name in _KEPT if name in os.environ}
        try:
            self._ray.init(
                address=address,
                runtime_env={"env_vars": variables},
                log_to_driver=False,
                logging_level="ERROR",
                **({"num_cpus": asked * self.threads, "include_dashboard": False} if local else {}),
            )
        except (ConnectionError, OSError, RuntimeError, ValueError, ImportError) as error:
            raise ConfigError(f"--on: cannot use the Ray cluster at {address or 'this machine'}: {error}") from error
        self._watch = watch_agents() if local else None
        self._lock = threading.Lock()
        self._idle, self._starting = deque[Any](), deque[tuple[Any, Any]]()
        self._make, self._processes = self._ray.remote(_Process).options, list[Any]()
        self._under_way = set[Any]()
        self._held = dict[int, tuple[Any, Any]]()
        self._numbers = itertools.count()
        self._stopped = False
        try:
            self.jobs = jobs or self._room()
            self.gpus = self._share() if gpus is None else gpus
            self._require()
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> RayWorkers:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def map(self, function: Callable[[P], R], pieces: Iterable[P]) -> Iterator[R]:
        """See `core.workers.Workers`. No more pieces than three for each process are taken before their results are."""
        waiting, futures, threads = iter(pieces), deque[Future[R]](), ThreadPoolExecutor(self.jobs)
        try:
            futures.extend(threads.submit(self.call, function, piece) for piece in itertools.islice(waiting, 3 * self.jobs))
            while futures:
                yield futures.popleft().result()
                futures.extend(threads.submit(self.call, function, piece) for piece in itertools.islice(waiting, 1))
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    def call(self, function: Callable[[P], R], piece: P, *, look: Callable[[], None] = lambda: None) -> R:
        """What a function makes of one piece, in some process; several threads may call at once.

        Args:
            function: see `map`.
            piece: see `map`.
            look: is called about once a second while it is under way.

        Raises:
            MolyneuxError: as `map`; StoreError also where all was stopped meanwhile.
        """
        from ray.exceptions import RayError, RayTaskError, TaskCancelledError

        held, lost = self._hold(function), ""
        for _ in range(ATTEMPTS):
            process = self._take()
            task = process.compute.remote(*held, piece)
            with self._lock:
                self._under_way.add(task)
            try:
                while not self._ray.wait([task], timeout=_LOOK)[0]:
                    look()
                found: R = self._ray.get(task)
            except TaskCancelledError as error:
                raise StoreError(STOPPED) from error
            except RayTaskError as error:
                self._idle.append(process)
                if isinstance(error.cause, MolyneuxError):
                    raise error.cause from error
                raise
            except RayError as error:
                lost = str(error).strip().partition("\n")[0]
                self._end(process)
                if self._stopped:
                    raise StoreError(STOPPED) from error
            else:
                self._idle.append(process)
                return found
            finally:
                with self._lock:
                    self._under_way.discard(task)
        raise StoreError(f"its process on the cluster was lost {ATTEMPTS} times, the last time: {lost}")

    def stop(self) -> None:
        """End what is under way, which gets some time to keep what it has, and leave the cluster; a Ray started here ends."""
        with self._lock:
            self._stopped = True
            tasks = list(self._under_way)
        try:
            for task in tasks:
                self._ray.cancel(task)
            if tasks:
                self._ray.wait(tasks, num_returns=len(tasks), timeout=LAST_SECONDS)
        finally:
            for process in self._processes:
                self._end(process)
            end = time.monotonic() + LAST_SECONDS
            while self._under_way and time.monotonic() < end:  # threads that still ask Ray would start it again
                time.sleep(_LOOK / 20)
            self._ray.shutdown()
            if self._watch is not None:
                self._watch.communicate()
                self._watch = None

    def _hold(self, function: Callable[..., Any]) -> tuple[int, list[Any]]:
        """The number of a function, and where processes find it: it is sent to the cluster once."""
        with self._lock:
            if id(function) not in self._held:
                while len(self._held) >= _HELD:
                    self._held.pop(next(iter(self._held)))
                self._held[id(function)] = function, (next(self._numbers), [self._ray.put(function)])
            held: tuple[int, list[Any]] = self._held[id(function)][1]
        return held

    def _take(self) -> Any:
        """A process that has nothing to do: an idle one, or a new one, whichever is there first."""
        from ray.exceptions import RayError

        lost = 0
        while True:
            with self._lock:
                if self._stopped:
                    raise StoreError(STOPPED)
                if self._idle:
                    return self._idle.popleft()
                process, ready = self._starting.popleft() if self._starting else self._start()
            try:
                while not self._ray.wait([ready], timeout=_LOOK / 4)[0]:
                    if self._idle or self._stopped:  # the cluster may have no room for it any more
                        break
                else:
                    self._ray.get(ready)
                    return process
            except RayError as error:  # its machine went while it started
                lost += 1
                if lost == _LOSSES:
                    reason = str(error).strip().partition("\n")[0]
                    raise StoreError(f"no process starts on the cluster: {reason}") from error
                continue
            with self._lock:
                self._starting.append((process, ready))

    def _start(self) -> tuple[Any, Any]:
        process = self._make(num_cpus=self.threads, num_gpus=self.gpus).remote(str(Path.cwd()))
        self._processes.append(process)
        return process, process.ready.remote()

    def _end(self, process: Any) -> None:
        with suppress(Exception):  # it may be gone
            self._ray.kill(process)

    def _require(self) -> None:
        """ConfigError unless some machine of the cluster has what a process reserves."""
        for what, name, wanted in (("processors", "CPU", self.threads), ("GPUs", "GPU", self.gpus)):
            most = max(self._machines(name), default=0.0)
            if wanted > most:
                raise ConfigError(
                    f"--on: expected a machine with {wanted:g} {what} for each process, the largest of the cluster has {most:g}: "
                    f"set {'OMP_NUM_THREADS or --jobs' if name == 'CPU' else '--gpus'}"
                )

    def _machines(self, resource: str) -> list[float]:
        """How much of a resource the machines of the cluster have."""
        return [float(node.get("Resources", {}).get(resource, 0.0)) for node in self._ray.nodes() if node.get("Alive")]

    def _room(self) -> int:
        """How many processes of so many threads the machines of the cluster have room for; at least 1."""
        return max(1, sum(int(processors // self.threads) for processors in self._machines("CPU")))

    def _share(self) -> float:
        """The part of a GPU for each process, so that all of them have one; 0 where the cluster has none."""
        found = int(sum(self._machines("GPU")))
        return 0.0 if not found else 1.0 if found >= self.jobs else 1 / -(-self.jobs // found)


class _Process:
    """What a process on the cluster does; its functions stay in it.

    Args:
        here: its working directory, if the machine has such a folder: relative paths are those of the process that asks.
    """

    def __init__(self, here: str) -> None:
        with suppress(OSError):
            os.chdir(here)
        self._functions = dict[int, Callable[[Any], Any]]()

    def ready(self) -> None:
        """Answers as soon as the process is there."""

    def compute(self, number: int, held: list[Any], piece: Any) -> Any:
        """What the function of a number makes of a piece; `held` has the reference by which it is fetched once."""
        import ray

        if number not in self._functions:
            while len(self._functions) >= _HELD:
                self._functions.pop(next(iter(self._functions)))
            self._functions[number] = ray.get(held[0])
        return self._functions[number](piece)


STOPPED = "it was stopped: the same command goes on where it stopped"

_KEPT = ("PYTHONPATH", "MOLYNEUX_DATA")
"""Variables of the environment that processes get."""


def interrupt_if_cancelled() -> None:
    """In a process of the cluster: as Ctrl-C, where the work under way was cancelled."""
    import ray

    cancelled = getattr(ray.get_runtime_context(), "is_canceled", None)  # Ray before 2.52 does not tell
    if cancelled is not None and cancelled():
        signal.raise_signal(signal.SIGINT)


def ray_address(on: str) -> str | None:
    """The address of the Ray cluster that `--on` names; None for `ray`: the one of RAY_ADDRESS, or Ray on this machine.

    Raises:
        ConfigError: it names no such place.
    """
    if on == "ray" or on.startswith("ray://") or ":" in on:
        return None if on == "ray" else on
    raise ConfigError(f"--on: expected local, ray or the address of a Ray cluster such as ray://host:10001, got {on!r}")


@contextmanager
def open_workers(on: str, jobs: int | None = None, *, threads: int | None = None) -> Iterator[RayWorkers | None]:
    """The processes at a place, while the context lasts: what `store_shards(workers=...)` and measuring share work out to.

    Args:
        on: `ray` (the cluster that RAY_ADDRESS names, or Ray on this machine), or the address of a cluster such as
            `ray://host:10001`; None is given for `local`.
        jobs: processes at most; by default as many as there is room for.
        threads: of each process.

    Raises:
        ConfigError: there is no such place, or Ray is not installed.
    """
    if on == "local":
        yield None
        return
    with RayWorkers(jobs, ray_address(on), threads=threads) as workers:
        yield workers


def cores() -> int:
    """Processors of this machine that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_settings(threads: int) -> dict[str, str]:
    """Variables of the environment for so many threads, which wait without spinning."""
    return {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads)}


def _import_ray() -> ModuleType:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere unless a command asks for it
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # a process without a GPU need not hide the machine's
    try:
        import ray
    except ImportError as error:
        raise ConfigError("--on ray needs Ray, which is not installed: pip install 'molyneux[ray]'") from error
    return ray
