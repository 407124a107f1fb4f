"""Robustness of the runs of a study compared with a baseline among them: relative and effective, as MultiBench defines them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from molyneux.core import Score
from molyneux.core.curves import Curve, effective_robustness, performance_curves, relative_robustness
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
    found = []
    for run, own in zip(runs, curves, strict=True):
        name = baseline or baseline_of(run.settings)
        others = [(other.seed, theirs) for other, theirs in zip(runs, curves, strict=True) if name and _is(other, name, run)]
        same = [theirs for seed, theirs in others if seed == run.seed] or [theirs for _, theirs in others]
        found.append(replace(run, scores=(*run.scores, *_compared(own, same))) if same else run)
    return found


def _is(other: StudyRun, name: str, run: StudyRun) -> bool:
    """Whether a run is one of the baseline on the same samples."""
    named = name in (str(other.settings.get("name", "")), model_of(other.settings, other.scores))
    return named and _samples(other) == _samples(run)


def _samples(run: StudyRun) -> dict[str, Any]:
    return {path: value for path, value in run.settings.items() if path.startswith("data.")}


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
            yield Score(f"robustness.{name}", measure(curve, baseline), whole, **fields)


def _mean(curves: Sequence[Curve]) -> Curve:
    """The mean of the curves of several runs."""
    values = np.mean([curve.values for curve in curves], axis=0)
    first = curves[0]
    scores = tuple(replace(score, value=float(value)) for score, value in zip(first.scores, values, strict=True))
    return replace(first, scores=scores)
