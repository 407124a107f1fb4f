"""Synergy: the canonical correlation of generated views with the views they were generated from, or with each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, final

import numpy as np

from molyneux.core import ConfigError, Decodes, Encodes, NotApplicableError, Score, about_names
from molyneux.measure.embeddings import Embedding, fit_embedding, scattered
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Draw, check_draw, decoded, prior_codes
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder

_RANK = 1e-6
"""Directions whose singular values are smaller, relative to the largest, do not count."""
_FEWEST = 100
"""Pairs that projections are fitted to at least."""


@final
class Synergy(Measure):
    """The correlation of pairs of views after canonical correlation analysis (CCA), true and generated ones.

    As Shi et al., Variational Mixture-of-Experts Autoencoders (NeurIPS 2019), measure images and captions of birds, by their
    code: for two modalities a and b, CCA of the embeddings of true training pairs gives projections W_a and W_b; the correlation
    of a pair of views is the cosine of W_a'(f(x_a) - m_a) and W_b'(g(x_b) - m_b), with the means m of the training embeddings;
    scores are means over pairs.

    - `synergy.correlation`, from -1 to 1, with `about` naming source and target: pairs of a true view of the source and the view
      of the target that was generated from it alone; source `prior`: pairs of views decoded from one code of the prior.

    Controls: `true pairs`, the same of true pairs of test samples, the reference; `unpaired`, generated views beside the views of
    another sample.

    Deviations from the paper: embeddings are the features of a judge or of a network that is given, else principal components of
    the pixels, numbers or one-hot symbols (there: a ResNet-101, and FastText vectors of words); every pair of modalities.

    Args:
        draw: codes from one posterior sample or from its mean.
        samples: at most so many samples, of the training samples and of the test samples.
        components: of CCA, at most; 40 in the authors' code.
        dimensions: principal components, where there is no network.

    Raises:
        ConfigError: unknown draw, fewer than 100 samples, or components or dimensions below 1.
    """

    name: ClassVar[str] = "synergy"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(self, *, draw: Draw = "sample", samples: int = 5_000, components: int = 40, dimensions: int = 64) -> None:
        problems = [f"samples: expected at least {_FEWEST}, got {samples}"] if samples < _FEWEST else []
        given = {"components": components, "dimensions": dimensions}
        problems += [f"{what}: expected at least 1, got {value}" for what, value in given.items() if value < 1]
        if problems:
            raise ConfigError(problems)
        self.draw = check_draw(draw)
        self.samples, self.components, self.dimensions = samples, components, dimensions

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every pair of modalities, both ways, and generated together."""
        if len(evaluation.available) < 2:
            raise NotApplicableError("synergy needs at least two modalities: choose another source")
        fit = evaluation if evaluation.training is None else evaluation.training
        sizes = {"dimensions": self.dimensions, "samples": self.samples}
        embeddings = {name: fit_embedding(evaluation, name, fit, **sizes) for name in evaluation.available}
        fitted, true = ({name: item.of(one, self.samples) for name, item in embeddings.items()} for one in (fit, evaluation))
        pairs = list(combinations(evaluation.available, 2))
        planes = {pair: fit_projections(fitted[pair[0]], fitted[pair[1]], self.components) for pair in pairs}
        if all(plane is None for plane in planes.values()):
            raise NotApplicableError(f"synergy needs at least {_FEWEST} samples that have two modalities: measure on more")
        cross, joint = self._cross(evaluation, embeddings), self._joint(evaluation, embeddings)
        scores: list[Score] = []
        for pair, plane in planes.items():
            if plane is None:
                continue
            reference = plane.correlations(true[pair[0]], true[pair[1]])
            for source, target in (pair, pair[::-1]):
                made = {source: true[source], target: cross[source, target]}
                recorder = self._recorder(evaluation, embeddings, source, target).on(source=source, target=target)
                scores.append(_score(plane, made[pair[0]], made[pair[1]], reference, recorder))
            recorder = self._recorder(evaluation, embeddings, "prior", *pair).on(source="prior", target=about_names(pair))
            scores.append(_score(plane, joint[pair[0]], joint[pair[1]], reference, recorder))
        return Measurement(tuple(scores))

    def _cross(self, evaluation: Evaluation, embeddings: Mapping[str, Embedding]) -> dict[tuple[str, str], np.ndarray]:
        """Vectors (N, D) of each modality generated from each other one alone; NaN where the sample lacks the source."""
        piles = defaultdict[tuple[str, str], list[np.ndarray]](list)
        for start, batch in evaluation.batches(self.samples):
            for source in embeddings:
                targets, mask = [name for name in embeddings if name != source], batch.mask(source).cpu().numpy()
                if (found := evaluation.generated_from((source,), start, batch, draw=self.draw)) is None:
                    nothing = {name: embeddings[name](batch.views[name][:0]) for name in targets}
                else:
                    made = decoded(evaluation.model, found[1], evaluation.spec, only=targets)
                    nothing = {name: embeddings[name](view) for name, view in made.items()}
                for name, vectors in nothing.items():
                    piles[source, name].append(scattered(vectors, mask))
        return {pair: np.concatenate(parts) for pair, parts in piles.items()}

    def _joint(self, evaluation: Evaluation, embeddings: Mapping[str, Embedding]) -> dict[str, np.ndarray]:
        """Vectors (N, D) of views decoded from codes of the prior, as many as there are samples."""
        size, piles = min(self.samples, evaluation.size), defaultdict[str, list[np.ndarray]](list)
        for start in range(0, size, evaluation.batch_size):
            noise = evaluation.generator(self.name, "prior", start)
            codes = prior_codes(evaluation.model, min(evaluation.batch_size, size - start), noise)
            for name, view in decoded(evaluation.model, codes, evaluation.spec, only=list(embeddings)).items():
                piles[name].append(embeddings[name](view))
        return {name: np.concatenate(parts) for name, parts in piles.items()}

    def _recorder(self, evaluation: Evaluation, embeddings: Mapping[str, Embedding], *names: str) -> Recorder:
        used = {name: embeddings[name].origin for name in names if name in embeddings}
        origin = {**evaluation.provenance(), "draw": self.draw, "embeddings": used}
        return Recorder(self.name, evaluation.rng(self.name, *names), origin=origin)


