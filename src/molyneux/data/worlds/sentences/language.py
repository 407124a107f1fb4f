"""A language: every sentence of some forms, numbered, with its words as symbols and its factors as codes.

A form is a row of places, each with a fixed word, a word of a group, or a word that agrees with one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from molyneux.core import ConfigError, DataError, Factor, Modality, nearest
from molyneux.core.sources import row_of_integers
from molyneux.data.worlds.sentences import kernels

PADDING, BEGIN, END = 0, 1, 2
SPECIAL = ("<pad>", "<bos>", "<eos>")
"""Symbols 0, 1 and 2. A view holds words, then `<eos>`, then `<pad>`; `<bos>` is there for decoders that want a first input."""

_LARGEST = 2**62

Role = Literal["agreeing", "fixed", "free"]
Definition = Literal["ordered", "positions"]
"""What the value of a factor is: all words of a group in their order, or the word at one position of the group."""


@dataclass(frozen=True)
class WordGroup:
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

    def size(self, groups: Sequence[WordGroup]) -> int:
        """How many sentences it has: words of one group differ, so each group gives a falling factorial."""
        return math.prod(math.perm(len(group.words), self.occurrences(group.name)) for group in groups)


def template(text: str, groups: Sequence[WordGroup], *, order: Sequence[str], **labels: str) -> Form:
    """A form from words and `{group}` places, separated by spaces; fixed is every word that is no place."""
    free = {f"{{{group.name}}}": Place("free", group.words, group.name) for group in groups}
    return Form(tuple(free.get(word, Place("fixed", (word,))) for word in text.split(" ")), tuple(order), labels)


def label_problems(chosen: Sequence[str], known: Sequence[str]) -> list[str]:
    """One sentence for each nuisance that no form has, or that is named twice; one for a text in place of a list."""
    if isinstance(chosen, str):
        return [f"nuisances: expected a list of names, got the text {chosen!r}: write [{chosen}]"]
    problems = [f"unknown nuisance {name!r}; {nearest(str(name), known)}" for name in chosen if name not in known]
    return problems + ([f"expected nuisances that differ, got {', '.join(chosen)}"] if len(set(chosen)) < len(chosen) else [])


def check_words(groups: Sequence[WordGroup], fixed: Sequence[str]) -> None:
    """Raise ConfigError where a word stands twice in the vocabulary: a reader could not tell what it is."""
    groups_of: dict[str, str] = {}
    problems = []
    for name, words in (*((group.name, group.words) for group in groups), ("the fixed words", tuple(fixed))):
        for word in words:
            if word in groups_of:
                problems.append(f"the word {word!r} stands in {groups_of[word]} and in {name}: a word has one group, rename it")
            groups_of.setdefault(word, name)
    if problems:
        raise ConfigError(problems)


class Sentences(NamedTuple):
    """Sentences of a language: symbols (n, length), and factors (n, F) int64, -1 = absent."""

    ids: np.ndarray
    codes: np.ndarray


@dataclass(frozen=True)
class FiniteLanguage:
    """Every sentence of some forms.

    Sentences are numbered by form, then by their words as `kernels` says, from 0.

    Args:
        groups: words by group; a group of one word is no factor.
        forms: at least one.
        definition: `ordered`: a factor is a group, and its value the tuple of all the group's words in the sentence, in their
            order; `positions`: a factor is a position of a group (its first word in the sentence, its second, ...).
        nuisances: labels of the forms that are factors too; they come last.
        words: the vocabulary after `SPECIAL`; by default those of the groups, then the fixed and agreeing ones as they occur.

    Raises:
        ConfigError: a word has two meanings, a form has no sentences, or there are more sentences than numbers.
    """

    groups: tuple[WordGroup, ...]
    forms: tuple[Form, ...]
    definition: Definition = "ordered"
    nuisances: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_words(self.groups, self.fixed)
        if 0 in self.blocks:
            places = " ".join(place.group or place.words[0] for place in self.forms[self.blocks.index(0)].places)
            raise ConfigError(f"the form {places!r} has no sentences: it has more places for a group than the group has words")
        if self.size > _LARGEST:
            raise ConfigError(f"expected at most {_LARGEST} sentences, got forms that make {self.size}: take shorter ones")

    @cached_property
    def fixed(self) -> tuple[str, ...]:
        """The words that belong to no group, as they occur."""
        words = (word for form in self.forms for place in form.places if place.role != "free" for word in place.words)
        return tuple(dict.fromkeys(words))

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """All words, without the special symbols."""
        return self.words or (*(word for group in self.groups for word in group.words), *self.fixed)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbol of each id."""
        return (*SPECIAL, *self.vocabulary)

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """How many sentences each form has."""
        return tuple(form.size(self.groups) for form in self.forms)

    @cached_property
    def size(self) -> int:
        """How many sentences there are."""
        return sum(self.blocks)

    @cached_property
    def length(self) -> int:
        """Symbols of the longest sentence, `<eos>` included."""
        return 1 + max(len(form.places) for form in self.forms)

    @cached_property
    def modality(self) -> Modality:
        """What sentences look like in a batch: ids (length,), padded."""
        dtype = "uint8" if len(self.symbols) <= 256 else "int64"
        return Modality("text", "text", (self.length,), dtype, self.symbols, PADDING, BEGIN, END)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """The columns of the codes."""
        found = [self._factor(group, position) for group, position in self._columns]
        labels = [Factor(name, tuple(dict.fromkeys(form.labels[name] for form in self.forms))) for name in self.nuisances]
        return (*found, *labels)

    @cached_property
    def single(self) -> bool:
        """Whether the first form has one word of every group, and no form has more: values are named by single words."""
        return bool((self._occurrences == 1).all())

    def sentence(self, values: Mapping[str, str]) -> str:
        """The sentence of the first form with a word for each group; groups of one word may be left out.

        Raises:
            DataError: a group has no word in the first form, or several; see `single`.
        """
        if not self.single:
            raise DataError("expected a language whose sentences have one word of each group, got one with more: write its words")
        groups = {group.name: group.words for group in self.groups}
        words = []
        for place in self.forms[0].places:
            known = groups.get(place.group, ())
            chosen = known.index(values.get(place.group, known[0])) if known else 0
            words.append(place.words[chosen])
        return " ".join(words)

    def write(self, numbers: npt.ArrayLike) -> Sentences:
        """The sentences of these numbers (n,).

        Raises:
            DataError: no integers in one row, a number below 0, or one not below `size`.
        """
        numbers = row_of_integers(numbers, "numbers of sentences")
        rows = len(numbers)
        if rows and (numbers.min() < 0 or numbers.max() >= self.size):
            raise DataError(f"expected numbers of sentences below {self.size} from 0, got {numbers.min()} to {numbers.max()}")
        ids = np.full((rows, self.length), PADDING, self.modality.dtype)
        codes, forms = np.empty((rows, len(self._columns)), np.int64), np.empty(rows, np.int64)
        kernels.write(np.ascontiguousarray(numbers), self.tables, END, ids, codes, forms)
        return Sentences(ids, self._with_labels(codes, forms))

    def read(self, ids: np.ndarray, forms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The codes (n, F) of rows (n, length) of symbols that have these forms (n,), and whether each is a sentence, (n,) bool.

        A group that cannot be read is -1; so are the nuisances where the row is no sentence.
        """
        codes, accepted = np.empty((len(ids), len(self._columns)), np.int64), np.empty(len(ids), bool)
        kernels.read(np.ascontiguousarray(ids), np.ascontiguousarray(forms), self.tables, codes, accepted)
        codes = self._with_labels(codes, forms)
        codes[~accepted, len(self._columns) :] = -1
        return codes, accepted

    @cached_property
    def tables(self) -> kernels.LanguageArrays:
        """The language as arrays."""
        names = {group.name: row for row, group in enumerate(self.groups)}
        ids = {symbol: number for number, symbol in enumerate(self.symbols)}
        shape = (len(self.forms), self.length - 1)
        sizes = np.array([len(group.words) for group in self.groups], np.int64)
        group, turn, free = np.full(shape, -1), np.zeros(shape, np.int64), np.zeros(shape, bool)
        symbols = np.zeros((*shape, int(sizes.max())), np.int64)
        order = np.full((len(self.forms), len(names)), -1, np.int64)
        for f, form in enumerate(self.forms):
            order[f, : len(form.order)] = [names[name] for name in reversed(form.order)]
            for s, place in enumerate(form.places):
                group[f, s] = names.get(place.group, -1)
                free[f, s] = place.role == "free"
                turn[f, s] = (free[f, :s] & (group[f, :s] == group[f, s])).sum() if free[f, s] else 0
                symbols[f, s, : len(place.words)] = [ids[word] for word in place.words]
        owner, local = np.full(len(ids), -1, np.int64), np.full(len(ids), -1, np.int64)
        for row, item in enumerate(self.groups):
            members = [ids[word] for word in item.words]
            owner[members], local[members] = row, np.arange(len(members))
        return kernels.LanguageArrays(
            starts=np.concatenate([[0], np.cumsum(self.blocks)]).astype(np.int64),
            lengths=np.array([len(form.places) for form in self.forms], np.int64),
            group=group,
            turn=turn,
            free=free,
            symbols=symbols,
            order=order,
            occurrences=self._occurrences,
            sizes=sizes,
            factors=np.array([(names[item.name], position) for item, position in self._columns], np.int64).reshape(-1, 2),
            offsets=self._offsets(),
            owner=owner,
            local=local,
        )

    @cached_property
    def _occurrences(self) -> np.ndarray:
        """How many words of each group each form has, (forms, groups) int64."""
        return np.array([[form.occurrences(group.name) for group in self.groups] for form in self.forms], np.int64)

    @cached_property
    def _columns(self) -> tuple[tuple[WordGroup, int], ...]:
        """Group and position of each factor but the nuisances; position -1 is the whole group."""
        varied = [(item, most) for item, most in zip(self.groups, self._occurrences.max(0), strict=True) if len(item.words) > 1]
        if self.definition == "ordered":
            return tuple((item, -1) for item, most in varied if most)
        return tuple((item, position) for item, most in varied for position in range(most))

    def _counts(self, group: WordGroup) -> list[int]:
        """How many words of a group a sentence may have, if any."""
        return sorted({form.occurrences(group.name) for form in self.forms} - {0})

    def _factor(self, group: WordGroup, position: int) -> Factor:
        if position < 0:
            values = [" ".join(words) for count in self._counts(group) for words in permutations(group.words, count)]
            return Factor(group.name, tuple(values))
        several = max(self._counts(group)) > 1
        return Factor(f"{group.name}{position + 1}" if several else group.name, group.words)

    def _offsets(self) -> np.ndarray:
        """Code of the first arrangement of so many words, (groups, most + 1)."""
        offsets = np.full((len(self.groups), int(self._occurrences.max()) + 1), -1, np.int64)
        for row, group in enumerate(self.groups):
            start = 0
            for count in self._counts(group):
                offsets[row, count] = start
                start += math.perm(len(group.words), count)
        return offsets

    @cached_property
    def _labels(self) -> np.ndarray:
        """Codes of the nuisances of each form, (forms, nuisances) int64."""
        named = self.factors[len(self._columns) :]
        rows = [[factor.code(form.labels[factor.name]) for factor in named] for form in self.forms]
        return np.array(rows, np.int64).reshape(len(self.forms), len(named))

    def _with_labels(self, codes: np.ndarray, forms: np.ndarray) -> np.ndarray:
        """The codes, and those of the nuisances, which the forms decide."""
        return np.concatenate([codes, self._labels[forms]], 1) if self.nuisances else codes
