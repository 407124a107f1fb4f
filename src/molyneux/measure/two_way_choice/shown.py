"""What is known once some samples were shown in both senses: a memory of examples, and no other weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from molyneux.measure.two_way_choice.choices import Distance, Side, distances, two_way_choices

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


def shown_choices(one: Side, other: Side, shown: Examples, count: int, name: str, kind: Distance) -> np.ndarray | None:
    """How often the right one of two things is chosen after `count` samples of each value were shown, as `two_way_choices`.

    A thing is taken for that of the two values whose shown samples have the nearer mean code in its own sense. The thing to
    choose from that is nearer to the mean code of the shown samples of this value in the other sense is chosen. So the two values
    at hand are compared, and no others. After 0 samples the choice is that by codes of both senses.

    Args:
        one: the things that are given.
        other: the things to choose from.
        shown: what is shown and asked.
        count: how many samples of each value.
        name: whose codes.
        kind: distance of codes.

    Returns:
        (K, K) of 0..1, rows the value that is given and columns that of the wrong thing, of the values of what is asked; None
        without such a choice.
    """
    asked, answers = one[shown.asked_given], other[shown.asked_choices]
    given, choices = asked.codes[name], answers.codes[name]
    if count == 0:
        width = min(given.shape[1], choices.shape[1])
        away = distances(given[:, :width], choices[:, :width], kind)
        return two_way_choices(away, asked.values, answers.values, same=asked.numbers[:, None] == answers.numbers)
    kept = one.values[shown.given[:, 0]]
    memories = (side.codes[name][places[:, :count]].mean(1) for side, places in ((one, shown.given), (other, shown.choices)))
    felt, seen = memories
    taken = two_way_choices(distances(given, felt, kind), asked.values, kept)
    nearer = two_way_choices(distances(seen, choices, kind), kept, answers.values)
    if taken is None or nearer is None:
        return None
    there = np.isin(kept, np.concatenate([asked.values, answers.values]))
    right = (taken * nearer + (1.0 - taken) * (1.0 - nearer.T))[np.ix_(there, there)]
    return right if np.isfinite(right).any() else None
