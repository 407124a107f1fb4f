"""Sentences from trees: the productions of a grammar as arrays, and a compiled loop that follows them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.meaning.grammar.grammar import Productions
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES, SYMBOLS

_WORD, _SAME = -2, -1
_PER_SYMBOL, _AROUND = 16, 16
"""Bounds of words and of constituents in each other: so many for each symbol, and further ones."""

_NONTERMINAL, _PLACE, _COUNT, _NUMBER, _BEGIN, _TURN, _PRODUCTION, _PART, _FIELDS = range(9)
"""Fields of a constituent under way: what it is, where its tree begins, how many words stood before it, how many productions
there are, which is tried first, how many were tried, the present one, and its next part (-1: none yet)."""


class ProductionArrays(NamedTuple):
    """Productions as arrays, for N nonterminals and V symbols.

    Args:
        first: (N, V + 1) where the productions of a nonterminal for the code of a symbol begin in `candidates`.
        preferred: (N, V + 1) how many of them may say a tree when no paraphrase is asked for.
        total: (N, V + 1) how many there are.
        candidates: numbers of productions.
        starts: where the parts of each production begin; one more for the end of the last.
        arguments: by part: -2 for a word, -1 for a slot of the same tree, else the number of the argument.
        values: by part: number of the word or nonterminal.
        arity: (V + 1,) arguments of each code.
    """

    first: np.ndarray
    preferred: np.ndarray
    total: np.ndarray
    candidates: np.ndarray
    starts: np.ndarray
    arguments: np.ndarray
    values: np.ndarray
    arity: np.ndarray


def tables_of(productions: Productions) -> ProductionArrays:
    """The arrays of productions."""
    words = {word: number for number, word in enumerate(productions.words)}
    shape = productions.nonterminals, len(SYMBOLS) + 1
    by_place: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    starts, arguments, values = [0], list[int](), list[int]()
    for number, made in enumerate(productions.list):
        for part in made.parts:
            arguments.append(_WORD if isinstance(part, str) else _SAME if part.argument is None else part.argument)
            values.append(words[part] if isinstance(part, str) else part.nonterminal)
        starts.append(len(values))
        for symbol in productions.symbols_of(made, productions.roots):
            by_place.setdefault((made.head, CODES[symbol]), ([], []))[not made.preferred].append(number)
    first, preferred, total = (np.zeros(shape, np.int32) for _ in range(3))
    candidates: list[int] = []
    for place, (usual, others) in by_place.items():
        first[place], preferred[place], total[place] = len(candidates), len(usual), len(usual) + len(others)
        candidates += [*usual, *others]
    arity = np.array([0, *(len(symbol.arguments) for symbol in SYMBOLS.values())], np.int32)
    flat = [np.array(numbers, np.int32) for numbers in (candidates, starts, arguments, values)]
    return ProductionArrays(first, preferred, total, flat[0], flat[1], flat[2], flat[3], arity)


def realised(programs: np.ndarray, tables: ProductionArrays, uniforms: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of words (n, T) int32, padded with -1, of sentences that say trees, and their lengths (n,) int64.

    Args:
        programs: (n, L) codes of statements in Polish notation, padded with 0 at the end.
        tables: of the grammar.
        uniforms: (n,) numbers of [0, 1) that choose a paraphrase; None for the usual sentence.

    Returns:
        The words, and the lengths; a length of -1 marks a row that is no statement.
    """
    codes = np.ascontiguousarray(programs, np.int16)
    chosen = np.empty(0) if uniforms is None else np.ascontiguousarray(uniforms, np.float64)
    lengths = np.empty(len(codes), np.int64)
    measured = np.empty((0, 0), np.int32)
    _realise(codes, tables, chosen, uniforms is not None, lengths, measured)
    words = np.full((len(codes), max(lengths.max(initial=0), 0)), -1, np.int32)
    _realise(codes, tables, chosen, uniforms is not None, lengths, words)
    return words, lengths


