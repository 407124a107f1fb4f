"""The settings of CdSprites, checked as a whole: every problem is told at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from molyneux.core import Factor, StoreError, nearest
from molyneux.data.worlds import attributes, textures
from molyneux.data.worlds.attributes import choose
from molyneux.data.worlds.distributions import Combinations, Rule, rule_problems
from molyneux.data.worlds.dsprites import archive_digest, archive_problems
from molyneux.data.worlds.noise import Noise
from molyneux.data.worlds.world import Split

LEVELS = tuple(attributes.TEMPLATES)


@dataclass(frozen=True)
class Choices:
    """Attributes by caption word: RGB, scale, shape to draw."""

    colours: Mapping[str, tuple[int, int, int]]
    sizes: Mapping[str, float]
    shapes: Mapping[str, str]


@dataclass(frozen=True)
class Settings:
    """Everything that CdSprites pictures and captions depend on; `CdSprites` says what each setting means."""

    level: int
    caption_level: int
    image_size: int
    modalities: tuple[str, ...]
    choices: Choices
    held_out: tuple[Rule, ...]
    noise: Noise
    anti_alias: bool
    dark_background: str
    textures: str | None
    dsprites: Path | None
    touch_noise: float

    def problems(self) -> list[str]:
        """One sentence for everything that is wrong, but for the held-out combinations."""
        problems = [*self._range_problems(), *self.noise.problems()]
        if self.dsprites is not None:
            problems += archive_problems(self.dsprites) + self._sprite_problems()
        if self.textures not in (None, "procedural"):
            problems += _folder_problems(Path(str(self.textures)))
        return problems

    def held_out_problems(self) -> list[str]:
        """One sentence for everything that is wrong with the held-out combinations; the rest must be right."""
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
            "background": attributes.BACKGROUNDS,
        }
        return tuple(Factor(name, values[name]) for name in said(max(self.level, self.caption_level)))

    def combinations(self, split: Split) -> Combinations:
        """What a split draws from: `heldout` the held-out combinations, every other split the rest."""
        everything = Combinations.every(self.drawn)
        kept = everything.matching(self.held_out)
        return kept if split == "heldout" else everything - kept

    def to_json(self) -> dict[str, Any]:
        """Plain data; what stands in files is represented by digests, so the record determines every byte."""
        record: dict[str, Any] = {
            **asdict(self),
            "modalities": list(self.modalities),
            "choices": {
                "colours": {name: list(rgb) for name, rgb in self.choices.colours.items()},
                "sizes": dict(self.choices.sizes),
                "shapes": dict(self.choices.shapes),
            },
            "held_out": [
                {name: value if isinstance(value, str) else list(value) for name, value in r.items()} for r in self.held_out
            ],
            "dsprites": None if self.dsprites is None else archive_digest(self.dsprites),
        }
        if self.textures not in (None, "procedural"):
            record["textures"] = textures.folder_digest(Path(str(self.textures)))
        return record

    def _range_problems(self) -> list[str]:
        problems = [
            f"expected {name} from 1 to {LEVELS[-1]}, got {level!r}"
            for level, name in {self.caption_level: "caption_level", self.level: "level"}.items()
            if level not in LEVELS
        ]
        if not 28 <= self.image_size <= 256:
            problems.append(f"expected an image_size from 28 to 256 pixels, got {self.image_size}")
        if not self.touch_noise >= 0:
            problems.append(f"expected touch_noise of at least 0, got {self.touch_noise}")
        if self.dark_background not in ("clean", "published"):
            problems.append(
                f"unknown dark_background {self.dark_background!r}; {nearest(self.dark_background, ('clean', 'published'))}"
            )
        return problems

    def _sprite_problems(self) -> list[str]:
        """What the archive of sprites cannot do."""
        foreign = [name for name in self.choices.shapes.values() if name not in attributes.DEFAULT_SHAPES]
        odd = [scale for scale in self.choices.sizes.values() if round(scale * 10) != scale * 10 or not 0.5 <= scale <= 1.0]
        checks = {
            f"has the shapes square, ellipse and heart, not {', '.join(foreign)}": bool(foreign),
            f"has the scales 0.5, 0.6, ... 1.0, not {', '.join(map(str, odd))}": bool(odd),
            f"has pictures of 64 pixels: set image_size to 64, got {self.image_size}": self.image_size != 64,
            "has binary masks: leave anti_alias false": self.anti_alias,
            "has fixed sizes: leave noise.size at 0": self.noise.size > 0.0,
        }
        return [f"the dsprites archive {sentence}" for sentence, wrong in checks.items() if wrong]


def said(level: int) -> tuple[str, ...]:
    """Names of the factors of a level, in the order in which its caption says them."""
    return tuple(place.strip("{}") for place in attributes.TEMPLATES[level].split(" "))


def make_choices(
    colours: Sequence[str] | Mapping[str, Sequence[int]] | None,
    sizes: Sequence[str] | Mapping[str, float] | None,
    shapes: Sequence[str] | Mapping[str, str] | None,
) -> tuple[Choices, list[str]]:
    """The chosen attributes, and one sentence for everything that is wrong with them."""
    scales = attributes.SCALES | attributes.OTHER_SCALES
    drawable = {name: name for name in attributes.BOXES}
    chosen_colours, a = choose("colours", colours, attributes.COLOURS, tuple(attributes.COLOURS), attributes.read_colour)
    chosen_sizes, b = choose("sizes", sizes, scales, tuple(attributes.SCALES), attributes.read_scale)
    chosen_shapes, c = choose("shapes", shapes, drawable, attributes.DEFAULT_SHAPES, attributes.read_shape)
    return Choices(chosen_colours, chosen_sizes, chosen_shapes), [*a, *b, *c]


def _folder_problems(path: Path) -> list[str]:
    if not path.is_dir():
        return [f'expected textures to be "procedural", a folder of pictures, or null, got {str(path)!r}']
    try:
        textures.texture_files(path)
    except StoreError as error:
        return [str(error)]
    return []
