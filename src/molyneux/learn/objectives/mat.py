"""MAT-VAE: a sparse prior, and the maximum mean discrepancy between codes and prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Loss, choice_problems
from molyneux.learn.checks import refuse
from molyneux.learn.objectives.bounds import Objective, Sampled
from molyneux.learn.objectives.penalties import Penalty
from molyneux.learn.objectives.weights import Weight, weight_at, weight_problems
from molyneux.learn.priors import SpikeAndSlab

Estimator = Literal["published", "paired"]

_FAR = 1e6
"""Squared distances are at most this, so that products of denominators stay finite; kernels are almost 0 there."""


@dataclass(frozen=True)
class MAT(Objective):
    """MAT-VAE: Mathieu et al., Disentangling Disentanglement in Variational Autoencoders (ICML 2019), equation 7, sparse prior.

    `beta KL(q(z|x) || p(z)) + weight D(q(z), p(z))` with a spike-and-slab prior, which is also what the model generates from: the
    divergence from that prior is estimated with the sample drawn (`rate.shared` is this estimate), and D is the squared maximum
    mean discrepancy of single dimensions (`squared_mmd`) between the codes of the batch and as many draws of the prior. Names
    and values are of the authors' code, which calls the weight alpha; "Unsupervised Representation Disentanglement of Text" calls
    it lambda and trains with (beta, lambda) = (0.1, 0.1) and (0.01, 0.1), and says nothing more, so the rest is assumed.

    Args:
        beta: weight of the divergence.
        weight: of the discrepancy.
        prior: the spike and the slab.
        mmd: "published" or "paired", two estimators without bias; the second is 0 for equal samples.
        scales: of the kernels.
    """

    beta: Weight = 0.1
    weight: Weight = 0.1
    prior: SpikeAndSlab = field(default_factory=SpikeAndSlab)
    mmd: Estimator = "published"
    scales: tuple[float, ...] = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

    def __post_init__(self) -> None:
        problems = weight_problems(beta=self.beta, weight=self.weight)
        problems += choice_problems(mmd=(self.mmd, ("published", "paired")))
        if not self.scales or not all(0 < scale < math.inf for scale in self.scales):
            problems.append(f"scales: expected at least one number above 0, got {self.scales}")
        refuse(problems)

    def build(self, latent_dim: int) -> Penalty[MAT]:
        """See `Objective`."""
        return _Discrepancy(self)


class _Discrepancy(Penalty[MAT]):
    @property
    def whole_batch(self) -> str:
        """See `Criterion`."""
        return "the mean discrepancy of codes"

    fewest = 2

    def __init__(self, settings: MAT) -> None:
        super().__init__(settings)
        self.prior = settings.prior.of

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        settings, codes = self.settings, sampled.codes
        reference = settings.prior.of(tuple(codes.shape), codes).rsample((), sampled.generator)
        discrepancy = squared_mmd(reference, codes, settings.scales, settings.mmd)
        beta, weight = (weight_at(item, sampled.progress) for item in (settings.beta, settings.weight))
        return Loss(beta * rate.sum(-1).mean() + weight * discrepancy, {"mmd": discrepancy.detach()})

    def rate(self, sampled: Sampled) -> Tensor:
        """Estimate of the divergence from the sparse prior with the sample drawn, (N, D) nats."""
        prior = self.settings.prior.of(tuple(sampled.codes.shape), sampled.codes)
        return sampled.posterior.log_prob_per_dimension(sampled.codes) - prior.log_prob_per_dimension(sampled.codes)


def squared_mmd(reference: Tensor, codes: Tensor, scales: Sequence[float], estimator: Estimator = "published") -> Tensor:
    """Squared maximum mean discrepancy of each dimension, summed over dimensions and scales.

    Gretton et al., A Kernel Two-Sample Test (JMLR 2012), with the kernel `C / (C + (x - y)^2)`, C = 2 scale (Tolstikhin et al.,
    Wasserstein Auto-Encoders, ICLR 2018, for one dimension). With x from the prior and y the codes, both of B samples:

    - "published" (their equation 3; the code of Mathieu et al., ICML 2019):
      `1 / (B (B - 1)) sum_{i != j} [k(x_i, x_j) + k(y_i, y_j)] - 2 / B^2 sum_{i, j} k(x_i, y_j)`;
    - "paired" (their equation 4): the last sum leaves out i = j and is divided by B (B - 1), so it is 0 for equal samples.

    Both have no bias if x and y are drawn independently, so both may be negative.

    Args:
        reference: x, (B, D); no gradient reaches it.
        codes: y, (B, D).
        scales: of the kernels.
        estimator: "published" or "paired".
    """
    size = len(codes)
    across = _sum(reference.detach(), codes, scales)
    pairs = size * size
    if estimator == "paired":
        across = across - _kernels((reference.detach() - codes).square(), scales).sum()
        pairs = size * (size - 1)
    within = _sum(reference.detach(), None, scales) + _sum(codes, None, scales)
    return 2 * within / (size * (size - 1)) - 2 * across / pairs


def _sum(first: Tensor, second: Tensor | None, scales: Sequence[float]) -> Tensor:
    """Sum of the kernels over all pairs of two samples, or over pairs i < j of one, where there is no second."""
    if first.device.type == "cpu":
        total: Tensor = _CompiledSum.apply(first, second, tuple(scales))  # type: ignore[no-untyped-call]
        return total
    return _tensor_sum(first, second, scales)


def _tensor_sum(first: Tensor, second: Tensor | None, scales: Sequence[float]) -> Tensor:
    other = first if second is None else second
    total = _kernels((first.unsqueeze(1) - other).square(), scales).sum()
    return total if second is not None else 0.5 * (total - len(first) * first.shape[1] * len(scales))


def _kernels(squared: Tensor, scales: Sequence[float]) -> Tensor:
    """The kernels of squared distances, summed over scales."""
    return torch.stack([2 * scale / (2 * scale + squared) for scale in scales]).sum(0)


class _CompiledSum(torch.autograd.Function):
    """`_tensor_sum` on a processor, with the derivative by the codes found in the same pass."""

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor | None, scales: tuple[float, ...]) -> Tensor:
        x, *others = (item.detach().T.contiguous().numpy() for item in (first, second) if item is not None)
        total, slope = kernel_sums(x, others[0] if others else None, 2 * np.array(scales, x.dtype))
        ctx.save_for_backward(torch.from_numpy(slope).T)
        ctx.within = second is None
        return first.new_tensor(total)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (slope,) = ctx.saved_tensors
        by_codes = gradients[0] * slope
        return (by_codes, None, None) if ctx.within else (None, by_codes, None)


def kernel_sums(first: np.ndarray, second: np.ndarray | None, widths: np.ndarray) -> tuple[float, np.ndarray]:
    """The sum over dimensions, pairs and widths C (S,) of `C / (C + (x - y)^2)`, and its derivatives by the second samples.

    The samples are x (D, N), contiguous, and y (D, M); without y, the pairs i < j of the first are taken.
    """
    columns = first if second is None else second
    spare = -len(widths) % 3
    denominators = np.append(widths, np.ones(spare, widths.dtype)).reshape(-1, 3)
    numerators = np.append(widths, np.zeros(spare, widths.dtype)).reshape(-1, 3)
    slope, far = np.zeros_like(columns), columns.dtype.type(_FAR)
    return _compiled_pairs()(first, columns, denominators, numerators, slope, second is None, far), slope


@cache
def _compiled_pairs() -> Callable[..., float]:
    from molyneux.core.tooling.compiled import compiled  # numba takes a second to import

    return compiled(_pairs)


def _pairs(
    first: np.ndarray,
    second: np.ndarray,
    denominators: np.ndarray,
    numerators: np.ndarray,
    slope: np.ndarray,
    within: bool,
    far: float,
) -> float:
    """The sum over all pairs; adds the derivatives to `slope` (D, M). With `within`, each pair of one batch is counted once.

    A fifth of the time of tensors: a row of pairs stays in the processor's cache, and one division serves three widths.
    """
    total, pull, result = np.zeros_like(second[0]), np.zeros_like(second[0]), 0.0
    for d in range(len(first)):
        total[:] = 0
        for i in range(first.shape[1]):
            start = i + 1 if within else 0
            pull[:] = 0
            x, y, sums, into = first[d, i], second[d, start:], total[start:], pull[start:] if within else slope[d]
            for s in range(len(denominators)):
                (a, b, c), (p, q, r) = denominators[s], numerators[s]
                for j in range(len(y)):
                    difference = x - y[j]
                    squared = min(difference * difference, far)
                    one, two, three = squared + a, squared + b, squared + c
                    both = one * two
                    inverse = np.reciprocal(both * three)  # a plain division asks at every pair whether it is by zero
                    last, rest = inverse * both, inverse * three
                    one, two = rest * two, rest * one  # now the reciprocals of the first two
                    sums[j] += p * one + q * two + r * last
                    into[j] += (p * one * one + q * two * two + r * last * last) * (difference + difference)
            if within:
                opposite = 0.0
                for j in range(start, len(pull)):
                    slope[d, j] += pull[j]
                for j in range(start, len(pull)):
                    opposite += pull[j]
                slope[d, i] -= opposite
        for j in range(len(total)):
            result += total[j]
    return result
