"""Pictures as PNG bytes."""

from __future__ import annotations

from concurrent.futures import Executor
from io import BytesIO

import numpy as np
from PIL import Image

from molyneux.core import Batch, Modality, SpecError


def require_pictures(modality: Modality) -> None:
    """Raise SpecError if PNG cannot hold an image modality."""
    if modality.dtype != "uint8" or modality.shape[0] not in (1, 3, 4):
        got = f"{modality.dtype} with {modality.shape[0]}"
        raise SpecError(f"modality {modality.name}: PNG holds uint8 images with 1, 3 or 4 channels, got {got}: store it natively")


def encode_png(picture: np.ndarray) -> bytes:
    """A picture (C, H, W) uint8 as the bytes of a PNG file, packed lightly: time matters more than size here."""
    stream = BytesIO()
    pixels = picture[0] if len(picture) == 1 else np.ascontiguousarray(picture.transpose(1, 2, 0))
    Image.fromarray(pixels).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def encode_batch(modality: Modality, batch: Batch, pool: Executor) -> list[bytes | None]:
    """The PNG bytes of every picture of a batch, made by the threads of `pool`; None where it is missing."""
    pictures, present = batch.views[modality.name].numpy(), batch.mask(modality.name).tolist()
    found = pool.map(lambda row: encode_png(pictures[row]) if present[row] else None, range(len(present)))
    return list(found)
