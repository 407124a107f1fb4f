"""Clustering: whether groups of codes that k-means finds are the values of factors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np

from molyneux.core import ConfigError, Encodes, NotApplicableError, Score, about_names
from molyneux.core.intervals import Interval, joined, wilson_interval
from molyneux.measure.code_controls import control_codes
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Draw, check_draw
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.prediction.probe import Label, find_labels
from molyneux.measure.scores import Recorder, jackknife_interval

_GROUPS = 20
"""Groups of samples that intervals leave out, one at a time."""


@final
class Clustering(Measure):
    """Clusters of codes, found by k-means without labels, compared with the values of each factor and class target.

    There are as many clusters as values that occur. Codes are taken as they are: standardised ones would give dimensions that
    hold nothing the weight of others. With `about` naming the source (what is observed), the code and the factor or target:

    - `clustering.nmi`: normalised mutual information, by the arithmetic mean of the entropies.
    - `clustering.ari`: adjusted Rand index (Hubert and Arabie 1985).
    - `clustering.purity` %: samples whose label is the most common one of their cluster.

    Controls, on the samples as they are: clusters of the codes of the `untrained net`, and of as many principal components of the
    `raw input`, each from one start. Chance is the mean over permutations of the labels: purity and mutual information are above
    0 by chance. Samples without a label are left out, before codes are clustered. Intervals: the jackknife over 20 groups of
    samples, for the clusters that were found.

    Args:
        draw: posterior means or samples.
        samples: at most so many test samples.
        starts: of k-means; the best of them counts.
        permutations: of the labels, for chance.

    Raises:
        ConfigError: unknown draw, fewer than 20 samples, or no starts or permutations.
    """

    name: ClassVar[str] = "clustering"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(self, *, draw: Draw = "mean", samples: int = 10_000, starts: int = 4, permutations: int = 20) -> None:
        problems = [f"samples: expected at least 20, got {samples}"] if samples < 20 else []
        given = {"starts": starts, "permutations": permutations}
        problems += [f"{what}: expected at least 1, got {value}" for what, value in given.items() if value < 1]
        if problems:
            raise ConfigError(problems)
        self.draw = check_draw(draw)
        self.samples, self.starts, self.permutations = samples, starts, permutations

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every code, given each modality alone and all together."""
        labels = find_labels(evaluation.spec)
        if not labels:
            raise NotApplicableError("clustering needs known factors or class targets: choose another source")
        scores: list[Score] = []
        origin = {**evaluation.provenance(), "draw": self.draw}
        for observed, table in evaluation.tables(self.samples).items():
            others = control_codes(evaluation, observed, table, self.draw)
            for code, values in table.codes(self.draw).items():
                found: dict[tuple[int, bytes], np.ndarray] = {}
                beside: dict[tuple[int, bytes], dict[str, np.ndarray]] = {}
                for label in labels:
                    truth = label.of(table, evaluation.spec)
                    known, rng = truth >= 0, evaluation.rng(self.name, *observed, code, label.name)
                    recorder = Recorder(
                        self.name, rng, {"source": about_names(observed), "code": code, label.kind: label.name}, origin
                    )
                    count = len(np.unique(truth[known]))
                    key = (count, known.tobytes())  # factors with as many values share their clusters
                    if count > 1 and key not in found:
                        seed = int(evaluation.rng(self.name, *observed, code, count).integers(2**31))
                        found[key] = k_means(values[known], count, seed=seed, starts=self.starts)
                        controls = others.get(code, {}).items()
                        beside[key] = {name: k_means(part[known], count, seed=seed, starts=1) for name, part in controls}
                    scores += self._scores(truth[known], found.get(key), beside.get(key, {}), label, recorder)
        return Measurement(tuple(scores))

    def _scores(
        self,
        truth: np.ndarray,
        clusters: np.ndarray | None,
        others: Mapping[str, np.ndarray],
        label: Label,
        recorder: Recorder,
    ) -> list[Score]:
        if clusters is None:
            note = f"the samples show fewer than two values of the {label.kind}"
            return [recorder.score(name, None, note=note) for name in _SCORES]
        whole, groups = contingency(truth, clusters), np.arange(len(truth)) % _GROUPS
        parts = [contingency(truth[groups == group], clusters[groups == group], whole.shape) for group in range(_GROUPS)]
        tables = [contingency(recorder.rng.permutation(truth), clusters) for _ in range(self.permutations)]
        found = []
        for name, score in _SCORES.items():
            scale, fields = (100.0, {"unit": "%"}) if name == "purity" else (1.0, {})
            bounds = (-0.5 if name == "ari" else 0.0, scale)
            value, rest = scale * score(whole), [scale * score(whole - part) for part in parts]
            found.append(
                recorder.score(
                    name,
                    value,
                    interval=joined(
                        jackknife_interval(value, rest, bounds) if len(truth) >= 2 * _GROUPS else None,
                        _of_a_share(value, len(truth)) if name == "purity" else None,
                    ),
                    n=len(truth),
                    bounds=bounds,
                    chance=float(np.mean([scale * score(table) for table in tables])),
                    controls={name: scale * score(contingency(truth, other)) for name, other in others.items()},
                    **fields,
                )
            )
        return found


