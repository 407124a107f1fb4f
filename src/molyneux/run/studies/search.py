"""A random or TPE search over the points of a study (optuna), which remembers its trials in a storage."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from molyneux.core import ConfigError, Score, nearest
from molyneux.run.run.report import read_scores
from molyneux.run.studies.launch import Finished, Pool
from molyneux.run.studies.pruning import losses_of
from molyneux.run.studies.study import Goal, Study, run_name
from molyneux.run.studies.trials import Trials
from molyneux.run.studies.trials_file import TrialsFile


def search(study: Study, folder: Path, pool: Pool, *, storage: str = "", record: TrialsFile | None = None) -> list[Finished]:
    """Try `study.drawn` points, as many at a time as the pool has jobs; the storage has those of earlier calls.

    Args:
        study: what is searched.
        folder: has `search.sqlite3`, where there is no other storage.
        pool: computes the runs.
        storage: the URL of a database that several processes may share, each with a folder of its own.
        record: its trials are taken into a storage that has none, and all are written into it whenever some have ended.

    Raises:
        ConfigError: the storage or the settings of a trial cannot be used, or no run has the score that is the goal.
    """
    with closing(Trials(study, folder, storage)) as trials:

        def recorded(trial: FrozenTrial) -> bool:
            return all(experiment in pool.records for experiment in trials.experiments(trial))

        trials.take_in(record.ended if record is not None else ())
        trials.open_batch(pool.launcher.jobs)
        finished = _try(trials, trials.own(recorded), pool)
        while drawn := trials.draw(pool.launcher.jobs):
            finished += _try(trials, drawn, pool)
            if record is not None:
                record.write(trials.rows())
        if record is not None:
            record.write(trials.rows())
        return finished


def _try(trials: Trials, tried: Sequence[FrozenTrial], pool: Pool) -> list[Finished]:
    """Run the experiments of some trials side by side, and tell what came out of those that are still open.

    With pruning, the runs of the first seed come first, and those of other seeds are left out where it was stopped.
    """
    planned = [trials.experiments(trial) for trial in tried]
    groups = list[list[Finished]]()
    if trials.study.pruning == "none":
        finished = pool.run([experiment for experiments in planned for experiment in experiments])
        size = len(trials.study.seeds)
        groups = [finished[place * size : (place + 1) * size] for place in range(len(tried))]
    else:
        firsts = _first_runs(trials, tried, [experiments[0] for experiments in planned], pool)
        going_on = [place for place, first in enumerate(firsts) if not first.pruned and not first.error]
        others = iter(pool.run([experiment for place in going_on for experiment in planned[place][1:]]))
        rest = {place: [next(others) for _ in planned[place][1:]] for place in going_on}
        groups = [[first, *rest.get(place, [])] for place, first in enumerate(firsts)]
    for trial, group in zip(tried, groups, strict=True):
        if trial.state is TrialState.RUNNING:
            _tell(trials, trial, group, pool)
    return [item for group in groups for item in group]


def _first_runs(trials: Trials, tried: Sequence[FrozenTrial], firsts: Sequence[Any], pool: Pool) -> list[Finished]:
    """The run of the first seed of every trial; one that is known to have been stopped is not run again."""
    open_ones = [place for place, trial in enumerate(tried) if trial.state is not TrialState.PRUNED]
    ended = [tried[place].state is TrialState.COMPLETE for place in open_ones]  # of these, the record stands for the run
    rules = [None if whole else trials.rule(tried[place]) for place, whole in zip(open_ones, ended, strict=True)]
    ran = pool.run([firsts[place] for place in open_ones], rules)
    known = dict(zip(open_ones, ran, strict=True))

    def stopped(place: int) -> Finished:
        losses = tuple(sorted(tried[place].intermediate_values.items()))
        epoch = losses[-1][0] if losses else 1
        return Finished(pool.folder / run_name(firsts[place]), firsts[place], pruned=epoch)

    return [known[place] if place in known else stopped(place) for place in range(len(tried))]


def _tell(trials: Trials, trial: FrozenTrial, group: Sequence[Finished], pool: Pool) -> None:
    first, goals = group[0], trials.study.goals
    if first.pruned:
        return trials.tell(trial, TrialState.PRUNED, losses=first.losses)
    if any(item.error for item in group):
        return trials.tell(trial, TrialState.FAIL)
    history = first.folder / "model" / "history.csv"
    losses = losses_of(history) if trials.study.pruning != "none" else ()
    value = statistics.fmean(_reached(goal, _scores(item, pool)) for item in group for goal in goals) if goals else 0.0
    return trials.tell(trial, TrialState.COMPLETE, value, losses)


def _scores(item: Finished, pool: Pool) -> Sequence[Score]:
    """The scores of a run that has ended, of its record where that stands for it."""
    return pool.records.of([item.experiment])[0].scores if item.recorded else read_scores(item.folder)


def _reached(goal: Goal, scores: Sequence[Score]) -> float:
    for score in scores:
        if score.name == goal.score and dict(score.about) == dict(goal.about) and score.value is not None:
            return score.value
    names = {score.name for score in scores if score.value is not None}
    if goal.score not in names:
        raise ConfigError(f"goal.score: no run has the score {goal.score!r}; {nearest(goal.score, names)}")
    known = {str(dict(score.about)) for score in scores if score.name == goal.score}
    raise ConfigError(f"goal.about: no score {goal.score} is about {dict(goal.about)}; {nearest(str(dict(goal.about)), known)}")
