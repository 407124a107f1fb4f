"""Two-way questions, one by one: a thing in one sense, two in another, and which of the two somebody chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, ConfigError, DataError, NotApplicableError, Spec, nearest, seeds
from molyneux.core.intervals import questions_interval
from molyneux.run.trained.given import given_of
from molyneux.run.trained.judged import RightShare
from molyneux.run.trained.model import TrainedModel

if TYPE_CHECKING:
    from molyneux.data import MolyneuxShapes

_DRAWS = 6
"""Random numbers of a question: the value, the thing given, the right one, the wrong value, the wrong one, and their order."""


@dataclass(frozen=True)
class TwoWayQuestions:
    """Questions: a thing is given in one sense; which of two things in another sense has the same value of a factor?

    Args:
        spec: of the samples.
        samples: that the questions are about, with factors.
        source: modality of the thing that is given.
        target: modality of the two things to choose from.
        factor: of which the thing given and the right one have the same value, such as `shape`.
        given: places of the samples that are given, (N,).
        choices: places of the two samples to choose from, (N, 2).
        right: which of them is right, (N,): 0 or 1.
    """

    spec: Spec
    samples: Batch
    source: str
    target: str
    factor: str
    given: np.ndarray
    choices: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.given)

    def given_view(self, row: int) -> Tensor:
        """What is given in a question, (*shape) in stored form."""
        return self.samples.views[self.source][int(self.given[row])]

    def choice_views(self, row: int) -> tuple[Tensor, Tensor]:
        """The two things to choose from, (*shape) each, in stored form."""
        views = self.samples.views[self.target]
        return views[int(self.choices[row, 0])], views[int(self.choices[row, 1])]

    def answer(self, away: np.ndarray) -> TwoWayAnswers:
        """What somebody chooses, from how far each of the two things is from what is given: the nearer one.

        Args:
            away: (N, 2), in any unit; equal numbers are no choice, and count as half right.

        Raises:
            DataError: numbers of another shape, or that are not finite.
        """
        away = np.asarray(away, np.float64)
        if away.shape != (len(self), 2) or not np.isfinite(away).all():
            got = f"shape {away.shape}" if away.shape != (len(self), 2) else "some that are not"
            raise DataError(f"expected finite distances of shape ({len(self)}, 2), two for each question, got {got}")
        return TwoWayAnswers(away, self.right, self.compared)

    def values(self, row: int) -> tuple[str, str]:
        """The values of the factor that the two things to choose from have."""
        codes, known = self._codes[row].tolist(), self.spec.factor(self.factor).values
        return known[codes[0]], known[codes[1]]

    @property
    def compared(self) -> np.ndarray:
        """Codes of the values of the right and the wrong thing, (N, 2)."""
        return np.where(self.right[:, None] == 0, self._codes, self._codes[:, ::-1])

    @property
    def _codes(self) -> np.ndarray:
        """Codes of the values of the two things to choose from, (N, 2)."""
        codes = _codes(self.samples)[:, self.spec.factor_index(self.factor)]
        return np.asarray(codes[self.choices])

    def __repr__(self) -> str:
        values = len(np.unique(self.compared)) if len(self) else 0
        what = f"{len(self)} from {self.source} to {self.target} about {values} values of {self.factor}"
        return f"{type(self).__name__}({what})"


@dataclass(frozen=True)
class TwoWayAnswers:
    """What was chosen in two-way questions; `TwoWayQuestions.answer` makes it.

    Args:
        away: how far each of the two things is from what is given, (N, 2), in any unit.
        right: which of them is right, (N,): 0 or 1.
        compared: the values of the right and the wrong thing, (N, 2).
    """

    away: np.ndarray
    right: np.ndarray
    compared: np.ndarray

    def __repr__(self) -> str:
        low, high = (100 * end for end in self.share.interval)
        told = f"{100 * self.points.mean():.1f} % of {len(self.right)} right, {low:.1f} to {high:.1f}"
        return f"{type(self).__name__}({told})"

    @property
    def chosen(self) -> np.ndarray:
        """Which is nearer, (N,): 0 or 1, and -1 where both are equally near."""
        return np.where(self.away[:, 0] == self.away[:, 1], -1, self.away.argmin(1))

    @property
    def points(self) -> np.ndarray:
        """1 where the right one is chosen, 0 where the wrong one is, and 0.5 where both are equally near, (N,)."""
        return np.where(self.chosen < 0, 0.5, self.chosen == self.right)

    @property
    def share(self) -> RightShare:
        """The share of right choices; its interval holds for new questions about new values, such as new shapes."""
        rng = seeds.generator(0, "share of two-way choices")
        return RightShare(float(self.points.mean()), len(self.right), questions_interval(self.points, self.compared, rng))


def two_way_questions(
    samples: Batch,
    spec: Spec,
    count: int,
    *,
    source: str,
    target: str,
    factor: str = "shape",
    where: Mapping[str, str] | None = None,
    alike: str = "",
    seed: int = 0,
) -> TwoWayQuestions:
    """Draw two-way questions about samples; `measure.TwoWayChoice` asks all that there are.

    Every value of the factor is asked about equally often, and every other value is as often the wrong one. The first questions
    of a seed are the same for any count.

    Args:
        samples: with factors, and both modalities.
        spec: of the samples.
        count: how many questions.
        source: modality of the thing that is given.
        target: modality of the two things to choose from; the same one asks within a sense.
        factor: which tells them apart.
        where: values of factors that all things have, such as `{"role": "new"}`.
        alike: name of a factor of which both things have the same value, such as `pair`; empty for any two things.
        seed: of what is drawn.

    Raises:
        ConfigError: an unknown modality, factor or value, or no questions.
        DataError: too few samples: a thing is never its own right choice, and no two of them have the values that are asked for.
    """
    if count < 1:
        raise ConfigError(f"expected at least one question, got {count}")
    for name in (source, target):
        spec.modality(name)
    codes, wanted = _codes(samples), {name: spec.factor(name).code(value) for name, value in (where or {}).items()}
    fits = (samples.mask(source) & samples.mask(target)).numpy() & (codes[:, spec.factor_index(factor)] >= 0)
    for name, code in wanted.items():
        fits &= codes[:, spec.factor_index(name)] == code
    values = codes[:, spec.factor_index(factor)]
    kin = codes[:, spec.factor_index(alike)] if alike else np.zeros(len(codes), np.int64)
    places = {value: np.flatnonzero(fits & (values == value)) for value in np.unique(values[fits]).tolist()}
    others = {
        value: [other for other, own in places.items() if other != value and kin[own[0]] == kin[rows[0]]]
        for value, rows in places.items()
    }
    asked = [value for value, rows in places.items() if len(rows) > 1 and others[value]]
    if not asked:
        told = ", ".join(f"{name} {value}" for name, value in (where or {}).items()) or "these senses"
        raise DataError(f"expected two samples of one {factor} and one of another with {told}, got too few: give more samples")
    draws = seeds.generator(seed, "two-way questions", source, target, *(where or {}).values(), alike).random((count, _DRAWS))
    found = np.array([_drawn(row, asked, places, others) for row in draws])
    right = (draws[:, 5] < 0.5).astype(np.int64)
    choices = np.where(right[:, None] == 0, found[:, 1:], found[:, :0:-1])
    return TwoWayQuestions(spec, samples, source, target, factor, found[:, 0], choices, right)


def _codes(samples: Batch) -> np.ndarray:
    if samples.factors is None:
        raise DataError("expected samples with factors, got none: questions need to know what is right")
    found: np.ndarray = samples.factors.numpy()
    return found


def _drawn(
    draws: np.ndarray, asked: Sequence[int], places: Mapping[int, np.ndarray], others: Mapping[int, Sequence[int]]
) -> tuple[int, int, int]:
    """Places of the thing that is given, of the right one and of the wrong one."""
    value = asked[int(draws[0] * len(asked))]
    own = places[value]
    given = int(draws[1] * len(own))
    right = int(draws[2] * (len(own) - 1))
    wrong = places[others[value][int(draws[3] * len(others[value]))]]
    return int(own[given]), int(own[right + (right >= given)]), int(wrong[int(draws[4] * len(wrong))])


def answer_by_codes(
    model: TrainedModel, questions: TwoWayQuestions, *, distance: Literal["cosine", "euclidean"] = "cosine"
) -> TwoWayAnswers:
    """What a model chooses: the thing whose shared code is nearer to that of what is given.

    Args:
        model: encodes both modalities.
        questions: about samples of the kind that it was trained on.
        distance: of codes.

    Raises:
        ConfigError: an unknown distance. NotApplicableError: the model has no codes. DataError: codes that are not finite.
    """
    if distance not in ("cosine", "euclidean"):
        raise ConfigError(f"unknown distance {distance!r}; {nearest(distance, ('cosine', 'euclidean'))}")
    one = _encoded(model, questions, questions.source, questions.given)
    both = [_encoded(model, questions, questions.target, questions.choices[:, place]) for place in (0, 1)]
    if distance == "cosine":
        one, *both = (code / np.maximum(np.linalg.norm(code, axis=1, keepdims=True), 1e-12) for code in (one, *both))
    away = np.stack([((one - code) ** 2).sum(1) for code in both], 1).round(9)
    return questions.answer(away)


def _encoded(model: TrainedModel, questions: TwoWayQuestions, name: str, places: np.ndarray) -> np.ndarray:
    """The shared codes (N, D) of samples in one sense; each is encoded once."""
    rows, back = np.unique(places, return_inverse=True)
    given = given_of(questions.samples[torch.from_numpy(rows)], questions.spec, (name,))
    codes = model.encode(raw=True, inputs=given).shared.double().numpy()
    if not np.isfinite(codes).all():
        raise DataError(f"{model.name}: codes of {name} that are not finite numbers: train it anew")
    return np.asarray(codes[back])


def answer_by_outlines(world: MolyneuxShapes, questions: TwoWayQuestions, *, statistics: Sequence[str] = ()) -> TwoWayAnswers:
    """What geometry chooses: the thing whose outline is nearer, in any place, size and rotation. Nothing is learned.

    Args:
        world: that made the samples; its list of shapes is not used.
        questions: of sight and touch.
        statistics: compare these numbers of the outlines instead, in standard deviations of each kind of view. Those in
            which shapes of a pair are alike: `compactness`, `elongation` and `unevenness`; others: `area`, `perimeter`,
            `farthest point`, and `skewness` and `kurtosis` of the radii.

    Raises:
        ConfigError: an unknown statistic. NotApplicableError: a modality that shows no outline.
    """
    from molyneux.data.worlds.molyneux_shapes import references

    for name in (questions.source, questions.target):
        if name not in ("image", "touch"):
            raise NotApplicableError(f"expected questions of image and touch, which have outlines, got {name}")

    def read(name: str, places: np.ndarray) -> references.Outlines:
        rows, back = np.unique(places, return_inverse=True)
        radii, size = references.outlines(name, questions.samples.views[name][torch.from_numpy(rows)], level=world.level)
        return radii[back], size[back]

    one, both = read(questions.source, questions.given), [read(questions.target, column) for column in questions.choices.T]
    return questions.answer(references.outline_distances(one, both, statistics))
