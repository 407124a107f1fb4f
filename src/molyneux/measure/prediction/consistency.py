"""Consistency: what a model says of paraphrases and of negations of the same caption of the same picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from molyneux.core import DataError, Meaning, Predicts, Score, Spec, Target
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.rows import Rows, agreement_targets, by_value, check_names, lowest_of_factors, read_rows
from molyneux.measure.scores import Recorder

_PERCENT: dict[str, Any] = {"unit": "%", "bounds": (0.0, 100.0)}


@final
class Consistency(Measure):
    """Whether a model says the same of a caption and its paraphrase, and the opposite of a caption and its negation.

    Samples stand in rows of one picture with texts that mean the same as the first or the opposite of it
    (`core.Target.meanings`). The model agrees with a text where its probability of agreement is above a half. All in % of pairs
    of the first text with another one:

    - `consistency.paraphrase`: it agrees with both texts of the same meaning or with neither; `consistency.paraphrase_right`:
      and is right about both;
    - `consistency.negation`: it agrees with exactly one of two texts of opposite meaning; `consistency.negation_right`: and is
      right;
    - `consistency.accepts_both`, `consistency.rejects_both`: it agrees with a text and with its negation, or with neither;
      lower is better.

    Each is given for all pairs and, with `about` naming factor and value, by the value of a factor;
    `consistency.negation_lowest` and so on are those of the worst value. Chance is that of a fair coin for each text. Controls:
    `always yes` and `always no`, and `independent`, what answers would give that are right as often as those of the model about
    first and about other texts, but independent of each other. A paraphrase score no higher than `independent` shows no
    consistency beyond accuracy. Trained controls of the evaluation, such as `unbound`, stand beside them. Pairs are left out
    whose target is unknown or that lack a view.

    Args:
        factors: names of factors; all by default.
        targets: names of targets; by default all that have meanings.
        least: values with fewer pairs are left out.
    """

    name: ClassVar[str] = "consistency"
    needs: ClassVar[tuple[type, ...]] = (Predicts,)

    def __init__(self, *, factors: Sequence[str] = (), targets: Sequence[str] = (), least: int = 20) -> None:
        self.factors, self.targets, self.least = tuple(factors), tuple(targets), least

    def check(self, spec: Spec) -> None:
        """Raise SpecError for factors or targets that do not exist."""
        check_names(spec, self.factors, self.targets)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every target, of all pairs and by value of each factor."""
        spec = evaluation.spec
        factors = [spec.factor(name) for name in self.factors] or list(spec.factors)
        wanted = "texts that mean the same or the opposite (core.Target.meanings)"
        scores: list[Score] = []
        for target in agreement_targets(spec, self.targets, lambda target: bool(target.meanings), wanted):
            rows = read_rows(evaluation, target, factors)
            about, rng = {"target": target.name}, evaluation.rng(self.name, target.name)
            recorder = Recorder(self.name, rng, about, evaluation.provenance())
            found = [score for meaning in _NAMES for score in _scores_of(rows, target, meaning, recorder)]
            for value, part in by_value(rows, factors, 1):
                for meaning in _NAMES:
                    enough = len(_pairs(part, target, meaning).truth) >= self.least
                    found += _scores_of(part, target, meaning, recorder.on(**value)) if enough else []
            scores += found + lowest_of_factors(found)
        return Measurement(tuple(scores))


class PairAnswers(NamedTuple):
    """Answers about pairs of texts.

    Args:
        said: (n, 2) bool, whether the model agrees.
        truth: (n, 2) bool, whether text and picture do.
        row: (n,) the row of samples that a pair is of.
    """

    said: np.ndarray
    truth: np.ndarray
    row: np.ndarray


