"""Why a row of symbols is no sentence, in words."""

from __future__ import annotations

import numpy as np

from molyneux.data.worlds.sentences.forms import Form
from molyneux.data.worlds.sentences.language import Language
from molyneux.data.worlds.sentences.outlines import Outlines


def why(language: Language, outlines: Outlines, ids: np.ndarray) -> str:
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
    seen: dict[str, int] = {}
    first: dict[str, str] = {}
    for place, (expected, word) in enumerate(zip(form.places, words, strict=False), 1):
        if expected.role == "free":
            if word in seen:
                return f"word {place}: {word!r} is word {seen[word]} already, and words of {expected.group} differ in a sentence"
            seen[word] = place
            first.setdefault(expected.group, word)
    for place, expected in enumerate(form.places):
        if expected.role == "agreeing":
            partner = first[expected.group]
            said = expected.words[_of(form, expected.group).index(partner)]
            if said != words[place]:
                return f"word {place + 1}: expected {said!r}, which agrees with {partner!r}, got {words[place]!r}"
    return "it is a sentence"


def _of(form: Form, group: str) -> tuple[str, ...]:
    """The words of a group, from a free place of a form."""
    return next(place.words for place in form.places if place.role == "free" and place.group == group)


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
