"""A sweep in a process that is going to be interrupted. Its workers are processes too, forked because that takes no time."""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import molyneux.run.studies.launch
from molyneux.run import Goal, Range, Study, run_study
from molyneux.run.studies.launch import Job, LocalLauncher, Report
from molyneux.run.studies.worker import ProgressLines, _compute


class Quiet:
    def plan(self, runs: int) -> None:
        pass

    def run(self, name: str, step: str, done: int, total: int) -> None:
        pass


def study_of(base: dict[str, Any]) -> Study:
    return Study(
        name="mine",
        base=base,
        search="tpe",
        pruning="median",
        trials=12,
        ranges={"learn.learning_rate": Range(low=1e-6, high=1e-1, log=True)},
        goal=Goal(score="coherence.strict", about={"source": "word", "target": "point"}),
    )


def compute(words: list[str], parent: Connection) -> None:
    """What a worker does; like a real one, it ends with the process that started it."""

    def end_with_parent() -> None:
        try:
            parent.recv()
        except EOFError:
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    with Path(os.devnull).open("w") as stream:
        _compute(*words, ProgressLines(stream))


class Forking(LocalLauncher):
    """Kills one of its workers in the midst of a training, once in the life of the folder."""

    def _attempt(self, job: Job, report: Report) -> tuple[int, str]:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        process = context.Process(target=_closing, args=(ours, job.words, theirs))
        with self._lock:
            if self._stopped:
                return 1, "stopped"
            process.start()
            process.wait = process.join  # type: ignore[attr-defined]
            self._processes.add(process)  # type: ignore[arg-type]
        theirs.close()
        mark = job.folder.parent.parent / "worker-killed"
        while process.is_alive():
            if (job.folder / "model" / "history.csv").exists() and not mark.exists():
                mark.touch()
                process.kill()
            time.sleep(0.002)
        process.join()
        with self._lock:
            self._processes.discard(process)  # type: ignore[arg-type]
        ours.close()
        return process.exitcode or 0, ""


def _closing(ours: Connection, words: list[str], theirs: Connection) -> None:
    """The main function of a worker; it ends without waiting for the threads of its parent, which it does not have."""
    ours.close()
    try:
        compute(words, theirs)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def sweep(base: dict[str, Any], folder: str, storage: str = "") -> None:
    """Run the study, or go on with it."""
    molyneux.run.studies.launch.LocalLauncher = Forking  # type: ignore[misc]
    place = Path(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background may have been told to ignore
    try:
        jobs = 1 if storage else 2
        run_study(study_of(base), place / "runs", place / "results", jobs=jobs, storage=storage, progress=Quiet())
    except KeyboardInterrupt:
        sys.exit(130)
