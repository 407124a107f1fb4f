"""What GeBiD is made of: the published attributes and geometry as data, and the settings, checked as a whole.

Source: the generator of GeBiD (Sejnova et al., "Benchmarking Multimodal Variational Autoencoders: GeBiD Dataset and Toolkit",
2022; the version of August 2022). Lengths are in pixels of the 64-pixel picture; L is the length of a size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from molyneux.core import nearest
from molyneux.data.worlds.cdsprites_settings import TEMPLATES as CDSPRITES_TEMPLATES
from molyneux.data.worlds.combinations import Rule
from molyneux.data.worlds.levels import Attribute, Colour, LevelSettings, colours, shapes, sizes

COLOURS: dict[str, Colour] = {
    "yellow": (255, 255, 0),
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "grey": (128, 128, 128),
    "brown": (105, 0, 0),
    "purple": (215, 0, 215),
    "teal": (0, 175, 175),
    "navy": (0, 0, 150),
    "orange": (255, 140, 0),
    "beige": (232, 211, 185),
    "pink": (255, 182, 193),
}
"""RGB as it is drawn, by name."""

BLACK: Colour = (0, 0, 0)

LENGTHS = {"small": 16.0, "large": 30.0}
"""L by name."""

CORNERS: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "line": ((23, 22), (18, 18)),
    "circle": ((23, 23), (17, 19)),
    "square": ((23, 23), (17, 17)),
    "semicircle": ((25, 24), (20, 17)),
    "pieslice": ((23, 23), (16, 16)),
    "spiral": ((32, 32), (32, 32)),
}
"""Where a shape is drawn below level 5, small and large: x and y of the top left corner of its box; of the pole of a spiral."""

SHAPES = tuple(CORNERS)

SHIFT = 3
"""Largest shift of a corner along each axis below level 5; the spiral stays where it is."""

RANGE = 6
"""Positions along each axis of a quadrant."""

LOW, HIGH = 5, 30
"""First position left or at the top, and right or at the bottom."""

QUADRANTS: dict[str, tuple[int, int]] = {
    "at the top left": (LOW, LOW),
    "at the top right": (HIGH, LOW),
    "at the bottom left": (LOW, HIGH),
    "at the bottom right": (HIGH, HIGH),
}
"""First x and y by caption phrase, at level 5."""

BACKGROUNDS = {"on white": 255, "on black": 0}
"""Grey by caption phrase."""

GROWTH = (0.3, 0.6)
"""s of the spiral r = s + s theta, small and large."""

TEMPLATES = CDSPRITES_TEMPLATES | {4: "{size} {colour} {shape} {background}"}
"""Captions by level, those of CdSprites but for the fourth."""

RESTRICTED: tuple[dict[str, Any], ...] = (
    {"shape": "line", "colour": ("yellow", "red", "green")},
    {"shape": "circle", "colour": ("blue", "grey", "brown")},
    {"shape": "square", "colour": ("purple", "teal", "navy")},
    {"shape": "semicircle", "colour": ("orange", "beige", "pink")},
    {"shape": "pieslice", "colour": ("teal", "green", "navy")},
    {"shape": "spiral", "colour": ("yellow", "orange", "brown")},
)
"""The published limits of attributes for generalisation: 18 of 72 pairs of shape and colour."""

_RESTRICTED = "restricted"


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


@dataclass(frozen=True)
class GeBiDSettings(LevelSettings):
    """Everything that GeBiD pictures and captions depend on; `GeBiD` says what each setting means."""

    templates = TEMPLATES
    attributes: ClassVar[Mapping[str, Attribute]] = {
        "colours": colours(COLOURS, black=True),
        "sizes": sizes(LENGTHS, tuple(LENGTHS), (10, 36), "a number of pixels from 10 to 36, where 30 is the published large"),
        "shapes": shapes(SHAPES, SHAPES, "the name of one of the six shapes"),
    }
    phrases: ClassVar[Mapping[str, tuple[str, ...]]] = {"position": tuple(QUADRANTS), "background": tuple(BACKGROUNDS)}

    noise: GeBiDNoise

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The held-out combinations; "restricted" holds out, of every shape, the colours that its published limits leave out."""
        if not isinstance(self.held_out, str):
            return super().rules
        return tuple(
            {"shape": kept["shape"], "colour": [name for name in COLOURS if name not in kept["colour"]]} for kept in RESTRICTED
        )

    def held_out_problems(self) -> list[str]:
        """One sentence for everything that is wrong with the held-out combinations; the rest must be right."""
        if not isinstance(self.held_out, str):
            return super().held_out_problems()
        if self.held_out != _RESTRICTED:
            return [f"unknown held_out {self.held_out!r}; {nearest(self.held_out, [_RESTRICTED])}"]
        chosen = tuple(self.choices["colours"]), tuple(self.choices["shapes"])
        if max(self.level, self.caption_level) < 3 or chosen != (tuple(COLOURS), SHAPES):
            return ['held_out "restricted" is about the published shapes and colours: use level 3 or above and all of them']
        return []
