"""What kind of caption a caption is: the factors of captions, and the reader that finds them in the words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Factor, Modality, Reading
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.meaning.language.language import Language, parse_texts
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES, SYMBOLS

NOUNS = ("full", "mixed", "hypernym")
"""Whether all nouns of a caption have a colour and a shape, some do, or none does."""

_FAMILIES = tuple(dict.fromkeys(symbol.kind for symbol in SYMBOLS.values()))
_KINDS = np.array([-1, *(_FAMILIES.index(symbol.kind) for symbol in SYMBOLS.values())])
_ARITIES = np.array([0, *(len(symbol.arguments) for symbol in SYMBOLS.values())])
_BOTH, _EXISTS, _NOT = CODES["both"], CODES["exists"], CODES["not"]
_RELATION, _SELECTOR = _FAMILIES.index("relation"), _FAMILIES.index("selector")
_SIMPLE = np.array([False, *(symbol.kind in ("colour", "shape") or symbol.name == "any" for symbol in SYMBOLS.values())])
_NEGATED = np.array([CODES["not"], CODES["not-true"]])


def caption_factors(symbols: Sequence[str]) -> tuple[Factor, ...]:
    """The factors of captions that may have some symbols of meaning.

    `symbol` is the one that a caption is about: its quantifier or connective, else its selector, else its relation, else that
    something exists; `type` is its family. `negated`: whether something is denied. `nouns`: see `NOUNS`.

    Args:
        symbols: names of all symbols that the captions may have.
    """
    heads = [name for name in SYMBOLS if name in symbols and name in _heads()]
    types = tuple(dict.fromkeys(SYMBOLS[name].kind for name in heads))
    return (
        Factor("type", types),
        Factor("symbol", tuple(heads)),
        Factor("negated", ("no", "yes")),
        Factor("nouns", NOUNS),
    )


def describe(programs: np.ndarray, factors: Sequence[Factor]) -> np.ndarray:
    """The codes of the factors of captions.

    Args:
        programs: (n, L) captions in Polish notation.
        factors: those of `caption_factors`.

    Returns:
        (n, 4) int64; -1 where a factor has no such value.
    """
    codes = np.ascontiguousarray(programs, np.int16)
    heads, nouns = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    _heads_of(codes, _KINDS, _ARITIES, heads)
    _nouns_of(codes, _SIMPLE, _ARITIES, nouns)
    types, symbols = factors[0].values, factors[1].values
    by_symbol, by_type = np.full(len(CODES) + 1, -1), np.full(len(CODES) + 1, -1)
    for place, name in enumerate(symbols):
        by_symbol[CODES[name]], by_type[CODES[name]] = place, types.index(SYMBOLS[name].kind)
    negated = np.isin(codes, _NEGATED).any(1)
    return np.stack([by_type[heads], by_symbol[heads], negated.astype(np.int64), nouns], 1)


class CaptionKindReader:
    """Reads what kind of caption a text is, by parsing it; satisfies `core.Reader`.

    Args:
        modality: of the texts.
        factors: those of `caption_factors`.
        language: of the texts.
    """

    version = "1"
    """Raised whenever some view may be read otherwise."""

    def __init__(self, modality: Modality, factors: Sequence[Factor], language: Language) -> None:
        self._modality, self._factors, self._language = modality, tuple(factors), language
        self.modality, self.factors = modality.name, tuple(factor.name for factor in factors)

    @property
    def accuracy(self) -> dict[str, float]:
        """1: it is exact."""
        return dict.fromkeys(self.factors, 1.0)

    def read(self, view: Tensor) -> Reading:
        """The factors of texts (B, T)."""
        parsed = parse_texts(self._modality, view, self._language)
        codes, readable = np.full((len(view), len(self.factors)), -1, np.int64), parsed.readable
        codes[readable] = describe(parsed.programs[readable], self._factors)
        return Reading(torch.from_numpy(codes), self.factors, parsed.reasons)


@lru_cache(maxsize=1)
def _heads() -> frozenset[str]:
    """Symbols that a caption may be about."""
    return frozenset(name for name, symbol in SYMBOLS.items() if symbol.kind not in ("type", "colour", "shape") and name != "not")


@compiled
def _end(program: np.ndarray, start: int, arities: np.ndarray) -> int:
    """The place after the tree that begins at a place."""
    wanted, place = 1, start
    while wanted > 0 and place < len(program):
        wanted += arities[program[place]] - 1
        place += 1
    return place


@compiled
def _heads_of(programs: np.ndarray, kinds: np.ndarray, arities: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(programs)):
        program = programs[row]
        out[row] = program[0]
        if program[0] != _EXISTS:
            continue
        second = _end(program, 1, arities)
        if second < len(program) and program[second] == _NOT:
            second += 1
        if kinds[program[1]] == _SELECTOR:
            out[row] = program[1]
        elif second < len(program) and kinds[program[second]] == _RELATION:
            out[row] = program[second]


@compiled
def _nouns_of(programs: np.ndarray, simple: np.ndarray, arities: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(programs)):
        program, full, poor, place = programs[row], False, False, 0
        while place < len(program) and program[place] != 0:
            if program[place] == _BOTH:
                full, place = True, place + 3
                continue
            poor = poor or simple[program[place]]
            place += 1
        out[row] = 0 if not poor else (1 if full else 2)
