"""Distributions over what a scene is made of: they can draw, and they can say what they contain.

`Choice` and `Uniform` draw one factor or quantity, `Product` joins independent parts, `Mixture` takes one of several,
`Excluding` holds a region out, and `Entities` draws several objects for each scene. They nest, and nothing is enumerated: a
draw is a function of a fixed number of uniform numbers a scene. Values are arrays by name, (n,), or (n, entities) below
`Entities`: codes (int64) of a factor, numbers (float64) of a quantity. `combinations.Combinations` is the finite case.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from molyneux.core import ConfigError, Factor, Quantity, nearest, seeds

Values = Mapping[str, np.ndarray]
"""Values of scenes by the name of a factor or quantity."""


class Distribution(ABC):
    """Scenes at random."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the factors and quantities that it draws."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many uniform numbers a scene takes."""

    @abstractmethod
    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """The values of scenes (n,) by name, from numbers of [0, 1), (n, count)."""

    @abstractmethod
    def contains(self, values: Values) -> np.ndarray:
        """Whether each scene can be drawn, as far as `names` are concerned; the shape of the values, bool.

        Raises:
            KeyError: a name has no values.
        """


@dataclass(frozen=True)
class Choice(Distribution):
    """One value of a factor.

    Args:
        factor: what is chosen.
        values: which values are possible; all by default.
        weights: how likely each is, relative to the others; equally by default.

    Raises:
        ConfigError: no values, unknown ones, one twice, or weights that are not positive or not one for each.
    """

    factor: Factor
    values: tuple[str, ...] | None = None
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        chosen = self.factor.values if self.values is None else self.values
        problems = [
            f"{self.factor.name} has no value {value!r}; {nearest(value, self.factor.values)}"
            for value in chosen
            if value not in self.factor.values
        ]
        if not chosen or len(set(chosen)) != len(chosen):
            problems.append(f"{self.factor.name}: expected at least one value and none twice, got {chosen}")
        if self.weights is not None and (len(self.weights) != len(chosen) or not all(w > 0 for w in self.weights)):
            problems.append(f"{self.factor.name}: expected {len(chosen)} weights above 0, got {self.weights}")
        if problems:
            raise ConfigError(problems)

    @property
    def names(self) -> tuple[str, ...]:
        """The factor."""
        return (self.factor.name,)

    @property
    def count(self) -> int:
        """One."""
        return 1

    @cached_property
    def _codes(self) -> np.ndarray:
        values = self.factor.values if self.values is None else self.values
        return np.array([self.factor.code(value) for value in values], np.int64)

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        which = pick(uniforms[:, 0], len(self._codes)) if self.weights is None else _weighted(uniforms[:, 0], self.weights)
        return {self.factor.name: self._codes[which]}

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        return np.isin(values[self.factor.name], self._codes)


@dataclass(frozen=True)
class Uniform(Distribution):
    """A number of a quantity, equally likely everywhere between two ends.

    Args:
        quantity: what is drawn.
        low: smallest value; the quantity's by default.
        high: end of the values, which is not drawn; the quantity's by default.

    Raises:
        ConfigError: ends that do not rise, or outside the quantity's bounds.
    """

    quantity: Quantity
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        low, high = self.ends
        if not self.quantity.bounds[0] <= low < high <= self.quantity.bounds[1]:
            bounds = f"{self.quantity.bounds[0]:g} to {self.quantity.bounds[1]:g}"
            raise ConfigError(f"{self.quantity.name}: expected rising ends within {bounds}, got {low:g} and {high:g}")

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest value, and end of the values."""
        low, high = self.quantity.bounds
        return (low if self.low is None else self.low, high if self.high is None else self.high)

    @property
    def names(self) -> tuple[str, ...]:
        """The quantity."""
        return (self.quantity.name,)

    @property
    def count(self) -> int:
        """One."""
        return 1

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        low, high = self.ends
        return {self.quantity.name: np.minimum(low + uniforms[:, 0] * (high - low), np.nextafter(high, low))}

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        low, high = self.ends
        return np.asarray((values[self.quantity.name] >= low) & (values[self.quantity.name] < high))


