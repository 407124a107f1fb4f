"""Parts of captions: each fills a few columns of codes for a whole batch, given the entities that the captions are about.

A part draws with two kinds of random numbers. *Forms* decide which symbols a caption is made of, such as whether a noun has a
colour; *values* decide which colour that is. Captions of equal forms have one skeleton. Columns that a caption does not need
hold 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from molyneux.core import ConfigError
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.meaning.captioners.quantities import BOUNDS, suits
from molyneux.data.worlds.shapeworld.meaning.trees.programs import COLOUR_CODES, SHAPE_CODES
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES, SYMBOLS
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes

SUBJECT, REFERENCE, THIRD, SAME_SHAPE, SAME_COLOUR, TOUCHING, OTHER = range(7)
"""Entities of a scene that a caption may be about: three different ones, others than the subject that are like it or touch it,
and one of another shape and colour."""

PICKS = 8
"""Random numbers that `seen` takes: one for each of those entities, and one for whether the subject is one of the `focus`."""

FORMS = ("none", "any", "shape", "colour", "both")
"""What a noun mentions; `none` is no noun."""


class Seen(NamedTuple):
    """The entities that captions are about, one row for each caption.

    Args:
        present: (n, E) bool.
        shape: (n, E) int16, codes of shapes.
        colour: (n, E) int16, codes of colours.
        picks: (n, 7) int64, the entities `SUBJECT` and so on.
    """

    present: np.ndarray
    shape: np.ndarray
    colour: np.ndarray
    picks: np.ndarray


def seen(scenes: Scenes, rows: np.ndarray, numbers: np.ndarray, focus: np.ndarray | None = None) -> Seen:
    """The entities of captions of scenes: where one that is asked for does not exist, another one or the subject stands for it.

    Args:
        scenes: any number of them.
        rows: (n,) which scene each caption is about.
        numbers: (n, 8) uniform on [0, 1).
        focus: (scenes, E) bool, entities of which half of the captions have their subject.
    """
    picks = np.empty((len(rows), PICKS - 1), np.int64)
    first = np.zeros_like(scenes.present) if focus is None else np.ascontiguousarray(focus)
    _pick(scenes.present, scenes.shape, scenes.colour, scenes.overlap, first, rows, np.ascontiguousarray(numbers), picks)
    return Seen(scenes.present[rows], SHAPE_CODES[scenes.shape[rows]], COLOUR_CODES[scenes.colour[rows]], picks)


def kth_of(mask: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """A column of each row of a mask (n, K) that is true, each equally likely, by numbers (n,) of [0, 1); 0 where none is."""
    out = np.empty(len(mask), np.int64)
    _choose(np.ascontiguousarray(mask), np.ascontiguousarray(numbers), out)
    return out


@compiled
def _kth(mask: np.ndarray, number: float) -> int:
    """A place of a mask that is true, each equally likely, by a number of [0, 1); -1 where none is."""
    total = 0
    for place in range(len(mask)):
        total += mask[place]
    wanted = min(int(number * total), total - 1)
    for place in range(len(mask)):
        if mask[place]:
            if wanted == 0:
                return place
            wanted -= 1
    return -1


@compiled
def _choose(mask: np.ndarray, numbers: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(mask)):
        out[row] = max(0, _kth(mask[row], numbers[row]))


@compiled
def _pick(
    present: np.ndarray,
    shape: np.ndarray,
    colour: np.ndarray,
    overlap: np.ndarray,
    focus: np.ndarray,
    rows: np.ndarray,
    numbers: np.ndarray,
    out: np.ndarray,
) -> None:
    """The entities that captions are about, into `out` (n, 7)."""
    entities = present.shape[1]
    mask, others = np.empty(entities, np.bool_), np.empty(entities, np.bool_)
    for n in range(len(rows)):
        row = rows[n]
        subject = -1
        if numbers[n, PICKS - 1] < 0.5:
            for e in range(entities):
                mask[e] = present[row, e] and focus[row, e]
            subject = _kth(mask, numbers[n, 0])
        if subject < 0:
            subject = max(0, _kth(present[row], numbers[n, 0]))
        for e in range(entities):
            others[e] = present[row, e] and e != subject
        out[n, 0] = subject
        for place in range(1, PICKS - 1):
            for e in range(entities):
                mask[e] = others[e]
                if place == THIRD:
                    mask[e] = mask[e] and e != out[n, 1]
                elif place == SAME_SHAPE:
                    mask[e] = mask[e] and shape[row, e] == shape[row, subject]
                elif place == SAME_COLOUR:
                    mask[e] = mask[e] and colour[row, e] == colour[row, subject]
                elif place == TOUCHING:
                    mask[e] = mask[e] and overlap[row, subject, e] > 0
                elif place == OTHER:
                    mask[e] = mask[e] and shape[row, e] != shape[row, subject] and colour[row, e] != colour[row, subject]
            chosen_one = _kth(mask, numbers[n, place])
            if chosen_one < 0:
                chosen_one = _kth(others, numbers[n, place])
            out[n, place] = subject if chosen_one < 0 else chosen_one


def nouns(forms: np.ndarray, shape: np.ndarray, colour: np.ndarray) -> np.ndarray:
    """Columns of nouns, (n, 3): `both` or 0, colour or 0, shape, `any` or 0.

    Args:
        forms: (n,) positions in `FORMS`.
        shape: (n,) codes.
        colour: (n,) codes.
    """
    out = np.zeros((len(forms), 3), np.int16)
    out[:, 0] = np.where(forms == 4, CODES["both"], 0)
    out[:, 1] = np.where(forms >= 3, colour, 0)
    out[:, 2] = np.where((forms == 2) | (forms == 4), shape, np.where(forms == 1, CODES["any"], 0))
    return out


def chosen(numbers: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Positions by weight, (n,) int64, by numbers (n,) of [0, 1)."""
    return below(numbers, shares(weights))


