"""Levels of difficulty: the attributes, captions and settings of worlds whose pictures show more from level to level.

A world supplies the names: its attributes (such as colours and sizes) are chosen by caption words, its templates say which
of them a caption of each level has, and a picture shows what a caption of its level says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from molyneux.core import ConfigError, Factor, nearest
from molyneux.data.dataset import SPLITS, Split
from molyneux.data.worlds.combinations import Combinations, Rule, rule_problems
from molyneux.data.worlds.grammar import ALPHABET, Grammar
from molyneux.data.worlds.scenes import Scenes

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
Choice = Sequence[str] | Mapping[str, Any] | None
"""What a user chooses of an attribute: names among the known ones, or name -> own definition, or None for the default."""

Choices = Mapping[str, Mapping[str, Any]]
"""By setting, such as `colours`, the definition of each chosen value by its caption word."""

MODALITIES = ("image", "text", "touch")

NOISE_LIMITS = {"shade": 255.0, "rotation": 180.0, "size": 0.5, "position": 1.0, "background": 255.0}
"""Largest noise by name; the smallest is 0."""


@dataclass(frozen=True)
class Attribute(Generic[T]):
    """An attribute of scenes whose values a setting chooses.

    Args:
        factor: name of the factor.
        known: definitions by caption word.
        default: words to take if nothing was chosen.
        read: turns an own definition into a value; None if it cannot. Its docstring says what it expects.
    """

    factor: str
    known: Mapping[str, T]
    default: tuple[str, ...]
    read: Callable[[Any], T | None]

    def choose(self, setting: str, choice: Choice) -> tuple[dict[str, T], list[str]]:
        """The chosen values by caption word, and one sentence for everything that is wrong with them."""
        if choice is None:
            return {name: self.known[name] for name in self.default}, []
        names = (choice,) if isinstance(choice, str) else tuple(choice)
        problems = [] if names else [f"expected at least one of {setting}, got none"]
        if len(set(names)) != len(names):
            problems.append(f"expected {setting} that differ, got {', '.join(names)}")
        chosen: dict[str, T] = {}
        for name in names:
            value = self.read(choice[name]) if isinstance(choice, Mapping) else self.known.get(name)
            if not _is_caption(name):
                problems.append(f"expected {setting} named in letters a to z and single spaces, got {name!r}: rename it")
            elif value is not None:
                chosen[name] = value
            elif isinstance(choice, Mapping):
                expected = str(self.read.__doc__).lower().rstrip(".")
                problems.append(f"{setting}: cannot use {choice[name]!r} for {name!r}; expected {expected}")
            else:
                problems.append(f"{setting}: unknown {name!r}; {nearest(name, self.known)}")
        return chosen, problems


def choose(attributes: Mapping[str, Attribute[Any]], choices: Mapping[str, Choice]) -> tuple[Choices, list[str]]:
    """The chosen attributes by setting, and one sentence for everything that is wrong with them."""
    found = {setting: attribute.choose(setting, choices[setting]) for setting, attribute in attributes.items()}
    problems = [problem for _, wrong in found.values() for problem in wrong]
    return {setting: chosen for setting, (chosen, _) in found.items()}, problems


def _is_caption(name: str) -> bool:
    return bool(name) and all(symbol in ALPHABET for symbol in name) and all(name.split(" "))


@dataclass(frozen=True)
class Levels:
    """What a world shows and says by level.

    Args:
        templates: captions by level, from 1.
        attributes: by setting, those whose values are chosen.
        phrases: by factor, the caption phrases of those whose values are always the same.
    """

    templates: Mapping[int, str]
    attributes: Mapping[str, Attribute[Any]]
    phrases: Mapping[str, tuple[str, ...]]

    def names(self, level: int) -> tuple[str, ...]:
        """Names of the factors of a level, in the order in which its caption has them."""
        return tuple(place.strip("{}") for place in self.templates[level].split(" "))

    def factors(self, level: int, choices: Choices) -> tuple[Factor, ...]:
        """The factors of a level, in the order in which its caption has them."""
        values = {**self.phrases, **{item.factor: tuple(choices[setting]) for setting, item in self.attributes.items()}}
        return tuple(Factor(name, values[name]) for name in self.names(level))


class Checked(Protocol):
    """Settings that know what is wrong with them."""

    def problems(self) -> list[str]:
        """One sentence for everything that is wrong."""


def noise_problems(noise: DataclassInstance) -> list[str]:
    """One sentence for each field of `NOISE_LIMITS` that is out of its range."""
    return [
        f"expected noise.{name} from 0 to {NOISE_LIMITS[name]:g}, got {getattr(noise, name)}"
        for name in (field.name for field in fields(noise) if field.name in NOISE_LIMITS)
        if not 0.0 <= getattr(noise, name) <= NOISE_LIMITS[name]
    ]


@dataclass(frozen=True)
class LevelSettings(ABC):
    """What the pictures and captions of a world in levels depend on; the world says what each setting means."""

    levels: ClassVar[Levels]
    """What the world shows and says at each level."""

    level: int
    caption_level: int
    image_size: int
    modalities: tuple[str, ...]
    choices: Choices
    held_out: tuple[Rule, ...] | str
    noise: Checked
    anti_alias: bool
    touch_noise: float

    @property
    @abstractmethod
    def rules(self) -> tuple[Rule, ...]:
        """What `held_out` means."""

    def check(self, problems: Sequence[str], *, threads: int) -> None:
        """Refuse what cannot be used.

        Args:
            problems: what is already known to be wrong.
            threads: for making pictures, which is no setting: nothing depends on it.

        Raises:
            ConfigError: anything is wrong; all problems at once, those of held-out combinations once the rest is right.
        """
        found = [*problems, *self.problems()]
        if threads < 1:
            found.append(f"expected threads of at least 1, got {threads}")
        if found := found or self.held_out_problems():
            raise ConfigError(found)

    def problems(self) -> list[str]:
        """One sentence for everything that is wrong, but for the held-out combinations."""
        last = max(self.levels.templates)
        problems = [
            f"expected {name} from 1 to {last}, got {level!r}"
            for level, name in {self.caption_level: "caption_level", self.level: "level"}.items()
            if level not in self.levels.templates
        ]
        if not 28 <= self.image_size <= 256:
            problems.append(f"expected an image_size from 28 to 256 pixels, got {self.image_size}")
        if not self.touch_noise >= 0:
            problems.append(f"expected touch_noise of at least 0, got {self.touch_noise}")
        problems += self.noise.problems()
        problems += [
            f"unknown modality {name!r}; {nearest(name, MODALITIES)}" for name in self.modalities if name not in MODALITIES
        ]
        if not self.modalities or len(set(self.modalities)) != len(self.modalities):
            problems.append(f"expected at least one modality and no repeats, got {list(self.modalities)}")
        return problems

    def held_out_problems(self) -> list[str]:
        """One sentence for everything that is wrong with the held-out combinations; the rest must be right."""
        problems = [problem for rule in self.rules for problem in rule_problems(rule, self.drawn)]
        if not problems and not len(self.combinations("train")):
            problems.append(f"held_out takes all {len(Combinations.every(self.drawn))} combinations: leave some to train on")
        return problems

    @property
    def drawn(self) -> tuple[Factor, ...]:
        """The factors that combinations are made of: those that the picture shows or the caption says."""
        return self.levels.factors(max(self.level, self.caption_level), self.choices)

    def combinations(self, split: Split) -> Combinations:
        """What a split draws from: `heldout` the held-out combinations, every other split the rest."""
        everything = Combinations.every(self.drawn)
        held = everything.matching(self.rules)
        return held if split == "heldout" else everything - held

    def to_json(self) -> dict[str, Any]:
        """Plain data, which determines every byte."""
        rules = self.held_out if isinstance(self.held_out, str) else [_plain(rule) for rule in self.held_out]
        return {**asdict(self), "modalities": list(self.modalities), "choices": _plain(self.choices), "held_out": rules}


def _plain(value: Any) -> Any:
    """Mappings and rows as plain data."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


