"""The native format of stored samples: which arrays a folder holds.

spec.json           the Spec
<modality>.npy      (N, *shape), as in a Batch
<modality>.present.npy  (N,) bool, where some samples lack the modality
factors.npy         (N, F) int64, -1 = absent
target.npy          (N, *shape), where there is something to predict
stage.json          what made the samples, and a checksum of every file
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from molyneux.core import Batch, DataError, Modality, Source, Spec, SpecError

_RESERVED = ("factors", "target")


@dataclass(frozen=True)
class Column:
    """One array of the format: what it is called and what one sample in it looks like."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.name}.npy"


def columns(spec: Spec, present: tuple[str, ...], *, factors: bool = True, targets: bool = True) -> tuple[Column, ...]:
    """The arrays that hold batches of `spec`.

    Args:
        spec: what the batches look like.
        present: names of the modalities with presence masks.
        factors: whether the batches carry factors.
        targets: whether the batches carry targets.

    Raises:
        SpecError: a modality has the name of another array.
    """
    for name in _RESERVED:
        if name in spec.names:
            raise SpecError(f"a modality cannot be stored under the name {name!r}, which the format uses itself: rename it")
    found = [Column(modality.name, modality.dtype, modality.shape) for modality in spec.modalities]
    found += [Column(f"{name}.present", "bool", ()) for name in spec.names if name in present]
    if factors and spec.factors:
        found.append(Column("factors", "int64", (len(spec.factors),)))
    if targets:
        found += [Column(f"target.{target.name}", target.dtype, target.stored_shape) for target in spec.targets]
    return tuple(found)


def columns_of(source: Source) -> tuple[Column, ...]:
    """The arrays that hold the samples of a source, as its first sample shows them.

    Raises:
        DataError: the source is empty. SpecError: its first sample does not fit its spec.
    """
    if len(source) < 1:
        raise DataError("expected a source with at least one sample, got an empty one: there is nothing to store")
    first = source.batch(np.arange(1)).check(source.spec)
    return columns(source.spec, tuple(first.present), factors=first.factors is not None, targets=bool(first.targets))


def read_arrays(source: Source, names: Collection[str], indices: np.ndarray) -> dict[str, np.ndarray]:
    """The samples at these positions as the arrays `names`, checked.

    Raises:
        SpecError: they do not fit the spec. DataError: a value is out of bounds, or an array is missing or too many.
    """
    batch = source.batch(indices).check(source.spec)
    check_values(batch, source.spec, indices)
    arrays = to_arrays(batch)
    if arrays.keys() != set(names):
        raise DataError(
            f"expected the arrays {', '.join(names)} in every batch, as in the first, got {', '.join(arrays)} at sample "
            f"{indices[0]}: a presence mask, factors or target have to be in all batches or in none"
        )
    return arrays


def to_arrays(batch: Batch) -> dict[str, np.ndarray]:
    """The arrays of a batch by column name, without copying where the batch is contiguous."""
    tensors = {**batch.views, **{f"{name}.present": mask for name, mask in batch.present.items()}}
    if batch.factors is not None and batch.factors.shape[1]:
        tensors["factors"] = batch.factors
    tensors |= {f"target.{name}": values for name, values in batch.targets.items()}
    return {name: np.ascontiguousarray(tensor.numpy(force=True)) for name, tensor in tensors.items()}


def to_batch(arrays: Mapping[str, np.ndarray], spec: Spec) -> Batch:
    """The batch that `to_arrays` took apart."""
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    present = {name: tensors[f"{name}.present"] for name in spec.names if f"{name}.present" in tensors}
    size = len(next(iter(tensors.values())))
    factors = tensors.get("factors", None if spec.factors else torch.empty((size, 0), dtype=torch.int64))
    targets = {target.name: tensors[f"target.{target.name}"] for target in spec.targets if f"target.{target.name}" in tensors}
    return Batch({name: tensors[name] for name in spec.names}, present, factors, targets=targets)


def check_values(batch: Batch, spec: Spec, indices: np.ndarray) -> None:
    """Check the content of a batch: no NaN or infinity where a modality is present, ids and codes within their bounds.

    Raises:
        DataError: names the modality and the sample.
    """
    for modality in spec.modalities:
        _check_view(modality, batch.views[modality.name].numpy(), batch.present.get(modality.name), indices)
    if batch.factors is not None:
        codes = batch.factors.numpy()
        sizes = np.array([len(factor.values) for factor in spec.factors], dtype=np.int64)
        wrong = (codes < -1) | (codes >= sizes)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            factor = spec.factors[column]
            raise DataError(
                f"factor {factor.name} of sample {indices[row]} has code {codes[row, column]}: expected -1 (absent) or "
                f"0 to {len(factor.values) - 1}"
            )


def _check_view(modality: Modality, view: np.ndarray, present: torch.Tensor | None, indices: np.ndarray) -> None:
    rows = view.reshape(len(view), -1)
    if modality.symbols:
        wrong = (rows.max(1) >= len(modality.symbols)) | (rows.min(1) < 0)
        what = f"an id outside its {len(modality.symbols)} symbols"
    elif rows.dtype.kind == "f":
        wrong = ~np.isfinite(rows).all(1)
        what = "NaN or infinity"
    else:
        return
    if present is not None:
        wrong = wrong & present.numpy()
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"modality {modality.name} of sample {indices[row]} holds {what}: repair the source, or mark it as missing there"
        )
