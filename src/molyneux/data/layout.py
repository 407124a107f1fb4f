"""The native format of stored samples: which arrays a folder holds, and what is checked of their values.

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

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch

from molyneux.core import Batch, DataError, Modality, Source, Spec, Target, store


class Column(NamedTuple):
    """One array of the format: its name in `Batch.tensors`, its type, and the shape of one sample in it."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def file(self) -> str:
        """Name of its file."""
        part, dot, name = self.name.partition(".")
        return f"{part}{dot}{store.file_name(name) if name else ''}.npy"


def possible_columns(spec: Spec) -> tuple[Column, ...]:
    """Every array that batches of `spec` may have; the views come first and are in all of them."""
    views = [Column(f"view.{modality.name}", modality.dtype, modality.shape) for modality in spec.modalities]
    masks = [Column(f"present.{name}", "bool", ()) for name in spec.names]
    masks += [Column(f"length.{modality.name}", "int64", ()) for modality in spec.modalities if modality.length_axis is not None]
    targets = [Column(f"target.{target.name}", target.dtype, target.stored_shape) for target in spec.targets]
    targets += [Column(f"known.{target.name}", "bool", ()) for target in spec.targets]
    causes = [Column("factors", "int64", (len(spec.factors),)), Column("quantities", "float32", (len(spec.quantities),))]
    return (*views, *masks, *targets, *(column for column in causes if column.shape != (0,)))


def columns_of(source: Source) -> tuple[Column, ...]:
    """The arrays that hold the samples of a source, as its first sample shows them.

    Raises:
        DataError: the source is empty. SpecError: its first sample does not fit its spec.
    """
    if len(source) < 1:
        raise DataError("expected a source with at least one sample, got an empty one: there is nothing to store")
    arrays = to_arrays(source.batch(np.arange(1)).check(source.spec))
    return tuple(column for column in possible_columns(source.spec) if column.name in arrays)


def read_arrays(source: Source, names: Collection[str], indices: np.ndarray) -> dict[str, np.ndarray]:
    """The samples at these positions as the arrays `names`, checked.

    Raises:
        SpecError: they do not fit the spec. DataError: a value is out of bounds, or an array is missing or too many.
    """
    batch = source.batch(indices).check(source.spec)
    check_values(batch, source.spec, indices)
    arrays = to_arrays(batch)
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


def check_values(batch: Batch, spec: Spec, indices: np.ndarray) -> None:
    """Check the values of a batch that fits its spec.

    No NaN or infinity where a modality is present, ids, codes and classes within their bounds, lengths from 0 to the largest,
    quantities within their bounds or NaN, and targets as their task has them where they are known.

    Args:
        batch: the samples.
        spec: what they look like.
        indices: (B,) their numbers, for the message.

    Raises:
        DataError: names the modality, factor, quantity or target, and the sample.
    """
    for wrong, message in _problems(batch, spec):
        if wrong.any():
            row = int(np.flatnonzero(wrong.reshape(len(wrong), -1).any(1))[0])
            raise DataError(message.format(sample=indices[row]))


def _problems(batch: Batch, spec: Spec) -> Iterator[tuple[np.ndarray, str]]:
    """What may be wrong: where it is, (B, ...) bool, and the sentence for it with a place for the number of the `{sample}`."""
    for modality in spec.modalities:
        wrong, what = _wrong_values(modality, batch, spec)
        yield (
            wrong,
            _plain(f"modality {modality.name} of sample ", f" holds {what}: repair the source, or mark it as missing there"),
        )
    for name, lengths in batch.lengths.items():
        if name in spec.names:
            longest, counts = spec.modality(name).max_length, lengths.numpy()
            wrong = ((counts < 0) | (counts > longest)) & batch.mask(name).numpy()
            yield wrong, _plain(f"modality {name} of sample ", f" has a length outside 0 to {longest}: repair its lengths")
    if batch.factors is not None:
        codes = batch.factors.numpy()
        for column, factor in enumerate(spec.factors):
            wrong = (codes[:, column] < -1) | (codes[:, column] >= len(factor.values))
            found = codes[wrong, column][:1].tolist()
            expected = f" has code {found[0] if found else 0}: expected -1 (absent) or 0 to {len(factor.values) - 1}"
            yield wrong, _plain(f"factor {factor.name} of sample ", expected)
    if batch.quantities is not None:
        for column, quantity in enumerate(spec.quantities):
            values, (low, high) = batch.quantities.numpy()[:, column], quantity.bounds
            wrong = (values < np.float32(low)) | (values > np.float32(high))
            yield wrong, _plain(f"quantity {quantity.name} of sample ", f" lies outside {low:g} to {high:g}; NaN says absent")
    for target in spec.targets if batch.targets else ():
        wrong, what = _wrong_targets(target, batch.targets[target.name].numpy())
        known = batch.known_mask(target.name).numpy().reshape(-1, *[1] * (wrong.ndim - 1))
        yield wrong & known, _plain(f"target {target.name} of sample ", f" is {what}: repair it, or mark it as not known there")


def _plain(before: str, after: str) -> str:
    """A sentence for `str.format`, in which braces of names stay as they are."""
    before, after = (part.replace("{", "{{").replace("}", "}}") for part in (before, after))
    return before + "{sample}" + after


def _wrong_values(modality: Modality, batch: Batch, spec: Spec) -> tuple[np.ndarray, str]:
    """Where a modality that is present holds what it must not, (B, ...) bool, and what that is."""
    view = batch.views[modality.name].numpy()
    none = np.zeros(len(view), bool)
    if modality.symbols:
        count = len(modality.symbols)
        what = f"an id outside its {count} symbols"
        if not view.size or (view.max() < count and view.min() >= 0):
            return none, what
        wrong = (view >= count) | (view < 0)
    elif view.dtype.kind == "f":
        what = "NaN or infinity"
        wrong = ~np.isfinite(view)
        if not wrong.any():
            return none, what
    else:
        return none, ""
    if modality.name in batch.lengths:
        counted = batch.positions(modality.name, spec).numpy()
        assert modality.length_axis is not None
        places = [len(view), *[1] * len(modality.shape)]
        places[1 + modality.length_axis] = modality.max_length
        wrong &= counted.reshape(places)
    return wrong & batch.mask(modality.name).numpy().reshape(-1, *[1] * (wrong.ndim - 1)), what


def _wrong_targets(target: Target, values: np.ndarray) -> tuple[np.ndarray, str]:
    """Where a target holds what it must not, (B, ...) bool, and what that is."""
    if target.task == "number":
        low, high = (np.float32(end) if end is not None else None for end in target.bounds)
        wrong = ~np.isfinite(values)
        wrong |= False if low is None else values < low
        wrong |= False if high is None else values > high
        return wrong, f"no finite number within the bounds {target.bounds}"
    count = len(target.symbols) if target.task == "class" else 2
    return (values < 0) | (values >= count), f"no {'class' if target.task == 'class' else 'value'} from 0 to {count - 1}"
