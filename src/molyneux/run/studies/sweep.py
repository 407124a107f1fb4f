"""A study is run: every point and seed becomes a run, every run a record, all records a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from molyneux.core import ConfigError, store
from molyneux.core.tooling.extras import import_extra
from molyneux.run.run.stored import given_object, given_path
from molyneux.run.studies.launch import Finished, Pool, SweepProgress, make_launcher
from molyneux.run.studies.study import Study, check_points


@dataclass(frozen=True)
class SweepOutcome:
    """What a study left behind: its runs, the folder of records, and the pages.

    Args:
        finished: its runs in the order in which they were begun.
        results: the folder of records.
        pages: their files.
        notes: why trainings were not computed at once (`run_study(stack=...)`).
    """

    finished: tuple[Finished, ...]
    results: Path
    pages: tuple[Path, ...]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Finished, ...]:
        """The runs that failed."""
        return tuple(item for item in self.finished if item.error)

    @property
    def pruned(self) -> tuple[Finished, ...]:
        """The runs that were stopped because earlier ones were better."""
        return tuple(item for item in self.finished if item.pruned)

    @property
    def recorded(self) -> tuple[Finished, ...]:
        """The runs that were not run, because their records are there."""
        return tuple(item for item in self.finished if item.recorded)


def run_study(
    study: Study,
    folder: Path | str,
    results: Path | str,
    *,
    jobs: int = 1,
    on: str = "local",
    gpus: float | None = None,
    storage: str = "",
    part: tuple[int, int] = (1, 1),
    stack: int = 1,
    progress: SweepProgress,
) -> SweepOutcome:
    """Run a study, or go on where an earlier call stopped: complete runs, and those on record, are not run again.

    A grid is run seed by seed, every point with the first seed and then with the next, so that a study that is stopped has a
    whole table of fewer seeds. A search whose storage is gone goes on from the trials in `results`: it draws what it would have
    drawn.

    Args:
        study: what to run.
        folder: of its runs, and of the storage of a search.
        results: where the records and the pages go; records are written after every run, and those that are there stand for
            their runs. Move them away to run everything anew.
        jobs: runs at the same time, each in a process that computes one after the other; those with classes from outside of the
            package have a process of their own on this machine.
        on: where they are computed: `local`, `ray`, or the address of a Ray cluster that shares this file system.
        gpus: of a cluster, the part of a GPU for each run, such as 0.25, or how many. By default its GPUs are shared out among
            `jobs`, unless `learn.device` is cpu.
        storage: the URL of a database for the trials of a search, in place of that of the study. Sweeps on several machines,
            each with its own folders, share the trials of a study through it.
        part: which part of the grid of how many, counted from 1, such as (2, 8) for the second of eight jobs of a cluster. A part
            has its runs and its records in folders `part-2-of-8` of those of the study, and needs no other part. A call without
            parts takes in the records of all parts that are there, and runs what is missing.
        stack: how many trainings of a grid are computed at once, in this process and on one device, as far as their models are
            alike (`learn.fit_stacked`); the runs are measured by `jobs` afterwards. It pays for small models.
        progress: receives the progress.

    Raises:
        ConfigError: with every problem of every point, before anything is run; or there is no such place to run.
        ConflictError: another process runs the study in this folder or writes records into `results`, or `results` holds
            records of runs that are no part of this grid, or trials of another search.
        StoreError: a folder cannot be written.
    """
    study = given_object(study, Study, path="load_study")
    results, folder = given_path(results, "a folder of results"), given_path(folder, "a folder of runs")
    _require_possible(study, jobs=jobs, on=on, gpus=gpus, storage=storage, part=part, stack=stack)
    number, parts = part
    if parts > 1:
        folder, results = (each / f"part-{number}-of-{parts}" for each in (folder, results))
    if study.search != "grid":
        import_extra("optuna", extra="search", what=f"search: {study.search}")
    planned = check_points(study)
    from molyneux.report import write_study  # draws: takes a second to import
    from molyneux.run.studies.records import Records
    from molyneux.run.studies.trials_file import TrialsFile

    grid = [experiment for same_seed in zip(*planned, strict=True) for experiment in same_seed]
    with store.locked(folder), Records.held(results) as records:
        if study.search == "grid":
            records.require_all_of(grid)
            records.take_in(sorted(results.glob("part-*-of-*")), grid)
        notes = list[str]()
        tried = None if study.search == "grid" else TrialsFile(results / "trials.jsonl", study)
        without = all(experiment.learn.training.device == "cpu" for experiment in grid)
        with make_launcher(on, jobs, gpus=0.0 if gpus is None and without else gpus) as launcher:
            pool = Pool(folder, launcher, progress, records)
            if study.search == "grid":
                ours = grid[number - 1 :: parts]
                if stack > 1:
                    from molyneux.run.studies.stacked import train_stacked  # trains here: needs torch, as only workers do else

                    notes = train_stacked([run for run in ours if run not in records], folder, stack, progress)
                finished = pool.run(ours)
            else:
                from molyneux.run.studies.search import search  # optuna takes a second to import, which a grid does not need

                storage = storage or study.storage
                finished = search(study, folder, pool, storage=storage, record=tried)
        runs = records.of([item.experiment for item in finished if not item.error and not item.pruned])
        name = study.name if study.name != Study.name else ""  # without one, `write_study` finds it
        written = tuple(write_study(runs, results, name=name, by_seed=tuple(study.by_seed))) if runs else ()
        return SweepOutcome(tuple(finished), results, written, tuple(notes))


def _require_possible(
    study: Study, *, jobs: int, on: str, gpus: float | None, storage: str, part: tuple[int, int], stack: int
) -> None:
    """Raise ConfigError for ways to run a study that cannot be, or do not go together."""
    if jobs < 1:
        raise ConfigError(f"expected jobs of at least 1, got {jobs}")
    if gpus is not None and on == "local":
        raise ConfigError("--gpus: expected --on with a cluster, which shares its GPUs out: leave --gpus out")
    if storage and study.search == "grid":
        raise ConfigError("--storage: a grid has no trials: leave it out, or set search to random or tpe in the study")
    number, parts = part
    if not 1 <= number <= parts:
        raise ConfigError(f"expected a part from 1 to the number of parts, such as 2/8, got {number}/{parts}")
    if stack < 1:
        raise ConfigError(f"expected a stack of at least 1 training, got {stack}")
    if stack > 1 and (on != "local" or study.search != "grid"):
        raise ConfigError("--stack: expected a grid that is run here: leave --stack out, or --on and the search")
    if study.search != "grid" and parts > 1:
        raise ConfigError("--part: the trials of a search depend on one another: leave it out, and share them with --storage")
