"""A source read from its first sample to its last, for exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from molyneux.core import Batch, ConfigError, Modality, Source, Spec
from molyneux.core.views import text_strings
from molyneux.data.layout import check_values, columns_of


def batches(source: Source, chunk: int, progress: Callable[[int], None] | None) -> Iterator[tuple[np.ndarray, Batch]]:
    """Positions and samples of a source in chunks, checked; `progress` hears the size of each chunk once it is used.

    Raises:
        ConfigError: `chunk` below 1. SpecError, DataError: samples that do not fit the spec or are out of bounds.
    """
    if chunk < 1:
        raise ConfigError(f"expected chunk of at least 1, got {chunk}")
    for start in range(0, len(source), chunk):
        rows = np.arange(start, min(start + chunk, len(source)))
        batch = source.batch(rows).check(source.spec)
        check_values(batch, source.spec, rows)
        yield rows, batch
        if progress is not None:
            progress(len(rows))


def filled_spec(source: Source) -> Spec:
    """The spec of a source without the factors or the target that its batches do not carry."""
    names, spec = {column.name for column in columns_of(source)}, source.spec
    return Spec(
        spec.modalities,
        spec.factors if "factors" in names else (),
        spec.targets if any(name.startswith("target.") for name in names) else (),
    )


def images_of(spec: Spec) -> tuple[Modality, ...]:
    """The image modalities of a spec."""
    return tuple(modality for modality in spec.modalities if modality.kind == "image")


def strings(modality: Modality, batch: Batch) -> list[str | None]:
    """The strings of a text modality; None where it is missing."""
    present = batch.mask(modality.name).tolist()
    found = text_strings(modality, batch.views[modality.name])
    return [text if here else None for text, here in zip(found, present, strict=True)]


def words(values: tuple[str, ...], codes: list[int]) -> list[str | None]:
    """The words of codes; None for an absent one (-1)."""
    return [values[code] if code >= 0 else None for code in codes]


def plain(modality: Modality, batch: Batch) -> list[Any]:
    """A modality that is no image as plain values: a string, a label's word, or nested lists rounded to six decimals."""
    if modality.kind == "text":
        return strings(modality, batch)
    present = batch.mask(modality.name).tolist()
    view = batch.views[modality.name]
    if modality.kind == "label":
        found: list[Any] = [modality.symbols[code] if here else None for code, here in zip(view.tolist(), present, strict=True)]
        return found
    values = np.round(np.asarray(view.numpy(), dtype=np.float64), 6).tolist()
    return [value if here else None for value, here in zip(values, present, strict=True)]
