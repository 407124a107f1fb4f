"""Contrast sets: does a model tell the right captions from foils, and the right pictures too?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import ClassVar, final

import numpy as np

from molyneux.core import NotApplicableError, Predicts, Score, Spec, Target
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.rows import Rows, agreement_targets, by_value, check_names, lowest_of_factors, read_rows
from molyneux.measure.scores import Recorder, percent

_ROUNDING = 1e-5
"""Logits that differ by less than this share of the larger one, or of 1, are equal: the same inputs at other places of a batch
may differ by so much."""


@final
class Contrasts(Measure):
    """How many contrast sets a model gets right: text, image and group score (Thrush et al., Winoground, CVPR 2022, eqs 1-3).

    A contrast set has pictures and texts, those of equal numbers agree (`core.Target.contrast`), and the model gives every
    picture with every text the log-odds of agreement.

    - `contrasts.text` %: each picture's own text has higher log-odds than all its others;
    - `contrasts.image` %: each text's own picture has higher log-odds than all its others;
    - `contrasts.group` %: both;
    - `contrasts.pairs` %: the mean over the pairs that agree is higher than that over the others; a tie counts half.

    A tie is wrong in the first three. A set with one picture has a text score alone. Each is given for all sets and, with `about`
    naming factor and value, for the sets of each value of a factor, such as the kind of foil; `contrasts.text_lowest` and so on
    are those of the value with the lowest. A set has the value that all its samples share. Sets are left out that are not
    complete, whose target is unknown or that lack a view.

    Chance is what continuous scores that know nothing give: with p pictures, t texts and m = min(p, t), (1 / t)^m, (1 / p)^m
    and the product of 1 / (p + t - k) over k = 1..m; 25, 25 and 16.67 % for two of each. `pairs` has a chance of 50 % where as
    many pairs agree as do not. The controls `text only` and `image only`, called by the names of the modalities, are the same
    scores of the same model when it is given nothing else: with two of each they are 0 for any model, and that of `pairs` is
    50; with one picture, `text only` is what the texts give away. A model that has never missed a modality may know more than
    these controls show. Trained controls of the evaluation, such as `unbound`, stand beside them.

    Args:
        factors: names of factors; all by default.
        targets: names of targets; by default all that have contrast sets.
        least: values with fewer sets are left out.
    """

    name: ClassVar[str] = "contrasts"
    needs: ClassVar[tuple[type, ...]] = (Predicts,)

    def __init__(self, *, factors: Sequence[str] = (), targets: Sequence[str] = (), least: int = 20) -> None:
        self.factors, self.targets, self.least = tuple(factors), tuple(targets), least

    def check(self, spec: Spec) -> None:
        """Raise SpecError for factors or targets that do not exist."""
        check_names(spec, self.factors, self.targets)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every target, of all sets and by value of each factor."""
        spec = evaluation.spec
        factors = [spec.factor(name) for name in self.factors] or list(spec.factors)
        scores: list[Score] = []
        for target in agreement_targets(spec, self.targets, lambda target: target.contrast != (1, 1), "contrast sets"):
            rows = _complete(read_rows(evaluation, target, factors, blind=True), target)
            about, rng = {"target": target.name}, evaluation.rng(self.name, target.name)
            recorder = Recorder(self.name, rng, about, evaluation.provenance())
            found = _scores(rows, target, recorder)
            for value, part in by_value(rows, factors, self.least):
                found += _scores(part, target, recorder.on(**value))
            scores += found + lowest_of_factors(found)
        return Measurement(tuple(scores))


def text_right(logits: np.ndarray) -> np.ndarray:
    """Whether each picture's own text beats its others, in every set: (N, p, t) log-odds to (N,) bool."""
    size = min(logits.shape[1:])
    own = np.arange(size)
    right = logits[:, own, own]
    above = _beats(right[:, :, None], logits[:, :size])
    above[:, own, own] = True
    return np.asarray(above.all((1, 2)))


def image_right(logits: np.ndarray) -> np.ndarray:
    """Whether each text's own picture beats its others, in every set: (N, p, t) log-odds to (N,) bool."""
    return text_right(logits.swapaxes(1, 2))


def pairs_right(logits: np.ndarray) -> np.ndarray:
    """Whether the pairs that agree have a higher mean than the others, in every set: 1, 0, or 0.5 for a tie, (N,)."""
    pictures, texts = logits.shape[1:]
    agree = np.eye(pictures, texts, dtype=bool)
    right, wrong = logits[:, agree].mean(1), logits[:, ~agree].mean(1)
    return np.asarray(0.5 + 0.5 * _beats(right, wrong) - 0.5 * _beats(wrong, right))


