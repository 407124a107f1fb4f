"""An experiment: samples, a model, what is measured and how it is reported.

`parse_experiment` checks the settings of each section against the signatures of its classes, and neither makes a data set or a
model nor reads a file. `read_experiment` and `load_experiment` then also check the experiment as a whole: that the samples are
there, that the model fits them and this machine, that judges can be used.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field
from torch import nn

from molyneux.core import ConfigError, MolyneuxError, Source
from molyneux.core.config import build, override, read_document
from molyneux.data import Split, World
from molyneux.learn.training.hardware import choose_device
from molyneux.learn.training.stage_sources import StageSources
from molyneux.run.run.making import check_model
from molyneux.run.run.parent import parent_of, require_start
from molyneux.run.run.readers import find_features, find_readers
from molyneux.run.run.samples import Samples, conditions
from molyneux.run.run.sections import DataSettings, KnownParts, LearnSettings, MeasureSettings, ReportSettings
from molyneux.run.run.settings_paths import paths_beside
from molyneux.run.run.stored import EXPERIMENT_FILE, given_path, given_settings

if TYPE_CHECKING:
    from molyneux.data import Benchmark, OwnDataset

Seed = Annotated[int, Field(ge=0)]
LISTS = {"measure": "measures", "report": "formats"}
"""Sections that may be just a list, and the setting that is meant."""
_SIZES = ("train", "validation", "test")
_OWN = ("arrays", "table")
"""Settings of the section `data` that name the user's own data; `folder` does too where it has settings of its own."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Made by `parse_experiment`, `read_experiment` and `load_experiment`.

    Args:
        name: a word for folders and titles; not part of what makes an experiment what it is.
        seed: root of every random number.
        data: the samples.
        learn: the model.
        measure: the measures.
        report: the forms of the report.

    Attributes:
        resolved: all settings with their defaults filled in, as plain data.
        parent: the folder of the run that the training starts from, where it was named; it is no part of what an experiment is.
        trusted: whether its settings may reach out of its folder; those of a stored run only where that was said.
    """

    name: str = "experiment"
    seed: Seed = 1
    data: DataSettings
    learn: LearnSettings
    measure: MeasureSettings
    report: ReportSettings = field(default_factory=ReportSettings)
    resolved: Mapping[str, Any] = field(default_factory=dict, init=False, repr=False)
    parent: Path | None = field(default=None, init=False, repr=False)
    trusted: bool = field(default=True, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        word = self.name.strip("-_.") and len(self.name) <= 100
        if not word or not all(letter.isalnum() or letter in "-_." for letter in self.name):
            raise ConfigError(f"name: expected at most 100 letters, digits, - and _, got {self.name[:100]!r}")

    @property
    def identity(self) -> dict[str, Any]:
        """The resolved settings that make it this experiment and no other."""
        return {name: value for name, value in self.resolved.items() if name != "name"}

    @property
    def document(self) -> dict[str, Any]:
        """The resolved settings as a file for this machine has them: with the folder of the run that the training starts from."""
        if self.parent is None:
            return dict(self.resolved)
        return {**self.resolved, "learn": {**self.resolved["learn"], "start_from": str(self.parent.absolute())}}

    @property
    def samples(self) -> Samples:
        """Its sources."""
        return Samples(self.data, self.seed)


def load_experiment(path: Path | str, overrides: Sequence[tuple[str, Any]] = ()) -> Experiment:
    """The experiment of a YAML file, checked as a whole; it is called after the file.

    Args:
        path: the file. Relative paths in it begin at its folder; those of overrides, where the program runs.
        overrides: pairs of a dotted path of a setting and its value; the last one counts.

    Raises:
        ConfigError: with every problem of the file and the overrides.
    """
    path = given_path(path, EXPERIMENT_FILE)
    return read_experiment({"name": path.stem, **paths_beside(read_document(path), path)}, overrides)


def read_experiment(
    tree: Mapping[str, Any], overrides: Sequence[tuple[str, Any]] = (), *, known: KnownParts | None = None
) -> Experiment:
    """The experiment of plain settings, shaped as a file is, checked as a whole; errors as `load_experiment`.

    Args:
        tree: the settings.
        overrides: as in `load_experiment`.
        known: as in `parse_experiment`; checks of parts that were passed are not repeated.
    """
    settings, problems = with_lists(given_settings(tree, "load_experiment")), list[str]()
    given = [path for path, _ in overrides]
    if "learn.epochs" in given and "learn.steps" not in given:
        overrides = [("learn.steps", None), *overrides]  # epochs that are asked for win over the steps of a file
    for path, value in overrides:
        try:
            settings = with_lists(override(settings, path, value))
        except ConfigError as error:
            problems += error.problems
    try:
        experiment = parse_experiment(settings, known=known)
    except ConfigError as error:
        problems += error.problems
        raise ConfigError([*problems, *_further_problems(settings, problems)]) from error
    checked = KnownParts() if known is None else known
    for check in (_check_learning, _check_measuring):
        problems += [problem for problem in _problems_of(partial(check, experiment, checked)) if problem not in problems]
        if problems:
            raise ConfigError(problems)
    return experiment


def parse_experiment(tree: Mapping[str, Any], *, known: KnownParts | None = None) -> Experiment:
    """The experiment of plain settings, each section checked by itself; for runs that are stored, whose settings were checked.

    No data set and no model is made, no judge is loaded, and no file is read but the records of a run to start from.

    Args:
        tree: the settings, shaped as a file is.
        known: parts of other experiments, to which those of this one are added: a section that is the same is built once.

    Raises:
        ConfigError: with every setting that does not fit the signature of its class, or no run to start from.
    """
    settings = with_sizes(with_lists(given_settings(tree, "load_experiment")))
    experiment = None if known is None else _of_known(settings, known)
    if experiment is None:
        built = build(Experiment, settings)
        experiment = built.value
        object.__setattr__(experiment, "resolved", built.plain)
    _resolve_parent(experiment)
    return experiment


def _of_known(settings: Mapping[str, Any], known: KnownParts) -> Experiment | None:
    """The experiment made of its sections, one by one; None where something is wrong, which is told of all of it at once."""
    kinds = {"data": DataSettings, "learn": LearnSettings, "measure": MeasureSettings, "report": ReportSettings}
    plain = {"name": settings.get("name", "experiment"), "seed": settings.get("seed", 1)}
    if not settings.keys() <= {*plain, *kinds} or type(plain["name"]) is not str or type(plain["seed"]) is not int:
        return None
    try:
        built = {name: known.section(name, kind, settings.get(name, {})) for name, kind in kinds.items()}
        build(Seed, plain["seed"])
        experiment = Experiment(**plain, **{name: part.value for name, part in built.items()})
    except ConfigError:
        return None
    object.__setattr__(experiment, "resolved", {**plain, **{name: part.plain for name, part in built.items()}})
    return experiment


def with_seed(experiment: Experiment, seed: int) -> Experiment:
    """The same experiment with another seed, which shares everything else with it.

    Raises:
        ConfigError: the seed is negative.
    """
    build(Seed, seed, "seed")
    found = copy.copy(experiment)
    object.__setattr__(found, "seed", seed)
    object.__setattr__(found, "resolved", {**experiment.resolved, "seed": seed})
    return found


def _resolve_parent(experiment: Experiment) -> None:
    """Name the run that a training starts from without its folder; settings without one have no such name, as before."""
    learn, place = dict(experiment.resolved["learn"]), experiment.learn.start_from
    if place is None:
        learn.pop("start_from")
    elif isinstance(place, Path):
        if problems := _problems_of(lambda: parent_of(place), "learn.start_from: "):
            raise ConfigError(problems)
        parent = parent_of(place)
        learn["start_from"] = dataclasses.asdict(parent)
        object.__setattr__(experiment, "learn", dataclasses.replace(experiment.learn, start_from=parent))
        object.__setattr__(experiment, "parent", place)
    object.__setattr__(experiment, "resolved", {**experiment.resolved, "learn": learn})


def judged_data(
    path: Path | str, overrides: Sequence[tuple[str, Any]] = ()
) -> Mapping[str, World] | Mapping[str, OwnDataset | Benchmark]:
    """The data of an experiment file by an empty name, for `make_judge`: a world, a benchmark, or the user's own data.

    Args:
        path: the file, of which only the section `data` counts; judges that it names need not be there yet.
        overrides: as in `load_experiment`.

    Raises:
        ConfigError: the file cannot be read, its data are settings that cannot be used, or nothing tells their labels.
    """
    path = given_path(path, EXPERIMENT_FILE)
    tree = paths_beside(read_document(path), path)
    for name, value in overrides:
        tree = override(tree, name, value)
    data = with_sizes(tree).get("data")
    if not isinstance(data, Mapping):
        raise ConfigError(f"data: is missing: expected a section with the data to judge in {path}")
    dataset = build(DataSettings, data, "data").value.dataset
    if isinstance(dataset, World):
        return {"": dataset}
    from molyneux.data import Benchmark, OwnDataset  # many files, which a run of a world does without

    if isinstance(dataset, OwnDataset | Benchmark):
        return {"": dataset}
    raise ConfigError(
        f"data: expected a world, a benchmark, arrays, a table or a folder of images to judge, got others in {path}"
    )


def with_lists(tree: Mapping[str, Any]) -> dict[str, Any]:
    """With the settings that are meant where a section is just a list."""
    return {
        name: {LISTS[name]: value} if name in LISTS and isinstance(value, list | tuple | str) else value
        for name, value in tree.items()
    }


def with_sizes(tree: Mapping[str, Any]) -> dict[str, Any]:
    """With all samples where a file names the user's own data, which know their sizes, and does not say how many."""
    data = tree.get("data")
    if not isinstance(data, Mapping):
        return dict(tree)
    own = any(data.get(name) is not None for name in _OWN) or isinstance(data.get("folder"), Mapping)
    return {**tree, "data": {**dict.fromkeys(_SIZES if own else ()), **data}}


