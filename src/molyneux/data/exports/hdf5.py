"""Export as one HDF5 file in the layout of the published CdSprites+ files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from molyneux.core import Batch, ConfigError, Source, Spec, nearest
from molyneux.data.encodings.facts import filled_spec
from molyneux.data.encodings.views import strings
from molyneux.data.exports.chunks import batches
from molyneux.data.formats.hdf5_files import appearing_hdf5, require_h5py
from molyneux.data.layout import ArrayColumn, columns_of, to_arrays

_ORDERS = ("bgr", "rgb")


def export_hdf5(
    source: Source,
    path: Path | str,
    *,
    channel_order: Literal["bgr", "rgb"] = "rgb",
    chunk: int = 4096,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write one data set per modality into an HDF5 file, all or nothing.

    Images are uint8 (N, H, W, C) and texts variable-length strings, as in the published files (Sejnova et al., "Benchmarking
    multimodal variational autoencoders: CdSprites+ dataset and toolkit", 2023), whose channels however run blue, green,
    red: `channel_order="bgr"` gives that. Beside them stand the other arrays of the native format, where there are any:
    `factors` (N, F) int64 with the attributes `names` and `values`, `quantities`, `target.<name>`, `known.<name>`,
    `present.<name>` and `length.<name>`. A missing text is the empty string. A modality has its name, as `store.file_name` writes
    it, with `view.` before it where another array has that name.

    Raises:
        ConfigError: an unknown channel order, or h5py is not installed. ConflictError: something stands at `path`.
        StoreError: no space, no permission; nothing is left behind.
    """
    path = Path(path)
    if channel_order not in _ORDERS:
        raise ConfigError(f"unknown channel_order {channel_order!r}; {nearest(str(channel_order), _ORDERS)}")
    h5py = require_h5py()
    columns = columns_of(source)
    spec = filled_spec(source.spec, [column.name for column in columns])
    names = _names(columns)
    with appearing_hdf5(path) as file:
        file.attrs["channel_order"], file.attrs["spec"] = channel_order, json.dumps(spec.to_json())
        for column in columns:
            shape, dtype = _stored_form(column, spec, h5py)
            file.create_dataset(names[column.name], (len(source), *shape), dtype)
        if "factors" in names:
            file["factors"].attrs["names"] = [factor.name for factor in spec.factors]
            file["factors"].attrs["values"] = json.dumps([factor.values for factor in spec.factors])
        for rows, batch in batches(source, chunk, progress):
            for name, content in _contents(spec, batch, channel_order).items():
                file[names[name]][rows[0] : rows[-1] + 1] = content


def _names(columns: tuple[ArrayColumn, ...]) -> dict[str, str]:
    """Names in the file by those of the columns."""
    files = {column.name: column.file.removesuffix(".npy") for column in columns}
    views = {name: file.removeprefix("view.") for name, file in files.items() if name.startswith("view.")}
    taken = {name for name in files if name not in views}
    return {name: views[name] if name in views and views[name] not in taken else file for name, file in files.items()}


def _stored_form(column: ArrayColumn, spec: Spec, h5py: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and type of one sample in the file."""
    part, _, name = column.name.partition(".")
    kind = spec.modality(name).kind if part == "view" else None
    if kind == "text":
        return (), h5py.string_dtype()
    if kind == "image":
        return (*column.shape[1:], column.shape[0]), np.dtype(column.dtype)
    return column.shape, np.dtype(column.dtype)


def _contents(spec: Spec, batch: Batch, channel_order: str) -> dict[str, Any]:
    contents: dict[str, Any] = dict(to_arrays(batch))
    for modality in spec.modalities:
        if modality.kind == "text":
            contents[f"view.{modality.name}"] = [text or "" for text in strings(modality, batch, spec)]
        elif modality.kind == "image":
            pixels = batch.views[modality.name].numpy().transpose(0, 2, 3, 1)
            contents[f"view.{modality.name}"] = np.ascontiguousarray(pixels[..., ::-1] if channel_order == "bgr" else pixels)
    return contents
