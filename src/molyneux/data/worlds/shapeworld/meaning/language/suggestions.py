"""What is said of a sentence that cannot be read: where it stops, what the words resemble, and the nearest sentence."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from molyneux.data.worlds.shapeworld.meaning.grammar.parser import Parser
from molyneux.data.worlds.shapeworld.meaning.grammar.templates import Polish

_RESEMBLES = """
purple violet pink fuchsia lilac mauve indigo lavender plum = magenta
orange gold golden amber beige = yellow
turquoise teal aqua aquamarine = cyan
navy azure cobalt = blue
lime olive emerald = green
crimson scarlet maroon brown ruby = red
silver black = gray
star plus x = cross
hexagon octagon heptagon polygon = pentagon
cube box diamond quadrilateral = square
ball sphere dot point ring = circle
bar oblong = rectangle
pyramid = triangle
"""
RESEMBLES = {word: line.split(" = ")[1] for line in _RESEMBLES.strip().splitlines() for word in line.split(" = ")[0].split()}
"""Words for colours and shapes that captions do not have, and the nearest that they have."""

_HINTS = {
    "a question is read if yes or no is its answer": "how what where who why when whose which that",
    "sizes are only compared: 'bigger than a circle', 'the biggest square'": "big large small tiny huge little tall short wide",
    "shades are only compared: 'darker than a red circle', 'the lightest red shape'": "dark light bright pale",
    "relations are left of, right of, above, below, behind, in front of, closer to and farther from": (
        "next near beside between inside outside touching touches overlaps around against beyond within opposite on in at"
    ),
    "numbers go up to five": "six seven eight nine ten eleven twelve",
    "say how many: 'at least three', 'most', 'more than half of the'": "many several few much lots numerous hardly",
}
AMOUNTS = frozenset(
    ["six", "seven", "eight", "nine", "ten", "eleven", "twelve", "many", "several", "few", "much", "lots", "numerous", "hardly"]
)
"""Words of how many for which no sentence stands: one without them says something else."""
HINTS = {word: hint for hint, words in _HINTS.items() for word in words.split()}

_EDITS, _TRIALS, _RESEMBLANCE = 3, 80, 0.75
_SHORT = 3
"""Letters of words that resemble too many others."""

_INSERTED = ("a", "is", "shape", "shapes", "are", "the", "of", "than", "to", "there", "red")
"""Words that are put in where something is missing."""

_SILENT = ("a", "an", "is", "are", "of", "than", "to", "there", "shape", "shapes")
"""Those of them that leave the meaning as it is."""


def nearest_word(word: str, known: Sequence[str]) -> str:
    """The known word that a word resembles in meaning or in letters; nothing if there is none."""
    if RESEMBLES.get(word) in known:
        return RESEMBLES[word]
    if word.endswith("s") and RESEMBLES.get(word[:-1]) in known:
        plural = f"{RESEMBLES[word[:-1]]}s"
        return plural if plural in known else ""
    for near in difflib.get_close_matches(word[:40], known, n=3, cutoff=_RESEMBLANCE):
        if len(word) > _SHORT or (word[0] == near[0] and word[-1] == near[-1]):
            return near
    return ""


def nearest_sentence(parser: Parser, words: Sequence[str]) -> tuple[list[str], list[Polish]]:
    """The sentence that the fewest changes of words give, and its values; none where a few do not.

    Args:
        parser: of the language.
        words: that are no sentence.
    """
    waiting, tried = [list(words)], 0
    fewest = len(words) - 1
    for _ in range(_EDITS):
        following: list[tuple[int, list[str]]] = []
        for found in waiting:
            place, expected = parser.stop(found)
            for changed in _changed(found, place, sorted(expected)):
                if len(changed) < fewest:
                    continue
                tried += 1
                if tried > _TRIALS:
                    return [], []
                if values := parser.values(changed):
                    return changed, values
                following.append((parser.stop(changed)[0] - len(changed), changed))
        following.sort(key=lambda pair: -pair[0])
        waiting = [changed for _, changed in following[:4]]
    return [], []


def keeps_meaning(words: Sequence[str], changed: Sequence[str]) -> bool:
    """Whether changed words are the same ones spelled otherwise, or with words that say nothing put in."""
    matched = difflib.SequenceMatcher(None, words, changed, autojunk=False)
    for what, start, end, begin, stop in matched.get_opcodes():
        if what == "delete" or (what == "insert" and not set(changed[begin:stop]) <= set(_SILENT)):
            return False
        if what == "replace" and (
            end - start != stop - begin or not all(map(_spelt_otherwise, words[start:end], changed[begin:stop]))
        ):
            return False
    return True


def _spelt_otherwise(word: str, other: str) -> bool:
    return RESEMBLES.get(word) != other and bool(difflib.get_close_matches(word[:40], [other], cutoff=0.6))


def _changed(words: Sequence[str], place: int, expected: Sequence[str]) -> list[list[str]]:
    """The words with another one at the place where they stop, or at the one before; without it; or with one more."""
    found: list[list[str]] = []
    before, after = list(words[:place]), list(words[place + 1 :])
    word = words[place] if place < len(words) else ""
    if word and word != ".":
        near = [RESEMBLES[word]] if RESEMBLES.get(word) in expected else []
        near += difflib.get_close_matches(word[:40], expected, n=2, cutoff=0.6)
        found += [[*before, one, *after] for one in dict.fromkeys(near)]
    found += [[*before, one, *words[place:]] for one in _INSERTED if one in expected]
    if word and word != "." and len(words) > 2:
        found.append([*before, *after])
    return found
