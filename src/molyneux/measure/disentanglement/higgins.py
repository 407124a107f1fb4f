"""The metric of Higgins et al.: predict which factor two samples share from how much each dimension differs.

Higgins et al., "beta-VAE" (ICLR 2017), appendix A.4. Pairs of samples share the value of one factor; the mean absolute difference
of their codes over a batch of pairs is a feature; a linear classifier predicts which factor it was. The score is its accuracy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from molyneux.core import NotApplicableError
from molyneux.measure.disentanglement.explicitness import discriminants, standardised
from molyneux.measure.disentanglement.groups import Groups, group, halves, ratios, relative
from molyneux.measure.disentanglement.metric import Outcome, nothing_live
from molyneux.measure.disentanglement.table import Table

LEAST = 4
"""Samples of a value in each half that the recommended variant needs to fix it."""

_USUAL = 10_000
_PERMUTATIONS = 3


def published(table: Table, rng: np.random.Generator, *, batch: int = 64, samples: int = 1000) -> Mapping[str, Outcome]:
    """As the text study runs it: 1,000 batches of 64 pairs for each factor, ten softmax nets, mean accuracy on the last 20 %.

    Raises:
        NotApplicableError: a value has fewer than 64 samples.
    """
    table.require("higgins", factors=2)
    features, labels = [], []
    for factor, name in enumerate(table.names):
        groups = group(table, factor)
        require_batch("higgins as published", groups, name, batch)
        values = groups.values(samples, rng)
        first, second = (groups.batches(values, batch, rng) for _ in range(2))
        features.append(_differences(table.codes, first, second))
        labels.append(np.full(samples, factor))
    order = rng.permutation(samples * len(table.names))
    x, y = np.concatenate(features)[order], np.concatenate(labels)[order]
    split = int(0.8 * len(x))
    weights = softmax_nets(x[:split], y[:split], rng)
    tested = np.concatenate([x[split:], np.ones((len(x) - split, 1))], 1)
    right = (tested @ weights).argmax(-1) == y[split:]
    return {"higgins": Outcome(float(right.mean()))}


def dlib(
    table: Table, rng: np.random.Generator, *, batch: int = 64, train: int = 10_000, test: int = 5000
) -> Mapping[str, Outcome]:
    """disentanglement_lib's settings: 10,000 and 5,000 batches, pairs of a batch share different values, logistic regression.

    Raises:
        NotApplicableError: absent factors.
    """
    from sklearn.linear_model import LogisticRegression

    table.require_complete("higgins dlib")
    table.require("higgins", factors=2)
    labels = rng.integers(0, len(table.names), train + test)
    features = np.empty((train + test, table.dimensions))
    for factor in range(len(table.names)):
        groups = group(table, factor)
        points = np.flatnonzero(labels == factor)
        first = rng.integers(0, len(table), (len(points), batch))
        second = groups.partners(table.factors[first, factor], rng)
        features[points] = np.abs(table.codes[first] - table.codes[second]).mean(1)
    model = LogisticRegression(max_iter=1000).fit(features[:train], labels[:train])
    return {"higgins": Outcome(float(model.score(features[train:], labels[train:])))}


def recommended(table: Table, rng: np.random.Generator, *, batch: int = 64, samples: int = 500) -> Mapping[str, Outcome]:
    """Ranks of live dimensions, differences relative to those among carriers, fitted on one half, scored on the other.

    Each difference is divided by the mean difference of any two samples that carry the factor: that a sentence has an adverb says
    nothing about which. (accuracy - chance) / (1 - chance), where chance is what the same codes get dealt to other samples, at
    least 1/F: rare values make small batches, whose noise a classifier can tell from that of large ones. Batches are of up to 64
    pairs; a closed-form linear classifier.

    Raises:
        NotApplicableError: a factor of which no value has 4 samples in each half.
    """
    table.require("higgins", factors=2)
    table = table.live
    if not table.dimensions:
        return nothing_live(("higgins",), len(table.names))
    half, ranks = halves(len(table), rng), table.sorted.ranks
    everyone = np.arange(len(table))
    deals = [everyone, *(rng.permutation(everyone) for _ in range(_PERMUTATIONS))]
    fitted, tested = (_relative(table, ranks, side, (samples, batch), deals, rng) for side in (half, ~half))
    found, *dealt = (_accuracies(fit, test, len(table.names)) for fit, test in zip(fitted, tested, strict=True))
    chance = max(1 / len(table.names), float(np.mean(dealt)))
    by_factor = np.maximum((found - chance) / (1 - chance), -1.0) if chance < 1 else np.zeros(len(found))
    return {"higgins": Outcome(float(by_factor.mean()), by_factor)}


def _accuracies(fitted: np.ndarray, tested: np.ndarray, factors: int) -> np.ndarray:
    """For each factor the share of its batches that is classified correctly, (F,)."""
    labels = np.repeat(np.arange(factors), len(fitted) // factors)
    weights, offsets = discriminants(standardised(fitted, fitted), labels, classes=factors)
    right = (standardised(tested, fitted) @ weights + offsets).argmax(1) == labels
    return np.asarray(right.reshape(factors, -1).mean(1))


def require_batch(metric: str, groups: Groups, name: str, batch: int) -> None:
    """Raise NotApplicableError if a value has fewer samples than the published batch."""
    if groups.counts.min() < batch:
        raise NotApplicableError(
            f"{metric} draws {batch} samples of one value, got a value of {name} with {groups.counts.min()}: "
            f"give more samples or use the recommended variant"
        )


def _relative(
    table: Table,
    ranks: np.ndarray,
    side: np.ndarray,
    size: tuple[int, int],
    deals: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> np.ndarray:
    """Features of every factor on one side: differences of samples that share its value over any carriers'.

    Args:
        table: codes and factors.
        ranks: (N, D) of the codes.
        side: (N,) bool, the samples that are drawn from.
        size: how many batches of each factor, and of how many pairs.
        deals: which sample's code each sample gets, (N,) each.
        rng: draws batches, the same for all deals.

    Returns:
        (deals, F x batches, D).
    """
    samples, batch = size
    features, everyone = [], np.flatnonzero(side)
    for factor, name in enumerate(table.names):
        groups = group(table, factor, side)
        if groups.counts.max() < LEAST:
            raise NotApplicableError(
                f"higgins needs a value of {name} with {LEAST} samples in each of two random halves "
                f"({4 * LEAST} in all will do): give more samples or leave it out"
            )
        values = groups.values(samples, rng, least=LEAST)
        carriers, rows = groups.sample(_USUAL, rng), groups.batches(values, 2 * batch, rng)
        other, any_rows = rng.choice(everyone, _USUAL), rng.choice(everyone, rows.shape)
        features.append([_ratios(ranks, deal, (rows, carriers), (any_rows, other)) for deal in deals])
    return np.concatenate(features, 1)


def _ratios(
    ranks: np.ndarray, deal: np.ndarray, drawn: tuple[np.ndarray, np.ndarray], anywhere: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Differences in batches over those among carriers; where these do not vary, of batches of any samples over any samples'."""

    def found(rows: np.ndarray, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dealt = np.where(rows >= 0, deal[rows], -1)
        return _differences(ranks, dealt[:, ::2], dealt[:, 1::2]), mean_difference(ranks[deal[sample]])

    return ratios(*found(*drawn), lambda: relative(*found(*anywhere)))


def mean_difference(values: np.ndarray) -> np.ndarray:
    """Gini's mean absolute difference of two different rows of (n, D), by sorting; (D,)."""
    count = len(values)
    weights = 2 * np.arange(count) - count + 1
    return np.asarray(2 * weights @ np.sort(values, axis=0) / (count * (count - 1)))


def _differences(codes: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Mean absolute difference of the codes of pairs of rows (M, batch), (M, D); pairs whose second row is -1 are left out."""
    paired = second >= 0
    gaps = np.abs(codes[first] - codes[second])
    return np.asarray(np.einsum("mbd,mb->md", gaps, paired) / paired.sum(1)[:, None])


def softmax_nets(features: np.ndarray, labels: np.ndarray, rng: np.random.Generator, *, nets: int = 10) -> np.ndarray:
    """Weights (nets, D + 1, K), the last row offsets, of linear softmax nets as the text study trains them.

    Glorot-uniform start, Adam with learning rate 0.01, 10 epochs of shuffled batches of 64; the last 20 % of the samples are held
    out and unused (Keras' `validation_split`).

    Args:
        features: (N, D).
        labels: (N,) integers from 0.
        rng: draws starts and shuffles.
        nets: how many are trained at the same time.
    """
    classes, kept = int(labels.max()) + 1, int(0.8 * len(features))
    inputs = np.concatenate([features[:kept], np.ones((kept, 1))], 1)
    targets = np.eye(classes)[labels[:kept]]
    limit = np.sqrt(6 / (features.shape[1] + classes))
    weights = rng.uniform(-limit, limit, (nets, inputs.shape[1], classes))
    weights[:, -1] = 0.0
    first, second, step = np.zeros_like(weights), np.zeros_like(weights), 0
    for _ in range(10):
        orders = np.argsort(rng.random((nets, kept)), axis=1)
        for start in range(0, kept, 64):
            step += 1
            rows = orders[:, start : start + 64]
            given = inputs[rows]
            gradient = given.transpose(0, 2, 1) @ (_softmax(given @ weights) - targets[rows]) / rows.shape[1]
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            rate = 0.01 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            weights = weights - rate * first / (np.sqrt(second) + 1e-7)
    return weights


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))
