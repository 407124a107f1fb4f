"""Statistics of codes without factors, agreement between models of several seeds, and tables of many runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from molyneux.core import ConfigError, DataError, NotApplicableError, nearest
from molyneux.measure.disentanglement.explicitness import standardised
from molyneux.measure.disentanglement.information import BINS, PER_VALUE, adjusted_information, equal_mass
from molyneux.measure.disentanglement.table import check_codes, sort_columns, tabulate

Relation = Literal["lasso", "spearman", "information"]
_HUGE = 1e100
_ROUNDINGS = 16
"""Eigenvalues below so many times the error of their computation are 0."""


def hoyer(codes: np.ndarray, *, scaled: bool = True, centred: bool = False) -> float:
    """Mean sparsity of codes: (sqrt(D) - |z|_1 / |z|_2) / (sqrt(D) - 1), 1 for one dimension in use, 0 for all alike.

    Hurley and Rickard, "Comparing measures of sparsity" (IEEE Transactions on Information Theory 55, 2009). The text study
    divides by each dimension's standard deviation and does not centre, so that a collapsed dimension with a mean other than 0
    dominates; `centred` takes the means out. Constant dimensions are left out where codes are scaled, codes of length 0 always.

    Args:
        codes: (N, D) posterior means, D at least 2.
        scaled: divide by standard deviations.
        centred: subtract means first.

    Raises:
        DataError: another shape, numbers that are not finite, or fewer than two dimensions in use.
    """
    codes = _small(check_codes(codes), axis=0 if scaled else None)
    values = codes - codes.mean(0) if centred else codes
    if scaled:
        varies = np.ptp(codes, axis=0) > 0
        values = values[:, varies] / codes.std(0)[varies]
    root = np.sqrt(values.shape[1])
    if root <= 1:
        raise DataError(f"sparsity needs at least two dimensions that vary, got {values.shape[1]} of {codes.shape[1]}")
    length = np.sqrt((values**2).sum(1))
    used = length > 0
    return float(np.mean((root - np.abs(values[used]).sum(1) / length[used]) / (root - 1))) if used.any() else 0.0


def gaussian_total_correlation(codes: np.ndarray) -> float:
    """Total correlation in nats of a normal distribution with the covariance of the codes; infinite if one depends on others.

    (sum of log variances - log determinant) / 2; constant dimensions are left out. Locatello et al., "Challenging common
    assumptions" (ICML 2019), section 5.3.

    Args:
        codes: (N, D).

    Raises:
        DataError: another shape, or numbers that are not finite.
    """
    codes = _small(check_codes(codes), axis=0)
    varies = np.ptp(codes, axis=0) > 0
    if np.count_nonzero(varies) < 2:
        return 0.0
    spread = np.linalg.eigvalsh(np.corrcoef(codes[:, varies], rowvar=False))
    rounding = spread.max() * len(spread) * np.finfo(np.float64).eps * _ROUNDINGS
    return float(-0.5 * np.log(spread).sum()) if spread.min() > rounding else float("inf")


def unsupervised_ranking(
    codes: Sequence[np.ndarray], *, active: Sequence[np.ndarray] | None = None, relation: Relation = "lasso"
) -> np.ndarray:
    """Unsupervised disentanglement ranking: how well a model's dimensions match those of the same model with other seeds, (M,).

    Duan et al., "Unsupervised model selection for variational disentangled representation learning" (ICLR 2020), section 3: for
    each pair of models the relation R of active dimensions, max^2 / sum of each row and column, averaged over all of them; of
    each model the median over the others. `lasso` is sklearn's with alpha = 0.1 on standardised codes, as in disentanglement_lib.
    Both of the paper's relations ask for the same order of values: dimensions that stand for the same factor but put its values,
    such as names, in another order, are strangers to them. `information` is ours: the share of the entropy of a dimension's 20
    bins of equal mass that another one determines beyond chance (`adjusted_information`), whatever the order.

    Args:
        codes: of each model the codes (N, D) of the same samples; D may differ.
        active: of each model (D,) bool, the dimensions with a divergence above 0.01 nats; those that vary by default.
        relation: how R is found.

    Raises:
        DataError: fewer than two models, codes of different samples, or masks of other sizes. ConfigError: unknown relation.
        NotApplicableError: fewer than 100 samples for `information`.
    """
    if relation not in get_args(Relation):
        raise ConfigError(f"unknown relation {relation!r}; {nearest(str(relation), get_args(Relation))}")
    parts = [check_codes(part) for part in codes]
    if len(parts) < 2 or len({len(part) for part in parts}) > 1:
        raise DataError(f"expected codes of the same samples by at least two models, got {[part.shape for part in parts]}")
    masks = [np.ptp(part, axis=0) > 0 for part in parts] if active is None else [np.asarray(mask, bool) for mask in active]
    if [mask.shape for mask in masks] != [part.shape[1:] for part in parts]:
        raise DataError(
            f"active: expected a mask for each model with one entry a dimension, got {[mask.shape for mask in masks]} "
            f"for codes {[part.shape for part in parts]}"
        )
    kept = [part[:, mask] for part, mask in zip(parts, masks, strict=True)]
    if relation == "spearman":
        kept = [sort_columns(np.ascontiguousarray(part)).ranks for part in kept]
    if relation != "information":
        kept = [standardised(part, part) for part in kept]
    others = [equal_mass(part) for part in kept] if relation == "information" else kept
    pairs = np.array([[_agreement(_relation(one, other, relation)) for other in others] for one in kept])
    return np.array([np.median(np.delete(pairs[:, model], model)) for model in range(len(parts))])


def _relation(one: np.ndarray, other: np.ndarray, relation: str) -> np.ndarray:
    """Strength between each dimension of one model and each of another, (D1, D2); the other's are bins for `information`."""
    if not one.shape[1] or not other.shape[1]:
        return np.zeros((one.shape[1], other.shape[1]))
    if relation == "spearman":
        return np.asarray(np.abs(one.T @ other / len(one)))
    if relation == "information":
        if len(one) < PER_VALUE * BINS:
            raise NotApplicableError(f"information needs at least {PER_VALUE * BINS} samples, got {len(one)}")
        found, varies = np.zeros((one.shape[1], other.shape[1])), [np.ptp(part, axis=0) > 0 for part in (one, other)]
        if all(part.any() for part in varies):
            found[np.ix_(*varies)] = adjusted_information(tabulate(one[:, varies[0]], other[:, varies[1]], dead=0))
        return found
    from sklearn.linear_model import Lasso

    coefficients = Lasso(alpha=0.1).fit(one, other).coef_
    return np.asarray(np.abs(np.reshape(coefficients, (other.shape[1], one.shape[1]))).T)


