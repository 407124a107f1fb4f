"""Prediction: how well a supervised model predicts the targets of samples; scores by task.

Classification and label scores follow scikit-learn's definitions (`accuracy_score`, `balanced_accuracy_score`, `f1_score`,
`average_precision_score`), number scores its `mean_absolute_error`, `mean_squared_error` and `r2_score`. Intervals of scores that
are no means are percentile bootstraps over samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch.distributions import Distribution

from molyneux.core import Batch, NotApplicableError, Predicts, Score, Spec, Target, about_names
from molyneux.core.intervals import CONFIDENCE, Interval
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement, not_applicable
from molyneux.measure.scores import Recorder

_TRAINING = 10_000
"""Training samples whose targets a constant prediction may know."""

_RESAMPLES = 200
_PERCENT = {"unit": "%", "bounds": (0.0, 100.0)}


@final
class Prediction(Measure):
    """How well a model predicts targets, from all modalities that a sample has and from each modality alone.

    Scores by task, with `about` naming the source (what is observed) and the target:

    - `class` and `agreement`: `prediction.accuracy`, `.balanced_accuracy` and `.macro_f1` %.
    - `multilabel`: `prediction.micro_f1`, `.macro_f1` and `.macro_average_precision` %, and `.f1` and `.average_precision` % of
      each label.
    - `number`: `prediction.mae`, `.mse` and `.r2`, of the mean of the predicted distribution.

    Chance is guessing with the prior (class, labels) or predicting the mean (number); the control `constant` is the best constant
    prediction. Both know the training samples' targets where the evaluation has training samples, else those of the test samples
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
                predicted, truth = found[target]
                rng = evaluation.rng(self.name, *observed, target.name)
                recorder = Recorder(self.name, rng, about, evaluation.provenance())
                known = truth if given is None or not len(given[target.name]) else given[target.name]
                scores += _scores(target, predicted, truth, known, recorder)
        return Measurement(tuple(scores))


def _predict(
    evaluation: Evaluation, observed: tuple[str, ...], targets: Sequence[Target]
) -> dict[Target, tuple[np.ndarray, np.ndarray]]:
    """What is predicted of each target and what is true, of samples of which it is known and that have something observed."""
    piles: dict[Target, list[tuple[np.ndarray, np.ndarray]]] = {target: [] for target in targets}
    for _, batch in evaluation.batches():
        present = torch.stack([batch.mask(name) for name in observed]).any(0)
        part = batch if bool(present.all()) else batch[present]
        if not len(part):
            continue
        found = evaluation.model.predict(part, observed)
        for target, rows, truth in _known(part, targets):
            if target.name not in found:
                raise NotApplicableError(f"the model does not predict the target {target.name}: name others in `targets`")
            piles[target].append((_values(target, found[target.name])[rows], truth))
    joined = {target: [np.concatenate(side) for side in zip(*parts, strict=True)] for target, parts in piles.items() if parts}
    return {target: (predicted, truth) for target, (predicted, truth) in joined.items() if len(truth)}


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


def _values(target: Target, predicted: Distribution) -> np.ndarray:
    """The most probable class (B,), probabilities of labels (B, L), or the mean of numbers (B, *shape)."""
    if target.task == "class":
        categorical: Any = predicted
        return np.asarray(categorical.probs.argmax(-1).cpu().numpy())
    mean = predicted.mean.double().cpu().numpy()
    return np.asarray(mean > 0.5, dtype=np.int64) if target.task == "agreement" else np.asarray(mean)


def _scores(target: Target, predicted: np.ndarray, truth: np.ndarray, known: np.ndarray, recorder: Recorder) -> list[Score]:
    if target.task == "multilabel":
        return label_scores(predicted, truth, known.mean(0) if len(known) else known.sum(0), target.symbols, recorder)
    if target.task == "number":
        flat = [values.reshape(len(values), -1).astype(np.float64) for values in (predicted, truth, known)]
        return number_scores(flat[0], flat[1], flat[2], recorder)
    classes = len(target.symbols) if target.task == "class" else 2
    counts = np.bincount(known.astype(np.int64), minlength=classes)
    return class_scores(predicted, truth.astype(np.int64), counts / max(1, counts.sum()), recorder)


