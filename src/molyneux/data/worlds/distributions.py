"""Distributions over what a scene is made of: they can draw, and they can say what they contain.

`Choice` and `Uniform` draw one factor or quantity, `Product` joins independent parts, `MixtureDistribution` takes one of several,
`Excluding` holds a region out, and `Entities` draws several objects for each scene. They nest, and nothing is enumerated: a
draw is a function of a fixed number of uniform numbers a scene. Values are arrays by name, (n,), or (n, entities) below
`Entities`: codes (int64) of a factor, numbers (float64) of a quantity. `combinations.Combinations` is the finite case.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from molyneux.core import ConfigError, Factor, Quantity, nearest, seeds
from molyneux.data.worlds.combinations import pick

Values = Mapping[str, np.ndarray]
"""Values of scenes by the name of a factor or quantity."""

_ATTEMPTS = 1000
"""How often a scene is drawn anew before a held-out region is refused."""


class Distribution(ABC):
    """Scenes at random.

    Args:
        names: of the factors and quantities that it draws.
        count: how many uniform numbers a scene takes.
    """

    def __init__(self, names: Sequence[str], count: int) -> None:
        self.names, self.count = tuple(names), count

    @abstractmethod
    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """The values of scenes (n,) by name, from numbers of [0, 1), (n, count)."""

    @abstractmethod
    def contains(self, values: Values) -> np.ndarray:
        """Whether each scene can be drawn, as far as `names` are concerned; the shape of the values, bool.

        Raises:
            KeyError: a name has no values.
        """


class Choice(Distribution):
    """One value of a factor.

    Args:
        factor: what is chosen.
        values: which values are possible; all by default.
        weights: how likely each is, relative to the others; equally by default.

    Raises:
        ConfigError: no values, unknown ones, one twice, or weights that are not positive or not one for each.
    """

    def __init__(self, factor: Factor, values: Sequence[str] | None = None, weights: Sequence[float] | None = None) -> None:
        super().__init__((factor.name,), 1)
        chosen = factor.values if values is None else tuple(values)
        unknown = [value for value in chosen if value not in factor.values]
        problems = [f"{factor.name} has no value {value!r}; {nearest(value, factor.values)}" for value in unknown]
        if not chosen or len(set(chosen)) != len(chosen):
            problems.append(f"{factor.name}: expected at least one value and none twice, got {chosen}")
        problems += [f"{factor.name}: {problem}" for problem in _weight_problems(weights, len(chosen))]
        if problems:
            raise ConfigError(problems)
        self._codes, self._weights = np.array([factor.code(value) for value in chosen], np.int64), weights

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        return {self.names[0]: self._codes[_weighted(uniforms[:, 0], len(self._codes), self._weights)]}

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        return np.isin(values[self.names[0]], self._codes)


class Uniform(Distribution):
    """A number of a quantity, equally likely everywhere between two ends.

    Args:
        quantity: what is drawn.
        low: smallest value; the quantity's by default.
        high: end of the values, which is not drawn; the quantity's by default.

    Raises:
        ConfigError: ends that do not rise, or outside the quantity's bounds.
    """

    def __init__(self, quantity: Quantity, low: float | None = None, high: float | None = None) -> None:
        super().__init__((quantity.name,), 1)
        least, most = quantity.bounds
        self._low, self._high = least if low is None else low, most if high is None else high
        if not least <= self._low < self._high <= most:
            got = f"{self._low:g} and {self._high:g}"
            raise ConfigError(f"{quantity.name}: expected rising ends within {least:g} to {most:g}, got {got}")

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        drawn = self._low + uniforms[:, 0] * (self._high - self._low)
        return {self.names[0]: np.minimum(drawn, np.nextafter(self._high, self._low))}

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        found = values[self.names[0]]
        return np.asarray((found >= self._low) & (found < self._high))


class Product(Distribution):
    """Independent parts together.

    Raises:
        ConfigError: no parts, or a name in two of them.
    """

    def __init__(self, parts: Sequence[Distribution]) -> None:
        super().__init__([name for part in parts for name in part.names], sum(part.count for part in parts))
        if not parts or len(set(self.names)) != len(self.names):
            raise ConfigError(f"expected at least one part, and no name in two of them, got {', '.join(self.names)}")
        self._parts = tuple(parts)

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        ends = np.cumsum([part.count for part in self._parts])[:-1]
        drawn: dict[str, np.ndarray] = {}
        for part, numbers in zip(self._parts, np.split(uniforms, ends, axis=1), strict=True):
            drawn |= part.sample(numbers)
        return drawn

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        return np.asarray(np.logical_and.reduce([part.contains(values) for part in self._parts]))


class MixtureDistribution(Distribution):
    """One of several distributions of the same names.

    `weights` say how likely each is, relative to the others; equally by default.

    Raises:
        ConfigError: no parts, parts of different names, or weights that are not positive or not one for each.
    """

    def __init__(self, parts: Sequence[Distribution], weights: Sequence[float] | None = None) -> None:
        if not parts or len({frozenset(part.names) for part in parts}) > 1:
            raise ConfigError(f"expected parts that draw the same names, got {[part.names for part in parts]}")
        if problems := _weight_problems(weights, len(parts)):
            raise ConfigError(problems)
        super().__init__(parts[0].names, 1 + max(part.count for part in parts))
        self._parts, self._weights = tuple(parts), weights or (1.0,) * len(parts)

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        which = _weighted(uniforms[:, 0], len(self._parts), self._weights)
        drawn = self._parts[0].sample(uniforms[:, 1 : 1 + self._parts[0].count])
        for number, part in enumerate(self._parts[1:], 1):
            rows = np.flatnonzero(which == number)
            for name, values in part.sample(uniforms[rows, 1 : 1 + part.count]).items():
                drawn[name][rows] = values
        return drawn

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        return np.asarray(np.logical_or.reduce([part.contains(values) for part in self._parts]))


class Excluding(Distribution):
    """A distribution without a region, such as held-out combinations; what is left keeps its relative chances.

    A scene that falls into the region is drawn anew, from numbers that are a function of those it was drawn from.

    Raises:
        ConfigError: the region has names that `base` does not draw; on sampling, if it leaves almost nothing.
    """

    def __init__(self, base: Distribution, region: Distribution) -> None:
        super().__init__(base.names, base.count)
        if unknown := [name for name in region.names if name not in base.names]:
            raise ConfigError([f"the region names {name!r}, which is not drawn; {nearest(name, base.names)}" for name in unknown])
        self._base, self._region = base, region

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        drawn = self._base.sample(uniforms)
        rows = _rows_in(self._region.contains(drawn))
        numbers = np.ascontiguousarray(uniforms[rows]).view(np.uint64).sum(1, dtype=np.uint64) >> np.uint64(1)
        for attempt in range(_ATTEMPTS):
            if not len(rows):
                return drawn
            again = self._base.sample(seeds.uniforms(seeds.key(attempt, "excluding"), numbers, self.count))
            for name, values in again.items():
                drawn[name][rows] = values
            left = _rows_in(self._region.contains(again))
            rows, numbers = rows[left], numbers[left]
        raise ConfigError(f"the region holds out nearly everything: {len(rows)} scenes fell into it {_ATTEMPTS} times")

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        return np.asarray(self._base.contains(values) & ~self._region.contains(values))


class Entities(Distribution):
    """A number of objects a scene, each drawn independently of the others; values are (n, number).

    Raises:
        ConfigError: a number below 1.
    """

    def __init__(self, each: Distribution, number: int) -> None:
        super().__init__(each.names, number * each.count)
        if number < 1:
            raise ConfigError(f"expected at least 1 entity, got {number}")
        self._each, self._number = each, number

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        drawn = self._each.sample(uniforms.reshape(-1, self._each.count))
        return {name: values.reshape(-1, self._number) for name, values in drawn.items()}

    def contains(self, values: Values) -> np.ndarray:
        """Whether every object of each scene can be drawn, (n,) bool."""
        return np.asarray(self._each.contains(values).all(-1))


def _rows_in(region: np.ndarray) -> np.ndarray:
    """Scenes of which any part lies in a region."""
    return np.flatnonzero(region.reshape(len(region), -1).any(1))


def _weight_problems(weights: Sequence[float] | None, count: int) -> list[str]:
    right = weights is None or (len(weights) == count and all(weight > 0 for weight in weights))
    return [] if right else [f"expected {count} weights above 0, got {weights}"]


def _weighted(uniforms: np.ndarray, count: int, weights: Sequence[float] | None) -> np.ndarray:
    """Integers in range(count) of these chances, from numbers of [0, 1)."""
    if weights is None:
        return pick(uniforms, count)
    ends = np.cumsum(weights)
    return np.minimum(np.searchsorted(ends / ends[-1], uniforms, side="right"), count - 1)
