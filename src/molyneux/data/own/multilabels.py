"""Targets of which a sample has any number of labels, such as the genres of a film."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from molyneux.core import DataError, SpecError, Target
from molyneux.core.characters import composed
from molyneux.data.own.columns import is_list, is_number, is_text
from molyneux.data.own.content import TargetValues, Where
from molyneux.data.own.labels import MOST_VALUES

_SEPARATORS = ("|", ";", ",")
"""What may stand between the labels of a field, the first one that any field has."""


def column_target(name: str, column: pa.ChunkedArray, at: Where) -> tuple[TargetValues, tuple[str, ...]]:
    """A target from a plain column of lists of words or integers, or of words with signs between them.

    A sample has no target where there is no list, or an empty field; an empty list says that it has no label.

    Returns:
        The target, and what was converted, in sentences.

    Raises:
        DataError: values that are neither, or labels that hardly repeat; names file, row and column.
    """
    kind = column.type
    inner = kind.value_type if is_list(kind) else kind
    words = is_text(inner) or pa.types.is_string_view(inner)
    if not words and not (is_list(kind) and is_number(inner) and not pa.types.is_floating(inner)):
        raise DataError(f"{at(0)}: expected lists of words or integers, or words with | between them, got {kind}")
    if is_list(kind):
        lists = [None if found is None else [str(label) for label in found if label is not None] for found in column.to_pylist()]
        return _target(name, lists, at), ()
    fields: list[str | None] = column.to_pylist()
    if (row := next((row for row, field in enumerate(fields) if field and field.strip().startswith("[")), -1)) >= 0:
        raise DataError(
            f"{at(row)}: expected words with | between them, got {str(fields[row])[:100]!r}: store lists in Parquet or JSON Lines"
        )
    used = next((sign for sign in _SEPARATORS if any(sign in (field or "") for field in fields)), "|")
    lists = [field.split(used) if field and field.strip() else None for field in fields]
    several = next((row for row, labels in enumerate(lists) if labels and len(labels) > 1), -1)
    notes = () if several < 0 else (f"{at(several)}: {fields[several]!r} was read as {len(lists[several] or ())} labels",)
    return _target(name, lists, at), notes


def array_target(name: str, array: np.ndarray, at: str, *, names: Sequence[str] = ()) -> TargetValues:
    """A target from an array (N, labels) of 0 and 1, or of true and false; a sample has none where all of its row is NaN.

    Args:
        name: of the target.
        array: the array.
        at: the file and the array, for errors.
        names: of the labels; by default their numbers.

    Raises:
        DataError: another shape, other values, or another number of names.
    """
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(f"{at}: expected an array (N, labels) of 0 and 1, got {array.dtype} {array.shape}")
    values = np.asarray(array)
    known = ~np.isnan(values).all(1) if values.dtype.kind == "f" else np.ones(len(values), bool)
    wrong = np.flatnonzero(known & ((values != 0) & (values != 1)).any(1))
    if wrong.size:
        row = values[wrong[0]]
        got = row[(row != 0) & (row != 1)][0]
        raise DataError(
            f"{at}, row {wrong[0]}: expected 0 or 1 for each label, got {got}: correct it, or make all of the row NaN"
        )
    if names and len(names) != values.shape[1]:
        raise DataError(f"{at}: expected as many names as the {values.shape[1]} labels, got {len(names)}")
    symbols = tuple(names) or tuple(map(str, range(values.shape[1])))
    return TargetValues(_checked(name, symbols, at), (known[:, None] & (values == 1)).astype(np.uint8), known)


def _target(name: str, lists: Sequence[Sequence[str] | None], at: Where) -> TargetValues:
    lists = [None if found is None else [composed(label).strip() for label in found] for found in lists]
    lists = [None if found is None else [label for label in found if label] for found in lists]
    total = sum(len(found) for found in lists if found)
    distinct = {label for found in lists if found for label in found}
    if not distinct:
        raise DataError(f"{at(0)}: expected labels, got none in any row: leave it out of multilabel_targets")
    if len(distinct) > MOST_VALUES or len(distinct) > max(10, 0.9 * total):
        raise DataError(
            f"{at(0)}: expected labels that repeat, got {len(distinct):,} different ones of {total:,}: leave it out of "
            "multilabel_targets"
        )
    numeric = all(label.isascii() and label.isdecimal() for label in distinct)
    symbols = sorted(distinct, key=(lambda label: (int(label), label)) if numeric else None)
    places = {label: place for place, label in enumerate(symbols)}
    values = np.zeros((len(lists), len(symbols)), np.uint8)
    for row, found in enumerate(lists):
        values[row, [places[label] for label in found or ()]] = 1
    return TargetValues(_checked(name, tuple(symbols), at(0)), values, np.array([found is not None for found in lists]))


def _checked(name: str, symbols: tuple[str, ...], at: str) -> Target:
    try:
        return Target(name, "multilabel", symbols)
    except SpecError as error:
        raise DataError(f"{at}: {error}") from error
