"""Comparisons of generated with true views, by kind of modality: pure functions of stored views."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Modality, SpecError, views
from molyneux.measure.coherence import Letters

FIELDS: dict[str, dict[str, Any]] = {
    "exact": {"unit": "%", "bounds": (0.0, 100.0)},
    "letters": {"unit": "%", "bounds": (0.0, 100.0)},
    "mse": {"unit": "1", "bounds": (0.0, None), "higher_is_better": False},
    "ssim": {"unit": "1", "bounds": (-1.0, 1.0)},
}
"""Unit, bounds and direction of each comparison."""


def compare(modality: Modality, made: Tensor, truth: Tensor, lengths: Tensor | None = None) -> dict[str, np.ndarray]:
    """One number per sample for each comparison that the kind of modality allows.

    - `mse`: mean squared difference of the values as models compute with them (images 0..1), within the true length.
    - `ssim` for images.
    - `letters` %, for text: equal characters at equal positions over the true length.
    - `exact` %, for text and labels: 100 where every symbol is equal, else 0.

    Args:
        modality: what is compared.
        made: (N, *shape) stored views.
        truth: (N, *shape) stored views.
        lengths: (N,) true lengths along `Modality.length_axis`, where samples have them; what lies beyond is not compared.
    """
    if modality.symbols:
        equal = made == truth if lengths is None else (made == truth) | ~_inside(modality, truth, lengths)
        found = {"exact": 100.0 * equal.flatten(1).all(1).double().numpy() if equal.ndim > 1 else 100.0 * equal.double().numpy()}
        if modality.kind == "text":
            found["letters"] = 100.0 * Letters.of(modality, made, truth, lengths).published
        return found
    first, second = views.to_model(modality, made), views.to_model(modality, truth)
    wrong = (first - second).square()
    if lengths is None:
        found = {"mse": wrong.flatten(1).mean(1).double().numpy()}
    else:
        inside = _inside(modality, truth, lengths)
        found = {"mse": ((wrong * inside).flatten(1).sum(1) / inside.flatten(1).sum(1).clamp(min=1)).double().numpy()}
    return {**found, "ssim": ssim(first, second).double().numpy()} if modality.kind == "image" else found


_WINDOW, _SIGMA = 11, 1.5
_C1, _C2 = 0.01**2, 0.03**2
_AT_ONCE = 64  # pictures: what a processor's cache holds, and twice as fast as all of them


def _inside(modality: Modality, truth: Tensor, lengths: Tensor) -> Tensor:
    """Which values of views (N, *shape) lie within their lengths (N,)."""
    shape = [len(truth), *(size if axis == modality.length_axis else 1 for axis, size in enumerate(modality.shape))]
    return (torch.arange(modality.max_length) < lengths[:, None]).reshape(shape).expand_as(truth)


def ssim(first: Tensor, second: Tensor) -> Tensor:
    """Mean structural similarity, (B,) from images (B, C, H, W) of values 0..1; 1 for equal images.

    Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural similarity", IEEE
    Transactions on Image Processing 13(4), 2004: equation 13 with their constants, averaged over positions and channels.

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
