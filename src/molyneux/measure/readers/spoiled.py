"""True views as files and models spoil them, and blends of two true views."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from molyneux.core.image_files import image_of


def softened(views: np.ndarray, *, seed: int) -> np.ndarray:
    """Pictures (n, C, H, W) blurred by half a pixel to one pixel and a little noisy, as good models make them."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng([seed, 5])
    soft = np.stack([gaussian_filter(view.astype(float), rng.uniform(0.5, 1.0), axes=(1, 2)) for view in views])
    return np.rint(np.clip(soft + 4 * rng.standard_normal(soft.shape), 0, 255)).astype(np.uint8)


def jpeg(views: np.ndarray, *, seed: int) -> np.ndarray:
    """Pictures (n, 3, H, W) as JPEG of quality 75 to 90 stores them."""
    rng, found = np.random.default_rng([seed, 11]), []
    for view in views:
        file = io.BytesIO()
        image_of(view).save(file, "JPEG", quality=int(rng.integers(75, 91)))
        found.append(np.atleast_3d(np.asarray(Image.open(file, formats=["JPEG"]))).transpose(2, 0, 1))
    return np.stack(found)


def with_block_noise(views: np.ndarray, *, seed: int) -> np.ndarray:
    """Pictures (n, C, H, W) with up to 8 of 255 more or less in each block of 8 pixels and channel, and up to 4 in each pixel."""
    rng = np.random.default_rng([seed, 12])
    height, width = views.shape[2:]
    coarse = (
        rng.uniform(-8, 8, (*views.shape[:2], -(-height // 8), -(-width // 8))).repeat(8, 2).repeat(8, 3)[:, :, :height, :width]
    )
    return np.rint(np.clip(views + coarse + rng.uniform(-4, 4, views.shape), 0, 255)).astype(np.uint8)


def blended(views: np.ndarray, shapes: np.ndarray, *, seed: int) -> np.ndarray:
    """Means (n, ...) of true views and of others that show another shape; `shapes` are their codes (n,)."""
    rng = np.random.default_rng([seed, 9])
    partner = np.array([rng.choice(np.flatnonzero(shapes != shape)) for shape in shapes])
    mean: np.ndarray = (views.astype(np.float64) + views[partner]) / 2
    found: np.ndarray = (np.rint(mean) if views.dtype == np.uint8 else mean).astype(views.dtype)
    return found