def _agreement(strength: np.ndarray) -> float:
    """Mean over rows and columns of max^2 / sum; 0 where nothing is related."""
    if not strength.size:
        return 0.0
    sums = [strength.sum(axis) for axis in (0, 1)]
    parts = [strength.max(axis) ** 2 / np.where(total > 0, total, 1.0) for axis, total in enumerate(sums)]
    return float(np.concatenate(parts).mean())


def _small(codes: np.ndarray, *, axis: int | None) -> np.ndarray:
    """Codes that are huge somewhere as shares of the largest, of each dimension (`axis` 0) or all: their squares are finite."""
    largest = np.abs(codes).max(axis)
    return codes / np.where(largest > 0, largest, 1.0) if (largest > _HUGE).any() else codes


Kind = Literal["pearson", "spearman"]


def correlation_matrix(table: np.ndarray, *, kind: Kind = "pearson") -> np.ndarray:
    """Correlation of every two measures over the runs that have both, (K, K); NaN where one does not vary.

    Args:
        table: (runs, K) values, NaN where a run has none.
        kind: `pearson` as in the text study's Figure 2; `spearman` that of ranks.

    Raises:
        DataError: fewer than three runs. ConfigError: unknown kind.
    """
    if kind not in get_args(Kind):
        raise ConfigError(f"unknown kind {kind!r}; {nearest(str(kind), get_args(Kind))}")
    values = _checked(table, 3)
    count = values.shape[1]
    found = np.full((count, count), np.nan)
    for first in range(count):
        for second in range(first, count):
            pair = values[:, [first, second]]
            pair = pair[np.isfinite(pair).all(1)]
            if len(pair) < 3 or (np.ptp(pair, axis=0) == 0).any():
                continue
            pair = sort_columns(pair).ranks if kind == "spearman" else pair
            found[first, second] = found[second, first] = np.corrcoef(pair, rowvar=False)[0, 1]
    return found


def top_counts(table: np.ndarray, *, higher_is_better: Sequence[bool] | None = None, top: int = 3) -> np.ndarray:
    """In how many measures each model is among the best three, (models,); the sum is top x K.

    Models that tie for the last places share them. A model without a value is never among the best, and the sum is
    less where fewer than `top` have one.

    Args:
        table: (models, K) values, NaN where there is none.
        higher_is_better: of each measure; True by default.
        top: how many are counted as best.

    Raises:
        DataError: fewer models than places, or not one direction a measure. ConfigError: no place is counted.
    """
    if top < 1:
        raise ConfigError(f"top: expected at least 1 place, got {top}")
    values = _checked(table, top)
    better = np.ones(values.shape[1], bool) if higher_is_better is None else np.asarray(higher_is_better)
    if better.shape != values.shape[1:]:
        raise DataError(f"higher_is_better: expected one answer for each of {values.shape[1]} measures, got {better.tolist()}")
    values = np.where(np.isfinite(values), np.where(better, values, -values), -np.inf)
    above = (values[None] > values[:, None]).sum(1)
    level = (values[None] == values[:, None]).sum(1)
    share = np.clip((top - above) / level, 0.0, 1.0)
    return np.asarray(np.where(np.isfinite(values), share, 0.0).sum(1))


def _checked(table: np.ndarray, least: int) -> np.ndarray:
    try:
        values = np.asarray(table, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"expected a table (runs, measures) of numbers, got what makes none: {error}") from error
    if values.ndim != 2 or len(values) < least:
        raise DataError(f"expected a table (runs, measures) of at least {least} runs, got shape {values.shape}")
    return values
