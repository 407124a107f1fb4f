"""The settings that every world in levels has, checked as a whole: every problem is told at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

from molyneux.core import ConfigError, Factor, nearest
from molyneux.data.worlds.choices import Choices
from molyneux.data.worlds.distributions import Combinations, Rule, rule_problems
from molyneux.data.worlds.levels import Levels
from molyneux.data.worlds.world import Split

MODALITIES = ("image", "text", "touch")


class Checked(Protocol):
    """Settings that know what is wrong with them."""

    def problems(self) -> list[str]:
        """One sentence for everything that is wrong."""


@dataclass(frozen=True)
class LevelSettings(ABC):
    """What the pictures and captions of a world in levels depend on; the world says what each setting means."""

    levels: ClassVar[Levels]
    """What the world tells at each level."""

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
        return [*problems, *self.noise.problems(), *_modality_problems(self.modalities)]

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
        return {**asdict(self), "modalities": list(self.modalities), "choices": self.choices.to_json(), "held_out": rules}


def _modality_problems(names: tuple[str, ...]) -> list[str]:
    problems = [f"unknown modality {name!r}; {nearest(name, MODALITIES)}" for name in names if name not in MODALITIES]
    if not names or len(set(names)) != len(names):
        problems.append(f"expected at least one modality and no repeats, got {list(names)}")
    return problems


def _plain(rule: Rule) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else list(value) for name, value in rule.items()}
