"""What is said of a sentence that cannot be read: where it stops, what the words resemble, and the nearest sentence."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

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

_PLACE = (
    "(?:top|bottom|upper|lower|left|right|middle|center|centre|central|corner|edge|side|half|area|part|far|very|border|"
    "foreground|"
    "background|quadrant|third|region|hand|left-hand|right-hand)"
)
_LEFT_OUT = (
    rf"(?:up there |down there |right |close |near )?(?:in|at|near|toward|towards|to|on|along|around|by|from) (?:the |a "
    rf")?(?:{_PLACE} )+(?:of (?:the |this )?(?:picture|image|scene) )?(?!of )",
    r"(?:very |really |rather |quite |fairly |extremely |so )?(?:big|large|small|tiny|huge|little|giant|tall|short|wide|"
    r"medium|medium-sized|dark|light|bright|pale|nearby|smaller|larger|bigger|round|beautiful|lone|solitary) (?!than )",
    r"(?:nearby|everywhere|alone|scattered around|scattered|in a row|in a line|side by side) ",
)
_SAID_FOR = (
    (r"(?<=the )(?:big|large|huge|giant) ", "biggest"),
    (r"(?<=the )(?:small|tiny|little) ", "smallest"),
    (r"(?<=the )dark ", "darkest"),
    (r"(?<=the )(?:light|bright|pale) ", "lightest"),
    (r"(?:almost all|nearly all|mostly) ", "most"),
    (r"(?:almost no|nearly no) ", "no"),
    (
        r"(?:is |are )?(?:next to|near to|near|beside|close to|nearby|adjacent to|far away from|far from|around|inside|"
        r"within|by) ",
        "is accompanied by",
    ),
    (r"on top of ", "above"),
)
"""What captions cannot say, and what they can say instead of it, which is less or something else."""

_FUNCTION = ("a", "an", "the", "is", "are", "there", "of", "than", "to", "that", ",", "be", "does", "do")
"""Words that are put in, or left out, without another meaning."""

_EDITS, _TRIALS, _RESEMBLANCE = 3, 80, 0.75
_SHORT = 3
"""Letters of words that resemble too many others."""

_INSERTED = ("a", "is", "shape", "shapes", "are", "the", "of", "than", "to", "there", "red")
"""Words that are put in where something is missing."""


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


def nearest_sentences(
    parser: Parser, words: Sequence[str], near: Mapping[str, str], *, resembling: bool
) -> Iterator[tuple[list[str], list[Polish], tuple[str, ...]]]:
    """Sentences that are near to words that are none: their words, their values, and what they say otherwise.

    Args:
        parser: of the language.
        words: that are no sentence.
        near: for words that nobody knows, those that they resemble.
        resembling: whether words that nobody knows have near ones, so that it is worth to try changes one by one.
    """
    less, differs = _reduced(words, near)
    if less != list(words) and (values := parser.values(less)):
        yield less, values, differs
    if resembling:
        changed, values = nearest_sentence(parser, words)
        if values:
            yield changed, values, _differences(words, changed)


def _reduced(words: Sequence[str], near: Mapping[str, str]) -> tuple[list[str], tuple[str, ...]]:
    """The words without those for what captions cannot say, or with others, and what became of them."""
    text = "".join(f"{near.get(word, word) if word not in HINTS else word} " for word in words)
    differs = [f"it says {near[word]!r} for {word!r}" for word in words if word in near and RESEMBLES.get(word) == near[word]]
    for pattern, instead in _SAID_FOR:
        for found in re.finditer(rf"(?:(?<= )|^){pattern}", text):
            differs.append(f"it says {instead!r} for {found[0].strip()!r}")
        text = re.sub(rf"(?:(?<= )|^){pattern}", f"{instead} ", text)
    for pattern in _LEFT_OUT:
        for found in re.finditer(rf"(?:(?<= )|^){pattern}", text):
            differs.append(f"it leaves out {found[0].strip()!r}")
        text = re.sub(rf"(?:(?<= )|^){pattern}", "", text)
    return text.split(), tuple(differs)


def _differences(words: Sequence[str], changed: Sequence[str]) -> tuple[str, ...]:
    """What changed words say otherwise: words that are left out or put in, or that do not resemble those that they stand for."""
    found: list[str] = []
    for kind, first, last, start, end in difflib.SequenceMatcher(None, words, changed, autojunk=False).get_opcodes():
        before = [word for word in words[first:last] if word not in _FUNCTION]
        after = [word for word in changed[start:end] if word not in _FUNCTION]
        if [*changed[start:end]] in (["shape"], ["shapes"]) and not before:
            continue
        if kind == "equal" or (len(before) == len(after) and all(map(_near, before, after))):
            continue
        if before and after:
            found.append(f"it says {' '.join(after)!r} for {' '.join(before)!r}")
        else:
            found += [f"it leaves out {' '.join(before)!r}"] * bool(before) + [f"it adds {' '.join(after)!r}"] * bool(after)
    return tuple(found)


def _near(word: str, other: str) -> bool:
    return word not in RESEMBLES and difflib.SequenceMatcher(None, word, other).ratio() >= _RESEMBLANCE


def nearest_sentence(parser: Parser, words: Sequence[str]) -> tuple[list[str], list[Polish]]:
    """The sentence that the fewest changes of words give, and its values; nothing where a few do not.

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
