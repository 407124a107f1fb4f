"""Statements at random: every symbol occurs, and connectives are nested."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import numpy as np

from molyneux.core import ConfigError, seeds
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Sort, Symbol, Tree, symbols_for


def random_trees(count: int, seed: int, *, connectives: int = 2, kinds: Collection[str] | None = None) -> list[Tree]:
    """Statements whose symbols are drawn from the root on: first the family of a symbol, then the symbol.

    Args:
        count: how many.
        seed: root of the random numbers.
        connectives: how deep connectives and denials are nested at most.
        kinds: families of the statements that are not joined of others, such as `count`; None = all.

    Raises:
        ConfigError: a family that no such statement has.
    """
    known = {symbol.kind for symbol in symbols_for("statement") if "statement" not in symbol.arguments}
    if kinds is not None and (unknown := set(kinds) - known):
        raise ConfigError(f"no statements of the kinds {', '.join(sorted(unknown))}: there are {', '.join(sorted(known))}")
    rng, clauses = seeds.generator(seed, "shapeworld", "random trees"), frozenset(known if kinds is None else kinds)
    return [_statement(rng, connectives, clauses) for _ in range(count)]


def _statement(rng: np.random.Generator, connectives: int, clauses: frozenset[str]) -> Tree:
    """A statement: one that is joined of others with a probability of two thirds, as long as it may be."""
    joined = connectives > 0 and rng.random() < 2 / 3
    families = [
        tuple(symbol for symbol in family if ("statement" in symbol.arguments) == joined) for family in _families("statement")
    ]
    possible = [family for family in families if family and (joined or family[0].kind in clauses)]
    symbol = _drawn(rng, possible)
    if joined:
        return Tree(symbol.name, tuple(_statement(rng, connectives - 1, clauses) for _ in symbol.arguments))
    return _filled(rng, symbol)


def _filled(rng: np.random.Generator, symbol: Symbol) -> Tree:
    return Tree(symbol.name, tuple(_filled(rng, _drawn(rng, _families(argument))) for argument in symbol.arguments))


def _drawn(rng: np.random.Generator, families: Collection[tuple[Symbol, ...]]) -> Symbol:
    family = list(families)[rng.integers(len(families))]
    return family[rng.integers(len(family))]


@lru_cache
def _families(sort: Sort) -> tuple[tuple[Symbol, ...], ...]:
    """The symbols for a sort by family; those with arguments of two entities apart, since they are few."""
    fitting = symbols_for(sort)
    keys = sorted({(symbol.kind, len(symbol.arguments)) for symbol in fitting})
    return tuple(tuple(symbol for symbol in fitting if (symbol.kind, len(symbol.arguments)) == key) for key in keys)
