"""A grammar that says trees of meaning and reads them back: one set of rules for both directions.

A rule belongs to a category and a symbol and is a row of words and slots: the rule for `exists` in the category `clause` of
English is `0:entity 1:verb.sg`, the first argument as an entity, then the second as a verb phrase in the singular. Where a
symbol has several rules in a category, the first that fits is what a tree is said by; the others are read too, as paraphrases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from molyneux.core import DataError
from molyneux.data.worlds.shapeworld.meaning.trees import SYMBOLS, Tree

Part = str | tuple[int, str]
"""A word, or the number of an argument and the category that it is said in."""


@dataclass(frozen=True)
class Rule:
    """How a symbol is said in a category.

    Args:
        symbol: its name; empty for a rule that says its only argument, the same tree, in another category.
        parts: words and slots in their order.
        simple: whether it is for trees whose arguments are no connectives or negated statements.
    """

    symbol: str
    parts: tuple[Part, ...]
    simple: bool = False


class Grammar:
    """Rules by category.

    Args:
        name: of the language.
        rules: by category, in order of preference.
        joined: changes the words of a sentence as the language asks for, such as "a" to "an".
        split: undoes it.
        forms: the words that `joined` makes and no rule has.
    """

    def __init__(
        self,
        name: str,
        rules: Mapping[str, Sequence[Rule]],
        *,
        joined: Callable[[list[str]], list[str]] = list,
        split: Callable[[list[str]], list[str]] = list,
        forms: Sequence[str] = (),
    ) -> None:
        self.name, self.rules, self._joined, self._split, self._forms = name, dict(rules), joined, split, tuple(forms)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every word that a sentence can have, sorted, the full stop included."""
        found = {part for rules in self.rules.values() for rule in rules for part in rule.parts if isinstance(part, str)}
        return tuple(sorted({*found, *self._forms, "."}))

    def say(self, tree: Tree, *, paraphrase: Callable[[int], int] | None = None) -> list[str]:
        """The words of the sentence that says a statement, the full stop last.

        Args:
            tree: a statement.
            paraphrase: picks one of so many rules by number, for a paraphrase; the first by default.

        Raises:
            DataError: the tree is no statement.
        """
        if tree.sort not in ("statement", "quantified"):
            raise DataError(f"expected a statement, got a {tree.sort}: {tree}")
        return self._joined([*self._say("sentence", tree, paraphrase), "."])

    def _say(self, category: str, tree: Tree, paraphrase: Callable[[int], int] | None) -> list[str]:
        fitting = [rule for rule in self.rules[category] if _fits(rule, tree, self.rules)]
        if not fitting:
            raise DataError(f"{self.name} cannot say {tree} as {category}")
        rule = fitting[0 if paraphrase is None else paraphrase(len(fitting))]
        words: list[str] = []
        for part in rule.parts:
            if isinstance(part, str):
                words.append(part)
            else:
                words += self._say(part[1], tree.children[part[0]] if rule.symbol else tree, paraphrase)
        return words

    def read(self, words: Sequence[str]) -> Tree:
        """The meaning of a sentence.

        Args:
            words: with the full stop at the end; capital letters make no difference.

        Raises:
            DataError: no sentence of the language: says where it stops and what could follow.
        """
        found = self.readings(words)
        if len(found) > 1:
            raise DataError(f"{' '.join(words)!r} has several meanings: {'; '.join(map(str, found))}")
        return found[0]

    def readings(self, words: Sequence[str]) -> list[Tree]:
        """All meanings of a sentence, at least one; errors as `read`."""
        lowered = self._split([word.lower() for word in words])
        reader = _Reader(self.rules, [*lowered[:-1], "."] if lowered and lowered[-1] == "." else [*lowered, ""])
        complete = [tree for tree, end in reader.read("sentence", 0) if end == len(lowered) - 1]
        if lowered and lowered[-1] == "." and complete:
            return list(dict.fromkeys(complete))
        place, expected = reader.farthest, sorted(reader.expected)
        if lowered and lowered[-1] != "." and any(end == len(lowered) for _, end in reader.read("sentence", 0)):
            place, expected = len(lowered), ["."]
        before = " ".join(lowered[:place]) or "the beginning"
        got = repr(lowered[place]) if place < len(lowered) else "nothing"
        raise DataError(f"no sentence of {self.name}: after {before!r}, expected {_listed(expected)}, got {got}")


def _fits(rule: Rule, tree: Tree, rules: Mapping[str, Sequence[Rule]]) -> bool:
    """Whether a rule says a tree, as far as its symbol and those of its arguments are concerned."""
    slots = [part for part in rule.parts if not isinstance(part, str)]
    if not rule.symbol:
        return any(_fits(inner, tree, rules) for inner in rules[slots[0][1]])
    if rule.symbol != tree.symbol or (rule.simple and any(map(is_compound, tree.children))):
        return False
    return all(_is_of(category, tree.children[number], rules) for number, category in slots)


def _is_of(category: str, tree: Tree, rules: Mapping[str, Sequence[Rule]]) -> bool:
    """Whether a category has a rule for the symbol of a tree."""
    for rule in rules[category]:
        if rule.symbol == tree.symbol:
            return True
        if not rule.symbol and _is_of(next(part[1] for part in rule.parts if not isinstance(part, str)), tree, rules):
            return True
    return False


def is_compound(tree: Tree) -> bool:
    """Whether a statement is joined of statements or denies one."""
    return "statement" in SYMBOLS[tree.symbol].arguments


def _listed(words: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(repr(word) for word in words[:most])
    return f"{shown} or {len(words) - most} other words" if len(words) > most else shown


class _Reader:
    """Reads a row of words by categories; what is found once is remembered."""

    def __init__(self, rules: Mapping[str, Sequence[Rule]], words: Sequence[str]) -> None:
        self._rules, self._words = rules, words
        self._found: dict[tuple[str, int], list[tuple[Tree, int]]] = {}
        self.farthest = 0
        self.expected: set[str] = set()

    def read(self, category: str, start: int) -> list[tuple[Tree, int]]:
        """Trees of a category that begin at a word, each with the place after its last word."""
        place = (category, start)
        if place not in self._found:
            self._found[place] = []
            self._found[place] = [pair for rule in self._rules[category] for pair in self._by(rule, start)]
        return self._found[place]

    def _by(self, rule: Rule, start: int) -> Iterator[tuple[Tree, int]]:
        for slots, end in self._parts(rule.parts, start):
            if not rule.symbol:
                yield slots[0], end
                continue
            tree = Tree(rule.symbol, tuple(slots[number] for number in sorted(slots)))
            if not (rule.simple and any(map(is_compound, tree.children))):
                yield tree, end

    def _parts(self, parts: Sequence[Part], start: int) -> Iterator[tuple[dict[int, Tree], int]]:
        if not parts:
            yield {}, start
            return
        first, rest = parts[0], parts[1:]
        if isinstance(first, str):
            if start < len(self._words) and self._words[start] == first:
                yield from self._parts(rest, start + 1)
            elif start >= self.farthest:
                self.expected = {first} if start > self.farthest else self.expected | {first}
                self.farthest = start
            return
        for tree, end in self.read(first[1], start):
            for slots, last in self._parts(rest, end):
                yield {first[0]: tree, **slots}, last


def rule(symbol: str, text: str, *, simple: bool = False) -> Rule:
    """A rule from words and slots, `number:category`, with spaces between; a rule without a symbol says the same tree."""
    return Rule(symbol, tuple(map(_part, text.split())), simple)


def _part(word: str) -> Part:
    number, colon, category = word.partition(":")
    return (int(number), category) if colon and number.isdigit() else word
