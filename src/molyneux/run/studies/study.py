"""What a study is: one experiment, and what is varied in it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from molyneux.core import ConfigError, nearest, store
from molyneux.core.config import build, collected, overridden, read_document
from molyneux.report.settings import baseline_of, flatten, model_of
from molyneux.run.run.experiment import Experiment, read_experiment, with_seed
from molyneux.run.run.sections import KnownParts
from molyneux.run.run.settings_paths import paths_beside, values_beside
from molyneux.run.run.stored import STUDY_FILE, given_path

Overrides = Mapping[str, Any]
"""Values by the dotted path of their setting."""


@dataclass(frozen=True, kw_only=True)
class Range:
    """Numbers that a search may try.

    Args:
        low: smallest.
        high: largest.
        log: whether their logarithm is uniform.
        whole: whether they are whole numbers.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ConfigError(f"expected low below high, got {self.low} and {self.high}")
        if self.log and self.low <= 0:
            raise ConfigError(f"low: expected more than 0 with log, got {self.low}")


@dataclass(frozen=True, kw_only=True)
class Goal:
    """The score that a `tpe` search improves: the mean over the seeds.

    Args:
        score: its name, such as `coherence.strict`.
        about: what it is about, such as `{source: text, target: image}`, and nothing else.
        direction: whether more is better.
    """

    score: str
    about: Mapping[str, str] = field(default_factory=dict)
    direction: Literal["maximize", "minimize"] = "maximize"


