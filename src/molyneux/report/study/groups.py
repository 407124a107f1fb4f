"""Runs of a study by what was varied in them: settings that differ become axes, runs that differ by seed alone a group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.published import Leaderboard
from molyneux.report.settings import model_of, short
from molyneux.report.study.records import StudyRun

_APART = frozenset({"name", "seed"})
_ABSENT = "–"  # noqa: RUF001

Key = tuple[str, tuple[tuple[str, str], ...]]
"""What tells scores of a run apart: name and sorted `about`."""


@dataclass(frozen=True)
class Axis:
    """A setting that is varied.

    Args:
        path: its dotted name; `name` where several settings are varied together and the runs carry a name for it.
        values: what it takes, as text, in the order of the study.
    """

    path: str
    values: tuple[str, ...]

    @property
    def title(self) -> str:
        """The setting in words."""
        return "variant" if self.path == "name" else wording.setting(self.path)

    def value(self, settings: Mapping[str, Any]) -> str:
        """Its value in the settings of a run."""
        return _text(settings, self.path)

    @property
    def is_level(self) -> bool:
        """Whether it is the level of a world, which divides a study into tables."""
        return self.path.endswith(".level")

    @property
    def is_model(self) -> bool:
        """Whether it tells models apart: by their class, or by the names of variants."""
        return self.path == "name" or self.path.endswith("model.class_path")


@dataclass(frozen=True)
class Group:
    """Runs that differ by their seeds alone.

    Args:
        values: the value of each axis by its path.
        runs: at least one.
    """

    values: Mapping[str, str]
    runs: tuple[StudyRun, ...]

    def scores(self, key: Key) -> list[Score]:
        """The score of that name and subject of every run that has it."""
        return self._index.get(key, [])

    def published_as(self, leaderboard: Leaderboard | None) -> str:
        """What a published table calls these runs: the name of the variant, or of the model; empty where it has neither."""
        if leaderboard is None:
            return ""
        run = self.runs[0]
        names = [str(run.settings.get("name", "")), *([] if leaderboard.variants else [model_of(run.settings, run.scores)])]
        return next((name for name in names if name in leaderboard.models), "")

    @cached_property
    def _index(self) -> dict[Key, list[Score]]:
        index: dict[Key, list[Score]] = {}
        for run in self.runs:
            for score in run.scores:
                index.setdefault(key_of(score), []).append(score)
        return index


def key_of(score: Score) -> Key:
    """What tells a score apart from the others of its run."""
    return score.name, tuple(sorted(score.about.items()))


def find_axes(runs: Sequence[StudyRun]) -> list[Axis]:
    """The fewest settings that tell all groups apart: model or variant and level first, then the others in their order.

    A setting that says nothing beyond those before it, such as one that only one of the models has, is no axis. Variants of a
    study, whose runs carry names, are told apart by their names unless the class of the model says as much.
    """
    paths = dict.fromkeys(path for run in runs for path in run.settings if path not in _APART)
    varied = [path for path in paths if len({_text(run.settings, path) for run in runs}) > 1]
    models = [path for path in varied if path.endswith("model.class_path")]
    first = [*_variants(runs, models, varied), *models, *(path for path in varied if path.endswith(".level"))]
    chosen: list[str] = []
    for path in dict.fromkeys([*first, *varied]):
        if _classes(runs, [*chosen, path]) > _classes(runs, chosen):
            chosen.append(path)
    return [_axis(runs, path) for path in chosen]


def group_runs(runs: Sequence[StudyRun], axes: Sequence[Axis]) -> list[Group]:
    """Groups in the order of the values of the axes."""
    groups: dict[tuple[str, ...], list[StudyRun]] = {}
    for run in runs:
        groups.setdefault(tuple(axis.value(run.settings) for axis in axes), []).append(run)

    def place(values: tuple[str, ...]) -> list[int]:
        return [axis.values.index(value) for axis, value in zip(axes, values, strict=True)]

    paths = [axis.path for axis in axes]
    return [Group(dict(zip(paths, values, strict=True)), tuple(groups[values])) for values in sorted(groups, key=place)]


def label(group: Group, axes: Sequence[Axis]) -> str:
    """A group in words: `MVAE, beta 0.5`."""
    parts = [(axis, group.values[axis.path]) for axis in axes if not axis.is_level]
    told = [value if axis.is_model else f"{axis.title} {value}" for axis, value in parts]
    return ", ".join(told) or "all runs"


def keys(groups: Sequence[Group], wanted: Callable[[Score], bool]) -> list[Key]:
    """What was measured, in the order of first appearance."""
    return list(dict.fromkeys(key_of(score) for group in groups for run in group.runs for score in run.scores if wanted(score)))


def _text(settings: Mapping[str, Any], path: str) -> str:
    return short(settings[path]) if path in settings else _ABSENT


def _classes(runs: Sequence[StudyRun], paths: Sequence[str]) -> int:
    return len({tuple(_text(run.settings, path) for path in paths) for run in runs})


def _variants(runs: Sequence[StudyRun], models: Sequence[str], varied: Sequence[str]) -> list[str]:
    """The names of runs, where they stand for settings and say more than the class of the model or one setting that all have."""
    stand_for_settings = _classes(runs, [*varied, "name"]) == _classes(runs, varied)
    say_more = _classes(runs, [*models, "name"]) > _classes(runs, models)
    everywhere = [path for path in varied if all(path in run.settings for run in runs)]
    alone = [path for path in everywhere if _classes(runs, [path, "name"]) == _classes(runs, [path]) == _classes(runs, ["name"])]
    return ["name"] if stand_for_settings and say_more and len(alone) != 1 else []


def _axis(runs: Sequence[StudyRun], path: str) -> Axis:
    values = {_text(run.settings, path): run.settings.get(path) for run in runs}
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values.values())
    ordered = sorted(values, key=lambda text: float(str(values[text]))) if numbers else list(values)
    return Axis(path, tuple(ordered))
