"""CanonicalCorrelation: an auxiliary objective that raises the canonical correlations between the vectors of modalities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from molyneux.core import Loss, Spec
from molyneux.learn.checks import levels_below_zero, not_positive, refuse
from molyneux.learn.encoders.encoding import EncodingSpec
from molyneux.learn.predictors.objectives.auxiliary import AuxiliaryLoss, AuxiliaryObjective, PredictorStep, refuse_few


@dataclass(frozen=True)
class CanonicalCorrelation(AuxiliaryObjective):
    """Subtracts the sum of the canonical correlations of every two modalities' vectors: Andrew et al., Deep CCA (ICML 2013).

    With covariances `S11 + r I`, `S22 + r I` and `S12` over the samples that have both modalities, the correlations are the
    singular values of `S11^(-1/2) S12 S22^(-1/2)`. The published code of MultiBench adds 1e-3 to their squares, or sums the norms
    of columns in their place. Statistics need batches much larger than the vectors; the paper of MultiBench takes 800.

    Terms: `correlation.<first>.<second>`, the sum, at most the width of the narrower vector; 0 of fewer than two samples.

    Args:
        weight: what the correlations are multiplied by.
        regularization: r, added to the variances.
    """

    weight: float = 1e-3
    regularization: float = 1e-3

    def __post_init__(self) -> None:
        refuse(levels_below_zero(weight=self.weight) + not_positive(regularization=self.regularization))

    def build(self, spec: Spec, encodings: Mapping[str, EncodingSpec], features: int) -> CanonicalCorrelationLoss:
        """See `AuxiliaryObjective`; raises ConfigError for fewer than two modalities."""
        refuse_few(self, encodings)
        return CanonicalCorrelationLoss(self)


class CanonicalCorrelationLoss(AuxiliaryLoss):
    """See `CanonicalCorrelation`."""

    whole_batch = "canonical correlations"

    def __init__(self, settings: CanonicalCorrelation) -> None:
        super().__init__()
        self.settings = settings

    def forward(self, step: PredictorStep) -> Loss:
        """See `AuxiliaryLoss`."""
        terms = {}
        for (first, a), (second, b) in combinations(step.encodings.items(), 2):
            both = a.present & b.present
            terms[f"correlation.{first}.{second}"] = canonical_correlations(
                a.vector[both], b.vector[both], self.settings.regularization
            ).sum()
        total = -self.settings.weight * torch.stack(list(terms.values())).sum()
        return Loss(total, {name: value.detach() for name, value in terms.items()})


def canonical_correlations(first: Tensor, second: Tensor, regularization: float = 1e-3) -> Tensor:
    """The canonical correlations of (N, D) and (N, E), (min(D, E),), from the largest; 0 of fewer than two samples.

    Whitening by Cholesky factors gives the same singular values as by inverse square roots, and has a gradient where variances
    are equal. In full precision, under autocast too.
    """
    with torch.autocast(first.device.type, enabled=False):
        first, second = first.float(), second.float()
        if len(first) < 2:
            return first.new_zeros(min(first.shape[1], second.shape[1])) + 0 * (first.sum() + second.sum())
        first, second = first - first.mean(0), second - second.mean(0)
        left, right = (_factor(side, regularization) for side in (first, second))
        cross = first.T @ second / (len(first) - 1)
        half = torch.linalg.solve_triangular(left, cross, upper=False)
        found: Tensor = torch.linalg.svdvals(torch.linalg.solve_triangular(right, half.T, upper=False))
        return found


def _factor(centred: Tensor, regularization: float) -> Tensor:
    """The Cholesky factor of the covariance, with so much added to the variances."""
    covariance = centred.T @ centred / (len(centred) - 1)
    factor: Tensor = torch.linalg.cholesky(covariance + regularization * torch.eye(centred.shape[1]).to(covariance))
    return factor
