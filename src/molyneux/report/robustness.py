"""Robustness of the runs of a study compared with a baseline among them: relative and effective, as MultiBench defines them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from molyneux.core import Score, store
from molyneux.core.curves import Curve, effective_robustness, loss_interval, performance_curves, relative_robustness
from molyneux.core.intervals import Interval, across_seeds, difference_interval
from molyneux.report.record_lines import StudyRun
from molyneux.report.settings import baseline_of, model_of

_MEASURES = {"relative": relative_robustness, "effective": effective_robustness}


def with_robustness(runs: Sequence[StudyRun], baseline: str = "") -> list[StudyRun]:
    """The runs, with scores `robustness.relative` and `robustness.effective` where there is a baseline among them.

    A run is compared with the baseline's run of the same seed and the same samples; with the mean of its runs on these samples
    where none has that seed. The baseline itself scores 0. Where the strengths differ there is nothing to compare.

    Args:
        runs: of a study.
        baseline: the name of a variant, or the class of a model, that all runs are compared with; by default that of the measure
            `Robustness` in the settings of each run.
    """
    curves = [{curve.key: curve for curve in performance_curves(run.scores)} for run in runs]
    found, named = [], _by_name(runs) if baseline or any(baseline_of(run.settings) for run in runs) else {}
    for run, own in zip(runs, curves, strict=True):
        name = baseline or baseline_of(run.settings)
        others = [(runs[place].seed, curves[place]) for place in named.get((name, _samples(run)), ())] if name else []
        same = [theirs for seed, theirs in others if seed == run.seed] or [theirs for _, theirs in others]
        found.append(replace(run, scores=(*run.scores, *_compared(own, same))) if same else run)
    return found


def _by_name(runs: Sequence[StudyRun]) -> dict[tuple[str, str], list[int]]:
    """The places of runs by the name of their variant, and by the class of their model, and the samples they are on."""
    found: dict[tuple[str, str], list[int]] = {}
    for place, run in enumerate(runs):
        for name in {str(run.settings.get("name", "")), model_of(run.settings, run.scores)}:
            found.setdefault((name, _samples(run)), []).append(place)
    return found


def _samples(run: StudyRun) -> str:
    return store.fingerprint({path: value for path, value in run.settings.items() if path.startswith("data.")})


def _compared(own: Mapping[Any, Curve], others: Sequence[Mapping[Any, Curve]]) -> Iterator[Score]:
    """The scores of each curve against those of the baseline."""
    for key, curve in own.items():
        known = [theirs[key] for theirs in others if key in theirs and theirs[key].strengths == curve.strengths]
        if not known:
            continue
        baseline = _mean(known)
        about = {name: value for name, value in curve.about.items() if name not in ("corruption", "corrupted", "strength")}
        for name, measure in _MEASURES.items():
            first = curve.scores[0]
            fields: dict[str, Any] = {"n": min(score.n for score in curve.scores), "unit": first.unit, "origin": first.origin}
            whole = {**about, "measure": first.name, "under": curve.under}
            yield Score(f"robustness.{name}", measure(curve, baseline), whole, _between(name, curve, baseline), **fields)


def _between(name: str, curve: Curve, baseline: Curve) -> Interval | None:
    """An interval of the relative or effective robustness: the errors of model and baseline combine as independent ones.

    They were measured on the same samples, so it is wider than it had to be.
    """
    first = curve.scores[0]
    ends = {"relative": lambda one: (one.area, one.interval), "effective": lambda one: (one.area - one.values[0], _kept(one))}[
        name
    ]
    scores = [replace(first, value=float(value), interval=interval) for value, interval in map(ends, (curve, baseline))]
    found = difference_interval(*scores)
    return found if found is None or first.higher_is_better else (-found[1], -found[0])


def _kept(curve: Curve) -> Interval | None:
    """The interval of the area under a curve less its first score."""
    lost = loss_interval(curve)
    if lost is None:
        return None
    return (-lost[1], -lost[0]) if curve.scores[0].higher_is_better else lost


def _mean(curves: Sequence[Curve]) -> Curve:
    """The mean of the curves of several runs."""
    columns = zip(*(curve.scores for curve in curves), strict=True)
    scores = tuple(
        replace(same[0], value=float(np.mean([score.value for score in same])), interval=across_seeds(same)) for same in columns
    )
    return replace(curves[0], scores=scores)
