"""Disentanglement, completeness, informativeness (DCI): which dimensions forests need to predict each factor.

Eastwood and Williams, "A framework for the quantitative evaluation of disentangled representations" (ICLR 2018), section 2. A
matrix (D, F) of importances says how much each dimension counts for each factor. Disentanglement: a dimension counts for one
factor; completeness: a factor is predicted by one dimension; informativeness: how well it is predicted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from molyneux.measure.disentanglement.information import entropy, require_carriers
from molyneux.measure.disentanglement.metric import MetricResult, nothing_live
from molyneux.measure.disentanglement.sap import SIGMAS, exceeds, stratified_split, train_and_test
from molyneux.measure.disentanglement.table import CheckedCodes

NAMES = ("dci_disentanglement", "dci_completeness", "dci_informativeness")
_TREES, _LEAF = 10, 5


def published(
    table: CheckedCodes, rng: np.random.Generator, *, samples: int = 10_000, swapped: bool = False
) -> Mapping[str, MetricResult]:
    """As the text study runs it: forests of 10 trees that try root-D dimensions at a split, on a stratified 10,000.

    Trying few dimensions forces splits on unrelated ones, so that a perfect code scores about 0.65.

    Raises:
        NotApplicableError: fewer than two dimensions or factors, or fewer than 10,000 samples that carry a factor.
    """
    from sklearn.ensemble import RandomForestClassifier

    table.require("dci", dimensions=2, factors=2)
    matrix, accuracy = np.empty((table.dimensions, len(table.names))), np.empty(len(table.names))
    for factor, labels in enumerate(table.factors.T):
        fit, test = stratified_split(table, factor, rng, metric="dci", samples=samples)
        forest = RandomForestClassifier(_TREES, random_state=int(rng.integers(2**31))).fit(table.codes[fit], labels[fit])
        matrix[:, factor] = forest.feature_importances_
        accuracy[factor] = forest.score(table.codes[test], labels[test])
    return _printed(matrix, accuracy) if swapped else _outcomes(matrix, accuracy)


paper = partial(published, swapped=True)
"""Algorithm 6 as printed: the names of the first two are exchanged, and dimensions are not weighted."""


def dlib(table: CheckedCodes, rng: np.random.Generator, *, train: int = 10_000, test: int = 5000) -> Mapping[str, MetricResult]:
    """disentanglement_lib's settings: gradient boosting with scikit-learn's defaults; minutes where factors have many values.

    Raises:
        NotApplicableError: fewer than two dimensions or factors, or absent factors.
    """
    from sklearn.ensemble import GradientBoostingClassifier

    table.require("dci", dimensions=2, factors=2)
    table.require_complete("dci dlib")
    matrix, accuracy = np.empty((table.dimensions, len(table.names))), np.empty(len(table.names))
    fit, tested = train_and_test(table, rng, metric="dci dlib", train=train, test=test)
    for factor, labels in enumerate(table.factors.T):
        model = GradientBoostingClassifier(random_state=int(rng.integers(2**31))).fit(table.codes[fit], labels[fit])
        matrix[:, factor] = np.abs(model.feature_importances_)
        accuracy[factor] = model.score(table.codes[tested], labels[tested])
    return _outcomes(matrix, accuracy)


def recommended(table: CheckedCodes, rng: np.random.Generator, *, samples: int = 5000) -> Mapping[str, MetricResult]:
    """Forests that may try every live dimension at a split, on ranks of up to 5,000 carriers; importance is what is lost without.

    Informativeness: (accuracy - majority) / (1 - majority) on the fifth of the samples held out, 0 where the two differ by no
    more than 4 standard errors. Importance of a dimension: the accuracy that single trees lose there when it is shuffled, 0
    within 4 standard errors, each column scaled to the informativeness of its factor; so neither noise nor a factor that cannot
    be predicted counts.

    Raises:
        NotApplicableError: fewer than two factors, or too few samples that carry one.
    """
    table.require("dci", factors=2)
    table = table.live
    if not table.dimensions:
        return nothing_live(NAMES, len(table.names))
    matrix, skill, ranks = np.zeros((table.dimensions, len(table.names))), np.zeros(len(table.names)), table.sorted.ranks
    for factor, labels in enumerate(table.factors.T):
        require_carriers(table, factor)
        rows = rng.permutation(table.carriers(factor))[:samples]
        fit, test = rows[len(rows) // 5 :], rows[: len(rows) // 5]
        skill[factor], lost = _forest(ranks[fit], labels[fit], ranks[test], labels[test], rng)
        matrix[:, factor] = skill[factor] * lost / max(lost.sum(), np.finfo(np.float64).tiny)
    return _outcomes(matrix, skill)


def disentanglement_by_dimension(matrix: np.ndarray) -> np.ndarray:
    """1 - entropy over factors / ln F of each row of importances (D, F), (D,); 0 for a row of zeros or a single factor."""
    if matrix.shape[1] < 2:
        return np.zeros(len(matrix))
    return np.asarray(np.where(matrix.sum(1) > 0, 1 - entropy(matrix, axis=1) / math.log(matrix.shape[1]), 0.0))


def disentanglement(matrix: np.ndarray) -> float:
    """`disentanglement_by_dimension`, weighted by the importance of dimensions; 0 for a matrix of zeros."""
    weights = matrix.sum(1)
    return float(weights @ disentanglement_by_dimension(matrix) / weights.sum()) if weights.any() else 0.0


def completeness_by_factor(matrix: np.ndarray) -> np.ndarray:
    """1 - entropy over dimensions / ln D of each column of importances (D, F), (F,); 1 for a single dimension that counts."""
    if len(matrix) < 2:
        return np.asarray(matrix.sum(0) > 0, np.float64)
    return disentanglement_by_dimension(matrix.T)


def completeness(matrix: np.ndarray) -> float:
    """`completeness_by_factor`, weighted by the importance of factors; 0 for a matrix of zeros."""
    weights = matrix.sum(0)
    return float(weights @ completeness_by_factor(matrix) / weights.sum()) if weights.any() else 0.0


def _outcomes(matrix: np.ndarray, skill: np.ndarray) -> dict[str, MetricResult]:
    by_dimension, by_factor = disentanglement_by_dimension(matrix), completeness_by_factor(matrix)
    return {
        NAMES[0]: MetricResult(disentanglement(matrix), dimensions=by_dimension, matrix=matrix),
        NAMES[1]: MetricResult(completeness(matrix), by_factor, matrix=matrix),
        NAMES[2]: MetricResult(float(skill.mean()), skill),
    }


def _printed(matrix: np.ndarray, skill: np.ndarray) -> dict[str, MetricResult]:
    by_dimension, by_factor = disentanglement_by_dimension(matrix), completeness_by_factor(matrix)
    return {
        NAMES[0]: MetricResult(float(by_factor.mean()), by_factor, matrix=matrix),
        NAMES[1]: MetricResult(float(by_dimension.mean()), dimensions=by_dimension, matrix=matrix),
        NAMES[2]: MetricResult(float(skill.mean()), skill),
    }


def _forest(
    fitted: np.ndarray, labels: np.ndarray, tested: np.ndarray, truth: np.ndarray, rng: np.random.Generator
) -> tuple[float, np.ndarray]:
    """Accuracy beyond the majority's, and the accuracy lost when each dimension is shuffled, (D,)."""
    from sklearn.ensemble import RandomForestClassifier

    dimensions, count = fitted.shape[1], len(tested)
    forest = RandomForestClassifier(_TREES, max_features=None, min_samples_leaf=_LEAF, random_state=int(rng.integers(2**31)))
    right = forest.fit(fitted, labels).predict(tested) == truth
    usual = truth == np.bincount(labels).argmax()
    gained, missed = int((right & ~usual).sum()), int((usual & ~right).sum())
    if not exceeds(gained, missed):
        return 0.0, np.zeros(dimensions)
    shuffled = np.repeat(tested[None], dimensions, axis=0)
    for column in range(dimensions):
        shuffled[column, :, column] = rng.permutation(tested[:, column])
    whole = (_by_tree(forest, tested) == truth).mean(0)
    broken = (_by_tree(forest, shuffled.reshape(-1, dimensions)).reshape(-1, dimensions, count) == truth).mean(0)
    lost = whole - broken
    error = lost.std(1) / math.sqrt(count)
    return (gained - missed) / int((~usual).sum()), np.where(lost.mean(1) > SIGMAS * error, lost.mean(1), 0.0)


def _by_tree(forest: Any, codes: np.ndarray) -> np.ndarray:
    """Predictions of each tree, (trees, N). A forest's vote hides what single trees lose where dimensions are redundant."""
    return np.asarray(forest.classes_[np.stack([tree.predict(codes) for tree in forest.estimators_]).astype(np.int64)])
