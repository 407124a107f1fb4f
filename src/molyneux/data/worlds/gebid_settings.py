"""The settings of GeBiD, checked as a whole: every problem is told at once."""

from __future__ import annotations

from dataclasses import dataclass

from molyneux.core import nearest
from molyneux.data.worlds import gebid_attributes as attributes
from molyneux.data.worlds.attributes import read_rgb
from molyneux.data.worlds.choices import Option, Options
from molyneux.data.worlds.distributions import Rule
from molyneux.data.worlds.level_settings import LevelSettings
from molyneux.data.worlds.levels import Levels
from molyneux.data.worlds.noise import out_of_range

OPTIONS = Options(
    colours=Option(attributes.COLOURS, tuple(attributes.COLOURS), read_rgb),
    sizes=Option(attributes.LENGTHS, tuple(attributes.LENGTHS), attributes.read_length),
    shapes=Option({name: name for name in attributes.SHAPES}, attributes.SHAPES, attributes.read_shape),
)

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
        return out_of_range(self)


@dataclass(frozen=True)
class Settings(LevelSettings):
    """Everything that GeBiD pictures and captions depend on; `GeBiD` says what each setting means."""

    levels = Levels(attributes.TEMPLATES, tuple(attributes.QUADRANTS), tuple(attributes.BACKGROUNDS))

    noise: GeBiDNoise

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The held-out combinations; "restricted" holds out, of every shape, the colours that its published limits leave out."""
        if not isinstance(self.held_out, str):
            return self.held_out
        return tuple(
            {"shape": kept["shape"], "colour": [name for name in attributes.COLOURS if name not in kept["colour"]]}
            for kept in attributes.RESTRICTED
        )

    def held_out_problems(self) -> list[str]:
        """One sentence for everything that is wrong with the held-out combinations; the rest must be right."""
        if not isinstance(self.held_out, str):
            return super().held_out_problems()
        if self.held_out != RESTRICTED:
            return [f"unknown held_out {self.held_out!r}; {nearest(self.held_out, [RESTRICTED])}"]
        published = tuple(attributes.COLOURS), attributes.SHAPES
        if max(self.level, self.caption_level) < 3 or (tuple(self.choices.colours), tuple(self.choices.shapes)) != published:
            return ['held_out "restricted" is about the published shapes and colours: use level 3 or above and all of them']
        return []
