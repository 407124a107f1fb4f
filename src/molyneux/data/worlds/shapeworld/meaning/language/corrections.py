"""Typing errors: words that nobody knows, and the known ones that are a slip of the finger away.

A slip is a letter that is missing, too many, another one, or exchanged with its neighbour; two of them in longer words that begin
with the same letter; a space that is missing, or one within a word.

>>> sorted(candidates("circels", {"circle", "circles", "cross"}))
['circles']
>>> sorted(candidates("darkerthan", {"darker", "than", "the"}))
['darker than']
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from molyneux.data.worlds.shapeworld.meaning.language import fillers
from molyneux.data.worlds.shapeworld.meaning.language.suggestions import HINTS, RESEMBLES
from molyneux.data.worlds.shapeworld.meaning.language.synonyms import DECISIONS, PHRASES

_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_LONG = 7
"""Letters of words in which two slips are looked for."""

_MOST, _TRIALS = 2, 24
"""Wrong words of a sentence, and sentences that are tried instead of it, at most."""

_EASILY_MISTAKEN = (
    "one",
    "ones",
    "it",
    "is",
    "a",
    "an",
    "at",
    "no",
    "of",
    "to",
    "or",
    "and",
    "not",
    "all",
    "with",
    "form",
    "who",
)
"""Short words that resemble too many others: only exchanged or doubled letters are taken for slips of these."""

_OTHER_WORDS = """
bed rod rid read reed rev fed led wed ted reds glue clue flue value grew greed greet gravy bray tray pray gay great cyanide
while whine write wait line lime mine cone tone bone zone stone phone gone done lone cube cure core care car cat cow dog pig
tree three rose nose house horse mouse moose lake take make bake like bike hat hand head heart arrow cloud moon sun sky sea
road rope ring rink link pink ink king wing thing cycle circus circuit cress crass gross dress press crows crown crops cries
spare share stare scare sphere spheres squire squad squid shade shame shave sharp ship ellipsis prism pyramid cylinder cones
polygon octagon hexagon letter number word text face eye man boy girl woman child person people bird fish ball bell bull bill
pale male tall small smell smart short thick thin wide round blank black brown bottle table chair box fox lift loft soft love
live move more most must mist best rest test less mess loss boss toss cost lost last list least east west north south date
hate late rate gate plate state slate slow glow grow show know now how low row bow tow behave beyond belong begin began being
been bean beer bear dear hear near fear year tear wear weird work happy sad nice pretty ugly beautiful old new young good bad
fast full empty hot cold wet dry clean dirty dead alive overlay overlook overlord rather either other mother father brother
another weather leather feather
"""
"""English words that are not of this language and no slips of its words."""


@lru_cache(maxsize=1)
def _known_phrases() -> frozenset[str]:
    """Words of phrases; of those around a statement only the longer ones, since what is taken for an "um" is lost."""
    words = {word for table in (PHRASES, DECISIONS) for phrase in table for word in phrase}
    patterns = " ".join(one.pattern.pattern for one in (*fillers.OPENED, *fillers.ANYWHERE, *fillers.CLOSED))
    return frozenset(words | set(re.findall(r"[a-z']{4,}", patterns)))


@lru_cache(maxsize=1)
def _called_out() -> frozenset[str]:
    """The shorter words around a statement, which are known, but not what anything else was meant for."""
    patterns = " ".join(one.pattern.pattern for one in (*fillers.OPENED, *fillers.ANYWHERE, *fillers.CLOSED))
    return frozenset(re.findall(r"(?<![a-z'])[a-z']{1,3}(?![a-z'])", patterns))


class Corrected(NamedTuple):
    """A text with other words, the pairs of words that were exchanged, and how likely it is: 0, 1, ..."""

    text: str
    pairs: tuple[tuple[str, str], ...]
    rank: int


def corrected(text: str, known: Collection[str]) -> Iterator[Corrected]:
    """A text with other words for those that nobody knows, the likeliest first.

    Args:
        text: as it was written.
        known: words of the language.
    """
    words = re.findall(r"\s+|[^\W\d_]+(?:'[a-z]+)?|.", text.lower())
    targets = {word for word in {*known, *_known_phrases()} if word.isalpha()}
    others = {*_OTHER_WORDS.split(), *_called_out(), *HINTS, *RESEMBLES}
    strange = [
        place
        for place, word in enumerate(words)
        if len(word) > 1
        and word.isalpha()
        and word not in targets
        and word not in others
        and word.removesuffix("s") not in others
    ]
    if not 0 < len(strange) <= _MOST:
        return
    for rank, choose in enumerate((_likeliest, _any_of)):
        choices = [[(words[place], one) for one in choose(words[place], candidates(words[place], targets))] for place in strange]
        for chosen in list(product(*choices))[:_TRIALS]:
            written = list(words)
            for place, (_, instead) in zip(strange, chosen, strict=True):
                written[place] = instead
            yield Corrected("".join(written), chosen, rank)
    yield from _joined(words, strange, targets)


def _likeliest(word: str, found: Collection[str]) -> list[str]:
    """Of words that may have been meant, those of which only letters are missing, doubled or exchanged, if there are any."""
    plain = [one for one in found if _swapped(word, one) or _within(word, one)]
    return sorted(plain or found)


def _any_of(_: str, found: Collection[str]) -> list[str]:
    """All of the words that may have been meant."""
    return sorted(found)


def _within(word: str, other: str) -> bool:
    """Whether a word is another one with letters left out."""
    letters = iter(other)
    return all(letter in letters for letter in word)


def _joined(words: Sequence[str], strange: Sequence[int], targets: Collection[str]) -> Iterator[Corrected]:
    """The text with a space less beside a word that nobody knows, where that makes a word."""
    for place in strange:
        for first in (place - 2, place):
            parts = words[first : first + 3]
            if first >= 0 and len(parts) == 3 and parts[1].isspace() and parts[0] + parts[2] in targets:
                pair = (f"{parts[0]} {parts[2]}", parts[0] + parts[2])
                yield Corrected("".join([*words[:first], pair[1], *words[first + 3 :]]), (pair,), 1)


def candidates(word: str, known: Collection[str]) -> set[str]:
    """The known words, or pairs of them, that a word may have been meant for."""
    found = {one for one in _one_slip(word) if one in known and (one not in _EASILY_MISTAKEN or _swapped(word, one))}
    found |= {
        f"{word[:cut]} {word[cut:]}"
        for cut in range(1, len(word))
        if word[:cut] in known and word[cut:] in known and (cut > 1 or word[0] == "a") and len(word) - cut > 1
    }
    if not found and len(word) >= _LONG:
        near = (one for one in known if abs(len(one) - len(word)) <= 2 and len(one) >= _LONG - 1 and one[0] == word[0])
        found = {one for one in near if _slips(word, one) <= 2}
    return found


def _swapped(word: str, other: str) -> bool:
    plain, wanted = (re.sub(r"(.)\1", r"\1", one) for one in (word, other))
    return sorted(word) == sorted(other) or plain == wanted


def _one_slip(word: str) -> Iterator[str]:
    parts = [(word[:cut], word[cut:]) for cut in range(len(word) + 1)]
    for before, after in parts:
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in _LETTERS:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]


def _slips(one: str, other: str) -> int:
    """The least number of slips between two words (optimal string alignment)."""
    before, last = list[int](), list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, wanted in enumerate(other, 1):
            cost = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        before, last = last, line
    return last[-1]
