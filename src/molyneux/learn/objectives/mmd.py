"""Maximum mean discrepancy of single dimensions, with inverse multiquadric kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

Estimator = Literal["published", "paired"]


def squared_mmd(reference: Tensor, codes: Tensor, scales: Sequence[float], estimator: Estimator = "published") -> Tensor:
    """Squared maximum mean discrepancy of each dimension, summed over dimensions and scales.

    Gretton et al., A Kernel Two-Sample Test (JMLR 2012), with the kernel `C / (C + (x - y)^2)`, C = 2 scale (Tolstikhin et al.,
    Wasserstein Auto-Encoders, ICLR 2018, for one dimension). With x from the prior and y the codes, both of B samples:

    - "published" (their equation 3; the code of Mathieu et al., ICML 2019):
      `1 / (B (B - 1)) sum_{i != j} [k(x_i, x_j) + k(y_i, y_j)] - 2 / B^2 sum_{i, j} k(x_i, y_j)`;
    - "paired" (their equation 4): the last sum leaves out i = j and is divided by B (B - 1), so it is 0 for equal samples.

    Both have no bias if x and y are drawn independently, so both may be negative. Two equal samples are not independent: of
    (0, 1) in one dimension, for instance, the first gives -2.67, the sum over scales of k(0, 1) - 1.

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
        from molyneux.learn.objectives.kernel_sums import kernel_sums  # numba takes a second to import

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
