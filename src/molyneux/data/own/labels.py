"""Labels and targets from the columns and arrays of a user's files."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from molyneux.core import DataError, Factor, SpecError, Target
from molyneux.data.own.content import Answers, Labels, Where

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")

MOST_VALUES = 10_000
"""Different values that a label may have."""


def make_labels(name: str, values: np.ndarray, where: Where, *, names: Sequence[str] = ()) -> Labels:
    """A factor from the label of each sample.

    Args:
        name: of the factor.
        values: (N,) integers, of which a negative one, such as -1, says that there is no label; or strings, of which an empty
            one does.
        where: says where a row stands.
        names: of the integers from 0, where they have names.

    Raises:
        DataError: labels that are neither, several negative integers, strings that are negative or no whole numbers; labels
            that have one value only or a different one in nearly every row; or an integer without a name.
    """
    if values.dtype.kind == "f":
        values = _whole(name, values, where)
    if values.dtype.kind not in "biuU":
        raise DataError(
            f"{where(0)}, label {name!r}: expected integers or words, got {values.dtype}: name it under number_targets"
        )
    words = values.dtype.kind == "U"
    known = values != "" if words else values.astype(np.int64) >= 0
    if names:
        codes = _named(name, values, known, where, names)
        return Labels(_factor(name, names, where), np.where(known, codes, -1))
    _require_classes(name, values, known, where)
    distinct, inverse = np.unique(values[known], return_inverse=True)
    shown = [str(value) for value in distinct.tolist()]
    if words and all(word.lstrip("-").isdecimal() for word in shown):  # 2 before 10
        order = np.argsort([int(word) for word in shown], kind="stable")
        shown, inverse = [shown[place] for place in order], np.argsort(order)[inverse]
    if len(shown) < 2:
        got = f"only {shown[0]!r}" if shown else "none"
        if not words and not known.all():
            got += f" and {values[~known][0]}, which says that there is no label"
        raise DataError(f"{where(0)}, label {name!r}: expected at least two different values, got {got}: leave it out of labels")
    if len(shown) > MOST_VALUES or (len(shown) > 100 and len(shown) > 0.9 * known.sum()):
        raise DataError(
            f"{where(0)}, label {name!r}: expected values that repeat, got {len(shown):,} different ones in {len(values):,} "
            "samples: leave it out of labels"
        )
    codes = np.full(len(values), -1, np.int64)
    codes[known] = inverse
    return Labels(_factor(name, shown, where), codes)


def _require_classes(name: str, values: np.ndarray, known: np.ndarray, where: Where) -> None:
    """Raise DataError for numbers that can be no classes: negative ones, which are no label elsewhere, and real ones."""
    if values.dtype.kind != "U":
        missing = np.unique(values[~known])
        if len(missing) > 1:
            row = int(np.flatnonzero(values == missing[0])[0])
            raise DataError(
                f"{where(row)}, label {name!r}: expected one negative number, which says that there is no label, got several "
                f"({', '.join(map(str, missing[:3]))}): count classes from 0, or write words"
            )
        return
    distinct = np.unique(values[known]).tolist()
    if not all(_NUMBER.fullmatch(word) for word in distinct):
        return
    for word in distinct:
        if not float(word).is_integer() or float(word) < 0:
            row, least = (
                int(np.flatnonzero(values == word)[0]),
                "count classes from 0, or write words; leave it empty for no label",
            )
            advice = least if float(word).is_integer() else "name it under number_targets"
            raise DataError(f"{where(row)}, label {name!r}: expected integers from 0, or words, got {word}: {advice}")


def class_target(labels: Labels) -> Answers:
    """A target whose classes are the values of a factor; not known where a sample has no label."""
    factor = labels.factor
    known = labels.codes >= 0
    return Answers(Target(factor.name, "class", factor.values), np.where(known, labels.codes, 0), known)


def number_target(name: str, values: np.ndarray, where: Where) -> Answers:
    """A target that is a number; not known where the value (N,) is NaN.

    Raises:
        DataError: infinite values, or not one number known.
    """
    numbers = values.astype(np.float32)
    if np.isinf(numbers).any():
        raise DataError(
            f"{where(int(np.flatnonzero(np.isinf(numbers))[0]))}, target {name!r}: expected a finite number, got infinity"
        )
    known = np.isfinite(numbers)
    if not known.any():
        raise DataError(f"{where(0)}, target {name!r}: expected numbers, got none in any row: leave it out of number_targets")
    return Answers(Target(name, "number"), np.where(known, numbers, 0), known)


def _whole(name: str, values: np.ndarray, where: Where) -> np.ndarray:
    """Labels that are stored as floats as integers; as they are where they are no whole numbers."""
    finite = np.isfinite(values)
    if (values[finite] % 1).any():
        return values
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise DataError(f"{where(row)}, label {name!r}: expected an integer, got {values[row]}: write -1 where there is no label")
    return values.astype(np.int64)


def _named(name: str, values: np.ndarray, known: np.ndarray, where: Where, names: Sequence[str]) -> np.ndarray:
    if values.dtype.kind == "U":
        codes = np.array([names.index(word) if word in names else len(names) for word in values.tolist()], np.int64)
    else:
        codes = values.astype(np.int64)
    if (wrong := np.flatnonzero(known & (codes >= len(names)))).size:
        row = int(wrong[0])
        raise DataError(
            f"{where(row)}, label {name!r}: expected one of the {len(names)} values that have names, got {values[row].item()!r}"
        )
    return codes


def _factor(name: str, values: Sequence[str], where: Where) -> Factor:
    try:
        return Factor(name, tuple(values))
    except SpecError as error:
        raise DataError(f"{where(0)}: {error}") from error