def _pairs(rows: Rows, target: Target, meaning: Meaning) -> PairAnswers:
    """The pairs of a first text and one of this meaning of which everything is known.

    Raises:
        DataError: their truth is not as the meaning has it.
    """
    (logits,) = rows.logits.values()
    found = []
    for place in (place for place, word in enumerate(target.meanings, 1) if word == meaning):
        row = np.flatnonzero(rows.known[:, 0] & rows.known[:, place])
        both = [np.stack([side[row, 0], side[row, place]], 1) for side in (logits > 0, rows.truth)]
        wrong = np.flatnonzero((both[1][:, 0] == both[1][:, 1]) != (meaning == "same"))
        if wrong.size:
            raise DataError(
                f"target {target.name}: expected text {place + 1} of every row to mean the {meaning} as the first, got another "
                f"truth in row {row[wrong[0]] + 1}: take whole rows of the source, in its order"
            )
        found.append((*both, row))
    if not found:
        return PairAnswers(np.empty((0, 2), bool), np.empty((0, 2), bool), np.empty(0, np.int64))
    return PairAnswers(*(np.concatenate(side) for side in zip(*found, strict=True)))


_NAMES: dict[Meaning, tuple[str, ...]] = {
    "same": ("paraphrase", "paraphrase_right"),
    "opposite": ("negation", "negation_right", "accepts_both", "rejects_both"),
}


def _outcomes(meaning: Meaning, said: np.ndarray, truth: np.ndarray) -> Iterator[np.ndarray]:
    """Of pairs of answers (n, 2), whether each score of `_NAMES` counts them, (n,)."""
    first, second = said.T
    yield first == second if meaning == "same" else first != second
    yield (said == truth).all(1)
    if meaning == "opposite":
        yield first & second
        yield ~first & ~second


def _scores_of(rows: Rows, target: Target, meaning: Meaning, recorder: Recorder) -> list[Score]:
    """The scores of the pairs of one meaning of some rows, with those of trained controls."""
    observed = next(iter(rows.logits))
    said = {
        name: _pairs(replace(rows, logits={observed: values}), target, meaning).said for name, values in rows.controls.items()
    }
    return _scores(_pairs(rows, target, meaning), meaning, recorder, said)


def _scores(
    pairs: PairAnswers, meaning: Meaning, recorder: Recorder, controls_said: Mapping[str, np.ndarray] | None = None
) -> list[Score]:
    """The scores of pairs of one meaning; none without pairs."""
    if not len(pairs.truth):
        return []
    found, truth = [], pairs.truth
    yes, no = (list(_outcomes(meaning, np.full_like(truth, answer), truth)) for answer in (True, False))
    accuracy = (pairs.said == truth).mean(0)
    for number, (name, counted) in enumerate(zip(_NAMES[meaning], _outcomes(meaning, pairs.said, truth), strict=True)):
        controls = {
            "always yes": 100 * float(yes[number].mean()),
            "always no": 100 * float(no[number].mean()),
            "independent": 100 * _independent(meaning, truth, accuracy)[number],
        }
        for told, answers in (controls_said or {}).items():
            controls[told] = 100 * float(list(_outcomes(meaning, answers, truth))[number].mean())
        fields = {"chance": 50.0 if number == 0 else 25.0, "controls": controls, "higher_is_better": number < 2}
        found.append(_rate(name, counted, pairs.row, recorder, fields))
    return found


def _independent(meaning: Meaning, truth: np.ndarray, accuracy: np.ndarray) -> list[float]:
    """The scores of answers that are right with the probabilities `accuracy` (2,), independently of each other, 0..1."""
    right = [np.array([1 - share, share]) for share in accuracy]  # of being wrong, of being right
    total = np.zeros(len(_NAMES[meaning]))
    for first in (0, 1):
        for second in (0, 1):
            said = np.where(np.array([first, second], bool), truth, ~truth)
            shares = [float(counted.mean()) for counted in _outcomes(meaning, said, truth)]
            total += right[0][first] * right[1][second] * np.array(shares)
    return [float(share) for share in total]


def _rate(name: str, counted: np.ndarray, row: np.ndarray, recorder: Recorder, fields: dict[str, Any]) -> Score:
    """The share of pairs in %, with an exact interval; where rows have several pairs, the mean over rows, with theirs."""
    rows, place = np.unique(row, return_inverse=True)
    if len(rows) == len(row):
        return recorder.share(name, counted, **fields)
    means = np.bincount(place, weights=counted) / np.bincount(place)
    return recorder.mean(name, 100 * means, **_PERCENT, **fields)
