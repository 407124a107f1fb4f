"""Arrays in `.npz` and `.npy` files as a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import DataError, Kind, Modality, SpecError, StoreError, nearest, store
from molyneux.data.formats.array_files import array_names, map_array, read_arrays
from molyneux.data.formats.mapped_files import let_go
from molyneux.data.own.content import ArrayView, OwnContent, drawn_notes
from molyneux.data.own.dataset import OwnDataset
from molyneux.data.own.labels import class_target, make_labels, number_target
from molyneux.data.own.multilabels import array_target
from molyneux.data.own.sounds import sound_form
from molyneux.data.own.texts import text_view

_CHANNELS = (1, 3, 4)
_CHUNK = 4096
_OTHERS = (".h5", ".hdf5", ".mat", ".npz", ".pickle", ".pkl", ".pt", ".pth")
"""Names of files that may hold arrays, which a folder of `.npy` files is not to have."""

_DARK = 32
"""Level that some image has to reach; else all of them are nearly black, and it is said."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayDataset(OwnDataset):
    """Arrays of a `.npz` file, or of the `.npy` files of a folder: one for each modality, label and target, all of N samples.

    An array that `labels`, `targets`, `number_targets`, `multilabel_targets`, `split` and `ignore` do not name is a modality. Its
    kind follows from its type and shape, unless `kinds` says it:

    - images: uint8 or bool (N, H, W), (N, H, W, C) or (N, C, H, W) with 1, 3 or 4 channels; floats with 4 axes, from 0 to 1.
      uint8 images of which no level is above 1 are masks: their 1 is white, as True is;
    - texts: strings (N,);
    - tabular: floats (N,) or (N, D); series: floats (N, T, D);
    - with `kinds: {sound: audio}`, sounds (N, T), (N, C, T) or (N, T, C): floats from -1 to 1, or integers of 8, 16 or 32
      bits, which are divided by half of their range; with `kinds: {clip: video}`, videos (N, T, H, W, C) or (N, T, C, H, W).

    A sample whose numbers are all NaN lacks that modality. Labels are integers, where a negative one, such as -1, says that there
    is no label, whole numbers in floats, where NaN does, or strings, where an empty one does. Arrays of Python objects are
    refused unless `ignore` names them: nothing is unpickled. `.npy` files are memory-mapped.

    Args:
        kinds: kinds of modalities by the name of the array.
        rates: samples per second of modalities of kind audio by the name of the array; a recording of another rate is then
            resampled for a model that learned from them.
        names: names of the values 0, 1, ... of a label, or of the labels of a target of several, by the name of the array.
        ignore: names of arrays that are not used.
    """

    name = "arrays-v1"

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    rates: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()

    def _files(self) -> Sequence[Path]:
        if store.is_folder(self.path):
            items = sorted(item for item in self.path.iterdir() if not item.name.startswith("."))
            found = [item for item in items if item.suffix.lower() == ".npy"]
            if not found:
                raise StoreError(f"expected .npy files in {self.path}, got none: name a folder that holds them, or a .npz file")
            if other := next((item for item in items if item.suffix.lower() in _OTHERS), None):
                raise DataError(f"{other}: expected .npy files alone in {self.path}, got arrays in another format: move it away")
            return found
        if not store.is_file(self.path):
            raise StoreError(f"expected arrays in {self.path}, which is not there: name a .npz file, or a folder of .npy files")
        if self.path.suffix.lower() not in (".npy", ".npz"):
            raise StoreError(f"expected a .npz file or a folder of .npy files, got {self.path}: save arrays with numpy.savez")
        return [self.path]

    def _read(self) -> OwnContent:
        arrays = self._arrays()
        roles = {
            *self.labels,
            *self.targets,
            *self.number_targets,
            *self.multilabel_targets,
            *([self.split] if self.split else []),
        }
        for name in sorted({*roles, *self.kinds, *self.rates, *self.names} - arrays.keys()):
            ignored = f"which is under ignore: leave it out of {'ignore' if name in self.ignore else name}"
            raise DataError(f"{self.path}: no array {name!r}; {ignored if name in self.ignore else nearest(name, arrays)}")
        sizes = {name: len(array) if array.ndim else 0 for name, array in arrays.items()}
        size = next(iter(sizes.values()), 0)
        for name, found in sizes.items():
            if found != size:
                first = next(iter(sizes))
                raise DataError(
                    f"{self.path}: expected arrays of as many samples, got {size} in {first!r} and {found} in {name!r}"
                )
        given = None if self.split is None else _row(arrays[self.split], self._at(self.split))
        rows = self._split_rows(size, given, self._where)
        labels = {
            name: make_labels(
                name,
                _row(arrays[name], self._at(name)),
                self._where,
                names=self.names.get(name, ()),
                missing=self.missing,
            )
            for name in dict.fromkeys([*self.labels, *self.targets])
        }
        answers = [class_target(labels[name]) for name in self.targets]
        for name in self.number_targets:
            answers.append(number_target(name, _numbers(_row(arrays[name], self._at(name)), self._at(name)), self._where))
        for name in self.multilabel_targets:
            answers.append(array_target(name, arrays[name], self._at(name), names=self.names.get(name, ())))
        views = tuple(self._view(name, array, rows["train"]) for name, array in arrays.items() if name not in roles)
        if not views:
            raise DataError(f"{self.path}: expected an array that is a modality, got labels alone: add images, texts or numbers")
        chosen = tuple(labels[name] for name in self.labels)
        return OwnContent(views, rows, chosen, tuple(answers), drawn_notes(given, rows))

    def _arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, sorted, without those to ignore, which are not read; those of single files are memory-mapped."""
        found, known = dict[str, np.ndarray](), list[str]()
        try:
            for path in self._files():
                if path.suffix.lower() != ".npy":
                    known += array_names(path)
                    found |= read_arrays(path, without=self.ignore)
                    continue
                known.append(path.stem)
                if path.stem not in self.ignore:
                    found[path.stem] = map_array(path)[1]
        except DataError as error:
            if "Python objects" not in str(error):
                raise
            raise DataError(f"{error}: save them as numbers or strings, or name the array under ignore") from error
        for name in self.ignore:
            if name not in known:
                raise DataError(f"{self.path}: no array {name!r} to ignore; {nearest(name, known)}")
        return dict(sorted(found.items()))

    def _where(self, row: int) -> str:
        return f"{self.path}, row {row}"

    def _at(self, name: str) -> str:
        return f"{self.path}, array {name!r}"

    def _view(self, name: str, array: np.ndarray, train: np.ndarray) -> ArrayView:
        at = self._at(name)
        if array.dtype.kind in "US" and array.ndim == 1:
            texts = [None if self.missing and text in self.missing else text for text in _row(array, at).tolist()]
            where = lambda row: f"{at}, row {row}"  # noqa: E731
            return text_view(name, texts, train, where=where, unit=self.unit, words=self.words, length=self.length)
        kind = self.kinds.get(name) or _kind(array, at)
        seen = kind in ("image", "video")
        bits = seen and array.dtype.kind in "bu" and array.dtype.itemsize == 1
        brightest = _largest(array) if bits and array.dtype.kind == "u" else 255
        if kind == "audio":
            heard = sound_form(array, at)
            shape, change, notes = heard.shape, heard.change, heard.notes
        else:
            scale = 255 if brightest == 1 or (seen and array.dtype.kind == "b") else 1
            shape, change = _stored_form(array, kind, at, scale=scale)
            notes = (*_levels(brightest, at), *(_either_axis(array.shape[-3:], at) if seen and array.ndim > 3 else ()))
        present = _present(array, at) if array.dtype.kind == "f" else None
        if not bits and array.dtype.kind in "biuf":
            low, high = _require_range(array, at, unit=seen)
            if kind == "series" and name not in self.kinds and low >= 0 and high <= 1 and array.dtype.kind == "f":
                notes = (*notes, _maybe_images(array, name, at))
        try:
            modality = Modality(name, kind, shape, "uint8" if bits else "float32", rate=self.rates.get(name))
        except SpecError as error:
            raise DataError(f"{at}: {error}") from error
        return ArrayView(modality, array, present, change, notes)


def _levels(brightest: int, at: str) -> tuple[str, ...]:
    """What is to be said of images by their largest level."""
    if brightest == 1:
        return (f"{at}: images of levels 0 and 1 were read as masks, 1 as white (255)",)
    if brightest < _DARK:
        return (
            f"{at}: the largest level of any image is {brightest} of 255, so that all are nearly black: multiply them if not",
        )
    return ()


def _maybe_images(array: np.ndarray, name: str, at: str) -> str:
    """What is to be said of floats from 0 to 1 with three axes, as grey images often are."""
    steps, numbers = array.shape[1:]
    return (
        f"{at}: floats from 0 to 1 of shape ({steps}, {numbers}) were read as series of {steps} steps of {numbers} numbers: "
        f"set kinds to {{{name}: image}} if they are grey images"
    )


def _either_axis(shape: tuple[int, ...], at: str) -> tuple[str, ...]:
    """What is to be said of images, or frames, whose channels may be the first or the last axis."""
    if shape[0] not in _CHANNELS or shape[2] not in _CHANNELS:
        return ()
    return (
        f"{at}: {shape} was read as {shape[0]} channels of {shape[1]} x {shape[2]} pixels: transpose them if the last axis "
        "is that of channels",
    )


def _largest(array: np.ndarray) -> int:
    """The largest level, or one from `_DARK` on as soon as it is found."""
    largest = 0
    for start in range(0, len(array), _CHUNK):
        largest = max(largest, int(np.max(array[start : start + _CHUNK], initial=0)))
        if largest >= _DARK:
            break
    return largest


def _require_range(array: np.ndarray, at: str, *, unit: bool) -> tuple[float, float]:
    """The least and the largest number, NaN passed over.

    Raises:
        DataError: numbers that float32 does not hold, or those of images outside of 0..1.
    """
    least, most = np.inf, -np.inf
    limits = (0.0, 1.0) if unit else (-float(np.finfo(np.float32).max), float(np.finfo(np.float32).max))
    for start in range(0, len(array), _CHUNK):
        rows = np.asarray(array[start : start + _CHUNK])
        known = rows[np.isfinite(rows)] if rows.dtype.kind == "f" else rows
        if not known.size:
            continue
        low, high = float(known.min()), float(known.max())
        least, most = min(least, low), max(most, high)
        if low >= limits[0] and high <= limits[1]:
            continue
        got = f"{array.dtype} from {low:g} to {high:g}"
        if unit:
            advice = "add 1 and divide by 2 if they are from -1 to 1" if low < 0 else "divide them by their largest value"
            if array.dtype.kind in "iu":
                advice = "store them as uint8" if low >= 0 and high <= 255 else "divide them by the largest value of their type"
            raise DataError(f"{at}: expected images as uint8, or as floats from 0 to 1, got {got}: {advice}")
        raise DataError(f"{at}: expected numbers up to 3.4e38, as float32 holds them, got {got}: correct or scale them")
    return least, most


def _row(array: np.ndarray, at: str) -> np.ndarray:
    """Labels or words (N,), strings as text."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(
            f"{at}: expected one value for each sample, got an array of shape {array.shape}: store argmax(1) where one place of "
            "each row is 1, name it under multilabel_targets where several are, or store an array for each column"
        )
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
    if array.dtype in (np.bool_, np.uint8) and array.ndim in (3, 4):
        return "image"
    if array.dtype.kind == "f" and array.ndim <= 4:
        kinds: tuple[Kind, ...] = ("tabular", "tabular", "series", "image")
        return kinds[array.ndim - 1]
    if array.dtype.kind in "biu" and array.ndim == 1:
        raise DataError(f"{at}: one integer for each sample: name it under labels, targets, number_targets, split or ignore")
    if array.dtype.kind in "iu" and array.ndim in (3, 4):
        raise DataError(
            f"{at}: expected images as uint8, or as floats from 0 to 1, got {array.dtype} {array.shape}: convert them to 8 bits, "
            "name their kind under kinds, or name them under ignore"
        )
    raise DataError(
        f"{at}: cannot tell what {array.dtype} {array.shape} is: give it the shape of images (N, H, W) or (N, H, W, C) uint8, "
        "make it floats, name its kind under kinds, or name it under ignore"
    )


