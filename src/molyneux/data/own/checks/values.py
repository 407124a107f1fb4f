"""What is wrong with the values of columns: numbers, labels, names of splits, and rows that repeat or contradict each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from molyneux.core.characters import composed
from molyneux.core.errors import nearest
from molyneux.data.own.checks.findings import DataProblem
from molyneux.data.own.content import SPLIT_WORDS
from molyneux.data.own.spelling import MISSING_NUMBERS, MISSING_WORDS

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")
_THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(,[0-9]{3})+")
_INFINITE = re.compile(r"[-+]?inf(inity)?", re.IGNORECASE)
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?")
_UNIT = re.compile(r"[$€£¥]\s*[-+]?[0-9.,]+|[-+]?[0-9.,]+\s*([%°$€£¥]\w{0,2}|[^\W\d_]{1,4})")
_SHORTEST, _FEW, _RARE = 3, 5, 20
"""Letters of labels that are compared, and how many times as often the other has to be there: of a label with one or two
samples, and of others."""

Place = Callable[[int], str]
"""File, line and column of a row."""


def number_problems(name: str, values: Sequence[str | None], place: Place, *, comma: bool) -> Iterator[DataProblem]:
    """Values that are no numbers, of which a table of numbers may have none.

    Args:
        name: of the column.
        values: (N,) as text; None where there is none.
        place: says where a row stands.
        comma: whether decimal commas are read, as in tables whose fields are separated by semicolons.
    """
    plain = [None if value is None or value.strip().lower() in MISSING_NUMBERS else value.strip() for value in values]
    commas = comma and not any("." in value for value in plain if value)
    for row, value in enumerate(plain):
        if value is None:
            continue
        if commas and _COMMA.fullmatch(value):
            value = value.replace(",", ".")
        if NUMBER.fullmatch(value):
            if abs(float(value)) <= float(np.finfo(np.float32).max):
                continue
            yield DataProblem("a number that is too large", True, place(row), f"got {value}, beyond 3.4e38: correct it")
        elif _INFINITE.fullmatch(value):
            yield DataProblem("a number that is infinite", True, place(row), f"got {value}: correct it, or leave it empty")
        else:
            yield DataProblem("no number", True, place(row), f"expected a number, got {value[:60]!r}: {_advice(value)}")


def _advice(value: str) -> str:
    if _COMMA.fullmatch(value) or _THOUSANDS.fullmatch(value) or ("," in value and NUMBER.fullmatch(value.replace(",", ""))):
        return "write it with a decimal point, without signs between thousands"
    if _DATE.fullmatch(value):
        return "it looks like a date: write days since one date, or leave the column out"
    if _UNIT.fullmatch(value):
        return "write the number alone, without its unit"
    if value.startswith("["):
        return "store lists in Parquet, or one number in each column"
    return "correct it, or leave it empty"


def is_numeric(values: Sequence[str | None]) -> bool:
    """Whether nearly all values of a column are numbers."""
    known = [value.strip() for value in values if value is not None and value.strip().lower() not in MISSING_NUMBERS]
    fits = sum(bool(NUMBER.fullmatch(value) or _COMMA.fullmatch(value)) for value in known)
    return bool(known) and fits >= 0.8 * len(known)


def split_problems(name: str, values: Sequence[str | None], place: Place) -> Iterator[DataProblem]:
    """Words that name no split."""
    for row, value in enumerate(values):
        if (value or "").strip().lower() not in SPLIT_WORDS:
            text = f"expected train, validation or test, got {value!r}; {nearest(value or '', SPLIT_WORDS)}"
            yield DataProblem("no split", True, place(row), text)


def label_problems(
    name: str, values: Sequence[str | None], place: Place, *, missing: Sequence[str] | None
) -> Iterator[DataProblem]:
    """Labels that may say that there is none, that occur once, or that are nearly another one.

    Args:
        name: of the label.
        values: (N,) words; None where there is none.
        place: says where a row stands.
        missing: words that say that there is no label, as in the settings.
    """
    words = [None if value is None else composed(value).strip() for value in values]
    if missing is None:
        for row, word in enumerate(words):
            if word in MISSING_WORDS:
                text = (
                    f"got {word!r}, which may be a class or no label: set missing to [{word!r}] if there is no label, else to []"
                )
                yield DataProblem("a label that may be none", True, place(row), text)
    none = MISSING_WORDS if missing is None else missing
    counts = Counter(word for word in words if word and word not in none)
    if all(NUMBER.fullmatch(word) for word in counts) or len(counts) > 0.5 * sum(counts.values()):
        return
    alike = dict(_alike(counts))
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        if word:
            rows.setdefault(word, row)
    for word, (other, how) in alike.items():
        text = f"{word!r} ({counts[word]:,}) {how} {other!r} ({counts[other]:,}): are they one label?"
        yield DataProblem("a label that is nearly another one", False, place(rows[word]), text)
    for word, count in counts.items():
        if count == 1 and word not in alike:
            text = f"{word!r} is there once: it cannot be in training and in test samples"
            yield DataProblem("a label that is there once", False, place(rows[word]), text)


def _alike(counts: Mapping[str, int]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The rarer of two labels that differ in capital letters, or by one letter, with the other one, and how they differ."""
    by_form: dict[str, list[str]] = {}
    for word in counts:
        lower = word.casefold()
        shorter = {lower[:place] + lower[place + 1 :] for place in range(len(lower))} if len(lower) >= _SHORTEST else set()
        for form in {lower, *shorter}:
            by_form.setdefault(form, []).append(word)
    told: set[str] = set()
    for group in by_form.values():
        group = sorted(group, key=lambda word: (-counts[word], word))
        for word in group[1:]:
            other = group[0]
            same = word.casefold() == other.casefold()
            near = not same and not _by_number(word, other) and _one_edit(word.casefold(), other.casefold())
            if word not in told and (same or (near and counts[other] >= (_FEW if counts[word] < 3 else _RARE) * counts[word])):
                told.add(word)
                yield word, (other, "differs in capital letters from" if same else "is one letter from")


