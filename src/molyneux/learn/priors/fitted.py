"""Ex-post density estimation: a mixture of normals that is fitted to the codes of a trained model and replaces its prior."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Encodes, Posterior, Source, Spec, seeds
from molyneux.learn.by_modality import ModalityDict
from molyneux.learn.posteriors import NormalMixture
from molyneux.learn.posteriors.mixtures import standard_log_density, whiten
from molyneux.learn.priors.mixture_fit import fit_mixture
from molyneux.learn.priors.prior import LatentDims, Prior

_CHUNK = 500


@dataclass(frozen=True)
class ExPostMixture:
    """Ghosh et al., From Variational to Deterministic Autoencoders (ICLR 2020), section 4: ex-post density estimation.

    A model decodes well what its posteriors cover, and these never cover the standard normal prior exactly: what is drawn
    from the prior may lie in a hole. So, after training, a mixture of normals with full covariances is fitted to the
    codes of training samples, and takes the place of the prior wherever codes are drawn or weighed. Here it is a density of
    shared and private codes together, so that private codes are drawn given the shared code: the position and rotation of an
    object may depend on its shape. Weights of nets do not change.

    Args:
        components: normals in the mixture.
        samples: training samples whose codes it is fitted to, at most.
    """

    components: int = 64
    samples: int = 20_000

    def __post_init__(self) -> None:
        bad = [name for name in ("components", "samples") if getattr(self, name) < 1]
        if bad:
            raise ConfigError([f"prior.{name}: expected at least 1, got {getattr(self, name)}" for name in bad])


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
        """Fit by maximum likelihood to codes (N, D + P).

        Where N is small, only N / 10 components are used; to fewer than two codes nothing is fitted.
        """
        if len(codes) < 2:
            return
        used = max(1, min(len(self.log_weights), len(codes) // 10))
        weights, means, scale = fit_mixture(codes, used, seed)
        self.log_weights[:] = -math.inf
        self.log_weights[:used] = torch.from_numpy(np.log(weights))
        self.means[:used], self.scale[:used] = torch.from_numpy(means), torch.from_numpy(scale)


class FittedPrior(Prior):
    """A density of the shared code, and for each modality with private codes one of shared and private codes together.

    Args:
        settings: see `ExPostMixture`.
        dims: the latent groups.
    """

    def __init__(self, settings: ExPostMixture, dims: LatentDims) -> None:
        super().__init__()
        self.settings = settings
        self.shared = CodeDensity(settings.components, dims.shared)
        self.private = ModalityDict[CodeDensity]()
        for name, size in dims.private.items():
            self.private[name] = CodeDensity(settings.components, dims.shared, size)

    def of(self, size: int) -> Posterior:
        """See `Prior`; private codes depend on the shared one."""
        return Posterior(self.shared.marginal(size), dict(self.private.items()))

    def fit(self, model: Encodes, spec: Spec, source: Source, *, seed: int) -> None:
        """Fit every density to codes of samples of `source`; the same seed gives the same densities."""
        shared, private = collect_codes(model, spec, source, self.settings.samples, seed=seed)
        start = int(seeds.key(seed, "prior", "fit")[0] % 2**32)
        self.shared.fit(_complete(shared), start)
        for name, density in self.private.items():
            density.fit(_complete(np.c_[shared, private[name]]), start)


@torch.no_grad()
def collect_codes(
    model: Encodes, spec: Spec, source: Source, samples: int, *, seed: int
) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
    """Posterior samples of training samples: shared codes (N, D), and private ones (N, P) by modality.

    Private codes are those of the whole sample. Shared codes come in turns from the posterior given everything and given
    each modality alone, as generation uses them. What is missing is NaN.
    """
    generator = seeds.torch_generator(seed, "prior", "codes")
    positions = seeds.generator(seed, "prior", "positions").permutation(len(source))[:samples]
    turns = list(dict.fromkeys([spec.names, *((name,) for name in spec.names)]))
    shared: list[Tensor] = []
    private: dict[str, list[Tensor]] = {}
    for number, start in enumerate(range(0, len(positions), _CHUNK)):
        batch = source.batch(np.sort(positions[start : start + _CHUNK]))
        whole = model.encode(batch)
        codes = whole.rsample(1, generator)[0]
        observed = turns[number % len(turns)]
        posterior = whole if observed == spec.names else model.encode(batch, observed)
        code = posterior.rsample(1, generator)[0].shared
        shared.append(_nan_where_absent(code, torch.stack([batch.mask(name) for name in observed]).any(0)))
        for name, part in codes.private.items():
            private.setdefault(name, []).append(_nan_where_absent(part, batch.mask(name)))
    return _joined(shared), {name: _joined(parts) for name, parts in private.items()}


def _nan_where_absent(codes: Tensor, present: Tensor) -> Tensor:
    return codes.where(present.unsqueeze(-1), torch.nan)


def _joined(parts: list[Tensor]) -> np.ndarray:
    joined: np.ndarray = torch.cat(parts).double().cpu().numpy()
    return joined


def _complete(codes: np.ndarray) -> np.ndarray:
    rows: np.ndarray = codes[np.isfinite(codes).all(1)]
    return rows
