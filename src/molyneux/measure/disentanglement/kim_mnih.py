"""The metric of Kim and Mnih: predict which factor is fixed from the dimension that varies least.

Kim and Mnih, "Disentangling by factorising" (ICML 2018), section 4. A batch of samples shares the value of one factor; the
dimension whose variance is smallest, relative to its usual one, votes for that factor. The score is the accuracy of
the majority vote.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from molyneux.core import NotApplicableError
from molyneux.measure.disentanglement.groups import group, halves, ratios, relative
from molyneux.measure.disentanglement.higgins import require_batch
from molyneux.measure.disentanglement.metric import Outcome, nothing_live
from molyneux.measure.disentanglement.sap import SIGMAS
from molyneux.measure.disentanglement.table import Table

LEAST = 4
"""Samples of a value in each half that the recommended variant needs to fix it."""

_USUAL = 10_000
_PERMUTATIONS, _SHARE = 3, 4
_PRUNED = 0.05
"""Standard deviation below which disentanglement_lib's configuration drops a dimension."""


def published(
    table: Table, rng: np.random.Generator, *, batch: int = 64, samples: int = 1000, smallest: bool = True
) -> Mapping[str, Outcome]:
    """As the text study runs it: 1,000 batches of 64 for each factor, ten reshuffles of the same votes, 80 % to fit.

    A constant dimension has a variance of 0/0 = NaN, which wins every vote, as there.

    Raises:
        NotApplicableError: a value has fewer than 64 samples.
    """
    table.require("kim_mnih", factors=2)
    votes, labels = [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = table.codes / table.codes.std(0)
    for factor, name in enumerate(table.names):
        groups = group(table, factor)
        require_batch("kim_mnih as published", groups, name, batch)
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
    return {"kim_mnih": Outcome(float(np.mean(accuracies)))}


paper = partial(published, smallest=False)
"""Algorithm 2 as printed: the dimension of the largest variance votes. A misprint; the code takes the smallest."""


def dlib(
    table: Table, rng: np.random.Generator, *, batch: int = 64, train: int = 10_000, test: int = 5000
) -> Mapping[str, Outcome]:
    """disentanglement_lib's settings: 10,000 and 5,000 batches, dimensions with a deviation below 0.05 dropped.

    Raises:
        NotApplicableError: absent factors, or values with fewer than 64 samples.
    """
    table.require_complete("kim_mnih dlib")
    table.require("kim_mnih", factors=2)
    usual = table.codes.var(0, ddof=1)
    alive = np.sqrt(usual) >= _PRUNED
    if not alive.any():
        return {"kim_mnih": Outcome(0.0, note=f"no dimension has a standard deviation of {_PRUNED}")}
    codes, labels = table.codes[:, alive], rng.integers(0, len(table.names), train + test)
    votes = np.empty(train + test, np.int64)
    for factor, name in enumerate(table.names):
        groups, points = group(table, factor), np.flatnonzero(labels == factor)
        require_batch("kim_mnih dlib", groups, name, batch)
        rows = groups.batches(groups.values(len(points), rng), batch, rng)
        votes[points] = (codes[rows].var(1, ddof=1) / usual[alive]).argmin(1)
    chosen = count_votes(votes[:train], labels[:train], table).argmax(1)
    return {"kim_mnih": Outcome(float((chosen[votes[train:]] == labels[train:]).mean()))}


def recommended(table: Table, rng: np.random.Generator, *, batch: int = 64, samples: int = 1000) -> Mapping[str, Outcome]:
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
    return {"kim_mnih": Outcome(float(by_factor.mean()), by_factor)}


def _right(table: Table, ranks: np.ndarray, half: np.ndarray, size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """For each factor the share of its batches whose vote, learned on one half, is right on the other, (F,)."""
    count, samples = len(table.names), size[0]
    fitted, tested = (
        np.concatenate([_votes(table, ranks, factor, side, size, rng) for factor in range(count)]) for side in (half, ~half)
    )
    labels = np.repeat(np.arange(count), samples)
    chosen = count_votes(fitted, labels, table).argmax(1)
    return np.asarray((chosen[tested] == labels).reshape(count, samples).mean(1))


def count_votes(votes: np.ndarray, labels: np.ndarray, table: Table) -> np.ndarray:
    """How often each dimension voted while each factor was fixed, (D, F)."""
    factors = len(table.names)
    return np.bincount(votes * factors + labels, minlength=table.dimensions * factors).reshape(-1, factors)


def _votes(
    table: Table, ranks: np.ndarray, factor: int, side: np.ndarray, size: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """The dimension that varies least in each batch, relative to all carriers of the factor on that side, (samples,)."""
    groups = group(table, factor, side)
    if groups.counts.max() < LEAST:
        raise NotApplicableError(
            f"kim_mnih needs a value of {table.names[factor]} with {LEAST} samples in each of two random halves "
            f"({4 * LEAST} in all will do): give more samples or leave it out"
        )
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
