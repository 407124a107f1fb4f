"""Makes scores from one number per sample: value, interval, what the score is about, and origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from molyneux.core import About, Score
from molyneux.measure.intervals import mean_interval, share_interval

_NOTHING = "no sample has what this needs"


@dataclass(frozen=True)
class Recorder:
    """Makes the scores of one family about one thing.

    Args:
        family: first part of the names of its scores.
        rng: the stream that resamples.
        about: what the scores are about.
        origin: recorded with every score.
    """

    family: str
    rng: np.random.Generator
    about: About = field(default_factory=dict)
    origin: Mapping[str, Any] = field(default_factory=dict)

    def on(self, **about: str | tuple[str, ...]) -> Recorder:
        """A recorder whose scores are about this too."""
        return replace(self, about={**self.about, **about})

    def score(self, name: str, value: float | None, **fields: Any) -> Score:
        """A score as it is given."""
        return Score(f"{self.family}.{name}", value, self.about, origin=self.origin, **fields)

    def share(self, name: str, right: np.ndarray, **fields: Any) -> Score:
        """The share of samples that are right, in %, with the exact interval.

        Args:
            name: last part of the name.
            right: (N,) bool; an empty one gives a score without a value.
            **fields: further fields of the score; chance and controls in %.
        """
        fields = {"unit": "%", "bounds": (0.0, 100.0), **fields}
        n = len(right)
        if n == 0:
            return self.score(name, None, **{**fields, "note": _NOTHING})
        count = int(np.count_nonzero(right))
        low, high = share_interval(count, n)
        return self.score(name, 100.0 * count / n, interval=(100.0 * low, 100.0 * high), n=n, **fields)

    def mean(self, name: str, values: np.ndarray, **fields: Any) -> Score:
        """The mean of one number per sample with its bootstrap interval.

        Args:
            name: last part of the name.
            values: (N,) numbers; an empty array, NaN or infinity gives a score without a value.
            **fields: further fields of the score.
        """
        n, finite = len(values), int(np.count_nonzero(np.isfinite(values)))
        if n == 0 or finite < n:
            note = f"{n - finite} of {n} values are not finite" if n else _NOTHING
            return self.score(name, None, **{**fields, "note": note})
        data = values.astype(np.float64)
        interval = mean_interval(data, self.rng, fields.get("bounds", (None, None)))
        return self.score(name, float(data.mean()), interval=interval, n=n, **fields)


def percent(right: np.ndarray) -> float:
    """The share of True, in %; 0 for none."""
    return 100.0 * float(right.mean()) if len(right) else 0.0
