"""Which modalities are observed and which one is generated from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from molyneux.core import ConfigError

Subsets = Literal["all", "leave-one-out", "single"]
"""Observed subsets: every proper one, only single modalities, or single ones and all but one."""


@dataclass(frozen=True)
class Direction:
    """Generate `target` from the modalities `observed`, which are in the order of the Spec and do not contain it."""

    observed: tuple[str, ...]
    target: str

    @property
    def about(self) -> dict[str, str]:
        """How scores name it: `{"source": "image+text", "target": "touch"}`."""
        return {"source": "+".join(self.observed), "target": self.target}


def subsets(names: Sequence[str], which: Subsets = "all") -> list[tuple[str, ...]]:
    """The proper non-empty subsets of modalities, small ones first.

    >>> subsets(("image", "text", "touch"), "leave-one-out")[2:4]
    [('touch',), ('image', 'text')]
    """
    count = len(names)
    sizes = {"all": range(1, count), "single": range(1, min(2, count)), "leave-one-out": sorted({1, count - 1} - {0})}
    if which not in sizes:
        raise ConfigError(f"unknown subsets {which!r}; known: {', '.join(sizes)}")
    return [observed for size in sizes[which] if size < count for observed in combinations(names, size)]
