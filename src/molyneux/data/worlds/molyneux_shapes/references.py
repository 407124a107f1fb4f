"""What the two-way choice is compared with: the outlines that geometry reads in both senses, without a list of shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from molyneux.core import ConfigError, nearest
from molyneux.data.worlds.molyneux_shapes.comparison import SINGLE, STATISTICS, distances, single_numbers, statistics
from molyneux.data.worlds.molyneux_shapes.matching import signatures
from molyneux.data.worlds.molyneux_shapes.readers import border_points, contact_points, cover

Outlines = tuple[np.ndarray, np.ndarray]
"""Radii (n, 256), and the radius of a disc of the same area (n,)."""


def outlines(modality: str, view: Tensor, *, level: int) -> Outlines:
    """The outlines that pictures or touches show, of any shapes: no list of shapes is used.

    Args:
        modality: "image" or "touch".
        view: stored views (n, *shape).
        level: of the world that made the pictures.

    Returns:
        Radii (n, 256), which `comparison.distances` compares, and the radius of a disc of the same area (n,), in pixels or in the
        unit of the hand.
    """
    found = border_points(cover(view.float(), level).numpy()) if modality == "image" else contact_points(view.numpy())
    return signatures(*found)


def outline_distances(given: Outlines, choices: Sequence[Outlines], names: Sequence[str] = ()) -> np.ndarray:
    """Distances (n, K) of n outlines from K others each, n to each of K lists, or of statistics of them.

    Args:
        given: n outlines.
        choices: K lists of n outlines.
        names: of the `STATISTICS` and `SINGLE` numbers that are compared, in standard deviations of all lists and of what is
            given; none for outlines.

    Raises:
        ConfigError: an unknown statistic.
    """
    known = (*STATISTICS, *SINGLE)
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"unknown statistic {unknown[0]!r}; {nearest(unknown[0], known)}")
    if not names:
        pairs = [
            [float(distances(one[None], other[None], mirrored=False)[0, 0]) for one, other in zip(given[0], radii, strict=True)]
            for radii, _ in choices
        ]
        return np.array(pairs).reshape(len(choices), len(given[0])).T
    columns = [known.index(name) for name in names]
    told = [np.hstack([statistics(*part), single_numbers(part[0])])[:, columns] for part in (given, *choices)]
    every = np.concatenate(told[1:])
    one, *both = (_standardised(part, beside) for part, beside in zip(told, (told[0], *[every] * len(choices)), strict=True))
    return np.stack([np.sqrt(np.square(one - part).sum(1)) for part in both], 1)


def _standardised(numbers: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """By the mean and the standard deviation of others; zeros where these are all the same, as of a single one."""
    spread = beside.std(0)
    return np.where(spread > 0, (numbers - beside.mean(0)) / np.where(spread > 0, spread, 1.0), 0.0)
