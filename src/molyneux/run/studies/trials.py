"""The trials of a search in the storage of Optuna, which several processes, on several machines, may share.

A trial is written with all its values, its owner and its number in one transaction, so no process finds half of one. Where
two processes draw for the same number, the storage keeps both, and only the one that has this number counts. A trial is computed
by its owner alone: the process that drew it, or a later one with the same folder.

Trials are drawn in batches of as many as there are jobs. What is drawn, and what a run is pruned by, depends on the number of the
trial and on the batches before alone, so a search that was interrupted ends as one that was not.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from molyneux.core import ConfigError, seeds, store
from molyneux.run.run.experiment import Experiment
from molyneux.run.run.sections import KnownParts
from molyneux.run.studies.pruning import Earlier, Losses, PruningRule
from molyneux.run.studies.study import Overrides, Study
from molyneux.run.studies.trials_file import VARIANT, choices, choices_of, search_settings

_OWNER, _NUMBER, _AFTER = "owner", "number", "after"


class Trials:
    """The trials of a study.

    Args:
        study: what is searched.
        folder: of the runs; with no `storage`, `search.sqlite3` in it has the trials.
        storage: the URL of a database, such as `postgresql://user@host/name`, or empty.

    Raises:
        ConfigError: the database cannot be used, or its driver is not installed.
    """

    def __init__(self, study: Study, folder: Path, storage: str = "") -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.study, self._shared = study, bool(storage)
        self._owner, self._known = _owner(folder), KnownParts()
        self._sign = -1.0 if _direction(study) == "maximize" else 1.0
        self._database, self._trials = _open(study, storage or f"sqlite:///{_made(folder / 'search.sqlite3')}")

    def close(self) -> None:
        """End the connection with the database."""
        self._database.remove_session()
        self._database.engine.dispose()

    def counted(self) -> list[FrozenTrial]:
        """All trials that count, of every owner, in order."""
        return self._counted(self._all())

    def own(self, recorded: Callable[[FrozenTrial], bool] = lambda trial: False) -> list[FrozenTrial]:
        """Those that this process computes.

        Args:
            recorded: whether the runs of a trial are on record here: in a storage that is shared, those of them that were taken
                in belong to nobody.
        """

        def mine(trial: FrozenTrial) -> bool:
            owner = trial.user_attrs.get(_OWNER)
            return owner == self._owner or (not owner and recorded(trial))

        return [trial for trial in self.counted() if not self._shared or mine(trial)]

    def take_in(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add trials that ended, on record from an earlier storage, where this one has none but the first of them.

        Args:
            rows: as `rows` gives them; see `TrialsFile.ended`.
        """
        rows = rows[: self.study.drawn]
        while len(counted := self._counted(known := self._all())) < len(rows):
            if any(not _is_of(trial, row) for trial, row in zip(counted, rows, strict=False)):
                return
            self._trials.add_trial(self._recorded(rows[len(counted)], len(known)))

    def draw(self, size: int) -> list[FrozenTrial]:
        """Draw the next batch of `size` trials, or what is left of a batch or of the study.

        A batch begins at every multiple of its size.
        """
        drawn = list[FrozenTrial]()
        # Both from one look: where another process adds a trial after it, this one gets a later number and does not count.
        while len(self._counted(known := self._all())) < self.study.drawn:
            number = len(known)
            if drawn and number % size == 0:
                break
            self._trials.add_trial(self._drawn(number, number - number % size))
            written = [trial for trial in self._all() if _by(trial, self._owner, number)][-1]
            if _counts(written):
                drawn.append(written)
            else:  # another process was faster
                self._trials.tell(written.number, state=TrialState.FAIL)
        return drawn

    def open_batch(self, size: int) -> list[FrozenTrial]:
        """What is left to draw of a batch whose drawing was interrupted."""
        return self.draw(size) if len(self._all()) % size else []

    def point(self, trial: FrozenTrial) -> Overrides:
        """The settings that a trial stands for."""
        chosen = {path: values[choices(values).index(trial.params[path])] for path, values in self.study.grid.items()}
        numbers = {path: trial.params[path] for path in self.study.ranges}
        return {**self.study.variant(trial.params.get(VARIANT, "")), **chosen, **numbers}

    def experiments(self, trial: FrozenTrial) -> list[Experiment]:
        """The runs of a trial, one for each seed; errors as `Study.experiments`."""
        return self.study.experiments(self.point(trial), known=self._known)

    def rule(self, trial: FrozenTrial) -> PruningRule | None:
        """When the first run of a trial is stopped: by the trials that were known when it was drawn."""
        if self.study.pruning == "none":
            return None
        after = int(trial.user_attrs.get(_AFTER, trial.number))
        known = [other for other in self.counted() if other.number < after and other.state.is_finished()]
        if self.study.apart:
            known = [other for other in known if other.params[VARIANT] == trial.params[VARIANT]]
        earlier = tuple(
            Earlier(
                tuple((step, self._sign * value) for step, value in sorted(other.intermediate_values.items())),
                other.state is TrialState.COMPLETE,
            )
            for other in known
            if other.state is not TrialState.FAIL
        )
        return PruningRule(self.study.pruning, min(5, max(2, self.study.trials // 3)), earlier)

    def tell(self, trial: FrozenTrial, state: TrialState, value: float | None = None, losses: Losses = ()) -> None:
        """Write what came out of a trial. Losses stand with the sign with which more is better if it is of the goal."""
        open_trial = optuna.trial.Trial(self._trials, trial._trial_id)
        for epoch, loss in losses:
            if epoch not in trial.intermediate_values:
                open_trial.report(self._sign * loss, epoch)
        self._trials.tell(trial.number, value, state=state)

    def rows(self) -> list[dict[str, Any]]:
        """Every trial that counts, as plain data: number, state, settings, value, and the validation losses it was judged by."""
        return [
            {
                "trial": number,
                "state": trial.state.name.lower(),
                "settings": dict(trial.params),
                "value": trial.value if trial.state is TrialState.COMPLETE else None,
                "losses": [[step, self._sign * value] for step, value in sorted(trial.intermediate_values.items())],
            }
            for number, trial in enumerate(self.counted())
        ]

    def _counted(self, trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
        return [trial for trial in trials if _counts(trial)][: self.study.drawn]

    def _all(self) -> list[FrozenTrial]:
        found: list[FrozenTrial] = self._trials.get_trials(deepcopy=False)
        return found

    def _drawn(self, number: int, after: int) -> FrozenTrial:
        """A trial with values that depend on its number and the trials before `after`; those between count as under way."""
        seed = int(seeds.generator(self.study.seeds[0], "search", number).integers(2**32))
        memory = optuna.create_study(direction=self._trials.direction, sampler=sampler(self.study, seed))
        earlier = list(enumerate(self._all()[:number]))
        if self.study.apart:  # variants take turns, and each learns from its own trials
            turn = list(self.study.variants)[number % len(self.study.variants)]
            memory.enqueue_trial({VARIANT: turn})
            earlier = [(place, trial) for place, trial in earlier if trial.params[VARIANT] == turn]
        memory.add_trials([trial if place < after else _under_way(trial) for place, trial in earlier])
        trial = memory.ask()
        for path, values in choices_of(self.study).items():
            trial.suggest_categorical(path, values)
        for path, item in self.study.ranges.items():
            if item.whole:
                trial.suggest_int(path, round(item.low), round(item.high), log=item.log)
            else:
                trial.suggest_float(path, item.low, item.high, log=item.log)
        return optuna.trial.create_trial(
            state=TrialState.RUNNING,
            params=trial.params,
            distributions=trial.distributions,
            user_attrs={_OWNER: self._owner, _NUMBER: number, _AFTER: after},
        )

    def _recorded(self, row: Mapping[str, Any], number: int) -> FrozenTrial:
        """A trial on record as the trial of a number."""
        distributions: dict[str, BaseDistribution] = {
            path: CategoricalDistribution(values) for path, values in choices_of(self.study).items()
        }
        for path, item in self.study.ranges.items():
            if item.whole:
                distributions[path] = IntDistribution(round(item.low), round(item.high), log=item.log)
            else:
                distributions[path] = FloatDistribution(item.low, item.high, log=item.log)
        state, losses = TrialState[row["state"].upper()], {epoch: self._sign * loss for epoch, loss in row["losses"]}
        return optuna.trial.create_trial(
            state=state,
            value=losses[max(losses)] if state is TrialState.PRUNED and losses else row["value"],  # as Optuna has it
            params=dict(row["settings"]),
            distributions=distributions,
            intermediate_values=losses,
            user_attrs={_NUMBER: number},
        )


def sampler(study: Study, seed: int) -> optuna.samplers.BaseSampler:
    """TPE draws the first third of the trials at random, at least two and at most optuna's ten, and learns from these."""
    if study.search == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=min(10, max(2, study.trials // 3)))


def _direction(study: Study) -> Literal["maximize", "minimize"]:
    return study.goals[0].direction if study.goals else "maximize"


def _open(study: Study, url: str) -> tuple[optuna.storages.RDBStorage, optuna.Study]:
    """A database, and the trials of this very study in it; more of them may be asked for later."""
    from sqlalchemy.exc import ArgumentError, DBAPIError

    try:
        database, name = (
            optuna.storages.RDBStorage(_with_driver(url)),
            f"{study.name}-{store.fingerprint(search_settings(study))}",
        )
        found = optuna.create_study(storage=database, study_name=name, direction=_direction(study), load_if_exists=True)
        return database, found
    except (ImportError, ModuleNotFoundError) as error:
        advice = "pip install 'molyneux[postgresql]' for PostgreSQL, or use an SQLite file"
        raise ConfigError(f"storage: the driver of {_shown(url)} is not installed: {advice}") from error
    except ArgumentError as error:
        raise ConfigError(f"storage: expected a URL such as postgresql://user@host/name, got {_shown(url)}") from error
    except DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error).__name__
        raise ConfigError(f"storage: cannot use {_shown(url)}: {reason}") from error


def _made(path: Path) -> Path:
    """A database that is there, with the permissions of new files: SQLite would leave out that the group may write."""
    try:
        path.touch()
    except OSError as error:
        raise store.store_error(error, path) from error
    return path


def _with_driver(url: str) -> str:
    """PostgreSQL by psycopg 3, unless another driver is named."""
    scheme, colon, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}" if colon and scheme in ("postgres", "postgresql") else url


def _shown(url: str) -> str:
    """A URL without its password, for messages."""
    scheme, colon, rest = url.partition("://")
    who, at, where = rest.rpartition("@")
    return f"{scheme}{colon}{who.partition(':')[0]}{at}{where}" if colon else "the storage that is named"


def _owner(folder: Path) -> str:
    """The name by which the trials of a folder are known."""
    path = folder / "search-owner.txt"
    if not store.is_file(path):
        store.write_text(path, f"{uuid.uuid4().hex}\n")
    return path.read_text(encoding="utf-8").strip()


def _counts(trial: FrozenTrial) -> bool:
    """Whether a trial has the number that it was drawn for."""
    return bool(trial.user_attrs.get(_NUMBER, trial.number) == trial.number)


def _by(trial: FrozenTrial, owner: str, number: int) -> bool:
    return trial.user_attrs.get(_OWNER) == owner and trial.user_attrs.get(_NUMBER) == number


def _is_of(trial: FrozenTrial, row: Mapping[str, Any]) -> bool:
    """Whether a trial ended, and is the one of a line."""
    return trial.state.is_finished() and dict(trial.params) == dict(row["settings"])


def _under_way(trial: FrozenTrial) -> FrozenTrial:
    return optuna.trial.create_trial(state=TrialState.RUNNING, params=trial.params, distributions=trial.distributions)
