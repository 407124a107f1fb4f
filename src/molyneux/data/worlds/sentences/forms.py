"""Forms of sentences: a row of places, each with a fixed word, a word of a group, or a word that agrees with one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from molyneux.core import ConfigError, nearest

Role = Literal["agreeing", "fixed", "free"]
Definition = Literal["ordered", "positions"]
"""What the value of a factor is: all words of a group in their order, or the word at one position of the group."""


@dataclass(frozen=True)
class Group:
    """Words of which one sentence uses each at most once: a part of speech, or all cities."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """What may stand at one place of a form.

    Args:
        role: `fixed`: one word; `free`: any word of the group; `agreeing`: a word that the group's first free place decides.
        words: by word of the group; one for a fixed place.
        group: name of the group; empty for a fixed place.
    """

    role: Role
    words: tuple[str, ...]
    group: str = ""


@dataclass(frozen=True)
class Form:
    """A template of sentences.

    Args:
        places: from the first word to the last.
        order: names of its groups; in the number of a sentence the words of the last one change fastest.
        labels: what is known of all its sentences, such as the rule that made it, by name.
    """

    places: tuple[Place, ...]
    order: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)

    def occurrences(self, group: str) -> int:
        """How many words of a group its sentences have."""
        return sum(place.role == "free" and place.group == group for place in self.places)

    def size(self, groups: Sequence[Group]) -> int:
        """How many sentences it has: words of one group differ, so each group gives a falling factorial."""
        return math.prod(math.perm(len(group.words), self.occurrences(group.name)) for group in groups)


def template(text: str, groups: Sequence[Group], *, order: Sequence[str], **labels: str) -> Form:
    """A form from words and `{group}` places, separated by spaces; fixed is every word that is no place."""
    known = {group.name: group for group in groups}
    places = tuple(_place(word, known) for word in text.split(" "))
    return Form(places, tuple(order), labels)


def _place(word: str, known: Mapping[str, Group]) -> Place:
    if not word.startswith("{"):
        return Place("fixed", (word,))
    group = known[word[1:-1]]
    return Place("free", group.words, group.name)


def label_problems(chosen: Sequence[str], known: Sequence[str]) -> list[str]:
    """One sentence for each nuisance that no form has, or that is named twice; one for a text in place of a list."""
    if isinstance(chosen, str):
        return [f"nuisances: expected a list of names, got the text {chosen!r}: write [{chosen}]"]
    problems = [f"unknown nuisance {name!r}; {nearest(str(name), known)}" for name in chosen if name not in known]
    return problems + ([f"expected nuisances that differ, got {', '.join(chosen)}"] if len(set(chosen)) < len(chosen) else [])


def check_choice(setting: str, value: object, known: Sequence[object]) -> list[str]:
    """One sentence if a setting is none of the known values."""
    names = [str(item) for item in known]
    return [] if value in known else [f"unknown {setting} {value!r}; {nearest(str(value), names)}"]


def check_words(groups: Sequence[Group], fixed: Sequence[str]) -> None:
    """Raise ConfigError where a word stands twice in the vocabulary: a reader could not tell what it is."""
    seen: dict[str, str] = {}
    problems = []
    for name, words in (*((group.name, group.words) for group in groups), ("the fixed words", tuple(fixed))):
        for word in words:
            if word in seen:
                problems.append(f"the word {word!r} stands in {seen[word]} and in {name}: a word has one group, rename it")
            seen.setdefault(word, name)
    if problems:
        raise ConfigError(problems)