@dataclass(frozen=True)
class CanonicalDirections:
    """What CCA finds for two sets of vectors, (N, D) and (N, E): their means, and K canonical directions of each.

    Args:
        means: (D,) and (E,).
        directions: (D, K) and (E, K); projections have variance 1.
        canonical: (K,) the canonical correlations of the vectors that it was fitted to, falling.
    """

    means: tuple[np.ndarray, np.ndarray]
    directions: tuple[np.ndarray, np.ndarray]
    canonical: np.ndarray

    def correlations(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The cosines of the projections of pairs of vectors, (n,), of the pairs that are whole (no NaN)."""
        known = np.isfinite(first).all(1) & np.isfinite(second).all(1)
        planes = [
            (vectors[known] - mean) @ directions
            for vectors, mean, directions in zip((first, second), self.means, self.directions, strict=True)
        ]
        lengths = np.linalg.norm(planes[0], axis=1) * np.linalg.norm(planes[1], axis=1)
        return np.asarray((planes[0] * planes[1]).sum(1) / np.maximum(lengths, np.finfo(float).tiny))


def fit_projections(first: np.ndarray, second: np.ndarray, components: int) -> CanonicalDirections | None:
    """Canonical correlation analysis (Hotelling 1936) of the pairs that are whole (no NaN); None of fewer than 100.

    By singular values (Björck and Golub 1973): whitened vectors, then the singular vectors of their cross-covariance. Directions
    without variance are left out.

    Args:
        first: (N, D) vectors.
        second: (N, E) vectors of the same samples.
        components: K at most.
    """
    known = np.isfinite(first).all(1) & np.isfinite(second).all(1)
    if np.count_nonzero(known) < _FEWEST:
        return None
    means = first[known].mean(0), second[known].mean(0)
    (one, back), (other, forth) = (_whitened(v[known] - mean) for v, mean in zip((first, second), means, strict=True))
    left, canonical, right = np.linalg.svd(one.T @ other, full_matrices=False)
    scale = np.sqrt(np.count_nonzero(known) - 1)
    directions = scale * back @ left[:, :components], scale * forth @ right[:components].T
    return CanonicalDirections(means, directions, canonical[:components])


def _whitened(centred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal columns (N, R) that span centred vectors (N, D), and the matrix (D, R) that makes them."""
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    keep = values > _RANK * values[0] if values[0] > 0 else np.zeros(len(values), dtype=bool)
    return left[:, keep], right[keep].T / values[keep]


def _score(plane: CanonicalDirections, first: np.ndarray, second: np.ndarray, reference: np.ndarray, recorder: Recorder) -> Score:
    """The mean correlation of pairs of vectors, beside that of true pairs and of vectors of different samples."""
    unpaired = plane.correlations(first, np.roll(second, 1, 0))
    controls = {"true pairs": reference, "unpaired": unpaired}
    means = {name: float(values.mean()) for name, values in controls.items() if len(values)}
    return recorder.mean("correlation", plane.correlations(first, second), bounds=(-1.0, 1.0), chance=0.0, controls=means)
