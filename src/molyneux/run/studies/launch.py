"""Where the runs of a study are computed, several at a time: in processes on this machine, or on a Ray cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from molyneux.core import MolyneuxError, StoreError, store
from molyneux.core.config import class_paths, is_foreign
from molyneux.run.cluster.ray_workers import ATTEMPTS, LAST_SECONDS, RayWorkers, cores, ray_address, thread_settings
from molyneux.run.run.experiment import Experiment
from molyneux.run.run.folder import RunFolder
from molyneux.run.run.stored import has_run
from molyneux.run.studies.pruning import Losses, PrunedRun, PruningRule, pruned_run
from molyneux.run.studies.study import run_name

if TYPE_CHECKING:
    from molyneux.run.studies.records import Records

Report = Callable[[str, int, int], None]
"""Receives the step of a run, how much of it is done, and how much there is in all."""


class SweepProgress(Protocol):
    """Receives the progress of a study, from several threads."""

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
        pruned: the epoch after which it was stopped because earlier ones were better; 0 if it was not.
        losses: the validation losses of a run that was stopped, by epoch.
    """

    folder: Path
    experiment: Experiment
    error: str = ""
    recorded: bool = False
    pruned: int = 0
    losses: Losses = ()


@dataclass(frozen=True)
class Job:
    """One run of a study: its name, the file of its resolved settings, its folder, the file for its standard error.

    `rule` is the file that says when it is to be stopped; None where it always comes to its end. Runs of equal `kind` may share a
    process on this machine, one after the other; one without a kind has a process of its own.
    """

    name: str
    config: Path
    folder: Path
    log: Path
    rule: Path | None = None
    kind: tuple[int | None, str] | None = None

    @property
    def words(self) -> list[str]:
        """The arguments of the function that computes it."""
        return [str(self.config), str(self.folder), "" if self.rule is None else str(self.rule)]


