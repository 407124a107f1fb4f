"""Priors over codes: their contract, the prior of the loss, and densities that are fitted after training."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.core import Batch, CodeDistribution, Posterior, Source, Spec, seeds
from molyneux.learn.checks import not_positive, refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.posteriors import DiagonalNormal, NormalMixture, SparseNormal
from molyneux.learn.posteriors.combinations import standard_log_density, whiten

__all__ = [
    "CodeDensity",
    "ExPostMixture",
    "ExPostPrior",
    "FittedDensity",
    "FittedPrior",
    "IndependentPrior",
    "LatentDims",
    "Prior",
    "SpikeAndSlab",
    "collect_codes",
]

_CHUNK = 500
"""Samples that are encoded at once."""

_FLOOR = 1e-6
"""Added to the variances of components, in units of the codes' own."""

_ROUNDS = 100
"""Rounds of the fit at most."""

_GAIN = 1e-3
"""The fit ends with the first round that raises the mean log-likelihood by less, in nats."""

_BLOCK = 1024
"""Codes whose products are in memory at once in the fit."""


@dataclass(frozen=True)
class LatentDims:
    """The latent groups of a model: dimensions of the shared code, and of the private code of each modality that has one."""

    shared: int
    private: Mapping[str, int] = field(default_factory=dict)


class Prior(nn.Module, ABC):
    """The distribution of shared and private codes before anything is observed."""

    @abstractmethod
    def of(self, size: int) -> Posterior:
        """The distribution of the codes of `size` samples; private ones may depend on the shared one (`core.ConditionalCode`)."""


class IndependentPrior(Prior):
    """Shared and private codes are independent and have the same kind of distribution.

    Args:
        distribution: gives the distribution of codes of a shape (B, D), on the device and of the type of a tensor, such as
            `DiagonalNormal.standard` or `SpikeAndSlab().of`.
        dims: the latent groups.
    """

    _like: Tensor

    def __init__(self, distribution: Callable[[tuple[int, ...], Tensor], CodeDistribution], dims: LatentDims) -> None:
        super().__init__()
        self.distribution, self.dims = distribution, dims
        self.register_buffer("_like", torch.empty(0), persistent=False)

    def of(self, size: int) -> Posterior:
        """See `Prior`."""
        private = {name: self.distribution((size, dim), self._like) for name, dim in self.dims.private.items()}
        return Posterior(self.distribution((size, self.dims.shared), self._like), private)


@dataclass(frozen=True)
class SpikeAndSlab:
    """A prior of sparse codes: each dimension is independently `weight N(0, spike^2) + (1 - weight) N(0, slab^2)`.

    Mathieu et al., Disentangling Disentanglement in Variational Autoencoders (ICML 2019), section 5.3, with the values of the
    authors' code.

    Args:
        weight: probability of the spike.
        spike: standard deviation of the spike.
        slab: standard deviation of the slab.
    """

    weight: float = 0.8
    spike: float = 0.05
    slab: float = 1.0

    def __post_init__(self) -> None:
        problems = not_positive(spike=self.spike, slab=self.slab)
        if not 0 < self.weight < 1:
            problems.append(f"weight: expected a probability between 0 and 1, got {self.weight}")
        refuse(problems)

    def of(self, shape: tuple[int, ...], like: Tensor | None = None) -> SparseNormal:
        """The distribution of codes of this shape, on the device of `like`."""
        loc = torch.zeros(shape) if like is None else like.new_zeros(shape)
        log_odds = loc.new_tensor(math.log(self.weight) - math.log1p(-self.weight))
        return SparseNormal(DiagonalNormal(loc, loc.new_tensor(2 * math.log(self.slab))), log_odds, self.spike)


class ExPostPrior(ABC):
    """Settings of a density that is fitted to codes after training: Ghosh et al. (ICLR 2020), section 4.

    From Variational to Deterministic Autoencoders: ex-post density estimation. The density takes the place of the prior wherever
    codes are drawn or weighed: a model decodes well only what its posteriors cover, and these never cover the prior exactly.
    """

    samples: int
    """Training samples whose codes it is fitted to, at most."""

    @abstractmethod
    def density(self, shared: int, private: int = 0) -> FittedDensity:
        """A density of shared codes; with dimensions of private ones, a density of these given the shared code."""


