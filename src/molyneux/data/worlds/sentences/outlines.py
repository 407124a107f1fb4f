"""Outlines of sentences: what kind of word stands at each place. They tell forms apart, and say why a row is no sentence."""

from __future__ import annotations

import numpy as np

from molyneux.core import ConfigError
from molyneux.data.worlds.sentences.language import SPECIAL, Form, Language

_FOREIGN = len(SPECIAL)


class Outlines:
    """The outlines of a language's forms.

    Kinds are the special symbols, then what no form uses, then the groups, then every fixed word and every set of agreeing ones.

    Args:
        language: whose.

    Raises:
        ConfigError: two forms have the same outline, or a word is both fixed and agreeing.
    """

    def __init__(self, language: Language) -> None:
        self.names = [*SPECIAL, "nothing"]
        self._kind = np.full(len(language.symbols) + 1, _FOREIGN, np.uint16)
        self._kind[:_FOREIGN] = np.arange(_FOREIGN)
        self._ids = {symbol: number for number, symbol in enumerate(language.symbols)}
        for group in language.groups:
            self._add(group.name, group.words)
        places = [place for form in language.forms for place in form.places if place.role != "free"]
        for words in dict.fromkeys(tuple(dict.fromkeys(place.words)) for place in places):
            self._add(" or ".join(map(repr, words)), words)
        self.forms = np.zeros((len(language.forms), language.length), np.uint16)
        self._varied = np.zeros(self.forms.shape, bool)
        for row, form in enumerate(language.forms):
            self._draw(row, form)
        rows = _as_bytes(self.forms)
        self._order = np.argsort(rows)
        self._sorted = rows[self._order]
        if (self._sorted[1:] == self._sorted[:-1]).any():
            raise ConfigError("two forms have the same kinds of words in the same places: leave one of them out")

    def _add(self, name: str, words: tuple[str, ...]) -> None:
        ids = [self._ids[word] for word in words]
        if (self._kind[ids] != _FOREIGN).any():
            raise ConfigError(f"the words {', '.join(words)} have two meanings: rename one of them")
        self._kind[ids] = len(self.names)
        self.names.append(name)

    def _draw(self, row: int, form: Form) -> None:
        for column, place in enumerate(form.places):
            self.forms[row, column] = self._kind[self._ids[place.words[0]]]
            self._varied[row, column] = place.role == "free" and len(place.words) > 1
        self.forms[row, len(form.places)] = SPECIAL.index("<eos>")

    def is_symbol(self, ids: np.ndarray) -> np.ndarray:
        """Whether each id is one of the language's symbols."""
        return (ids >= 0) & (ids < len(self._ids))

    def kinds(self, ids: np.ndarray) -> np.ndarray:
        """The kind of each symbol, uint16, in the shape of `ids`."""
        return np.asarray(self._kind[np.where(self.is_symbol(ids), ids, len(self._ids))])

    def find(self, kinds: np.ndarray) -> np.ndarray:
        """The form of each row of kinds (n, length), (n,) int64; -1 if none has this outline."""
        rows = _as_bytes(kinds)
        place = np.minimum(np.searchsorted(self._sorted, rows), len(self._sorted) - 1)
        return np.where(self._sorted[place] == rows, self._order[place], -1)

    def nearly(self, kinds: np.ndarray) -> np.ndarray:
        """The only form of which a row (n, length) differs in one place, if that is a factor's, (n,) int64; else -1."""
        different = kinds[:, None] != self.forms
        fits = different.sum(2) == 1
        readable = (fits & (different & self._varied).any(2)).any(1)
        return np.where((fits.sum(1) == 1) & readable, fits.argmax(1), -1)


def _as_bytes(kinds: np.ndarray) -> np.ndarray:
    """Rows of uint16 as byte strings, which compare and sort as a whole."""
    return np.ascontiguousarray(kinds).view(f"S{2 * kinds.shape[1]}").ravel()


def rejection_reason(language: Language, outlines: Outlines, ids: np.ndarray) -> str:
    """The first thing that is wrong with a row (length,) that the reader rejected, counted in words from 1."""
    foreign = ~outlines.is_symbol(ids)
    if foreign.any():
        return f"word {int(foreign.argmax()) + 1}: its id is none of the {len(language.symbols)} symbols"
    words = [language.symbols[symbol] for symbol in ids]
    kinds = outlines.kinds(ids)
    alive = np.ones(len(outlines.forms), bool)
    for place, kind in enumerate(kinds):
        expected = np.unique(outlines.forms[alive, place])
        alive &= outlines.forms[:, place] == kind
        if not alive.any():
            names = [outlines.names[number] for number in expected]
            return f"word {place + 1}: expected {_either(names)}, got {words[place]!r}"
    return _disagreement(language.forms[int(alive.argmax())], words)


def _disagreement(form: Form, words: list[str]) -> str:
    """A repeated word, or one that does not agree, in a row of the right outline."""
    places: dict[str, int] = {}
    first: dict[str, str] = {}
    for place, (expected, word) in enumerate(zip(form.places, words, strict=False), 1):
        if expected.role == "free":
            if word in places:
                return (
                    f"word {place}: {word!r} is word {places[word]} already, and words of {expected.group} differ in a sentence"
                )
            places[word] = place
            first.setdefault(expected.group, word)
    for place, expected in enumerate(form.places):
        if expected.role == "agreeing":
            partner = first[expected.group]
            agreeing = expected.words[_of(form, expected.group).index(partner)]
            if agreeing != words[place]:
                return f"word {place + 1}: expected {agreeing!r}, which agrees with {partner!r}, got {words[place]!r}"
    return "it is a sentence"


def _of(form: Form, group: str) -> tuple[str, ...]:
    """The words of a group, from a free place of a form."""
    return next(place.words for place in form.places if place.role == "free" and place.group == group)


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
