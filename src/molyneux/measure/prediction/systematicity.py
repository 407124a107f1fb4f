"""Systematicity: how much worse a model is on combinations that its training held out than on others of its training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, final

from molyneux.core import ConfigError, Score
from molyneux.core.intervals import difference_interval
from molyneux.core.score import About
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement

_KEY = "split"
_Identity = tuple[str, tuple[tuple[str, str | tuple[str, ...]], ...]]


@final
class Systematicity(Measure):
    """The gap between scores on the split that a model was trained on and on other splits, such as one of held-out combinations.

    `systematicity.gap` is the score on samples of the split `familiar` minus that on another split, in the unit of the score,
    with `about` naming the score (`measure`) and the splits. It compares what other measures of the same run give under the
    conditions `{split: train}` and `{split: heldout}` and on the samples as they are; under `{split: train}` they are scored on
    samples of the training distribution that were not trained on. Above 0: worse on the other split. Chance is the gap of
    guessing, which differs from 0 where one split is easier to guess; the control `constant` is the gap of the best constant
    answers.

    The interval combines those of the two scores, which are from different samples (`core.intervals.difference_interval`).

    Args:
        of: names of scores that are compared, where a higher score is better.
        familiar: the split of the training distribution.

    Raises:
        ConfigError: no scores.
    """

    name: ClassVar[str] = "systematicity"

    def __init__(
        self,
        *,
        of: Sequence[str] = ("prediction.accuracy", "breakdown.accuracy", "contrasts.group", "contrasts.text"),
        familiar: str = "train",
    ) -> None:
        if isinstance(of, str) or not of:
            raise ConfigError(f"of: expected a list of at least one name of a score, such as prediction.accuracy, got {of!r}")
        self.of, self.familiar = tuple(of), familiar

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Nothing under a single condition."""
        return Measurement()

    def across(self, scores: Sequence[Score]) -> Measurement:
        """The gaps of all scores that were measured on the familiar split and on others."""
        by_split: dict[str, dict[_Identity, Score]] = {}
        for score in scores:
            if score.name in self.of and score.value is not None and score.higher_is_better:
                split = str(score.about.get(_KEY, score.origin.get(_KEY, "unchanged")))
                by_split.setdefault(split, {})[_identity(score)] = score
        familiar = by_split.pop(self.familiar, {})
        found = [
            _gap(familiar[identity], score, f"{self.familiar} to {split}")
            for split, others in by_split.items()
            for identity, score in others.items()
            if identity in familiar
        ]
        return Measurement(tuple(found) or (self._nothing(scores, bool(familiar)),))

    def _nothing(self, scores: Sequence[Score], familiar: bool) -> Score:
        if not familiar:
            reason = (
                f"no score of {', '.join(self.of)} on the split {self.familiar}: measure one under the condition {{split: train}}"
            )
        else:
            reason = f"scores on the split {self.familiar} alone: measure on another one, such as {{split: heldout}}"
        origin = scores[0].origin if scores else {}
        return Score(f"{self.name}.gap", None, origin=origin, higher_is_better=False, note=f"not applicable: {reason}")


def _identity(score: Score) -> _Identity:
    return score.name, tuple(sorted((key, value) for key, value in score.about.items() if key != _KEY))


def _gap(first: Score, second: Score, splits: str) -> Score:
    """The score of the difference of two scores."""
    assert first.value is not None
    assert second.value is not None
    about: About = {**{key: value for key, value in first.about.items() if key != _KEY}, "measure": first.name, "splits": splits}
    low, high = first.bounds
    width = None if low is None or high is None else high - low
    return Score(
        "systematicity.gap",
        first.value - second.value,
        about,
        interval=difference_interval(first, second),
        n=first.n + second.n,
        unit=first.unit,
        higher_is_better=False,
        bounds=(None if width is None else -width, width),
        chance=None if first.chance is None or second.chance is None else first.chance - second.chance,
        controls=_differences(first.controls, second.controls),
        origin={key: value for key, value in second.origin.items() if key not in (_KEY, "train_overlap")},
    )


def _differences(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    return {name: value - second[name] for name, value in first.items() if name in second}
