"""Export as one HDF5 file in the layout of the published CdSprites+ files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
from torch import Tensor

from molyneux.core import Batch, ConfigError, Modality, Source, Spec, nearest
from molyneux.data.exports.reading import batches, filled_spec, strings
from molyneux.data.folders import appearing_file
from molyneux.data.layout import columns_of, to_arrays

_ORDERS = ("bgr", "rgb")


def export_hdf5(
    source: Source,
    path: Path,
    *,
    channel_order: Literal["bgr", "rgb"] = "rgb",
    chunk: int = 4096,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write one data set per modality into an HDF5 file, all or nothing.

    Images are uint8 (N, H, W, C) and texts variable-length strings, as in the published files (Sejnova et al., "Benchmarking
    multimodal variational autoencoders: CdSprites+ dataset and toolkit", 2023), whose channels however run blue, green,
    red: `channel_order="bgr"` gives that. Beside them stand `factors` (N, F) int64 with the attributes `names` and `values`,
    `<modality>_present` and `target` where there are any. A missing text is the empty string.

    Raises:
        ConfigError: an unknown channel order, or h5py is not installed. ConflictError: something stands at `path`.
        StoreError: no space, no permission; nothing is left behind.
    """
    if channel_order not in _ORDERS:
        raise ConfigError(f"unknown channel_order {channel_order!r}; {nearest(str(channel_order), _ORDERS)}")
    h5py = _h5py()
    columns, spec = columns_of(source), filled_spec(source)
    with appearing_file(path) as part, h5py.File(part, "w") as file:
        file.attrs["channel_order"], file.attrs["spec"] = channel_order, json.dumps(spec.to_json())
        for column in columns:
            modality = spec.modality(column.name) if column.name in spec.names else None
            shape, dtype = _form(modality, column.shape, np.dtype(column.dtype), h5py)
            file.create_dataset(_key(column.name), (len(source), *shape), dtype)
        if "factors" in file:
            file["factors"].attrs["names"] = [factor.name for factor in spec.factors]
            file["factors"].attrs["values"] = json.dumps([factor.values for factor in spec.factors])
        for rows, batch in batches(source, chunk, progress):
            for name, content in _contents(spec, batch, channel_order).items():
                file[_key(name)][rows[0] : rows[-1] + 1] = content


def _h5py() -> ModuleType:
    try:
        import h5py
    except ImportError as error:
        raise ConfigError("HDF5 files need h5py, which is not installed: pip install 'h5py>=3.11,<4'") from error
    return h5py  # type: ignore[no-any-return]


def _key(column: str) -> str:
    return column.replace(".", "_")


def _form(modality: Modality | None, shape: tuple[int, ...], dtype: np.dtype, h5py: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and type of one sample in the file."""
    if modality is not None and modality.kind == "text":
        return (), h5py.string_dtype()
    if modality is not None and modality.kind == "image":
        return (*shape[1:], shape[0]), dtype
    return shape, dtype


def _contents(spec: Spec, batch: Batch, channel_order: str) -> dict[str, Any]:
    contents: dict[str, Any] = dict(to_arrays(batch))
    for modality in spec.modalities:
        if modality.kind == "text":
            contents[modality.name] = [text or "" for text in strings(modality, batch)]
        elif modality.kind == "image":
            contents[modality.name] = _pixels(batch.views[modality.name], channel_order)
    return contents


def _pixels(view: Tensor, channel_order: str) -> np.ndarray:
    pixels = view.numpy().transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pixels[..., ::-1] if channel_order == "bgr" else pixels)
