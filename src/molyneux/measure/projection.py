"""Projection of shared codes to the plane, coloured by every factor, with a score of what is seen there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, final

import numpy as np

from molyneux.core import ConfigError, Encodes, Scatter, Score, about_names, nearest
from molyneux.measure.codes import CodeTable
from molyneux.measure.coherence import majority
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement, exhibit_name
from molyneux.measure.scores import Recorder, percent

Method = Literal["pca", "tsne"]


@final
class Projection(Measure):
    """Shared codes (posterior means) in the plane, given each modality alone and all together.

    With `neighbours`, what an eye can tell in the scatter has a score: `projection.neighbours` %, with `about` naming source and
    factor: points whose value of a factor is the most common one among their nearest neighbours in the plane, other points only
    (a tie goes to the first value). Controls: `all dimensions`, the same among the neighbours in the codes themselves, which says
    what the projection loses, and `majority`, the most common value of all.

    Args:
        method: `pca`: the two directions in which the codes given all modalities vary most, the same for every source, so
            that the maps can be laid upon each other; `tsne` (van der Maaten and Hinton 2008): each source on its own.
        samples: number of points.
        neighbours: nearest neighbours that tell the value of a factor; 0 for no scores.

    Raises:
        ConfigError: unknown method, fewer than 10 samples, or neighbours below 0 or not below the number of samples.
    """

    name: ClassVar[str] = "projection"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)
    scored = False

    def __init__(self, *, method: Method = "pca", samples: int = 2000, neighbours: int = 0) -> None:
        if method not in ("pca", "tsne"):
            raise ConfigError(f"unknown method {method!r}; {nearest(str(method), ('pca', 'tsne'))}")
        if samples < 10:
            raise ConfigError(f"samples: expected at least 10, got {samples}")
        if not 0 <= neighbours < samples:
            raise ConfigError(f"neighbours: expected at least 0 and fewer than the {samples} samples, got {neighbours}")
        self.method, self.samples, self.neighbours = method, samples, neighbours
        self.scored = neighbours > 0

    def measure(self, evaluation: Evaluation) -> Measurement:
        """One scatter for each source, all together first, and its scores."""
        tables = dict(reversed(evaluation.tables(self.samples).items()))
        origin, directions = principal_directions(next(iter(tables.values())).means["shared"])
        scatters, scores = [], list[Score]()
        for observed, table in tables.items():
            codes = table.means["shared"]
            points = (codes - origin) @ directions if self.method == "pca" else self._tsne(codes, evaluation, observed)
            places = np.argsort(table.rows)  # a scatter has the samples in the order of the source
            scatters.append(self._scatter(evaluation, observed, points[places], table.factors[places]))
            if self.neighbours:
                scores += self._scores(evaluation, observed, points, table)
        return Measurement(tuple(scores), tuple(scatters))

    def _scores(self, evaluation: Evaluation, observed: tuple[str, ...], points: np.ndarray, table: CodeTable) -> Iterator[Score]:
        """How well the neighbours of a point tell its factors."""
        origin = {**evaluation.provenance(), "method": self.method, "neighbours": self.neighbours}
        for column, factor in enumerate(evaluation.spec.factors[: table.factors.shape[1]]):
            about = {"source": about_names(observed), "factor": factor.name}
            recorder = Recorder(self.name, evaluation.rng(self.name), about, origin)
            truth, chance = table.factors[:, column], 100 / len(factor.values)
            known = truth >= 0
            if np.count_nonzero(known) <= self.neighbours:
                note = f"no more than {self.neighbours} samples have the factor"
                yield recorder.score("neighbours", None, unit="%", chance=chance, note=note)
                continue
            near, whole = (
                nearest_values(places[known], truth[known], k=self.neighbours) == truth[known]
                for places in (points, table.means["shared"])
            )
            controls = {"all dimensions": percent(whole), "majority": percent(truth[known] == majority(truth))}
            yield recorder.share("neighbours", near, chance=chance, controls=controls)

    def _scatter(self, evaluation: Evaluation, observed: tuple[str, ...], points: np.ndarray, factors: np.ndarray) -> Scatter:
        notes = {
            "pca": "The two directions in which the codes given all modalities vary most.",
            "tsne": "t-SNE: near points are near in the codes; distances between far groups mean nothing.",
        }
        known = evaluation.spec.factors[: factors.shape[1]]
        return Scatter(
            name=exhibit_name("projection", observed),
            title=f"Shared codes given {' and '.join(observed)}",
            note=notes[self.method],
            points=points.astype(np.float32),
            colours={factor.name: factors[:, column] for column, factor in enumerate(known)},
            values={factor.name: factor.values for factor in known},
        )

    def _tsne(self, codes: np.ndarray, evaluation: Evaluation, observed: tuple[str, ...]) -> np.ndarray:
        from sklearn.manifold import TSNE  # takes more than a second to import, which principal components do not need

        seed = int(evaluation.rng(self.name, *observed).integers(2**31))
        start: Literal["pca", "random"] = "pca" if codes.shape[1] > 1 else "random"  # one dimension has no second component
        perplexity = min(30.0, (len(codes) - 1) / 3)
        return np.asarray(TSNE(perplexity=perplexity, init=start, random_state=seed).fit_transform(codes))


def nearest_values(points: np.ndarray, values: np.ndarray, *, k: int) -> np.ndarray:
    """The most common value (N,) among the k nearest other points of each of the points (N, D); the smallest of equals.

    >>> nearest_values(np.array([[0.0], [1.0], [5.0]]), np.array([2, 0, 1]), k=1).tolist()
    [0, 2, 0]
    """
    from sklearn.neighbors import NearestNeighbors

    found = values[NearestNeighbors(n_neighbors=k).fit(points).kneighbors(return_distance=False)]
    votes = (found[:, :, None] == np.arange(values.max() + 1)).sum(1)
    return np.asarray(votes.argmax(1))


def principal_directions(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (D,) and the two directions of largest variance (D, 2); the largest component of each is positive.

    Codes of one dimension get a second direction of zeros.
    """
    origin = codes.mean(0)
    directions = np.linalg.svd(codes - origin, full_matrices=False)[2][:2].T
    largest = np.abs(directions).argmax(0)
    directions = directions * np.where(directions[largest, np.arange(directions.shape[1])] < 0, -1.0, 1.0)
    return origin, np.pad(directions, ((0, 0), (0, 2 - directions.shape[1])))
