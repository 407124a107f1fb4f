"""Prediction: how well a supervised model predicts the targets of samples; scores by task.

`class_scores` and `number_scores` say how each score is defined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple, final

import numpy as np
import torch

from molyneux.core import Batch, NotApplicableError, Predicts, Score, Spec, Target, about_names
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement, not_applicable
from molyneux.measure.prediction.answers import found_for, numbers_from
from molyneux.measure.prediction.class_scores import class_scores, label_scores, ranking_score
from molyneux.measure.prediction.number_scores import number_scores
from molyneux.measure.prediction.sets import by_sets
from molyneux.measure.scores import Recorder

_TRAINING = 10_000
"""Training samples whose targets a constant prediction may know."""


@final
class Prediction(Measure):
    """How well a model predicts targets, from all modalities that a sample has and from each modality alone.

    Scores by task, with `about` naming the source (what is observed) and the target:

    - `class` and `agreement`: `prediction.accuracy` (which is also their micro F1), `.balanced_accuracy` and `.macro_f1` %, and
      from the probabilities `.average_precision` % of the second of two classes, or `.macro_average_precision` % of more.
    - `multilabel`: `prediction.micro_f1`, `.macro_f1` and `.macro_average_precision` %, and `.f1` and `.average_precision` % of
      each label.
    - `number`: `prediction.mae`, `.mse`, `.r2` and `.correlation`, of the mean of the predicted distribution. Single numbers of
      both signs also have `.sign_accuracy`, `.positive_accuracy` and `.nonnegative_accuracy` %, each with a `_weighted_f1`, and
      those between whole bounds `.rounded_accuracy` % (Acc-7 of sentiments from -3 to 3).

    Chance is guessing with the prior (class, labels) or predicting the mean (number); the control `constant` is the best constant
    prediction. Targets of agreement also have the trained controls of the evaluation, such as `unbound`, and for each of them
    `prediction.above_<control>`: by how many points the accuracy is above the control's, from all modalities. Intervals of
    agreement take the samples of a row (`core.Target.row_size`), whose answers go together, as the unit. Constants know the
    training samples' targets where the evaluation has training samples, else those of the test samples
    themselves. Samples whose target is unknown, or that have none of the observed modalities, are left out.

    Args:
        targets: names of targets; all by default.
        alone: also predict from each modality alone.
    """

    name: ClassVar[str] = "prediction"
    needs: ClassVar[tuple[type, ...]] = (Predicts,)

    def __init__(self, *, targets: Sequence[str] = (), alone: bool = True) -> None:
        self.targets = tuple(targets)
        self.alone = alone

    def check(self, spec: Spec) -> None:
        """Raise SpecError for targets that do not exist."""
        for name in self.targets:
            spec.target(name)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """All targets, given what is observed."""
        spec = evaluation.spec
        targets = [spec.target(name) for name in self.targets] or list(spec.targets)
        if not targets:
            raise NotApplicableError("prediction needs targets: choose a source that has some")
        given = None if evaluation.training is None else _true_values(evaluation.training, targets)
        scores: list[Score] = []
        for observed in evaluation.observed_sets if self.alone else (evaluation.available,):
            found = _predict(evaluation, observed, targets)
            for target in targets:
                about = {"source": about_names(observed), "target": target.name}
                if target not in found:
                    reason = f"the target {target.name} is known of no sample"
                    scores.append(not_applicable(self, reason, origin=evaluation.provenance(), about=about))
                    continue
                answers = found[target]
                rng = evaluation.rng(self.name, *observed, target.name)
                recorder = Recorder(self.name, rng, about, evaluation.provenance())
                known = answers.truth if given is None or not len(given[target.name]) else given[target.name]
                scores += _scores(target, answers, known, recorder)
        return Measurement(tuple(scores))


class _Answers(NamedTuple):
    """What is predicted of a target and what is true, of the samples of which it is known and that have something observed.

    Args:
        truth: (N, ...) values of the target.
        places: (N,) positions of the samples in the source.
        predicted: (N, ...) as `numbers_from` gives it.
        controls: by name, what trained controls predict.
    """

    truth: np.ndarray
    places: np.ndarray
    predicted: np.ndarray
    controls: Mapping[str, np.ndarray]


def _predict(evaluation: Evaluation, observed: tuple[str, ...], targets: Sequence[Target]) -> dict[Target, _Answers]:
    """The answers about each target; none where it is known of no sample. Controls answer where everything is observed."""
    piles: dict[Target, list[list[np.ndarray]]] = {target: [] for target in targets}
    controls = {target: evaluation.controls_of(target.name) if observed == evaluation.available else {} for target in targets}
    for start, batch in evaluation.batches():
        present = torch.stack([batch.mask(name) for name in observed]).any(0)
        part = batch if bool(present.all()) else batch[present]
        if not len(part):
            continue
        found, places = evaluation.model.predict(part, observed), start + np.flatnonzero(present.cpu().numpy())
        for target, rows, truth in _known(part, targets):
            pile = [truth, places[rows], numbers_from(target, found_for(target, found, observed))[rows]]
            if controls[target]:
                true = evaluation.true_batch(start, batch)[torch.from_numpy(places[rows] - start).to(evaluation.device)]
                pile += [numbers_from(target, control.predict(true)[target.name]) for control in controls[target].values()]
            piles[target].append(pile)
    joined = {target: [np.concatenate(side) for side in zip(*parts, strict=True)] for target, parts in piles.items() if parts}
    return {
        target: _Answers(sides[0], sides[1], sides[2], dict(zip(controls[target], sides[3:], strict=True)))
        for target, sides in joined.items()
        if len(sides[0])
    }


def _known(batch: Batch, targets: Sequence[Target]) -> Iterator[tuple[Target, np.ndarray, np.ndarray]]:
    """Each target with the rows of the samples of which it is known, and its values there."""
    for target in targets:
        if target.name in batch.targets:
            known = batch.known_mask(target.name)
            yield target, known.cpu().numpy(), batch.targets[target.name][known].cpu().numpy()


def _true_values(training: Evaluation, targets: Sequence[Target]) -> dict[str, np.ndarray]:
    """By target, its values in the first training samples of which it is known."""
    piles: dict[str, list[np.ndarray]] = {target.name: [np.empty((0, *target.stored_shape))] for target in targets}
    for _, batch in training.batches(_TRAINING):
        for target, _, truth in _known(batch, targets):
            piles[target.name].append(truth)
    return {name: np.concatenate(parts) for name, parts in piles.items()}


def _scores(target: Target, answers: _Answers, known: np.ndarray, recorder: Recorder) -> list[Score]:
    """The scores of answers about a target; with those of controls, and how far the model is above them."""
    truth, sets = answers.truth, answers.places // target.row_size
    found = _plain_scores(target, answers.predicted, truth, known, recorder)
    if target.task != "agreement":
        return found
    right = answers.predicted.argmax(1) == truth
    found = by_sets(found, right, sets, recorder)
    rng = np.random.default_rng(0)  # of intervals that nobody sees
    theirs = {
        name: _plain_scores(target, predicted, truth, known, replace(recorder, rng=rng))
        for name, predicted in answers.controls.items()
    }
    beside = [above(name, right, predicted.argmax(1) == truth, sets, recorder) for name, predicted in answers.controls.items()]
    return [*with_controls(found, theirs), *beside]


def _plain_scores(target: Target, predicted: np.ndarray, truth: np.ndarray, known: np.ndarray, recorder: Recorder) -> list[Score]:
    """The scores of a target by its task, of independent samples."""
    if target.task == "multilabel":
        return label_scores(predicted, truth, known.mean(0) if len(known) else known.sum(0), target.symbols, recorder)
    if target.task == "number":
        flat = [values.reshape(len(values), -1).astype(np.float64) for values in (predicted, truth, known)]
        return number_scores(flat[0], flat[1], flat[2], recorder, target)
    truth = truth.astype(np.int64)
    counts = np.bincount(known.astype(np.int64), minlength=predicted.shape[1])
    scores = class_scores(predicted.argmax(1), truth, counts / max(1, counts.sum()), recorder)
    return [*scores, ranking_score(predicted, truth, recorder)]


def with_controls(scores: Sequence[Score], of_controls: Mapping[str, Sequence[Score]]) -> list[Score]:
    """Scores with the values of the same scores of controls, by the names of the controls.

    Args:
        scores: of a model.
        of_controls: by the name of each control, its scores on the same samples.
    """
    values = {
        name: {(score.name, tuple(sorted(score.about.items()))): score.value for score in found}
        for name, found in of_controls.items()
    }
    out = []
    for score in scores:
        key = score.name, tuple(sorted(score.about.items()))
        found = {name: known[key] for name, known in values.items()}
        reached = {name: value for name, value in found.items() if value is not None}
        out.append(replace(score, controls={**score.controls, **reached}) if reached else score)
    return out


def above(name: str, right: np.ndarray, control: np.ndarray, sets: np.ndarray, recorder: Recorder) -> Score:
    """`above_<control>`: by how many points of accuracy a model is above a control, of the same samples.

    The interval is a bootstrap over sets of the difference of both in each, since they answer the same questions.

    Args:
        name: of the control.
        right: (N,) bool, of the model.
        control: (N,) bool, of the control.
        sets: (N,) the number of the set of each sample.
        recorder: makes the score.
    """
    _, place, sizes = np.unique(sets, return_inverse=True, return_counts=True)
    ahead = np.bincount(place, weights=right.astype(float) - control) / sizes.mean()
    fields = {"unit": "%", "bounds": (-100.0, 100.0), "chance": None}
    note = f"accuracy {100 * float(right.mean()):.1f} %, of the control {name} {100 * float(control.mean()):.1f} %"
    return replace(recorder.mean(f"above_{name}", 100 * ahead, **fields), n=len(right), note=note)
