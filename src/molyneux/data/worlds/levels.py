"""Levels of difficulty: the attributes, captions and settings of worlds whose pictures show more from level to level.

A world supplies the names: its attributes (such as colours and sizes) are chosen by caption words, its templates say which
of them a caption of each level has, and a picture shows what a caption of its level says.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from molyneux.core import ConfigError, Factor, nearest
from molyneux.data.worlds.captions import is_phrase
from molyneux.data.worlds.combinations import Combinations, Rule, rule_problems

Level = Annotated[int, Field(ge=1, le=5)]
"""How much a picture and its caption show."""

Choice = Sequence[str] | Mapping[str, Any] | None
"""What a user chooses of an attribute: names among the known ones, or name -> own definition, or None for the default."""

Choices = Mapping[str, Mapping[str, Any]]
"""By setting, such as `colours`, the definition of each chosen value by its caption word."""

Colour = tuple[int, int, int]
MODALITIES = ("image", "text", "touch")

NOISE_LIMITS = {"shade": 255.0, "rotation": 180.0, "size": 0.5, "position": 1.0, "background": 255.0}
"""Largest noise by name; the smallest is 0."""


@dataclass(frozen=True)
class Attribute:
    """An attribute of scenes whose values a setting chooses.

    Args:
        factor: name of the factor.
        known: definitions by caption word.
        default: words to take if nothing was chosen.
        expected: what an own definition has to be, for messages.
        read: turns an own definition into a value; None if it cannot.
    """

    factor: str
    known: Mapping[str, Any]
    default: tuple[str, ...]
    expected: str
    read: Callable[[Any], Any]

    def choose(self, setting: str, choice: Choice) -> tuple[dict[str, Any], list[str]]:
        """The chosen values by caption word, and one sentence for everything that is wrong with them."""
        if choice is None:
            return {name: self.known[name] for name in self.default}, []
        names = (choice,) if isinstance(choice, str) else tuple(choice)
        problems = [] if names else [f"expected at least one of {setting}, got none"]
        if len(set(names)) != len(names):
            problems.append(f"expected {setting} that differ, got {', '.join(names)}")
        chosen = {}
        for name in names:
            value = self.read(choice[name]) if isinstance(choice, Mapping) else self.known.get(name)
            if not is_phrase(name):
                problems.append(f"expected {setting} named in letters a to z and single spaces, got {name!r}: rename it")
            elif value is not None:
                chosen[name] = value
            elif isinstance(choice, Mapping):
                problems.append(f"{setting}: cannot use {choice[name]!r} for {name!r}; expected {self.expected}")
            else:
                problems.append(f"{setting}: unknown {name!r}; {nearest(name, self.known)}")
        return chosen, problems


def colours(known: Mapping[str, Colour], *, black: bool) -> Attribute:
    """The attribute `colour`: any RGB can be chosen, black only where it can be drawn."""

    def read(value: Any) -> Colour | None:
        right = isinstance(value, Sequence) and len(value) == 3 and all(isinstance(v, int) and 0 <= v <= 255 for v in value)
        return (value[0], value[1], value[2]) if right and (black or any(value)) else None

    expected = "three whole numbers from 0 to 255" + ("" if black else ", not all 0")
    return Attribute("colour", known, tuple(known), expected, read)


def sizes(known: Mapping[str, float], default: Sequence[str], bounds: tuple[float, float], expected: str) -> Attribute:
    """The attribute `size`: any number within bounds can be chosen."""

    def read(value: Any) -> float | None:
        return float(value) if isinstance(value, int | float) and bounds[0] <= value <= bounds[1] else None

    return Attribute("size", known, tuple(default), expected, read)


def shapes(known: Sequence[str], default: Sequence[str], expected: str) -> Attribute:
    """The attribute `shape`: own words can be given to the known shapes."""
    words = {name: name for name in known}
    return Attribute("shape", words, tuple(default), expected, lambda value: value if value in known else None)


@dataclass(frozen=True)
class FigureAttributes:
    """The colours, sizes and shapes that figures have; None for the published ones.

    Args:
        colours: names among the published ones, or name -> RGB.
        sizes: names among the published ones, or name -> number in the unit of the world.
        shapes: names among those that the world can draw, or caption word -> one of them.
    """

    colours: Sequence[str] | Mapping[str, Sequence[int]] | None = None
    sizes: Sequence[str] | Mapping[str, float] | None = None
    shapes: Sequence[str] | Mapping[str, str] | None = None


@dataclass(frozen=True)
class Rendering:
    """How views are made of scenes; the defaults are as published.

    Args:
        anti_alias: smooth borders; published pictures have none.
        touch_noise: of the sensor, see `touch.contours`.
        threads: for making pictures; the bytes do not depend on it.
    """

    anti_alias: bool = False
    touch_noise: float = 0.02
    threads: int = 1


MOVED = {name: f"attributes.{name}" for name in ("colours", "sizes", "shapes")}
MOVED |= {name: f"rendering.{name}" for name in ("anti_alias", "touch_noise", "threads")}
"""Where the arguments are that worlds had before `FigureAttributes` and `Rendering`; see `core.tooling.moved`."""


@dataclass(frozen=True)
class LevelSettings(ABC):
    """What the pictures and captions of a world in levels depend on; the world says what each setting means."""

    templates: ClassVar[Mapping[int, str]]
    """Captions by level, from 1; a level's picture shows what its caption says."""

    attributes: ClassVar[Mapping[str, Attribute]]
    """By setting, the attributes whose values are chosen."""

    phrases: ClassVar[Mapping[str, tuple[str, ...]]]
    """By factor, the caption phrases of those whose values are always the same."""

    level: int
    caption_level: int
    image_size: int
    modalities: tuple[str, ...]
    choices: Choices
    held_out: tuple[Rule, ...] | str
    noise: object
    anti_alias: bool
    touch_noise: float

    @classmethod
    def choose(cls, chosen: FigureAttributes) -> tuple[Choices, list[str]]:
        """The chosen values by setting, and one sentence for everything that is wrong with them."""
        found = {setting: attribute.choose(setting, getattr(chosen, setting)) for setting, attribute in cls.attributes.items()}
        problems = [problem for _, wrong in found.values() for problem in wrong]
        return {setting: values for setting, (values, _) in found.items()}, problems

    def check(self, problems: Sequence[str], *, threads: int) -> None:
        """Raise ConfigError where `problems` are known, settings cannot be used, or `threads` is below 1."""
        found = [*problems, *self.problems()]
        if threads < 1:
            found.append(f"expected threads of at least 1, got {threads}")
        if found := found or self.held_out_problems():
            raise ConfigError(found)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The held-out combinations."""
        return self.held_out if isinstance(self.held_out, tuple) else ()

    def problems(self) -> list[str]:
        """One sentence for everything that is wrong, but for the held-out combinations."""
        last = max(self.templates)
        problems = [
            f"expected {name} from 1 to {last}, got {level!r}"
            for level, name in {self.caption_level: "caption_level", self.level: "level"}.items()
            if level not in self.templates
        ]
        if not 28 <= self.image_size <= 256:
            problems.append(f"expected an image_size from 28 to 256 pixels, got {self.image_size}")
        if not self.touch_noise >= 0:
            problems.append(f"expected touch_noise of at least 0, got {self.touch_noise}")
        problems += [
            f"expected noise.{name} from 0 to {NOISE_LIMITS[name]:g}, got {value}"
            for name, value in vars(self.noise).items()
            if name in NOISE_LIMITS and not 0.0 <= value <= NOISE_LIMITS[name]
        ]
        problems += [
            f"unknown modality {name!r}; {nearest(name, MODALITIES)}" for name in self.modalities if name not in MODALITIES
        ]
        if not self.modalities or len(set(self.modalities)) != len(self.modalities):
            problems.append(f"expected at least one modality and no repeats, got {list(self.modalities)}")
        return problems

    def held_out_problems(self) -> list[str]:
        """One sentence for everything that is wrong with the held-out combinations; the rest must be right."""
        problems = [problem for rule in self.rules for problem in rule_problems(rule, self.drawn)]
        if not problems and not len(self.combinations(held_out=False)):
            problems.append(f"held_out takes all {len(Combinations.every(self.drawn))} combinations: leave some to train on")
        return problems

    def names(self, level: int) -> tuple[str, ...]:
        """Names of the factors of a level, in the order in which its caption has them."""
        return tuple(place.strip("{}") for place in self.templates[level].split(" "))

    @property
    def drawn(self) -> tuple[Factor, ...]:
        """The factors that combinations are made of, those that the picture shows or the caption says, in a caption's order."""
        chosen = {attribute.factor: tuple(self.choices[setting]) for setting, attribute in self.attributes.items()}
        values = {**self.phrases, **chosen}
        return tuple(Factor(name, values[name]) for name in self.names(max(self.level, self.caption_level)))

    def combinations(self, *, held_out: bool) -> Combinations:
        """The held-out combinations, or the rest."""
        everything = Combinations.every(self.drawn)
        held = everything.matching(self.rules)
        return held if held_out else everything - held

    def to_json(self) -> dict[str, Any]:
        """Plain data, which determines every byte."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    """Mappings and rows as plain data."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
