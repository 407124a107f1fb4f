"""Calibration: how far the probabilities that a model predicts can be believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch.distributions import Independent

from molyneux.core import ConfigError, NotApplicableError, Predicts, Score, Spec, Target
from molyneux.core.intervals import Interval, joined, wilson_interval
from molyneux.measure.code_arrays import in_order
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.answers import numbers_from
from molyneux.measure.prediction.breakdown import distributions_of, probabilities_of
from molyneux.measure.scores import RESAMPLES, Recorder, percentiles

_DIGITS = 6
"""Decimals of a confidence: what differs behind them differs by the rounding of 32 bits, and is tied."""
_TINY = float(np.finfo(np.float32).tiny)
_BELOW: dict[str, Any] = {"bounds": (0.0, None), "higher_is_better": False}


@final
class Calibration(Measure):
    """How far the probabilities that a model predicts can be believed, given all modalities.

    Scores with `about` naming the target. Of classes and agreement: `calibration.error`, the expected calibration error over bins
    with equally many samples (Naeini, Cooper and Hauskrecht, AAAI 2015; bins as in Nixon et al., 2019), 0..1, equal confidences
    sharing bins in proportion;
    `calibration.brier`, the mean squared distance between the predicted probabilities and the true class (Brier, 1950), 0..2; and
    `calibration.log_loss` in nats. Of labels the same, each label being an answer; `brier` and `log_loss` are sums over labels.
    Of numbers: `calibration.error`, the mean distance between the quantiles of the true values and their shares (Kuleshov, Fenner
    and Ermon, ICML 2018), and `calibration.log_loss`, minus the log-density of the true values in nats. Chance of `brier` and
    `log_loss` is the best constant prediction of the test samples: their prior, or a normal distribution with their mean and
    variance.

    Under conditions, such as a corruption at rising strengths, these scores say whether a model knows that it has become unsure.

    Args:
        targets: names of targets; all by default.
        bins: number of bins.

    Raises:
        ConfigError: no bins.
    """

    name: ClassVar[str] = "calibration"
    needs: ClassVar[tuple[type, ...]] = (Predicts,)

    def __init__(self, *, targets: Sequence[str] = (), bins: int = 15) -> None:
        self.targets, self.bins = tuple(targets), bins
        if bins < 1:
            raise ConfigError(f"bins: expected at least 1, got {bins}")

    def check(self, spec: Spec) -> None:
        """Raise SpecError for targets that do not exist."""
        for name in self.targets:
            spec.target(name)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every target."""
        targets = [evaluation.spec.target(name) for name in self.targets] or evaluation.spec.targets
        if not targets:
            raise NotApplicableError("calibration needs targets: choose a source that has some")
        scores: list[Score] = []
        for target in targets:
            rng = evaluation.rng(self.name, target.name)
            recorder = Recorder(self.name, rng, {"target": target.name}, evaluation.provenance())
            how = {"number": self._numbers, "multilabel": self._labels}.get(target.task, self._classes)
            scores += how(evaluation, target, recorder)
        return Measurement(tuple(scores))

    def _classes(self, evaluation: Evaluation, target: Target, recorder: Recorder) -> list[Score]:
        pairs = [(found, truth) for found, truth, _ in probabilities_of(evaluation, target)]
        given, truth = _joined(pairs, target)
        truth = truth.astype(np.int64)
        prior = np.broadcast_to(np.bincount(truth, minlength=given.shape[1]) / len(truth), given.shape)
        losses = [(brier(one, truth), log_loss(one, truth)) for one in (given, prior)]
        return [self._error(given.max(1), given.argmax(1) == truth, recorder), *_losses(losses, recorder)]

    def _labels(self, evaluation: Evaluation, target: Target, recorder: Recorder) -> list[Score]:
        said = distributions_of(evaluation, target)
        pairs = [(numbers_from(target, found), _array(part.targets[target.name])) for part, found in said]
        given, truth = _joined(pairs, target)
        prior = np.broadcast_to(truth.mean(0), truth.shape)
        losses = [((one - truth) ** 2, -np.log(np.maximum(np.where(truth, one, 1 - one), _TINY))) for one in (given, prior)]
        confidence, right = np.maximum(given, 1 - given).ravel(), ((given > 0.5) == truth).ravel()
        sums = [(square.sum(1), logs.sum(1)) for square, logs in losses]
        return [self._error(confidence, right, recorder, groups=truth.shape[1]), *_losses(sums, recorder)]

    def _numbers(self, evaluation: Evaluation, target: Target, recorder: Recorder) -> list[Score]:
        quantiles, densities, truth = _joined(_densities(evaluation, target), target)
        deviation = truth.reshape(len(truth), -1).std(0)
        scores = []
        if not np.isnan(quantiles).any():
            flat = quantiles.reshape(len(quantiles), -1)
            interval = _around(flat, quantile_error, recorder.rng)
            fields: dict[str, Any] = {"interval": interval, "n": len(truth), "bounds": (0.0, 0.5), "higher_is_better": False}
            scores.append(recorder.score("error", quantile_error(flat), **fields))
        entropy = float(np.log(deviation * np.sqrt(2 * np.pi * np.e)).sum()) if (deviation > 0).all() else None
        return [*scores, recorder.mean("log_loss", -densities, chance=entropy, unit="nats", higher_is_better=False)]

    def _error(self, confidence: np.ndarray, right: np.ndarray, recorder: Recorder, *, groups: int = 1) -> Score:
        """The calibration error of answers (N * groups,), those of a sample in a row."""
        rows = np.stack([confidence, right], 1).reshape(-1, groups, 2)

        def error(rows: np.ndarray) -> float:
            flat = rows.reshape(-1, 2)
            return calibration_error(flat[:, 0], flat[:, 1], self.bins)

        fields: dict[str, Any] = {"n": len(rows), "bounds": (0.0, 1.0), "higher_is_better": False}
        value, drawn = error(rows), _around(rows, error, recorder.rng)
        return recorder.score("error", value, interval=joined(drawn, _of_the_whole(rows, value)), **fields)


