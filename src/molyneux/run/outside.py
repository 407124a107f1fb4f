"""Measure a model from outside: one that no experiment of this package has trained."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from molyneux.core import ConfigError, MolyneuxError, Spec, save_exhibits, store
from molyneux.core.config import Factory, build, override, read_document
from molyneux.data.folders import appearing_folder, require_free
from molyneux.measure import Evaluation, Measurement, evaluate
from molyneux.run.experiment import Experiment, with_lists, with_sizes
from molyneux.run.folder import write_settings
from molyneux.run.provenance import machine, provenance
from molyneux.run.readers import find_readers
from molyneux.run.samples import conditions
from molyneux.run.sections import DataSettings, LearnSettings, MeasureSettings, ReportSettings
from molyneux.run.steps import Outcome, RunProgress, Silent, report_run

MEASURES = ("coherence", "likelihood", "reconstruction", "latent_probe", "prediction")
"""What is measured where nothing else is asked for; what a model cannot do is recorded as not applicable."""


def measure_model(
    model: str,
    data: Mapping[str, Any],
    *,
    overrides: Sequence[tuple[str, Any]] = (),
    out: Path | None = None,
    progress: RunProgress | None = None,
) -> Outcome:
    """Measure a model that a function of the user's own loads.

    Args:
        model: `module:function`. The function is called with the `Spec` of the samples and returns a model: any object with the
            methods of `core.Encodes`, `Decodes`, `Likelihood`, `Predicts` or `Representation`, such as `learn.WrappedEncoder`.
        data: the sections `data` and, where wanted, `seed`, `measure` and `report` of an experiment file; `learn` is not read.
        overrides: pairs of a dotted path of a setting and its value.
        out: a new folder for scores and report; without it nothing is written.
        progress: is called as it goes.

    Raises:
        ConfigError: settings that cannot be used, or a function that is not there or fails.
        ConflictError: something stands at `out`. StoreError, DataError: samples are not there, or are not what they should be.
    """
    told = progress or Silent()
    if out is not None:
        require_free(out)
    load = find_loader(model)
    experiment = _experiment(model, data, overrides)
    source = experiment.samples.measured(experiment.samples.whole(experiment.measure.split))
    made = _loaded(load, model, source.spec)
    resolved, kind = _resolved(model, experiment), Factory[Any](type(made))
    experiment = replace(experiment, learn=LearnSettings(model=kind))
    object.__setattr__(experiment, "resolved", resolved)
    told.begin("measure", "measuring")
    found = evaluate(experiment.measure.measures, _evaluations(experiment, made, model), progress=told.advance)
    if out is None:
        return Outcome(Path(), found.scores, (), experiment.resolved)
    _write(experiment, found, source.spec, out)
    return report_run(out, progress=told)


def read_data(path: Path) -> dict[str, Any]:
    """The sections of an experiment file; its section `learn` may be missing."""
    tree: dict[str, Any] = read_document(path)
    return {"name": path.stem, **tree}


def find_loader(name: str) -> Any:
    """The function that `module:function` names.

    Raises:
        ConfigError: it is not of that form, cannot be imported, or is not there.
    """
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise ConfigError(f"--model: expected module:function, such as my_models:load, got {name!r}")
    try:
        found = getattr(importlib.import_module(module), function, None)
    except Exception as error:  # the module's own code may raise anything
        raise ConfigError(f"--model: cannot import {module!r}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise ConfigError(f"--model: the module {module} has no function {function!r}")
    return found


def _loaded(load: Any, name: str, spec: Spec) -> Any:
    try:
        made = load(spec)
    except MolyneuxError:
        raise
    except Exception as error:  # the user's own code may raise anything
        raise ConfigError(f"--model: {name} failed: {type(error).__name__}: {error}") from error
    if made is None:
        raise ConfigError(f"--model: expected a model from {name}, got nothing: let the function return it")
    return made.eval() if isinstance(made, nn.Module) else made


def _experiment(model: str, data: Mapping[str, Any], overrides: Sequence[tuple[str, Any]]) -> Experiment:
    """The experiment with a model that is put in later."""
    tree = with_lists({name: value for name, value in data.items() if name != "learn"})
    for path, value in overrides:
        tree = with_lists(override(tree, path, value))
    if unknown := sorted(tree.keys() - {"name", "seed", "data", "measure", "report"}):
        raise ConfigError([f"{name}: unknown section; expected data, measure, report, seed or name" for name in unknown])
    if "data" not in tree:
        raise ConfigError("data: is missing: name a world, or the user's own data")
    tree = with_sizes({"measure": {"measures": list(MEASURES)}, "report": {}, **tree})
    parts = {name: build(kind, tree[name], name) for name, kind in _SECTIONS.items()}
    seed, name = tree.get("seed", 1), str(tree.get("name") or model.partition(":")[0])
    if type(seed) is not int or seed < 0:
        raise ConfigError(f"seed: expected an integer of at least 0, got {seed!r}")
    learn = LearnSettings(model=Factory[Any](nn.Module))
    made = Experiment(
        name=name, seed=seed, data=parts["data"].value, learn=learn, measure=parts["measure"].value, report=parts["report"].value
    )
    object.__setattr__(made, "resolved", {"name": name, "seed": seed, **{name: part.plain for name, part in parts.items()}})
    return made


_SECTIONS: Mapping[str, type] = {"data": DataSettings, "measure": MeasureSettings, "report": ReportSettings}


def _resolved(model: str, experiment: Experiment) -> dict[str, Any]:
    resolved = dict(experiment.resolved)
    return {**resolved, "learn": {"model": {"class_path": model.replace(":", "."), "init_args": {}}}}


def _evaluations(experiment: Experiment, model: Any, name: str) -> list[Evaluation]:
    """The model under each condition, the samples as they are first."""
    settings, samples = experiment.measure, experiment.samples
    found = conditions(
        settings.split, settings.conditions, lambda split: samples.evaluated(split, samples.whole), experiment.seed
    )
    source = found[0].source
    readers = find_readers(experiment.data.dataset, source.spec, settings.judges)
    origin = {**provenance(experiment), "split": settings.split, "model": type(model).__name__, "loaded_by": name}
    plain = Evaluation(
        model,
        source,
        train=samples.source("train") if samples.has("train") else None,
        readers=readers.judges,
        exact=readers.exact,
        seed=experiment.seed,
        samples=settings.samples,
        batch_size=settings.batch_size,
        origin={**origin, **({"unread": dict(readers.unread)} if readers.unread else {})},
    )
    return [replace(plain, source=item.source, reference=item.reference, about=item.about) for item in found]


def _write(experiment: Experiment, found: Measurement, spec: Spec, out: Path) -> None:
    """Scores, exhibits and settings as in the folder of a run, so that reports and tables read them."""
    with appearing_folder(out) as part:
        write_settings(part, experiment.resolved)
        store.write_json(part / "samples" / "spec.json", spec.to_json())
        store.Stage(part / "samples", {"seed": experiment.seed, "data": experiment.resolved["data"]}).finish(
            {"machine": machine()}
        )
        save_exhibits(part / "measure", found.exhibits)
        store.write_lines(part / "measure" / "scores.jsonl", [score.to_json() for score in found.scores])
        settings = {"measure": experiment.resolved["measure"], "model": experiment.resolved["learn"]["model"]}
        store.Stage(part / "measure", settings).finish({"scores": len(found.scores), "machine": machine()})
