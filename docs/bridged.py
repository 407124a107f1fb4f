"""The two-way choice on `molyneux-v1` against the number of bridged shapes: tables and figures.

Used by `tables.py` and `figures.py`. The runs of a study differ in the model (the variant) and in how many shapes are
seen and felt together in training.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from molyneux.core.intervals import Interval, across_seeds
from molyneux.report import StudyRun, to_markdown
from molyneux.report.plots.svg import CEILING, CHANCE, INK, QUIET, RULE, SERIES, axes, panel, standalone
from molyneux.report.tables import Column, Entry, Table
from molyneux.report.tables.table import DASH

STUDIES = {
    "molyneux-v1": "{}",
    "molyneux-v1-further": "the same, 200 further shapes",
    "molyneux-v1-linear": "{}",
    "molyneux-v1-short": "{}, a fifth of the steps",
    "molyneux-v1-generative": "{}",
}
"""Studies whose models are lines of the figure, and how a model of each is called there."""

REFERENCES = Path(__file__).parents[1] / "studies" / "results" / "molyneux-references" / "records.json"
PARTS = {
    "new": ("touch", "image", "new", "accuracy"),
    "felt": ("touch", "image", "felt", "accuracy"),
    "alike": ("touch", "image", "new", "alike_accuracy"),
    "back": ("image", "touch", "new", "accuracy"),
    "back_seen": ("image", "touch", "seen", "accuracy"),
    "within": ("touch", "touch", "new", "accuracy"),
    "seen": ("image", "image", "new", "accuracy"),
    "bridged": ("touch", "image", "bridged", "accuracy"),
    "bridged_alike": ("touch", "image", "bridged", "alike_accuracy"),
    "back_alike": ("image", "touch", "new", "alike_accuracy"),
    "within_alike": ("touch", "touch", "new", "alike_accuracy"),
    "seen_alike": ("image", "image", "new", "alike_accuracy"),
    "shown": ("touch", "image", "new", "shown_accuracy"),
    "shown_alike": ("touch", "image", "new", "shown_alike_accuracy"),
}
"""By name: what is given, what there is to choose from, the role of the shapes, and the score."""

HEADS = {
    "new": "new to both senses",
    "felt": "only felt",
    "alike": "new, of a pair that is alike",
    "back": "new, sight to touch",
    "within": "new, touch to touch",
    "seen": "new, sight to sight",
    "bridged": "bridged",
}
_MORE = {"bridged_alike": "bridged, of a pair that is alike"}
_CHILDREN = ((58.0, "five children, within 48 hours of sight"), (80.0, "two of these children, days later"))
"""Held et al. (2011): touch to sight; lines of the figure."""


def counts(runs: Sequence[StudyRun]) -> list[int]:
    """How many shapes are bridged, rising; numbers with less than half as many trainings as another one are left out."""
    sizes = Counter((str(run.settings["name"]), bridged(run)) for run in runs)
    return sorted({count for (_, count), size in sizes.items() if 2 * size >= max(sizes.values(), default=0)})


def bridged(run: StudyRun) -> int:
    """How many shapes, or characters, a run saw and felt together."""
    return next(int(value) for name, value in run.settings.items() if name.endswith(".bridging.bridged"))


def _assignment(run: StudyRun) -> int:
    """Which shapes have which roles in a run."""
    return next((int(value) for name, value in run.settings.items() if name.endswith(".bridging.assignment")), 0)


@dataclass(frozen=True)
class Choices:
    """The mean of a score over trainings, and its 95 % interval for new seeds and new shapes."""

    mean: float
    interval: Interval

    @property
    def rounded(self) -> Choices:
        """With the digits that a figure shows: the last ones differ between processors."""
        low, high = self.interval
        return Choices(round(self.mean, 4), (round(low, 4), round(high, 4)))


def over(runs: Sequence[StudyRun], name: str, count: int, part: str, **more: str) -> Choices | None:
    """A score over the trainings of a variant, of that part and what it is about beside; None where it is not on record.

    Trainings that give the roles to other shapes are asked about other shapes too, unless these are further ones, which have no
    role: `core.intervals.across_seeds`.
    """
    source, target, role, score = PARTS[part]
    source, target = ("strokes" if _written(runs) and name == "touch" else name for name in (source, target))
    wanted = {"source": source, "target": target, "role": role, **more}
    found = [
        (_assignment(run), item)
        for run in runs
        if str(run.settings["name"]) == name and bridged(run) == count
        for item in run.scores
        if item.name == f"two_way_choice.{score}" and dict(item.about) == wanted
    ]
    known = [item for _, item in found if item.value is not None]
    if not known:
        return None
    mean = float(np.mean([item.value for item in known]))
    shared = len({assignment for assignment, _ in found}) == 1 or all(item.origin.get("shapes") == "further" for item in known)
    return Choices(mean, across_seeds(known, shared=shared) or (mean, mean))


def models(runs: Sequence[StudyRun]) -> list[str]:
    """Names of the variants, in their order."""
    return list(dict.fromkeys(str(run.settings["name"]) for run in runs))


def bridged_table(name: str, runs: Sequence[StudyRun]) -> str:
    """A table of one score, such as `new.molyneux-v1`: a column for each model, a row for each number of bridged shapes."""
    part, _, study = name.partition(".")
    if not runs:
        return missing(study)
    named = models(runs)
    rows = [(Entry(str(count)), *(_entry(over(runs, model, count, part)) for model in named)) for count in counts(runs)]
    note = f"{seeds_said(runs)} Chance is 50 %."
    head = (Column("bridged shapes", "left"), *(Column(model) for model in named))
    return to_markdown(Table(study, f"Right choices, %: shapes {HEADS[part]}", head, tuple(rows), (note,)))


def all_parts(study: str, runs: Sequence[StudyRun]) -> str:
    """All scores of each model at its largest number of bridged shapes."""
    if not runs:
        return missing(study)
    most = counts(runs)[-1]
    rows = [
        (Entry(model), *(_entry(over(runs, model, most, part)) for part in HEADS))
        for model in models(runs)
        if _has(runs, model, most)
    ]
    head = (Column("model", "left"), *(Column(text) for text in HEADS.values()))
    note = f"{most} bridged shapes; touch to sight where nothing else is said. Chance is 50 %."
    return to_markdown(Table(study, "Right choices, %", head, tuple(rows), (note,)))


def within_table(study: str, runs: Sequence[StudyRun]) -> str:
    """Choices of pairs that are alike, of the first model, within each sense and across, by the number of bridged shapes."""
    if not runs:
        return missing(study)
    model, named = models(runs)[0], {"alike": "touch to sight", "back_alike": "sight to touch", "within_alike": "touch to touch"}
    named |= {"seen_alike": "sight to sight", "bridged_alike": "touch to sight, bridged shapes"}
    rows = [(Entry(str(count)), *(_entry(over(runs, model, count, part)) for part in named)) for count in counts(runs)]
    head = (Column("bridged shapes", "left"), *(Column(text) for text in named.values()))
    note = "New shapes, but for the last column. Chance is 50 %."
    return to_markdown(Table(study, f"Right choices of {model}, %: pairs that are alike", head, tuple(rows), (note,)))


def shown_table(study: str, runs: Sequence[StudyRun]) -> str:
    """After samples of each new shape were shown: a row for each number of bridged shapes, a column for how many were shown."""
    if not runs:
        return missing(study)
    model = models(runs)[0]
    shown = sorted({int(item.about["shown"]) for run in runs for item in run.scores if "shown" in item.about})
    rows = [
        (Entry(str(count)), *(_entry(over(runs, model, count, "shown_alike", shown=str(each))) for each in shown))
        for count in counts(runs)
    ]
    head = (Column("bridged shapes", "left"), *(Column(f"after {each}") for each in shown))
    title = f"Right choices of {model}, %: shapes {HEADS['alike']}, after samples of each were seen and felt"
    return to_markdown(Table(study, title, head, tuple(rows), (f"{seeds_said(runs)} Touch to sight. Chance is 50 %.",)))


def changed_table(study: str, runs: Sequence[StudyRun], beside: Sequence[StudyRun] = ()) -> str:
    """What was changed in training: a row for each variant, at its own number of bridged shapes.

    Of the runs `beside`, those with the assignment and the numbers of bridged shapes of the others come first: what was changed.
    """
    if not runs:
        return missing(study)
    parts = ("alike", "new", "within", "seen")
    same = {_assignment(run) for run in runs}, {bridged(run) for run in runs}
    runs = [*(run for run in beside if _assignment(run) in same[0] and bridged(run) in same[1]), *runs]
    rows = [
        (Entry(model), Entry(str(count)), *(_entry(over(runs, model, count, part)) for part in parts))
        for model in models(runs)
        for count in counts(runs)
        if _has(runs, model, count)
    ]
    head = (Column("training", "left"), Column("bridged shapes"), *(Column(HEADS[part]) for part in parts))
    note = f"{seeds_said(runs)} Touch to sight where nothing else is said. Chance is 50 %."
    table = to_markdown(Table(study, "Right choices, %", head, tuple(rows), (note,)))
    return _of_characters(table) if _written(runs) else table


def ways_table(study: str, runs: Sequence[StudyRun]) -> str:
    """Choices by codes, by likelihood and by drawing, and within each sense: a row for each model."""
    if not runs:
        return missing(study)
    asked = [("bridged", way) for way in ("codes", "likelihood", "drawing")] + [("new", way) for way in ("codes", "drawing")]
    most, within = counts(runs)[-1], ("within", "seen")
    rows = []
    for model in models(runs):
        across = (over(runs, model, most, part, **({} if way == "codes" else {"way": way})) for part, way in asked)
        rows.append((Entry(model), *map(_entry, across), *(_entry(over(runs, model, most, part)) for part in within)))
    head = (Column(f"{HEADS[part]}, by {way}") for part, way in asked)
    note = f"{seeds_said(runs)} {most} bridged shapes; touch to sight where nothing else is said. Chance is 50 %."
    columns = (Column("model", "left"), *head, *(Column(HEADS[part]) for part in within))
    return to_markdown(Table(study, "Right choices, %, of any two shapes", columns, tuple(rows), (note,)))


def searched_table(study: str, runs: Sequence[StudyRun]) -> str:
    """The trial of each model that is best by the goal of the searches, on validation shapes: a column for each score."""
    if not runs:
        return missing(study)
    parts = ("bridged", "new", "bridged_alike", "alike")
    trials = {model: [run for run in runs if str(run.settings["name"]) == model] for model in models(runs)}
    rows = []
    for model, found in trials.items():
        best = max(found, key=lambda run: _goal(run, model))
        scores = (_entry(over([best], model, bridged(best), part)) for part in parts)
        rows.append((Entry(model), Entry(str(len(found))), *scores))
    head = (Column("model", "left"), Column("settings tried"), *(Column({**HEADS, **_MORE}[part]) for part in parts))
    note = (
        "Of the trial with the best mean of touch to sight (shapes new, and only felt) and sight to touch (only seen), on "
        f"validation shapes, one seed, {counts(runs)[-1]} bridged shapes. Touch to sight. Intervals are for new shapes, not for "
        "the choice. Chance is 50 %."
    )
    return to_markdown(Table(study, "Right choices of the best setting, %", head, tuple(rows), (note,)))


def _goal(run: StudyRun, model: str) -> float:
    """What the searches of `molyneux-v1` improve, of any two shapes: the mean of `felt`, `new` and `back_seen`."""
    found = [over([run], model, bridged(run), part) for part in ("felt", "new", "back_seen")]
    return float(np.mean([item.mean for item in found if item is not None]))


def _written(runs: Sequence[StudyRun]) -> bool:
    """Whether the things are characters, which are written and not felt."""
    return any("data.benchmark.class_path" in run.settings for run in runs)


def _of_characters(text: str) -> str:
    for word, other in (("touch to touch", "strokes to strokes"), ("Touch", "Strokes"), ("shapes", "characters")):
        text = text.replace(word, other)
    return text


def seeds_said(runs: Sequence[StudyRun]) -> str:
    """How many trainings there are, and what intervals hold for."""
    shown = counts(runs)
    sizes = sorted({*Counter((str(run.settings["name"]), bridged(run)) for run in runs if bridged(run) in shown).values()})
    if sizes[-1] == 1:
        return "One training. In brackets 95 % intervals for new shapes; another training may give another number."
    many = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    other = ", each with the roles given to other shapes" if len({_assignment(run) for run in runs}) > 1 else ""
    return f"{many} trainings{other}. In brackets 95 % intervals for new trainings and new shapes."


def missing(study: str) -> str:
    """What stands where a study has no records."""
    return f"There are no records yet: `molyneux sweep configs/studies/{study}.yaml` makes them, and `make tables` the table.\n"


def _has(runs: Sequence[StudyRun], model: str, count: int) -> bool:
    return any(str(run.settings["name"]) == model and bridged(run) == count for run in runs)


def _entry(found: Choices | None) -> Entry:
    if found is None:
        return DASH
    return Entry(f"{found.mean:.1f} ({found.interval[0]:.1f}\u2013{found.interval[1]:.1f})", value=found.mean)


@dataclass(frozen=True)
class BridgedFigure:
    """Right choices against the number of bridged shapes, one line for each model.

    Args:
        runs: by the study.
        part: which score, a key of `PARTS`.
    """

    runs: Mapping[str, Sequence[StudyRun]]
    part: str

    @property
    def name(self) -> str:
        """Of the file."""
        return f"molyneux-v1-{self.part}"

    def svg(self) -> str:
        """The drawing, on white: models, chance, geometry and what children did."""
        drawn = axes(width=5.6, height=3.9)
        known = sorted({count for runs in self.runs.values() for count in counts(runs)})
        for number, (label, points) in enumerate(self._lines()):
            places = [_place(count) for count, _ in points]
            colour = SERIES[number % len(SERIES)]
            drawn.plot(places, [item.mean for _, item in points], color=colour, lw=1.8, marker="o", markersize=4, label=label)
            lows, highs = ([item.interval[end] for _, item in points] for end in (0, 1))
            if not number:
                drawn.fill_between(places, lows, highs, color=colour, alpha=0.15, linewidth=0)
                continue
            beside = [place + 0.07 * number for place in places]  # bars of several curves do not hide each other
            drawn.vlines(beside, lows, highs, color=colour, lw=1.0, alpha=0.7)
        drawn.axhline(50, color=CHANCE, lw=1.4, ls=(0, (1.5, 1)), label="chance")
        drawn.axhline(_geometry(), color=CEILING, lw=1.4, ls=(0, (4, 2)), label="geometry, no training")
        for value, text in _CHILDREN if self.part == "alike" else ():
            drawn.axhline(value, color=QUIET, lw=0.9, ls=(0, (4, 1, 1, 1)))
            free = (known[-1], "right") if value < 70 else (known[0], "left")
            drawn.text(_place(free[0]), value + 0.8, text, fontsize=7, color=QUIET, ha=free[1])
        drawn.set_xticks([_place(count) for count in known], [str(count) for count in known])
        drawn.set_ylim(45, 102)
        drawn.yaxis.grid(True, color=RULE, linewidth=0.6)
        drawn.set_axisbelow(True)
        drawn.set_xlabel("shapes that are seen and felt together in training", fontsize=8, color=QUIET)
        drawn.set_ylabel("right choices, %", fontsize=8, color=QUIET)
        legend = drawn.figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8, handlelength=2.4)
        for text in legend.get_texts():
            text.set(color=INK)
        title = f"Touch to sight, shapes {HEADS[self.part]}: right choices of two, %"
        opened = standalone(panel(self.name, title, drawn))
        head, _, rest = opened.partition("<svg ")
        opening, _, content = rest.partition(">")
        return f'{head}<svg {opening}>\n<title>{title}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>{content}'

    def _lines(self) -> Iterator[tuple[str, list[tuple[int, Choices]]]]:
        """The points of every model, those that have several."""
        for study, runs in self.runs.items():
            for model in models(runs):
                found = [(count, over(runs, model, count, self.part)) for count in counts(runs)]
                points = [(count, item.rounded) for count, item in found if item is not None]
                if len(points) > 1:
                    yield STUDIES[study].format(model), points


def bridged_figures(runs_of: Callable[[str], Sequence[StudyRun]]) -> list[BridgedFigure]:
    """The figures of the studies that have runs; none without."""
    runs = {study: found for study in STUDIES if (found := runs_of(study))}
    return [BridgedFigure(runs, part) for part in ("new", "alike")] if runs else []


def _place(count: int) -> float:
    """Where a number of shapes lies: one step for each doubling, and 0 one step before 1."""
    return math.log2(count) if count else -1.0


def _geometry() -> float:
    """The accuracy of matching outlines by geometry, from its record."""
    rows = json.loads(REFERENCES.read_text(encoding="utf-8"))["rows"]
    return next(
        float(row["accuracy"]["value"])
        for row in rows
        if (row["chooser"], row["source"], row["level"], row["role"]) == ("geometry", "touch", 2, "new")
    )
