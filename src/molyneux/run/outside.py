"""Measure a model from outside: one that no experiment of this package has trained."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import torch
from torch import nn

from molyneux.core import ConfigError, MolyneuxError, NotApplicableError, Spec, save_exhibits, store
from molyneux.core.config import Factory, Supplied, build, override, read_document, working_folder_importable
from molyneux.data.folders import appearing_folder, require_free
from molyneux.learn.pretrained import PictureTextModel, pretrained_class
from molyneux.measure import Evaluation, Measurement, evaluate
from molyneux.run.run.experiment import Experiment, with_lists, with_sizes
from molyneux.run.run.provenance import provenance
from molyneux.run.run.readers import find_controls, find_features, find_readers
from molyneux.run.run.report import Outcome, Silent, report_run
from molyneux.run.run.samples import conditions
from molyneux.run.run.sections import DataSettings, LearnSettings, MeasureSettings, ReportSettings
from molyneux.run.run.steps import usual_galleries
from molyneux.run.run.stored import EXPERIMENT_FILE, given_path, given_settings, machine, write_settings
from molyneux.run.run.under_way import RunProgress

MEASURES = ("coherence", "likelihood", "reconstruction", "latent_probe", "prediction")
"""What is measured where nothing else is asked for; what a model cannot do is recorded as not applicable."""


PAIR_MEASURES = ("prediction", "contrasts", "consistency", "breakdown", "calibration", "forced_choice")
"""The same for a folder of `transformers`, whose models say whether pictures and texts agree."""


def measure_model(
    model: str,
    data: Mapping[str, Any],
    *,
    overrides: Sequence[tuple[str, Any]] = (),
    out: Path | str | None = None,
    progress: RunProgress | None = None,
) -> Outcome:
    """Measure a model that a function of the user's own loads, or one in a folder of `transformers`.

    Args:
        model: `module:function`. The function is called with the `Spec` of the samples and returns a model: any object with the
            methods of `core.Encodes`, `Decodes`, `Likelihood`, `Predicts` or `Representation`, such as `learn.WrappedEncoder`.
            Or a folder, as `save_pretrained` of `transformers` writes it: what it holds decides between `learn.DualEncoder`,
            `ImageTextMatcher` and `Answerer`. What these fit, they fit to training samples.
        data: the sections `data` and, where wanted, `seed`, `measure` and `report` of an experiment file; `learn` is not read.
            The section `model` has settings of a model in a folder.
        overrides: pairs of a dotted path of a setting and its value.
        out: a new folder for scores and report; without it nothing is written.
        progress: is called as it goes.

    Raises:
        ConfigError: settings that cannot be used, a function that is not there or fails, or a folder that no class takes.
        ConflictError: something stands at `out`. StoreError, DataError: samples are not there, or are not what they should be.
    """
    out = None if out is None else given_path(out, "a folder to write")
    model, data = str(given_path(model, "module:function or a folder of transformers")), given_settings(data, "read_data")
    told = progress or Silent()
    if out is not None:
        require_free(out)
    tree = _tree(data, overrides)
    asked = tree.pop("model", {})
    maker = find_maker(model, asked)
    experiment = _experiment(maker, tree)
    source = experiment.samples.measured(experiment.samples.whole(experiment.measure.split))
    told.begin("measure", "loading the model")
    made = maker.make(source.spec)
    resolved = {**experiment.resolved, "learn": {"model": maker.plain}}
    experiment = replace(experiment, learn=LearnSettings(model=Factory[Any](type(made))))
    object.__setattr__(experiment, "resolved", resolved)
    if isinstance(made, PictureTextModel):
        with suppress(NotApplicableError):  # its scores will say why
            made.post_fit(experiment.samples.source("train"), seed=experiment.seed)
    told.begin("measure", "measuring")
    given = _evaluations(experiment, made, maker.name)
    found = evaluate(experiment.measure.measures, given, progress=told.advance)
    if out is None:
        return Outcome(Path(), found.scores, (), experiment.resolved)
    found += Measurement(exhibits=usual_galleries(experiment.measure.measures, given[0]))
    _write(experiment, found, source.spec, out, {"loaded_by": model, "asked": dict(asked)})
    return report_run(out, progress=told)


def read_data(path: Path | str) -> dict[str, Any]:
    """The sections of an experiment file; its section `learn` may be missing."""
    path = given_path(path, EXPERIMENT_FILE)
    tree: dict[str, Any] = read_document(path)
    return {"name": path.stem, **tree}


@dataclass(frozen=True)
class Maker:
    """What makes a model from outside.

    Args:
        name: as records have it, which have no paths.
        plain: class or function, and settings, as plain data.
        title: what the experiment is called where the user does not say.
        measures: what is measured where the user does not say.
        make: gives the model for samples of a Spec.
    """

    name: str
    plain: Mapping[str, Any]
    title: str
    measures: Sequence[str]
    make: Callable[[Spec], Any]


def find_maker(name: str, settings: Mapping[str, Any]) -> Maker:
    """What makes the model that a word on the command line names: `module:function`, or a folder of `transformers`.

    Args:
        name: the word.
        settings: of the model, where it is in a folder.

    Raises:
        ConfigError: it is neither, or settings that cannot be used.
    """
    folder = Path(name)
    if folder.is_dir():
        return _folder_maker(folder, settings)
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise ConfigError(f"--model: expected module:function, such as my_models:load, or a folder of transformers, got {name!r}")
    if settings:
        raise ConfigError(
            f"model: expected settings ({', '.join(settings)}) of a folder alone: let the function {function} set them"
        )
    load = find_loader(name)
    plain = {"class_path": name.replace(":", "."), "init_args": {}}
    return Maker(name, plain, module, MEASURES, lambda spec: _loaded(load, name, spec))


def _folder_maker(folder: Path, settings: Mapping[str, Any]) -> Maker:
    """What makes the model in a folder."""
    with _renamed("", "--model: "):
        kind: Any = pretrained_class(folder)
    choice: Any = Annotated[Factory[kind], Supplied(("spec", "folder"), "molyneux.learn")]
    with _renamed("model.init_args.", "model."):
        built = build(choice, {"class_path": f"molyneux.learn.{kind.__name__}", "init_args": dict(settings)}, "model")
    plain = {**built.plain, "init_args": {"folder": str(folder), **built.plain["init_args"]}}

    def make(spec: Spec) -> Any:
        with _renamed("model.init_args.", "model."):
            return built.value.make("model", spec=spec, folder=folder)

    return Maker(folder.resolve().name, plain, folder.resolve().name, PAIR_MEASURES, make)


@contextmanager
def _renamed(old: str, new: str) -> Iterator[None]:
    """The problems of a ConfigError with another beginning: that by which the user named the place."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError([new + one.removeprefix(old) if one.startswith(old) else one for one in error.problems]) from error


