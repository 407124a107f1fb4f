"""Feature grammars of captions: one set of rules from which sentences are made and by which they are read.

A rule says how a tree of meaning is said as a constituent of some category:

    clause exists = 0:entity 1:verb[sg]
    verb[number] not = :be[number] not 0:predicate[number]
    entity = :article[initial] :noun[sg initial]
    be[sg] = is

Before `=` stand the category with its features and the symbol at the root of the tree, if the rule is for one symbol; after it
stand words and slots. A slot `1:verb[sg]` says the second argument as a verb phrase in the singular; without a number, it says
the same tree in another category (`:noun`), or words that have no meaning of their own (`:article`). In brackets, the value of a
feature stands for itself, and the name of a feature for any value, the same throughout the rule; a feature that is not named may
have any value. Features may be parts of a symbol too: `count-{comparator}-{amount}`. Of the rules that fit a tree, the first one
says it; the others, and those that begin with `~`, are paraphrases, which are read as well. Rules that begin with `?` are for
reading alone: words of the published captions that this grammar does not say. Rules that begin with `!` are for sentences of
people alone, and what they mean may be a template (see `templates`): `!clause <ratio-eq-0(any 0)> = there is no 0:noun[sg]`.

Features have few values, so every rule is a finite number of productions of a context-free grammar, which `Productions` holds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from molyneux.core import ConfigError
from molyneux.data.worlds.shapeworld.meaning.grammar.templates import names_of
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS

_HEAD = re.compile(r"(?P<mark>[~?!])?(?P<category>\w+)(?:\[(?P<features>[^\]]*)\])?(?: (?P<symbol><[^>]*>|\S+))?")
_SLOT = re.compile(r"(?P<argument>\d*):(?P<category>\w+)(?:\[(?P<features>[^\]]*)\])?")
_PARTS = re.compile(r"\d*:\w+(?:\[[^\]]*\])?|\S+")

START = "sentence"
"""The category of whole sentences."""


class Constituent(NamedTuple):
    """A constituent within a production: of which argument (None: of the same tree), and its nonterminal."""

    argument: int | None
    nonterminal: int


Part = str | Constituent
"""A word or a slot."""


class Production(NamedTuple):
    """A rule with a value for every feature.

    Args:
        head: nonterminal that it makes.
        symbol: at the root of the tree; empty for any.
        parts: words and slots in their order.
        preferred: whether it may say a tree when no paraphrase is asked for.
        template: of its meaning, where that is no symbol and its arguments.
    """

    head: int
    symbol: str
    parts: tuple[Part, ...]
    preferred: bool
    template: str = ""

    @property
    def slots(self) -> tuple[Constituent, ...]:
        """The slots among its parts."""
        return tuple(part for part in self.parts if isinstance(part, Constituent))


@dataclass(frozen=True)
class _Constituent:
    """A category with features as a rule has them: each a value, or the name of a feature."""

    category: str
    features: tuple[str, ...] = ()
    argument: int | None = None


@dataclass(frozen=True)
class _Rule:
    head: _Constituent
    symbol: str
    parts: tuple[str | _Constituent, ...]
    mark: str
    text: str


class Grammar:
    """The rules of a language.

    Args:
        name: of the language.
        features: values of each feature.
        categories: features of the categories that have any.
        rules: a rule a line, in order of preference.

    Raises:
        ConfigError: a line is no rule, or names a feature or a category that there is not.
    """

    def __init__(
        self,
        name: str,
        *,
        features: Mapping[str, Sequence[str]],
        categories: Mapping[str, Sequence[str]],
        rules: Sequence[str],
    ) -> None:
        self.name, self._features = name, {feature: tuple(values) for feature, values in features.items()}
        self._categories = {category: tuple(names) for category, names in categories.items()}
        self._rules = [self._rule(line) for line in rules]

    @cached_property
    def productions(self) -> Productions:
        """The productions that sentences are made with."""
        return self._made([rule for rule in self._rules if rule.mark in ("", "~")])

    @cached_property
    def readable(self) -> Productions:
        """The productions by which sentences are read: those they are made with, and those for reading alone."""
        return self._made([rule for rule in self._rules if rule.mark != "!"])

    @cached_property
    def of_people(self) -> Productions:
        """All productions: those by which captions are read, and those for sentences of people."""
        return self._made(self._rules)

    def _made(self, rules: Sequence[_Rule]) -> Productions:
        numbers: dict[tuple[str, tuple[str, ...]], int] = {(START, ()): 0}
        found = [made for rule in rules for made in self._instances(rule, numbers)]
        return Productions(_useful(found), len(numbers))

    def _rule(self, line: str) -> _Rule:
        left, equals, right = line.partition(" = ")
        head = _HEAD.fullmatch(left.strip())
        if head is None or not equals:
            raise ConfigError(f"{self.name}: expected a rule 'category symbol = words and slots', got {line!r}")
        parts = tuple(self._part(part, line) for part in _PARTS.findall(right))
        constituent = self._constituent(head, line, None)
        return _Rule(constituent, head["symbol"] or "", parts, head["mark"] or "", line)

    def _part(self, text: str, line: str) -> str | _Constituent:
        slot = _SLOT.fullmatch(text)
        return text if slot is None else self._constituent(slot, line, int(slot["argument"]) if slot["argument"] else None)

    def _constituent(self, match: re.Match[str], line: str, argument: int | None) -> _Constituent:
        category, names = match["category"], tuple((match["features"] or "").split())
        own = self._categories.get(category, ())
        for name in names:
            if name not in own and not any(name in self._features[feature] for feature in own):
                raise ConfigError(f"{self.name}: {category} has no feature or value {name!r} in {line!r}")
        return _Constituent(category, names, argument)

    def _instances(self, rule: _Rule, numbers: dict[tuple[str, tuple[str, ...]], int]) -> Iterator[Production]:
        """The productions of a rule; nonterminals get numbers as they occur."""
        constituents = (rule.head, *(part for part in rule.parts if isinstance(part, _Constituent)))
        named = {name for constituent in constituents for name in constituent.features} | set(re.findall(r"{(\w+)}", rule.symbol))
        shared = [feature for feature in self._features if feature in named]
        for values in product(*(self._features[feature] for feature in shared)):
            given = dict(zip(shared, values, strict=True))
            symbol, template = rule.symbol.format(**given), ""
            if symbol.startswith("<"):
                symbol, template = "", symbol[1:-1]
            if (symbol and symbol not in SYMBOLS) or not names_of(template) <= SYMBOLS.keys():
                continue
            choices: list[list[Part]] = [
                [part] if isinstance(part, str) else list(self._slots(part, given, numbers)) for part in rule.parts
            ]
            for head in self._slots(rule.head, given, numbers):
                for parts in product(*choices):
                    yield Production(head.nonterminal, symbol, tuple(parts), not rule.mark, template)

    def _slots(
        self, constituent: _Constituent, given: Mapping[str, str], numbers: dict[tuple[str, tuple[str, ...]], int]
    ) -> Iterator[Constituent]:
        """A constituent with every value that it may have of each of its features."""
        options = []
        for feature in self._categories.get(constituent.category, ()):
            fixed = [name for name in constituent.features if name in self._features[feature]]
            options.append(fixed or ([given[feature]] if feature in constituent.features else self._features[feature]))
        for values in product(*options):
            yield Constituent(constituent.argument, numbers.setdefault((constituent.category, values), len(numbers)))


def _useful(productions: Sequence[Production]) -> list[Production]:
    """The productions that some sentence is made with, in their order."""
    finished: set[int] = set()
    while True:
        more = {made.head for made in productions if all(slot.nonterminal in finished for slot in made.slots)}
        if more <= finished:
            break
        finished |= more
    kept = [made for made in productions if all(slot.nonterminal in finished for slot in made.slots)]
    slots: dict[int, set[int]] = defaultdict(set)
    for made in kept:
        slots[made.head].update(slot.nonterminal for slot in made.slots)
    reached, waiting = {0}, [0]
    while waiting:
        new = slots[waiting.pop()] - reached
        reached |= new
        waiting += new
    return [made for made in dict.fromkeys(kept) if made.head in reached]


class Productions:
    """A context-free grammar with symbols of meaning; nonterminal 0 makes sentences.

    Args:
        productions: in order of preference.
        nonterminals: how many there are.
    """

    def __init__(self, productions: Sequence[Production], nonterminals: int) -> None:
        self.nonterminals = nonterminals
        self.list = tuple(productions)
        self.words = tuple(sorted({part for made in self.list for part in made.parts if isinstance(part, str)}))
        """Every word, sorted."""

    @cached_property
    def meaningful(self) -> frozenset[int]:
        """Nonterminals that say a tree; the others are words that depend on features alone."""
        found: set[int] = set()
        while more := {
            made.head
            for made in self.list
            if made.head not in found and (made.symbol or any(slot.nonterminal in found for slot in made.slots))
        }:
            found |= more
        return frozenset(found)

    @cached_property
    def first(self) -> tuple[frozenset[str], ...]:
        """The words that each nonterminal can begin with."""
        found: list[set[str]] = [set() for _ in range(self.nonterminals)]
        grown = True
        while grown:
            grown = False
            for made in self.list:
                begin = made.parts[0]
                new = {begin} if isinstance(begin, str) else found[begin.nonterminal]
                if not new <= found[made.head]:
                    found[made.head] |= new
                    grown = True
        return tuple(map(frozenset, found))

    @cached_property
    def roots(self) -> tuple[frozenset[str], ...]:
        """The symbols that may stand at the root of the trees that each nonterminal says; for words without meaning, all."""
        found = [set() if number in self.meaningful else set(SYMBOLS) for number in range(self.nonterminals)]
        grown = True
        while grown:
            grown = False
            for made in self.list:
                new = self.symbols_of(made, found)
                if not new <= found[made.head]:
                    found[made.head] |= new
                    grown = True
        return tuple(map(frozenset, found))

    @staticmethod
    def symbols_of(made: Production, roots: Sequence[set[str] | frozenset[str]]) -> set[str]:
        """The symbols that may stand at the root of the trees that a production says."""
        own = [roots[slot.nonterminal] for slot in made.slots if slot.argument is None]
        return set.intersection({made.symbol} if made.symbol else set(SYMBOLS), *map(set, own))

    def words_of(self, symbols: Sequence[str], *, paraphrases: bool = False) -> tuple[str, ...]:
        """The words, sorted, of the sentences that say trees of these symbols.

        Args:
            symbols: names.
            paraphrases: whether those of paraphrases count too.
        """
        allowed = [made for made in self.list if (made.preferred or paraphrases) and (not made.symbol or made.symbol in symbols)]
        return tuple(sorted({part for made in _useful(allowed) for part in made.parts if isinstance(part, str)}))
