"""Checks of settings: sentences about those that cannot be used, raised all together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real

from molyneux.core import ConfigError


def refuse(problems: Iterable[str]) -> None:
    """Raise a ConfigError with all problems, if there are any."""
    found = list(problems)
    if found:
        raise ConfigError(found)


def too_small(settings: object, *names: str, least: int = 1) -> list[str]:
    """A problem for each setting of these names that is not a number of at least `least`."""
    values: dict[str, float] = {name: getattr(settings, name) for name in names}
    return [
        f"{name}: expected at least {least}, got {_shown(value)}"
        for name, value in values.items()
        if not (isinstance(value, Real) and value >= least)
    ]


def levels_below_zero(**levels: float) -> list[str]:
    """A problem for each value that is not a finite number of at least 0."""
    return [
        f"{name}: expected a number of at least 0, got {_shown(level)}"
        for name, level in levels.items()
        if not (isinstance(level, Real) and 0 <= level < math.inf)
    ]


def not_positive(**numbers: float) -> list[str]:
    """A problem for each number that is not finite and above 0."""
    return [f"{name}: expected a number above 0, got {value}" for name, value in numbers.items() if not 0 < value < math.inf]


def shares_out_of_range(whole: str, **shares: float) -> list[str]:
    """A problem for each share of the whole that is not in (0, 1]."""
    return [
        f"{name}: expected a share of {whole} in 0..1, above 0, got {_shown(share)}"
        for name, share in shares.items()
        if not (isinstance(share, Real) and 0 < share <= 1)
    ]


def dropout_problems(**shares: float) -> list[str]:
    """A problem for each share that is not in [0, 1)."""
    return [
        f"{name}: expected a share in 0..1, below 1, got {_shown(share)}"
        for name, share in shares.items()
        if not (isinstance(share, Real) and 0 <= share < 1)
    ]


def head_problems(*, width: int, heads: int) -> list[str]:
    """A problem unless attention of this width can be divided among its heads."""
    return [f"width: expected a multiple of the {heads} heads, got {width}"] if width % heads else []


def _shown(value: object) -> str:
    return f"{value}" if isinstance(value, Real) else f"{value!r}"