def find_loader(name: str) -> Any:
    """The function that `module:function` names.

    Raises:
        ConfigError: it cannot be imported, or is not there.
    """
    module, _, function = name.partition(":")
    try:
        with working_folder_importable():
            found = getattr(importlib.import_module(module), function, None)
    except Exception as error:  # the module's own code may raise anything
        raise ConfigError(f"--model: cannot import {module!r}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise ConfigError(f"--model: the module {module} has no function {function!r}")
    return found


def _loaded(load: Any, name: str, spec: Spec) -> Any:
    try:
        with working_folder_importable():
            made = load(spec)
    except MolyneuxError:
        raise
    except Exception as error:  # the user's own code may raise anything
        raise ConfigError(f"--model: {name} failed: {type(error).__name__}: {error}") from error
    if made is None:
        raise ConfigError(f"--model: expected a model from {name}, got nothing: let the function return it")
    return made.eval() if isinstance(made, nn.Module) else made


def _tree(data: Mapping[str, Any], overrides: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The sections of a file with what the command line says; with no other section than there are."""
    tree = with_lists({name: value for name, value in data.items() if name != "learn"})
    for path, value in overrides:
        tree = with_lists(override(tree, path, value))
    if unknown := sorted(tree.keys() - {"name", "seed", "data", "measure", "model", "report"}):
        raise ConfigError([f"{name}: unknown section; expected data, measure, model, report, seed or name" for name in unknown])
    if "data" not in tree:
        raise ConfigError("data: is missing: name a world, or the user's own data")
    if not isinstance(tree.get("model", {}), Mapping):
        raise ConfigError(f"model: expected settings of the model, got {tree['model']!r}")
    return tree


def _experiment(maker: Maker, tree: Mapping[str, Any]) -> Experiment:
    """The experiment with a model that is put in later."""
    tree = with_sizes({"measure": {"measures": list(maker.measures)}, "report": {}, **tree})
    parts = {name: build(kind, tree[name], name) for name, kind in _SECTIONS.items()}
    seed, name = tree.get("seed", 1), str(tree.get("name") or maker.title)
    if type(seed) is not int or seed < 0:
        raise ConfigError(f"seed: expected an integer of at least 0, got {seed!r}")
    learn = LearnSettings(model=Factory[Any](nn.Module))
    made = Experiment(
        name=name, seed=seed, data=parts["data"].value, learn=learn, measure=parts["measure"].value, report=parts["report"].value
    )
    object.__setattr__(made, "resolved", {"name": name, "seed": seed, **{name: part.plain for name, part in parts.items()}})
    return made


_SECTIONS: Mapping[str, type] = {"data": DataSettings, "measure": MeasureSettings, "report": ReportSettings}


def _evaluations(experiment: Experiment, model: Any, name: str) -> list[Evaluation]:
    """The model under each condition, the samples as they are first."""
    settings, samples = experiment.measure, experiment.samples
    found = conditions(settings.split, settings.conditions, lambda split: samples.evaluated(split, samples.whole), samples)
    source = found[0].source
    readers = find_readers(experiment.data.dataset, source.spec, settings.judges)
    about = model.origin if isinstance(model, PictureTextModel) else {}
    origin = {**provenance(experiment), "split": settings.split, "model": type(model).__name__, "loaded_by": name, **about}
    plain = Evaluation(
        model,
        source,
        train=samples.source("train") if samples.has("train") else None,
        readers=readers.judges,
        exact=readers.exact,
        features=find_features(source.spec, settings.features),
        controls=find_controls(experiment.data.dataset, seed=experiment.seed),
        seed=experiment.seed,
        samples=settings.samples,
        batch_size=settings.batch_size,
        origin={**origin, **({"unread": dict(readers.unread)} if readers.unread else {})},
        untrained=_untrained(model, experiment.seed),
    )
    return [replace(plain, source=item.source, reference=item.reference, about=item.about) for item in found]


def _untrained(model: Any, seed: int) -> Callable[[], Any] | None:
    """Makes a copy of a model with the weights that its layers start with; None where layers do not say how they start.

    A model of `transformers` is not copied: it is large, and what it starts with is in its library.
    """
    if not isinstance(model, nn.Module) or isinstance(model, PictureTextModel):
        return None
    if not any(hasattr(part, "reset_parameters") for part in model.modules()):
        return None

    def make() -> Any:
        made = copy.deepcopy(model)
        with torch.random.fork_rng(devices=[]):  # layers draw from torch's own stream
            torch.manual_seed(seed)
            for part in made.modules():
                if callable(reset := getattr(part, "reset_parameters", None)):
                    reset()
        return made

    return make


def _write(experiment: Experiment, found: Measurement, spec: Spec, out: Path, model_of: Mapping[str, Any]) -> None:
    """Scores, exhibits and settings as in the folder of a run, so that reports and tables read them.

    Args:
        experiment: with the settings.
        found: what was measured.
        spec: of the samples.
        out: the new folder.
        model_of: what loaded the model, and the settings that were given for it.
    """
    with appearing_folder(out) as part:
        write_settings(part, experiment.resolved)
        store.write_json(part / "samples" / "spec.json", spec.to_json())
        samples = store.StageFolder(part / "samples", {"seed": experiment.seed, "data": experiment.resolved["data"]})
        samples.finish({"machine": machine()})
        save_exhibits(part / "measure", found.exhibits)
        store.write_lines(part / "measure" / "scores.jsonl", [score.to_json() for score in found.scores])
        model = experiment.resolved["learn"]["model"]
        settings = {"measure": experiment.resolved["measure"], "model": model, "samples": samples.key}
        store.StageFolder(part / "measure", settings).finish({"scores": len(found.scores), "machine": machine(), **model_of})
