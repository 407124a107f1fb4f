"""Metrics of batches of samples that share the value of one factor: which factor it was is predicted from the codes.

Higgins et al., "beta-VAE" (ICLR 2017), appendix A.4: the mean absolute difference of the codes of pairs is a feature; the score
is the accuracy of a linear classifier. Kim and Mnih, "Disentangling by factorising" (ICML 2018), section 4: the dimension whose
variance is smallest, relative to its usual one, votes for the factor; the score is the accuracy of the majority vote.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from molyneux.core import NotApplicableError
from molyneux.measure.disentanglement.explicitness import discriminants, standardised
from molyneux.measure.disentanglement.groups import Groups, group, halves, ratios, relative
from molyneux.measure.disentanglement.metric import MetricResult, nothing_live
from molyneux.measure.disentanglement.sap import SIGMAS
from molyneux.measure.disentanglement.table import CheckedCodes

LEAST = 4
"""Samples of a value in each half that the recommended variants need to fix it."""

_USUAL = 10_000
_PERMUTATIONS, _SHARE = 3, 4
_PRUNED = 0.05
"""Standard deviation below which disentanglement_lib's configuration of Kim and Mnih drops a dimension."""


def higgins_published(
    table: CheckedCodes, rng: np.random.Generator, *, batch: int = 64, samples: int = 1000
) -> Mapping[str, MetricResult]:
    """As the text study runs it: 1,000 batches of 64 pairs for each factor, ten softmax nets, mean accuracy on the last 20 %.

    Raises:
        NotApplicableError: a value has fewer than 64 samples.
    """
    table.require("higgins", factors=2)
    features, labels = [], []
    for factor in range(len(table.names)):
        groups = _large(table, factor, batch, "higgins as published")
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
    return {"higgins": MetricResult(float(right.mean()))}


def higgins_dlib(
    table: CheckedCodes, rng: np.random.Generator, *, batch: int = 64, train: int = 10_000, test: int = 5000
) -> Mapping[str, MetricResult]:
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
    return {"higgins": MetricResult(float(model.score(features[train:], labels[train:])))}


def higgins_recommended(
    table: CheckedCodes, rng: np.random.Generator, *, batch: int = 64, samples: int = 500
) -> Mapping[str, MetricResult]:
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
    return {"higgins": MetricResult(float(by_factor.mean()), by_factor)}


