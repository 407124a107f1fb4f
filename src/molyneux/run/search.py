"""A random or TPE search over the points of a study (optuna), which remembers its trials in the folder of the study."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

import optuna
from optuna.trial import FrozenTrial, TrialState

from molyneux.core import ConfigError, nearest, seeds, store
from molyneux.run.launch import Finished, Pool
from molyneux.run.steps import read_scores
from molyneux.run.study import Goal, Overrides, Study

_VARIANT = "variant"


def search(study: Study, folder: Path, pool: Pool) -> list[Finished]:
    """Try `study.trials` points, as many at a time as the pool has jobs; `search.sqlite3` in `folder` has those of earlier calls.

    Raises:
        ConfigError: the settings of a trial cannot be used, or no run has the score that is the goal.
    """
    trials = _trials(study, folder)
    finished = _try(study, trials, trials.get_trials(deepcopy=False)[: study.trials], pool)
    while (left := study.trials - len(trials.get_trials(deepcopy=False))) > 0:
        asked = [_ask(study, trials) for _ in range(min(left, pool.launcher.jobs))]
        finished += _try(study, trials, asked, pool)
    return finished


def _trials(study: Study, folder: Path) -> optuna.Study:
    """The trials of this very study; more of them may be asked for later."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    settings = {
        "base": study.base_settings,
        "grid": {path: list(values) for path, values in study.grid.items()},
        "ranges": {path: vars(item) for path, item in study.ranges.items()},
        "variants": {name: dict(values) for name, values in study.variants.items()},
        "goal": None if study.goal is None else {**vars(study.goal), "about": dict(study.goal.about)},
        "seeds": list(study.seeds),
        "search": study.search,
    }
    return optuna.create_study(
        storage=f"sqlite:///{folder / 'search.sqlite3'}",
        study_name=f"{study.name}-{store.fingerprint(settings)}",
        direction=study.goal.direction if study.goal else "maximize",
        load_if_exists=True,
    )


def _ask(study: Study, trials: optuna.Study) -> FrozenTrial:
    """A new trial. Its random numbers depend on its number alone, so a search that was stopped goes on as if it had not been."""
    number = len(trials.get_trials(deepcopy=False))
    seed = int(seeds.generator(study.seeds[0], "search", number).integers(2**32))
    trials.sampler = _sampler(study, seed)
    trial = trials.ask()
    if study.variants:
        trial.suggest_categorical(_VARIANT, list(study.variants))
    for path, values in study.grid.items():
        trial.suggest_categorical(path, list(range(len(values))))
    for path, item in study.ranges.items():
        if item.whole:
            trial.suggest_int(path, round(item.low), round(item.high), log=item.log)
        else:
            trial.suggest_float(path, item.low, item.high, log=item.log)
    return trials.get_trials(deepcopy=False)[trial.number]


def _sampler(study: Study, seed: int) -> optuna.samplers.BaseSampler:
    """TPE draws the first third of the trials at random, at least two and at most optuna's ten, and learns from these."""
    if study.search == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=min(10, max(2, study.trials // 3)))


def _point(study: Study, trial: FrozenTrial) -> Overrides:
    """The settings that a trial stands for."""
    chosen = {path: study.grid[path][place] for path, place in trial.params.items() if path in study.grid}
    numbers = {path: value for path, value in trial.params.items() if path in study.ranges}
    return {**study.variant(trial.params.get(_VARIANT, "")), **chosen, **numbers}


def _try(study: Study, trials: optuna.Study, tried: Sequence[FrozenTrial], pool: Pool) -> list[Finished]:
    """Run the experiments of some trials side by side, and tell what came out of those that are still open."""
    planned = [study.experiments(_point(study, trial)) for trial in tried]
    finished = pool.run([experiment for experiments in planned for experiment in experiments])
    for place, trial in enumerate(tried):
        group = finished[place * len(study.seeds) : (place + 1) * len(study.seeds)]
        if trial.state is TrialState.RUNNING:
            if any(item.error for item in group):
                trials.tell(trial.number, state=TrialState.FAIL)
            else:
                goal = study.goal
                trials.tell(trial.number, statistics.fmean(_reached(goal, item.folder) for item in group) if goal else 0.0)
    return finished


def _reached(goal: Goal, folder: Path) -> float:
    scores = read_scores(folder)
    for score in scores:
        if score.name == goal.score and dict(score.about) == dict(goal.about) and score.value is not None:
            return score.value
    names = {score.name for score in scores if score.value is not None}
    if goal.score not in names:
        raise ConfigError(f"goal.score: no run has the score {goal.score!r}; {nearest(goal.score, names)}")
    known = {str(dict(score.about)) for score in scores if score.name == goal.score}
    raise ConfigError(f"goal.about: no score {goal.score} is about {dict(goal.about)}; {nearest(str(dict(goal.about)), known)}")