@dataclass(frozen=True)
class ExPostMixture(ExPostPrior):
    """A prior that is fitted after training (`ExPostPrior`): a mixture of normals with full covariances.

    It is a density of shared and private codes together, so that private codes are drawn given the shared code.

    Args:
        components: normals in the mixture.
        samples: training samples whose codes it is fitted to, at most.
    """

    components: int = 64
    samples: int = 20_000

    def __post_init__(self) -> None:
        refuse(f"prior.{problem}" for problem in too_small(self, "components", "samples"))

    def density(self, shared: int, private: int = 0) -> CodeDensity:
        """See `ExPostPrior`."""
        return CodeDensity(self.components, shared, private)


class FittedDensity(nn.Module, ABC):
    """A density over codes that is fitted to them; standard normal until then."""

    @abstractmethod
    def marginal(self, size: int) -> CodeDistribution:
        """The distribution of shared codes of `size` samples."""

    @abstractmethod
    def given(self, shared: Tensor) -> CodeDistribution:
        """The distribution of private codes given shared ones (..., B, D)."""

    @abstractmethod
    def fit(self, codes: np.ndarray, seed: int) -> None:
        """Fit to those of the codes (N, D + P), shared before private dimensions, that hold no NaN."""


class CodeDensity(FittedDensity):
    """A mixture of normals over codes [s, p] with D = `shared` and P = `private` dimensions; standard normal until it is fitted.

    Its buffers hold the lower triangular factors `L = [[L_s, 0], [L_ps, L_p]]` of the components' covariances, with which the
    marginal of s has the factor `L_s`, and p given s the mean `m_p + L_ps L_s^-1 (s - m_s)` and the factor `L_p` (Bishop, Pattern
    Recognition and Machine Learning, 2006, equations 2.81 and 2.82, with the factors in place of the covariances).
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
        """Fit by maximum likelihood to those of the codes (N, D + P) that hold no NaN.

        Where N is small, only N / 10 components are used; to fewer than two codes nothing is fitted.
        """
        codes = codes[np.isfinite(codes).all(1)]
        if len(codes) < 2:
            return
        used = max(1, min(len(self.log_weights), len(codes) // 10))
        weights, means, scale = fit_mixture(codes, used, seed)
        self.log_weights[:] = -math.inf
        self.log_weights[:used] = torch.from_numpy(np.log(weights))
        self.means[:used], self.scale[:used] = torch.from_numpy(means), torch.from_numpy(scale)


class FittedPrior(Prior):
    """A density of the shared code, and for each modality with private codes one of shared and private codes together."""

    def __init__(self, settings: ExPostPrior, dims: LatentDims) -> None:
        super().__init__()
        self.settings = settings
        self.shared = settings.density(dims.shared)
        self.private = ModalityDict[FittedDensity]()
        for name, size in dims.private.items():
            self.private[name] = settings.density(dims.shared, size)

    def of(self, size: int) -> Posterior:
        """See `Prior`; private codes depend on the shared one."""
        return Posterior(self.shared.marginal(size), dict(self.private.items()))

    def fit(self, model: EncodesSubsets, spec: Spec, source: Source, *, seed: int) -> None:
        """Fit every density to codes of samples of `source`; the same seed gives the same densities."""
        device = next(self.buffers()).device.type
        shared, private = collect_codes(model, spec, source, self.settings.samples, seed=seed, device=device)
        start = int(seeds.key(seed, "prior", "fit")[0] % 2**32)
        self.shared.fit(shared, start)
        for name, density in self.private.items():
            density.fit(np.c_[shared, private[name]], start)


class EncodesSubsets(Protocol):
    """A model that encodes each modality of a batch once for several posteriors."""

    def encode_subsets(self, batch: Batch, subsets: Sequence[Sequence[str]]) -> list[Posterior]:
        """The posterior given each of several sets of observed modalities."""
        ...


@torch.no_grad()
def collect_codes(
    model: EncodesSubsets, spec: Spec, source: Source, samples: int, *, seed: int, device: str = "cpu"
) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
    """Posterior samples of training samples: shared codes (N, D), and private ones (N, P) by modality.

    Private codes are those of the whole sample. Shared codes come in turns from the posterior given everything and given
    each modality alone, as generation uses them. What is missing is NaN. The model is on `device`.
    """
    generator = seeds.torch_generator(seed, "prior", "codes", device=device)
    positions = seeds.generator(seed, "prior", "positions").permutation(len(source))[:samples]
    turns = list(dict.fromkeys([spec.names, *((name,) for name in spec.names)]))
    shared: list[Tensor] = []
    private: dict[str, list[Tensor]] = {}
    for number, start in enumerate(range(0, len(positions), _CHUNK)):
        batch = source.batch(np.sort(positions[start : start + _CHUNK])).to(device)
        observed = turns[number % len(turns)]
        whole, part = model.encode_subsets(batch, (spec.names, observed))
        codes, code = whole.rsample(1, generator)[0], part.rsample(1, generator)[0].shared
        present = torch.stack([batch.mask(name) for name in observed]).any(0)
        shared.append(code.where(present.unsqueeze(-1), torch.nan))
        for name, values in codes.private.items():
            private.setdefault(name, []).append(values.where(batch.mask(name).unsqueeze(-1), torch.nan))
    return _joined(shared), {name: _joined(parts) for name, parts in private.items()}


def _joined(parts: list[Tensor]) -> np.ndarray:
    joined: np.ndarray = torch.cat(parts).double().cpu().numpy()
    return joined


class NormalMixtureParameters(NamedTuple):
    """Weights (C,), means (C, D) and lower triangular factors of the covariances (C, D, D)."""

    weights: np.ndarray
    means: np.ndarray
    scale: np.ndarray


def fit_mixture(codes: np.ndarray, components: int, seed: int) -> NormalMixtureParameters:
    """Fit a mixture to codes (N, D) by expectation maximisation (Dempster, Laird & Rubin, 1977), started by k-means.

    As scikit-learn's `GaussianMixture`, in a quarter of its time: log-densities and moments of all components are two matrix
    products with the products of the dimensions, (N, 1 + D + D (D + 1) / 2). One thread, since sums of several threads are added
    in any order.
    """
    from sklearn.cluster import KMeans  # takes a second to import, and only training needs it
    from threadpoolctl import threadpool_limits

    centre, spread = codes.mean(0), codes.std(0) + 1e-12
    scaled = (codes - centre) / spread
    with threadpool_limits(1):
        labels = KMeans(components, n_init=1, random_state=seed).fit(scaled).labels_
        moments = sum(np.eye(components)[labels[at]].T @ _products(scaled[at]) for at in _blocks(len(codes)))
        found, bound = _maximised(moments, codes.shape[1]), -math.inf
        for _ in range(_ROUNDS):
            before = bound
            moments, bound = _expected(scaled, found)
            found = _maximised(moments, codes.shape[1])
            if bound - before < _GAIN:
                break
    return NormalMixtureParameters(found.weights, found.means * spread + centre, found.scale * spread[:, None])


def _blocks(size: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]


def _products(codes: np.ndarray) -> np.ndarray:
    """1, every dimension, and every product of two: (N, 1 + D + D (D + 1) / 2)."""
    squares = [codes[:, d : d + 1] * codes[:, d:] for d in range(codes.shape[1])]
    return np.concatenate([np.ones((len(codes), 1)), codes, *squares], axis=1)


def _expected(codes: np.ndarray, mixture: NormalMixtureParameters) -> tuple[np.ndarray, float]:
    """Sums of the products of codes by component, each code shared out by its posterior, and the mean log-likelihood."""
    dimensions = codes.shape[1]
    inverse = np.linalg.inv(mixture.scale)
    precision = np.swapaxes(inverse, 1, 2) @ inverse
    linear = np.einsum("cij,cj->ci", precision, mixture.means)
    first, second = np.triu_indices(dimensions)
    squares = -precision[:, first, second] * np.where(first == second, 0.5, 1.0)
    volume = np.log(np.diagonal(mixture.scale, axis1=1, axis2=2)).sum(1) + 0.5 * dimensions * math.log(2 * math.pi)
    constant = np.log(mixture.weights) - volume - 0.5 * (linear * mixture.means).sum(1)
    coefficients = np.c_[constant, linear, squares].T
    moments, total = np.zeros(coefficients.shape[::-1]), 0.0
    for at in _blocks(len(codes)):
        products = _products(codes[at])
        density = products @ coefficients
        largest = density.max(1, keepdims=True)
        shares = np.exp(density - largest)
        mass = shares.sum(1, keepdims=True)
        moments += (shares / mass).T @ products
        total += float((np.log(mass) + largest).sum())
    return moments, total / len(codes)


def _maximised(moments: np.ndarray, dimensions: int) -> NormalMixtureParameters:
    """The mixture of highest likelihood for sums of products by component."""
    mass = moments[:, 0] + 10 * np.finfo(float).eps
    means = moments[:, 1 : dimensions + 1] / mass[:, None]
    first, second = np.triu_indices(dimensions)
    covariance = np.empty((len(mass), dimensions, dimensions))
    covariance[:, first, second] = covariance[:, second, first] = moments[:, dimensions + 1 :] / mass[:, None]
    covariance -= means[:, :, None] * means[:, None, :]
    covariance[:, range(dimensions), range(dimensions)] += _FLOOR
    return NormalMixtureParameters(mass / mass.sum(), means, np.linalg.cholesky(covariance))
