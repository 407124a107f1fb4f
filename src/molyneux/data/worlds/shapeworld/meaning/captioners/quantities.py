"""Which of the quantifiers of `meaning.trees` captions may have: one wording each, of what may be false of so many entities."""

from __future__ import annotations

import numpy as np

from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES, SYMBOLS, Symbol

TAUTOLOGIES = ("count-geq-0", "ratio-geq-0", "ratio-leq-1")
"""Quantifiers that are true of everything: they never say anything."""

REDUNDANT = ("count-neq-0", "count-gt-0", "count-lt-1", "ratio-gt-0", "ratio-lt-1")
"""Quantifiers that mean what a usual one means: "more than zero" is "at least one", "less than all" is "not all"."""

UNSAID = (*TAUTOLOGIES, *REDUNDANT)
"""Quantifiers that no drawn caption has; the language has them all."""

BOUNDS = tuple(symbol for symbol in SYMBOLS.values() if symbol.kind == "bound")


def suits(symbol: Symbol, number: int) -> bool:
    """Whether a quantifier makes sense of `number` entities, as in "two of the five": it may be true, and may be false.

    A count has to be below the number; an exact share has to be a whole number of entities. "None of the five" says "zero".
    """
    if symbol.name in UNSAID or symbol.name == "count-eq-0":
        return False
    if symbol.kind == "count":
        return symbol.quantity < number
    exact = symbol.comparator in ("eq", "neq") and symbol.kind == "ratio"
    return not exact or abs(symbol.quantity * number - round(symbol.quantity * number)) < 1e-9


def _table() -> np.ndarray:
    table = np.ones((len(CODES) + 1, len(CODES) + 1), bool)
    for bound in BOUNDS:
        for name, symbol in SYMBOLS.items():
            table[CODES[bound.name], CODES[name]] = suits(symbol, int(bound.quantity))
    return table


_SUITS = _table()


def suitable(programs: np.ndarray) -> np.ndarray:
    """Which captions (n, L) have no number bound, or one that suits their quantifier, (n,) bool; they may be denied."""
    return np.asarray(_SUITS[programs[:, 0], programs[:, 1]] & _SUITS[programs[:, 1], programs[:, 2]])
