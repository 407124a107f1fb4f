"""Trees from sentences: all readings of a row of words by the productions of a grammar."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from molyneux.core import DataError
from molyneux.data.worlds.shapeworld.meaning.grammar.grammar import Constituent, Part, Production, Productions
from molyneux.data.worlds.shapeworld.meaning.grammar.templates import REMARK, Polish, fill
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree

LONGEST = 150
"""Most words of a sentence that is read; captions have up to about 40, and clauses within clauses take room."""


class Parser:
    """Reads sentences.

    A production is tried where its first word can stand, so no production may begin with its own nonterminal.

    Args:
        language: its name, for errors.
        productions: of its grammar.
    """

    def __init__(self, language: str, productions: Productions) -> None:
        self.language, self.productions = language, productions

    @cached_property
    def by_word(self) -> list[dict[str, list[Production]]]:
        """By nonterminal and next word, in lower case, the productions that fit."""
        first = [{word.lower() for word in words} for words in self.productions.first]
        found: list[dict[str, list[Production]]] = [{} for _ in first]
        for made in self.productions.list:
            begin = made.parts[0]
            for word in {begin.lower()} if isinstance(begin, str) else first[begin.nonterminal]:
                found[made.head].setdefault(word, []).append(made)
        return found

    def read(self, words: Sequence[str]) -> list[Tree]:
        """All meanings of a sentence.

        Args:
            words: with the full stop at the end; capital letters make no difference.

        Raises:
            DataError: no sentence of the language; says where it stops and what could follow.
        """
        lowered = [word.lower() for word in words]
        if len(lowered) > LONGEST:
            raise DataError(f"expected a sentence of at most {LONGEST} words, got {len(lowered)}: split it into several")
        complete, reading = self._complete(lowered)
        if complete:
            return [Tree.from_polish(polish) for polish in complete]
        place = reading.farthest
        before = " ".join(_shortened(word) for word in lowered[:place]) or "the beginning"
        word = lowered[place] if place < len(lowered) else ""
        expected, got = _listed(reading.expected, word), repr(_shortened(word)) if word else "nothing"
        raise DataError(f"no sentence of {self.language}: after {before!r}, expected {expected}, got {got}")

    def values(self, words: Sequence[str]) -> list[Polish]:
        """The values of a sentence: symbols of meaning behind their remarks (see `templates`); none where it is no sentence."""
        return self._complete([word.lower() for word in words[:LONGEST]])[0]

    def _complete(self, lowered: Sequence[str]) -> tuple[list[Polish], _Reading]:
        reading = _Reading(self, lowered)
        return list(dict.fromkeys(polish for end, polish in reading.read(0, 0) if end == len(lowered))), reading

    def stop(self, words: Sequence[str]) -> tuple[int, frozenset[str]]:
        """The place up to which words can be the beginning of a sentence, and the words that could stand there."""
        reading = _Reading(self, [word.lower() for word in words[:LONGEST]])
        reading.read(0, 0)
        return reading.farthest, frozenset(reading.expected)


class _Reading:
    """What was found at each place of a row of words, the farthest place that was reached, and what could stand there."""

    def __init__(self, parser: Parser, words: Sequence[str]) -> None:
        self._words, self._by_word = words, parser.by_word
        self._first = parser.productions.first
        self._found: dict[tuple[int, int], list[tuple[int, Polish]]] = {}
        self.farthest = 0
        self.expected: set[str] = set()

    def read(self, nonterminal: int, start: int) -> list[tuple[int, Polish]]:
        """Where the constituents that begin at a place end, each with its symbols (none without meaning)."""
        place = (nonterminal, start)
        if place not in self._found:
            self._look(self._first[nonterminal], start)
            fitting = self._by_word[nonterminal].get(self._words[start], ()) if start < len(self._words) else ()
            found = [pair for made in fitting for pair in self._by(made, start)]
            self._found[place] = list(dict.fromkeys(found)) if len(found) > 1 else found
        return self._found[place]

    def _by(self, made: Production, start: int) -> Iterator[tuple[int, Polish]]:
        """The constituents of a production."""
        for end, filled in self._parts(made.parts, 0, start):
            told = tuple(name for slot, polish in filled if slot.argument is None for name in polish if name[0] == REMARK)
            if made.template or made.symbol:
                arguments = sorted((slot.argument, polish) for slot, polish in filled if slot.argument is not None)
                values = [polish for _, polish in arguments]
                meaning = fill(made.template, values) if made.template else (made.symbol, *(n for value in values for n in value))
            else:
                meaning = next((polish for _, polish in filled if polish and polish[-1][0] != REMARK), ())
                told = () if told == meaning[: len(told)] else told
            yield end, (*told, *meaning)

    def _parts(
        self, parts: tuple[Part, ...], number: int, start: int
    ) -> Iterator[tuple[int, tuple[tuple[Constituent, Polish], ...]]]:
        """Where rows of parts from a number on end, with what their slots hold."""
        while number < len(parts) and isinstance(word := parts[number], str):
            if start >= len(self._words) or self._words[start] != word.lower():
                self._look((word,), start)
                return
            number, start = number + 1, start + 1
        if number == len(parts):
            self._look((), start)
            yield start, ()
            return
        slot = parts[number]
        assert isinstance(slot, Constituent)
        for end, polish in self.read(slot.nonterminal, start):
            for last, filled in self._parts(parts, number + 1, end):
                yield last, ((slot, polish), *filled)

    def _look(self, wanted: Sequence[str] | frozenset[str], start: int) -> None:
        """Remember what could stand at a place, if none is farther."""
        if start > self.farthest:
            self.farthest, self.expected = start, set()
        if start == self.farthest:
            self.expected.update(wanted)


def _shortened(word: str, most: int = 40) -> str:
    return word if len(word) <= most else f"{word[:most]}..."


def _listed(words: Collection[str], got: str, most: int = 12) -> str:
    """The words that could follow, those that resemble what came first."""
    if not words:
        return "the end"
    near = difflib.get_close_matches(got[:80], sorted(words))
    shown = [*near, *sorted(set(words) - set(near))]
    listed = ", ".join(map(repr, shown[:most]))
    return f"{listed} or {len(shown) - most} other words" if len(shown) > most else listed
