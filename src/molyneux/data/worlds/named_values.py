"""Values of factors that a text names, in any order and among other words."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import CompletedCaption, ConvertedViews, DataError, Factor, Understood, views_of
from molyneux.data.worlds.captions import TemplateCaptions

_FILLERS = """
    a an the of at in on with and or is it its to there this that which has are be as by from for i we want would like background
    backdrop ground colour coloured corner position side shape shaped figure object sprite thing picture image photo
    drawing draw drawn paint show me please one digit number word sized size placed located standing stands
"""
FILLERS = frozenset(_FILLERS.split()) | {"color", "colored"}
"""Words that say nothing of values, unless a value has them."""

_GROUND, _BEFORE_GROUND = ("background", "backdrop", "ground"), ("on", "with", "against", "over", "is")

SYNONYMS = {"upper": "top", "lower": "bottom", "large": "big", "big": "large", "huge": "big", "tiny": "small", "little": "small"}
SYNONYMS |= {"gray": "grey", "grey": "gray", "bright": "light", "oval": "ellipse", "disc": "circle", "disk": "circle"}
"""Words that stand for others where a world has these and not those."""

_WORD = re.compile(r"[^\W_]+|[^\w\s]")
_MOST = 1000
"""Words of a text that are looked at."""


@dataclass(frozen=True)
class FoundValues:
    """What a text names.

    Args:
        possible: by factor that something was named of, the values that fit all of it; none where it excludes itself.
        named: by factor, the values that were named, for messages.
        unknown: by unknown word, the nearest known one, or nothing.
    """

    possible: Mapping[str, tuple[str, ...]]
    named: Mapping[str, tuple[str, ...]]
    unknown: Mapping[str, str]


class NamedValues:
    """Finds the values of factors in texts.

    Each value is known by its words but for those of `FILLERS`. A word that belongs to several values of a factor, such as `top`,
    leaves all of them possible; a word of two factors is of the one whose whole phrase stands there, such as `on black`.

    Args:
        factors: what captions say.
        synonyms: by word, the known one that it stands for; `SYNONYMS` by default.
        fillers: words beside `FILLERS` that say nothing.
    """

    def __init__(
        self, factors: Sequence[Factor], synonyms: Mapping[str, str] | None = None, *, fillers: Collection[str] = ()
    ) -> None:
        self.factors, self._fillers = tuple(factors), FILLERS | {part for word in fillers for part in words_of(word)}
        self._phrases = {(factor.name, value): tuple(words_of(value)) for factor in self.factors for value in factor.values}
        self._content = {key: frozenset(_content(words)) for key, words in self._phrases.items()}
        self._owners: dict[str, list[str]] = {}
        for (factor, _), words in self._content.items():
            for word in sorted(words):
                if factor not in self._owners.setdefault(word, []):
                    self._owners[word].append(factor)
        given = SYNONYMS if synonyms is None else synonyms
        self._synonyms = {word: known for word, known in given.items() if known in self._owners and word not in self._owners}
        self._longest = max((len(words) for words in self._phrases.values()), default=1)

    def find(self, text: str) -> FoundValues:
        """The values that a text names."""
        words = [self._synonyms.get(word, word) for word in words_of(text)[:_MOST]]
        said: dict[str, list[str]] = {}
        unknown: dict[str, str] = {}
        place = 0
        while place < len(words):
            factor, length = self._phrase_at(words, place)
            if factor:
                said.setdefault(factor, []).extend(words[place : place + length])
                place += length
                continue
            word = words[place]
            if word in self._owners:
                said.setdefault(self._owner(words, place), []).append(word)
            elif word not in self._fillers and word not in unknown:
                unknown[word] = self._nearest(word)
            place += 1
        possible, named = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]]()
        for factor, its in said.items():
            possible[factor], named[factor] = self._fitting(factor, {word for word in its if word in self._owners})
        return FoundValues(possible, named, unknown)

    def understand(
        self,
        text: str,
        *,
        write: Callable[[Mapping[str, str]], str],
        draw: Callable[[Mapping[str, tuple[str, ...]], np.random.Generator], Mapping[str, str]],
    ) -> Understood:
        """What a text says.

        Args:
            text: of a person.
            write: gives the caption of a value for each factor.
            draw: values of all factors out of those that are possible for each, from the distribution of the world.

        Raises:
            DataError: no text.
        """
        found = self.find(require_text(text))
        possible = {factor.name: found.possible.get(factor.name, factor.values) for factor in self.factors}
        values = {name: some[0] for name, some in possible.items() if len(some) == 1}

        def complete_with(generator: np.random.Generator) -> CompletedCaption:
            drawn = draw(possible, generator) if len(values) < len(possible) else values
            return CompletedCaption(write(drawn), {name: value for name, value in drawn.items() if name not in values})

        return Understood(
            text,
            values,
            {name: some for name, some in possible.items() if len(some) > 1},
            {name: found.named[name] for name, some in possible.items() if not some},
            {**found.unknown, **self._misplaced(text)},
            write(self._guessed(text, found)),
            complete_with=complete_with,
        )

    def _misplaced(self, text: str) -> dict[str, str]:
        """Words that a person means otherwise than the world would: `red` of a red background, `light` of a light red heart."""
        words = words_of(text)[:_MOST]
        found = {}
        for before, word, after in zip(("", *words), words, words[1:], strict=False):
            owners, theirs = self._owners.get(word, ()), self._owners.get(after, ())
            of_another = bool(owners) and "background" not in owners and after in _GROUND
            of_ground = [*owners] == ["background"] and bool(theirs) and "background" not in theirs
            if of_another or (of_ground and before not in _BEFORE_GROUND):
                found[word] = ""
        return found

    def _guessed(self, text: str, found: FoundValues) -> Mapping[str, str]:
        """A value for each factor: unknown words as those that they resemble, and the first value where several are left."""
        if any(found.unknown.values()):
            found = self.find(" ".join(found.unknown.get(word) or word for word in words_of(text)[:_MOST]))
        chosen = {
            factor.name: found.possible.get(factor.name, factor.values) or found.named[factor.name] for factor in self.factors
        }
        return {name: some[0] for name, some in chosen.items()}

    def _phrase_at(self, words: Sequence[str], place: int) -> tuple[str, int]:
        """The factor whose longest whole phrase of two words and more begins at a place, and its length."""
        for length in range(min(self._longest, len(words) - place), 1, -1):
            here = tuple(words[place : place + length])
            for (factor, _), phrase in self._phrases.items():
                if phrase == here:
                    return factor, length
        return "", 0

    def _owner(self, words: Sequence[str], place: int) -> str:
        """The factor that a word belongs to."""
        owners = self._owners[words[place]]
        if len(owners) == 1:
            return owners[0]
        after = words[place + 1] if place + 1 < len(words) else ""
        if after in owners or (after in ("backdrop", "ground") and "background" in owners):
            return after if after in owners else "background"
        exact = [factor for factor in owners if (factor, words[place]) in self._phrases]
        return (exact or owners)[0]

    def _fitting(self, factor: str, words: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The values that have all these words, just these if there are such; and those that were named."""
        own = {value: words_ for (name, value), words_ in self._content.items() if name == factor}
        exact = tuple(value for value, content in own.items() if content == words)
        wider = tuple(value for value, content in own.items() if words <= content)
        if exact or wider:
            return exact or wider, exact or wider
        whole = tuple(value for value, content in own.items() if content <= words)
        return (), whole or tuple(value for value, content in own.items() if content & words)

    def _nearest(self, word: str) -> str:
        return nearest_word(word, (*self._owners, *self._synonyms))


