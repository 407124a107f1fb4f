"""What the parts of the checks of ShapeWorld share: their contract, and samples of all kinds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from molyneux.core import Batch
from molyneux.data import ShapeWorld

Value = str | int | float
Row = Mapping[str, Value]
PAPER = ("oneshape", "multishape", "spatial", "quantification")
"""Kinds of Kuhnle & Copestake (2017)."""


@dataclass(frozen=True)
class Part:
    """A part of the checks.

    Args:
        name: of its record.
        what: its numbers say, one sentence.
        check: yields the rows of the record, by `size`, `seed` and `quick`.
        size: number of samples, as the part counts them.
        quick: the same with `--quick`.
    """

    name: str
    what: str
    check: Callable[..., Iterator[Row]]
    size: int
    quick: int


def batches(world: ShapeWorld, count: int, *, split: str, seed: int, first: int = 0, at_once: int = 4000) -> Iterator[Batch]:
    """So many samples of a world, from a number on."""
    for start in range(first, first + count, at_once):
        yield world.batch(np.arange(start, min(start + at_once, first + count)), split=split, seed=seed)


def interval(right: int, count: int) -> str:
    """The exact interval of a share at 95 %, in percent (Clopper & Pearson)."""
    found = binomtest(right, count).proportion_ci()
    return f"{100 * found.low:.2f} to {100 * found.high:.2f}"


def rounded(value: Value) -> Value:
    """A number with four significant digits, whole from 1000 on."""
    if isinstance(value, str | int):
        return value
    digits = 3 - math.floor(math.log10(abs(value))) if value else 0
    return round(value, digits) if digits > 0 else round(value)
