"""Step `learn` of a run, alone or with the trainings of other runs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch import nn

from molyneux.core import ConfigError, History, Source, TrainingError, store
from molyneux.learn import fit, post_fit_precision, precision_of, save_model
from molyneux.run.run.experiment import Experiment
from molyneux.run.run.making import make_model
from molyneux.run.run.parent import Parent, begin_from
from molyneux.run.run.samples import save_view_digests
from molyneux.run.run.stored import machine
from molyneux.run.run.under_way import Run, require


@dataclass(frozen=True)
class _Begun:
    """A training that is about to begin, or to go on."""

    run: Run
    model: nn.Module
    train: Source
    validation: Source | None
    precision: str


def learn(run: Run) -> None:
    """Step `learn`: train, or go on training."""
    if run.done(run.folder.model, "learn"):
        return
    begun = _begin(run, run.source("train"), run.source("validation"))
    _finish(
        begun,
        fit(begun.model, begun.train, begun.validation, folder=run.folder.model.folder, **_how(run), processes=run.processes),
    )


def learn_stacked(runs: Sequence[Run]) -> list[TrainingError | None]:
    """Step `learn` of several runs, whose trainings are computed at once (`learn.fit_stacked`).

    Those that are done are left as they are. Runs with the same samples share them in memory.

    Returns:
        For each run the error by which its training ended.

    Raises:
        ConfigError: their trainings cannot be computed at once; nothing has been trained then.
    """
    from molyneux.learn import StackMember, fit_stacked  # a run alone needs neither

    left = [run for run in runs if not run.done(run.folder.model, "learn")]
    sources = dict[tuple[str, int], tuple[Source, Source]]()
    begun = list[_Begun]()
    for run in left:
        key = store.fingerprint(run.experiment.resolved["data"]), run.experiment.seed
        if key not in sources:
            sources[key] = run.source("train"), run.source("validation")
        begun.append(_begin(run, *sources[key]))
    members = [
        StackMember(each.model, each.train, each.validation, folder=each.run.folder.model.folder, **_how(each.run))
        for each in begun
    ]
    found = dict(zip(map(id, left), fit_stacked(members), strict=True)) if members else {}
    for each in begun:
        if isinstance(history := found[id(each.run)], History):
            _finish(each, history)
    return [error if isinstance(error := found.get(id(run)), TrainingError) else None for run in runs]


def _begin(run: Run, train: Source, validation: Source) -> _Begun:
    """What a training needs before its first step."""
    require(run.folder.samples, "learn", "data")
    _require_own_logs(run.experiment)
    model = make_model(run.experiment.learn, train.spec, run.experiment.seed)
    if isinstance(parent := run.experiment.learn.start_from, Parent):
        begin_from(model, parent, run.experiment.parent, run.folder.model.folder)
    run.progress.begin("learn", "training")
    return _Begun(run, model, train, validation, precision_of(run.experiment.learn.training, model))


def _how(run: Run) -> dict[str, Any]:
    """Arguments of a training that are the same alone and at once with others."""
    experiment = run.experiment
    others = experiment.samples.of_stages()
    return {"training": experiment.learn.training, "seed": experiment.seed, "progress": run.progress, "others": others}


def _finish(begun: _Begun, history: History) -> None:
    """Keep what was trained, and what is to be known of it."""
    run, model = begun.run, begun.model
    stage, experiment, training = run.folder.model, run.experiment, run.experiment.learn.training
    save_model(model, stage.folder, experiment.resolved["learn"]["model"])
    save_view_digests(begun.train, stage.folder)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    trained = {"parameters": parameters, "epochs": history.epochs, "steps": history.steps, "precision": begun.precision}
    after = post_fit_precision(model, training)
    details = {
        **trained,
        **({} if after is None else {"post_fit_precision": after}),
        **({"notes": list(notes)} if (notes := getattr(model, "training_notes", ())) else {}),
        **({} if history.rows else {"fit_seconds": history.fit_seconds}),
        **({"parent": asdict(parent)} if isinstance(parent := experiment.learn.start_from, Parent) else {}),
    }
    stage.finish({**details, "machine": machine()})


def _require_own_logs(experiment: Experiment) -> None:
    """Refuse a stored run whose training would write its log elsewhere than in its folder: it may be a stranger's.

    Raises:
        ConfigError: names the setting.
    """
    training = experiment.learn.training
    for name, value in {"mlflow": training.mlflow, "wandb": training.wandb}.items():
        if not experiment.trusted and value and not (name == "mlflow" and value is True):
            raise ConfigError(
                f"learn.{name}: expected a stored run that logs into its own folder, got {value!r}, as whoever made it set it: "
                "say --trust (trust=True) if you trust them, or run its config.yaml with another setting"
            )