def class_scores(predicted: np.ndarray, truth: np.ndarray, prior: np.ndarray, recorder: Recorder) -> list[Score]:
    """`accuracy`, `balanced_accuracy` and `macro_f1` in %.

    Chance is what guessing with the prior gives (for macro F1, of expected counts), the control `constant` what the most common
    class gives.

    Args:
        predicted: (N,) class numbers, N at least 1.
        truth: (N,) class numbers.
        prior: (K,) share of each class among the samples that a guess may know.
        recorder: makes the scores.
    """
    classes = len(prior)
    counts = np.bincount(truth * classes + predicted, minlength=classes**2).reshape(classes, classes).astype(np.float64)
    constant = np.zeros_like(counts)
    constant[:, prior.argmax()] = counts.sum(1)
    guessed = np.outer(counts.sum(1), prior)
    fields = {"n": len(truth), **_PERCENT}
    found = [
        recorder.share(
            "accuracy",
            predicted == truth,
            chance=100 * accuracy(guessed),
            controls={"constant": 100 * accuracy(constant)},
        )
    ]
    for name, statistic in (("balanced_accuracy", balanced_accuracy), ("macro_f1", macro_f1)):
        shares, rng = (counts / counts.sum()).ravel(), recorder.rng
        drawn = [statistic(rng.multinomial(len(truth), shares).reshape(counts.shape)) for _ in range(_RESAMPLES)]
        found.append(
            recorder.score(
                name,
                100 * statistic(counts),
                interval=_percentiles(100 * np.array(drawn)),
                chance=100 * statistic(guessed),
                controls={"constant": 100 * statistic(constant)},
                **fields,
            )
        )
    return found


def accuracy(counts: np.ndarray) -> float:
    """Share of samples on the diagonal of counts (true class, predicted class)."""
    return float(np.trace(counts) / counts.sum())


def balanced_accuracy(counts: np.ndarray) -> float:
    """Mean recall of the classes that occur, from counts (true class, predicted class)."""
    occurs = counts.sum(1) > 0
    return float((np.diag(counts)[occurs] / counts.sum(1)[occurs]).mean())


def macro_f1(counts: np.ndarray) -> float:
    """Mean F1 of the classes that occur or are predicted, from counts (true class, predicted class)."""
    total = counts.sum(0) + counts.sum(1)
    return float((2 * np.diag(counts)[total > 0] / total[total > 0]).mean())


def label_scores(
    probabilities: np.ndarray, truth: np.ndarray, prior: np.ndarray, symbols: Sequence[str], recorder: Recorder
) -> list[Score]:
    """`micro_f1`, `macro_f1` and `macro_average_precision` in %, and `f1` and `average_precision` of each label.

    A label is predicted where its probability is above a half. Chance is what guessing with the prior gives (of expected counts;
    for average precision the share of the label); the control `constant` predicts every label for F1 of a label and their mean,
    and for micro F1 the set of labels that is best according to the prior.

    Args:
        probabilities: (N, L), N at least 1.
        truth: (N, L) 0 or 1.
        prior: (L,) share of samples with each label.
        symbols: names of the labels.
        recorder: makes the scores.
    """
    n, labels = truth.shape
    right = truth.astype(bool)
    share, ones = right.mean(0), np.ones(n)
    counts = _label_counts(probabilities > 0.5, right)
    orders = [_ranked(probabilities[:, label], right[:, label]) for label in range(labels)]
    weights = np.stack([np.bincount(recorder.rng.integers(0, n, n), minlength=n) for _ in range(_RESAMPLES)])
    f1 = np.array([_f1(counts(one)) for one in (ones, *weights)])
    micro = np.array([_f1(counts(one).sum(0, keepdims=True))[0] for one in (ones, *weights)])
    precision = np.array([[average_precision(one, *order) for order in orders] for one in (ones, *weights)])
    guessed = np.stack([share * prior, prior, share], 1)
    always = np.stack([share, np.ones(labels), share], 1)
    best = np.zeros(labels)
    ranked = np.argsort(-prior)
    reached = [2 * prior[ranked[: size + 1]].sum() / (size + 1 + prior.sum()) for size in range(labels)]
    best[ranked[: int(np.argmax(reached)) + 1]] = 1
    usual = np.stack([share * best, best, share], 1)

    def score(name: str, values: np.ndarray, chance: float, constant: float | None, write: Recorder) -> Score:
        if not np.isfinite(values[0]):
            return write.score(name, None, **_PERCENT, note="no sample has the label")
        interval = _percentiles(100 * values[1:]) if np.isfinite(values).all() else None
        controls = {} if constant is None else {"constant": 100 * float(constant)}
        fields = {"chance": 100 * float(chance), "controls": controls, "n": n, **_PERCENT}
        return write.score(name, 100 * float(values[0]), interval=interval, **fields)

    known = share > 0
    mean_precision = precision[:, known].mean(1) if known.any() else np.full(len(precision), np.nan)
    found = [
        score("micro_f1", micro, _f1(guessed.sum(0, keepdims=True))[0], _f1(usual.sum(0, keepdims=True))[0], recorder),
        score("macro_f1", f1.mean(1), _f1(guessed).mean(), _f1(always).mean(), recorder),
        score("macro_average_precision", mean_precision, share[known].mean() if known.any() else 0.0, None, recorder),
    ]
    for label, symbol in enumerate(symbols):
        write = recorder.on(label=symbol)
        found.append(score("f1", f1[:, label], _f1(guessed)[label], _f1(always)[label], write))
        found.append(score("average_precision", precision[:, label], share[label], None, write))
    return found