class Launcher(ABC):
    """Computes runs somewhere, at most `jobs` at the same time. As a context, it ends whatever is under way when it is left."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @abstractmethod
    def run(self, job: Job, report: Report) -> str:
        """Compute a run to its end and return what went wrong; empty if nothing did. Called by several threads."""

    @abstractmethod
    def stop(self) -> None:
        """End every run that is under way."""


def make_launcher(on: str, jobs: int, *, gpus: float | None = 0.0) -> Launcher:
    """The launcher for `local`, `ray` (on this machine, or the cluster that RAY_ADDRESS names) or the address of a Ray cluster.

    Args:
        on: where runs are computed.
        jobs: how many at the same time.
        gpus: of a cluster, for each run; None shares all of them out. See `RayWorkers`.

    Raises:
        ConfigError: no such place, or Ray is not installed.
    """
    return LocalLauncher(jobs) if on == "local" else RayLauncher(jobs, ray_address(on), gpus=gpus)


class LocalLauncher(Launcher):
    """Processes on this machine, each of which computes many runs, one after the other; the cores are shared among them."""

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        self._processes: set[subprocess.Popen[str]] = set()
        self._idle = list[tuple[tuple[int | None, str] | None, subprocess.Popen[str]]]()
        self._lock = threading.RLock()
        self._stopped = False

    def run(self, job: Job, report: Report) -> str:
        """See `Launcher`. A run whose process was killed by a signal is begun again."""
        for _ in range(ATTEMPTS):
            status, problem = self._attempt(job, report)
            if status >= 0 or self._stopped:
                break
        if status == 0:
            job.log.unlink(missing_ok=True)
            return ""
        return problem or f"its process ended with status {status}; see {job.log}"

    def stop(self) -> None:
        """End the processes, which get some time to write checkpoints: they go on from these when the study is run again."""
        with self._lock:
            self._stopped = True
            running, idle = list(self._processes), [process for _, process in self._idle]
            self._idle.clear()
        try:
            for process in running:
                process.terminate()
            end = time.monotonic() + LAST_SECONDS
            for process in running:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, end - time.monotonic()))
        finally:  # also after a second Ctrl-C
            for process in running:
                process.kill()
            for process in idle:  # of the others, those that wait for a run take care
                self._forget(process)

    def _attempt(self, job: Job, report: Report) -> tuple[int, str]:
        """How the process ended that computed a run, 0 where the run is done, and what it said of an error."""
        while True:
            process, used = self._take(job)
            begun, error = _compute_in(process, job, report)
            if error is None:
                process.wait()
                self._forget(process)
                if used and not begun:  # a process that was idle is gone: that is no failure of this run
                    continue
                return process.returncode or 1, ""
            self._give_back(process, job)
            return (1 if error else 0), error

    def _take(self, job: Job) -> tuple[subprocess.Popen[str], bool]:
        """A process for a run, and whether it has computed others; an idle one of another kind ends where it is too many."""
        job.log.write_text("", encoding="utf-8")
        with self._lock:
            if self._stopped:
                raise StoreError("the study was stopped: the same command goes on where it stopped")
            place = next((at for at, (kind, _) in enumerate(self._idle) if kind == job.kind), None)
            if place is not None:
                return self._idle.pop(place)[1], True
            if self._idle and len(self._processes) >= self.jobs:
                self._forget(self._idle.pop(0)[1])
            process = self._start(job.log)
            self._processes.add(process)
        return process, False

    def _give_back(self, process: subprocess.Popen[str], job: Job) -> None:
        """Keep a process for the next run of its kind, if there may be one."""
        with self._lock:
            if job.kind is not None and not self._stopped:
                self._idle.append((job.kind, process))
                return
        self._forget(process)

    def _forget(self, process: subprocess.Popen[str]) -> None:
        """End a process that computes nothing."""
        process.kill()
        with process:  # which waits and closes its files
            pass
        with self._lock:
            self._processes.discard(process)

    def _start(self, log: Path) -> subprocess.Popen[str]:
        code = "from molyneux.run.studies.worker import work; work()"
        with log.open("a", encoding="utf-8") as errors:
            return subprocess.Popen(  # its own session, so that Ctrl-C reaches only the process that the user sees
                [sys.executable, "-P", "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, **thread_settings(max(1, cores() // self.jobs))},
                start_new_session=True,
            )


class RayLauncher(Launcher):
    """Runs in processes on a Ray cluster, each of which computes many runs, one after the other.

    The machines of a cluster share the file system that holds the folders of the runs, and have this package installed. The run
    of a process that was killed, or whose machine is gone, is taken up by another from the last checkpoint.

    Args:
        jobs: runs at the same time.
        address: of a cluster; None takes the one that RAY_ADDRESS names, or starts Ray on this machine.
        gpus: of each run, see `RayWorkers`.

    Raises:
        ConfigError: Ray is not installed, or no cluster answers at the address.
    """

    def __init__(self, jobs: int, address: str | None = None, *, gpus: float | None = 0.0) -> None:
        super().__init__(jobs)
        self._workers = RayWorkers(jobs, address, gpus=gpus)

    def run(self, job: Job, report: Report) -> str:
        """See `Launcher`."""
        from ray.exceptions import RayTaskError

        from molyneux.run.studies.worker import ray_run

        progress = job.log.with_suffix(".progress")
        words = (*job.words, str(progress))
        try:
            return self._workers.call(ray_run, words, look=lambda: _report_last_line(progress, report))
        except RayTaskError as error:
            return f"its process on the cluster failed: {type(error.cause).__name__}: {error.cause}"
        except MolyneuxError as error:
            return str(error)
        finally:
            progress.unlink(missing_ok=True)

    def stop(self) -> None:
        """See `Launcher`: the runs get some time to write checkpoints, and a Ray that was started here ends."""
        self._workers.stop()


@dataclass(frozen=True)
class Pool:
    """Several runs at a time, each recorded as soon as it is done; each has a folder below `folder`.

    A run that is on record is not run, even if its folder is gone, unless there is a rule by which it may be stopped.
    """

    folder: Path
    launcher: Launcher
    progress: SweepProgress
    records: Records

    def run(self, experiments: Sequence[Experiment], rules: Sequence[PruningRule | None] = ()) -> list[Finished]:
        """Run experiments and wait for all of them; a run that fails does not stop the others. Equal ones are run once.

        Args:
            experiments: what to run.
            rules: for each of them, when it is stopped, or None; empty where all come to their end.
        """
        unique = {run_name(experiment): experiment for experiment in experiments}
        stops = dict(zip(map(run_name, experiments), rules, strict=True)) if rules else {}
        self.progress.plan(len(unique))
        with ThreadPoolExecutor(self.launcher.jobs) as threads:
            futures = {name: threads.submit(self._run, name, experiment, stops.get(name)) for name, experiment in unique.items()}
            try:
                finished = {name: future.result() for name, future in futures.items()}
                return [finished[run_name(experiment)] for experiment in experiments]
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                self.launcher.stop()
                raise

    def _run(self, name: str, experiment: Experiment, rule: PruningRule | None) -> Finished:
        folder, recorded, pruned = self.folder / name, False, None
        try:
            error = ""
            if not has_run(folder) or not RunFolder(folder, experiment).complete:
                recorded = rule is None and experiment in self.records
                if not recorded:
                    error, pruned = self._launch(name, experiment, folder, rule)
            if pruned is not None:
                self.records.add_pruned(folder, experiment, pruned)
            elif not error and not recorded:
                self.records.add(folder, experiment)
        except MolyneuxError as problem:
            error = str(problem)
        self.progress.run(name, "failed" if error else "done", 1, 1)
        stopped = (pruned.epoch, pruned.losses) if pruned is not None and not error else (0, ())
        return Finished(folder, experiment, error, recorded, *stopped)

    def _launch(self, name: str, experiment: Experiment, folder: Path, rule: PruningRule | None) -> tuple[str, PrunedRun | None]:
        """Compute a run; what went wrong, and how it was stopped if it was. One that was stopped before is not begun again."""
        settings = (self.folder / "experiments" / f"{name}.yaml").resolve()
        place = settings.with_name(f"{name}.rule.json") if rule is not None else None
        if rule is not None and place is not None:
            rule.write(place)
            if (known := pruned_run(place)) is not None:
                return "", known
        try:  # not `store.write_text`: the file is made anew for every attempt, and need not outlast the machine
            settings.parent.mkdir(parents=True, exist_ok=True)
            settings.write_text(self.records.settings_text(experiment.document), encoding="utf-8")
        except OSError as problem:
            raise store.store_error(problem, settings) from problem
        job = Job(name, settings, folder.resolve(), settings.with_suffix(".log"), place, _kind(experiment))
        error = self.launcher.run(job, lambda step, done, total: self.progress.run(name, step, done, total))
        return error, pruned_run(place) if place is not None and not error else None


def _kind(experiment: Experiment) -> tuple[int | None, str] | None:
    """What a process of a run is made for: threads and device. None where importing the run's classes may change a process."""
    if any(map(is_foreign, class_paths(experiment.resolved))):
        return None
    return experiment.learn.training.threads, experiment.learn.training.device


