"""A density over shared and private codes together, from which private ones given shared ones follow."""

from __future__ import annotations

import math
import warnings

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.learn.posteriors import NormalMixture, standard_log_density, whiten

_FLOOR = 1e-6
"""Smallest variance of a component, as a share of the codes'."""

_ROUNDS = 100
"""Rounds of expectation and maximisation at most."""


class CodeDensity(nn.Module):
    """A mixture of normals over codes [s, p], (D + P); standard normal until it is fitted.

    Its buffers hold the lower triangular factors `L = [[L_s, 0], [L_ps, L_p]]` of the components' covariances, with which the
    marginal of s has the factor `L_s`, and p given s the mean `m_p + L_ps L_s^-1 (s - m_s)` and the factor `L_p` (Bishop, Pattern
    Recognition and Machine Learning, 2006, equations 2.81 and 2.82, with the factors in place of the covariances).

    Args:
        components: number of components.
        shared: dimensions D of s.
        private: dimensions P of p; may be 0.
    """

    log_weights: Tensor
    means: Tensor
    scale: Tensor

    def __init__(self, components: int, shared: int, private: int = 0) -> None:
        super().__init__()
        self.shared = shared
        self.register_buffer("log_weights", torch.full((components,), -math.log(components)))
        self.register_buffer("means", torch.zeros(components, shared + private))
        self.register_buffer("scale", torch.eye(shared + private).repeat(components, 1, 1))

    def marginal(self, size: int) -> NormalMixture:
        """The distribution of s for `size` samples."""
        shared = slice(self.shared)
        return NormalMixture(
            self.log_weights.expand(size, -1), self.means[:, shared].expand(size, -1, -1), self.scale[:, shared, shared]
        )

    def given(self, shared: Tensor) -> NormalMixture:
        """The distribution of p given s (..., B, D)."""
        d = self.shared
        whitened = whiten(shared.unsqueeze(-2) - self.means[:, :d], self.scale[:, :d, :d])
        log_weights = (self.log_weights + standard_log_density(whitened, self.scale[:, :d, :d])).log_softmax(-1)
        means = self.means[:, d:] + torch.einsum("cij,...cj->...ci", self.scale[:, d:, :d], whitened)
        return NormalMixture(log_weights, means, self.scale[:, d:, d:])

    def fit(self, codes: np.ndarray, seed: int) -> None:
        """Fit by maximum likelihood to codes (N, D + P) (scikit-learn's EM, started by k-means).

        Where N is small, only N / 10 components are used; of fewer than two codes nothing can be learned. One thread, since the
        sums of several are added in any order.
        """
        if len(codes) < 2:
            return
        from sklearn.exceptions import ConvergenceWarning  # takes a second to import, and only training needs it
        from sklearn.mixture import GaussianMixture
        from threadpoolctl import threadpool_limits

        centre, spread = codes.mean(0), codes.std(0) + 1e-12
        used = max(1, min(len(self.log_weights), len(codes) // 10))
        mixture = GaussianMixture(used, reg_covar=_FLOOR, max_iter=_ROUNDS, random_state=seed)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the last round is as good as any
            mixture.fit((codes - centre) / spread)
        self.log_weights[:] = -math.inf
        self.log_weights[:used] = torch.from_numpy(np.log(mixture.weights_))
        self.means[:used] = torch.from_numpy(mixture.means_ * spread + centre)
        self.scale[:used] = torch.from_numpy(np.linalg.cholesky(mixture.covariances_) * spread[:, None])