def average_precision(weights: np.ndarray, order: np.ndarray, right: np.ndarray, last: np.ndarray) -> float:
    """Average precision of weighted samples: sum over thresholds of the gain in recall times precision; NaN without positives.

    Args:
        weights: (N,) how often each sample counts.
        order: (N,) samples by falling score.
        right: (N,) whether each sample in that order is positive.
        last: (T,) places in that order at which the score falls.
    """
    counted = weights[order]
    hits = np.cumsum(counted * right)[last]
    total = np.cumsum(counted)[last]
    if hits[-1] == 0:
        return float("nan")
    precision = hits / np.maximum(total, 1)
    return float(np.diff(hits, prepend=0.0) @ precision / hits[-1])


def number_scores(predicted: np.ndarray, truth: np.ndarray, known: np.ndarray, recorder: Recorder) -> list[Score]:
    """`mae`, `mse` and `r2`, averaged over the values of a target.

    Chance is what predicting the mean gives; the control `constant` is the best constant: the median for `mae`, else the mean.

    Args:
        predicted: (N, V), N at least 1.
        truth: (N, V).
        known: (M, V) values whose mean and median a constant prediction may know.
        recorder: makes the scores.
    """
    mean, median = (np.broadcast_to(one, truth.shape) for one in (known.mean(0), np.median(known, axis=0)))
    absolute = [np.abs(one - truth).mean(1) for one in (predicted, mean, median)]
    square = [((one - truth) ** 2).mean(1) for one in (predicted, mean)]
    below = {"bounds": (0.0, None), "higher_is_better": False}
    controls = {"constant": float(absolute[2].mean())}
    chance = float(square[1].mean())
    found = [
        recorder.mean("mae", absolute[0], chance=float(absolute[1].mean()), controls=controls, **below),
        recorder.mean("mse", square[0], chance=chance, controls={"constant": chance}, **below),
    ]
    if len(truth) < 2 or (np.ptp(truth, axis=0) == 0).any():
        return [*found, recorder.score("r2", None, n=len(truth), bounds=(None, 1.0), note="the true values do not vary")]
    rows = (recorder.rng.integers(0, len(truth), len(truth)) for _ in range(_RESAMPLES))
    drawn = np.array([r2(predicted[row], truth[row]) for row in rows])
    usual = r2(mean, truth)
    interval = _percentiles(drawn) if np.isfinite(drawn).all() else None
    fields = {"n": len(truth), "bounds": (None, 1.0), "chance": usual, "controls": {"constant": usual}}
    return [*found, recorder.score("r2", r2(predicted, truth), interval=interval, **fields)]


def r2(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Share of the variance that is explained, averaged over values; (N, V) each. Not finite where the truth does not vary."""
    with np.errstate(invalid="ignore", divide="ignore"):
        left = ((truth - predicted) ** 2).sum(0) / ((truth - truth.mean(0)) ** 2).sum(0)
    return float(np.mean(1 - left))


def _label_counts(predicted: np.ndarray, right: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Of samples of given weights: by label how many are hits, predicted and true, (L, 3)."""
    parts = np.stack([predicted & right, predicted, right], 2).astype(np.float64).reshape(len(right), -1)
    return lambda weights: np.asarray((weights @ parts).reshape(-1, 3))


def _f1(counts: np.ndarray) -> np.ndarray:
    """F1 from hits, predicted and true, (L, 3); 0 where a label is neither predicted nor true."""
    total = counts[:, 1] + counts[:, 2]
    return np.asarray(np.where(total > 0, 2 * counts[:, 0] / np.where(total > 0, total, 1.0), 0.0))


def _ranked(scores: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arguments of `average_precision` but the weights."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    return order, right[order].astype(np.float64), np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))


def _percentiles(values: np.ndarray) -> Interval:
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)
