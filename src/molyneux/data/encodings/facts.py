"""What is known of samples besides their views, in words and numbers, and back: factors, quantities, targets and lengths."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from molyneux.core import Batch, DataError, Modality, Spec, Target
from molyneux.core.errors import short
from molyneux.data.encodings.views import strings


def filled_spec(spec: Spec, names: Collection[str]) -> Spec:
    """A spec without the factors, quantities or targets that the arrays of these names (`data.layout`) do not hold."""
    targets = tuple(target for target in spec.targets if f"target.{target.name}" in names)
    factors, quantities = (spec.factors if "factors" in names else ()), (spec.quantities if "quantities" in names else ())
    return Spec(spec.modalities, factors, targets, quantities)


def described(spec: Spec, batch: Batch, paths: dict[str, list[str | None]], *, decimals: int | None = 6) -> list[dict[str, Any]]:
    """A record of each sample: `views`, `lengths`, `targets`, `factors` and `quantities`, with None for what is missing.

    Args:
        spec: the modalities, factors, quantities and targets that are told.
        batch: the samples.
        paths: by the name of a modality, what is told instead of each view, such as the path of an image.
        decimals: of numbers; None for all that they have.
    """
    parts: dict[str, dict[str, list[Any]]] = {
        "views": {m.name: paths[m.name] if m.name in paths else _view(m, batch, spec, decimals) for m in spec.modalities},
        "lengths": {name: counts.tolist() for name, counts in batch.lengths.items()},
        "targets": {target.name: _target(target, batch, decimals) for target in spec.targets},
    }
    if batch.factors is not None:
        codes = zip(spec.factors, batch.factors.T, strict=True)
        parts["factors"] = {factor.name: _words(factor.values, column, column >= 0) for factor, column in codes}
    if batch.quantities is not None:
        columns = zip(spec.quantities, batch.quantities.T, strict=True)
        parts["quantities"] = {quantity.name: _numbers(column, ~column.isnan(), decimals) for quantity, column in columns}
    filled = {part: named for part, named in parts.items() if named}
    return [
        {part: {name: column[row] for name, column in named.items()} for part, named in filled.items()}
        for row in range(len(batch))
    ]


def _view(modality: Modality, batch: Batch, spec: Spec, decimals: int | None) -> list[Any]:
    """A modality that is no image: strings, a label's words, or nested lists of numbers; None where it is missing."""
    view, present = batch.views[modality.name], batch.mask(modality.name)
    if modality.kind == "text":
        return strings(modality, batch, spec)
    return _words(modality.symbols, view, present) if modality.kind == "label" else _numbers(view.double(), present, decimals)


def _target(target: Target, batch: Batch, decimals: int | None) -> list[Any]:
    """A class's words, or (nested lists of) numbers; None where a target is not known."""
    values, known = batch.targets[target.name], batch.known_mask(target.name)
    return _words(target.symbols, values, known) if target.task == "class" else _numbers(values, known, decimals)


def _words(symbols: Sequence[str], codes: Tensor, present: Tensor) -> list[str | None]:
    return [symbols[code] if here else None for code, here in zip(codes.tolist(), present.tolist(), strict=True)]


def _numbers(values: Tensor, present: Tensor, decimals: int | None) -> list[Any]:
    """Numbers, with so many decimals where they have any; None where they are not `present`."""
    numbers = values.numpy()
    if numbers.dtype.kind == "f":
        numbers = numbers.astype(np.float64) if decimals is None else np.round(numbers.astype(np.float64), decimals)
    return [value if here else None for value, here in zip(numbers.tolist(), present.tolist(), strict=True)]


def facts_of(records: Sequence[Mapping[str, Any]], spec: Spec, names: Collection[str], where: str) -> dict[str, np.ndarray]:
    """The arrays of factors, quantities, targets and lengths that `described` told with all decimals.

    Args:
        records: of the samples.
        spec: as `described` was given it.
        names: of the arrays that are wanted; those of views are left out.
        where: what an error calls them.

    Raises:
        DataError: a record lacks something, or has it as something else.
    """
    try:
        found = {name: _fact(records, spec, name) for name in names if not name.startswith(("view.", "present."))}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{where}: expected records of {', '.join(names)}, got others ({short(error)})") from error
    return found


def _fact(records: Sequence[Mapping[str, Any]], spec: Spec, name: str) -> np.ndarray:
    part, _, rest = name.partition(".")
    if part == "factors":
        codes = {factor.name: {None: -1} | {value: code for code, value in enumerate(factor.values)} for factor in spec.factors}
        told = [[known[record[part][factor]] for factor, known in codes.items()] for record in records]
        return np.array(told, np.int64).reshape(len(records), len(codes))
    if part == "quantities":
        rows = [[_number(record[part][quantity.name]) for quantity in spec.quantities] for record in records]
        return np.array(rows, np.float32).reshape(len(records), len(spec.quantities))
    if part == "length":
        return np.array([record["lengths"][rest] for record in records], np.int64)
    target = next(target for target in spec.targets if target.name == rest)
    values = [record["targets"][rest] for record in records]
    if part == "known":
        return np.array([value is not None for value in values])
    if target.task == "class":
        places = {None: 0} | {symbol: code for code, symbol in enumerate(target.symbols)}
        values = [places[value] for value in values]
    empty = np.zeros(target.stored_shape, target.dtype)
    found = [empty if value is None else np.array(value, target.dtype) for value in values]
    return np.stack(found) if found else np.empty((0, *empty.shape), empty.dtype)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