def _problems_of(part: Callable[[], Any], place: str = "") -> tuple[str, ...]:
    """What a part refuses, below `place`."""
    try:
        part()
    except MolyneuxError as error:
        return tuple(f"{place}{problem}" for problem in getattr(error, "problems", [str(error)]))
    return ()


def _check_learning(experiment: Experiment, known: KnownParts) -> None:
    """What only shows when sections meet or on this machine: samples, a model and a batch size that fit them, the device."""
    data, learn, samples = experiment.data, experiment.learn, experiment.samples
    parent, settings = experiment.parent, experiment.resolved["learn"]["model"]

    def fit() -> None:
        model = _check_fit(data, learn)
        if parent is not None:
            require_start(model, settings, parent)

    problems = [*_problems_of(lambda: known.once(fit, "fit", id(data), repr(settings), parent))]
    with suppress(MolyneuxError):  # of samples, which the line above reports
        size = samples.size("train")
        problems += _problems_of(lambda: learn.total_steps(size), "learn.")
        if data.stages:
            usual = samples.source("train"), samples.source("validation")
            problems += _problems_of(lambda: StageSources(learn.training, usual, samples.of_stages()), "data.")
    problems += _problems_of(lambda: choose_device(learn.training), "learn.")
    if problems:
        raise ConfigError(problems)