@dataclass(frozen=True)
class Product(Distribution):
    """Independent parts together.

    Args:
        parts: at least one; their names differ.

    Raises:
        ConfigError: no parts, or a name in two of them.
    """

    parts: tuple[Distribution, ...]

    def __post_init__(self) -> None:
        if not self.parts or len(set(self.names)) != len(self.names):
            raise ConfigError(f"expected at least one part, and no name in two of them, got {', '.join(self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the parts."""
        return tuple(name for part in self.parts for name in part.names)

    @property
    def count(self) -> int:
        """Those of the parts together."""
        return sum(part.count for part in self.parts)

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        ends = np.cumsum([part.count for part in self.parts])[:-1]
        drawn: dict[str, np.ndarray] = {}
        for part, numbers in zip(self.parts, np.split(uniforms, ends, axis=1), strict=True):
            drawn |= part.sample(numbers)
        return drawn

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        return np.asarray(np.logical_and.reduce([part.contains(values) for part in self.parts]))


@dataclass(frozen=True)
class Mixture(Distribution):
    """One of several distributions of the same names.

    Args:
        parts: at least one.
        weights: how likely each is, relative to the others; equally by default.

    Raises:
        ConfigError: no parts, parts of different names, or weights that are not positive or not one for each.
    """

    parts: tuple[Distribution, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.parts or len({frozenset(part.names) for part in self.parts}) > 1:
            raise ConfigError(f"expected parts that draw the same names, got {[part.names for part in self.parts]}")
        if self.weights is not None and (len(self.weights) != len(self.parts) or not all(w > 0 for w in self.weights)):
            raise ConfigError(f"expected {len(self.parts)} weights above 0, got {self.weights}")

    @property
    def names(self) -> tuple[str, ...]:
        """Those of each part."""
        return self.parts[0].names

    @property
    def count(self) -> int:
        """One for the choice, and as many as the part that takes most."""
        return 1 + max(part.count for part in self.parts)

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        which = _weighted(uniforms[:, 0], self.weights or (1.0,) * len(self.parts))
        drawn = self.parts[0].sample(uniforms[:, 1 : 1 + self.parts[0].count])
        for number, part in enumerate(self.parts[1:], 1):
            rows = np.flatnonzero(which == number)
            for name, values in part.sample(uniforms[rows, 1 : 1 + part.count]).items():
                drawn[name][rows] = values
        return drawn

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        return np.asarray(np.logical_or.reduce([part.contains(values) for part in self.parts]))


@dataclass(frozen=True)
class Excluding(Distribution):
    """A distribution without a region, such as held-out combinations; what is left keeps its relative chances.

    A scene that falls into the region is drawn anew, from numbers that are a function of those it was drawn from.

    Args:
        base: what is drawn from.
        region: what is held out; its names are among those of `base`.

    Raises:
        ConfigError: the region has names that `base` does not draw; on sampling, if it leaves almost nothing.
    """

    base: Distribution
    region: Distribution

    def __post_init__(self) -> None:
        if unknown := [name for name in self.region.names if name not in self.base.names]:
            raise ConfigError(
                [f"the region names {name!r}, which is not drawn; {nearest(name, self.base.names)}" for name in unknown]
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the base."""
        return self.base.names

    @property
    def count(self) -> int:
        """Those of the base."""
        return self.base.count

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        drawn = self.base.sample(uniforms)
        rows = _rows_in(self.region.contains(drawn))
        numbers = np.ascontiguousarray(uniforms[rows]).view(np.uint64).sum(1, dtype=np.uint64) >> np.uint64(1)
        for attempt in range(_ATTEMPTS):
            if not len(rows):
                return drawn
            again = self.base.sample(seeds.uniforms(seeds.key(attempt, "excluding"), numbers, self.count))
            for name, values in again.items():
                drawn[name][rows] = values
            left = _rows_in(self.region.contains(again))
            rows, numbers = rows[left], numbers[left]
        raise ConfigError(f"the region holds out nearly everything: {len(rows)} scenes fell into it {_ATTEMPTS} times")

    def contains(self, values: Values) -> np.ndarray:
        """See `Distribution.contains`."""
        return np.asarray(self.base.contains(values) & ~self.region.contains(values))


@dataclass(frozen=True)
class Entities(Distribution):
    """Several objects a scene, drawn independently; values are (n, number).

    Args:
        each: what each object is drawn from.
        number: how many there are.

    Raises:
        ConfigError: a number below 1.
    """

    each: Distribution
    number: int

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ConfigError(f"expected at least 1 entity, got {self.number}")

    @property
    def names(self) -> tuple[str, ...]:
        """Those of an object."""
        return self.each.names

    @property
    def count(self) -> int:
        """Those of all objects."""
        return self.number * self.each.count

    def sample(self, uniforms: np.ndarray) -> dict[str, np.ndarray]:
        """See `Distribution.sample`."""
        drawn = self.each.sample(uniforms.reshape(-1, self.each.count))
        return {name: values.reshape(-1, self.number) for name, values in drawn.items()}

    def contains(self, values: Values) -> np.ndarray:
        """Whether every object of each scene can be drawn, (n,) bool."""
        return np.asarray(self.each.contains(values).all(-1))


_ATTEMPTS = 1000
"""How often a scene is drawn anew before a held-out region is refused."""


def _rows_in(region: np.ndarray) -> np.ndarray:
    """Scenes of which any part lies in a region."""
    return np.flatnonzero(region.reshape(len(region), -1).any(1))


def _weighted(uniforms: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Integers of these chances, from numbers of [0, 1)."""
    ends = np.cumsum(weights)
    return np.minimum(np.searchsorted(ends / ends[-1], uniforms, side="right"), len(ends) - 1)


def pick(uniforms: np.ndarray, count: int) -> np.ndarray:
    """Equally likely integers in range(count), int64, from numbers of [0, 1)."""
    return (uniforms * count).astype(np.int64)
