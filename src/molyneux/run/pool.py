"""Runs of a study side by side, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from molyneux.core import ConflictError, CorruptFileError, StoreError, store
from molyneux.core.config import dump_document
from molyneux.run.experiment import Experiment
from molyneux.run.folder import RunFolder
from molyneux.run.study import run_name

if TYPE_CHECKING:
    from molyneux.run.records import Records


class SweepProgress(Protocol):
    """Is told how a study goes, by several threads."""

    def plan(self, runs: int) -> None:
        """So many more runs are to be done."""
        ...

    def run(self, name: str, step: str, done: int, total: int) -> None:
        """Where a run stands; its step is `done` or `failed` in the end."""
        ...


@dataclass(frozen=True)
class Finished:
    """How a run ended.

    Args:
        folder: where it is.
        experiment: what was run.
        error: why it failed; empty if it did not.
        recorded: whether its record was there, so that it was not run.
    """

    folder: Path
    experiment: Experiment
    error: str = ""
    recorded: bool = False


@dataclass
class Pool:
    """At most `jobs` runs at a time. As a context, it ends its processes however it is left.

    Args:
        folder: of the study; each run has a folder below it.
        jobs: runs at the same time; the cores are shared among them.
        progress: is told how it goes.
        records: take in every run that is done.
        trust: whether a run that is on record need not be run, even if its folder is gone.
    """

    folder: Path
    jobs: int
    progress: SweepProgress
    records: Records
    trust: bool = False
    _processes: set[subprocess.Popen[str]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: bool = False

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._closed = True
            running = list(self._processes)
        for process in running:
            process.kill()

    def run(self, experiments: Sequence[Experiment]) -> list[Finished]:
        """Run experiments and wait for all of them; a run that fails does not stop the others. Equal ones are run once."""
        unique = {run_name(experiment): experiment for experiment in experiments}
        self.progress.plan(len(unique))
        with ThreadPoolExecutor(self.jobs) as threads:
            futures = {name: threads.submit(self._run, experiment) for name, experiment in unique.items()}
            try:
                finished = {name: future.result() for name, future in futures.items()}
                return [finished[run_name(experiment)] for experiment in experiments]
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                self.__exit__()
                raise

    def _run(self, experiment: Experiment) -> Finished:
        name = run_name(experiment)
        folder, config = self.folder / name, self.folder / "experiments" / f"{name}.yaml"
        error = ""
        try:
            if not RunFolder(folder, experiment).complete:
                if self.trust and experiment in self.records:
                    self.progress.run(name, "done", 1, 1)
                    return Finished(folder, experiment, recorded=True)
                store.write_text(config, dump_document(experiment.resolved))
                error = self._call(name, [sys.executable, "-m", "molyneux.run.worker", str(config), str(folder)])
            if not error:
                self.records.add(folder, experiment)
        except (ConflictError, CorruptFileError) as problem:  # of this run; the others go on
            error = str(problem)
        self.progress.run(name, "failed" if error else "done", 1, 1)
        return Finished(folder, experiment, error)

    def _call(self, name: str, command: Sequence[str]) -> str:
        """Run a worker to its end and return what went wrong."""
        log = self.folder / "experiments" / f"{name}.log"
        with log.open("w", encoding="utf-8") as errors:
            with self._start(command, errors.fileno()) as process:
                problem = self._listen(name, process)
            with self._lock:
                self._processes.discard(process)
        if process.returncode == 0:
            log.unlink(missing_ok=True)
            return ""
        return problem or f"its process ended with status {process.returncode}; see {log}"

    def _start(self, command: Sequence[str], errors: int) -> subprocess.Popen[str]:
        with self._lock:
            if self._closed:
                raise StoreError("the study was stopped: the same command goes on where it stopped")
            process = subprocess.Popen(  # its own session, so that Ctrl-C reaches only the process that the user sees
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=_environment(self.jobs),
                start_new_session=True,
            )
            self._processes.add(process)
        return process

    def _listen(self, name: str, process: subprocess.Popen[str]) -> str:
        """Hand the progress of a worker on; its last error."""
        problem = ""
        for line in process.stdout or ():
            record = _record(line)
            problem = str(record.get("error", problem))
            if "step" in record:
                self.progress.run(name, str(record["step"]), int(str(record["done"])), int(str(record["total"])))
        return problem


def _record(line: str) -> Mapping[str, object]:
    """What a worker says in a line; nothing where something else in its process wrote the line."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _environment(jobs: int) -> dict[str, str]:
    """Threads that wait without spinning, and not more of them than cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = str(max(1, cores // jobs))
    return {**os.environ, "OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads}