def _stored_form(
    array: np.ndarray, kind: Kind, at: str, *, scale: int
) -> tuple[tuple[int, ...], Callable[[np.ndarray], np.ndarray]]:
    """The shape of a stored view, and what makes stored views (B, *shape) of rows of the array, times `scale`."""
    if array.dtype.kind not in "biuf":
        raise DataError(f"{at}: expected numbers for kind {kind}, got {array.dtype}")

    def plain(rows: np.ndarray) -> np.ndarray:
        return np.nan_to_num(rows) if array.dtype.kind == "f" else rows.astype(np.uint8) * np.uint8(scale) if scale > 1 else rows

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
    if kind == "video" and len(shape) == 4 and shape[1] not in _CHANNELS:
        if shape[3] not in _CHANNELS:
            raise DataError(f"{at}: expected videos with 1, 3 or 4 channels, got shape {shape} of each")
        return (shape[0], shape[3], *shape[1:3]), lambda rows: plain(rows).transpose(0, 1, 4, 2, 3)
    if kind == "tabular" and not shape:
        return (1,), lambda rows: plain(rows)[:, None]
    if kind == "tabular" and len(shape) > 1:
        return (int(np.prod(shape)),), lambda rows: plain(rows).reshape(len(rows), -1)
    if kind == "series" and len(shape) == 1:
        return (*shape, 1), lambda rows: plain(rows)[..., None]
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
        let_go(array)
    if not present.any():
        raise DataError(f"{at}: expected numbers, got NaN in all samples: name it under ignore")
    return None if present.all() else present
