"""Arrays in `.npz` and `.npy` files as a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import DataError, Kind, Modality, SpecError, StoreError, nearest, store
from molyneux.data.array_files import map_array, read_arrays
from molyneux.data.own.content import ArrayView, Content
from molyneux.data.own.dataset import OwnDataset
from molyneux.data.own.labels import class_target, make_labels, number_target
from molyneux.data.own.texts import text_view

_CHANNELS = (1, 3, 4)
_CHUNK = 4096


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayDataset(OwnDataset):
    """Arrays of a `.npz` file, or of the `.npy` files of a folder: one for each modality, label and target, all of N samples.

    An array that `labels`, `targets`, `number_targets`, `split` and `ignore` do not name is a modality. Its kind follows from its
    type and shape, unless `kinds` says it:

    - images: uint8 or bool (N, H, W), (N, H, W, C) or (N, C, H, W) with 1, 3 or 4 channels; floats with 4 axes, from 0 to 1;
    - texts: strings (N,);
    - tabular: floats (N,) or (N, D); series: floats (N, T, D).

    A sample whose numbers are all NaN lacks that modality. Labels are integers, where a negative one, such as -1, says that there
    is no label, or strings, where an empty one does. Arrays of Python objects are refused: nothing is unpickled. `.npy` files are
    memory-mapped.

    Args:
        kinds: kinds of modalities by the name of the array.
        names: names of the values 0, 1, ... of a label, by the name of the array.
        ignore: names of arrays that are not used.
    """

    name = "arrays-v1"

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()

    def _files(self) -> Sequence[Path]:
        if self.path.is_dir():
            found = sorted(self.path.glob("*.npy"))
            if not found:
                raise StoreError(f"expected .npy files in {self.path}, got none: name a folder that holds them, or a .npz file")
            return found
        if not store.is_file(self.path):
            raise StoreError(f"expected arrays in {self.path}, which is not there: name a .npz file, or a folder of .npy files")
        if self.path.suffix not in (".npy", ".npz"):
            raise StoreError(f"expected a .npz file or a folder of .npy files, got {self.path}: save arrays with numpy.savez")
        return [self.path]

    def _read(self) -> Content:
        arrays = self._arrays()
        roles = {*self.labels, *self.targets, *self.number_targets, *([self.split] if self.split else []), *self.ignore}
        for name in sorted({*roles, *self.kinds, *self.names} - arrays.keys()):
            raise DataError(f"{self.path}: no array {name!r}; {nearest(name, arrays)}")
        sizes = {name: len(array) if array.ndim else 0 for name, array in arrays.items() if name not in self.ignore}
        size = next(iter(sizes.values()), 0)
        for name, found in sizes.items():
            if found != size:
                first = next(iter(sizes))
                raise DataError(
                    f"{self.path}: expected arrays of as many samples, got {size} in {first!r} and {found} in {name!r}"
                )
        rows = self._split_rows(size, None if self.split is None else _row(arrays[self.split], self._at(self.split)), self._where)
        labels = {
            name: make_labels(name, _row(arrays[name], self._at(name)), self._where, names=self.names.get(name, ()))
            for name in dict.fromkeys([*self.labels, *self.targets])
        }
        answers = [class_target(labels[name]) for name in self.targets]
        for name in self.number_targets:
            answers.append(number_target(name, _numbers(_row(arrays[name], self._at(name)), self._at(name)), self._where))
        views = tuple(self._view(name, array, rows["train"]) for name, array in arrays.items() if name not in roles)
        if not views:
            raise DataError(f"{self.path}: expected an array that is a modality, got labels alone: add images, texts or numbers")
        return Content(views, rows, tuple(labels[name] for name in self.labels), tuple(answers))

    def _arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, sorted; those of single files are memory-mapped."""
        found = dict[str, np.ndarray]()
        for path in self._files():
            found |= {path.stem: map_array(path)[1]} if path.suffix == ".npy" else read_arrays(path)
        return dict(sorted(found.items()))

    def _where(self, row: int) -> str:
        return f"{self.path}, row {row}"

    def _at(self, name: str) -> str:
        return f"{self.path}, array {name!r}"

    def _view(self, name: str, array: np.ndarray, train: np.ndarray) -> ArrayView:
        if array.dtype.kind in "US" and array.ndim == 1:
            texts = _row(array, self._at(name)).tolist()
            return text_view(name, texts, train, unit=self.unit, words=self.words, length=self.length)
        kind = self.kinds.get(name) or _kind(array, self._at(name))
        shape, change = _stored_form(array, kind, self._at(name))
        present = _present(array, self._at(name)) if array.dtype.kind == "f" else None
        dtype = "uint8" if kind in ("image", "video") and array.dtype.kind in "bu" else "float32"
        if dtype == "float32" and kind in ("image", "video") and (np.nanmin(array) < 0 or np.nanmax(array) > 1):
            raise DataError(
                f"{self._at(name)}: expected images as uint8, or as floats from 0 to 1, got {array.dtype} from "
                f"{np.nanmin(array):g} to {np.nanmax(array):g}: divide them by their largest value"
            )
        try:
            modality = Modality(name, kind, shape, dtype)
        except SpecError as error:
            raise DataError(f"{self._at(name)}: {error}") from error
        return ArrayView(modality, array, present, change)


