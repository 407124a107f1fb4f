"""Arrays of numbers as views: series, sets, tables, sounds and videos."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from molyneux.core.conversion.given import Notes, as_array, is_array, is_several, place_of, require_finite, wanted
from molyneux.core.conversion.images import image_views
from molyneux.core.errors import DataError
from molyneux.core.spec import Modality


def number_views(modality: Modality, values: object) -> tuple[Tensor, Tensor | None, Notes]:
    """See `views_of`: (N, *shape) of series, sets and tables."""
    listed = values if isinstance(values, list | tuple) and is_several(values) else [values]
    places = [place_of(modality, place, len(listed)) for place in range(len(listed))]
    arrays = [_stacked(modality, _require_array(modality, one, at), at) for one, at in zip(listed, places, strict=True)]
    return (*filled(modality, arrays), Notes())


def _require_array(modality: Modality, value: object, at: str) -> np.ndarray:
    if not is_array(value):
        got = "None" if value is None else f"a {type(value).__name__}"
        raise DataError(f"{at}: expected {wanted(modality)}, got {got}: convert it to an array")
    return as_array(value, at)


def _stacked(modality: Modality, array: np.ndarray, at: str) -> np.ndarray:
    """Values (N, *shape) of one array, of which the axis of lengths may be shorter."""
    rank, shape, got = len(modality.shape), modality.shape, array.shape
    require_finite(array, at)
    if modality.dtype != "float32" and array.dtype.kind == "f":
        raise DataError(f"{at}: expected whole numbers, got {array.dtype}: round them")
    if array.ndim == rank and (rank == 1 or fits(modality, array.shape)):
        if rank == 1 and array.shape != shape and shape == (1,):
            return array[:, None]
        array = array[None]
    elif array.ndim == rank - 1 and shape[-1] == 1:
        array = array[None, ..., None]
    elif array.ndim == rank and shape[-1] == 1 and rank > 1:
        array = array[..., None]
    if array.ndim != rank + 1 or not fits(modality, array.shape[1:]):
        shown = " x ".join(map(str, shape))
        shorter = "" if modality.length_axis is None else f", or fewer along axis {modality.length_axis},"
        raise DataError(f"{at}: expected an array of {shown} numbers{shorter} or several of such, got shape {got}: reshape it")
    return array


def fits(modality: Modality, shape: tuple[int, ...]) -> bool:
    """Whether a sample of this shape can be filled up to that of a modality."""
    axis = modality.length_axis
    return len(shape) == len(modality.shape) and all(
        got == most or (place == axis and 0 < got <= most)
        for place, (got, most) in enumerate(zip(shape, modality.shape, strict=True))
    )


def filled(modality: Modality, arrays: list[np.ndarray]) -> tuple[Tensor, Tensor | None]:
    """Views (N, *shape) of arrays (n, ...), with zeros where one is shorter, and lengths where some are."""
    axis = modality.length_axis
    total = sum(map(len, arrays))
    if len(arrays) == 1 and arrays[0].shape[1:] == modality.shape:
        return torch.from_numpy(np.array(arrays[0], modality.dtype, order="C")), None
    view, lengths, start = np.zeros((total, *modality.shape), modality.dtype), np.zeros(total, np.int64), 0
    for array in arrays:
        rows = slice(start, start + len(array))
        view[(rows, *(slice(size) for size in array.shape[1:]))] = array
        lengths[rows] = array.shape[axis + 1] if axis is not None else 0
        start += len(array)
    short = axis is not None and bool((lengths < modality.max_length).any())
    return torch.from_numpy(view), torch.from_numpy(lengths) if short else None


def video_views(modality: Modality, values: object) -> tuple[Tensor, Tensor | None, Notes]:
    """See `views_of`: (N, T, C, H, W) of arrays of frames, or of lists of pictures."""
    notes = Notes()
    frame = Modality(modality.name, "image", modality.shape[1:], modality.dtype)
    videos: list[object] = list(values) if isinstance(values, list | tuple) and _are_videos(values) else [values]
    arrays, at = [], place_of(modality, None)
    for place, video in enumerate(videos):
        where = place_of(modality, place, len(videos))
        if isinstance(video, str | Path):
            raise DataError(f"{where}: expected {wanted(modality)}, got a path: read its frames into an array")
        several = list(as_array(video, where)) if is_array(video) and as_array(video, where).ndim == 5 else [video]
        for part in several:
            found, _, more = image_views(frame, part if not is_array(part) else list(as_array(part, where)))
            for sentence in more.told(len(found)):
                notes.add(sentence, place)
            if len(found) > modality.max_length:
                raise DataError(f"{where}: expected at most {modality.max_length} frames, got {len(found)}: leave some out")
            arrays.append(found.numpy()[None])
    if not arrays:
        raise DataError(f"{at}: expected {wanted(modality)}, got none")
    return (*filled(modality, arrays), notes)


def _are_videos(values: list[object] | tuple[object, ...]) -> bool:
    """Whether a list holds videos, not pictures of one."""
    first = values[0]
    return (is_several(values) and isinstance(first, list | tuple)) or (
        isinstance(first, np.ndarray | Tensor) and first.ndim >= 4
    )
