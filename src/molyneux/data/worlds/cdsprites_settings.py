"""The settings of CdSprites, checked as a whole: every problem is told at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from molyneux.core import StoreError, nearest
from molyneux.data.worlds import attributes, textures
from molyneux.data.worlds.choices import Option, Options
from molyneux.data.worlds.distributions import Rule
from molyneux.data.worlds.dsprites import archive_digest, archive_problems
from molyneux.data.worlds.level_settings import LevelSettings
from molyneux.data.worlds.levels import Levels
from molyneux.data.worlds.noise import Noise

OPTIONS = Options(
    colours=Option(attributes.COLOURS, tuple(attributes.COLOURS), attributes.read_colour),
    sizes=Option(attributes.SCALES | attributes.OTHER_SCALES, tuple(attributes.SCALES), attributes.read_scale),
    shapes=Option({name: name for name in attributes.BOXES}, attributes.DEFAULT_SHAPES, attributes.read_shape),
)

_BACKGROUNDS = ("clean", "published")


@dataclass(frozen=True)
class Settings(LevelSettings):
    """Everything that CdSprites pictures and captions depend on; `CdSprites` says what each setting means."""

    levels = Levels(attributes.TEMPLATES, tuple(attributes.QUADRANTS), attributes.BACKGROUNDS)

    held_out: tuple[Rule, ...]
    noise: Noise
    dark_background: str
    textures: str | None
    dsprites: Path | None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The held-out combinations."""
        return self.held_out

    def problems(self) -> list[str]:
        """One sentence for everything that is wrong, but for the held-out combinations."""
        problems = super().problems()
        if self.dark_background not in _BACKGROUNDS:
            problems.append(f"unknown dark_background {self.dark_background!r}; {nearest(self.dark_background, _BACKGROUNDS)}")
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


def _folder_problems(path: Path) -> list[str]:
    if not path.is_dir():
        return [f'expected textures to be "procedural", a folder of pictures, or null, got {str(path)!r}']
    try:
        textures.texture_files(path)
    except StoreError as error:
        return [str(error)]
    return []