def shares(weights: Sequence[float]) -> np.ndarray:
    """The sums of weights up to each, as shares of all, (n,)."""
    sums = np.cumsum(np.asarray(weights, np.float64))
    return np.asarray(sums / sums[-1])


def below(numbers: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """The first position whose bound is above each number, (n,) int64; the last one if none is."""
    return np.minimum(bounds.searchsorted(numbers, side="right"), len(bounds) - 1)


class Part(ABC):
    """Columns of codes that belong together.

    Args:
        width: how many columns.
        forms: random numbers for its forms.
        values: random numbers for its values.
    """

    def __init__(self, width: int, *, forms: int = 0, values: int = 0) -> None:
        self.width, self.forms, self.values = width, forms, values

    @abstractmethod
    def fill(self, seen: Seen, forms: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The codes, (n, width) int16, by numbers (n, forms) and (n, values)."""


class SymbolPart(Part):
    """One symbol, drawn from some names; a value, or a form if `as_form`."""

    def __init__(self, *names: str, weights: Sequence[float] | None = None, as_form: bool = False) -> None:
        drawn = len(names) > 1
        super().__init__(1, forms=int(drawn and as_form), values=int(drawn and not as_form))
        if not names or (weights is not None and len(weights) != len(names)):
            raise ConfigError(f"expected symbols with as many weights, got {names} and {weights}")
        self._codes = np.array([CODES[name] if name else 0 for name in names], np.int16)
        self._bounds = shares([1.0] * len(names) if weights is None else weights)

    def fill(self, seen: Seen, forms: np.ndarray, values: np.ndarray) -> np.ndarray:
        """See `Part.fill`."""
        if len(self._codes) == 1:
            return np.broadcast_to(self._codes, (len(seen.picks), 1))
        numbers = forms if self.forms else values
        return np.asarray(self._codes[below(numbers[:, 0], self._bounds)][:, None])


class Nouns(Part):
    """Descriptions of entities whose forms are drawn together.

    Args:
        patterns: weights of forms, one word of `FORMS` for each noun: "shape colour" is one noun that has a shape alone and
            one that has a colour alone.
        picks: which entity each noun describes, or which two: then one of them by a value.
        before: a symbol before each noun that there is, or none.
    """

    def __init__(
        self, patterns: Mapping[str, float], picks: Sequence[int | tuple[int, int]] = (SUBJECT,), before: Sequence[str] = ()
    ) -> None:
        rows = [pattern.split() for pattern in patterns]
        if not rows or any(len(row) != len(picks) or not set(row) <= set(FORMS) for row in rows):
            raise ConfigError(
                f"patterns: expected {len(picks)} of {', '.join(FORMS)} in each, got {', '.join(patterns) or 'none'}"
            )
        super().__init__(4 * len(picks), forms=1, values=sum(isinstance(pick, tuple) for pick in picks))
        self._patterns = np.array([[FORMS.index(word) for word in row] for row in rows])
        self._bounds, self._picks = shares(list(patterns.values())), tuple(picks)
        self._before = np.array([CODES[name] if name else 0 for name in before or ("",) * len(picks)], np.int16)

    def fill(self, seen: Seen, forms: np.ndarray, values: np.ndarray) -> np.ndarray:
        """See `Part.fill`."""
        pattern, out = self._patterns[below(forms[:, 0], self._bounds)], np.empty((len(forms), self.width), np.int16)
        one, value = np.arange(len(forms)), 0
        for place, pick in enumerate(self._picks):
            if isinstance(pick, tuple):
                entity = np.where(values[:, value] < 0.5, seen.picks[:, pick[0]], seen.picks[:, pick[1]])
                value += 1
            else:
                entity = seen.picks[:, pick]
            form, columns = pattern[:, place], out[:, 4 * place : 4 * place + 4]
            columns[:, 0] = np.where(form > 0, self._before[place], 0)
            columns[:, 1:] = nouns(form, seen.shape[one, entity], seen.colour[one, entity])
        return out


class Row(Part):
    """Parts one after the other."""

    def __init__(self, *parts: Part) -> None:
        super().__init__(
            sum(part.width for part in parts),
            forms=sum(part.forms for part in parts),
            values=sum(part.values for part in parts),
        )
        self._parts = parts

    def fill(self, seen: Seen, forms: np.ndarray, values: np.ndarray) -> np.ndarray:
        """See `Part.fill`."""
        columns, form, value = [], 0, 0
        for part in self._parts:
            form, value = form + part.forms, value + part.values
            columns.append(part.fill(seen, forms[:, form - part.forms : form], values[:, value - part.values : value]))
        return np.concatenate(columns, 1)


class OneOf(Part):
    """One of several parts, by a form.

    Args:
        parts: the parts.
        weights: of the parts; equal by default.
    """

    def __init__(self, *parts: Part, weights: Sequence[float] | None = None) -> None:
        super().__init__(
            max(part.width for part in parts),
            forms=1 + max(part.forms for part in parts),
            values=max(part.values for part in parts),
        )
        self._parts, self._bounds = parts, shares([1.0] * len(parts) if weights is None else weights)

    def fill(self, seen: Seen, forms: np.ndarray, values: np.ndarray) -> np.ndarray:
        """See `Part.fill`."""
        which = below(forms[:, 0], self._bounds)
        out = np.zeros((len(forms), self.width), np.int16)
        for place, part in enumerate(self._parts):
            rows = np.flatnonzero(which == place)
            if len(rows):
                its = Seen(*(array[rows] for array in seen))
                filled = part.fill(its, forms[rows, 1 : 1 + part.forms], values[rows, : part.values])
                out[rows, : part.width] = filled
        return out


class NumberBound(Part):
    """A number bound and a quantifier with its nouns: the bound is how many entities of the scene the first noun fits.

    Args:
        families: names of quantifiers; the family is a form, and those of it that suit the number are equally likely.
        nouns: the first is counted.
    """

    def __init__(self, families: Sequence[Sequence[str]], nouns: Nouns) -> None:
        super().__init__(2 + nouns.width, forms=1 + nouns.forms, values=1 + nouns.values)
        self._nouns, self._families = nouns, len(families)
        chosen_by = [
            [[CODES[name] for name in names if suits(SYMBOLS[name], int(bound.quantity))] for bound in BOUNDS]
            for names in families
        ]
        self._counts = np.array([[len(codes) for codes in row] for row in chosen_by])
        self._codes = np.zeros((*self._counts.shape, self._counts.max()), np.int16)
        for family, row in enumerate(chosen_by):
            for number, codes in enumerate(row):
                self._codes[family, number, : len(codes)] = codes

    def fill(self, seen: Seen, forms: np.ndarray, values: np.ndarray) -> np.ndarray:
        """See `Part.fill`."""
        described = self._nouns.fill(seen, forms[:, 1:], values[:, 1:])
        colour, shape = described[:, 2:3], described[:, 3:4]
        fitting = seen.present & ((colour == 0) | (seen.colour == colour))
        fitting &= (shape == 0) | (shape == CODES["any"]) | (seen.shape == shape)
        number = np.clip(fitting.sum(1), 2, 8) - 2
        family = np.minimum((forms[:, 0] * self._families).astype(np.int64), self._families - 1)
        which = (values[:, 0] * self._counts[family, number]).astype(np.int64)
        symbols = np.stack([CODES["of-2"] + number, self._codes[family, number, which]], 1)
        return np.concatenate([symbols.astype(np.int16), described], 1)
