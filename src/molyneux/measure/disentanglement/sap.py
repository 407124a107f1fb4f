"""Separated attribute predictability: how much better the best dimension alone predicts a factor than the second best.

Kumar, Sattigeri and Balakrishnan, "Variational inference of disentangled latent concepts" (ICLR 2018), section 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from molyneux.core import NotApplicableError
from molyneux.measure.disentanglement.groups import group, halves
from molyneux.measure.disentanglement.information import joint_counts
from molyneux.measure.disentanglement.metric import MetricResult, nothing_live
from molyneux.measure.disentanglement.mig import gaps
from molyneux.measure.disentanglement.table import CheckedCodes

SIGMAS = 4.0
"""By how many standard errors an accuracy must exceed the majority's to count, see `exceeds`."""


def published(table: CheckedCodes, rng: np.random.Generator, *, samples: int = 10_000) -> Mapping[str, MetricResult]:
    """As the text study runs it: a linear SVM (C = 0.01) for each dimension on 80 % of a stratified draw of 10,000 carriers.

    One threshold a value on one axis: values in the middle cannot be separated from the others, so the score of a perfect code
    of many values is near 0.

    Raises:
        NotApplicableError: one dimension, or fewer than 10,000 samples that carry a factor.
    """
    table.require("sap", dimensions=2)
    matrix = np.empty((table.dimensions, len(table.names)))
    for factor in range(len(table.names)):
        fit, test = stratified_split(table, factor, rng, metric="sap", samples=samples)
        matrix[:, factor] = _machines(table.codes, table.factors[:, factor], fit, test, balanced=False)
    return _gap(matrix)


def dlib(table: CheckedCodes, rng: np.random.Generator, *, train: int = 10_000, test: int = 5000) -> Mapping[str, MetricResult]:
    """disentanglement_lib's settings: balanced classes, 10,000 samples to fit and 5,000 others to test (2/3 and 1/3 of fewer).

    Raises:
        NotApplicableError: one dimension, or absent factors.
    """
    table.require("sap", dimensions=2)
    table.require_complete("sap dlib")
    fit, tested = train_and_test(table, rng, metric="sap dlib", train=train, test=test)
    columns = [_machines(table.codes, column, fit, tested, balanced=True) for column in table.factors.T]
    return _gap(np.stack(columns, 1))


def recommended(table: CheckedCodes, rng: np.random.Generator) -> Mapping[str, MetricResult]:
    """Each bin of a dimension (`joint_counts`) predicts its most common value on one half of the samples; scored on the other.

    (accuracy - majority) / (1 - majority), both halves in turn, averaged; 0 where the two differ by no more than 4 standard
    errors (`exceeds`). A code with a number for each value gets 1, however its values are ordered; one with an interval for each
    gets a little less, see `joint_counts`.

    Raises:
        NotApplicableError: too few samples carry a factor.
    """
    table = table.live
    if not table.dimensions:
        return nothing_live(("sap",), len(table.names))
    matrix, half = np.empty((table.dimensions, len(table.names))), halves(len(table), rng)
    for factor in range(len(table.names)):
        counts = joint_counts(table, factor, half)
        matrix[:, factor] = [_skill(parts) for parts in counts]
    return _gap(matrix)


def stratified_split(
    table: CheckedCodes, factor: int, rng: np.random.Generator, *, metric: str, samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit and to test as the text study draws them: of each value of a stratified draw the first 80 % and the rest."""
    rows, values = group(table, factor).stratified(samples, rng, metric=metric)
    counts = np.bincount(values, minlength=table.values[factor])
    place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    fit = place < (0.8 * counts).astype(np.int64)[values]
    require_two_values(metric, table.names[factor], values[fit])
    return rng.permutation(rows[fit]), rows[~fit]


def train_and_test(
    table: CheckedCodes, rng: np.random.Generator, *, metric: str, train: int, test: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train and other rows to test; 2/3 and 1/3 where there are fewer than asked for.

    Raises:
        NotApplicableError: a factor takes one value only among those to train.
    """
    order = rng.permutation(len(table))
    split = min(train, 2 * len(table) // 3)
    for name, column in zip(table.names, table.factors.T, strict=True):
        require_two_values(metric, name, column[order[:split]])
    return order[:split], order[split : split + test]


def require_two_values(metric: str, name: str, fitted: np.ndarray) -> None:
    """Raise NotApplicableError unless a factor takes two values among the samples that a classifier is fitted on."""
    if len(np.unique(fitted)) < 2:
        raise NotApplicableError(
            f"{metric} needs two values of {name} among the {len(fitted):,} samples it fits, got one: "
            f"give more samples or use the recommended variant"
        )


def _machines(codes: np.ndarray, labels: np.ndarray, fit: np.ndarray, test: np.ndarray, *, balanced: bool) -> np.ndarray:
    """Accuracy of a linear support vector machine on each dimension alone, (D,)."""
    from sklearn.svm import LinearSVC

    found = np.empty(codes.shape[1])
    for column in range(codes.shape[1]):
        machine = LinearSVC(C=0.01, class_weight="balanced" if balanced else None, random_state=0)
        machine.fit(codes[fit, column, None], labels[fit])
        found[column] = machine.score(codes[test, column, None], labels[test])
    return found


def exceeds(gained: int, lost: int) -> bool:
    """Whether one way to answer is right more often than another on the same samples, by more than `SIGMAS` standard errors.

    Only samples on which one is right and the other wrong tell (McNemar 1947); their difference has the variance of their sum.

    Args:
        gained: samples on which only the first is right.
        lost: samples on which only the other is right.
    """
    return gained - lost > SIGMAS * math.sqrt(max(gained + lost, 1))


def _skill(parts: np.ndarray) -> float:
    """Accuracy beyond the majority's of a lookup by bin, from the counts (2, V, B) of two halves."""
    gained, lost, usual = 0, 0, 0
    for fit, test in (parts, parts[::-1]):
        majority = fit.sum(1).argmax()
        predicted = np.where(fit.sum(0) > 0, fit.argmax(0), majority)
        other = predicted != majority
        gained += int(test[predicted, np.arange(test.shape[1])][other].sum())
        lost += int(test[majority][other].sum())
        usual += int(test[majority].sum())
    return (gained - lost) / (int(parts.sum()) - usual) if exceeds(gained, lost) else 0.0


def _gap(matrix: np.ndarray) -> dict[str, MetricResult]:
    by_factor = gaps(matrix)
    return {"sap": MetricResult(float(by_factor.mean()), by_factor, matrix=matrix)}
