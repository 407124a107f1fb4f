"""Robustness: the area under the curve of a score over the strength of an imperfection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

from molyneux.core import Score, nearest
from molyneux.core.curves import Curve, loss_interval, performance_curves
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement, not_applicable

_DETAILS = frozenset({"factor", "label", "value", "dimension", "bin"})


@final
class Robustness(Measure):
    """How well a model does over all strengths of an imperfection, by any score of the other measures of the same run.

    Needs conditions with a corruption, or with modalities missing at a rate, at rising strengths; the samples as they are count
    as strength 0. Scores with `about` naming the score (`measure`), what it is about, and the imperfection (`under`):

    - `robustness.area`: the area under the curve of the score by the trapezoidal rule, divided by the range of strengths, in the
      unit of the score. Chance and controls are the areas under theirs. The interval joins the ends of the intervals at all
      strengths, which is cautious: it would be exact if their errors went together.
    - `robustness.loss`: how much worse that is than the score of the samples as they are; 0 where nothing is lost. The interval
      combines both as independent errors (`core.intervals.difference_interval`). They rest on the same samples, whose errors go
      together, so it is wider than it had to be.

    Comparisons with a baseline need the runs of a study: its page has relative and effective robustness of MultiBench (Liang et
    al., NeurIPS 2021, appendix D.3.3, equations 1 and 2) wherever `baseline` names runs of it.

    Args:
        of: names of scores; by default all that say whether higher is better, without those of single factors, labels and values.
        baseline: whom the runs of a study are compared with: the name of a variant, or the class of a model, such as late fusion.
    """

    name: ClassVar[str] = "robustness"

    def __init__(self, *, of: Sequence[str] = (), baseline: str = "") -> None:
        self.of, self.baseline = tuple(of), baseline

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Nothing under a single condition."""
        return Measurement()

    def across(self, scores: Sequence[Score]) -> Measurement:
        """The areas under the curves of all scores that were measured at several strengths."""
        chosen = [score for score in scores if (score.name in self.of if self.of else not _DETAILS & set(score.about))]
        found = [score for curve in performance_curves(chosen) for score in _scores(curve)]
        origin, known = scores[0].origin if scores else {}, {score.name for score in scores}
        unknown = [name for name in self.of if name not in known]
        found += [not_applicable(self, f"no score {name}; {nearest(name, known)}", origin=origin) for name in unknown]
        if not found:
            what = ", ".join(self.of) or "any score with a direction"
            reason = f"no curve of {what} over strengths: measure under conditions with a corruption at several strengths"
            found = [not_applicable(self, reason, origin=origin)]
        return Measurement(tuple(found))


def _scores(curve: Curve) -> list[Score]:
    """Area and loss of one curve."""
    first, area = curve.scores[0], curve.area
    sign = 1.0 if first.higher_is_better else -1.0
    names = [name for name in first.controls if all(name in score.controls for score in curve.scores)]
    about = {**{name: value for name, value in first.about.items() if name != "strength"}, "measure": first.name}
    about = {name: value for name, value in about.items() if name not in ("corruption", "corrupted")} | {"under": curve.under}
    n, origin = min(score.n for score in curve.scores), {**first.origin, "strengths": list(curve.strengths)}
    low, high = first.bounds
    width = None if low is None or high is None else high - low
    return [
        Score(
            "robustness.area",
            area,
            about,
            interval=curve.interval,
            n=n,
            unit=first.unit,
            higher_is_better=first.higher_is_better,
            bounds=first.bounds,
            chance=curve.averaged(lambda score: score.chance),
            controls={name: curve.mean([score.controls[name] for score in curve.scores]) for name in names},
            origin=origin,
        ),
        Score(
            "robustness.loss",
            sign * (curve.values[0] - area),
            about,
            interval=loss_interval(curve),
            n=n,
            unit=first.unit,
            higher_is_better=False,
            bounds=(None if width is None else -width, width),
            origin=origin,
        ),
    ]
