"""Sets of combinations of factor values, all equally likely.

The finite case of a distribution: restricting, holding out and joining are the operations of sets. Combinations are numbered as
the digits of a number are, the last factor fastest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from molyneux.core import ConfigError, Factor, nearest

Rule = Mapping[str, str | Sequence[str]]
"""Values of some factors, such as `{"shape": "heart", "colour": ["red", "pink"]}`; factors it does not name are free."""


@dataclass(frozen=True, eq=False)
class Combinations:
    """A set of combinations of factor values, all equally likely.

    Args:
        factors: F factors.
        allowed: (N,) bool by combination number; N is the product of the numbers of values.
    """

    factors: tuple[Factor, ...]
    allowed: np.ndarray

    @classmethod
    def every(cls, factors: Sequence[Factor]) -> Combinations:
        """All combinations of all values."""
        return cls(tuple(factors), np.ones(math.prod(len(factor.values) for factor in factors), bool))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values of each factor."""
        return tuple(len(factor.values) for factor in self.factors)

    @cached_property
    def codes(self) -> np.ndarray:
        """The combinations in it, (len, F) int64, by rising number."""
        return np.stack(np.unravel_index(np.flatnonzero(self.allowed), self.shape), 1).astype(np.int64)

    def __len__(self) -> int:
        return int(self.allowed.sum())

    def __sub__(self, other: Combinations) -> Combinations:
        return Combinations(self.factors, self.allowed & ~other.allowed)

    def matching(self, rules: Sequence[Rule]) -> Combinations:
        """Those that fit at least one rule.

        Raises:
            ConfigError: a rule names an unknown factor or value; all problems at once.
        """
        problems = [problem for rule in rules for problem in rule_problems(rule, self.factors)]
        if problems:
            raise ConfigError(problems)
        grid = np.zeros(self.shape, bool)
        for rule in rules:
            grid[np.ix_(*(_chosen(factor, rule) for factor in self.factors))] = True
        return Combinations(self.factors, self.allowed & grid.ravel())

    def numbers(self, codes: np.ndarray) -> np.ndarray:
        """Combination numbers (n,) of codes (n, F)."""
        return np.asarray(np.ravel_multi_index(tuple(codes.T), self.shape))

    def contains(self, codes: np.ndarray) -> np.ndarray:
        """Whether each combination (n, F) is in it, (n,) bool."""
        return self.allowed[self.numbers(codes)]  # type: ignore[no-any-return]

    def sample(self, uniforms: np.ndarray) -> np.ndarray:
        """A combination for each number of [0, 1): (n, F) int64 from (n,)."""
        return self.codes[pick(uniforms, len(self.codes))]  # type: ignore[no-any-return]


def rule_problems(rule: Rule, factors: Sequence[Factor]) -> list[str]:
    """One sentence for each factor or value of a rule that does not exist."""
    known = {factor.name: factor for factor in factors}
    problems = [
        f"the combination {dict(rule)} names the factor {name!r}, which is not drawn here; {nearest(str(name), known)}"
        for name in rule
        if name not in known
    ]
    for name in known.keys() & rule.keys():
        problems += [
            f"the combination {dict(rule)} has no {name} {value!r} to choose; {nearest(str(value), known[name].values)}"
            for value in _values(rule[name])
            if value not in known[name].values
        ]
    return problems if rule else ["an empty combination fits everything: name at least one factor"]


def _values(choice: str | Sequence[str]) -> tuple[str, ...]:
    return (choice,) if isinstance(choice, str) else tuple(choice)


def _chosen(factor: Factor, rule: Rule) -> np.ndarray:
    """Codes of the values of a factor that a rule allows."""
    if factor.name not in rule:
        return np.arange(len(factor.values))
    return np.array([factor.code(value) for value in _values(rule[factor.name])], np.int64)


def pick(uniforms: np.ndarray, count: int) -> np.ndarray:
    """Equally likely integers in range(count), int64, from numbers of [0, 1)."""
    return (uniforms * count).astype(np.int64)
