"""Scores of predicted numbers: errors, explained variance, correlation, signs and rounded values.

Errors and explained variance follow scikit-learn's `mean_absolute_error`, `mean_squared_error` and `r2_score`, the correlation
`scipy.stats.pearsonr`. Signs and rounded values are those by which predicted sentiment is scored (Zadeh et al., EMNLP 2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from molyneux.core import Score, Target
from molyneux.core.intervals import Interval, joined
from molyneux.measure.code_arrays import in_order
from molyneux.measure.prediction.class_scores import PERCENT, accuracy, f1_interval, weighted_f1
from molyneux.measure.scores import RESAMPLES, Recorder, percentiles

_MOST = 20
"""Numbers between bounds further apart than this are not rounded to classes."""


def number_scores(
    predicted: np.ndarray, truth: np.ndarray, known: np.ndarray, recorder: Recorder, target: Target | None = None
) -> list[Score]:
    """`mae`, `mse`, `r2` and `correlation`, averaged over the values of a target; of single numbers also classes made of them.

    Chance is what predicting the mean gives; the control `constant` is the best constant: the median for `mae`, else the mean.
    Single numbers of both signs also have the scores of `sign_scores`, those between whole bounds that of `rounded_score`.

    Args:
        predicted: (N, V), N at least 1.
        truth: (N, V).
        known: (M, V) values whose mean and median a constant prediction may know.
        recorder: makes the scores.
        target: what is predicted; its bounds say whether values are rounded.
    """
    rows = in_order(np.concatenate([predicted, truth], 1))  # the last digits of a sum depend on its order
    predicted, truth, known = rows[:, : truth.shape[1]], rows[:, truth.shape[1] :], np.sort(known, axis=0)
    mean, median = (np.broadcast_to(one, truth.shape) for one in (known.mean(0), np.median(known, axis=0)))
    absolute = [np.abs(one - truth).mean(1) for one in (predicted, mean, median)]
    square = [((one - truth) ** 2).mean(1) for one in (predicted, mean)]
    below = {"bounds": (0.0, None), "higher_is_better": False}
    controls = {"constant": float(absolute[2].mean())}
    chance = float(square[1].mean())
    found = [
        recorder.mean("mae", absolute[0], chance=float(absolute[1].mean()), controls=controls, **below),
        recorder.mean("mse", square[0], chance=chance, controls={"constant": chance}, **below),
        *_varying_scores(predicted, truth, mean, recorder),
    ]
    if truth.shape[1] > 1:
        return found
    one = predicted[:, 0], truth[:, 0], known[:, 0]
    found += sign_scores(*one, recorder) if truth.min() < 0 < truth.max() else []
    return found + (rounded_score(*one, target, recorder) if target is not None and _whole(target) else [])


def _varying_scores(predicted: np.ndarray, truth: np.ndarray, mean: np.ndarray, recorder: Recorder) -> list[Score]:
    """`r2` and `correlation`, which numbers that do not vary have not."""
    n, usual = len(truth), r2(mean, truth)
    scores = []
    for name, statistic, low in (("r2", r2, None), ("correlation", correlation, -1.0)):
        bounds = (low, 1.0)
        value = statistic(predicted, truth) if n > 1 else np.nan
        if not np.isfinite(value):
            constant = n < 2 or bool((np.ptp(truth, axis=0) == 0).any())
            note = f"the {'true' if constant else 'predicted'} values do not vary"
            scores.append(recorder.score(name, None, n=n, bounds=bounds, note=note))
            continue
        rows = (recorder.rng.integers(0, n, n) for _ in range(RESAMPLES))
        drawn = np.array([statistic(predicted[row], truth[row]) for row in rows])
        interval = percentiles(drawn)
        if name == "correlation" and truth.shape[1] == 1 and interval is not None:
            interval = joined(interval, fisher_interval(value, n))
        references = {"chance": usual, "controls": {"constant": usual}} if name == "r2" else {"chance": 0.0}
        scores.append(recorder.score(name, value, interval=interval, n=n, bounds=bounds, **references))
    return scores


def r2(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Share of the variance that is explained, averaged over values; (N, V) each. NaN where the truth does not vary."""
    if (np.ptp(truth, axis=0) == 0).any():  # whose sum of squares need not be 0, since the mean of equal numbers is rounded
        return float("nan")
    left = ((truth - predicted) ** 2).sum(0) / ((truth - truth.mean(0)) ** 2).sum(0)
    return float(np.mean(1 - left))


