"""Accuracy against the rate of missing modalities: the table and the curves of a study; used by `tables.py` and `figures.py`.

The runs of a study differ in the method (the variant) and in `data.missing`; conditions have the rates of the test samples.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from molyneux.core import Score
from molyneux.data import Interactions
from molyneux.report import StudyRun, to_markdown
from molyneux.report.plots.curves import Line, line_panel
from molyneux.report.plots.svg import standalone
from molyneux.report.study.seeds import OverSeeds, over_seeds
from molyneux.report.tables import Column, Entry, Table
from molyneux.report.tables.table import DASH
from molyneux.report.wording import identifier

STUDIES = ("missing-senses", "missing-senses-av-mnist")
_SCORE = "prediction.accuracy"


@dataclass(frozen=True)
class RateCurves:
    """The curves of a target of a study: accuracy at equal rates in training and test, a line for each method."""

    runs: Sequence[StudyRun]
    study: str
    target: str

    @property
    def name(self) -> str:
        """Of the file."""
        return f"{self.study}-{identifier(self.target)}"

    def svg(self) -> str:
        """The drawing, on white."""
        lines = []
        for method in methods(self.runs):
            found = [(rate, at(self.runs, method, self.target, rate, rate)) for rate in rates(self.runs)]
            known = [(rate, over) for rate, over in found if over is not None and over.mean is not None]
            points = tuple((rate, float(over.mean or 0.0)) for rate, over in known)
            lines.append(Line(method, points, tuple((min(over.values), max(over.values)) for _, over in known)))
        title = f"Accuracy of {self.target}, %, at equal rates in training and test"
        drawn = standalone(line_panel(self.name, title, lines, chance=self._chance, across="rate of missing modalities"))
        head, _, rest = drawn.partition("<svg ")
        opening, _, content = rest.partition(">")
        return f'{head}<svg {opening}>\n<title>{title}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>{content}'

    @property
    def _chance(self) -> float | None:
        found = [
            score.chance for run in self.runs for score in run.scores if _of(score, self.target) and score.chance is not None
        ]
        return float(np.mean(found)) if found else None


def rate_curves(study: str, runs: Sequence[StudyRun]) -> list[RateCurves]:
    """Those of every target of a study; none without runs."""
    return [RateCurves(runs, study, target) for target in targets(runs)]


def rate_table(study: str, runs: Sequence[StudyRun]) -> str:
    """Pictures and table of a study in Markdown, or how its records are made where there are none."""
    if not runs:
        return (
            f"There are no records yet: `molyneux sweep configs/studies/{study}.yaml` makes them, and `make tables` the table.\n"
        )
    pictures = [
        f"![Accuracy of {item.target} against the rate of missing modalities](../assets/figures/{item.name}.svg)"
        for item in rate_curves(study, runs)
    ]
    known = rates(runs)
    columns = [("training and test", rate, rate) for rate in known]
    columns += [("test alone", 0.0, rate) for rate in known[1:]] + [("training alone", rate, 0.0) for rate in known[1:]]
    rows = []
    for target in targets(runs):
        for number, method in enumerate(methods(runs)):
            over = [at(runs, method, target, train, test) for _, train, test in columns]
            rows.append((Entry(target, repeated=number > 0), Entry(method), *map(seeds_entry, over)))
        rows += _ceiling(runs, target, [test for _, _, test in columns])
    titles = [Column("target", "left"), Column("method", "left")]
    titles += [Column(f"{max(train, test):g}", group=group) for group, train, test in columns]
    note = "Rates at which modalities are missing; 0 is complete. Means over the seeds, with half of their 95 % intervals."
    found = Table(identifier(study), "Accuracy by rate, %", tuple(titles), tuple(rows), (note,))
    return "\n\n".join(pictures) + "\n\n" + to_markdown(found)


def methods(runs: Sequence[StudyRun]) -> list[str]:
    """Names of the variants, in their order."""
    return list(dict.fromkeys(str(run.settings["name"]) for run in runs))


def targets(runs: Sequence[StudyRun]) -> list[str]:
    """Names of the targets whose accuracy is on record."""
    return list(dict.fromkeys(str(score.about["target"]) for run in runs[:1] for score in run.scores if score.name == _SCORE))


def rates(runs: Sequence[StudyRun]) -> list[float]:
    """The rates of training, rising; the first is 0."""
    return sorted({trained_at(run) for run in runs} | {0.0})


def trained_at(run: StudyRun) -> float:
    """The rate at which the training samples of a run lack modalities, which is that of all that are named."""
    found = [float(value) for path, value in run.settings.items() if path.startswith("data.missing.")]
    return max(found, default=0.0)


def at(runs: Sequence[StudyRun], method: str, target: str, train: float, test: float) -> OverSeeds | None:
    """The accuracy of a method at rates of training and test, over the seeds; None where it is not on record."""
    found = [
        score
        for run in runs
        if str(run.settings["name"]) == method and trained_at(run) == train
        for score in run.scores
        if _of(score, target) and _tested_at(score) == test
    ]
    return over_seeds(found) if found else None


def _of(score: Score, target: str) -> bool:
    """Whether a score is the accuracy of a target from all modalities, under no other condition than missing ones."""
    source = score.about.get("source")
    together = isinstance(source, tuple) and len(source) > 1
    plain = score.about.get("corruption", "missing") == "missing" and "missing" not in score.about and "split" not in score.about
    return score.name == _SCORE and score.about.get("target") == target and together and plain


def _tested_at(score: Score) -> float:
    return float(str(score.about.get("strength", 0)))


def seeds_entry(over: OverSeeds | None) -> Entry:
    """A mean over seeds with half of its interval; a dash where nothing is on record."""
    if over is None or over.mean is None:
        return DASH
    half = "" if over.interval is None else f" ± {(over.interval[1] - over.interval[0]) / 2:.1f}"
    return Entry(f"{over.written}{half}", value=over.mean)


def _ceiling(runs: Sequence[StudyRun], target: str, tested: Sequence[float]) -> Iterator[tuple[Entry, ...]]:
    """A row with the best accuracy that the test samples allow, where the world can say it."""
    if (world := world_of(runs)) is None:
        return
    entries = [Entry(f"{100 * best_accuracy(world, target, rate):.1f}", tone="muted") for rate in tested]
    yield (Entry(target, repeated=True), Entry("best possible", tone="muted"), *entries)


def world_of(runs: Sequence[StudyRun]) -> Interactions | None:
    """The world of a study, where it is one whose information is known."""
    settings = runs[0].settings
    if not str(settings.get("data.world.class_path", "")).endswith(".Interactions"):
        return None
    at_init = "data.world.init_args."
    arguments: dict[str, Any] = {path.removeprefix(at_init): item for path, item in settings.items() if path.startswith(at_init)}
    return Interactions(**arguments)


def best_accuracy(world: Interactions, target: str, rate: float) -> float:
    """The best accuracy for samples that lack each modality with this rate, given that they have one."""
    total = weight = 0.0
    for pattern in itertools.product((False, True), repeat=len(world.names)):
        if any(pattern):
            chance = float(np.prod([1 - rate if here else rate for here in pattern]))
            names = [name for name, here in zip(world.names, pattern, strict=True) if here]
            total, weight = total + chance * world.accuracy(target, names), weight + chance
    return total / weight