def _compute_in(process: subprocess.Popen[str], job: Job, report: Report) -> tuple[bool, str | None]:
    """Let a worker compute a run; whether it began, and what went wrong, None where the process ended before the run did."""
    asked = dict(zip(("config", "folder", "rule"), job.words, strict=True)) | {"log": str(job.log)}
    begun = False
    if process.stdin is None or process.stdout is None:
        raise ValueError("expected a process with pipes")
    try:
        os.write(process.stdin.fileno(), (json.dumps(asked) + "\n").encode())  # nothing stays in a buffer if it is gone
    except BrokenPipeError:
        return False, None
    for line in process.stdout:
        record = _parsed(line)
        begun = begun or "begun" in record
        if "ended" in record:
            return True, str(record["ended"])
        _hand_on(record, report)
    return begun, None


def _report_last_line(path: Path, report: Report) -> None:
    """Hand on how far a worker has come that writes its progress into a file."""
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()
        _hand_on(_parsed(lines[-1] if lines else ""), report)


def _hand_on(record: Mapping[str, Any], report: Report) -> None:
    if "step" in record:
        report(str(record["step"]), int(record["done"]), int(record["total"]))


def _parsed(line: str) -> Mapping[str, Any]:
    """What a worker says in a line; nothing where something else in its process wrote the line."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) and {"begun", "ended", "step", "done", "total"} >= record.keys() else {}
