"""The prior of a model, once it is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from molyneux.core import Posterior, Source, seeds
from molyneux.learn.priors.density import CodeDensity
from molyneux.learn.priors.ex_post import ExPostMixture, collect_codes

if TYPE_CHECKING:
    from molyneux.learn.vaes.autoencoder import Autoencoder


class FittedPrior(nn.Module):
    """A density of the shared code, and for each modality with private codes one of shared and private codes together.

    Args:
        settings: see `ExPostMixture`.
        latent_dim: dimensions of the shared code.
        private_dims: dimensions of private codes by modality.
    """

    def __init__(self, settings: ExPostMixture, latent_dim: int, private_dims: Mapping[str, int]) -> None:
        super().__init__()
        self.settings = settings
        self.shared = CodeDensity(settings.components, latent_dim)
        private = {name: CodeDensity(settings.components, latent_dim, size) for name, size in private_dims.items()}
        self.by_modality = nn.ModuleDict(private)

    @property
    def private(self) -> dict[str, CodeDensity]:
        """The densities of shared and private codes by modality."""
        return {name: density for name, density in self.by_modality.items() if isinstance(density, CodeDensity)}

    def prior(self, size: int) -> Posterior:
        """The prior over codes of `size` samples."""
        return Posterior(self.shared.marginal(size), self.private)

    def fit(self, model: Autoencoder, source: Source, *, seed: int) -> None:
        """Fit every density to codes of samples of `source`; the same seed gives the same densities."""
        shared, private = collect_codes(model, model.spec, source, self.settings.samples, seed=seed)
        start = int(seeds.key(seed, "prior", "fit")[0] % 2**32)
        self.shared.fit(_complete(shared), start)
        for name, density in self.private.items():
            density.fit(_complete(np.c_[shared, private[name]]), start)


def _complete(codes: np.ndarray) -> np.ndarray:
    rows: np.ndarray = codes[np.isfinite(codes).all(1)]
    return rows