@dataclass(frozen=True, kw_only=True)
class Study:
    """The settings of a study file.

    Args:
        base: the experiment, as a file (relative to the study's) or as its settings.
        seeds: every setting is run with each of these.
        variants: settings that change together, under a name each.
        grid: values by the dotted path of a setting; every combination is run, or they are what a search chooses from.
        by_seed: by the dotted path of a setting, one value for each of `seeds`, in their order: what changes with the seed, such
            as which part of the data is held out.
        ranges: numbers by the dotted path of a setting, for a search.
        search: `grid` runs every combination of variants and grid; `random` and `tpe` (Bergstra et al., 2011) try `trials`.
        trials: how many settings a search tries.
        apart: whether a search tries `trials` settings of each variant, each drawn from what that variant reached alone; without
            it, the variant is one of the settings that are drawn.
        goal: what a `tpe` search improves; of several scores, their mean.
        pruning: whether runs of a search are stopped whose validation loss is worse than that of earlier ones: `median` or
            `halving` (successive halving). Losses must be comparable: a search over a setting that is part of the loss, such
            as beta, is better not pruned.
        storage: the URL of a database for the trials of a search, such as `postgresql://user@host/name`, which several machines
            may share; by default an SQLite file in the folder of the runs.
        name: a word for folders and titles.
    """

    base: Path | Mapping[str, Any]
    seeds: tuple[int, ...] = (1,)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    by_seed: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    search: Literal["grid", "random", "tpe"] = "grid"
    trials: int = 20
    apart: bool = False
    goal: Goal | tuple[Goal, ...] | None = None
    pruning: Literal["none", "median", "halving"] = "none"
    storage: str = ""
    name: str = "study"

    def __post_init__(self) -> None:
        problems = [f"grid.{path}: expected at least one value, got none" for path, values in self.grid.items() if not values]
        if not self.seeds:
            problems.append("seeds: expected at least one, got none")
        if len(set(self.seeds)) < len(self.seeds):
            problems.append(f"seeds: expected different ones, got {', '.join(map(str, self.seeds))}")
        problems += [
            f"by_seed.{path}: expected a value for each of the {len(self.seeds)} seeds, got {len(values)}"
            for path, values in self.by_seed.items()
            if len(values) != len(self.seeds)
        ]
        problems += [f"by_seed.{path}: {self._varied(path)}" for path in self.by_seed if self._varied(path)]
        if self.trials < 1:
            problems.append(f"trials: expected at least 1, got {self.trials}")
        if self.search == "grid" and self.ranges:
            problems.append("ranges: a grid needs lists of values: move them to grid, or set search to random or tpe")
        if self.search == "tpe" and not self.goals:
            problems.append("goal: is missing: a tpe search needs the name of a score, such as coherence.strict")
        if len({goal.direction for goal in self.goals}) > 1:
            problems.append(
                "goal: expected one direction of all scores, got maximize and minimize: no mean of these says what is better"
            )
        if self.apart and not self.variants:
            problems.append("apart: there are no variants to search apart: leave it out, or add variants")
        for what in ("pruning", "storage", "apart") if self.search == "grid" else ():
            if getattr(self, what) not in ("", "none", False):
                problems.append(f"{what}: a grid has no trials: leave it out, or set search to random or tpe")
        if problems:
            raise ConfigError(problems)

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The scores whose mean a `tpe` search improves."""
        return self.goal if isinstance(self.goal, tuple) else () if self.goal is None else (self.goal,)

    @property
    def drawn(self) -> int:
        """How many trials a search has in all."""
        return self.trials * (len(self.variants) if self.apart else 1)

    def points(self) -> list[Overrides]:
        """Every combination of variants and grid, in the order of the file."""
        grids = [dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())]
        return [{**self.variant(name), **grid} for name in self.variants or [""] for grid in grids]

    def probes(self) -> list[Overrides]:
        """Points that show every value of a search at least once, each alone."""
        values: dict[str, tuple[Any, ...]] = dict(self.grid)
        values |= {path: (self.number(path, item.low), self.number(path, item.high)) for path, item in self.ranges.items()}
        plain = self.variant(next(iter(self.variants), ""))
        alone: list[Overrides] = [{**plain, path: value} for path, choices in values.items() for value in choices]
        return [self.variant(name) for name in self.variants or [""]] + alone

    def number(self, path: str, value: float) -> float | int:
        """A number of a range as the setting takes it."""
        return round(value) if self.ranges[path].whole else value

    def variant(self, name: str) -> dict[str, Any]:
        """The settings of a variant, its name among them; of none for an empty name."""
        return {"name": name, **self.variants[name]} if name else {}

    @cached_property
    def base_settings(self) -> dict[str, Any]:
        """The settings of the experiment that is varied; its file is read once."""
        return dict(self.base) if isinstance(self.base, Mapping) else paths_beside(read_document(self.base), self.base)

    def experiments(self, point: Overrides, *, known: KnownParts | None = None) -> list[Experiment]:
        """The experiments of a point, one a seed.

        Args:
            point: the settings that differ from those of `base`.
            known: as in `read_experiment`; the seeds of a point share everything else.

        Raises:
            ConfigError: with every problem of its settings.
        """
        tree = overridden({"name": self.name, **self.base_settings}, point)
        if self.by_seed:
            each = zip(*self.by_seed.values(), strict=True)
            trees = [overridden(tree, dict(zip(self.by_seed, values, strict=True))) for values in each]
            return [read_experiment({**own, "seed": seed}, known=known) for own, seed in zip(trees, self.seeds, strict=True)]
        first = read_experiment({**tree, "seed": self.seeds[0]}, known=known)
        return [first, *(with_seed(first, seed) for seed in self.seeds[1:])]

    def _varied(self, path: str) -> str:
        """Why a setting cannot change with the seed; nothing where it can."""
        if path in ("seed", "name"):
            return f"{path} is no setting that changes with the seed: name the seeds in seeds, and variants in variants"
        also = [f"grid.{path}"] * (path in self.grid) + [f"ranges.{path}"] * (path in self.ranges)
        also += [f"variants.{name}" for name, values in self.variants.items() if path in values]
        return f"the setting is also in {also[0]}: leave it out of one" if also else ""


def load_study(path: Path | str) -> Study:
    """The study in a YAML file; it is called after the file, at whose folder relative paths of its settings begin.

    Raises:
        ConfigError: with every problem of the file.
    """
    path = given_path(path, STUDY_FILE)
    tree = {"name": path.stem, **read_document(path)}
    if isinstance(tree.get("base"), str):
        tree["base"] = str(path.parent / tree["base"])
    elif isinstance(tree.get("base"), Mapping):
        tree["base"] = paths_beside(tree["base"], path)
    for name, values in _mapping(tree.get("variants")).items():
        tree["variants"] = {**tree["variants"], name: values_beside(values, path) if isinstance(values, Mapping) else values}
    for part in ("grid", "by_seed"):
        for name, values in _mapping(tree.get(part)).items():
            if isinstance(values, list):
                tree[part] = {**tree[part], name: [values_beside({name: value}, path)[name] for value in values]}
    study: Study = build(Study, tree).value
    return study


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def check_study(path: Path | str) -> int:
    """Check every point of the study in a file; how many runs it has. Errors as `load_study` and `Study.experiments`."""
    path = given_path(path, STUDY_FILE)
    study = load_study(path)
    runs = [experiment for experiments in check_points(study) for experiment in experiments]
    return len(runs) if study.search == "grid" else study.drawn * len(study.seeds)


def check_points(study: Study) -> list[list[Experiment]]:
    """The experiments of every point of a grid, or of points that show every value of a search.

    A mistake shows here, before hours are spent; errors as `Study.experiments`. Experiments on the same samples share a data set.
    """
    points, known = study.points() if study.search == "grid" else study.probes(), KnownParts()
    read_experiment({"name": study.name, **study.base_settings}, known=known)

    def experiments(point: Overrides) -> list[Experiment]:
        try:
            return study.experiments(point, known=known)
        except ConfigError as error:
            raise ConfigError([f"{describe(point) or study.name}: {problem}" for problem in error.problems]) from error

    found = collected(partial(experiments, point) for point in points)
    if problems := [*_baseline_problems([experiment for each in found for experiment in each])]:
        raise ConfigError(problems)
    return found


def _baseline_problems(experiments: Sequence[Experiment]) -> Iterator[str]:
    """A problem for each baseline of robustness that is neither the name of a run of the study nor the class of its model."""
    settings = [flatten(experiment.resolved) for experiment in experiments]
    known = {word for each in settings for word in (str(each.get("name", "")), model_of(each)) if word}
    for name in dict.fromkeys(map(baseline_of, settings)):
        if name and name not in known:
            yield f"measure.measures.Robustness.baseline: no run or model {name!r} in the study; {nearest(name, known)}"


def describe(point: Overrides) -> str:
    """A point in few words, the last word of each path standing for the whole.

    >>> describe({"data.world.level": 2, "learn.model": "MVAE"})
    'level 2, model MVAE'
    >>> describe({"learn.model.init_args.beta.value": 0.3})
    'beta 0.3'
    """
    plain = {path: value for path, value in point.items() if not isinstance(value, dict | list)}
    words = {path.removesuffix(".value").rpartition(".")[2]: value for path, value in plain.items()}
    return ", ".join(str(value) if name == "name" else f"{name} {value}" for name, value in words.items())


def run_name(experiment: Experiment) -> str:
    """Name of the folder of a run in a study."""
    return f"{experiment.name}-seed{experiment.seed}-{store.fingerprint(experiment.identity)[:8]}"