def chance(pictures: int, texts: int) -> dict[str, float]:
    """Text, image and group score in % of independent continuous log-odds.

    Of the group score: let u_1 < .. < u_m be the log-odds of the pairs that agree, as uniform numbers. The k-th is the smallest
    in the row or column of a = p + t - 2k others, which have to lie below it. So the chance is m! times the integral of the
    product of u_k^a over u_1 < .. < u_m, which is the product of 1 / (p + t - k).

    >>> {name: round(value, 2) for name, value in chance(2, 2).items()}
    {'text': 25.0, 'image': 25.0, 'group': 16.67}
    """
    size = min(pictures, texts)
    group = prod(1 / (pictures + texts - number) for number in range(1, size + 1))
    return {"text": 100 * texts**-size, "image": 100 * pictures**-size, "group": 100 * group}


_RIGHT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "text": text_right,
    "image": image_right,
    "group": lambda logits: text_right(logits) & image_right(logits),
}


def _scores(rows: Rows, target: Target, recorder: Recorder) -> list[Score]:
    """The scores of some sets."""
    pictures, texts = target.contrast
    (_, logits), *blind = ((observed, values.reshape(-1, pictures, texts)) for observed, values in rows.logits.items())
    trained = {name: values.reshape(-1, pictures, texts) for name, values in rows.controls.items()}
    others = {**{f"{observed[0]} only": values for observed, values in blind}, **trained}
    applies = {"text": texts > 1, "image": pictures > 1, "group": min(pictures, texts) > 1}
    found = []
    for name in (name for name, applicable in applies.items() if applicable):
        controls = {told: percent(_RIGHT[name](values)) for told, values in others.items()}
        found.append(recorder.share(name, _RIGHT[name](logits), chance=chance(pictures, texts)[name], controls=controls))
    even = 2 * min(pictures, texts) == pictures * texts
    controls = {told: percent(pairs_right(values)) for told, values in others.items()}
    fields = {"unit": "%", "bounds": (0.0, 100.0), "chance": 50.0 if even else None, "controls": controls}
    return [*found, recorder.mean("pairs", 100 * pairs_right(logits), **fields)]


def _complete(rows: Rows, target: Target) -> Rows:
    """The sets of which everything is known, the texts of each in the order of the pictures that they agree with.

    Raises:
        NotApplicableError: no set is complete, or samples do not stand as they should.
    """
    complete = rows[np.flatnonzero(rows.known.all(1))]
    if not len(complete):
        raise NotApplicableError(f"no contrast set of the target {target.name} has all its views and known targets")
    truth = complete.truth.reshape(-1, *target.contrast)
    paired = (truth.sum(1) <= 1).all(1) & (truth.sum(2) <= 1).all(1) & (truth.sum((1, 2)) == min(target.contrast))
    if (wrong := np.flatnonzero(~paired)).size:
        pictures, texts = target.contrast
        got = " ".join(map(str, complete.truth[wrong[0]].astype(int)))
        raise NotApplicableError(
            f"expected contrast sets in a row of {pictures} pictures and {texts} texts, each agreeing with one at most, "
            f"got {got} as target {target.name} in set {wrong[0] + 1}: take whole sets of the source, in its order"
        )
    return _aligned(complete, truth)


def _aligned(rows: Rows, truth: np.ndarray) -> Rows:
    """Sets whose pictures and texts of equal numbers agree: the more numerous side of each is put in the order of the other."""
    pictures, texts = truth.shape[1:]
    if pictures <= texts:
        order = np.argsort(np.where(truth.any(1), truth.argmax(1), pictures), axis=1, kind="stable")[:, None, :]
        axis = 2
    else:
        order = np.argsort(np.where(truth.any(2), truth.argmax(2), texts), axis=1, kind="stable")[:, :, None]
        axis = 1

    def turned(values: np.ndarray) -> np.ndarray:
        return np.take_along_axis(values.reshape(truth.shape), np.broadcast_to(order, truth.shape), axis).reshape(values.shape)

    logits = {name: turned(values) for name, values in rows.logits.items()}
    controls = {name: turned(values) for name, values in rows.controls.items()}
    return replace(rows, logits=logits, controls=controls, truth=turned(rows.truth))


def _beats(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Whether the first are higher than the second by more than rounding makes."""
    scale = np.maximum(1.0, np.maximum(np.abs(first), np.abs(second)))
    return np.asarray(first - second > _ROUNDING * scale)
