"""What was given as the values of a modality: one or several, as an array where it is one; and what was converted of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from molyneux.core import files
from molyneux.core.errors import DataError, StoreError, short
from molyneux.core.spec import Modality

_NUMBERS = (bool, int, float, np.number, np.bool_)


class Notes:
    """What was converted, with the first value that it happened to and how many."""

    def __init__(self) -> None:
        self._places: dict[str, set[int]] = {}

    def add(self, what: str, *places: int) -> None:
        """Remember a conversion of the values at these places, by default of the first one."""
        self._places.setdefault(what, set()).update(places or (0,))

    def told(self, total: int) -> tuple[str, ...]:
        """One sentence for each conversion; `total` is the number of values."""
        return tuple(
            what if total == 1 else f"{what} (value {min(places) + 1}, {len(places):,} of {total:,})"
            for what, places in self._places.items()
        )


def place_of(modality: Modality, place: int | None, total: int = 2) -> str:
    """What an error calls a value: the modality, and its number where there are several."""
    return f"modality {modality.name}" + (f", value {place + 1}" if place is not None and total > 1 else "")


def is_several(values: object) -> bool:
    """Whether these are several values in a list or tuple; nested lists of numbers are one array."""
    if not isinstance(values, list | tuple):
        return False
    return not isinstance(_first_leaf(values), _NUMBERS)


def _first_leaf(values: object) -> object:
    """The first value that is no list, going down first items."""
    while isinstance(values, list | tuple) and values:
        values = values[0]
    return values


def require_some(modality: Modality, values: object) -> None:
    """Raise DataError where there are no values, or what holds them is no list.

    Raises:
        DataError: None, an empty list, or a set, a dictionary or a generator.
    """
    if values is None:
        raise DataError(f"{place_of(modality, None)}: expected {wanted(modality)}, got None: leave the modality out instead")
    if isinstance(values, list | tuple) and not len(values):
        raise DataError(f"{place_of(modality, None)}: expected at least one value, got an empty list: leave the modality out")
    if isinstance(values, dict | set | frozenset) or (isinstance(values, Iterator) and not hasattr(values, "shape")):
        kind = type(values).__name__
        raise DataError(
            f"{place_of(modality, None)}: expected {wanted(modality)} or a list of such, got a {kind}: make it a list"
        )


def is_array(value: object) -> bool:
    """Whether a value is an array, a tensor or nested lists of numbers."""
    if isinstance(value, np.ndarray | Tensor | np.number | bool | int | float):
        return True
    return isinstance(value, list | tuple) and isinstance(_first_leaf(value), _NUMBERS)


def as_array(value: object, at: str) -> np.ndarray:
    """An array of booleans, integers or floats of what `is_array` is true of.

    Raises:
        DataError: rows of different lengths, no numbers, or none at all; complex numbers and objects.
    """
    if isinstance(value, Tensor):
        dense = value.detach().cpu()
        value = (dense.float() if dense.is_floating_point() else dense).numpy()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = np.asarray(value)
    except (ValueError, TypeError, OverflowError, Warning) as error:
        raise DataError(
            f"{at}: expected rows of one length, got a ragged list: make them equal or give one value at a time"
        ) from error
    if found.dtype.kind not in "biuf":
        raise DataError(f"{at}: expected an array of numbers, got one of {_named(found.dtype)}: convert it to uint8 or float32")
    if not found.size:
        raise DataError(f"{at}: expected at least one number, got an array of shape {found.shape}: leave the modality out")
    return found


def _named(dtype: np.dtype[Any]) -> str:
    return {"O": "objects", "U": "texts", "S": "bytes", "c": "complex numbers"}.get(dtype.kind, str(dtype))


def require_finite(array: np.ndarray, at: str) -> None:
    """Raise DataError where a number is NaN, infinite, or so large that it is infinite in float32."""
    if array.dtype.kind != "f":
        return
    with np.errstate(over="ignore"):
        finite = np.isfinite(array.astype(np.float32))
    if not finite.all():
        place = tuple(int(axis[0]) for axis in np.nonzero(~finite))
        raise DataError(f"{at}: expected finite numbers, got {array[place]} at {place}: replace it, or leave the modality out")


def plain_path(path: str | Path, at: str, what: str, most: int) -> Path:
    """The path of a plain file.

    Args:
        path: as it was given.
        at: what an error calls the value.
        what: is expected there, in words.
        most: bytes that it may have.

    Raises:
        DataError: nothing is there, or it cannot be read. StoreError: it is no plain file, or a larger one.
    """
    shown = repr(str(path)[:120])
    if not str(path).strip():
        raise DataError(f"{at}: expected the path of {what}, got an empty text: name a file")
    try:
        return files.require_plain_file(Path(path), most=most)
    except FileNotFoundError as error:
        raise DataError(f"{at}: expected the path of {what}, got {shown}, where nothing is: correct the path") from error
    except StoreError as error:
        raise StoreError(f"{at}: {error}") from error
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or short(error)).lower()
        raise DataError(f"{at}: cannot read {what} at {shown} ({reason}): name another file") from error


def wanted(modality: Modality) -> str:
    """What may be given as a value of a modality, in words."""
    shape = " x ".join(map(str, modality.shape))
    if modality.kind == "image":
        return f"a picture of {_size(modality)} pixels as a PIL image, an array or a path"
    numbers = f"an array of {shape} numbers"
    return {
        "audio": f"a sound as {numbers} or the path of a WAV file",
        "label": "a symbol",
        "text": "a string",
        "video": f"{numbers} or a list of pictures",
    }.get(modality.kind, numbers)


def _size(modality: Modality) -> str:
    """Width and height of pictures.

    >>> _size(Modality("image", "image", (3, 48, 64)))
    '64 x 48'
    """
    return f"{modality.shape[-1]} x {modality.shape[-2]}"
