"""Structural similarity of pictures.

Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural similarity", IEEE
Transactions on Image Processing 13(4), 2004: equation 13 with their constants, averaged over positions and channels.
"""

from __future__ import annotations

import torch
from torch import Tensor

from molyneux.core import SpecError

_WINDOW, _SIGMA = 11, 1.5
_C1, _C2 = 0.01**2, 0.03**2
_AT_ONCE = 64  # pictures: what a processor's cache holds, and twice as fast as all of them


def ssim(first: Tensor, second: Tensor) -> Tensor:
    """Mean structural similarity, (B,) from pictures (B, C, H, W) of values 0..1; 1 for equal pictures.

    Each statistic is weighted by a Gaussian window of 11 pixels (or as many as fit) with standard deviation 1.5 that
    lies wholly inside the picture.

    Raises:
        SpecError: the shapes differ or are not those of pictures.
    """
    if first.shape != second.shape or first.ndim != 4:
        raise SpecError(f"expected two batches of pictures of one shape, got {tuple(first.shape)} and {tuple(second.shape)}")
    rows, columns = (_windows(size).to(first) for size in first.shape[-2:])
    parts = zip(torch.split(first, _AT_ONCE), torch.split(second, _AT_ONCE), strict=True)
    return torch.cat([_ssim(one, other, rows, columns) for one, other in parts])


def _ssim(first: Tensor, second: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    def smooth(image: Tensor) -> Tensor:
        return rows @ image @ columns.T

    mean_a, mean_b = smooth(first), smooth(second)
    var_a, var_b = smooth(first.square()) - mean_a.square(), smooth(second.square()) - mean_b.square()
    covariance = smooth(first * second) - mean_a * mean_b
    luminance = (2 * mean_a * mean_b + _C1) / (mean_a.square() + mean_b.square() + _C1)
    structure = (2 * covariance + _C2) / (var_a + var_b + _C2)
    return (luminance * structure).flatten(1).mean(1)


def _windows(size: int) -> Tensor:
    """The window at every place it fits, as a band matrix (size - window + 1, size): a convolution by multiplication."""
    window = min(_WINDOW, size - 1 + size % 2)
    offset = torch.arange(window, dtype=torch.float64) - (window - 1) / 2
    weights = torch.exp(-0.5 * (offset / _SIGMA) ** 2)
    band = torch.zeros(size - window + 1, size, dtype=torch.float64)
    for row in range(len(band)):
        band[row, row : row + window] = weights / weights.sum()
    return band