def _check_fit(data: DataSettings, learn: LearnSettings) -> nn.Module:
    return check_model(learn, Samples(data, 0).check())


def _check_measuring(experiment: Experiment, known: KnownParts) -> None:
    """Samples to measure on that are not there, conditions that do not fit them, and judges that cannot be used."""
    about = "measuring", id(experiment.data), id(experiment.measure), experiment.seed
    known.once(partial(_check_measured, experiment), *about)


def _check_measured(experiment: Experiment) -> None:
    settings, samples = experiment.measure, experiment.samples

    def measured(split: Split) -> Source:
        return samples.evaluated(split, samples.whole)

    if problems := _problems_of(lambda: measured(settings.split).batch(np.arange(1)), "measure.split: "):
        raise ConfigError(problems)
    spec = measured(settings.split).spec
    problems = _problems_of(lambda: conditions(settings.split, settings.conditions, measured, samples), "measure.")
    for number, measure in enumerate(settings.measures):
        problems += _problems_of(partial(measure.check, spec), f"measure.measures.{number}: {measure.name}: ")
    problems += _problems_of(lambda: find_readers(experiment.data.dataset, spec, settings.judges), "measure.")
    problems += _problems_of(lambda: find_features(spec, settings.features), "measure.")
    if problems:
        raise ConfigError(problems)


def _further_problems(tree: Mapping[str, Any], problems: Sequence[str]) -> list[str]:
    """What classes refuse when those of their arguments that have these problems are left out: a file needs no second look."""
    rest, left_out = copy.deepcopy(dict(tree)), set[str]()
    for path in (problem.partition(": ")[0] for problem in problems if ".init_args." in problem.partition(": ")[0]):
        path = path.removesuffix(".class_path")  # without its class, an object is left out as a whole
        *above, name = path.split(".")
        node: Any = rest
        for step in above:
            position = isinstance(node, list) and step.isdecimal() and int(step) < len(node)
            node = node[int(step)] if position else node.get(step) if isinstance(node, dict) else None
        if isinstance(node, dict) and node.pop(name, None) is not None:
            left_out.add(path)
    found = [*_problems_of(lambda: parse_experiment(rest)), *_problems_of_parts(rest)]
    new = (problem for problem in dict.fromkeys(found) if problem not in problems)
    return [problem for problem in new if not any(f"{problem.partition(': ')[0]}.".startswith(f"{path}.") for path in left_out)]


def _problems_of_parts(tree: Mapping[str, Any]) -> list[str]:
    """What the data set and the model of a file with other problems refuse."""

    def only(section: str, *names: str) -> dict[str, Any]:
        given = tree.get(section)
        return {name: given[name] for name in names if name in given} if isinstance(given, Mapping) else {}

    problems = list[str]()
    with suppress(ConfigError):  # what a section lacks is reported elsewhere
        kept = only("data", "world", "benchmark", *_OWN, "folder", "modalities")
        data: DataSettings = build(DataSettings, {**kept, "train": 1, "validation": 1, "test": 1}).value
        problems += _problems_of(Samples(data, 0).check)
        learn: LearnSettings = build(LearnSettings, only("learn", "model")).value
        problems += _problems_of(lambda: _check_fit(data, learn))
    return problems
