"""What a tiny run of a sweep costs with a process of its own, and in a process that computes one after the other.

    python benchmarks/workers.py [--quick] [--out FOLDER]

The same runs, of two steps each, are swept in empty folders; the start of processes and what they import counts. All times are of
the processor, of the command and all processes that it starts. Bytecode of all packages is there, as after a first run.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from record import Record, options
from sweep import Quiet, study_of

from molyneux.run.studies.launch import Job, LocalLauncher, Pool, Report
from molyneux.run.studies.records import Records
from molyneux.run.studies.study import check_points

WHAT = (
    "Runs of two steps, swept by one job: processor time of a run, with a process for each and with one for all of them, "
    "whose start is shared out among them"
)


class OneEach(LocalLauncher):
    """Starts a process for every run."""

    def run(self, job: Job, report: Report) -> str:
        """See `Launcher`."""
        return super().run(replace(job, kind=None), report)


def seconds(launcher: Callable[[int], LocalLauncher], runs: int, samples: int) -> float:
    """Processor time of so many runs, of this process and those that it started."""
    study = study_of(runs, 2, samples)
    grid = [experiment for same in zip(*check_points(study), strict=True) for experiment in same]
    began = os.times()
    with tempfile.TemporaryDirectory() as name, Records.held(Path(name) / "results") as records, launcher(1) as processes:
        finished = Pool(Path(name) / "runs", processes, Quiet(), records).run(grid)
        assert not any(item.error for item in finished), next(item.error for item in finished if item.error)
    return sum(os.times()[:4]) - sum(began[:4])


def main() -> None:
    arguments = options(__doc__ or "").parse_args()
    runs, samples = (1, 20) if arguments.quick else (20, 200)
    assert arguments.quick or not sys.dont_write_bytecode, "expected bytecode to be kept: unset PYTHONDONTWRITEBYTECODE"
    record = Record("workers", WHAT, arguments.out)
    if not arguments.quick:
        seconds(OneEach, 1, samples)  # compiles what this machine has not compiled yet
    alone = seconds(OneEach, min(runs, 5), samples) / min(runs, 5)
    shared = seconds(LocalLauncher, runs, samples) / runs
    record.add({"a process computes": "one run", "s a run": alone})
    record.add({"a process computes": f"{runs} runs", "s a run": shared, "times as fast as one each": alone / shared})
    record.write()


if __name__ == "__main__":
    main()
