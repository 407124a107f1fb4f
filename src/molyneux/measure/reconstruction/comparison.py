"""How like a true view a made one is, by kind of modality. Pure functions of stored views."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from molyneux.core import Modality, views
from molyneux.measure.coherence import Letters
from molyneux.measure.reconstruction.ssim import ssim

FIELDS: dict[str, dict[str, Any]] = {
    "exact": {"unit": "%", "bounds": (0.0, 100.0)},
    "letters": {"unit": "%", "bounds": (0.0, 100.0)},
    "mse": {"unit": "1", "bounds": (0.0, None), "higher_is_better": False},
    "ssim": {"unit": "1", "bounds": (-1.0, 1.0)},
}
"""Unit, bounds and direction of each comparison."""


def compare(modality: Modality, made: Tensor, truth: Tensor) -> dict[str, np.ndarray]:
    """One number per sample for each comparison that the kind of modality allows.

    - `mse`: mean squared difference of the values as models compute with them (pictures 0..1).
    - `ssim` for pictures.
    - `letters` %, for text: equal characters at equal positions over the true length.
    - `exact` %, for text and labels: 100 where every symbol is equal, else 0.

    Args:
        modality: what is compared.
        made: (N, *shape) stored views.
        truth: (N, *shape) stored views.
    """
    if modality.symbols:
        exact = (made == truth).flatten(1).all(1) if made.ndim > 1 else made == truth
        found = {"exact": 100.0 * exact.double().numpy()}
        return {**found, "letters": 100.0 * Letters.of(modality, made, truth).published} if modality.kind == "text" else found
    first, second = views.to_model(modality, made), views.to_model(modality, truth)
    found = {"mse": (first - second).square().flatten(1).mean(1).double().numpy()}
    return {**found, "ssim": ssim(first, second).double().numpy()} if modality.kind == "image" else found
