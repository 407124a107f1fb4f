"""Draws scenes of one figure on a ground, as a world looks at a level, with nothing of the world's own code."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from molyneux.core.errors import SpecError, nearest
from molyneux.measure.readers.looks import LOOKS
from molyneux.measure.readers.shapes import ANGULAR, FOREIGN, LIKE, NEAR, Parts, arc, area_of

SIDE, FINE = 64, 4
"""Side of a picture in pixels, and how many times finer it is drawn."""
FACTORS = ("shape", "size", "colour", "position", "background")
"""What a scene may show."""


@dataclass(frozen=True)
class Scene:
    """One figure; the name of a factor is empty where the level has none of it.

    Args:
        x, y: of its middle, in pixels from the top left corner.
        turn: in degrees clockwise.
    """

    shape: str
    size: str
    position: str
    background: str
    colour: str
    x: float
    y: float
    turn: float

    def moved(self, x: float, y: float) -> Scene:
        """The same elsewhere, so many pixels away."""
        return replace(self, x=self.x + x, y=self.y + y)


class Drawer:
    """Draws scenes, figures, and pictures of figures.

    Args:
        world: name of the world with its version, one of `looks.LOOKS`.
        level: of difficulty, 1..5.
        seed: of everything drawn.

    Raises:
        SpecError: there is no such world.
    """

    def __init__(self, world: str, level: int, *, seed: int) -> None:
        if world not in LOOKS:
            raise SpecError(f"no views are drawn of the world {world!r}; {nearest(world, LOOKS)}")
        self.look, self.rng = LOOKS[world](level), np.random.default_rng([seed, level, len(world)])
        self.foreign = {**FOREIGN, **(ANGULAR if "circle" not in self.look.shapes else {}), **NEAR}
        self.far = [name for name in self.foreign if name not in NEAR]
        """Names of shapes that resemble none of the world."""

    def scene(self) -> Scene:
        """A scene of the world."""
        look = self.look
        known = (look.shapes, look.sizes, look.centres, look.grounds)
        shape, size, position, background = (str(self.rng.choice(list(names))) for names in known)
        left, right, top, bottom = look.centres[position]
        colour = str(self.rng.choice(list(look.colours))) if look.colours else ""
        turn = float(self.rng.uniform(0, 360)) if look.turned else 0.0
        x, y = float(self.rng.uniform(left, right)), float(self.rng.uniform(top, bottom))
        return Scene(shape, size, position, background, colour, x, y, turn)

    def length(self, scene: Scene) -> float:
        """The length of a figure in pixels."""
        return self.look.lengths[scene.shape] * self.look.sizes[scene.size]

    def figure(self, scene: Scene, scale: float | None = None) -> np.ndarray:
        """The cover (SIDE, SIDE) of a true figure, in its own size or another `scale`; 1 is the largest of the world."""
        scale = self.look.sizes[scene.size] if scale is None else scale
        return self.cover(self.look.shapes[scene.shape], self.look.lengths[scene.shape] * scale, scene)

    def alike(self, name: str, scene: Scene) -> np.ndarray:
        """The cover of a foreign shape or a disc, turned, about as large by area as a true figure that is no stroke."""
        if name == "disc":
            return self.alike_parts([(arc(0, 360), 1)], scene, exact=True)
        return self.alike_parts({**self.foreign, **LIKE}[name], scene)

    def alike_parts(self, parts: Parts, scene: Scene, *, exact: bool = False) -> np.ndarray:
        """As `alike`, of a shape that has no name; with `exact`, of the area itself."""
        known = [shape for shape in self.look.shapes if shape != "spiral"]
        areas = [area_of(self.look.shapes[shape]) * self.look.lengths[shape] ** 2 for shape in known]
        length = math.sqrt(np.mean(areas) / area_of(parts)) * self.look.sizes[scene.size]
        turned = replace(scene, turn=float(self.rng.uniform(0, 360)))
        return self.cover(parts, length * (1 if exact else self.rng.uniform(0.9, 1.1)), turned)

    def cover(self, parts: Parts, length: float, scene: Scene) -> np.ndarray:
        """(SIDE, SIDE) of 0..1, half of them without soft borders, as true figures are."""
        canvas = Image.new("L", (SIDE * FINE, SIDE * FINE))
        cos, sin = math.cos(math.radians(scene.turn)), math.sin(math.radians(scene.turn))
        for polygon, filled in parts:
            points = [(scene.x + length * (cos * x - sin * y), scene.y + length * (sin * x + cos * y)) for x, y in polygon]
            ImageDraw.Draw(canvas).polygon([(FINE * x - 0.5, FINE * y - 0.5) for x, y in points], fill=255 * filled)
        cover: np.ndarray = np.asarray(canvas.resize((SIDE, SIDE), Image.Resampling.BOX)) / 255
        return (cover >= 0.5).astype(float) if self.rng.random() < 0.5 else cover

    def along(self, scene: Scene, angle: float) -> np.ndarray:
        """(SIDE, SIDE) of how far pixels lie from the middle of a figure in a direction, in its lengths."""
        return distances(scene, angle) / self.length(scene)

    def angle(self) -> float:
        """A direction in radians."""
        return float(self.rng.uniform(0, 2 * math.pi))

    def textured(self) -> bool:
        """Whether the next picture has a texture: half of those of worlds with textures."""
        return bool(self.look.texture and self.rng.random() < 0.5)

    def ink(self, scene: Scene) -> np.ndarray:
        """The colour (3, 1, 1) of a figure."""
        colour = self.look.colours[scene.colour] if self.look.colours else (self.look.ink,) * 3
        return np.array(colour, float)[:, None, None]

    def truth(self, scene: Scene, unknown: tuple[str, ...]) -> dict[str, str]:
        """What a scene shows but for the factors that are `unknown`."""
        return {name: value for name in FACTORS if (value := getattr(scene, name)) and name not in unknown}

    def painted(
        self, cover: np.ndarray, ink: np.ndarray, scene: Scene, *, textured: bool, ground: np.ndarray | None = None
    ) -> np.ndarray:
        """Ink (3, SIDE or 1, SIDE or 1) over the ground of a scene, or another (3, 1, 1), by cover: (3, SIDE, SIDE) uint8."""
        low, high = self.look.grounds[scene.background]
        shade: np.ndarray | float = 1.0
        grey: np.ndarray | float = low
        if self.look.texture:
            ink = ink * 255 / np.maximum(ink.max(0), 1)
            shade = (125 + 130 * self._waves()) / 255 if textured else self.rng.uniform(0.75, 1.0)
            grey = low + (high - low) * (self._waves() if textured else self.rng.uniform(0.3, 1.0))
        under = (grey if ground is None else ground) * np.ones((3, SIDE, SIDE))
        return stored(under + cover * (ink * shade * np.ones((SIDE, SIDE)) - under))

    def _waves(self) -> np.ndarray:
        """(SIDE, SIDE) a texture of three waves, 0..1."""
        y, x = np.mgrid[:SIDE, :SIDE] / SIDE
        drawn = self.rng.uniform((-9, -9, 0), (9, 9, 7), (3, 3))
        total = np.sum([np.sin(2 * math.pi * (fx * x + fy * y) + phase) for fx, fy, phase in drawn], 0)
        found: np.ndarray = (total - total.min()) / (total.max() - total.min())
        return found


def distances(scene: Scene, angle: float) -> np.ndarray:
    """(SIDE, SIDE) of how far pixels lie from the middle of a figure in a direction, in pixels."""
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    found: np.ndarray = math.cos(angle) * (x - scene.x) + math.sin(angle) * (y - scene.y)
    return found


def blurred(cover: np.ndarray, sigma: float) -> np.ndarray:
    """A cover behind a Gaussian of `sigma` pixels."""
    soft = Image.fromarray(np.rint(255 * cover).astype(np.uint8)).filter(ImageFilter.GaussianBlur(sigma))
    found: np.ndarray = np.asarray(soft) / 255
    return found


def stored(view: np.ndarray) -> np.ndarray:
    """A picture as worlds store it, uint8."""
    found: np.ndarray = np.rint(np.clip(view, 0, 255)).astype(np.uint8)
    return found