def _row(array: np.ndarray, at: str) -> np.ndarray:
    """Labels or words (N,), strings as text."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{at}: expected one value for each sample, got an array of shape {array.shape}")
    try:
        return np.char.decode(array, "utf-8") if array.dtype.kind == "S" else np.asarray(array)
    except UnicodeDecodeError as error:
        raise DataError(f"{at}: expected text in UTF-8: {error}") from error


def _numbers(values: np.ndarray, at: str) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        raise DataError(f"{at}: expected numbers, got {values.dtype}")
    return values


def _kind(array: np.ndarray, at: str) -> Kind:
    """The kind of modality that an array is by its type and shape."""
    if array.dtype.kind in "bu" and array.ndim in (3, 4):
        return "image"
    if array.dtype.kind == "f" and array.ndim <= 4:
        kinds: tuple[Kind, ...] = ("tabular", "tabular", "series", "image")
        return kinds[array.ndim - 1]
    if array.dtype.kind in "biu" and array.ndim == 1:
        raise DataError(f"{at}: one integer for each sample: name it under labels, targets, number_targets, split or ignore")
    raise DataError(
        f"{at}: cannot tell what {array.dtype} {array.shape} is: give it the shape of images (N, H, W) or (N, H, W, C) uint8, "
        "make it floats, name its kind under kinds, or name it under ignore"
    )


def _stored_form(array: np.ndarray, kind: Kind, at: str) -> tuple[tuple[int, ...], Callable[[np.ndarray], np.ndarray]]:
    """The shape of a stored view, and what makes stored views (B, *shape) of rows of the array."""
    if array.dtype.kind not in "biuf":
        raise DataError(f"{at}: expected numbers for kind {kind}, got {array.dtype}")
    scale = 255 if array.dtype.kind == "b" and kind in ("image", "video") else 1

    def plain(rows: np.ndarray) -> np.ndarray:
        return np.nan_to_num(rows) if array.dtype.kind == "f" else rows.astype(np.uint8) * np.uint8(255) if scale > 1 else rows

    shape = array.shape[1:]
    if kind == "image" and len(shape) == 2:
        return (1, *shape), lambda rows: plain(rows)[:, None]
    if kind == "image" and len(shape) == 3:
        first, last = shape[0] in _CHANNELS, shape[2] in _CHANNELS
        if not first and not last:
            raise DataError(f"{at}: expected images with 1, 3 or 4 channels, got shape {shape} of each")
        if not first:
            return (shape[2], *shape[:2]), lambda rows: plain(rows).transpose(0, 3, 1, 2)
        return shape, plain
    if kind == "tabular" and not shape:
        return (1,), lambda rows: plain(rows)[:, None]
    if kind == "tabular" and len(shape) > 1:
        return (int(np.prod(shape)),), lambda rows: plain(rows).reshape(len(rows), -1)
    if kind in ("audio", "series") and len(shape) == 1:
        wide = (1, *shape) if kind == "audio" else (*shape, 1)
        return wide, lambda rows: plain(rows).reshape(len(rows), *wide)
    return shape, plain


def _present(array: np.ndarray, at: str) -> np.ndarray | None:
    """Which samples (N,) are there: those without NaN; None for all.

    Raises:
        DataError: a sample with some NaN or infinity, but not all; names the row.
    """
    present = np.ones(len(array), bool)
    for start in range(0, len(array), _CHUNK):
        rows = np.asarray(array[start : start + _CHUNK])
        missing = np.isnan(rows).reshape(len(rows), -1)
        broken = ~np.isfinite(rows).reshape(len(rows), -1).all(1) & ~missing.all(1)
        if broken.any():
            row = start + int(np.flatnonzero(broken)[0])
            sample = np.asarray(array[row])
            place = np.argwhere(~np.isfinite(sample))[0].tolist()
            column = f" in column {place[0]}" if len(place) == 1 else f" at {tuple(place)}" if place else ""
            raise DataError(
                f"{at}, row {row}: expected finite numbers, or NaN in all of a sample that is missing, got "
                f"{sample[tuple(place)]}{column}: correct it, or leave it out"
            )
        present[start : start + len(rows)] = ~missing.all(1)
    if not present.any():
        raise DataError(f"{at}: expected numbers, got NaN in all samples: name it under ignore")
    return None if present.all() else present
