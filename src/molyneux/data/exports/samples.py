"""A source read from its first sample to its last, and its values as other tools have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from io import BytesIO

import numpy as np

from molyneux.core import Batch, Modality, Source, Spec, SpecError
from molyneux.core.image_files import image_of
from molyneux.core.views import text_strings
from molyneux.data.layout import columns_of
from molyneux.data.sources import require_positive


def batches(source: Source, chunk: int, progress: Callable[[int], None] | None) -> Iterator[tuple[np.ndarray, Batch]]:
    """Positions and samples of a source in chunks, checked; `progress` is called with the size of each chunk once it is used.

    Raises:
        ConfigError: `chunk` below 1. SpecError, DataError: samples that do not fit the spec or are out of bounds.
    """
    require_positive(chunk=chunk)
    for start in range(0, len(source), chunk):
        rows = np.arange(start, min(start + chunk, len(source)))
        yield rows, source.batch(rows).check_values(source.spec, rows)
        if progress is not None:
            progress(len(rows))


def filled_spec(source: Source) -> Spec:
    """The spec of a source without the factors, quantities or targets that its batches do not carry."""
    names, spec = {column.name for column in columns_of(source)}, source.spec
    targets = tuple(target for target in spec.targets if f"target.{target.name}" in names)
    factors, quantities = (spec.factors if "factors" in names else ()), (spec.quantities if "quantities" in names else ())
    return Spec(spec.modalities, factors, targets, quantities)


def images_of(spec: Spec) -> tuple[Modality, ...]:
    """The image modalities of a spec, all of which PNG can hold.

    Raises:
        SpecError: PNG cannot hold one of them.
    """
    images = tuple(modality for modality in spec.modalities if modality.kind == "image")
    for modality in images:
        if modality.dtype != "uint8" or modality.shape[0] not in (1, 3, 4):
            got = f"{modality.dtype} with {modality.shape[0]}"
            raise SpecError(
                f"modality {modality.name}: PNG holds uint8 images with 1, 3 or 4 channels, got {got}: store it natively"
            )
    return images


def png_bytes(modality: Modality, batch: Batch, pool: Executor) -> list[bytes | None]:
    """The PNG file of every picture of a batch, made by the threads of `pool`; None where it is missing."""
    pictures, present = batch.views[modality.name].numpy(), batch.mask(modality.name).tolist()
    return list(pool.map(lambda picture, here: _png(picture) if here else None, pictures, present))


def _png(picture: np.ndarray) -> bytes:
    """A picture (C, H, W) uint8 as a PNG file, packed lightly: time matters more than size here."""
    stream = BytesIO()
    image_of(picture).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def strings(modality: Modality, batch: Batch, spec: Spec) -> list[str | None]:
    """The strings of a text modality; None where it is missing."""
    ids = batch.views[modality.name]
    if modality.name in batch.lengths and modality.padding is not None:
        ids = ids.masked_fill(~batch.positions(modality.name, spec), modality.padding)
    found = text_strings(modality, ids)
    return [text if here else None for text, here in zip(found, batch.mask(modality.name).tolist(), strict=True)]