def nearest_word(word: str, known: Iterable[str]) -> str:
    """The known word that a word resembles most; empty where it resembles none."""
    return next(iter(difflib.get_close_matches(word[:40], list(known), n=1, cutoff=0.6)), "")


def require_text(text: object) -> str:
    """The text; raises DataError for what is none."""
    if not isinstance(text, str):
        raise DataError(f"expected a text, got a {type(text).__name__}: give one string at a time")
    return text


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, letters without accents; punctuation says nothing, other signs are words.

    >>> words_of("A small, RED heart - top-left!")
    ['a', 'small', 'red', 'heart', 'top', 'left']
    """
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text[: 20 * _MOST]) if not unicodedata.combining(sign))
    found = _WORD.findall(plain.casefold())
    return [word for word in found if word.isalnum() or not unicodedata.category(word[0]).startswith(("P", "C"))]


def _content(words: Sequence[str]) -> Sequence[str]:
    """The words that tell a value; all of them where none would be left."""
    return [word for word in words if word not in FILLERS] or words


def understood_caption(
    grammar: TemplateCaptions,
    text: str,
    *,
    draw: Callable[[Mapping[str, tuple[str, ...]], np.random.Generator], Mapping[str, str]],
) -> Understood:
    """What a text says of the factors of a grammar's captions; a caption is what it is, whatever its words may mean.

    Args:
        grammar: of the captions.
        text: of a person.
        draw: see `NamedValues.understand`.

    Raises:
        DataError: no text.
    """
    exact = grammar.by_words.get(" ".join(words_of(require_text(text))))
    if exact is not None:
        return Understood.of_caption(text, grammar.sentence(exact), exact)
    return NamedValues(grammar.factors).understand(text, write=grammar.sentence, draw=draw)


def view_of_caption(grammar: TemplateCaptions, caption: str) -> ConvertedViews:
    """The view (1, length) of a caption; raises DataError for another text."""
    if caption in grammar.by_words:
        return views_of(grammar.modality(), caption)
    found = understood_caption(grammar, caption, draw=lambda *_: {})
    raise DataError(found.explained() or f"{caption[:80]!r} is no caption: complete it first, such as {found.nearest!r}")
