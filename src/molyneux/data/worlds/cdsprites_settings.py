"""What CdSprites is made of: the published attributes as data, and the settings, checked as a whole.

Source: the generator's configuration of CdSprites+ (Sejnova et al., "Benchmarking multimodal variational autoencoders:
CdSprites+ dataset and toolkit", 2023). Lengths are in pixels of the 64-pixel picture and were measured on dSprites (Matthey et
al., 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from molyneux.core import StoreError, nearest
from molyneux.data.worlds import textures
from molyneux.data.worlds.combinations import Rule
from molyneux.data.worlds.dsprites import DEFAULT_SHAPES, archive_digest, archive_problems
from molyneux.data.worlds.levels import Attribute, Colour, LevelSettings, Rendering, colours, shapes, sizes
from molyneux.data.worlds.raster import SHAPES

COLOURS: dict[str, Colour] = {
    "red": (192, 64, 0),
    "yellow": (228, 217, 111),
    "green": (10, 107, 60),
    "blue": (0, 127, 200),
    "pink": (255, 0, 255),
}
"""RGB by name: ratios, since every picture is stretched to full brightness."""

WHITE: Colour = (255, 255, 255)

SCALES = {"small": 0.5, "medium": 0.7, "big": 1.0}
"""Length of a sprite relative to the biggest, by name; `medium` is defined by the published generator and unused there."""

BOXES = {"square": 19.3, "ellipse": 25.5, "heart": 19.04} | dict.fromkeys(SHAPES[3:7], 22.0) | {"spiral": 26.0}
"""Size of every shape at scale 1 as `raster` defines it. CdSprites has the first three; any other can be chosen."""

STROKES = {"line": 11.0, "spiral": 1.0}
"""Thickness at scale 1."""

STEP = 1.03
"""Pixels between neighbouring positions; their middle is the middle of the picture."""

MIDDLE = tuple(range(5, 30))
"""Positions at levels 1 to 3, both axes."""

LOW = (1, 2, 3, 5, 6, 7, 8, 9)
"""Positions left or at the top at levels 4 and 5. Index 4 is missing in the published configuration and so in this version."""

HIGH = tuple(range(26, 32))
"""Positions right or at the bottom at levels 4 and 5."""

QUADRANTS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "at top left": (LOW, LOW),
    "at top right": (HIGH, LOW),
    "at bottom left": (LOW, HIGH),
    "at bottom right": (HIGH, HIGH),
}
"""Positions along x and y by caption phrase. The paper has quadrants at level 5 only; the generator, followed here, also at 4."""

BACKGROUNDS = ("on light", "on dark")

TEMPLATES = {
    1: "{shape}",
    2: "{size} {shape}",
    3: "{size} {colour} {shape}",
    4: "{size} {colour} {shape} {position}",
    5: "{size} {colour} {shape} {position} {background}",
}
"""Captions by level; a level's picture shows what its caption says."""


@dataclass(frozen=True)
class Noise:
    """Nuisance variation; the defaults are the published behaviour.

    Args:
        shade: largest change of each RGB channel of the colour as rendered, 0..255; published 0.
        rotation: largest turn away from upright in degrees, 0..180; published 180 (CdSprites).
        size: largest relative change of the size, 0..0.5; published 0.
        position: share of the published range of positions that is used, around its middle, 0..1; published 1.
        background: largest grey noise of each background pixel, 0..255; published 0.
    """

    shade: float = 0.0
    rotation: float = 180.0
    size: float = 0.0
    position: float = 1.0
    background: float = 0.0


@dataclass(frozen=True)
class SpriteRendering(Rendering):
    """How views are made of scenes; the defaults are as published.

    Args:
        anti_alias: smooth borders; published masks are binary.
        touch_noise: of the sensor, see `touch.contours`.
        threads: for making pictures; the bytes do not depend on it.
        dark_background: "clean" is a texture darkened to 0..55; "published" the overflow of the published code, a flat grey
            56 with bright speckles.
        textures: "procedural", or a folder of pictures, or null for flat colours.
        dsprites: the original archive of sprites to use in place of drawn ones. Its orientations and positions have the same
            numbers; the figures' geometry then describes them only approximately.
    """

    dark_background: Literal["clean", "published"] = "clean"
    textures: str | None = "procedural"
    dsprites: Path | None = None


_DARK = ("clean", "published")


@dataclass(frozen=True)
class CdSpritesSettings(LevelSettings):
    """Everything that CdSprites pictures and captions depend on; `CdSprites` says what each setting means."""

    templates = TEMPLATES
    attributes: ClassVar[Mapping[str, Attribute]] = {
        "colours": colours(COLOURS, black=False),
        "sizes": sizes(SCALES, ("small", "big"), (0.25, 1.25), "a number from 0.25 to 1.25, where 1 is the published big"),
        "shapes": shapes(SHAPES, DEFAULT_SHAPES, "the name of a shape that can be drawn"),
    }
    phrases: ClassVar[Mapping[str, tuple[str, ...]]] = {"position": tuple(QUADRANTS), "background": BACKGROUNDS}

    held_out: tuple[Rule, ...]
    noise: Noise
    dark_background: str
    textures: str | None
    dsprites: Path | None

    def problems(self) -> list[str]:
        """One sentence for everything that is wrong, but for the held-out combinations."""
        problems = super().problems()
        if self.dark_background not in _DARK:
            problems.append(f"unknown dark_background {self.dark_background!r}; {nearest(self.dark_background, _DARK)}")
        if self.dsprites is not None:
            problems += archive_problems(self.dsprites) + self._sprite_problems()
        if self.textures not in (None, "procedural"):
            problems += _folder_problems(Path(str(self.textures)))
        return problems

    def to_json(self) -> dict[str, Any]:
        """Plain data; what stands in files is represented by digests, so the record determines every byte."""
        record = super().to_json()
        record["dsprites"] = None if self.dsprites is None else archive_digest(self.dsprites)
        if self.textures not in (None, "procedural"):
            record["textures"] = textures.folder_digest(Path(str(self.textures)))
        return record

    def _sprite_problems(self) -> list[str]:
        """What the archive of sprites cannot do."""
        foreign = [name for name in self.choices["shapes"].values() if name not in DEFAULT_SHAPES]
        odd = [scale for scale in self.choices["sizes"].values() if round(scale * 10) != scale * 10 or not 0.5 <= scale <= 1.0]
        checks = {
            f"has the shapes square, ellipse and heart, not {', '.join(foreign)}": bool(foreign),
            f"has the scales 0.5, 0.6, ... 1.0, not {', '.join(map(str, odd))}": bool(odd),
            f"has pictures of 64 pixels: set image_size to 64, got {self.image_size}": self.image_size != 64,
            "has binary masks: leave anti_alias false": self.anti_alias,
            "has fixed sizes: leave noise.size at 0": self.noise.size > 0.0,
        }
        return [f"the dsprites archive {sentence}" for sentence, wrong in checks.items() if wrong]


def _folder_problems(path: Path) -> list[str]:
    if not path.is_dir():
        return [f'expected textures to be "procedural", a folder of pictures, or null, got {str(path)!r}']
    try:
        textures.texture_files(path)
    except StoreError as error:
        return [str(error)]
    return []
