"""Words of people as words of captions: contractions, numbers, other spellings, and phrases around a sentence that say nothing.

Only words are changed here, each phrase for one of the same meaning; what a sentence means is left to the grammar. Each word
keeps the place where it stood in the text, for messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

STOP = "."


class Word(NamedTuple):
    """A word as the grammar reads it, and the word of the text that it comes from."""

    text: str
    source: str


_PHRASES = """
isn't, isnt, ain't = is not
aren't, arent = are not
doesn't, doesnt = does not
don't, dont = do not
hasn't, hasnt = does not have
haven't, havent = do not have
there's, theres = there is
there're, therere = there are
it's = it is
they're = they are
that's = that is
nothing's = nothing is
lies, sits, stands, appears, is located, is placed, is positioned = is
lie, sit, stand, appear, are located, are placed, are positioned = are
cannot, can't = can not
which = that
object, figure, thing, item, element = shape
objects, figures, things, items, elements = shapes
form of, colour of = color of
oval = ellipse
ovals = ellipses
disc, disk = circle
discs, disks = circles
half circle, half-circle, semi circle, semi-circle = semicircle
half circles, half-circles, semi circles, semi-circles = semicircles
plus sign, plus = cross
plus signs = crosses
left most, left-most, furthest left, farthest left = leftmost
right most, right-most, furthest right, farthest right = rightmost
top most, top-most, highest, upper most, upper-most = uppermost
bottom most, bottom-most, bottommost, lowest, lower most, lower-most = lowermost
the top = the uppermost
the bottom = the lowermost
tiniest, littlest = smallest
brightest = lightest
nearest = closest
brighter, paler = lighter
greater, huger = bigger
tinier, littler = smaller
nearer = closer
colored, color coloured, colour coloured = coloured
50 %, 50 percent, 50 per cent = half
25 %, 25 percent, 25 per cent, one quarter = a quarter
75 %, 75 percent, 75 per cent = three quarters
1/2, one half = half
a half of = half of
1/3, one third = a third
2/3, two-thirds = two thirds
1/4 = a quarter
3/4, three-quarters = three quarters
100 %, 100 percent = all
in front of = in front of
in-front-of, infront of = in front of
same-colour, same-color = same color
an equal number of = the same number of
"""

_ASKED = {f"{verb}{ending}": verb for verb in ("is", "are", "does", "do") for ending in ("n't", "nt")}
"""Negated verbs that begin a question."""

_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_PICTURE = "(?:picture|image|scene|photo|drawing|canvas)"
_OPENERS = re.compile(
    rf"^(?:(?:does|do) (?:the|this) {_PICTURE} (?:show|contain|have|include|depict)"
    rf"|(?:the|this) {_PICTURE} (?:shows|contains|has|includes|depicts)"
    rf"|(?:(?:this|it) is )?(?:a|an|the) {_PICTURE} (?:of|with|showing)"
    r"|(?:can|could|do)(?: not| n't)? (?:you|we|i) see|(?:i|we|you) (?:can )?see"
    r"|(?:please )?(?:show|draw|paint|give)(?: me)?) "
)
_AROUND = re.compile(
    rf" (?:at all|(?:in|on|of) (?:the|this) {_PICTURE}|here|visible|please|, right|, isnt it|also|too|actually|really)(?= |$)"
)
_PRESENT = re.compile(rf"(?<= )(?:is|are) (?:in|on) (?:the|this) {_PICTURE} $")
_COLOURED = re.compile(r"\bcoloured ")


def _table(text: str) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    pairs = (line.split(" = ") for line in text.strip().splitlines())
    return {tuple(one.split()): tuple(meant.split()) for many, meant in pairs for one in many.split(", ")}


_MEANT: dict[tuple[str, ...], tuple[str, ...]] = {
    **_table(_PHRASES),
    **{(str(number),): (word,) for number, word in enumerate(_NUMERALS)},
}
_LONGEST_PHRASE = max(map(len, _MEANT))


def english_words(text: str) -> list[Word]:
    """The words of an English text, small letters, each sentence with a full stop at its end."""
    tokens = _tokens(text.lower())
    if tokens and tokens[0] in _ASKED:
        tokens[:1] = [_ASKED[tokens[0]], "n't"]
    words = list(_replaced([Word(token, token) for token in tokens]))
    words = _without(words, _PRESENT, "exists")
    words = _without(words, _AROUND, "")
    words = _without(words, _OPENERS, "there is ")
    return _closed(_without(words, _COLOURED, ""))


def plain_words(text: str) -> list[Word]:
    """The words of a text in another language, small letters, with a full stop at its end."""
    return _closed([Word(word, word) for word in _tokens(text.lower())])


def _tokens(text: str) -> list[str]:
    text = re.sub(r"-colou?red", " coloured", re.sub(r"[\u2018\u2019\u00b4`]", "'", text))
    text = re.sub(r"[?!;]+", " . ", re.sub(r"[\"\u201c\u201d\u201e()\[\]*]", " ", text)).replace(":", ",").replace("%", " % ")
    found: list[str] = []
    for token in re.findall(r"[^\s.,]+|[.,]", text):
        token = token.strip("'") or token
        own = re.fullmatch(r"(\w+)('s|s')", token)
        parts = [own[1], "'s"] if own and (token,) not in _MEANT else [token]
        found += parts
    return found


def _replaced(words: Sequence[Word]) -> Iterator[Word]:
    """The words with phrases as captions have them, the longest first."""
    place = 0
    while place < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - place), 0, -1):
            meant = _MEANT.get(tuple(word.text for word in words[place : place + length]))
            if meant is not None:
                yield from (Word(text, words[place].source) for text in meant)
                place += length
                break
        else:
            yield words[place]
            place += 1


def _without(words: Sequence[Word], pattern: re.Pattern[str], instead: str) -> list[Word]:
    """The words without those that a pattern finds in them, joined by spaces; other words may stand instead."""
    text, starts, place = "", list[int](), 0
    for word in words:
        starts.append(len(text))
        text += f"{word.text} "
    found: list[Word] = []
    for match in pattern.finditer(text):
        end = match.end()
        first = next((number for number, start in enumerate(starts) if start >= match.start()), len(words))
        found += words[place:first]
        found += [Word(one, words[min(first, len(words) - 1)].source) for one in instead.split()]
        place = next((number for number, start in enumerate(starts) if start >= end), len(words))
    return [*found, *words[place:]]


def _closed(words: Sequence[Word]) -> list[Word]:
    """Words with one full stop at the end of each sentence, and no comma before it or at the beginning."""
    found: list[Word] = []
    for word in words:
        if word.text in (STOP, ","):
            if not found or found[-1].text == STOP:
                continue
            if found[-1].text == ",":
                found.pop()
        found.append(word)
    while found and found[-1].text in (STOP, ","):
        found.pop()
    return [*found, Word(STOP, "")] if found else []