def _losses(pair: Sequence[tuple[np.ndarray, np.ndarray]], recorder: Recorder) -> list[Score]:
    """`brier` and `log_loss` from those of a model and of the prior, (N,) each."""
    (square, logs), (usual_square, usual_logs) = pair
    return [
        recorder.mean("brier", square, chance=float(usual_square.mean()), **_BELOW),
        recorder.mean("log_loss", logs, chance=float(usual_logs.mean()), unit="nats", **_BELOW),
    ]


def _joined(parts: Sequence[tuple[np.ndarray, ...]], target: Target) -> list[np.ndarray]:
    """What all batches hold, one after the other.

    Raises:
        NotApplicableError: there is no sample of which the target is known.
    """
    if not parts:
        raise NotApplicableError(f"the target {target.name} is known of no sample")
    return [np.concatenate(side) for side in zip(*parts, strict=True)]


def _array(tensor: torch.Tensor) -> np.ndarray:
    return np.asarray(tensor.double().cpu().numpy())


def _densities(evaluation: Evaluation, target: Target) -> list[tuple[np.ndarray, ...]]:
    """Quantiles (B, ...) of the true numbers (NaN where a distribution has none), their log-densities (B,), and the numbers."""
    parts: list[tuple[np.ndarray, ...]] = []
    for part, found in distributions_of(evaluation, target):
        truth = part.targets[target.name]
        base: Any = found.base_dist if isinstance(found, Independent) else found
        try:
            quantiles = base.cdf(truth)
        except NotImplementedError:
            quantiles = torch.full_like(truth, float("nan"))
        parts.append((_array(quantiles), _array(found.log_prob(truth)), _array(truth)))
    return parts


def calibration_error(confidence: np.ndarray, right: np.ndarray, bins: int) -> float:
    """The expected calibration error: mean distance between confidence and accuracy over bins of equally many samples.

    Samples of equal confidence that a border divides are in both bins in proportion, each as right as all of them together: the
    error is a function of what was said and how often it was right, and not of the order of the samples. A model that always says
    the same has one bin.

    Args:
        confidence: (N,) probability of the answer, 0..1.
        right: (N,) whether the answer is right.
        bins: number of bins.
    """
    n, bins = len(confidence), min(bins, len(confidence))
    said, place, counts = np.unique(confidence.round(_DIGITS), return_inverse=True, return_counts=True)
    missed = np.bincount(place.ravel(), right, len(said)) - said * counts
    ends, sums = (np.concatenate([[0.0], np.cumsum(values)]) for values in (counts, missed))
    borders = np.concatenate([[0], np.cumsum(n // bins + (np.arange(bins) < n % bins))])
    return float(np.abs(np.diff(np.interp(borders, ends, sums))).sum() / n)


def quantile_error(quantiles: np.ndarray) -> float:
    """Mean distance between true values' quantiles (N, V) of their predicted distributions and a uniform distribution."""
    n = len(quantiles)
    return float(np.abs(np.sort(quantiles, axis=0) - ((np.arange(n) + 0.5) / n)[:, None]).mean())


def _around(rows: np.ndarray, statistic: Callable[[np.ndarray], float], rng: np.random.Generator) -> Interval | None:
    """A bootstrap interval of a distance: the spread of resamples about their mean, around the value; whatever the order of rows.

    Resampling adds noise, which makes a distance larger: the plain percentiles may lie above the value. None where resamples do
    not differ.
    """
    rows = in_order(rows)
    drawn = np.array([statistic(rows[rng.integers(0, len(rows), len(rows))]) for _ in range(RESAMPLES)])
    if (ends := percentiles(drawn)) is None:
        return None
    low, high = statistic(rows) + np.array(ends) - drawn.mean()
    return max(0.0, float(low)), float(high)


def _of_the_whole(rows: np.ndarray, value: float) -> Interval:
    """The interval of a calibration error that the accuracy of all answers allows, with rows (N, G, 2) of confidence and right.

    The error is at least the distance between mean confidence and accuracy. Resamples of answers that are all right do not tell
    how many wrong ones there may be; the interval of their accuracy does.
    """
    ordered = np.sort(rows.reshape(-1, 2), axis=0)
    said, accuracy = (float(side) for side in ordered.mean(0))
    ends = wilson_interval(min(1.0, accuracy), len(rows))
    near, far = sorted(abs(said - end) for end in ends)
    return min(value, 0.0 if ends[0] <= said <= ends[1] else near), max(value, far)


def brier(given: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Squared distance (N,) between probabilities (N, K) and the true class (N,)."""
    return np.asarray(((given - np.eye(given.shape[1])[truth]) ** 2).sum(1))


def log_loss(given: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Minus the logarithm of the probability of the true class, (N,) nats."""
    chosen = np.take_along_axis(given, truth[:, None], 1)[:, 0]
    return np.asarray(-np.log(np.maximum(chosen, _TINY)))
