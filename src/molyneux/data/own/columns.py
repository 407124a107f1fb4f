"""Columns of Arrow as plain ones, and their values as numbers; errors name file, row and column."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from molyneux.core import DataError
from molyneux.data.own.spelling import MISSING_NUMBERS

_DECIMAL_COMMA = r"^[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?$"
_THOUSANDS = r"^[-+]?[0-9]{1,3}(,[0-9]{3})+$"

_WITH_UNIT = re.compile(r"[$€£¥]\s*[-+]?[0-9.]+|[-+]?[0-9.]+\s*([%°$€£¥]\w{0,2}|[^\W\d_]{1,4})")
"""A number with a sign or a short word before or behind it."""

At = Callable[[int], str]
"""Says where a row of the column stands, such as `items.csv, row 7, column 'size'`."""


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column with the same values in a plain type: strings, bytes, numbers, lists or structs.

    Dictionaries, runs of equal values, extension types and the view types that other programs write are taken apart.
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type))
    if pa.types.is_dictionary(kind):
        return plain(pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], kind.value_type))
    if pa.types.is_run_end_encoded(kind):
        return plain(pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], kind.value_type))
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return column.cast(pa.large_binary())
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return column.cast(pa.large_list(kind.value_type))
    return column


def is_text(kind: pa.DataType) -> bool:
    """Whether values are strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_list(kind: pa.DataType) -> bool:
    """Whether values are lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether values are numbers, of which true and false are two."""
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def numbers(column: pa.ChunkedArray, at: At, *, comma: bool = False) -> tuple[np.ndarray, tuple[str, ...]]:
    """The values of a plain column as float64, (N,), or (N, L) of lists of one length; NaN where there is none.

    Args:
        column: of numbers, of strings that are numbers, or of lists of numbers.
        at: says where a row stands.
        comma: whether numbers in strings may have a decimal comma.

    Returns:
        The numbers, and what was converted, in sentences.

    Raises:
        DataError: a value is no number, infinite, or a list of another length; names file, row and column.
    """
    if is_list(column.type):
        return _lists(column, at), ()
    notes: tuple[str, ...] = ()
    if is_text(column.type):
        column, notes = _trimmed(column, at, comma=comma)
    elif not is_number(column.type):
        raise DataError(f"{at(0)}: expected numbers, got {column.type}: store them as numbers, or leave the column out")
    try:
        found = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
        raise _no_number(column, at) from None
    return _finite(found, at), notes


def _finite(found: np.ndarray, at: At) -> np.ndarray:
    """Numbers that float32 holds, or NaN; raises DataError for others."""
    large = np.abs(found) > np.finfo(np.float32).max
    if large.any():
        row = int(np.flatnonzero(large.reshape(len(found), -1).any(1))[0])
        got = found[row][large[row]][0] if found.ndim > 1 else found[row]
        raise DataError(f"{at(row)}: expected a number that is not infinite, got {got:g}: correct it, or leave it empty")
    return found


def _trimmed(column: pa.ChunkedArray, at: At, *, comma: bool) -> tuple[pa.ChunkedArray, tuple[str, ...]]:
    """Strings that are numbers without blanks, null where there is none, with a decimal point."""
    column = pc.utf8_trim_whitespace(column)
    lower = pc.utf8_lower(column)
    none = pc.is_in(lower, pa.array(sorted(MISSING_NUMBERS), lower.type))
    column = pc.if_else(none, pa.scalar(None, column.type), column)
    with_comma = pc.fill_null(pc.match_substring(column, ","), False)
    if not pc.any(with_comma).as_py():
        return column, ()
    first = int(np.flatnonzero(with_comma.to_numpy())[0])
    got = column[first].as_py()
    if not comma:
        return column, ()
    some = column.filter(with_comma)
    if not pc.all(pc.match_substring_regex(some, _DECIMAL_COMMA)).as_py() or pc.any(pc.match_substring(column, ".")).as_py():
        return column, ()
    if pc.all(pc.match_substring_regex(some, _THOUSANDS)).as_py():
        raise DataError(
            f"{at(first)}: expected a number, got {got!r}, whose comma may be a decimal sign or part thousands off: write "
            "numbers with a decimal point, without signs between thousands"
        )
    found = pc.replace_substring(column, ",", ".")
    return found, (f"{at(first)}: commas were read as decimal signs, {got!r} as {found[first].as_py()}",)


def _no_number(column: pa.ChunkedArray, at: At) -> DataError:
    """The error of a column of strings one of which is no number."""
    for row, value in enumerate(column.to_pylist()):
        try:
            pa.array([value], pa.string()).cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            advice = "correct it, or leave it empty"
            if "," in str(value):
                advice = "write it with a decimal point, without signs between thousands"
            elif _WITH_UNIT.fullmatch(str(value).strip()):
                advice = "write the number alone, without its unit"
            elif str(value).startswith("["):
                advice = "store lists in Parquet, or one number in each column"
            return DataError(f"{at(row)}: expected a number, got {str(value)[:100]!r}: {advice}")
    return DataError(f"{at(0)}: expected numbers, got {column.type}: store them as numbers")


def _lists(column: pa.ChunkedArray, at: At) -> np.ndarray:
    """Lists of numbers of one length as (N, L); NaN in all of a row where there is no list."""
    kind = column.type.value_type
    if not is_number(kind) or pa.types.is_boolean(kind):
        raise DataError(
            f"{at(0)}: expected lists of numbers, got {column.type}: store series and images as arrays (.npz), and read "
            "them with ArrayDataset"
        )
    lengths = np.asarray(pc.list_value_length(column).to_numpy(zero_copy_only=False), dtype=np.float64)
    known = np.flatnonzero(~np.isnan(lengths))
    if not len(known) or lengths[known[0]] == 0:
        raise DataError(f"{at(0)}: expected lists of numbers, got empty ones or none in any row: leave the column out")
    if (other := known[lengths[known] != lengths[known[0]]]).size:
        raise DataError(
            f"{at(int(other[0]))}: expected a list of {int(lengths[known[0]])} numbers, as in the first row, got "
            f"{int(lengths[other[0]])}: bring lists to one length"
        )
    values = pc.list_flatten(column.take(pa.array(known))).cast(pa.float64(), safe=False)
    found = np.full((len(column), int(lengths[known[0]])), np.nan)
    found[known] = np.asarray(values.to_numpy(), np.float64).reshape(len(known), -1)
    return _finite(found, at)
