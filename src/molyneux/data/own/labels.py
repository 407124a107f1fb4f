"""Labels and targets from the columns and arrays of a user's files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from molyneux.core import DataError, Factor, SpecError, Target
from molyneux.data.own.content import Labels, TargetValues, Where
from molyneux.data.own.spelling import MISSING_WORDS, distinct_spellings, look_alike

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")

MOST_VALUES = 10_000
"""Different values that a label may have."""

_FEW_VALUES = 10
"""Different values that are taken for classes in however few samples; more are names or dates if they hardly repeat."""


def make_labels(
    name: str, values: np.ndarray, where: Where, *, names: Sequence[str] = (), missing: Sequence[str] | None = None
) -> Labels:
    """A factor from the label of each sample.

    Args:
        name: of the factor.
        values: (N,) integers, of which a negative one, such as -1, says that there is no label; floats that are whole numbers, of
            which NaN says so too; or strings, of which an empty one does.
        where: says where a row stands.
        names: of the integers from 0, where they have names.
        missing: words that say that there is no label. By default such words of other programs are refused, for they may be
            classes.

    Raises:
        DataError: labels that are neither, several negative integers, strings that are negative or no whole numbers; labels
            that have one value only or a different one in nearly every row; or an integer without a name.
    """
    notes: list[str] = []
    if values.dtype.kind == "f":
        values = _whole(name, values, where)
    if values.dtype.kind not in "biuU":
        raise DataError(
            f"{where(0)}, label {name!r}: expected integers or words, got {values.dtype}: name it under number_targets"
        )
    words = values.dtype.kind == "U"
    if words:
        values, notes = _spelled(name, values, where, missing)
    elif values.dtype.kind == "u" and (wide := np.flatnonzero(values > np.iinfo(np.int64).max)).size:
        raise DataError(f"{where(int(wide[0]))}, label {name!r}: expected a class number below 2^63, got {values[wide[0]]}")
    known = values != "" if words else values.astype(np.int64) >= 0
    if names:
        codes = _named(name, values, known, where, names)
        return Labels(_factor(name, names, where), np.where(known, codes, -1), tuple(notes))
    _require_classes(name, values, known, where)
    distinct, inverse = np.unique(values[known], return_inverse=True)
    shown = [str(value) for value in distinct.tolist()]
    if words and all(re.fullmatch(r"-*[0-9]{1,18}", word) for word in shown):  # 2 before 10
        order = np.argsort([int(word) for word in shown], kind="stable")
        shown, inverse = [shown[place] for place in order], np.argsort(order)[inverse]
        if same := next(((one, other) for one, other in pairwise(shown) if int(one) == int(other)), None):
            notes.append(f"label {name!r}: {same[0]!r} and {same[1]!r} are one number in two spellings and different values")
    if len(shown) < 2:
        got = f"only {shown[0]!r}" if shown else "none"
        if not words and not known.all():
            got += f" and {values[~known][0]}, which says that there is no label"
        raise DataError(f"{where(0)}, label {name!r}: expected at least two different values, got {got}: leave it out of labels")
    if len(shown) > MOST_VALUES or len(shown) > max(_FEW_VALUES, 0.9 * known.sum()):
        raise DataError(
            f"{where(0)}, label {name!r}: expected values that repeat, got {len(shown):,} different ones in {len(values):,} "
            "samples: leave it out of labels"
        )
    if words and (alike := look_alike(shown)):
        notes.append(f"label {name!r}: {' and '.join(map(repr, alike))} differ in capital letters and are different values")
    codes = np.full(len(values), -1, np.int64)
    codes[known] = inverse
    return Labels(_factor(name, shown, where), codes, tuple(notes))


def _spelled(name: str, values: np.ndarray, where: Where, missing: Sequence[str] | None) -> tuple[np.ndarray, list[str]]:
    """Labels (N,) of strings in one spelling, empty where there is none; and what was converted.

    Raises:
        DataError: a word that may be a class, or say that there is no label.
    """
    distinct, inverse, clean = distinct_spellings(values)
    first = {word: int(np.argmax(inverse == place)) for place, word in enumerate(distinct.tolist()) if clean[place] != word}
    notes = []
    if merged := next((word for word in first if word.strip()), None):
        notes.append(
            f"{where(first[merged])}, label {name!r}: {merged!r} was read as {clean[distinct.tolist().index(merged)]!r}: blanks "
            "around words and forms of Unicode tell no labels apart"
        )
    no_label = {*(missing or ())}
    for place, word in enumerate(clean):
        if missing is None and word in MISSING_WORDS:
            row = int(np.argmax(inverse == place))
            raise DataError(
                f"{where(row)}, label {name!r}: got {word!r}, which may be a class or say that there is no label: set missing to "
                f"[{word!r}] if there is no label, to [] if it is a class"
            )
    clean = ["" if word in no_label else word for word in clean]
    numbers = [word for word in clean if word]
    if all(_NUMBER.fullmatch(word) and float(word).is_integer() and abs(float(word)) < 2**53 for word in numbers):
        plain = [word if not word or word.lstrip("-").isdecimal() else f"{float(word):.0f}" for word in clean]
        if (changed := next((place for place, word in enumerate(clean) if plain[place] != word), -1)) >= 0:
            row = int(np.argmax(inverse == changed))
            notes.append(
                f"{where(row)}, label {name!r}: whole numbers were read as such, {clean[changed]!r} as {plain[changed]!r}"
            )
        clean = plain
    return np.array(clean, np.str_)[inverse], notes


def _require_classes(name: str, values: np.ndarray, known: np.ndarray, where: Where) -> None:
    """Raise DataError for numbers that cannot be classes: real numbers, and negative ones, which elsewhere mean no label."""
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


def class_target(labels: Labels) -> TargetValues:
    """A target whose classes are the values of a factor; not known where a sample has no label."""
    factor = labels.factor
    known = labels.codes >= 0
    return TargetValues(Target(factor.name, "class", factor.values), np.where(known, labels.codes, 0), known)


def number_target(name: str, values: np.ndarray, where: Where) -> TargetValues:
    """A target that is a number; not known where the value (N,) is NaN.

    Raises:
        DataError: infinite values or such as no float32 holds, or not one number known.
    """
    with np.errstate(over="ignore"):
        numbers = values.astype(np.float32)
    if (wrong := np.flatnonzero(np.isinf(numbers))).size:
        row = int(wrong[0])
        got = "infinity" if np.isinf(values[row]) else f"{values[row]:g}, beyond 3.4e38"
        raise DataError(f"{where(row)}, target {name!r}: expected a finite number, got {got}: correct it, or leave it empty")
    known = np.isfinite(numbers)
    if not known.any():
        raise DataError(f"{where(0)}, target {name!r}: expected numbers, got none in any row: leave it out of number_targets")
    return TargetValues(Target(name, "number"), np.where(known, numbers, 0), known)


def _whole(name: str, values: np.ndarray, where: Where) -> np.ndarray:
    """Labels that are stored as floats, as integers with -1 for NaN; unchanged if they are not whole numbers."""
    if (wrong := np.flatnonzero(np.isinf(values))).size:
        raise DataError(f"{where(int(wrong[0]))}, label {name!r}: expected an integer, got {values[wrong[0]]}: correct it")
    known = np.isfinite(values)
    if (values[known] % 1).any():
        return values
    if (np.abs(values[known]) > 2.0**53).any():
        row = int(np.flatnonzero(known & (np.abs(values) > 2.0**53))[0])
        raise DataError(f"{where(row)}, label {name!r}: expected a class number below 2^53, got {values[row]:g}: store integers")
    return np.where(known, values, -1).astype(np.int64)


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
