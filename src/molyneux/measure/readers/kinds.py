"""Every kind of view that readers are shown: true ones, these as files and models spoil them, and wrong ones."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
from PIL import Image

from molyneux.core import Batch, Spec
from molyneux.core.image_files import image_of
from molyneux.measure.readers.looks import LOOKS
from molyneux.measure.readers.more_wrong_pictures import HELD_OUT, LEARNED, HeldOutPictures
from molyneux.measure.readers.reading import LabelledViews
from molyneux.measure.readers.wrong_views import CONTOURS, PICTURES, WrongContours, WrongPictures


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


TRUE = ("true", "soft", "jpeg", "blocks")
"""Kinds that show figures of the world: as it draws them, a little blurred and noisy, as JPEG, and with an error for each block
of 8 pixels."""
_ORDER = ("noise", "blends", *PICTURES[1:])
KINDS = (*TRUE, *_ORDER, *LEARNED, *HELD_OUT)


def kinds_of_views(
    world: str, level: int, spec: Spec, batch: Batch, modality: str, factors: tuple[str, ...], *, seed: int
) -> Iterator[tuple[str, LabelledViews]]:
    """True views of a world in levels and wrong ones, by kind, as many of each as there are samples.

    Args:
        world: name of the world with its version, one of `looks.LOOKS`.
        level: of difficulty, 1..5.
        spec: of the samples.
        batch: true samples, with their factors.
        modality: `image` or `touch`.
        factors: what a view shows.
        seed: of everything drawn.
    """
    views, count = batch.views[modality].numpy(), len(batch)
    codes = {name: _codes(spec, batch, name) for name in factors}
    truth = {name: [spec.factor(name).values[code] for code in column] for name, column in codes.items()}
    yield "true", LabelledViews(views, truth)
    if modality == "image":
        for kind, spoil in (("soft", softened), ("jpeg", jpeg), ("blocks", with_block_noise)):
            yield kind, LabelledViews(spoil(views, seed=seed), truth)
    drawer = (WrongPictures if modality == "image" else WrongContours)(world, level, seed=seed)
    for kind in _ORDER if modality == "image" else (CONTOURS[0], "blends", *CONTOURS[1:]):
        if kind == "near":  # drawn apart, so that it changes nothing of the others
            drawer = WrongPictures(world, level, seed=seed + 1000)
        if kind == "blends":
            yield kind, LabelledViews(blended(views, codes["shape"], seed=seed))
        elif kind not in ("discs", "plain") or "circle" not in LOOKS[world](level).shapes:  # GeBiD has circles, and no textures
            yield kind, drawer.draw(kind, count)
    for number, kind in enumerate((*LEARNED, *HELD_OUT) if modality == "image" else ()):
        more = HeldOutPictures(world, level, seed=seed + 2000 + number)  # each drawn apart: one more changes no other
        if more.shows(kind):
            yield kind, more.draw(kind, count)


def _codes(spec: Spec, batch: Batch, name: str) -> np.ndarray:
    assert batch.factors is not None, "expected samples with factors"
    return batch.factors[:, spec.factor_index(name)].numpy()