class SceneSpace:
    """The scenes that a world in levels can have, and their captions.

    Args:
        settings: of the world, checked.
        nuisances: factors that no caption says; they come last.

    Attributes:
        factors: in the order of `Scenes.factors`.
        grammar: every caption.
        combinations: what each split that has any draws from, over the factors before the nuisances.

    Raises:
        ConfigError: two combinations have the same caption.
    """

    def __init__(self, settings: LevelSettings, nuisances: tuple[Factor, ...]) -> None:
        self.factors = (*settings.drawn, *nuisances)
        self.grammar = Grammar(settings.levels.templates[settings.caption_level], settings.drawn)
        held_out: tuple[Split, ...] = ("heldout",) if settings.rules else ()
        combinations = {split: settings.combinations(split) for split in (*SPLITS, *held_out)}
        self.combinations = {split: some for split, some in combinations.items() if len(some)}
        self._columns = {factor.name: column for column, factor in enumerate(self.factors)}

    def codes(self, factors: np.ndarray, name: str) -> np.ndarray:
        """Codes (n,) int64 of one factor, from those of all (n, F) or of all but the nuisances."""
        return np.ascontiguousarray(factors[:, self._columns[name]])

    def captions(self, scenes: Scenes) -> np.ndarray:
        """Caption ids (n, length) uint8."""
        return self.grammar.write(scenes.factors[:, [self._columns[name] for name in self.grammar.names]])
