"""A source read from its first sample to its last, and its values as other tools have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image
from torch import Tensor

from molyneux.core import Batch, ConfigError, Modality, Source, Spec, SpecError, Target
from molyneux.core.views import text_strings
from molyneux.data.layout import columns_of


def batches(source: Source, chunk: int, progress: Callable[[int], None] | None) -> Iterator[tuple[np.ndarray, Batch]]:
    """Positions and samples of a source in chunks, checked; `progress` is called with the size of each chunk once it is used.

    Raises:
        ConfigError: `chunk` below 1. SpecError, DataError: samples that do not fit the spec or are out of bounds.
    """
    if chunk < 1:
        raise ConfigError(f"expected chunk of at least 1, got {chunk}")
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


def short_names(keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A name for each pair of a part and a name: the name alone, or `part.name` where another pair would have that name too.

    >>> short_names([("view", "text"), ("view", "label"), ("target", "label")])
    {('view', 'text'): 'text', ('view', 'label'): 'view.label', ('target', 'label'): 'target.label'}
    """
    names = [name for _, name in keys]
    found = {key: key[1] if names.count(key[1]) == 1 else ".".join(key) for key in keys}
    if len(set(found.values())) < len(keys):
        raise SpecError(f"expected names of which columns can be made, got {', '.join(found.values())}: rename one of them")
    return found


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
    return list(pool.map(lambda row: _png(pictures[row]) if present[row] else None, range(len(present))))


def _png(picture: np.ndarray) -> bytes:
    """A picture (C, H, W) uint8 as a PNG file, packed lightly: time matters more than size here."""
    stream = BytesIO()
    pixels = picture[0] if len(picture) == 1 else np.ascontiguousarray(picture.transpose(1, 2, 0))
    Image.fromarray(pixels).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def strings(modality: Modality, batch: Batch, spec: Spec) -> list[str | None]:
    """The strings of a text modality; None where it is missing."""
    ids = batch.views[modality.name]
    if modality.name in batch.lengths and modality.padding is not None:
        ids = ids.masked_fill(~batch.positions(modality.name, spec), modality.padding)
    found = text_strings(modality, ids)
    return [text if here else None for text, here in zip(found, batch.mask(modality.name).tolist(), strict=True)]


def codes_as_words(values: Sequence[str], codes: Sequence[int]) -> list[str | None]:
    """The values of codes; None for an absent one (-1)."""
    return [values[code] if code >= 0 else None for code in codes]


def plain(modality: Modality, batch: Batch, spec: Spec) -> list[Any]:
    """A modality that is no image as plain values: a string, a label's word, or nested lists rounded to six decimals."""
    if modality.kind == "text":
        return strings(modality, batch, spec)
    view, present = batch.views[modality.name], batch.mask(modality.name).tolist()
    if modality.kind == "label":
        return [modality.symbols[code] if here else None for code, here in zip(view.tolist(), present, strict=True)]
    return _where(_rounded(view), present)


def plain_target(target: Target, batch: Batch) -> list[Any]:
    """A target as plain values: a class's word, 0 or 1, a list of those, or numbers with six decimals; None where not known."""
    values, known = batch.targets[target.name], batch.known_mask(target.name).tolist()
    if target.task == "class":
        return [target.symbols[code] if here else None for code, here in zip(values.tolist(), known, strict=True)]
    return _where(_rounded(values) if target.task == "number" else values.tolist(), known)


def _rounded(values: Tensor) -> list[Any]:
    found: list[Any] = np.round(np.asarray(values.numpy(), dtype=np.float64), 6).tolist()
    return found


def _where(values: list[Any], present: list[bool]) -> list[Any]:
    return [value if here else None for value, here in zip(values, present, strict=True)]
