"""Words of people as words of captions: contractions, numbers, other spellings, and phrases around a sentence that say nothing.

Only words are changed here, each phrase for one of the same meaning (`synonyms`), or taken away (`fillers`); what a sentence
means is left to the grammar. Each word keeps the place where it stood in the text, for messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from molyneux.data.worlds.shapeworld.meaning.language.fillers import ANYWHERE, CLOSED, OPENED, Filler
from molyneux.data.worlds.shapeworld.meaning.language.synonyms import DECISIONS, PHRASES
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

STOP = "."


class Word(NamedTuple):
    """A word as the grammar reads it, and the word of the text that it comes from."""

    text: str
    source: str


class Wording(NamedTuple):
    """The words of a text, and what is told of how they were changed: names of remarks, or sentences."""

    words: list[Word]
    remarks: tuple[str, ...]


_ASKED = {f"{verb}{ending}": verb for verb in ("is", "are", "does", "do") for ending in ("n't", "nt")}
"""Negated verbs that begin a question."""

_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_COLOUR = f"(?:{'|'.join((*COLOURS, 'grey'))})"
_COLOURED = (
    (re.compile(rf"\b{_COLOUR} coloured "), "", 1),
    (re.compile(rf"\b(?:has|have) (?:a |the )?(?={_COLOUR} colou?r )"), "is", 0),
    (re.compile(rf"(?:(?<=is )|(?<=are ))(?:of|in) (?:a |the )?(?={_COLOUR} (?:colou?r )?(?:$|and |or |\. |, ))"), "", 0),
    (re.compile(rf"\b(?:with|of|in) (?:a |the )?(?={_COLOUR} colou?r )"), "that is", 0),
    (re.compile(rf"\b{_COLOUR} colou?r "), "", 1),
    (re.compile(rf"\bcoloured (?={_COLOUR} (?:$|is |are |and |or |\. |, ))"), "that is", 0),
    (re.compile(rf"\bin (?:a )?(?={_COLOUR} (?:colou?r )?(?:$|is |are |and |\. |, ))"), "that is", 0),
    (re.compile(r"(?<!different )(?<!differently )\bcoloured "), "", 0),
)
"""Colours in other places: the pattern, what stands instead of it, and how many of its words are kept."""

_OF_THEM = re.compile(r"(?<=of )(?:them|those|these) (?=(?:all )?(?:are|is|have|has|that|overlaps?|not) )")
_NAMED = re.compile(rf"\b(?:shapes?|ones?|{'|'.join(f'{shape}(?:e?s)?' for shape in SHAPES)}) .*of (?:them|those|these) ")
"""Shapes that were not named before, and those that were."""

_PLURALS = {shape: f"{shape}es" if shape.endswith("s") else f"{shape}s" for shape in SHAPES}
_SINGULARS = {form: shape for shape, plural in _PLURALS.items() for form in (shape, plural)}
_ATTRIBUTES = frozenset(
    (
        *(*COLOURS, "grey", "leftmost", "rightmost", "uppermost", "lowermost", "topmost", "biggest", "largest", "smallest"),
        *("darkest", "lightest", "left", "right", "upper", "lower", "bigger", "larger", "smaller", "darker", "lighter"),
    )
)
_BEFORE_ANY = ("of", "above", "below", "behind", "over", "under", "beneath", "than", "overlap", "with")

_MEANT: dict[tuple[str, ...], tuple[str, ...]] = {
    **PHRASES,
    **DECISIONS,
    **{(str(number),): (word,) for number, word in enumerate(_NUMERALS)},
    **{(f"{colour}s",): (colour, "ones") for colour in (*COLOURS, "grey")},
}
_LONGEST_PHRASE = max(map(len, _MEANT))

_MOST_OPENED = 4
"""Phrases that are taken away from the beginning of a sentence at most."""


def english_words(text: str) -> Wording:
    """The words of an English text, small letters, each sentence with a full stop at its end."""
    tokens = _tokens(text.lower())
    while tokens and tokens[-1] in (STOP, ","):
        tokens.pop()
    if tokens and tokens[0] in _ASKED:
        tokens[:1] = [_ASKED[tokens[0]], "n't"]
    told: list[str] = []
    words = _bare([Word(token, token) for token in tokens], told)
    words = _bare(list(_replaced(list(_replaced(words, told)), told)), told)
    words = _with_antecedents(_with_any(words))
    if not _NAMED.search(_joined(words)):
        words = _without(words, _OF_THEM, "the shapes")
    for pattern, instead, keep in _COLOURED:
        words = _without(words, pattern, instead, keep=keep)
    return Wording(_closed(words), tuple(dict.fromkeys(told)))


def plain_words(text: str) -> list[Word]:
    """The words of a text in another language, small letters, with a full stop at its end."""
    return _closed([Word(word, word) for word in _tokens(text.lower())])


def _tokens(text: str) -> list[str]:
    text = re.sub(r"-colou?red", " coloured", re.sub(r"[\u2018\u2019\u00b4`]", "'", text))
    text = re.sub(r"\bno\. of\b", "number of", re.sub(r"\.{2,}|\u2026| -+ |[\u2013\u2014]", " , ", text))
    text = re.sub(r"\b(\d+)\s?\+", r"\1 or more", text)
    if not text.startswith("if"):
        text = re.sub(
            r"\b((?:bigger|larger|smaller|darker|lighter|greater|higher|lower|fewer|more|less)(?: \w+){0,2}) then\b",
            r"\1 than",
            text,
        )
    text = re.sub(r"\bu\b", "you", re.sub(r"\b(i|you|they|we)(m|ve|re)\b", r"\1'\2", text))
    text = re.sub(r"\b(\d) ?(?:-|to) ?(\d)\b", r"between \1 and \2", re.sub(r"\s\+\s", " and ", text))
    text = re.sub(r"#\s?(?=\w)(?:of )?", "number of ", re.sub(r"([<>]=?|=+|&)", r" \1 ", text))
    text = re.sub(r"[?!;]+", " . ", re.sub(r"[\"\u201c\u201d\u201e()\[\]*]", " ", text)).replace(":", ",").replace("%", " % ")
    found: list[str] = []
    for token in re.findall(r"[^\s.,]+|[.,]", text):
        token = token.strip("'") or token
        own = re.fullmatch(r"(\w+)('s|s')", token)
        parts = [own[1], "'s"] if own and (token,) not in _MEANT else [token]
        found += parts
    return found


def _with_any(words: Sequence[Word]) -> list[Word]:
    """The words of a question or a denial with "a" for "any" behind a relation: "is it above any circle" asks for one."""
    if not words or (words[0].text not in (*_ASKED.values(), "no", "none") and not any(word.text == "not" for word in words)):
        return list(words)
    before = ("", *(word.text for word in words))
    return [
        word._replace(text="a") if word.text == "any" and last in _BEFORE_ANY else word
        for last, word in zip(before, words, strict=False)
    ]


def _with_antecedents(words: Sequence[Word]) -> list[Word]:
    """The words with the shape that was named before for "one", where it is the only one: "the red square and the blue one".

    What is said to be "the biggest one" or "the only red one" may be of any shape, and keeps its words.
    """
    found, named = list[Word](), dict[str, None]()
    for place, word in enumerate(words):
        text = word.text
        before = [one.text for one in words[max(0, place - 4) : place]]
        said = len(before) > 2 and before[-2] in ("the", "only") and {"is", "are", "not", "="} & {*before[:-2]}
        if (
            text in ("one", "ones")
            and len(named) == 1
            and before[-1] in _ATTRIBUTES
            and not said
            and "and a" not in " ".join(before)
        ):
            (shape,) = named
            text = shape if text == "one" else _PLURALS[shape]
        if text in _SINGULARS and not _is_predicate([one.text for one in words[:place]]):
            named[_SINGULARS[text]] = None
        found.append(word._replace(text=text))
    return found


def _is_predicate(before: Sequence[str]) -> bool:
    """Whether a shape behind words is what is said of another one, as in "the red one is a circle"."""
    place = len(before) - 1
    while place >= 0 and (before[place] in ("a", "an", "the", "not", "all", "both") or before[place] in _ATTRIBUTES):
        place -= 1
    return place > 0 and before[place] in ("is", "are", "=") and before[place - 1] != "there"


def _bare(words: Sequence[Word], told: list[str]) -> list[Word]:
    """The words without those around a statement; what is to be told of them is added."""
    found = list(words)
    for _ in range(_MOST_OPENED):
        before = found
        found = _taken(found, OPENED, told)
        if found == before:
            break
    return _taken(_taken(found, CLOSED, told), ANYWHERE, told)


def _taken(words: list[Word], fillers: Sequence[Filler], told: list[str]) -> list[Word]:
    text = _joined(words)
    for filler in fillers:
        if filler.pattern.search(text):
            words = _without(words, filler.pattern, filler.instead)
            text = _joined(words)
            told += [filler.remark] * bool(filler.remark)
    return words


def _joined(words: Sequence[Word]) -> str:
    return "".join(f"{word.text} " for word in words)


def _replaced(words: Sequence[Word], told: list[str]) -> Iterator[Word]:
    """The words with phrases as captions have them, the longest first."""
    place = 0
    while place < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - place), 0, -1):
            phrase = tuple(word.text for word in words[place : place + length])
            meant = _MEANT.get(phrase)
            if meant is not None and (place or phrase != ("which",)):  # a question, where it begins
                told += [f"{' '.join(phrase)!r} is read as {' '.join(meant)!r}"] * (phrase in DECISIONS)
                yield from (Word(text, words[place].source) for text in meant)
                place += length
                break
        else:
            yield words[place]
            place += 1


def _without(words: Sequence[Word], pattern: re.Pattern[str], instead: str, *, keep: int = 0) -> list[Word]:
    """The words without those that a pattern finds in them, but for the first `keep` of them; others may stand instead."""
    text, starts, place = "", list[int](), 0
    for word in words:
        starts.append(len(text))
        text += f"{word.text} "
    found: list[Word] = []
    for match in pattern.finditer(text):
        end = match.end()
        first = next((number for number, start in enumerate(starts) if start >= match.start()), len(words)) + keep
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
