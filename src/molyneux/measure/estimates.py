"""From one number per sample to a score with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from molyneux.core import Score
from molyneux.measure.intervals import mean_interval, share_interval


def share(name: str, right: np.ndarray, *, about: Mapping[str, str], **fields: Any) -> Score:
    """The share of samples that are right, in %, with the exact interval.

    Args:
        name: name of the score.
        right: (N,) bool; an empty one gives a score without a value.
        about: what it is about.
        **fields: further fields of the score; chance and controls in %.
    """
    n = len(right)
    if n == 0:
        fields["note"] = "no sample has what this needs"
        return unknown(name, about=about, unit="%", bounds=(0.0, 100.0), **fields)
    count = int(np.count_nonzero(right))
    low, high = share_interval(count, n)
    return Score(
        name, 100.0 * count / n, about, interval=(100.0 * low, 100.0 * high), n=n, unit="%", bounds=(0.0, 100.0), **fields
    )


def mean(
    name: str, values: np.ndarray, *, rng: np.random.Generator, about: Mapping[str, str] | None = None, **fields: Any
) -> Score:
    """The mean of one number per sample with its bootstrap interval.

    Args:
        name: name of the score.
        values: (N,) numbers; an empty array, NaN or infinity gives a score without a value.
        rng: the stream that resamples.
        about: what it is about.
        **fields: further fields of the score.
    """
    about = about or {}
    finite = np.isfinite(values)
    if len(values) == 0 or not finite.all():
        bad = len(values) - int(np.count_nonzero(finite))
        note = f"{bad} of {len(values)} values are not finite" if len(values) else "no sample has what this needs"
        return unknown(name, about=about, **{**fields, "note": note})
    data = values.astype(np.float64)
    interval = mean_interval(data, rng, fields.get("bounds", (None, None)))
    return Score(name, float(data.mean()), about, interval=interval, n=len(data), **fields)


def unknown(name: str, *, about: Mapping[str, str], **fields: Any) -> Score:
    """A score without a value; `note` says why."""
    return Score(name, None, about, **fields)
