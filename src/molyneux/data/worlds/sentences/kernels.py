"""Sentences from numbers, and factors from sentences: the compiled loops.

The number of a sentence within its form has one digit for each group. A digit is the lexicographic number of the arrangement
of different words that the group's places hold, in the order in which they stand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from molyneux.core.tooling.compiled import compiled


class LanguageArrays(NamedTuple):
    """A language as arrays: F forms of at most S places, G groups of at most W words, K factors, V symbols.

    Args:
        starts: (F + 1,) number of the first sentence of each form.
        lengths: (F,) places of each form.
        group: (F, S) group of each place; -1 for a fixed word.
        turn: (F, S) how many free places of that group stand before it; an agreeing place has the one it agrees with.
        free: (F, S) bool, whether the place is one of its group's own.
        symbols: (F, S, W) symbol of the place by word of its group.
        order: (F, G) groups of a form, that of the fastest digit first; -1 = no more.
        occurrences: (F, G) free places of each group.
        sizes: (G,) words of each group.
        factors: (K, 2) group, and position; -1 = all words of the group, in their order.
        offsets: (G, most + 1) code of the first arrangement of so many words; most is the largest of `occurrences`.
        owner: (V,) group of each symbol; -1 for others.
        local: (V,) number of the symbol in its group.
    """

    starts: np.ndarray
    lengths: np.ndarray
    group: np.ndarray
    turn: np.ndarray
    free: np.ndarray
    symbols: np.ndarray
    order: np.ndarray
    occurrences: np.ndarray
    sizes: np.ndarray
    factors: np.ndarray
    offsets: np.ndarray
    owner: np.ndarray
    local: np.ndarray


@compiled
def arrangements(size: int, count: int) -> int:
    """How many arrangements of so many different words there are."""
    total = 1
    for turn in range(count):
        total *= size - turn
    return total


@compiled
def _arrange(digit: int, size: int, count: int, words: np.ndarray) -> None:
    """Write the words of the arrangement of this number."""
    radix = arrangements(size, count)
    for turn in range(count):
        radix //= size - turn
        words[turn] = digit // radix
        digit -= words[turn] * radix
    # So far each number counts only the words that are left; the earlier ones are now put back.
    for turn in range(count - 2, -1, -1):
        for later in range(turn + 1, count):
            if words[later] >= words[turn]:
                words[later] += 1


@compiled
def _digit(words: np.ndarray, count: int, size: int) -> int:
    """The number of an arrangement; -1 if a word is unreadable (-1) or stands twice."""
    digit = 0
    for turn in range(count):
        left = words[turn]
        for earlier in range(turn):
            if words[earlier] == words[turn]:
                return -1
            left -= words[earlier] < words[turn]
        if words[turn] < 0:
            return -1
        digit = digit * (size - turn) + left
    return digit


@compiled
def _encode(words: np.ndarray, form: int, tables: LanguageArrays, codes: np.ndarray) -> None:
    """Write the codes (K,) of a sentence from the words of each group (G, most)."""
    for factor in range(len(codes)):
        group, position = tables.factors[factor]
        count = tables.occurrences[form, group]
        codes[factor] = -1
        if count == 0 or position >= count:
            continue
        digit = _digit(words[group], count, tables.sizes[group])
        if digit >= 0:
            codes[factor] = words[group, position] if position >= 0 else tables.offsets[group, count] + digit


@compiled
def write(numbers: np.ndarray, tables: LanguageArrays, end: int, ids: np.ndarray, codes: np.ndarray, forms: np.ndarray) -> None:
    """Write the sentences of numbers (n,): symbols `ids` (n, length), filled with padding, factors (n, K) and forms (n,)."""
    words = np.zeros(tables.offsets.shape, np.int64)
    for row in range(len(numbers)):
        form = np.searchsorted(tables.starts, numbers[row], side="right") - 1
        number = numbers[row] - tables.starts[form]
        for group in tables.order[form]:
            if group < 0:
                break
            count = tables.occurrences[form, group]
            radix = arrangements(tables.sizes[group], count)
            _arrange(number % radix, tables.sizes[group], count, words[group])
            number //= radix
        for place in range(tables.lengths[form]):
            group = tables.group[form, place]
            word = words[group, tables.turn[form, place]] if group >= 0 else 0
            ids[row, place] = tables.symbols[form, place, word]
        ids[row, tables.lengths[form]] = end
        _encode(words, form, tables, codes[row])
        forms[row] = form


@compiled
def read(ids: np.ndarray, forms: np.ndarray, tables: LanguageArrays, codes: np.ndarray, accepted: np.ndarray) -> None:
    """Read sentences (n, length) of these forms (n,), though not every word needs to fit.

    Codes (n, K) are -1 for a group with a wrong or a repeated word, or where another word does not agree; `accepted` (n,) is
    whether all groups can be read.
    """
    words = np.zeros(tables.offsets.shape, np.int64)
    for row in range(len(ids)):
        form = forms[row]
        for place in range(tables.lengths[form]):
            group, symbol = tables.group[form, place], ids[row, place]
            if tables.free[form, place]:
                words[group, tables.turn[form, place]] = tables.local[symbol] if tables.owner[symbol] == group else -1
        for place in range(tables.lengths[form]):
            group = tables.group[form, place]
            if group >= 0 and not tables.free[form, place]:
                word = words[group, tables.turn[form, place]]
                if word >= 0 and tables.symbols[form, place, word] != ids[row, place]:
                    words[group, tables.turn[form, place]] = -1
        _encode(words, form, tables, codes[row])
        accepted[row] = True
        for group in range(len(tables.sizes)):
            accepted[row] &= _digit(words[group], tables.occurrences[form, group], tables.sizes[group]) >= 0
