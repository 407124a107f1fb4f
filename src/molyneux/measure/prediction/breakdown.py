"""Predictions looked at more closely: accuracy by the value of a factor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import ClassVar, NamedTuple, final

import numpy as np
import torch
from torch.distributions import Distribution

from molyneux.core import Batch, ConfigError, Factor, NotApplicableError, Predicts, Score, Spec, Target, about_names
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.answers import numbers_from, predicted_of
from molyneux.measure.prediction.rows import check_names, lowest
from molyneux.measure.prediction.sets import share_of_sets
from molyneux.measure.scores import Recorder

_CLASSES = ("class", "agreement")


@final
class Breakdown(Measure):
    """Accuracy of the predicted class or agreement by the value of a factor, given all modalities.

    `breakdown.accuracy` in % with `about` naming the target, the factor and the value, such as the accuracy on captions that are
    false because of a changed colour (Kuhnle & Copestake, 2017, figure 6); `breakdown.lowest` is that of the value with the
    lowest. Chance is a guess with equal probability for every class; the control `constant` predicts the most common class of
    all samples, and agreement has the trained controls of the evaluation, such as `unbound`. Intervals take the samples of a row
    (`core.Target.row_size`) as the unit.

    Factors that are `crossed` are also looked at together: `about` then has all of their names as `factor`, and one value of
    each, in the same order, as `value`.

    Args:
        factors: names of factors; all by default.
        targets: names of targets of task class or agreement; all of them by default.
        crossed: several names of factors each, such as `[[truth, nouns]]`, whose values are combined.
        least: values, and combinations of values, with fewer samples are left out.

    Raises:
        ConfigError: fewer than two factors that are crossed, or one of them twice.
    """

    name: ClassVar[str] = "breakdown"
    needs: ClassVar[tuple[type, ...]] = (Predicts,)

    def __init__(
        self,
        *,
        factors: Sequence[str] = (),
        targets: Sequence[str] = (),
        crossed: Sequence[Sequence[str]] = (),
        least: int = 20,
    ) -> None:
        self.factors, self.targets, self.least = tuple(factors), tuple(targets), least
        self.crossed = tuple(tuple(names) for names in crossed)
        problems = [
            f"crossed: expected at least two different factors, got {', '.join(names) or 'none'}"
            for names in self.crossed
            if len(names) < 2 or len(set(names)) < len(names)
        ]
        if problems:
            raise ConfigError(problems)

    def check(self, spec: Spec) -> None:
        """Raise SpecError for factors or targets that do not exist."""
        check_names(spec, (*self.factors, *(name for names in self.crossed for name in names)), self.targets)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every target by every factor, and by those that are crossed."""
        spec = evaluation.spec
        factors = [spec.factor(name) for name in self.factors] or list(spec.factors)
        targets = targets_with_classes(spec, self.targets)
        if not factors:
            raise NotApplicableError("breakdown needs factors: choose a source that has some")
        groups = [(factor,) for factor in factors] + [tuple(map(spec.factor, names)) for names in self.crossed]
        scores: list[Score] = []
        for target in targets:
            answers = _answers(evaluation, target)
            for group in groups:
                columns = [spec.factor_index(factor.name) for factor in group]
                found = self._by_values(evaluation, target, group, answers, columns)
                scores += found + lowest(found, "breakdown.lowest")
        return Measurement(tuple(scores))

    def _by_values(
        self,
        evaluation: Evaluation,
        target: Target,
        group: Sequence[Factor],
        answers: _Answers,
        columns: Sequence[int],
    ) -> list[Score]:
        """The accuracy for every combination of the values of some factors, which have these columns of the codes."""
        truth, codes, sets = answers.truth, answers.codes[:, list(columns)], answers.places // target.row_size
        constant = truth == np.bincount(truth).argmax() if len(truth) else truth
        chance, found = 100 / max(2, len(target.symbols)), []
        for values in product(*(factor.values for factor in group)):
            rows = (codes == [factor.code(value) for factor, value in zip(group, values, strict=True)]).all(1)
            if rows.sum() < max(1, self.least):
                continue
            names = [factor.name for factor in group]
            about = {"target": target.name, "factor": about_names(names), "value": about_names(values)}
            rng = evaluation.rng(self.name, target.name, *names, *values)
            recorder = Recorder(self.name, rng, about, evaluation.provenance())
            told = {name: 100 * float(right[rows].mean()) for name, right in answers.controls.items()}
            controls = {"constant": 100 * float(constant[rows].mean()), **told}
            fields = {"chance": chance, "controls": controls}
            found.append(share_of_sets("accuracy", answers.right[rows], sets[rows], recorder, **fields))
        return found


def targets_with_classes(spec: Spec, names: Sequence[str]) -> list[Target]:
    """The targets that have classes, of those named or of all."""
    found = [target for target in ([spec.target(name) for name in names] or spec.targets) if target.task in _CLASSES]
    if not found:
        raise NotApplicableError("expected a target of task class or agreement: choose a source that has one")
    return found


class _Answers(NamedTuple):
    """Of samples whose target is known.

    Args:
        right: (N,) bool, whether the answer is right.
        truth: (N,) the true class.
        codes: (N, F) factor codes.
        places: (N,) positions of the samples in the source.
        controls: by name, (N,) bool, whether the answers of trained controls are right.
    """

    right: np.ndarray
    truth: np.ndarray
    codes: np.ndarray
    places: np.ndarray
    controls: Mapping[str, np.ndarray]


def _answers(evaluation: Evaluation, target: Target) -> _Answers:
    parts, controls = list[list[np.ndarray]](), evaluation.controls_of(target.name)
    for start, batch in evaluation.batches():
        rows = np.flatnonzero(batch.known_mask(target.name).cpu().numpy())
        if not len(rows):
            continue
        part = batch if len(rows) == len(batch) else batch[torch.from_numpy(rows).to(evaluation.device)]
        found, truth = (
            numbers_from(target, predicted_of(evaluation, target, part)),
            part.targets[target.name].long().cpu().numpy(),
        )
        codes = part.factors if part.factors is not None else torch.empty(len(part), 0)
        pile = [found.argmax(1) == truth, truth, codes.cpu().numpy(), start + rows]
        if controls:
            true = evaluation.true_batch(start, batch)
            true = true if len(rows) == len(batch) else true[torch.from_numpy(rows).to(evaluation.device)]
            pile += [(control.probabilities(true) > 0.5) == (truth > 0) for control in controls.values()]
        parts.append(pile)
    if not parts:
        raise NotApplicableError(f"the target {target.name} is known of no sample")
    sides = [np.concatenate(side) for side in zip(*parts, strict=True)]
    return _Answers(sides[0], sides[1], sides[2], sides[3], dict(zip(controls, sides[4:], strict=True)))


def probabilities_of(evaluation: Evaluation, target: Target) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Predicted probabilities (B, K), the true classes (B,) and factor codes (B, F) of samples whose target is known."""
    for part, found in distributions_of(evaluation, target):
        codes = part.factors if part.factors is not None else torch.empty(len(part), 0)
        yield numbers_from(target, found), part.targets[target.name].long().cpu().numpy(), codes.cpu().numpy()


def distributions_of(evaluation: Evaluation, target: Target) -> Iterator[tuple[Batch, Distribution]]:
    """In batches, the samples of which a target is known and what is predicted of it, given all modalities."""
    for _, batch in evaluation.batches():
        known = batch.known_mask(target.name)
        part: Batch = batch if bool(known.all()) else batch[torch.nonzero(known).flatten()]
        if not len(part):
            continue
        yield part, predicted_of(evaluation, target, part)