def correlation(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Pearson's correlation, averaged over values; (N, V) each. NaN where one side does not vary."""
    both = [values - values.mean(0) for values in (predicted, truth)]
    if any((np.ptp(values, axis=0) == 0).any() for values in (predicted, truth)):
        return float("nan")
    found = (both[0] * both[1]).sum(0) / np.sqrt((both[0] ** 2).sum(0) * (both[1] ** 2).sum(0))
    return float(np.clip(found, -1.0, 1.0).mean())  # 1 up to rounding is 1


def fisher_interval(value: float, n: int) -> Interval | None:
    """The 95 % interval of a correlation by Fisher's z (Metron 1, 1921), which of few samples is wider than a bootstrap's.

    None for fewer than four samples, or where all lie on a line.

    >>> low, high = fisher_interval(0.8, 20)
    >>> round(low, 3), round(high, 3)
    (0.553, 0.918)
    """
    if n < 4 or abs(value) >= 1:
        return None
    half = 1.959964 / math.sqrt(n - 3)
    return math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)


SIGNS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sign": lambda truth: truth != 0,
    "positive": lambda truth: np.ones(len(truth), bool),
    "nonnegative": lambda truth: np.ones(len(truth), bool),
}
"""The conventions of two classes by the sign, and which samples each counts."""


def sign_scores(predicted: np.ndarray, truth: np.ndarray, known: np.ndarray, recorder: Recorder) -> list[Score]:
    """Whether the sign is right, in % by three conventions, each as `<convention>_accuracy` and `<convention>_weighted_f1`.

    `sign` leaves out samples whose truth is 0; `positive` counts all, as positive or not (0 is not), and `nonnegative` counts
    all, as negative or not. MultiBench's scores are the first two; the third is "with zero" of Yu et al. (AAAI 2021). F1 is the
    mean over both classes weighted by how often each is true. Chance guesses with the prior, the control `constant` always says
    the more common class; both know the signs of `known`.

    Args:
        predicted: (N,).
        truth: (N,).
        known: (M,) values whose signs a guess may know.
        recorder: makes the scores.
    """
    scores = []
    for name, counted in SIGNS.items():
        high = np.greater_equal if name == "nonnegative" else np.greater
        rows = counted(truth)
        prior = np.bincount(high(known[counted(known)], 0).astype(int), minlength=2)
        right = high(predicted[rows], 0).astype(int), high(truth[rows], 0).astype(int)
        scores += _classified(name, right, prior / max(1, prior.sum()), recorder)
    return scores


def _classified(name: str, pair: tuple[np.ndarray, np.ndarray], prior: np.ndarray, recorder: Recorder) -> list[Score]:
    """Accuracy and weighted F1 of classes (N,), predicted and true."""
    predicted, truth = pair
    counts = np.bincount(truth * 2 + predicted, minlength=4).reshape(2, 2).astype(np.float64)
    guessed = np.outer(counts.sum(1), prior)
    constant = np.outer(counts.sum(1), np.eye(2)[prior.argmax()])
    drawn = recorder.rng.multinomial(len(truth), (counts / counts.sum()).ravel(), RESAMPLES)
    by_class = f1_interval(np.diag(counts), counts.sum(0) + counts.sum(1), counts.sum(1))
    low, high = joined(percentiles(np.array([weighted_f1(one.reshape(2, 2)) for one in drawn])), by_class) or by_class
    references = [
        {"chance": 100 * statistic(guessed), "controls": {"constant": 100 * statistic(constant)}}
        for statistic in (accuracy, weighted_f1)
    ]
    f1 = {"interval": (100 * low, 100 * high), "n": len(truth), **PERCENT}
    return [
        recorder.share(f"{name}_accuracy", predicted == truth, **references[0]),
        recorder.score(f"{name}_weighted_f1", 100 * weighted_f1(counts), **references[1], **f1),
    ]


def _whole(target: Target) -> bool:
    """Whether values can be rounded to some whole numbers between bounds."""
    low, high = target.bounds
    return low is not None and high is not None and float(low).is_integer() and float(high).is_integer() and high - low <= _MOST


def rounded_score(predicted: np.ndarray, truth: np.ndarray, known: np.ndarray, target: Target, recorder: Recorder) -> list[Score]:
    """`rounded_accuracy` in %: the share of samples whose predicted and true value round to the same whole number.

    Values are cut to the bounds of the target first, and halves go to the even number; for sentiment from -3 to 3 it is called
    Acc-7. Chance guesses with the prior of the rounded values `known`, and the control `constant` says the most common one.
    """
    low, high = target.bounds
    classes = [np.rint(np.clip(values, low, high)).astype(int) for values in (predicted, truth, known)]
    least = min(values.min() for values in classes)
    shares = [np.bincount(values - least, minlength=max(map(np.max, classes)) - least + 1) for values in classes[1:]]
    true, prior = shares[0] / len(truth), shares[1] / len(known)
    fields = {"chance": 100 * float(true @ prior), "controls": {"constant": 100 * float(true[prior.argmax()])}}
    return [recorder.share("rounded_accuracy", classes[0] == classes[1], **fields)]
