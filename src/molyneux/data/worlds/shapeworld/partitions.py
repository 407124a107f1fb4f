"""Partitions: sets of samples whose factors have some of their values, and whose captions keep to a constraint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from molyneux.core import Factor, nearest
from molyneux.data.worlds.shapeworld.meaning.constraints import CaptionConstraint
from molyneux.data.worlds.shapeworld.meaning.description import describe

Accept = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Which sets are taken, (m,) bool, by their captions (m, T, L), changes (m,) and truth of the first caption (m,)."""


def acceptance(
    constraint: CaptionConstraint, factors: Sequence[Factor], only: Mapping[str, Sequence[str]], changes: Sequence[str]
) -> Accept:
    """What decides which sets are taken: captions within a constraint, and factors with some of their values.

    Args:
        constraint: of the captions of a split.
        factors: those of `caption_factors`.
        only: values by the name of a factor of captions, `change` or `truth`; other factors do not matter here.
        changes: names of the changes of sets.
    """
    asked = {
        column: [factor.code(value) for value in only[factor.name]]
        for column, factor in enumerate(factors)
        if factor.name in only
    }

    def accept(programs: np.ndarray, change: np.ndarray, truth: np.ndarray) -> np.ndarray:
        count, texts = programs.shape[:2]
        flat = programs.reshape(count * texts, programs.shape[2])
        fits = constraint.contains(flat)
        if asked:
            codes = describe(flat, factors)
            for column, wanted in asked.items():
                fits &= np.isin(codes[:, column], wanted)
        taken = fits.reshape(count, texts).all(1)
        if "change" in only:
            taken &= np.isin(change, [place for place, one in enumerate(changes) if one in only["change"]])
        if "truth" in only:
            taken &= np.isin(truth, [value == "true" for value in only["truth"]])
        return np.asarray(taken)

    return accept


def partition_problems(only: Mapping[str, Sequence[str]], known: Sequence[Factor], *, two_sided: bool) -> list[str]:
    """What is wrong with a partition: factors or values that there are not, and the truth of sets that have both.

    Args:
        only: values by the name of a factor.
        known: the factors of the samples.
        two_sided: whether every set has true and false captions.
    """
    problems, factors = list[str](), {factor.name: factor for factor in known}
    for name, values in only.items():
        if name not in factors:
            problems.append(f"only: unknown factor {name!r}; {nearest(name, factors)}")
            continue
        problems += [
            f"only: {name} has no value {value!r}; {nearest(value, factors[name].values)}"
            for value in values
            if value not in factors[name].values
        ]
        if not values:
            problems.append(f"only: expected values of {name}, got none")
    if "truth" in only and two_sided:
        problems.append("only: every set has a true and a false caption; truth can be restricted in the variant published")
    return problems