def _by_number(one: str, other: str) -> bool:
    """Whether two labels are the same but for digits, as `level1` and `level2`."""
    return re.sub(r"\d", "", one) == re.sub(r"\d", "", other)


def _one_edit(one: str, other: str) -> bool:
    """Whether one letter more, less, another, or exchanged with the next, makes one word the other."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])


def repeated_rows(
    inputs: Sequence[object],
    answers: Sequence[object],
    place: Place,
    *,
    splits: Sequence[str | None] | None = None,
    told: Callable[[object], str] = str,
) -> tuple[list[DataProblem], str]:
    """Rows with the same inputs: with other answers, in another split, or the same again; and a note where most rows repeat.

    Args:
        inputs: (N,) what a model is given, to be compared; None where there is nothing.
        answers: (N,) labels and targets.
        place: says where a row stands.
        splits: (N,) of each row, where they are named.
        told: says answers in words.
    """
    first: dict[object, int] = {}
    found: dict[str, list[DataProblem]] = {"contradictory": [], "split": [], "again": []}
    for row, given in enumerate(inputs):
        if given is None:
            continue
        before = first.setdefault(given, row)
        if before == row:
            continue
        where = place(before)
        if answers[row] != answers[before]:
            text = f"the same inputs as {where}, which has {told(answers[before])}, here {told(answers[row])}"
            found["contradictory"].append(DataProblem("rows that contradict each other", False, place(row), text))
        elif splits is not None and splits[row] != splits[before]:
            text = f"the same as {where}, which is of the split {splits[before]}, here of {splits[row]}"
            found["split"].append(DataProblem("a row in two splits", False, place(row), text))
        else:
            found["again"].append(DataProblem("a row that is there twice", False, place(row), f"the same as {where}"))
    if 2 * len(first) < sum(given is not None for given in inputs):  # a closed set of inputs, of which each is there often
        return [], f"inputs repeat: {len(first):,} different ones in {len(inputs):,} rows"
    return [finding for each in found.values() for finding in each], ""
