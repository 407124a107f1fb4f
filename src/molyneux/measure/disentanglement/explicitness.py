"""Explicitness: how well a linear classifier reads each value in the whole code; and such a classifier in closed form.

Ridgeway and Mozer, "Learning deep disentangled embeddings with the F-statistic loss" (NeurIPS 2018), section 3: the area under
the curve of each value against the others, averaged over values and factors.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from molyneux.measure.disentanglement.information import require_carriers
from molyneux.measure.disentanglement.metric import MetricResult, nothing_live
from molyneux.measure.disentanglement.sap import stratified_split, train_and_test
from molyneux.measure.disentanglement.table import CheckedCodes, sort_columns


def discriminants(features: np.ndarray, labels: np.ndarray, *, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (D, K) and offsets (K,) of Fisher's linear discriminant: features @ weights + offsets, largest where most likely.

    The classifier of normal classes with one covariance (Hastie, Tibshirani and Friedman 2009, equation 4.10). It is linear like
    logistic regression and has a closed form: no optimiser that may not have converged. Features should
    be of unit scale; 1e-6 is added to their variances within classes, so that constant ones do no harm (scikit-learn's
    discriminant analysis has no such addition, and takes five times as long). Classes without samples are never chosen.

    Args:
        features: (N, D).
        labels: (N,) integers below `classes`.
        classes: how many.
    """
    counts = np.bincount(labels, minlength=classes).astype(np.float64)
    sums = np.stack([np.bincount(labels, weights=column, minlength=classes) for column in features.T], 1)
    means = sums / np.maximum(counts, 1)[:, None]
    inside = features - means[labels]
    covariance = inside.T @ inside / len(features) + 1e-6 * np.eye(features.shape[1])
    weights = np.linalg.solve(covariance, means.T)
    with np.errstate(divide="ignore"):
        offsets = np.log(counts / len(features)) - 0.5 * (means * weights.T).sum(1)
    return weights, offsets


def standardised(features: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Features (N, D) with the means and deviations of `like` taken out; dimensions constant there become 0."""
    deviation = like.std(0)
    return np.asarray(np.where(deviation > 0, (features - like.mean(0)) / np.where(deviation > 0, deviation, 1.0), 0.0))


_FITTED, _TESTED = 40_000, 6000


def published(
    table: CheckedCodes, rng: np.random.Generator, *, samples: int = 10_000, on_train: bool = False
) -> Mapping[str, MetricResult]:
    """As the text study runs it: one-vs-rest logistic regression (liblinear, C = 1e10) on raw codes, scored on the other 20 %.

    Raises:
        NotApplicableError: fewer than 10,000 samples that carry a factor.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    found = np.empty(len(table.names))
    for factor in range(len(table.names)):
        fit, test = stratified_split(table, factor, rng, metric="explicitness", samples=samples)
        tested, labels = fit if on_train else test, table.factors[:, factor]
        model = OneVsRestClassifier(LogisticRegression(C=1e10, solver="liblinear", random_state=0))
        model.fit(table.codes[fit], labels[fit])
        scores = model.predict_proba(table.codes[tested])
        found[factor] = _mean_area(scores, labels[tested], model.classes_)
    return _mean(found)


paper = partial(published, on_train=True)
"""As printed: scored on the samples that the classifiers were fitted on."""


def dlib(table: CheckedCodes, rng: np.random.Generator, *, train: int = 10_000, test: int = 5000) -> Mapping[str, MetricResult]:
    """disentanglement_lib's settings: multinomial logistic regression (C = 1) on standardised codes, scored on other samples.

    Raises:
        NotApplicableError: absent factors.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    table.require_complete("explicitness dlib")
    fit, tested = train_and_test(table, rng, metric="explicitness dlib", train=train, test=test)
    codes, found = standardised(table.codes, table.codes[fit]), np.empty(len(table.names))
    for factor, labels in enumerate(table.factors.T):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression().fit(codes[fit], labels[fit])
        scores = model.predict_proba(codes[tested])
        found[factor] = _mean_area(scores, labels[tested], model.classes_)
    return _mean(found)


def recommended(table: CheckedCodes, rng: np.random.Generator) -> Mapping[str, MetricResult]:
    """A closed-form linear classifier on standardised live codes of one half of the carriers, scored on the other.

    2 x area - 1, so that 0 is chance. What is ranked is how far a value is ahead of the next best; unlike one threshold a value,
    this reads values in the middle of an axis, too. Both halves in turn, averaged; of at most 40,000
    carriers, of which at most 6,000 are scored.

    Raises:
        NotApplicableError: too few samples carry a factor.
    """
    table = table.live
    if not table.dimensions:
        return nothing_live(("explicitness",), len(table.names))
    found = np.empty(len(table.names))
    for factor in range(len(table.names)):
        require_carriers(table, factor)
        sides = np.array_split(rng.permutation(table.carriers(factor))[:_FITTED], 2)
        found[factor] = np.mean([_read(table, factor, fit, test[: _TESTED // 2]) for fit, test in (sides, sides[::-1])])
    return _mean(2 * found - 1)


def _read(table: CheckedCodes, factor: int, fit: np.ndarray, test: np.ndarray) -> float:
    labels, count = table.factors[:, factor], table.values[factor]
    weights, offsets = discriminants(standardised(table.codes[fit], table.codes[fit]), labels[fit], classes=count)
    scores = standardised(table.codes[test], table.codes[fit]) @ weights + np.maximum(offsets, -1e300)
    best = np.partition(scores, -2, axis=1)[:, -2:]
    lead = scores - np.where(scores == best[:, 1:], best[:, :1], best[:, 1:])
    return _mean_area(lead, labels[test], np.arange(count))


def _mean_area(scores: np.ndarray, labels: np.ndarray, classes: np.ndarray) -> float:
    """Mean area under the curve over values that occur; 0.5 where no value can be separated from the others."""
    areas = area_under_curve(scores, labels[:, None] == classes)
    return float(np.nanmean(areas)) if np.isfinite(areas).any() else 0.5


def _mean(by_factor: np.ndarray) -> dict[str, MetricResult]:
    return {"explicitness": MetricResult(float(by_factor.mean()), by_factor)}


def area_under_curve(scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """The area under the receiver operating characteristic of each column, (K,); NaN where one side is empty.

    The share of pairs of a positive and a negative sample that are in the right order (Mann and Whitney 1947); ties count half.

    Args:
        scores: (N, K) numbers.
        positive: (N, K) bool.
    """
    ranks = sort_columns(scores).ranks * len(scores) + 0.5
    right = positive.sum(0).astype(np.float64)
    pairs = right * (len(scores) - right)
    with np.errstate(invalid="ignore", divide="ignore"):
        area: np.ndarray = (np.where(positive, ranks, 0.0).sum(0) - right * (right + 1) / 2) / pairs
    return area
