"""Compiled edits of the words of a text: letters swapped, shuffled, left out or repeated; words left out or exchanged."""

from __future__ import annotations

import numpy as np

from molyneux.core.tooling.compiled import compiled

SWAP, SHUFFLE, OMIT, REPEAT, DROP, EXCHANGE = range(6)
"""What is done to a word: two inner letters swapped, all inner letters shuffled, letters left out or written twice; the word left
out, or exchanged with the next one."""


@compiled
def edit_words(
    words: np.ndarray,
    said: np.ndarray,
    drawn: np.ndarray,
    strength: float,
    change: int,
    limits: tuple[int, int],
    order: np.ndarray,
    kept: np.ndarray,
) -> None:
    """Write into `order` (B, L) the places that each text takes its symbols from, and into `kept` (B,) how many it then has.

    Args:
        words: (B, L) the number of the word at each place, -1 for none.
        said: (B,) lengths of the texts.
        drawn: (B, L, 2) random numbers.
        strength: probability that a word is changed.
        change: `SWAP`, `SHUFFLE`, ... or `EXCHANGE`.
        limits: letters that are omitted or repeated, and letters of the shortest word that is changed.
        order: (B, L), a result.
        kept: (B,), a result.
    """
    for row in range(len(words)):
        kept[row] = _edit_text(words[row, : said[row]], drawn[row], strength, change, limits, order[row])


@compiled
def _edit_text(
    words: np.ndarray, drawn: np.ndarray, strength: float, change: int, limits: tuple[int, int], order: np.ndarray
) -> int:
    """Edit one text: write into `order` (L,) the places that it takes its symbols from, and return how many it then has."""
    count, shortest = limits
    begin, size = 0, 0
    while begin < len(words):
        end, start = _word_end(words, begin), size
        changed = words[begin] >= 0 and end - begin >= shortest and drawn[begin, 0] < strength
        if changed and change == DROP:
            if end < len(words) and words[end] < 0:
                end += 1  # the space behind the word
        elif changed and change == EXCHANGE:
            size, end = _append_exchanged(words, begin, end, order, size)
        elif changed and change == OMIT:
            size = _append_drawn(drawn, begin, end, order, size, count, 0)
        elif changed and change == REPEAT:
            size = _append_drawn(drawn, begin, end, order, size, count, 2)
        else:
            size = _append(begin, end, order, size)
        if changed and change == SWAP:
            _swap_letters(order[start:size], drawn[begin, 1])
        if changed and change == SHUFFLE:
            _shuffle_letters(order[start:size], drawn[begin:end, 1])
        begin = end
    return size


@compiled
def _word_end(words: np.ndarray, begin: int) -> int:
    """The place behind the word that begins at a place, or behind the one symbol there if it is in no word."""
    end = begin + 1
    while words[begin] >= 0 and end < len(words) and words[end] == words[begin]:
        end += 1
    return end


@compiled
def _append(begin: int, end: int, order: np.ndarray, size: int) -> int:
    """Append the places from `begin` to before `end` to the first `size` of `order`, as many as fit; returns the new size."""
    for place in range(begin, end):
        if size < len(order):
            order[size] = place
            size += 1
    return size


@compiled
def _append_exchanged(words: np.ndarray, begin: int, end: int, order: np.ndarray, size: int) -> tuple[int, int]:
    """Append the next word, what is between, and this word; returns the new size and the place behind them.

    The last word of a text has no next one, and stays.
    """
    following = end
    while following < len(words) and words[following] < 0:
        following += 1
    behind = end
    if following < len(words):
        behind = _word_end(words, following)
        size = _append(following, behind, order, size)
        size = _append(end, following, order, size)
    return _append(begin, end, order, size), behind


@compiled
def _append_drawn(drawn: np.ndarray, begin: int, end: int, order: np.ndarray, size: int, count: int, copies: int) -> int:
    """Append a word in which `count` letters, drawn without replacement, stand `copies` times; returns the new size."""
    left = count
    for place in range(begin, end):
        chosen = drawn[place, 1] * (end - place) < left
        left -= chosen
        for _ in range(copies if chosen else 1):
            size = _append(place, place + 1, order, size)
    return size


@compiled
def _swap_letters(letters: np.ndarray, uniform: float) -> None:
    """Exchange two neighbours of a word (n,), neither of them the first or the last."""
    first = 1 + int(uniform * (len(letters) - 3))
    letters[first], letters[first + 1] = letters[first + 1], letters[first]


@compiled
def _shuffle_letters(letters: np.ndarray, uniforms: np.ndarray) -> None:
    """Shuffle a word (n,) between its first and its last letter (Fisher and Yates)."""
    for last in range(len(letters) - 2, 1, -1):
        other = 1 + int(uniforms[last] * last)
        letters[last], letters[other] = letters[other], letters[last]
