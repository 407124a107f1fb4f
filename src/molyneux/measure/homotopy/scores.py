"""From what is read along paths to scores: how many factors change at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from molyneux.core import Score
from molyneux.measure.coherence.scores import CEILING
from molyneux.measure.galleries.steps import Walk
from molyneux.measure.intervals import mean_interval, statistic_interval
from molyneux.measure.recorder import Recorder

LEAP = "one leap"
"""Control: going from one sample to the other in a single step, which changes all factors in which they differ."""


def path_scores(walk: Walk, recorder: Recorder, *, leap: np.ndarray | None, ceiling: float) -> list[Score]:
    """How many outputs are readable, and in how many steps that change anything a single factor changes.

    A step goes from one readable output to the next readable one, see `changes_of_legs`.

    Args:
        walk: P pairs, L legs and S steps of each: codes (P, L, S, F).
        recorder: writes the scores.
        leap: (P,) in how many factors the samples of each pair differ; None where that is not known.
        ceiling: % of the true views of these samples that the same reader reads.
    """
    pairs = len(walk.readable)
    outputs = walk.readable.reshape(pairs, -1)
    counts = changes_of_legs(walk).sum(-1).reshape(pairs, -1)
    readable = np.stack([outputs.sum(1), np.full(pairs, outputs.shape[1])], 1)
    single = np.stack([(counts == 1).sum(1), (counts > 0).sum(1)], 1)
    controls = {} if leap is None or not leap.any() else {LEAP: 100.0 * float((leap == 1).sum() / (leap > 0).sum())}
    return [
        _ratio("readable", readable, recorder, controls={CEILING: ceiling}),
        _ratio("single_change", single, recorder, controls=controls, note="" if single.any() else "no step changes anything"),
    ]


def leg_scores(walk: Walk, recorder: Recorder, *, leap: np.ndarray | None) -> list[Score]:
    """How many factors change while one dimension moves: the mean over all dimensions, and over those that change anything.

    Changes behind unreadable outputs count in the leg in which they can be read, see `changes_of_legs`.

    Args:
        walk: P pairs, one leg for each dimension, S steps: codes (P, D, S, F).
        recorder: writes the scores.
        leap: as in `path_scores`.
    """
    counts = changes_of_legs(walk).any(2).sum(-1)
    highest = float(len(walk.factors))
    controls = {} if leap is None else {LEAP: float(leap.mean())}
    moving = np.stack([counts.sum(1), (counts > 0).sum(1)], 1)
    note = "" if moving.any() else "no dimension changes anything"
    return [
        recorder.mean("factors_per_leg", counts.mean(1), bounds=(0.0, highest), higher_is_better=None, controls=controls),
        _ratio(
            "factors_per_moving_leg",
            moving,
            recorder,
            scale=1.0,
            unit="1",
            bounds=(1.0, highest),
            higher_is_better=False,
            controls=controls,
            note=note,
        ),
    ]


def changes_of_legs(walk: Walk) -> np.ndarray:
    """Whether a factor changes in the step that ends at an output, (P, L, S - 1, F), for P pairs of L legs of S outputs.

    Each readable output is compared with the last readable one before it. Legs share their end points: where a leg begins
    unreadably, that is the last readable output of the legs before it. Nothing is compared with the first output of a leg.
    """
    pairs, legs, steps, factors = walk.codes.shape
    whole = Walk(walk.factors, walk.codes.reshape(pairs, legs * steps, factors), walk.readable.reshape(pairs, legs * steps))
    first = np.zeros((pairs, 1, factors), bool)
    return np.concatenate([first, whole.changed], 1).reshape(pairs, legs, steps, factors)[:, :, 1:]


def _ratio(name: str, rows: np.ndarray, recorder: Recorder, *, scale: float = 100.0, **fields: Any) -> Score:
    """The ratio of two sums over pairs. Steps of one pair are no independent samples, so pairs are what is resampled.

    Args:
        name: last part of the name.
        rows: (P, 2) what is counted in each pair, and out of how many.
        recorder: writes the score.
        scale: 100 for a share in %.
        **fields: further fields of the score; a note is needed where nothing was counted out of.
    """
    fields = {"unit": "%", "bounds": (0.0, 100.0), **fields}
    told = rows[rows[:, 1] > 0]
    if not len(told):
        return recorder.score(name, None, **fields)

    def ratio(sums: np.ndarray) -> float:
        return scale * float(sums[:, 0].sum() / sums[:, 1].sum())

    value = ratio(told)
    interval = statistic_interval(ratio, told, recorder.rng)
    if len(np.unique(told[:, 0] / told[:, 1])) == 1:  # a bootstrap of equal numbers would claim certainty
        interval = mean_interval(np.full(len(told), value), recorder.rng, fields["bounds"])
    return recorder.score(name, value, interval=interval, n=len(told), **fields)
