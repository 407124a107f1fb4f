"""The choice of a world's attributes: which colours, sizes and shapes there are, by the words that captions have for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from molyneux.core import nearest
from molyneux.data.worlds.attributes import Colour
from molyneux.data.worlds.grammar import ALPHABET

T = TypeVar("T")


@dataclass(frozen=True)
class Choices:
    """Attributes by caption word.

    Args:
        colours: RGB, 0..255.
        sizes: in the world's own measure.
        shapes: the shape to draw.
    """

    colours: Mapping[str, Colour]
    sizes: Mapping[str, float]
    shapes: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        colours = {name: list(rgb) for name, rgb in self.colours.items()}
        return {"colours": colours, "sizes": dict(self.sizes), "shapes": dict(self.shapes)}


@dataclass(frozen=True)
class Option(Generic[T]):
    """What one setting chooses among.

    Args:
        known: definitions by name.
        default: names to take if nothing was chosen.
        read: turns an own definition into a value; None if it cannot. Its docstring says what it expects.
    """

    known: Mapping[str, T]
    default: tuple[str, ...]
    read: Callable[[Any], T | None]

    def choose(self, what: str, choice: Sequence[str] | Mapping[str, Any] | None) -> tuple[dict[str, T], list[str]]:
        """A choice among known values, or own ones, and what is wrong with it.

        Args:
            what: the setting's name, for the messages.
            choice: names among `known`, or name -> own definition, or None for the default.
        """
        if choice is None:
            return {name: self.known[name] for name in self.default}, []
        names = (choice,) if isinstance(choice, str) else tuple(choice)
        problems = [] if names else [f"expected at least one of {what}, got none"]
        if len(set(names)) != len(names):
            problems.append(f"expected {what} that differ, got {', '.join(names)}")
        chosen: dict[str, T] = {}
        for name in names:
            value = self.read(choice[name]) if isinstance(choice, Mapping) else self.known.get(name)
            if value is not None and _sayable(name):
                chosen[name] = value
            elif not _sayable(name):
                problems.append(f"expected {what} named in letters a to z and single spaces, got {name!r}: rename it")
            elif isinstance(choice, Mapping):
                expected = str(self.read.__doc__).lower().rstrip(".")
                problems.append(f"{what}: cannot use {choice[name]!r} for {name!r}; expected {expected}")
            else:
                problems.append(f"{what}: unknown {name!r}; {nearest(name, self.known)}")
        return chosen, problems


@dataclass(frozen=True)
class Options:
    """What a world's colours, sizes and shapes are chosen among."""

    colours: Option[Colour]
    sizes: Option[float]
    shapes: Option[str]

    def choose(
        self,
        colours: Sequence[str] | Mapping[str, Sequence[int]] | None,
        sizes: Sequence[str] | Mapping[str, float] | None,
        shapes: Sequence[str] | Mapping[str, str] | None,
    ) -> tuple[Choices, list[str]]:
        """The chosen attributes, and one sentence for everything that is wrong with them."""
        chosen_colours, a = self.colours.choose("colours", colours)
        chosen_sizes, b = self.sizes.choose("sizes", sizes)
        chosen_shapes, c = self.shapes.choose("shapes", shapes)
        return Choices(chosen_colours, chosen_sizes, chosen_shapes), [*a, *b, *c]


def _sayable(name: str) -> bool:
    return bool(name) and all(symbol in ALPHABET for symbol in name) and all(name.split(" "))
