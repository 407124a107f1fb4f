"""The structures of the part-of-speech language, made by rule."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from molyneux.data.worlds.sentences.forms import Form, Group, Place

GROUPS = (
    Group("n.", ("dogs", "cats", "foxes", "horses", "tigers")),
    Group("v.", ("want", "need", "have", "get", "require")),
    Group("adv.", ("really", "recently", "gradually", "frequently", "eventually")),
    Group("adj.", ("happy", "big", "small", "beautiful", "fantastic")),
    Group("prep.", ("on", "in", "for", "to", "of")),
    Group("conj1.", ("although", "because", "when", "where", "whereas")),
    Group("conj2.", ("and", "or")),
    Group("comma", (",",)),
    Group("end-punc.", (".", "!")),
)
"""Tags and their words, in the published order."""

KINDS = ("simple", "I", "II", "III")
LIMITS = range(6, 15)
"""Numbers of tags, without punctuation, that the two parts of a complex structure may have together."""

_WORDS = {group.name: group.words for group in GROUPS}
_NOUN = (("n.",), ("adj.", "n."))
_VERB = (("v.",), ("adv.", "v."), ("v.", "prep."), ("adv.", "v.", "prep."))
_END = ("end-punc.",)


def structures(limit: int) -> tuple[Form, ...]:
    """Every structure: each simple one, followed by the complex ones that start with it.

    A simple one is `(adj.) n. (adv.) v. (prep.) (adj.) n. end-punc.`. Of two simple ones, S1 and S2, rule I makes
    `conj1. S1 comma S2 end-punc.`, rule II `S1 conj1. S2 end-punc.`, and rule III `S1 comma conj2. S2 end-punc.`.

    Args:
        limit: S1 and S2 have at most so many tags together, end-punc. not counted; 9 as published.
    """
    simple = [first + verb + last for first, verb, last in product(_NOUN, _VERB, _NOUN)]
    return tuple(_form(tags, kind) for first in simple for tags, kind in _beginning(first, simple, limit))


def _beginning(first: tuple[str, ...], simple: list[tuple[str, ...]], limit: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """Tags and kind of the structures that begin with a simple one."""
    yield first + _END, "simple"
    for second in simple:
        if len(first) + len(second) <= limit:
            yield ("conj1.", *first, "comma", *second, *_END), "I"
            yield (*first, "conj1.", *second, *_END), "II"
            yield (*first, "comma", "conj2.", *second, *_END), "III"


def _form(tags: tuple[str, ...], kind: str) -> Form:
    places = tuple(Place("free", _WORDS[tag], tag) for tag in tags)
    return Form(places, tuple(dict.fromkeys(tags)), {"structure": "+".join(tags), "kind": kind})
