"""The parts of a meaning in English words, and which entities of a scene each can mean.

>>> in_words("count-geq-3"), in_words("ratio-eq-1"), in_words("left")
('at least three', 'all', 'left of')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS, Symbol, Tree
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, Scenes

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
_COMPARED = {
    "lt": "fewer than",
    "leq": "at most",
    "eq": "exactly",
    "neq": "not exactly",
    "geq": "at least",
    "gt": "more than",
}
_SHARES = {
    "0": "none",
    "quarter": "a quarter",
    "third": "a third",
    "half": "half",
    "two-thirds": "two thirds",
    "three-quarters": "three quarters",
    "1": "all",
}
_QUOTIENTS = {"half": "half as many", "equal": "as many", "twice": "twice as many"}
_WORDS = {
    "any": "shape of any kind",
    "both": "both",
    "not": "not",
    "there-is": "there is",
    "exists": "there is one",
    "bare-the": "exactly one",
    "bare-two": "at least two",
    "bare-most": "most",
    "not-true": "it is not true that",
    "ratio-eq-0": "none",
    "ratio-neq-0": "some",
    "ratio-eq-1": "all",
    "ratio-neq-1": "not all",
    "and": "both are true",
    "or": "one or both are true",
    "either": "one of them alone is true",
    "if": "the first is true if the second is",
    "iff": "both are true or both are false",
    "left": "left of",
    "right": "right of",
    "in-front": "in front of",
    "smaller": "smaller than",
    "bigger": "bigger than",
    "darker": "darker than",
    "lighter": "lighter than",
    "closer": "closer than",
    "farther": "farther than",
    "same-shape": "of the same shape as",
    "different-shape": "of another shape than",
    "besides": "beside",
    "same-colour": "of the same colour as",
    "different-colour": "of another colour than",
    "unique": "the only",
}


def in_words(symbol: str) -> str:
    """What a symbol of meaning says, in a few English words; KeyError for a name that is none of `SYMBOLS`."""
    known = SYMBOLS[symbol]
    return _WORDS.get(symbol) or _BY_KIND.get(known.kind, lambda one: one.name.replace("-", " "))(known)


def _bounded(symbol: Symbol) -> str:
    return f"of exactly {_NUMBERS[int(symbol.quantity)]}"


def _counted(symbol: Symbol) -> str:
    return f"{_COMPARED[symbol.comparator]} {_NUMBERS[int(symbol.quantity)]}"


def _shared(symbol: Symbol) -> str:
    compared = _COMPARED[symbol.comparator].replace("fewer", "less")
    return f"{compared} {_SHARES[symbol.name.split('-', 2)[2]]}"


def _more(symbol: Symbol) -> str:
    return f"{_NUMBERS[int(abs(symbol.quantity))]} {'more' if symbol.quantity > 0 else 'fewer'} than"


def _quotient(symbol: Symbol) -> str:
    compared = {"lt": "less than", "gt": "more than", "eq": "exactly"}[symbol.comparator]
    return f"{compared} {_QUOTIENTS[symbol.name.rpartition('-')[2]]}"


_BY_KIND = {"count": _counted, "ratio": _shared, "bound": _bounded, "difference": _more, "quotient": _quotient}


@dataclass(frozen=True)
class MeaningPart:
    """A part of a caption's meaning, for people.

    Args:
        symbol: name of its symbol.
        words: what the symbol says.
        role: what it is of the part above it, such as "of the things"; empty where nothing needs to be told.
        entities: numbers of the entities that it can mean in a scene; None of a part that describes no things by themselves.
        parts: the parts below it.
    """

    symbol: str
    words: str
    role: str
    entities: tuple[int, ...] | None
    parts: tuple[MeaningPart, ...]


def meaning_parts(scene: Scenes, tree: Tree, role: str = "") -> MeaningPart:
    """The parts of a meaning in words, each with the entities of one scene that it can mean."""
    below = zip(tree.children, _roles(tree.symbol), strict=True)
    parts = tuple(meaning_parts(scene, child, child_role) for child, child_role in below)
    return MeaningPart(tree.symbol, in_words(tree.symbol), role, _meant(scene, tree), parts)


def _roles(symbol: str) -> tuple[str, ...]:
    """What each argument of a symbol is: of which things something is said, and what."""
    arguments = SYMBOLS[symbol].arguments
    return _ROLES.get(arguments, ("",) * len(arguments))


_ROLES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("noun", "predicate"): ("of the things", "that is"),
    ("type", "predicate"): ("of the things", "are"),
    ("type", "type", "predicate"): ("of these things", "than of these", "are"),
}


def _meant(scene: Scenes, noun: Tree) -> tuple[int, ...] | None:
    """The numbers of the entities of one scene that have a colour and a shape; None for what describes no such thing."""
    if noun.symbol == "both":
        parts = [_meant(scene, child) or () for child in noun.children]
        return tuple(number for number in parts[0] if number in parts[1])
    fits = scene.present[0]
    if noun.kind in ("colour", "shape"):
        values, names = (scene.colour, COLOURS) if noun.kind == "colour" else (scene.shape, SHAPES)
        fits = fits & (values[0] == names.index(noun.symbol))
    elif noun.symbol != "any":
        return None
    return tuple(np.flatnonzero(fits).tolist())
