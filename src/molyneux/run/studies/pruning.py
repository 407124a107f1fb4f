"""Pruning: a run of a search that does worse than earlier ones is stopped in the midst of its training.

After every validation, the process that computes a run looks at its own losses so far and at those of earlier trials, which were
known when the trial was drawn, and stops if the pruner of Optuna says so. What a run does therefore depends on nothing that
happens at the same time, and a run that was interrupted, or moved to another machine, is pruned at the same epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from molyneux.core import ConfigError, History, store
from molyneux.core.history import MONITORED
from molyneux.core.tooling.extras import import_extra
from molyneux.run.run.steps import run_experiment
from molyneux.run.run.under_way import RunProgress

if TYPE_CHECKING:
    from molyneux.run.run.experiment import Experiment

Pruner = Literal["none", "median", "halving"]
"""`median` stops a run whose best loss so far is above the median of earlier runs at that epoch (Golovin et al., 2017);
`halving` one that is not among the best quarter at an epoch of 1, 4, 16, ... (asynchronous successive halving, Li et al.,
2018)."""

Losses = tuple[tuple[int, float], ...]
"""Validation losses by epoch, which is 1 for the first."""


@dataclass(frozen=True)
class Earlier:
    """What is known of an earlier trial: the losses of its first run, and whether that came to its end."""

    losses: Losses
    complete: bool


@dataclass(frozen=True)
class PruningRule:
    """When a run is stopped.

    Args:
        pruner: `median` or `halving`.
        startup: number of complete trials before which `median` stops none.
        earlier: the trials that are compared with, by their numbers.
    """

    pruner: Pruner
    startup: int
    earlier: tuple[Earlier, ...]

    @property
    def key(self) -> str:
        """A hash of all of it."""
        return store.fingerprint(asdict(self))

    def write(self, path: Path) -> None:
        """Write it for the process that computes the run."""
        store.write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> PruningRule:
        """Read what `write` wrote."""
        record = store.read_json(path)
        earlier = (Earlier(losses_from(item["losses"]), item["complete"]) for item in record["earlier"])
        return cls(record["pruner"], record["startup"], tuple(earlier))


@dataclass(frozen=True)
class PrunedRun:
    """Where a run was stopped, and what its training cost until then; empty fields are not known."""

    epoch: int
    losses: Losses
    cost: Mapping[str, Any]


class PrunedError(Exception):
    """A run is to end here; `epoch` is the last that was trained."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        super().__init__(f"pruned after epoch {epoch}")


def losses_from(pairs: Sequence[Sequence[float]]) -> Losses:
    """Losses as they are read from JSON."""
    return tuple((int(epoch), float(loss)) for epoch, loss in pairs)


def losses_of(history: Path) -> Losses:
    """The validation losses in the history of a training.

    Raises:
        ConfigError: nothing was validated.
    """
    rows = History.read_csv(history).rows
    if any(MONITORED not in row for row in rows):
        raise ConfigError("pruning: the training has no validation loss: set data.validation, or pruning: none")
    return tuple((int(row["epoch"]), row[MONITORED]) for row in rows)


class Watched:
    """The progress of a run that is stopped, by the exception `PrunedError`, when a rule says so."""

    def __init__(self, progress: RunProgress, rule: PruningRule, history: Path) -> None:
        self._progress, self._rule, self._history = progress, rule, history
        self._trial: Any = None
        self._told = 0

    def begin(self, step: str, note: str) -> None:
        """See `RunProgress`."""
        self._progress.begin(step, note)

    def advance(self, done: int, total: int, note: str = "") -> None:
        """See `RunProgress`."""
        self._progress.advance(done, total, note)

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        """See `FitProgress`."""
        self._progress.step(done, total, samples_per_second, seconds_left)

    def epoch(self, row: Mapping[str, float]) -> None:
        """After an epoch, whose row is in the history: stop, or go on. Epochs before an interruption are in the history too."""
        self._progress.epoch(row)
        if self._trial is None:
            self._trial = _replayed(self._rule)
        for epoch, loss in losses_of(self._history)[self._told :]:
            self._told += 1
            self._trial.report(loss, epoch)
            if self._trial.should_prune():
                raise PrunedError(epoch)


def stopped_at(rule: PruningRule, losses: Losses) -> int | None:
    """The epoch after which a run of these losses is stopped; None where it comes to its end."""
    trial = _replayed(rule)
    for epoch, loss in losses:
        trial.report(loss, epoch)
        if trial.should_prune():
            return epoch
    return None


def run_watched(experiment: Experiment, folder: Path, rule: Path, progress: RunProgress) -> None:
    """Run an experiment by the rule in a file; that it was stopped is recorded beside the rule. Errors as `run_experiment`."""
    known, history = PruningRule.read(rule), folder / "model" / "history.csv"
    try:
        run_experiment(experiment, folder, progress=Watched(progress, known, history))
    except PrunedError as stopped:
        record = {"rule": known.key, "epoch": stopped.epoch, "losses": losses_of(history), "cost": _cost(experiment, history)}
        store.write_json(_record(rule), record)


def pruned_run(rule: Path) -> PrunedRun | None:
    """How the run was stopped that was computed by the very rule in a file; None where it was not."""
    if not store.is_file(_record(rule)) or not store.is_file(rule):
        return None
    record = store.read_json(_record(rule))
    if record["rule"] != PruningRule.read(rule).key:
        return None
    return PrunedRun(record["epoch"], losses_from(record["losses"]), record["cost"])


def _record(rule: Path) -> Path:
    return rule.with_name(rule.name.removesuffix(".rule.json") + ".pruned.json")


def _cost(experiment: Experiment, history: Path) -> dict[str, Any]:
    from molyneux.run.run.stored import machine

    last, where = History.read_csv(history).rows[-1], machine()
    return {
        "steps": int(last["step"]),
        "seconds": round(last["seconds"], 3),
        "threads": experiment.learn.training.threads or where["threads"],
        **{what: where[what] for what in ("processor", "cores", "gpu")},
    }


def _replayed(rule: PruningRule) -> Any:
    """A trial in the memory of this process, with those before it."""
    optuna = import_extra("optuna", extra="search", what="pruning")  # takes a second to import

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if rule.pruner == "median":
        pruner: Any = optuna.pruners.MedianPruner(n_startup_trials=rule.startup)
    else:
        pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1)
    study = optuna.create_study(direction="minimize", pruner=pruner)
    for earlier in rule.earlier:
        trial = study.ask()
        for epoch, loss in earlier.losses:
            trial.report(loss, epoch)
            trial.should_prune()  # successive halving remembers its rungs
        complete = earlier.complete and earlier.losses
        state = optuna.trial.TrialState.COMPLETE if complete else optuna.trial.TrialState.PRUNED
        study.tell(trial, earlier.losses[-1][1] if complete else None, state=state)
    return study.ask()
