"""Projection of shared codes to the plane, coloured by every factor."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import numpy as np

from molyneux.core import ConfigError, Encodes, Scatter, nearest
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement, exhibit_name

Method = Literal["pca", "tsne"]


@final
class Projection(Measure):
    """Shared codes (posterior means) in the plane, given each modality alone and all together.

    Args:
        method: `pca`: the two directions in which the codes given all modalities vary most, the same for every source, so
            that the maps can be laid upon each other; `tsne` (van der Maaten and Hinton 2008): each source on its own.
        samples: number of points.

    Raises:
        ConfigError: unknown method, or fewer than 10 samples.
    """

    name: ClassVar[str] = "projection"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)
    scored: ClassVar[bool] = False

    def __init__(self, *, method: Method = "pca", samples: int = 2000) -> None:
        if method not in ("pca", "tsne"):
            raise ConfigError(f"unknown method {method!r}; {nearest(str(method), ('pca', 'tsne'))}")
        if samples < 10:
            raise ConfigError(f"samples: expected at least 10, got {samples}")
        self.method = method
        self.samples = samples

    def measure(self, evaluation: Evaluation) -> Measurement:
        """One scatter for each source, all together first."""
        tables = dict(reversed(evaluation.tables(self.samples).items()))
        origin, directions = principal_directions(next(iter(tables.values())).means["shared"])
        scatters = []
        for observed, table in tables.items():
            codes = table.means["shared"]
            points = (codes - origin) @ directions if self.method == "pca" else self._tsne(codes, evaluation, observed)
            scatters.append(self._scatter(evaluation, observed, points, table.factors))
        return Measurement(exhibits=tuple(scatters))

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
        perplexity = min(30.0, (len(codes) - 1) / 3)
        return np.asarray(TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(codes))


def principal_directions(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (D,) and the two directions of largest variance (D, 2); the largest component of each is positive.

    Codes of one dimension get a second direction of zeros.
    """
    origin = codes.mean(0)
    directions = np.linalg.svd(codes - origin, full_matrices=False)[2][:2].T
    largest = np.abs(directions).argmax(0)
    directions = directions * np.where(directions[largest, np.arange(directions.shape[1])] < 0, -1.0, 1.0)
    return origin, np.pad(directions, ((0, 0), (0, 2 - directions.shape[1])))