@compiled
def _realise(
    programs: np.ndarray, tables: ProductionArrays, uniforms: np.ndarray, paraphrase: bool, lengths: np.ndarray, words: np.ndarray
) -> None:
    """Write the lengths (n,) of sentences and, if there are rows for them, their words (n, T)."""
    length = programs.shape[1]
    after = np.zeros(length + 1, np.int64)
    scratch = np.empty(_PER_SYMBOL * length + _AROUND, np.int32)
    frames = np.empty((_PER_SYMBOL * length + _AROUND, _FIELDS), np.int64)
    for row in range(len(programs)):
        lengths[row] = -1
        if _find_ends(programs[row], tables.arity, after):
            uniform = uniforms[row] if paraphrase else -1.0
            lengths[row] = _write(programs[row], after, tables, uniform, frames, scratch)
        if len(words):
            for place in range(lengths[row]):  # element by element: slices of two lengths take seconds to compile
                words[row, place] = scratch[place]


@compiled
def _find_ends(program: np.ndarray, arity: np.ndarray, after: np.ndarray) -> bool:
    """Write where the tree that begins at each place ends; whether the codes are one tree."""
    length = len(program)
    while length > 0 and program[length - 1] == 0:
        length -= 1
    for place in range(length - 1, -1, -1):
        code, end = program[place], place + 1
        if code <= 0 or code >= len(arity):
            return False
        for _ in range(arity[code]):
            if end >= length:
                return False
            end = after[end]
        after[place] = end
    return length > 0 and after[0] == length


@compiled
def _write(
    program: np.ndarray, after: np.ndarray, tables: ProductionArrays, uniform: float, frames: np.ndarray, words: np.ndarray
) -> int:
    """Write the words of a tree as a sentence; how many they are, or -1 if it cannot be said.

    A frame is a constituent under way: productions are tried until all slots of one can be filled. Where a paraphrase (`uniform`
    of at least 0) has several to choose from, the leading digit of the uniform number, in that base, is the one tried first.
    """
    top, count, failed = int(np.int64(0)), int(np.int64(0)), False  # literals would compile `_open` for themselves
    uniform = _open(frames, top, np.int32(0), int(np.int64(0)), count, program[0], tables, uniform)
    while top >= 0:
        frame = frames[top]
        if failed:
            frame[_TURN] += 1
            frame[_PART], count, failed = -1, frame[_COUNT], False
        if frame[_PART] < 0:
            if frame[_TURN] >= frame[_NUMBER]:
                top, failed = top - 1, True
                continue
            place = tables.first[frame[_NONTERMINAL], program[frame[_PLACE]]]
            frame[_PRODUCTION] = tables.candidates[place + (frame[_BEGIN] + frame[_TURN]) % frame[_NUMBER]]
            frame[_PART] = tables.starts[frame[_PRODUCTION]]
        if frame[_PART] == tables.starts[frame[_PRODUCTION] + 1]:
            top -= 1
            continue
        argument, value = tables.arguments[frame[_PART]], tables.values[frame[_PART]]
        frame[_PART] += 1
        if argument == _WORD:
            if count == len(words):
                return -1
            words[count] = value
            count += 1
            continue
        child = frame[_PLACE]
        if argument >= 0:
            child += 1
            for _ in range(argument):
                child = after[child]
        top += 1
        if top == len(frames):
            return -1
        uniform = _open(frames, top, value, child, count, program[child], tables, uniform)
    return -1 if failed else count


@compiled
def _open(
    frames: np.ndarray,
    top: int,
    nonterminal: int | np.int32,
    place: int,
    count: int,
    code: int,
    tables: ProductionArrays,
    uniform: float,
) -> float:
    """Begin a frame; what is left of the uniform number."""
    number = tables.preferred[nonterminal, code] if uniform < 0 else tables.total[nonterminal, code]
    begin = 0
    if uniform >= 0 and number > 1:
        begin = min(int(uniform * number), number - 1)
        uniform = uniform * number - begin
    frame = frames[top]
    frame[_NONTERMINAL], frame[_PLACE], frame[_COUNT], frame[_NUMBER], frame[_BEGIN] = nonterminal, place, count, number, begin
    frame[_TURN], frame[_PRODUCTION], frame[_PART] = 0, 0, -1
    return uniform