def _of_a_share(percent: float, n: int) -> Interval:
    """The interval of purity for clusters that were found: a share of samples, which may be 100 %."""
    low, high = wilson_interval(min(1.0, percent / 100), n)
    return 100 * low, 100 * high


def k_means(codes: np.ndarray, clusters: int, *, seed: int, starts: int = 4) -> np.ndarray:
    """The cluster of each code (N, D), (N,); on one thread, since sums of several are added in any order."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different codes than clusters
        return np.asarray(KMeans(clusters, n_init=starts, random_state=seed).fit(codes).labels_)


def contingency(labels: np.ndarray, clusters: np.ndarray, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Counts of (label, cluster) pairs, whole numbers from 0, (L, C); of a given shape, or as large as it has to be.

    >>> contingency(np.array([0, 0, 1]), np.array([1, 1, 0])).tolist()
    [[0, 2], [1, 0]]
    """
    rows, width = (int(labels.max()) + 1, int(clusters.max()) + 1) if shape is None else shape
    return np.bincount(labels * width + clusters, minlength=rows * width).reshape(rows, width)


def purity(table: np.ndarray) -> float:
    """The share of samples whose label is the most common one of their cluster, from counts (L, C).

    >>> purity(np.array([[3, 1], [1, 3]]))
    0.75
    """
    return float(table.max(0).sum() / table.sum())


def normalised_mutual_information(table: np.ndarray) -> float:
    """2 I(L; C) / (H(L) + H(C)), from counts (L, C); 1 where both have one value.

    >>> normalised_mutual_information(np.array([[2, 0], [0, 2]]))
    1.0
    """
    shares = table / table.sum()
    one, other, both = (_entropy(part) for part in (shares.sum(1), shares.sum(0), shares))
    return float(np.clip(2 * (one + other - both) / (one + other), 0, 1)) if one + other > 0 else 1.0


def adjusted_rand_index(table: np.ndarray) -> float:
    """Agreement on pairs of samples, 0 on average by chance, from counts (L, C) (Hubert and Arabie 1985, equation 5).

    >>> round(adjusted_rand_index(np.array([[1, 1], [1, 1]])), 6)
    -0.5
    """
    pairs, total = (_pairs(table), _pairs(table.sum()))
    one, other = _pairs(table.sum(1)), _pairs(table.sum(0))
    expected, most = one * other / total if total else 0.0, (one + other) / 2
    return float((pairs - expected) / (most - expected)) if most > expected else 1.0


def _pairs(counts: np.ndarray) -> float:
    return float((np.asarray(counts, np.float64) * (counts - 1.0) / 2).sum())


def _entropy(shares: np.ndarray) -> float:
    known = shares[shares > 0]
    return -float((known * np.log(known)).sum())


_SCORES = {"nmi": normalised_mutual_information, "ari": adjusted_rand_index, "purity": purity}
