"""The settings of GeBiD, checked as a whole: every problem is told at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from molyneux.core import Factor, nearest
from molyneux.data.worlds import gebid_attributes as attributes
from molyneux.data.worlds.attributes import choose
from molyneux.data.worlds.distributions import Combinations, Rule, rule_problems
from molyneux.data.worlds.world import Split

LEVELS = tuple(attributes.TEMPLATES)
RESTRICTED = "restricted"


@dataclass(frozen=True)
class GeBiDNoise:
    """Nuisance variation that captions do not say; the defaults are the published behaviour.

    Args:
        colour: vary the colour as the published option `--noisycol` does: a channel of 255 loses 0..60, one of 0 gains 0..60,
            any other changes by -30..29 (clipped to 0..255, which the published code leaves out). Level 3 and up.
        rotation: largest turn in degrees, 0..180.
        size: largest relative change of the size, 0..0.5.
        position: share of the published range of positions that is used, around its middle, 0..1.
        background: largest grey noise of each background pixel, 0..255.
    """

    colour: bool = False
    rotation: float = 0.0
    size: float = 0.0
    position: float = 1.0
    background: float = 0.0

    def problems(self) -> list[str]:
        """One sentence for each setting out of range."""
        limits = {"rotation": 180.0, "size": 0.5, "position": 1.0, "background": 255.0}
        return [
            f"expected noise.{name} from 0 to {limit:g}, got {getattr(self, name)}"
            for name, limit in limits.items()
            if not 0.0 <= getattr(self, name) <= limit
        ]


@dataclass(frozen=True)
class Choices:
    """Attributes by caption word: RGB, length, shape to draw."""

    colours: Mapping[str, tuple[int, int, int]]
    sizes: Mapping[str, float]
    shapes: Mapping[str, str]


@dataclass(frozen=True)
class Settings:
    """Everything that GeBiD pictures and captions depend on; `GeBiD` says what each setting means."""

    level: int
    caption_level: int
    image_size: int
    modalities: tuple[str, ...]
    choices: Choices
    held_out: tuple[Rule, ...] | str
    noise: GeBiDNoise
    anti_alias: bool
    touch_noise: float

    def problems(self) -> list[str]:
        """One sentence for everything that is wrong, but for the held-out combinations."""
        problems = [
            f"expected {name} from 1 to {LEVELS[-1]}, got {level!r}"
            for level, name in {self.caption_level: "caption_level", self.level: "level"}.items()
            if level not in LEVELS
        ]
        if not 28 <= self.image_size <= 256:
            problems.append(f"expected an image_size from 28 to 256 pixels, got {self.image_size}")
        if not self.touch_noise >= 0:
            problems.append(f"expected touch_noise of at least 0, got {self.touch_noise}")
        return problems + self.noise.problems()

    def held_out_problems(self) -> list[str]:
        """One sentence for everything that is wrong with the held-out combinations; the rest must be right."""
        if isinstance(self.held_out, str) and self.held_out != RESTRICTED:
            return [f"unknown held_out {self.held_out!r}; {nearest(self.held_out, [RESTRICTED])}"]
        if isinstance(self.held_out, str):
            published = tuple(attributes.COLOURS), attributes.SHAPES
            if max(self.level, self.caption_level) < 3 or (tuple(self.choices.colours), tuple(self.choices.shapes)) != published:
                return ['held_out "restricted" is about the published shapes and colours: use level 3 or above and all of them']
            return []
        problems = [problem for rule in self.held_out for problem in rule_problems(rule, self.drawn)]
        if not problems and not len(self.combinations("train")):
            problems.append(f"held_out takes all {len(Combinations.every(self.drawn))} combinations: leave some to train on")
        return problems

    @property
    def drawn(self) -> tuple[Factor, ...]:
        """The factors that combinations are made of: those that the picture shows or the caption says."""
        values = {
            "size": tuple(self.choices.sizes),
            "colour": tuple(self.choices.colours),
            "shape": tuple(self.choices.shapes),
            "position": tuple(attributes.QUADRANTS),
            "background": tuple(attributes.BACKGROUNDS),
        }
        return tuple(Factor(name, values[name]) for name in said(max(self.level, self.caption_level)))

    def combinations(self, split: Split) -> Combinations:
        """What a split draws from: `heldout` the held-out combinations, every other split the rest."""
        everything = Combinations.every(self.drawn)
        if isinstance(self.held_out, str):
            kept = everything - everything.matching(attributes.RESTRICTED)
        else:
            kept = everything.matching(self.held_out)
        return kept if split == "heldout" else everything - kept

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        rules = self.held_out if isinstance(self.held_out, str) else [_plain(rule) for rule in self.held_out]
        choices = {
            "colours": {name: list(rgb) for name, rgb in self.choices.colours.items()},
            "sizes": dict(self.choices.sizes),
            "shapes": dict(self.choices.shapes),
        }
        return {**asdict(self), "modalities": list(self.modalities), "choices": choices, "held_out": rules}


def said(level: int) -> tuple[str, ...]:
    """Names of the factors of a level, in the order in which its caption says them."""
    return tuple(place.strip("{}") for place in attributes.TEMPLATES[level].split(" "))


def make_choices(
    colours: Sequence[str] | Mapping[str, Sequence[int]] | None,
    sizes: Sequence[str] | Mapping[str, float] | None,
    shapes: Sequence[str] | Mapping[str, str] | None,
) -> tuple[Choices, list[str]]:
    """The chosen attributes, and one sentence for everything that is wrong with them."""
    drawable = {name: name for name in attributes.SHAPES}
    chosen_colours, a = choose("colours", colours, attributes.COLOURS, tuple(attributes.COLOURS), attributes.read_colour)
    chosen_sizes, b = choose("sizes", sizes, attributes.LENGTHS, tuple(attributes.LENGTHS), attributes.read_length)
    chosen_shapes, c = choose("shapes", shapes, drawable, attributes.SHAPES, attributes.read_shape)
    return Choices(chosen_colours, chosen_sizes, chosen_shapes), [*a, *b, *c]


def _plain(rule: Rule) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else list(value) for name, value in rule.items()}