def _accuracies(fitted: np.ndarray, tested: np.ndarray, factors: int) -> np.ndarray:
    """For each factor the share of its batches that is classified correctly, (F,)."""
    labels = np.repeat(np.arange(factors), len(fitted) // factors)
    weights, offsets = discriminants(standardised(fitted, fitted), labels, classes=factors)
    right = (standardised(tested, fitted) @ weights + offsets).argmax(1) == labels
    return np.asarray(right.reshape(factors, -1).mean(1))


def _large(table: CheckedCodes, factor: int, batch: int, metric: str) -> Groups:
    """The carriers of a factor by value; raises NotApplicableError if a value has fewer samples than the published batch."""
    groups = group(table, factor)
    if groups.counts.min() < batch:
        raise NotApplicableError(
            f"{metric} draws {batch} samples of one value, got a value of {groups.name} with {groups.counts.min()}: "
            f"give more samples or use the recommended variant"
        )
    return groups


def _fixable(table: CheckedCodes, factor: int, side: np.ndarray, metric: str) -> Groups:
    """The carriers of a factor on one side; raises NotApplicableError if no value has `LEAST` samples there."""
    groups = group(table, factor, side)
    if groups.counts.max() < LEAST:
        raise NotApplicableError(
            f"{metric} needs a value of {groups.name} with {LEAST} samples in each of two random halves "
            f"({4 * LEAST} in all will do): give more samples or leave it out"
        )
    return groups


def _relative(
    table: CheckedCodes,
    ranks: np.ndarray,
    side: np.ndarray,
    size: tuple[int, int],
    deals: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> np.ndarray:
    """Features (deals, F x batches, D) of one side: differences of samples that share a value over any carriers'.

    `size` is how many batches of each factor, and of how many pairs; each of the `deals` (N,) says which sample's code each
    sample gets; the batches are the same.
    """
    samples, batch = size
    features, everyone = [], np.flatnonzero(side)
    for factor in range(len(table.names)):
        groups = _fixable(table, factor, side, "higgins")
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


def kim_mnih_published(
    table: CheckedCodes, rng: np.random.Generator, *, batch: int = 64, samples: int = 1000, smallest: bool = True
) -> Mapping[str, MetricResult]:
    """As the text study runs it: 1,000 batches of 64 for each factor, ten reshuffles of the same votes, 80 % to fit.

    A constant dimension has a variance of 0/0 = NaN, which wins every vote, as there.

    Raises:
        NotApplicableError: a value has fewer than 64 samples.
    """
    table.require("kim_mnih", factors=2)
    votes, labels = [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = table.codes / table.codes.std(0)
    for factor in range(len(table.names)):
        groups = _large(table, factor, batch, "kim_mnih as published")
        rows = groups.batches(groups.values(samples, rng), batch, rng)
        with np.errstate(invalid="ignore"):
            variances = scaled[rows].var(1)
        votes.append(variances.argmin(1) if smallest else variances.argmax(1))
        labels.append(np.full(samples, factor))
    x, y = np.concatenate(votes), np.concatenate(labels)
    split, accuracies = int(0.8 * len(x)), []
    for _ in range(10):
        order = rng.permutation(len(x))
        fit, test = order[:split], order[split:]
        chosen = count_votes(x[fit], y[fit], table).argmax(1)
        accuracies.append((chosen[x[test]] == y[test]).mean())
    return {"kim_mnih": MetricResult(float(np.mean(accuracies)))}


kim_mnih_paper = partial(kim_mnih_published, smallest=False)
"""Algorithm 2 as printed: the dimension of the largest variance votes. A misprint; the code takes the smallest."""


def kim_mnih_dlib(
    table: CheckedCodes, rng: np.random.Generator, *, batch: int = 64, train: int = 10_000, test: int = 5000
) -> Mapping[str, MetricResult]:
    """disentanglement_lib's settings: 10,000 and 5,000 batches, dimensions with a deviation below 0.05 dropped.

    Raises:
        NotApplicableError: absent factors, or values with fewer than 64 samples.
    """
    table.require_complete("kim_mnih dlib")
    table.require("kim_mnih", factors=2)
    usual = table.codes.var(0, ddof=1)
    alive = np.sqrt(usual) >= _PRUNED
    if not alive.any():
        return {"kim_mnih": MetricResult(0.0, note=f"no dimension has a standard deviation of {_PRUNED}")}
    codes, labels = table.codes[:, alive], rng.integers(0, len(table.names), train + test)
    votes = np.empty(train + test, np.int64)
    for factor in range(len(table.names)):
        groups, points = _large(table, factor, batch, "kim_mnih dlib"), np.flatnonzero(labels == factor)
        rows = groups.batches(groups.values(len(points), rng), batch, rng)
        votes[points] = (codes[rows].var(1, ddof=1) / usual[alive]).argmin(1)
    chosen = count_votes(votes[:train], labels[:train], table).argmax(1)
    return {"kim_mnih": MetricResult(float((chosen[votes[train:]] == labels[train:]).mean()))}


def kim_mnih_recommended(
    table: CheckedCodes, rng: np.random.Generator, *, batch: int = 64, samples: int = 1000
) -> Mapping[str, MetricResult]:
    """Ranks of live dimensions, variances relative to those among carriers, voted on one half, scored on the other.

    A factor's variance is compared with that of the samples that carry it: that a sentence has an adverb says nothing about
    which. (accuracy - chance) / (1 - chance), where chance is 1/F or, where it is more than the draws explain, what the same
    codes get dealt to other samples: a dimension that is nearly always the same number tells small batches, which rare values
    make, from large ones. Batches are of up to 64 samples.

    Raises:
        NotApplicableError: a factor of which no value has 4 samples in each half.
    """
    table.require("kim_mnih", factors=2)
    table = table.live
    if not table.dimensions:
        return nothing_live(("kim_mnih",), len(table.names))
    half, ranks, count = halves(len(table), rng), table.sorted.ranks, len(table.names)
    right = _right(table, ranks, half, (samples, batch), rng)
    deals, fewer = (rng.permutation(len(table)) for _ in range(_PERMUTATIONS)), -(-samples // _SHARE)
    dealt = float(np.mean([_right(table, ranks[deal], half, (fewer, batch), rng) for deal in deals]))
    chance = 1 / count
    if dealt - chance > SIGMAS * math.sqrt(chance * (1 - chance) / (_PERMUTATIONS * count * fewer)):
        chance = dealt
    by_factor = np.maximum((right - chance) / (1 - chance), -1.0) if chance < 1 else np.zeros(count)
    return {"kim_mnih": MetricResult(float(by_factor.mean()), by_factor)}


def _right(
    table: CheckedCodes, ranks: np.ndarray, half: np.ndarray, size: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """For each factor the share of its batches whose vote, learned on one half, is right on the other, (F,)."""
    count, samples = len(table.names), size[0]
    fitted, tested = (
        np.concatenate([_votes(table, ranks, factor, side, size, rng) for factor in range(count)]) for side in (half, ~half)
    )
    labels = np.repeat(np.arange(count), samples)
    chosen = count_votes(fitted, labels, table).argmax(1)
    return np.asarray((chosen[tested] == labels).reshape(count, samples).mean(1))


def count_votes(votes: np.ndarray, labels: np.ndarray, table: CheckedCodes) -> np.ndarray:
    """How often each dimension voted while each factor was fixed, (D, F)."""
    factors = len(table.names)
    return np.bincount(votes * factors + labels, minlength=table.dimensions * factors).reshape(-1, factors)


def _votes(
    table: CheckedCodes, ranks: np.ndarray, factor: int, side: np.ndarray, size: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """The dimension that varies least in each batch, relative to all carriers of the factor on that side, (samples,)."""
    groups = _fixable(table, factor, side, "kim_mnih")
    samples, batch = size
    rows = groups.batches(groups.values(samples, rng, least=LEAST), batch, rng)
    usual = ranks[groups.sample(_USUAL, rng)].var(0, ddof=1)

    def anywhere() -> np.ndarray:
        everyone = np.flatnonzero(side)
        return relative(ranks[rng.choice(everyone, rows.shape)].var(1, ddof=1), ranks[everyone].var(0, ddof=1))

    return np.asarray(ratios(_variances(ranks, rows), usual, anywhere).argmin(1))


def _variances(ranks: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Variances in batches of rows (M, batch), those of -1 left out; (M, D)."""
    inside = (rows >= 0)[..., None]
    count = inside.sum(1)
    drawn = ranks[rows]
    means = (drawn * inside).sum(1) / count
    return np.asarray(((drawn - means[:, None]) ** 2 * inside).sum(1) / (count - 1))
