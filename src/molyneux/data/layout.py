"""The native format of stored samples: which arrays a folder holds.

A folder has one .npy file of N rows for each tensor of a batch, under the names of `Batch.tensors`; `store.file_name` makes file
names of those of modalities and targets.

spec.json               the Spec
view.<modality>.npy     (N, *shape), as in a Batch
present.<modality>.npy  (N,) bool, where some samples lack the modality
length.<modality>.npy   (N,) int64, where samples have lengths
factors.npy             (N, F) int64, -1 = absent
quantities.npy          (N, Q) float32, NaN = absent
target.<target>.npy     (N, *shape), where there is something to predict
known.<target>.npy      (N,) bool, where a target is not known of some samples
stage.json              what made the samples, and a checksum of every file
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import torch

from molyneux.core import Batch, DataError, Source, Spec, store


class ArrayColumn(NamedTuple):
    """One array of the format: its name in `Batch.tensors`, its type, and the shape of one sample in it."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Bytes of one sample in it."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def file(self) -> str:
        """Name of its file."""
        part, dot, name = self.name.partition(".")
        return f"{part}{dot}{store.file_name(name) if name else ''}.npy"


def possible_columns(spec: Spec) -> tuple[ArrayColumn, ...]:
    """Every array that batches of `spec` may have; the views come first and are in all of them."""
    views = [ArrayColumn(f"view.{modality.name}", modality.dtype, modality.shape) for modality in spec.modalities]
    masks = [ArrayColumn(f"present.{name}", "bool", ()) for name in spec.names]
    masks += [
        ArrayColumn(f"length.{modality.name}", "int64", ()) for modality in spec.modalities if modality.length_axis is not None
    ]
    targets = [ArrayColumn(f"target.{target.name}", target.dtype, target.stored_shape) for target in spec.targets]
    targets += [ArrayColumn(f"known.{target.name}", "bool", ()) for target in spec.targets]
    causes = [
        ArrayColumn("factors", "int64", (len(spec.factors),)),
        ArrayColumn("quantities", "float32", (len(spec.quantities),)),
    ]
    return (*views, *masks, *targets, *(column for column in causes if column.shape != (0,)))


class Limits:
    """Between which values the arrays of samples that fit a spec lie, as `Batch.check_values` has it; quickly asked.

    Args:
        spec: of the samples.
    """

    def __init__(self, spec: Spec) -> None:
        self._columns = {column.name: (np.dtype(column.dtype), column.shape) for column in possible_columns(spec)}
        self._views = [f"view.{name}" for name in spec.names]
        self._last = {f"view.{modality.name}": len(modality.symbols) - 1 for modality in spec.modalities if modality.symbols}
        self._last |= {f"length.{m.name}": m.max_length for m in spec.modalities if m.length_axis is not None}
        self._last |= {f"target.{target.name}": len(target.symbols) - 1 for target in spec.targets if target.task == "class"}
        self._last |= {f"target.{t.name}": 1 for t in spec.targets if t.task in ("agreement", "multilabel")}
        self._factors = np.array([len(factor.values) for factor in spec.factors])

    def hold(self, arrays: Mapping[str, np.ndarray]) -> bool:
        """Whether arrays (B, ...) are whole and all of their values within the limits.

        Where this is False, some value may still be right, such as one that is masked: `Batch.check_values` says it.
        """
        count = len(arrays[self._views[0]]) if all(name in arrays for name in self._views) else 0
        return count > 0 and all(self._holds(name, array, count) for name, array in arrays.items())

    def _holds(self, name: str, array: np.ndarray, count: int) -> bool:
        dtype, shape = self._columns.get(name, (array.dtype, ()))
        if array.dtype != dtype or array.shape != (count, *shape):
            return False
        if (last := self._last.get(name)) is not None:
            return bool((dtype == np.uint8 or array.min() >= 0) and array.max() <= last)
        if name == "factors":
            return bool(array.min() >= -1 and (array < self._factors).all())
        return dtype.kind in "bu" or (name.startswith("view.") and bool(np.isfinite(array).all()))


def columns_of(source: Source) -> tuple[ArrayColumn, ...]:
    """The arrays that hold the samples of a source, as its first sample shows them.

    Raises:
        DataError: the source is empty. SpecError: its first sample does not fit its spec.
    """
    if len(source) < 1:
        raise DataError("expected a source with at least one sample, got an empty one: there is nothing to store")
    arrays = to_arrays(source.batch(np.arange(1)).check(source.spec))
    return tuple(column for column in possible_columns(source.spec) if column.name in arrays)


def names_of(source: Source) -> tuple[str, ...]:
    """The names of the arrays that hold the samples of a source; errors as `columns_of`."""
    return tuple(column.name for column in columns_of(source))


def read_arrays(source: Source, names: Collection[str], indices: np.ndarray) -> dict[str, np.ndarray]:
    """The samples at these positions as the arrays `names`, checked.

    Raises:
        SpecError: they do not fit the spec. DataError: a value is out of bounds, or an array is missing or too many.
    """
    arrays = to_arrays(source.batch(indices).check_values(source.spec, indices))
    known = {column.name for column in possible_columns(source.spec)}
    if (arrays.keys() & known) != set(names):
        raise DataError(
            f"expected the arrays {', '.join(names)} in every batch, as in the first, got {', '.join(arrays)} at sample "
            f"{indices[0]}: masks, lengths, factors and targets have to be in all batches or in none"
        )
    return {name: arrays[name] for name in names}


def to_arrays(batch: Batch) -> dict[str, np.ndarray]:
    """The arrays of a batch by the names of `Batch.tensors`, without copying where the batch is contiguous."""
    tensors = {name: tensor for name, tensor in batch.tensors().items() if tensor.shape[1:] != (0,)}
    return {name: np.ascontiguousarray(tensor.numpy(force=True)) for name, tensor in tensors.items()}


def to_batch(arrays: Mapping[str, np.ndarray], spec: Spec) -> Batch:
    """The batch that `to_arrays` took apart."""
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if not spec.factors:
        tensors["factors"] = torch.empty((len(next(iter(tensors.values()))), 0), dtype=torch.int64)
    return Batch.from_tensors(tensors)
