"""Scores of predicted classes and labels, by the definitions of scikit-learn.

`accuracy_score`, `balanced_accuracy_score`, `f1_score` and `average_precision_score`. Intervals hold at 0 and 100 % too, where a
bootstrap, which draws what was seen, claims certainty: they join a percentile bootstrap over samples with a combination of score
intervals by class (`recall_interval`, `f1_interval`, `precision_interval`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from molyneux.core import Score
from molyneux.core.intervals import Interval, joined, weighted_interval, wilson_interval
from molyneux.measure.code_arrays import in_order
from molyneux.measure.scores import RESAMPLES, Recorder, percentiles

PERCENT = {"unit": "%", "bounds": (0.0, 100.0)}


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
    fields = {"n": len(truth), **PERCENT}
    found = [
        recorder.share(
            "accuracy",
            predicted == truth,
            chance=100 * accuracy(guessed),
            controls={"constant": 100 * accuracy(constant)},
        )
    ]
    hits, margins = np.diag(counts), counts.sum(0) + counts.sum(1)
    occurs = margins > 0
    by_class = {
        "balanced_accuracy": recall_interval(counts),
        "macro_f1": f1_interval(hits[occurs], margins[occurs], np.ones(int(occurs.sum()))),
    }
    for name, statistic in (("balanced_accuracy", balanced_accuracy), ("macro_f1", macro_f1)):
        shares, rng = (counts / counts.sum()).ravel(), recorder.rng
        drawn = [statistic(rng.multinomial(len(truth), shares).reshape(counts.shape)) for _ in range(RESAMPLES)]
        found.append(
            recorder.score(
                name,
                100 * statistic(counts),
                interval=_in_percent(joined(percentiles(np.array(drawn)), by_class[name])),
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


def weighted_f1(counts: np.ndarray) -> float:
    """Mean F1 of the classes, weighted by how often each is true, from counts (true class, predicted class)."""
    total = counts.sum(0) + counts.sum(1)
    f1 = 2 * np.diag(counts) / np.where(total > 0, total, 1)
    return float(f1 @ counts.sum(1) / counts.sum())


def recall_interval(counts: np.ndarray) -> Interval:
    """The interval of balanced accuracy, 0..1, from the score intervals of the recalls of the classes that occur.

    Args:
        counts: (K, K) numbers of samples by true and predicted class.
    """
    true = counts.sum(1)
    occurs = true > 0
    recalls = np.diag(counts)[occurs] / true[occurs]
    ends = [wilson_interval(recall, n) for recall, n in zip(recalls, true[occurs], strict=True)]
    return _within(weighted_interval(recalls, ends, np.full(len(ends), 1 / len(ends))))


def f1_interval(hits: np.ndarray, margins: np.ndarray, weights: np.ndarray, *, shared: float = 2.0) -> Interval:
    """The interval of a mean of F1 over classes or labels, 0..1, from score intervals of each.

    F1 is 2 J / (1 + J) of J, the share of hits among the samples that have the class or are predicted to. Of those nothing is
    known where there are none.

    Args:
        hits: (K,) samples that have the class and are predicted to.
        margins: (K,) samples that have the class plus samples that are predicted to.
        weights: (K,) of the mean, of any sum.
        shared: in how many classes an error counts: 2 of classes, of which one is missed and another said; 1 of labels.
    """
    ends, values = [], []
    for hit, margin in zip(hits, margins, strict=True):
        counted = margin - hit
        low, high = wilson_interval(hit / counted, counted) if counted > 0 else (0.0, 1.0)
        ends.append((2 * low / (1 + low), 2 * high / (1 + high)))
        values.append(2 * hit / margin if margin > 0 else 0.0)
    return _within(weighted_interval(values, ends, weights / weights.sum(), shared=shared))


def precision_interval(values: np.ndarray, positives: np.ndarray, *, shared: float = 2.0) -> Interval:
    """The interval of a mean of average precisions over classes or labels, 0..1.

    An average precision is a mean over positive samples of numbers in 0..1, so that a score interval of that many samples is wide
    enough (Boyd, Eng and Page, ECML 2013, who take the same binomial variance, and find it to hold where bootstraps do not).

    Args:
        values: (K,) the average precision of each.
        positives: (K,) numbers of positive samples, at least 1.
        shared: as of `f1_interval`.
    """
    ends = [wilson_interval(min(1.0, float(value)), float(n)) for value, n in zip(values, positives, strict=True)]
    return _within(weighted_interval(values, ends, np.full(len(ends), 1 / len(ends)), shared=shared))


def _within(interval: Interval) -> Interval:
    return max(0.0, float(interval[0])), min(1.0, float(interval[1]))


def _in_percent(interval: Interval | None) -> Interval | None:
    return None if interval is None else (100 * interval[0], 100 * interval[1])


def ranking_score(probabilities: np.ndarray, truth: np.ndarray, recorder: Recorder) -> Score:
    """The area under the curve of precision and recall, in %, exactly: the average precision.

    Of two classes `average_precision`, that of the second class. Of more, `macro_average_precision`: the mean over the classes
    that occur, each against the rest. Chance is the share of the class.

    Args:
        probabilities: (N, K) of each class, N at least 1.
        truth: (N,) class numbers.
        recorder: makes the score.
    """
    n, classes = probabilities.shape
    occur = [label for label in ([1] if classes == 2 else range(classes)) if (truth == label).any()]
    name = "average_precision" if classes == 2 else "macro_average_precision"
    if not occur:
        return recorder.score(name, None, n=n, **PERCENT, note="no sample has the class")
    values = np.array([average_precision(np.ones(n), *_ranked(probabilities[:, label], truth == label)) for label in occur])
    positives = np.array([np.count_nonzero(truth == label) for label in occur])
    interval = _in_percent(precision_interval(values, positives))
    return recorder.score(
        name, 100 * float(values.mean()), interval=interval, chance=100 * float((positives / n).mean()), n=n, **PERCENT
    )


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
    rows = in_order(np.concatenate([probabilities, truth], 1, dtype=np.float64))
    probabilities, right = rows[:, :labels], rows[:, labels:].astype(bool)
    share, ones = right.mean(0), np.ones(n)
    counts = _label_counts(probabilities > 0.5, right)
    orders = [_ranked(probabilities[:, label], right[:, label]) for label in range(labels)]
    weights = np.stack([np.bincount(recorder.rng.integers(0, n, n), minlength=n) for _ in range(RESAMPLES)])
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

    def score(
        name: str, values: np.ndarray, chance: float, constant: float | None, write: Recorder, *, edge: Interval | None
    ) -> Score:
        if not np.isfinite(values[0]):
            return write.score(name, None, **PERCENT, note="no sample has the label")
        interval = _in_percent(joined(percentiles(values[1:]), edge))
        controls = {} if constant is None else {"constant": 100 * float(constant)}
        fields = {"chance": 100 * float(chance), "controls": controls, "n": n, **PERCENT}
        return write.score(name, 100 * float(values[0]), interval=interval, **fields)

    known = share > 0
    mean_precision = precision[:, known].mean(1) if known.any() else np.full(len(precision), np.nan)
    seen, positives = counts(ones), right.sum(0)
    hits, margins = seen[:, 0], seen[:, 1] + seen[:, 2]
    pooled = f1_interval(hits.sum(keepdims=True), margins.sum(keepdims=True), np.ones(1), shared=1.0)
    each = f1_interval(hits, margins, np.ones(labels), shared=1.0)
    ranks = precision_interval(precision[0, known], positives[known], shared=1.0) if known.any() else None
    totals = [_f1(one.sum(0, keepdims=True))[0] for one in (guessed, usual)]
    found = [
        score("micro_f1", micro, totals[0], totals[1], recorder, edge=pooled),
        score("macro_f1", f1.mean(1), _f1(guessed).mean(), _f1(always).mean(), recorder, edge=each),
        score("macro_average_precision", mean_precision, share[known].mean() if known.any() else 0, None, recorder, edge=ranks),
    ]
    for label, symbol in enumerate(symbols):
        write, one = recorder.on(label=symbol), slice(label, label + 1)
        edge = f1_interval(hits[one], margins[one], np.ones(1), shared=1.0)
        found.append(score("f1", f1[:, label], _f1(guessed)[label], _f1(always)[label], write, edge=edge))
        ranks = precision_interval(precision[0, one], positives[one], shared=1.0) if known[label] else None
        found.append(score("average_precision", precision[:, label], share[label], None, write, edge=ranks))
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
