"""Truth of statements that count entities, and of statements that are joined of others: compiled, for `truth`.

Bounds and margins are those of the published code (ShapeWorld, Kuhnle & Copestake, 2017).
"""

from __future__ import annotations

import numpy as np

from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.meaning.trees.programs import Operation

_COUNT, _BARE, _RATIO, _DIFFERENCE = (
    int(one) for one in (Operation.COUNT, Operation.BARE, Operation.RATIO, Operation.DIFFERENCE)
)
_NOT_TRUE, _AND, _OR, _EITHER, _IF = (
    int(one) for one in (Operation.NOT_TRUE, Operation.AND, Operation.OR, Operation.EITHER, Operation.IF)
)

_MOST, _HALF = 0.6, 0.5
"""`most` is true from the first share on, false below the second, and undetermined between."""


@compiled
def connected(operation: int, first: int, second: int) -> int:
    """Truth of a connective of two statements, or of the negation of one."""
    if operation == _NOT_TRUE:
        return -first
    if operation == _AND:
        return min(first, second)
    if operation == _OR:
        return max(first, second)
    if operation == _EITHER:
        return -first * second
    if operation == _IF:
        return max(first, -second)
    return first * second


@compiled
def count(
    out: np.ndarray,
    noun: np.ndarray,
    body: np.ndarray,
    operation: int,
    comparator: int,
    quantity: float,
    entities: int,
    margin: float,
    published: bool,
) -> None:
    """Truth of a quantifier, and between which bounds the number of entities of its noun lies, into `out` (3,)."""
    low, high, least, most = 0, 0, 0, 0
    for e in range(entities):
        low += min(noun[e], body[e]) > 0
        high += min(noun[e], body[e]) >= 0
        least += noun[e] > 0
        most += noun[e] >= 0
    if operation == _COUNT or (operation == _RATIO and quantity == 0):  # "no" and "some" say how many, not what share
        value = _against(float(low), float(high), comparator, quantity, 0.0)
    elif most == 0 and not published:
        value = 0
    else:
        share_low = low / most if most else 0.0
        share_high = high / least if least else (np.inf if high else 0.0)
        if operation == _BARE:
            value = 1 if share_low >= _MOST else (-1 if share_high < _HALF else 0)
        else:
            margin = 0.0 if quantity == np.floor(quantity) else margin
            value = _against(share_low, share_high, comparator, quantity, margin)
    out[0], out[1], out[2] = value, least, most


@compiled
def bounded(quantified: np.ndarray, number: float) -> int:
    """Truth of a quantifier over a noun that is said to have a number of entities."""
    value, least, most = int(quantified[0]), quantified[1], quantified[2]
    if most < number or least > number:
        return -1
    return value if least == number and most == number else min(value, 0)


@compiled
def balance(
    noun: np.ndarray,
    other: np.ndarray,
    body: np.ndarray,
    operation: int,
    comparator: int,
    quantity: float,
    entities: int,
    margin: float,
    published: bool,
) -> int:
    """Truth of a comparison of how many entities of two nouns a predicate holds of."""
    low, high, least, most = 0, 0, 0, 0
    for e in range(entities):
        low += min(noun[e], body[e]) > 0
        high += min(noun[e], body[e]) >= 0
        least += min(other[e], body[e]) > 0
        most += min(other[e], body[e]) >= 0
    if operation == _DIFFERENCE:
        return _against(float(low - most), float(high - least), comparator, quantity, 0.0)
    if quantity == 1 and not published:  # "more", "fewer" and "as many" compare two numbers
        return _against(float(low - most), float(high - least), comparator, 0.0, 0.0)
    if most == 0 and not published:
        return 0
    quotient_low = low / most if most else (np.inf if low else 0.0)
    quotient_high = high / least if least else (np.inf if high else 0.0)
    margin = 0.0 if quantity == np.floor(quantity) else margin
    return _against(quotient_low, quotient_high, comparator, quantity, margin)


@compiled
def _against(low: float, high: float, comparator: int, quantity: float, margin: float) -> int:
    """Truth of a comparison of a number between two bounds with a quantity; comparators in the order of `COMPARATORS`."""
    if comparator == 0:
        return 1 if high < quantity - margin else (-1 if low >= quantity - margin else 0)
    if comparator == 1:
        return 1 if high <= quantity + margin else (-1 if low > quantity + margin else 0)
    if comparator == 4:
        return 1 if low >= quantity - margin else (-1 if high < quantity - margin else 0)
    if comparator == 5:
        return 1 if low > quantity + margin else (-1 if high <= quantity + margin else 0)
    equal = 1 if max(high - quantity, quantity - low) <= margin else (-1 if max(quantity - high, low - quantity) > margin else 0)
    return equal if comparator == 2 else -equal
