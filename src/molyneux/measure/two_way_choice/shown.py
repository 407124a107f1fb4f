"""What is known once some samples were shown in both senses: a memory of examples, and no other weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from molyneux.measure.two_way_choice.choices import Distance, Side, distances

LEFT = 2
"""Samples of each value that are left to be asked: one that is given, and another one to choose."""


@dataclass(frozen=True)
class Examples:
    """Samples that are shown in both senses, and those that are asked.

    Args:
        counts: how many of each value are shown, of those that were wanted: as many as the samples suffice for.
        given: (V, largest count) places among the things that are given.
        choices: (V, largest count) places of the same samples among the things to choose from.
        asked_given: (n,) places of the things that are asked about; none of them is ever shown.
        asked_choices: (m,) places of the things to choose from.
    """

    counts: tuple[int, ...]
    given: np.ndarray
    choices: np.ndarray
    asked_given: np.ndarray
    asked_choices: np.ndarray

    def first(self, size: int) -> Examples:
        """The same examples with at most `size` things to ask about, and as many to choose from."""
        return replace(self, asked_given=self.asked_given[:size], asked_choices=self.asked_choices[:size])


def examples(one: Side, other: Side, counts: Sequence[int], rng: np.random.Generator) -> Examples | None:
    """Draw the samples that are shown; None where the samples suffice for no count.

    The first k of a random order of the samples of a value that are there in both senses. The same samples are asked after every
    count, those of values of which `LEFT` are left after the largest one; this has to hold of at least two values, and of half of
    them, otherwise the count is left out.
    """
    _, here, there = np.intersect1d(one.numbers, other.numbers, assume_unique=True, return_indices=True)
    order = np.argsort(here)  # in the order of the things that are given, which their content decides on
    here, there = here[order], there[order]
    order = rng.permutation(len(here))
    here, there = here[order], there[order]
    values, sizes = np.unique(one.values[here], return_counts=True)
    enough = [count for count in counts if (sizes >= count + LEFT).sum() >= max(2, (sizes >= LEFT).sum() / 2)]
    if not enough:
        return None
    largest = max(enough)
    kept = values[sizes >= largest + LEFT]
    first = np.stack([np.flatnonzero(one.values[here] == value)[:largest] for value in kept])
    given, choices = here[first], there[first]
    asked = [
        np.flatnonzero(np.isin(side.values, kept) & ~np.isin(np.arange(len(side.values)), shown))
        for side, shown in ((one, given), (other, choices))
    ]
    return Examples(tuple(enough), given, choices, *asked)


def remembered(one: Side, other: Side, shown: Examples, count: int, name: str, kind: Distance) -> np.ndarray:
    """Distances (n, m) of what is asked, after `count` samples of each value were shown.

    A thing is taken for that of the values whose shown samples have the nearest mean code in its own sense. The distance of what
    there is to choose from is that from the mean code of the shown samples of this value in the other sense. After 0 samples it
    is the distance of the codes in both senses.

    Args:
        one: the things that are given.
        other: the things to choose from.
        shown: what is shown and asked.
        count: how many samples of each value.
        name: whose codes.
        kind: distance of codes.
    """
    given, choices = one.codes[name], other.codes[name]
    asked, answers = given[shown.asked_given], choices[shown.asked_choices]
    if count == 0:
        width = min(given.shape[1], choices.shape[1])
        return distances(asked[:, :width], answers[:, :width], kind)
    taken = distances(asked, given[shown.given[:, :count]].mean(1), kind).argmin(1)
    return np.asarray(distances(choices[shown.choices[:, :count]].mean(1), answers, kind)[taken])
