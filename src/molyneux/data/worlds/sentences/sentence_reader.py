"""The exact reader of sentences: it accepts the language, nothing else, and says why it rejects."""

from __future__ import annotations

import numpy as np

from molyneux.core import ConfigError
from molyneux.data.worlds.sentences.language import END, SPECIAL, FiniteLanguage, Form
from molyneux.data.worlds.symbol_reader import KnownRows, SymbolReader

_CHUNK = 1024
_FOREIGN = len(SPECIAL)
"""Kind of the symbols that no form uses."""


class SentenceReader(SymbolReader):
    """Reads the factors of sentences.

    A sentence is accepted if its words have the kinds of one of the language's forms, no word stands twice where words have to
    differ, articles agree, and `<eos>` and padding follow. It need not belong to a split. A rejected one has a reason, and at
    least one factor of it is unreadable: where only one form fits all places but one, and that place is a factor's, that
    factor; where a word is repeated, the factors of its group; otherwise all.

    A form is found by the kinds of words at its places. Kinds are the special symbols, then what no form uses, then the groups,
    then every fixed word and every set of agreeing ones.

    Args:
        language: what to accept.

    Raises:
        ConfigError: two forms have the same kinds of words, or a word is both fixed and agreeing.
    """

    def __init__(self, language: FiniteLanguage) -> None:
        super().__init__(tuple(factor.name for factor in language.factors), language.length, "sentences")
        self._language = language
        self._kind_names = [*SPECIAL, "nothing"]
        self._kind = np.full(len(language.symbols) + 1, _FOREIGN, np.uint16)
        self._kind[:_FOREIGN] = np.arange(_FOREIGN)
        ids = {symbol: number for number, symbol in enumerate(language.symbols)}
        for group in language.groups:
            self._add_kind(group.name, group.words, ids)
        places = [place for form in language.forms for place in form.places if place.role != "free"]
        for words in dict.fromkeys(tuple(dict.fromkeys(place.words)) for place in places):
            self._add_kind(" or ".join(map(repr, words)), words, ids)
        self._forms = np.zeros((len(language.forms), language.length), np.uint16)
        self._varied = np.zeros(self._forms.shape, bool)
        for row, form in enumerate(language.forms):
            self._forms[row, : len(form.places)] = self._kind[[ids[place.words[0]] for place in form.places]]
            self._forms[row, len(form.places)] = END
            self._varied[row, : len(form.places)] = [place.role == "free" and len(place.words) > 1 for place in form.places]
        self._known = KnownRows(self._forms)
        if self._known.repeats:
            raise ConfigError("two forms have the same kinds of words in the same places: leave one of them out")

    def _add_kind(self, name: str, words: tuple[str, ...], numbers: dict[str, int]) -> None:
        ids = [numbers[word] for word in words]
        if (self._kind[ids] != _FOREIGN).any():
            raise ConfigError(f"the words {', '.join(words)} have two meanings: rename one of them")
        self._kind[ids] = len(self._kind_names)
        self._kind_names.append(name)

    def codes(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `SymbolReader.codes`."""
        kinds = self._kinds(ids)
        forms = self._known.find(kinds)
        foreign = np.flatnonzero(forms < 0)
        for start in range(0, len(foreign), _CHUNK):
            rows = foreign[start : start + _CHUNK]
            forms[rows] = self._nearly(kinds[rows])
        legible = np.flatnonzero(forms >= 0)
        known = np.where(self._is_symbol(ids[legible]), ids[legible], 0)
        codes, accepted = np.full((len(ids), len(self.factors)), -1, np.int64), np.zeros(len(ids), bool)
        codes[legible], accepted[legible] = self._language.read(known, forms[legible])
        return codes, accepted

    def reason(self, ids: np.ndarray) -> str:
        """The first thing that is wrong with a row (length,) that was rejected, counted in words from 1."""
        known = self._is_symbol(ids)
        if not known.all():
            return f"word {int(known.argmin()) + 1}: its id is none of the {len(self._language.symbols)} symbols"
        words = [self._language.symbols[symbol] for symbol in ids]
        alive = np.ones(len(self._forms), bool)
        for place, kind in enumerate(self._kinds(ids)):
            expected = np.unique(self._forms[alive, place])
            alive &= self._forms[:, place] == kind
            if not alive.any():
                *names, last = (self._kind_names[number] for number in expected)
                either = f"{', '.join(names)} or {last}" if names else last
                return f"word {place + 1}: expected {either}, got {words[place]!r}"
        return _disagreement(self._language.forms[int(alive.argmax())], words)

    def _is_symbol(self, ids: np.ndarray) -> np.ndarray:
        return (ids >= 0) & (ids < len(self._language.symbols))

    def _kinds(self, ids: np.ndarray) -> np.ndarray:
        """The kind of each symbol, uint16, in the shape of `ids`."""
        return np.asarray(self._kind[np.where(self._is_symbol(ids), ids, len(self._language.symbols))])

    def _nearly(self, kinds: np.ndarray) -> np.ndarray:
        """The only form of which a row (n, length) differs in one place, if that is a factor's, (n,) int64; else -1."""
        different = kinds[:, None] != self._forms
        fits = different.sum(2) == 1
        readable = (fits & (different & self._varied).any(2)).any(1)
        return np.where((fits.sum(1) == 1) & readable, fits.argmax(1), -1)


def _disagreement(form: Form, words: list[str]) -> str:
    """A repeated word, or one that does not agree, in a row whose words have the kinds of a form."""
    places: dict[str, int] = {}
    partners: dict[str, tuple[tuple[str, ...], str]] = {}
    for number, (place, word) in enumerate(zip(form.places, words, strict=False), 1):
        if place.role == "free":
            if word in places:
                return f"word {number}: {word!r} is word {places[word]} already, and words of {place.group} differ in a sentence"
            places[word] = number
            partners.setdefault(place.group, (place.words, word))
    for number, (place, word) in enumerate(zip(form.places, words, strict=False), 1):
        if place.role == "agreeing":
            known, partner = partners[place.group]
            agreeing = place.words[known.index(partner)]
            if agreeing != word:
                return f"word {number}: expected {agreeing!r}, which agrees with {partner!r}, got {word!r}"
    return "it is a sentence"
