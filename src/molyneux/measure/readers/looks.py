"""How worlds look, written down a second time from their papers: nothing here comes from the code of a world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from molyneux.measure.readers.shapes import SHAPES, SPRITES, Parts


@dataclass(frozen=True)
class LevelLook:
    """How a world looks at a level.

    Args:
        shapes: by name.
        lengths: of each shape at size 1, pixels.
        sizes: by name.
        wrong: ranges of sizes at least 17 % away from all of them.
        colours: RGB by name; empty where figures have none.
        grounds: range of grey by name.
        centres: range of the middle along x and y by name of the position, pixels.
        texture: whether figures and grounds have one.
        turned: whether figures are turned.
        ink: grey of figures without a colour.
    """

    shapes: Mapping[str, Parts]
    lengths: Mapping[str, float]
    sizes: Mapping[str, float]
    wrong: tuple[tuple[float, float], ...]
    colours: Mapping[str, tuple[int, int, int]]
    grounds: Mapping[str, tuple[int, int]]
    centres: Mapping[str, tuple[float, float, float, float]]
    texture: bool
    turned: bool
    ink: int = 255


def _cdsprites(level: int) -> LevelLook:
    """CdSprites+, with its published sizes and colours."""
    colours = {
        "red": (192, 64, 0),
        "yellow": (228, 217, 111),
        "green": (10, 107, 60),
        "blue": (0, 127, 200),
        "pink": (255, 0, 255),
    }
    low, high, middle = (17.5, 24.5), (43.0, 48.0), (21.5, 46.0)
    places = {"": (*middle, *middle)}
    if level >= 4:
        places = {"at top left": (*low, *low), "at top right": (*high, *low), "at bottom left": (*low, *high),
                  "at bottom right": (*high, *high)}  # fmt: skip
    return LevelLook(
        SPRITES,
        {"square": 19.3, "ellipse": 25.5, "heart": 19.04},
        {"small": 0.5, "big": 1.0} if level >= 2 else {"big": 1.0},
        ((0.3, 0.415), (0.6, 0.83), (1.17, 1.35)) if level >= 2 else ((0.6, 0.83), (1.17, 1.35)),
        colours if level >= 3 else {},
        {"on light": (125, 255), "on dark": (0, 55)} if level >= 5 else {"": (0, 0)},
        places,
        texture=level >= 3,
        turned=True,
    )


def _gebid(level: int) -> LevelLook:
    """GeBiD, with its published sizes and colours."""
    colours = {"yellow": (255, 255, 0), "red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "grey": (128, 128, 128),
               "brown": (105, 0, 0), "purple": (215, 0, 215), "teal": (0, 175, 175), "navy": (0, 0, 150), "orange": (255, 140, 0),
               "beige": (232, 211, 185), "pink": (255, 182, 193)}  # fmt: skip
    places = {"": (29.0, 37.0, 29.0, 37.0)}
    if level >= 5:
        low, high = (19.0, 22.0), (42.0, 46.0)
        places = {"at the top left": (*low, *low), "at the top right": (*high, *low), "at the bottom left": (*low, *high),
                  "at the bottom right": (*high, *high)}  # fmt: skip
    return LevelLook(
        SHAPES,
        dict.fromkeys(SHAPES, 30.5),
        {"small": 16.5 / 30.5, "large": 1.0} if level >= 2 else {"large": 1.0},
        ((0.3, 0.44), (0.65, 0.82), (1.18, 1.35)) if level >= 2 else ((0.65, 0.82), (1.18, 1.35)),
        colours if level >= 3 else {},
        {"on white": (255, 255), "on black": (0, 0)} if level >= 4 else {"": (255, 255)},
        places,
        texture=False,
        turned=False,
        ink=0,
    )


LOOKS: Mapping[str, Callable[[int], LevelLook]] = {"cdsprites-v1": _cdsprites, "gebid-v1": _gebid}
"""By name of the world with its version, its look at each level 1..5."""
