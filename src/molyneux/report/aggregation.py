"""Methods compared over data sets: performance, complexity and robustness on one scale, and what is traded for what.

MultiBench (Liang et al., NeurIPS 2021), appendices D.4 and H.7 to H.9. In every task the values of all methods are scaled from 0
(the worst) to 1 (the best); every task has a weight of one over the tasks of its data set; a method's score is the weighted mean
over the tasks that it was run on.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import DataError, Score
from molyneux.report import wording
from molyneux.report.plots import TradeoffPoint, scatter_panel
from molyneux.report.plots.svg import Panel
from molyneux.report.record_lines import StudyRun
from molyneux.report.settings import model_of
from molyneux.report.tables import Column, Entry, Table, base_scores, whole_predictions
from molyneux.report.tables.table import DASH

UNIMODAL = "best unimodal"
"""The method that the best of all unimodal ones becomes in each task."""


@dataclass(frozen=True)
class Task:
    """One task of a data set: what each method reached in it.

    Args:
        dataset: name of the data set.
        name: of the task, such as that of a target.
        values: by method.
        higher_is_better: direction of the values.
    """

    dataset: str
    name: str
    values: Mapping[str, float]
    higher_is_better: bool = True

    def normalised(self) -> dict[str, float]:
        """The values from 0, the worst, to 1, the best; 1 for all where all are equal."""
        sign = 1.0 if self.higher_is_better else -1.0
        signed = {method: sign * value for method, value in self.values.items()}
        low, high = min(signed.values()), max(signed.values())
        return {method: 1.0 if high == low else (value - low) / (high - low) for method, value in signed.items()}

    def joined(self, unimodal: Collection[str]) -> Task:
        """The same with the best of the unimodal methods in place of all of them."""
        best = max if self.higher_is_better else min
        alone = [value for method, value in self.values.items() if method in unimodal]
        rest = {method: value for method, value in self.values.items() if method not in unimodal}
        return Task(self.dataset, self.name, {**({UNIMODAL: best(alone)} if alone else {}), **rest}, self.higher_is_better)


@dataclass(frozen=True)
class Aggregate:
    """A method over data sets.

    Args:
        mean: weighted mean of its scaled values.
        variance: of the means of its data sets; None for one.
        in_domain: mean over the data sets that it was proposed for; None where there are none.
        out_domain: mean over the others; None where there are none.
        datasets: how many it was run on.
    """

    mean: float
    variance: float | None
    in_domain: float | None
    out_domain: float | None
    datasets: int


def aggregate(
    tasks: Sequence[Task], *, unimodal: Collection[str] = (), in_domain: Mapping[str, Collection[str]] | None = None
) -> dict[str, Aggregate]:
    """Every method over all data sets that it was run on.

    The mean weighs each task by one over the tasks of its data set, and so every data set of which it was run on all tasks alike.

    Args:
        tasks: at least one.
        unimodal: names of unimodal methods; in each task, only the best of them enters, as `best unimodal`.
        in_domain: by method, the data sets that it was proposed for.

    Raises:
        DataError: there are no tasks.
    """
    if not tasks:
        raise DataError("expected at least one task to aggregate, got none: choose runs with predicted targets")
    counts: dict[str, int] = {}
    for task in tasks:
        counts[task.dataset] = counts.get(task.dataset, 0) + 1
    scaled = [(task.dataset, task.joined(unimodal).normalised()) for task in tasks]
    methods = dict.fromkeys(method for _, values in scaled for method in values)
    found = {}
    for method in methods:
        own = [(dataset, values[method], 1 / counts[dataset]) for dataset, values in scaled if method in values]
        home = (in_domain or {}).get(method, ())
        by_dataset = {
            name: _weighted([item for item in own if item[0] == name]) for name in dict.fromkeys(item[0] for item in own)
        }
        found[method] = Aggregate(
            mean=_weighted(own) or 0.0,
            variance=float(np.var([value or 0.0 for value in by_dataset.values()])) if len(by_dataset) > 1 else None,
            in_domain=_weighted([item for item in own if item[0] in home]),
            out_domain=_weighted([item for item in own if item[0] not in home]),
            datasets=len(by_dataset),
        )
    return found


def _weighted(items: Sequence[tuple[str, float, float]]) -> float | None:
    total = sum(weight for _, _, weight in items)
    return sum(value * weight for _, value, weight in items) / total if items else None


def relative_speed(task: Task, unimodal: Collection[str]) -> Task:
    """A task of training times in seconds as minus the decimal logarithm of the time over that of the fastest unimodal method.

    Where there is no unimodal method, the fastest of all takes its place.
    """
    alone = [seconds for method, seconds in task.values.items() if method in unimodal] or list(task.values.values())
    base = min(alone)
    return Task(task.dataset, task.name, {method: -math.log10(seconds / base) for method, seconds in task.values.items()})


def tasks_of(runs: Sequence[StudyRun], name: str = "") -> list[Task]:
    """The tasks of the runs of studies: the mean of a score over the seeds of each method, on samples as they are.

    Args:
        runs: a method is the name of a variant, or else the class of the model.
        name: of a score; by default the first of the predictions of each target, from as many modalities as there are.
    """
    values: dict[tuple[str, str], dict[str, list[Score]]] = {}
    for run in runs:
        dataset = str(run.scores[0].origin.get("world") or "") if run.scores else ""
        for score in _chosen(run, name):
            subject = ", ".join(
                wording.value_text(score.about.get(part)) for part in ("target", "measure", "under") if part in score.about
            )
            values.setdefault((dataset, subject), {}).setdefault(_method(run), []).append(score)
    found = []
    for (dataset, subject), methods in values.items():
        first = next(iter(methods.values()))[0]
        means = {method: float(np.mean([score.value for score in scores])) for method, scores in methods.items()}
        found.append(Task(dataset, subject, means, first.higher_is_better is not False))
    return found


def _method(run: StudyRun) -> str:
    return str(run.settings.get("name") or model_of(run.settings, run.scores))


def headline_predictions(run: StudyRun) -> list[Score]:
    """The predictions that stand for a run: of each target, its first measure, from as many modalities as there are."""
    return [score for score in whole_predictions(base_scores(run.scores)) if score.value is not None]


def _chosen(run: StudyRun, name: str) -> Iterator[Score]:
    """The scores of a run that stand for its tasks: of each subject that from the most modalities, and of each the first."""
    if not name:
        yield from headline_predictions(run)
        return
    wanted = [score for score in base_scores(run.scores) if score.value is not None and score.name == name]
    best: dict[tuple[object, ...], Score] = {}
    for score in wanted:
        key = tuple(score.about.get(part) for part in ("target", "measure", "under"))
        if key not in best or _width(score) > _width(best[key]):
            best[key] = score
    yield from best.values()


def _width(score: Score) -> int:
    return len(wording.names_of(score.about.get("source")))


def unimodal_of(runs: Sequence[StudyRun]) -> set[str]:
    """The methods whose runs use a single modality: the only one of their data, or the only one that their model reads."""
    settings = ("data.modalities", "learn.model.init_args.modalities")
    return {_method(run) for run in runs if any(len(run.settings.get(name) or ()) == 1 for name in settings)}


def comparisons(
    runs: Sequence[StudyRun], *, unimodal: Collection[str] = (), in_domain: Mapping[str, Collection[str]] | None = None
) -> dict[str, dict[str, Aggregate]]:
    """By what is compared, every method: `performance`, and where it was measured `speed`, `relative` and `effective` robustness.

    Arguments as `aggregate`; unimodal methods are found by their modalities where none are named.
    """
    alone = set(unimodal) or unimodal_of(runs)
    tasks = {
        "performance": tasks_of(runs),
        "speed": [relative_speed(task, alone) for task in tasks_of(runs, "complexity.training_time")],
        "relative": tasks_of(runs, "robustness.relative"),
        "effective": tasks_of(runs, "robustness.effective"),
    }
    return {name: aggregate(found, unimodal=alone, in_domain=in_domain) for name, found in tasks.items() if found}


def aggregate_table(compared: Mapping[str, Mapping[str, Aggregate]]) -> Table:
    """Every method in a row, best first, with all that it is compared by."""
    performance = compared["performance"]
    others = [name for name in ("speed", "relative", "effective") if name in compared]
    titles = ["performance", "variance over data sets", "in domain", "out of domain", "data sets", *others]
    rows = []
    for method, own in sorted(performance.items(), key=lambda item: -item[1].mean):
        numbers = [own.mean, own.variance, own.in_domain, own.out_domain]
        entries = [DASH if number is None else Entry(f"{number:.3f}", value=number) for number in numbers]
        entries.append(Entry(str(own.datasets), value=own.datasets))
        means = [compared[name][method].mean if method in compared[name] else None for name in others]
        entries += [DASH if mean is None else Entry(f"{mean:.3f}", value=mean) for mean in means]
        rows.append((Entry(method), *entries))
    notes = (
        "From 0, the worst method of a task, to 1, the best; means over tasks, those of a data set weighing as much as one.",
    )
    columns = (Column("method", "left"), *map(Column, titles))
    return Table("aggregate", "Methods over data sets", columns, tuple(rows), notes)


def tradeoff_panels(compared: Mapping[str, Mapping[str, Aggregate]]) -> list[Panel]:
    """Performance against speed with a quadratic fit, and against robustness with linear fits; circles by variance."""
    panels = []
    axes = {name: {method: item.mean for method, item in own.items()} for name, own in compared.items()}
    if "relative" in axes and "effective" in axes:
        both = axes["relative"].keys() & axes["effective"].keys()
        axes["robustness"] = {method: (axes["relative"][method] + axes["effective"][method]) / 2 for method in sorted(both)}
    for name, degree in (("speed", 2), ("relative", 1), ("effective", 1), ("robustness", 1)):
        points = [
            TradeoffPoint(method, axes[name][method], own.mean, own.variance or 0.0)
            for method, own in compared["performance"].items()
            if method in axes.get(name, {})
        ]
        if len(points) > degree + 1:
            title = f"Performance and {name if name in ('speed', 'robustness') else f'{name} robustness'}"
            panels.append(scatter_panel(f"tradeoff {name}", title, points, degree, (name, "performance")))
    return panels
