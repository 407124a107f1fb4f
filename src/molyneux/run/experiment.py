"""An experiment: samples, a model, what is measured and how it is reported, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from molyneux.core import ConfigError, DataError, Spec, StoreError, seeds
from molyneux.core.config import build, build_fields, override, read_document
from molyneux.run.readers import find_readers
from molyneux.run.samples import Samples
from molyneux.run.sections import DataSettings, LearnSettings, MeasureSettings, ReportSettings

_LISTS = {"measure": "measures", "report": "formats"}
"""Sections that may be just a list, and the setting that is meant."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Made by `read_experiment` and `load_experiment`.

    Args:
        name: a word for folders and titles; not part of what makes an experiment what it is.
        seed: root of every random number.
        data: the samples.
        learn: the model.
        measure: the measures.
        report: the forms of the report.
        resolved: all settings with their defaults filled in, as plain data.
    """

    name: str = "experiment"
    seed: int = 1
    data: DataSettings
    learn: LearnSettings
    measure: MeasureSettings
    report: ReportSettings = field(default_factory=ReportSettings)
    resolved: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        problems = []
        if self.seed < 0:
            problems.append(f"seed: expected 0 or more, got {self.seed}")
        if not self.name.strip("-_.") or not all(letter.isalnum() or letter in "-_." for letter in self.name):
            problems.append(f"name: expected letters, digits, - and _, got {self.name!r}")
        if problems:
            raise ConfigError(problems)

    @property
    def identity(self) -> dict[str, Any]:
        """The resolved settings that make it this experiment and no other."""
        return {name: value for name, value in self.resolved.items() if name != "name"}

    @property
    def samples(self) -> Samples:
        """Its sources."""
        return Samples(self.data, self.seed)


def make_model(learn: LearnSettings, spec: Spec, seed: int) -> nn.Module:
    """The model with the weights it starts with, which depend on the seed alone.

    Raises:
        ConfigError: the model refuses its settings or these samples.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(seeds.key(seed, "learn", "weights")[0] >> 1))
        model = learn.model.make(spec=spec)
    if not isinstance(model, nn.Module):
        raise ConfigError(f"learn.model: expected a torch module, got a {type(model).__name__}: derive it from torch.nn.Module")
    return model


def load_experiment(path: Path, overrides: Sequence[tuple[str, Any]] = ()) -> Experiment:
    """The experiment of a YAML file; it is called after the file.

    Args:
        path: the file.
        overrides: pairs of a dotted path of a setting and its value; the last one counts.

    Raises:
        ConfigError: with every problem of the file and the overrides.
    """
    return read_experiment({"name": path.stem, **read_document(path)}, overrides)


def read_experiment(tree: Mapping[str, Any], overrides: Sequence[tuple[str, Any]] = ()) -> Experiment:
    """The experiment of plain settings, shaped as a file is; errors as `load_experiment`."""
    settings, problems = _with_lists(tree), list[str]()
    for path, value in overrides:
        try:
            settings = _with_lists(override(settings, path, value))
        except ConfigError as error:
            problems += error.problems
    try:
        built = build_fields(Experiment, settings, resolved={})
        experiment: Experiment = replace(built.value, resolved=built.plain)
    except ConfigError as error:
        raise ConfigError([*problems, *error.problems, *_deeper_problems(settings)]) from error
    problems += _problems_as_a_whole(experiment.data, experiment.learn, experiment.seed)
    if not problems:
        problems += _problems_of_measuring(experiment)
    if problems:
        raise ConfigError(problems)
    return experiment


def _with_lists(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {_LISTS[name]: value} if name in _LISTS and isinstance(value, list | str) else value for name, value in tree.items()
    }


def _problems_as_a_whole(data: DataSettings, learn: LearnSettings, seed: int) -> list[str]:
    """What only shows when sections meet: samples that are not there, a model that does not fit them."""
    problems = _problems_of_the_model(data, learn, seed)
    try:
        learn.total_steps(data.train)
    except ConfigError as error:
        problems += [f"learn.{problem}" for problem in error.problems]
    return problems


def _problems_of_the_model(data: DataSettings, learn: LearnSettings, seed: int) -> list[str]:
    try:
        make_model(learn, Samples(data, seed).check(), seed)
    except ConfigError as error:
        return list(error.problems)
    return []


def _problems_of_measuring(experiment: Experiment) -> list[str]:
    """Samples to measure on that are not there, and judges that are named and cannot be used."""
    settings = experiment.measure
    try:
        source = experiment.samples.measured(experiment.samples.whole(settings.split))
        source.batch(np.arange(1))
    except (ConfigError, DataError, StoreError) as error:
        return [f"measure.split: {error}"]
    try:
        find_readers(experiment.data.world, source.spec, settings.judges)
    except ConfigError as error:
        return [f"measure.{problem}" for problem in error.problems]
    return []


def _deeper_problems(tree: Mapping[str, Any]) -> list[str]:
    """Problems as a whole of a file that has others, so that they need no second look."""
    with suppress(ConfigError, KeyError):
        return _problems_as_a_whole(
            build(DataSettings, tree["data"]).value, build(LearnSettings, tree["learn"], "learn").value, 0
        )
    with suppress(ConfigError):  # what these sections lack is told elsewhere; the rest of them may do for a model
        kept = _only(tree, "data", "world", "folder", "modalities")
        data = build(DataSettings, {**kept, "train": 1, "validation": 1, "test": 1})
        return _problems_of_the_model(data.value, build(LearnSettings, _only(tree, "learn", "model"), "learn").value, 0)
    return []


def _only(tree: Mapping[str, Any], section: str, *names: str) -> dict[str, Any]:
    given = tree.get(section)
    return {name: given[name] for name in names if name in given} if isinstance(given, Mapping) else {}
