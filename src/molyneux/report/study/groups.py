"""Group the runs of a study: settings that differ become axes, runs that differ by seed alone a group, levels separate parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from molyneux.core import Score
from molyneux.core.reader import readers_of
from molyneux.report import wording
from molyneux.report.choice_scores import choices_in_order, leading_choices
from molyneux.report.published import PublishedResults, published_beside
from molyneux.report.record_lines import StudyRun
from molyneux.report.records import seed_order
from molyneux.report.settings import has_fitted_prior, model_of, short, steps_of
from molyneux.report.study.seeds import OverSeeds, over_seeds
from molyneux.report.tables import base_scores, coherence_scores, factor_scores

_ABSENT = "–"  # noqa: RUF001
_PARTS = (".level", ".group")
"""How the settings end that divide a study into parts."""

Key = tuple[str, tuple[tuple[str, wording.Value], ...]]
"""Identity of a score within a run: its name and sorted `about`."""


@dataclass(frozen=True)
class Axis:
    """A setting that differs between runs of the study.

    Args:
        path: its dotted name; `name` where several settings are varied together and runs are named after the variants.
        values: its values as text, in the order of the study.
    """

    path: str
    values: tuple[str, ...]

    @property
    def title(self) -> str:
        """Title of the setting."""
        return "variant" if self.path == "name" else wording.setting(self.path)

    def value(self, settings: Mapping[str, Any]) -> str:
        """Value of the setting in one run, as text."""
        return _text(settings, self.path)

    @property
    def is_level(self) -> bool:
        """Whether it is the level of a world, or which group of series a data set has; every such value has its own tables."""
        return self.path.endswith(_PARTS)

    @property
    def is_model(self) -> bool:
        """Whether it distinguishes models: by class, or by the names of variants."""
        return self.path == "name" or self.path.endswith("model.class_path")


@dataclass(frozen=True)
class SeedGroup:
    """Runs, at least one, that differ by their seeds alone, and the value of each axis by its path."""

    values: Mapping[str, str]
    runs: tuple[StudyRun, ...]

    def scores(self, key: Key) -> list[Score]:
        """The scores with this key, one for each run that has it."""
        return self._index.get(key, [])

    def over(self, key: Key) -> OverSeeds | None:
        """A score over the seeds; None where no run has it."""
        if key not in self._overs:
            scores = self.scores(key)
            self._overs[key] = over_seeds(scores) if scores else None
        return self._overs[key]

    def by_seed(self, key: Key) -> dict[str, float]:
        """The values of a score by the seed of the run, of the runs that have one."""
        found = [(run.seed, own.get(key)) for run, own in zip(self.runs, self._own, strict=True)]
        return {seed: float(score.value) for seed, score in found if score is not None and score.value is not None}

    def published_as(self, published: PublishedResults | None) -> str:
        """Name of these runs in published results: that of the variant or of the model class; empty where they have none."""
        if published is None:
            return ""
        run = self.runs[0]
        names = [str(run.settings.get("name", "")), *([] if published.variants else [model_of(run.settings, run.scores)])]
        return next((name for name in names if name in published.models), "")

    @cached_property
    def _index(self) -> dict[Key, list[Score]]:
        index: dict[Key, list[Score]] = {}
        for run in self.runs:
            for score in run.scores:
                index.setdefault(key_of(score), []).append(score)
        return index

    @cached_property
    def _own(self) -> list[dict[Key, Score]]:
        """The scores of each run; the first one where two have the same key."""
        return [{key_of(score): score for score in reversed(run.scores)} for run in self.runs]

    @cached_property
    def _overs(self) -> dict[Key, OverSeeds | None]:
        return {}

    @property
    def firsts(self) -> list[Score]:
        """The first score of each key that has a value, else the first."""
        return [next((score for score in scores if score.value is not None), scores[0]) for scores in self._index.values()]


def key_of(score: Score) -> Key:
    """Identity of a score within its run."""
    return score.name, tuple(sorted(score.about.items()))


@dataclass(frozen=True)
class StudyPart:
    """The runs of a study on one level of a world, or on one group of a data set; all of them where neither is varied.

    Args:
        title: `Level 2`, or empty for all runs.
        axes: the settings that distinguish the groups, without the level.
        groups: runs that differ by their seeds alone.
        published: published results for this level.
        left_out: a sentence, where published results are left out because training was short.
    """

    title: str
    axes: tuple[Axis, ...]
    groups: tuple[SeedGroup, ...]
    published: PublishedResults | None
    left_out: str = ""

    @cached_property
    def main(self) -> list[Key]:
        """The coherence of whole views, direction by direction; where there is none, the first scores without a factor.

        Predictions from all modalities come first: those from one alone say what that one is worth. Then come two-way choices
        between senses, those of what is new first.

        Areas under curves of robustness, which are of other scores, are left to the further measures.
        """
        whole = [key for key in self._where(conditional=False) if "factor" not in dict(key[1])]
        whole = [key for key in whole if wording.family(key[0]) != "robustness"] or whole
        return _keys(coherence_scores(self._firsts)) or self._in_order(whole)[:8]

    @cached_property
    def strict(self) -> list[Key]:
        """Strict coherence of whole views, direction by direction."""
        return [key for key in self.main if key[0] == "coherence.strict"]

    @cached_property
    def leading(self) -> list[Key]:
        """The score that stands for the part without coherence: a prediction, the recommended gap of codes, or else the first.

        Two-way choices, which come after predictions, have one for each direction, see `leading_choices`.
        """
        known = [key for key in self.main if key[0] != "coherence.strict"]
        wanted = [(key, dict(key[1])) for key in self._where(conditional=False) if key[0] == "disentanglement.mig"]
        gaps = [key for key, about in wanted if "factor" not in about and about.get("variant") == "recommended"]
        predicted = [key for key in known if wording.family(key[0]) == "prediction"]
        choices = [key for key in map(key_of, leading_choices(self._unconditional)) if key in known]
        return predicted[:1] or choices or (gaps or known)[:1]

    @cached_property
    def factors(self) -> list[Key]:
        """The accuracies of single factors, direction by direction."""
        return _keys(factor_scores(self._firsts))

    @cached_property
    def rest(self) -> list[Key]:
        """Every other score of the samples as they are."""
        shown = {*self.main, *self.factors}
        return [key for key in self._where(conditional=False) if key not in shown]

    @cached_property
    def conditions(self) -> list[Key]:
        """The scores under conditions, such as corruptions, without those of single factors."""
        return [key for key in self._where(conditional=True) if "factor" not in dict(key[1])]

    @cached_property
    def scores(self) -> list[Score]:
        """The scores of all runs."""
        return [score for group in self.groups for run in group.runs for score in run.scores]

    @cached_property
    def _firsts(self) -> list[Score]:
        """The first score of each key, in the order in which they come."""
        found: dict[Key, Score] = {}
        for score in (score for group in self.groups for score in group.firsts):
            found.setdefault(key_of(score), score)
        return [*found.values()]

    @property
    def _unconditional(self) -> list[Score]:
        return [score for score in self._firsts if not wording.is_conditional(score)]

    def _in_order(self, keys: Sequence[Key]) -> list[Key]:
        """The keys, those of predictions from fewer modalities than others of the same target behind all others.

        Where there are two-way choices, they come in their order after predictions and before all else.
        """
        choices = {key: place for place, key in enumerate(map(key_of, choices_in_order(self._unconditional)))}
        widest: dict[wording.Value | None, int] = {}
        for name, about in keys:
            target = dict(about).get("target") if wording.family(name) == "prediction" else None
            widest[target] = max(widest.get(target, 0), len(wording.names_of(dict(about).get("source"))))

        def narrow(key: Key) -> bool:
            about = dict(key[1])
            alone = len(wording.names_of(about.get("source"))) < widest.get(about.get("target"), 0)
            return wording.family(key[0]) == "prediction" and alone

        def place(key: Key) -> tuple[bool, bool, int]:
            predicted = wording.family(key[0]) == "prediction"
            return narrow(key), bool(choices) and not predicted and key not in choices, choices.get(key, -1)

        return sorted(keys, key=place)

    def _where(self, *, conditional: bool) -> list[Key]:
        return _keys(score for score in self._firsts if wording.is_conditional(score) == conditional)

    def label(self, group: SeedGroup) -> str:
        """Label of a group; it says that a prior was fitted after training where that is so in some groups and not in others."""
        text = label(group, self.axes)
        said = "fitted" in text or len(self._fitted) == len(self.groups)
        return text if said or id(group) not in self._fitted else f"{text} (fitted prior)"

    @cached_property
    def _fitted(self) -> set[int]:
        return {id(group) for group in self.groups if has_fitted_prior(group.runs[0].settings)}

    def column(self, key: Key) -> list[OverSeeds | None]:
        """A score of every group over its seeds."""
        return [group.over(key) for group in self.groups]

    def title_of(self, key: Key) -> str:
        """Title of a score: what it is about, and its measure."""
        score = next(score for group in self.groups for score in group.scores(key))
        return ": ".join(part for part in (wording.subject(score), wording.measure(score)) if part)

    def has(self, key: Key) -> bool:
        """Whether some run has that score."""
        return any(group.scores(key) for group in self.groups)

    def identifier(self, *words: str) -> str:
        """An identifier of something on the page that names the level."""
        level = self.title[:1].lower() + self.title[1:]
        return wording.identifier(" ".join(word for word in (words[0], level, *words[1:]) if word))

    def titled(self, text: str) -> str:
        """A title that names the level."""
        return f"{self.title}: {text}" if self.title else text[:1].upper() + text[1:]


def _keys(scores: Iterable[Score]) -> list[Key]:
    return list(dict.fromkeys(map(key_of, scores)))


def divide(runs: Sequence[StudyRun]) -> list[StudyPart]:
    """Divide a study into one part for each level, or for each group of a data set, in their order."""
    axes = find_axes(runs)
    level = next((axis for axis in axes if axis.is_level), None)
    others = tuple(axis for axis in axes if not axis.is_level)
    parts = []
    for value in level.values if level else ("",):
        chosen = [run for run in runs if level is None or level.value(run.settings) == value]
        title = f"{level.title.capitalize()} {value}" if level else ""
        for readers, same in by_readers(chosen).items():
            shortest = min(same, key=lambda run: steps_of(run.settings) or math.inf)
            beside = published_beside(shortest.settings, base_scores([score for run in same for score in run.scores]))
            groups = tuple(_ordered(group_runs(same, others), beside[0]))
            parts.append(StudyPart(", ".join(filter(None, (title, readers))), others, groups, *beside))
    return parts


def by_readers(runs: Sequence[StudyRun]) -> dict[str, list[StudyRun]]:
    """Runs that the same readers read, under what tells these readers apart; all under an empty title where nothing does.

    A run without readings of a modality goes with any reader of it.
    """
    read = [_readers(run) for run in runs]
    known: dict[str, list[str]] = {}
    for own in read:
        for modality, reader in own.items():
            known.setdefault(modality, []).append(reader)
    usual = {modality: readers[0] for modality, readers in known.items() if len(set(readers)) > 1}
    found: dict[str, list[StudyRun]] = {}
    for run, own in zip(runs, read, strict=True):
        title = ", ".join(f"{name} read by {own.get(name, first)}" for name, first in usual.items())
        found.setdefault(title, []).append(run)
    return found


def _readers(run: StudyRun) -> dict[str, str]:
    """Who read each modality in a run; a run that two readers of one modality read is refused where its scores are averaged."""
    return {modality: reader for score in run.scores for modality, reader in readers_of(score).items()}


def _ordered(groups: Sequence[SeedGroup], published: PublishedResults | None) -> list[SeedGroup]:
    """Models and variants that have published numbers first, in the published order."""
    models = published.models if published else ()

    def place(group: SeedGroup) -> int:
        model = group.published_as(published)
        return models.index(model) if model in models else len(models)

    return sorted(groups, key=place)


def find_axes(runs: Sequence[StudyRun]) -> list[Axis]:
    """The fewest settings that distinguish all groups: variant, model and level first, then the others in their order.

    A setting that distinguishes no more groups than those before it is not an axis, but for the level: chance and controls of a
    table are those of one. Runs are called by the names that the study's
    file gives to its variants, where these names distinguish no more groups than the settings do.
    """
    paths = dict.fromkeys(path for run in runs for path in run.settings if path not in ("name", "seed"))
    varied = [path for path in paths if len({_text(run.settings, path) for run in runs}) > 1]
    named = ["name"] if _classes(runs, [*varied, "name"]) == _classes(runs, varied) else []
    parts, model = ([path for path in varied if path.endswith(endings)] for endings in (_PARTS, "model.class_path"))
    chosen: list[str] = []
    for path in dict.fromkeys([*parts, *named, *model, *varied]):
        if _classes(runs, [*chosen, path]) > _classes(runs, chosen):
            chosen.append(path)
    order = [*named, *model, *parts, *varied]
    return [_axis(runs, path) for path in sorted(chosen, key=order.index)]


def group_runs(runs: Sequence[StudyRun], axes: Sequence[Axis]) -> list[SeedGroup]:
    """Groups in the order of the values of the axes, the runs of each by the numbers of their seeds."""
    groups: dict[tuple[str, ...], list[StudyRun]] = {}
    for run in sorted(runs, key=lambda run: seed_order(run.seed)):
        groups.setdefault(tuple(axis.value(run.settings) for axis in axes), []).append(run)

    places = [{value: place for place, value in enumerate(axis.values)} for axis in axes]

    def place(values: tuple[str, ...]) -> list[int]:
        return [known[value] for known, value in zip(places, values, strict=True)]

    paths = [axis.path for axis in axes]
    return [SeedGroup(dict(zip(paths, values, strict=True)), tuple(groups[values])) for values in sorted(groups, key=place)]


def label(group: SeedGroup, axes: Sequence[Axis]) -> str:
    """Label of a group, such as `MVAE, beta 0.5`."""
    parts = [(axis, group.values[axis.path]) for axis in axes if not axis.is_level]
    texts = [value if axis.is_model else f"{axis.title} {value}" for axis, value in parts]
    return ", ".join(texts) or "all runs"


def _text(settings: Mapping[str, Any], path: str) -> str:
    return short(settings[path]) if path in settings else _ABSENT


def _classes(runs: Sequence[StudyRun], paths: Sequence[str]) -> int:
    return len({tuple(_text(run.settings, path) for path in paths) for run in runs})


def _axis(runs: Sequence[StudyRun], path: str) -> Axis:
    values = {_text(run.settings, path): run.settings.get(path) for run in runs}
    known = [value for text, value in values.items() if text != _ABSENT]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)

    def place(text: str) -> float:
        return -math.inf if text == _ABSENT else float(str(values[text]))

    return Axis(path, tuple(sorted(values, key=place) if numbers else values))
