"""Curves of a score over the strength of an imperfection, and how robust they say that a model is.

Areas, relative and effective robustness are those of MultiBench (Liang et al., NeurIPS 2021), appendix D.3.3, after Taori et al.
(NeurIPS 2020). They are here because `measure` and `report` use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from molyneux.core.errors import DataError
from molyneux.core.intervals import Interval, difference_interval
from molyneux.core.score import About, Score

STRENGTH = ("corruption", "corrupted", "strength")
"""Keys of `Score.about` that name an imperfection: what, of which modalities if not of all, and how strong."""


@dataclass(frozen=True)
class Curve:
    """The same score at rising strengths of one imperfection; the first is that of the samples as they are, at strength 0.

    Args:
        under: the imperfection in words, such as `gaussian-noise of image`.
        strengths: rising, the first 0; at least two.
        scores: one at each strength, all with a value.
    """

    under: str
    strengths: tuple[float, ...]
    scores: tuple[Score, ...]

    @property
    def name(self) -> str:
        """Name of the score."""
        return self.scores[0].name

    @property
    def about(self) -> About:
        """What the score is about."""
        return self.scores[0].about

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same in two curves that may be compared."""
        return self.name, self.under, tuple(sorted((name, value) for name, value in self.about.items() if name not in STRENGTH))

    @cached_property
    def values(self) -> np.ndarray:
        """The values of the scores."""
        return np.array([score.value for score in self.scores], dtype=np.float64)

    @property
    def area(self) -> float:
        """The area under the curve by the trapezoidal rule, divided by the range of its strengths."""
        return self.mean(self.values)

    def mean(self, values: Sequence[float] | np.ndarray) -> float:
        """The area under other values at these strengths, divided by the range of the strengths."""
        return float(np.trapezoid(values, self.strengths) / (self.strengths[-1] - self.strengths[0]))

    @property
    def interval(self) -> Interval | None:
        """An interval of the area: the areas under the lower and the upper ends, as if errors of all strengths went together."""
        ends = [score.interval for score in self.scores if score.interval is not None]
        if len(ends) < len(self.scores):
            return None
        return self.mean([low for low, _ in ends]), self.mean([high for _, high in ends])

    def averaged(self, number: Callable[[Score], float | None]) -> float | None:
        """The area under another number of the scores, such as their chance; None where one has none."""
        numbers = [found for score in self.scores if (found := number(score)) is not None]
        return self.mean(numbers) if len(numbers) == len(self.scores) else None


def performance_curves(scores: Iterable[Score]) -> list[Curve]:
    """A curve for each score and imperfection that has at least two strengths, the samples as they are being strength 0.

    Scores without a value or without a direction are left out, and so are those that are not measured on samples as they are.
    """
    base: dict[tuple[object, ...], Score] = {}
    rising: dict[tuple[object, ...], dict[float, Score]] = {}
    for score in scores:
        if score.value is None or score.higher_is_better is None:
            continue
        identity = (score.name, tuple(sorted((name, value) for name, value in score.about.items() if name not in STRENGTH)))
        if "strength" not in score.about:
            base.setdefault(identity, score)
        elif (strength := _strength(score)) is not None:
            rising.setdefault((*identity, under(score.about)), {})[strength] = score
    curves = []
    for key, points in rising.items():
        first = base.get(key[:2])
        whole = points if first is None else {0.0: first, **points}
        if 0.0 in whole and len(whole) > 1:
            strengths = sorted(whole)
            curves.append(Curve(str(key[2]), tuple(strengths), tuple(whole[strength] for strength in strengths)))
    return curves


def _strength(score: Score) -> float | None:
    """At which strength a score was measured; None where records from elsewhere say something that is no number."""
    try:
        return float(str(score.about["strength"]))
    except ValueError:
        return None


def under(about: Mapping[str, str | tuple[str, ...]]) -> str:
    """An imperfection in words, from what a score is about.

    >>> under({"corruption": "dropout", "corrupted": ("a", "b"), "strength": "0.5"})
    'dropout of a + b'
    """
    of = about.get("corrupted", ())
    names = (of,) if isinstance(of, str) else of
    return " of ".join(part for part in (str(about.get("corruption", "")), " + ".join(names)) if part)


def loss_interval(curve: Curve) -> Interval | None:
    """An interval of how much worse the area under a curve is than its first score; None where scores have no intervals.

    The two combine as independent errors. They rest on the same samples, so it is wider than it had to be.
    """
    first, area = curve.scores[0], replace(curve.scores[0], value=curve.area, interval=curve.interval)
    found = difference_interval(first, area)
    if found is None or _sign(curve) > 0:
        return found
    return -found[1], -found[0]


def relative_robustness(curve: Curve, baseline: Curve) -> float:
    """How far a model is above a baseline under an imperfection: the area between their curves (equation 1).

    Positive where the model is better, also for scores where lower is better, whose sign is turned round. The integral is divided
    by the range of the strengths; over 0 to 1 it is that of the paper.

    Raises:
        DataError: the curves are of different scores, imperfections or strengths.
    """
    _require_alike(curve, baseline)
    return _sign(curve) * curve.mean(curve.values - baseline.values)


def effective_robustness(curve: Curve, baseline: Curve) -> float:
    """How far a model is above a baseline that was shifted to the model's score on samples as they are (equation 2).

    Signs, range and errors as `relative_robustness`. 0 where a model loses as much as the baseline, positive where less.
    """
    _require_alike(curve, baseline)
    shifted = baseline.values + (curve.values[0] - baseline.values[0])
    return _sign(curve) * curve.mean(curve.values - shifted)


def _sign(curve: Curve) -> float:
    return 1.0 if curve.scores[0].higher_is_better else -1.0


def _require_alike(curve: Curve, baseline: Curve) -> None:
    if curve.key != baseline.key or curve.strengths != baseline.strengths:
        raise DataError(
            f"expected curves of one score at the same strengths, got {curve.name} under {curve.under} at {curve.strengths} and "
            f"{baseline.name} under {baseline.under} at {baseline.strengths}: measure both in the same way"
        )
