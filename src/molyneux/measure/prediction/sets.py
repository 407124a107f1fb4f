"""Shares of samples that stand in sets: the answers of a set go together, so the set is the unit of the interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from molyneux.core import Score
from molyneux.core.intervals import share_interval
from molyneux.measure.scores import Recorder


def design_effect(right: np.ndarray, sets: np.ndarray) -> float:
    """How many times as large as that of independent samples the variance of a share is, at least 1.

    The variance of the mean of clusters, linearised (Kish, Survey Sampling, 1965, section 6.5), over p (1 - p) / n. One set that
    is all right and one that is all wrong are added, as Agresti and Coull (The American Statistician 52, 1998) add samples:
    where few answers or none are wrong, the data do not say whether wrong answers come one by one, and then they count as sets.

    Args:
        right: (N,) bool, N at least 1.
        sets: (N,) the number of the set of each sample.
    """
    _, place, sizes = np.unique(sets, return_inverse=True, return_counts=True)
    largest = int(sizes.max())
    if largest == 1:
        return 1.0
    hits = np.append(np.bincount(place, weights=right), (largest, 0.0))
    counts = np.append(sizes, (largest, largest)).astype(np.float64)
    share, total, groups = hits.sum() / counts.sum(), counts.sum(), len(counts)
    between = groups / (groups - 1) * np.square(hits - share * counts).sum() / total**2
    return max(1.0, float(between / (share * (1 - share) / total)))


def share_of_sets(name: str, right: np.ndarray, sets: np.ndarray, recorder: Recorder, **fields: Any) -> Score:
    """The share of samples that are right, in %, with an interval that takes sets as the unit.

    The exact interval of the effective number of samples, n divided by `design_effect` (Korn and Graubard, Survey Methodology 24,
    1998). Where every sample is a set of its own, it is `Recorder.share`.

    Args:
        name: last part of the name of the score.
        right: (N,) bool.
        sets: (N,) the number of the set of each sample.
        recorder: makes the score.
        **fields: further fields of the score.
    """
    if not len(right) or (effect := design_effect(right, sets)) == 1.0:
        return recorder.share(name, right, **fields)
    share, size = float(np.mean(right)), max(1.0, len(right) / effect)
    low, high = share_interval(share * size, size)
    whole = {"unit": "%", "bounds": (0.0, 100.0), "n": len(right), **fields}
    return recorder.score(name, 100 * share, interval=(100 * low, 100 * high), **whole)


def by_sets(scores: Sequence[Score], right: np.ndarray, sets: np.ndarray, recorder: Recorder) -> list[Score]:
    """Scores of predicted classes with intervals that take sets as the unit.

    `accuracy` is that of `share_of_sets`. The intervals of others, which were made for independent samples, are wider by the root
    of the design effect of the answers, up to the bounds.

    Args:
        scores: of the samples.
        right: (N,) bool, whether the answer is right.
        sets: (N,) the number of the set of each sample.
        recorder: makes the scores.
    """
    if not len(right) or (effect := design_effect(right, sets)) == 1.0:
        return list(scores)
    found = []
    for score in scores:
        if score.name.endswith(".accuracy"):
            fields = {"chance": score.chance, "controls": score.controls}
            found.append(share_of_sets("accuracy", right, sets, recorder, **fields))
        elif score.value is None or score.interval is None:
            found.append(score)
        else:
            ends = [score.value + (end - score.value) * math.sqrt(effect) for end in score.interval]
            low, high = (-math.inf if score.bounds[0] is None else score.bounds[0], score.bounds[1])
            found.append(replace(score, interval=(max(low, ends[0]), min(math.inf if high is None else high, ends[1]))))
    return found
