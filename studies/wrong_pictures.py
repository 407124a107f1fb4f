"""Pictures and contours that are not of a world, to find out what readers accept; drawn with nothing of the package.

Kinds of pictures: `noise`, `blends` (50/50, of true views that differ in shape), `unions` (of two figures), `foreign` (shapes
that the world does not have), `discs`, `sizes` (at least 17 % away from every size of the world), `blurs` (by a Gaussian of at
least a quarter of the length), `averages` (over two thirds of the rotation after which a figure looks the same, or over half a
length), `plain`, which are right: true figures of worlds with textures, without any, and `near`, shapes that resemble one of the
world (squares with round corners, trapezoids, drops, beans, ellipses of another ratio).

`Pictures.alike` draws one such shape alone, of `NEAR` or `LIKE`, and figures between right and wrong: `blur 0.2`, `shaded`.

`wrong_kinds` has more kinds. A bank gives views and, for what they show, the true values by factor; true views come from the
world that is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

SIDE, FINE = 64, 4
"""Side of a picture in pixels, and how many times finer it is drawn."""

Polygon = list[tuple[float, float]]
Parts = list[tuple[Polygon, int]]
"""Polygons in lengths around the middle, x right and y down, and whether each is filled (1) or cut out (0)."""

PICTURES = ("noise", "blends", "unions", "foreign", "discs", "sizes", "blurs", "averages", "plain", "near")
CONTOURS = ("noise", "blends", "unions", "foreign", "discs", "sizes")


def arc(start: float, end: float, radius: float = 0.5, x: float = 0.0, y: float = 0.0) -> Polygon:
    """Points on a circle, angles in degrees clockwise from the right."""
    angles = np.radians(np.linspace(start, end, 73))
    return [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles]


def regular(corners: int, inner: float = 0.0) -> Polygon:
    """A regular polygon; a star where `inner` says how far in its dents lie."""
    count = 2 * corners if inner else corners
    radii = [0.5 * (inner if inner and i % 2 else 1.0) for i in range(count)]
    return [(r * math.cos(2 * math.pi * i / count), r * math.sin(2 * math.pi * i / count)) for i, r in enumerate(radii)]


def box(width: float, height: float) -> Polygon:
    """A rectangle around the middle."""
    return [(-width / 2, -height / 2), (width / 2, -height / 2), (width / 2, height / 2), (-width / 2, height / 2)]


def heart() -> Polygon:
    """A square on its corner with half a disc on both upper sides, of width 1."""
    side = 1 / (1 + math.sqrt(0.5))
    away = side * math.sqrt(2) / 4
    return [(0.0, 2 * away), *arc(135, 315, side / 2, -away, -away), *arc(225, 405, side / 2, away, -away)]


def spiral() -> Polygon:
    """A stroke of five turns as a thin closed polygon."""
    angles = np.arange(0.0, 10 * math.pi, 0.1)
    growth = 0.5 / (1 + 10 * math.pi)
    sides = [
        [((growth * (1 + a) + w) * math.cos(a), (growth * (1 + a) + w) * math.sin(a)) for a in angles] for w in (-0.017, 0.017)
    ]
    return [*sides[0], *sides[1][::-1]]


ELLIPSE = [(0.565 * x, y) for x, y in arc(0, 360)]
SPRITES: Mapping[str, Parts] = {"square": [(box(1, 1), 1)], "ellipse": [(ELLIPSE, 1)], "heart": [(heart(), 1)]}
SHAPES: Mapping[str, Parts] = {
    "line": [([((x - y) * math.sqrt(0.5), (x + y) * math.sqrt(0.5)) for x, y in box(math.sqrt(2), 0.5)], 1)],
    "circle": [(arc(0, 360), 1)],
    "square": [(box(1, 1), 1)],
    "semicircle": [(arc(50, 270), 1)],
    "pieslice": [([(0.5, 0.5), *arc(200, 250, 1.0, 0.5, 0.5)], 1)],
    "spiral": [(spiral(), 1)],
}
FOREIGN: Mapping[str, Parts] = {
    "triangle": [(regular(3), 1)],
    "star": [(regular(5, 0.45), 1)],
    "burst": [(regular(8, 0.6), 1)],
    "cross": [(box(1, 0.32), 1), (box(0.32, 1), 1)],
    "ring": [(arc(0, 360), 1), (arc(0, 360, 0.28), 0)],
    "crescent": [(arc(0, 360), 1), (arc(0, 360, 0.45, 0.3), 0)],
    "corner": [(box(1, 1), 1), ([(-0.15, -0.6), (0.6, -0.6), (0.6, 0.15), (-0.15, 0.15)], 0)],
    "arrow": [([(-0.5, -0.14), (0.05, -0.14), (0.05, -0.4), (0.5, 0), (0.05, 0.4), (0.05, 0.14), (-0.5, 0.14)], 1)],
    "frame": [(box(1, 1), 1), (box(0.55, 0.55), 0)],
    "bolt": [([(-0.5, 0.2), (0.1, -0.5), (0.05, -0.05), (0.5, -0.2), (-0.1, 0.5), (-0.05, 0.05)], 1)],
}
"""For every world."""
ANGULAR: Mapping[str, Parts] = {
    "pentagon": [(regular(5), 1)],
    "half disc": [(arc(0, 180), 1)],
    "bar": [(box(1, 0.33), 1)],
    "lens": [([(0.3 * x, y) for x, y in arc(0, 360)], 1)],
    "rhomb": [([(0.5, 0), (0, 0.26), (-0.5, 0), (0, -0.26)], 1)],
}
"""For worlds without circles and lines."""

NEAR: Mapping[str, Parts] = {
    "round square": [([point for x, y, a in ((0.3, -0.3, 270), (0.3, 0.3, 0), (-0.3, 0.3, 90), (-0.3, -0.3, 180))
                       for point in arc(a, a + 90, 0.2, x, y)], 1)],
    "trapezoid": [([(-0.25, -0.4), (0.25, -0.4), (0.5, 0.4), (-0.5, 0.4)], 1)],
    "drop": [([(0.0, -0.6), *arc(-23, 203, 0.4, 0.0, 0.15)], 1)],
    "bean": [([(x * (1 - 0.45 * math.exp(-((a / 30) ** 2))), 0.7 * y * (1 - 0.45 * math.exp(-((a / 30) ** 2))))
               for a, (x, y) in zip(range(-180, 180, 5), arc(-270, 85), strict=False)], 1)],
    "slim ellipse": [([(0.45 * x, y) for x, y in arc(0, 360)], 1)],
    "wide ellipse": [([(0.7 * x, y) for x, y in arc(0, 360)], 1)],
}  # fmt: skip
"""Shapes that resemble one of a world."""

LIKE: Mapping[str, Parts] = {
    **{f"ellipse {ratio}:1": [([(ratio * x, y) for x, y in arc(0, 360)], 1)] for ratio in (0.65, 0.75, 0.8, 0.85, 0.9, 0.95)},
    "stadium": [([*arc(180, 360, 0.25, 0.0, -0.25), *arc(0, 180, 0.25, 0.0, 0.25)], 1)],
    "slim heart": [([(0.8 * x, y) for x, y in heart()], 1)],
    "plus": [(box(1, 0.4), 1), (box(0.4, 1), 1)],
    "cut square": [([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.2), (0.2, 0.5), (-0.5, 0.5)], 1)],
}
"""More of them, which are drawn one by one."""


@dataclass(frozen=True)
class Look:
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


def cdsprites(level: int) -> Look:
    """CdSprites+, with its published sizes and colours."""
    colours = {
        "red": (192, 64, 0),
        "yellow": (228, 217, 111),
        "green": (10, 107, 60),
        "blue": (0, 127, 200),
        "pink": (255, 0, 255),
    }
    low, high, middle = (18.0, 25.0), (43.0, 48.0), (21.5, 46.0)
    low = (17.5, 24.5)
    places = {"": (*middle, *middle)}
    if level >= 4:
        places = {"at top left": (*low, *low), "at top right": (*high, *low), "at bottom left": (*low, *high),
                  "at bottom right": (*high, *high)}  # fmt: skip
    return Look(
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


def gebid(level: int) -> Look:
    """GeBiD, with its published sizes and colours."""
    colours = {"yellow": (255, 255, 0), "red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "grey": (128, 128, 128),
               "brown": (105, 0, 0), "purple": (215, 0, 215), "teal": (0, 175, 175), "navy": (0, 0, 150), "orange": (255, 140, 0),
               "beige": (232, 211, 185), "pink": (255, 182, 193)}  # fmt: skip
    places = {"": (29.0, 37.0, 29.0, 37.0)}
    if level >= 5:
        low, high = (19.0, 22.0), (42.0, 46.0)
        places = {"at the top left": (*low, *low), "at the top right": (*high, *low), "at the bottom left": (*low, *high),
                  "at the bottom right": (*high, *high)}  # fmt: skip
    return Look(
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


LOOKS: Mapping[str, Callable[[int], Look]] = {"cdsprites-v1": cdsprites, "gebid-v1": gebid}


@dataclass(frozen=True)
class Drawn:
    """Views and what they show.

    Args:
        views: (n, ...) as the world stores them.
        truth: by factor, (n,) true values by name; of those that a view shows.
    """

    views: np.ndarray
    truth: Mapping[str, list[str]]


class Pictures:
    """Draws pictures of every kind but blends.

    Args:
        world: name of a world.
        level: of difficulty.
        seed: of everything drawn.
    """

    def __init__(self, world: str, level: int, *, seed: int) -> None:
        self.look, self.rng = LOOKS[world](level), np.random.default_rng([seed, level, len(world)])
        self.foreign = {**FOREIGN, **(ANGULAR if "circle" not in self.look.shapes else {}), **NEAR}
        self._far = [name for name in self.foreign if name not in NEAR]

    def draw(self, kind: str, count: int) -> Drawn:
        """Pictures of one kind."""
        made = [getattr(self, f"_{kind}")() for _ in range(count)]
        return Drawn(np.stack([view for view, _ in made]), {name: [truth[name] for _, truth in made] for name in made[0][1]})

    def alike(self, name: str, count: int) -> Drawn:
        """Pictures of one shape of `NEAR` or `LIKE`; `blur 0.2`, by a fifth of the length; `shaded`, from full light to 5 %."""
        views = []
        for _ in range(count):
            scene = self._scene()
            if name == "shaded":
                cover = self._figure(scene) * self._slope(scene)
            elif name == "blur 0.2":
                cover = _blurred(self._figure(scene), 0.2 * self._length(scene))
            else:
                cover = self._alike(name, scene, turned=True)
            views.append(self._painted(cover, scene, self._textured())[0])
        return Drawn(np.stack(views), {})

    def _slope(self, scene: Mapping) -> np.ndarray:
        """(SIDE, SIDE) of 1 falling to 0.05 across the figure, in a drawn direction."""
        angle, length = self.rng.uniform(0, 2 * math.pi), self._length(scene)
        y, x = np.mgrid[:SIDE, :SIDE] + 0.5
        along = math.cos(angle) * (x - scene["x"]) + math.sin(angle) * (y - scene["y"])
        return np.clip(0.525 - 0.95 * along / length, 0.05, 1.0)

    def _noise(self) -> tuple[np.ndarray, dict[str, str]]:
        choice = self.rng.integers(6)
        if choice == 0:
            view = self.rng.integers(0, 256, (3, SIDE, SIDE))
        elif choice == 1:
            view = 128 + 60 * self.rng.standard_normal((3, SIDE, SIDE))
        elif choice == 2:
            view = np.repeat(self.rng.integers(0, 256, (1, SIDE, SIDE)), 3, 0)
        elif choice == 3:
            view = 255.0 * (self.rng.random((3, SIDE, SIDE)) < 0.1)
        else:
            block = int(self.rng.choice([2, 4, 8]))
            view = self.rng.integers(0, 256, (3, SIDE // block, SIDE // block)).repeat(block, 1).repeat(block, 2)
            if choice == 5:
                view = np.stack(
                    [np.asarray(Image.fromarray(c.astype(np.uint8)).filter(ImageFilter.GaussianBlur(block))) for c in view]
                )
        return _stored(view), {}

    def _foreign(self) -> tuple[np.ndarray, dict[str, str]]:
        scene = self._scene()
        return self._painted(self._alike(self.rng.choice(self._far), scene, turned=True), scene, self._textured())

    def _near(self) -> tuple[np.ndarray, dict[str, str]]:
        scene = self._scene()
        return self._painted(self._alike(self.rng.choice(list(NEAR)), scene, turned=True), scene, self._textured())

    def _discs(self) -> tuple[np.ndarray, dict[str, str]]:
        """Plain discs on plain grounds."""
        scene = self._scene()
        return self._painted(self._alike("disc", scene, turned=True), scene, False, ("shape",))

    def _sizes(self) -> tuple[np.ndarray, dict[str, str]]:
        scene = self._scene()
        scale = self.rng.uniform(*self.look.wrong[self.rng.integers(len(self.look.wrong))])
        return self._painted(self._figure(scene, scale=scale), scene, self._textured(), ("shape", "size"))

    def _unions(self) -> tuple[np.ndarray, dict[str, str]]:
        while True:
            scene, other = self._scene(), self._scene()
            first, second = self._figure(scene), self._figure(other)
            if self.rng.random() < 0.5:
                angle, away = self.rng.uniform(0, 2 * math.pi), self.rng.uniform(0.5, 1.0) * self._length(scene)
                second = self._figure(
                    {**other, "x": scene["x"] + away * math.cos(angle), "y": scene["y"] + away * math.sin(angle)}
                )
            both = np.maximum(first, second)
            if both.sum() > 1.3 * max(first.sum(), second.sum()):
                return self._painted(both, scene, self._textured(), ("shape", "size", "position"))

    def _blurs(self) -> tuple[np.ndarray, dict[str, str]]:
        scene = self._scene()
        cover = self._figure(scene)
        soft = _blurred(cover, self.rng.uniform(0.26, 0.4) * self._length(scene))
        return self._painted(soft, scene, self._textured(), ("shape", "size"))

    def _averages(self) -> tuple[np.ndarray, dict[str, str]]:
        scene = self._scene()
        period = {"square": 90.0, "ellipse": 180.0, "heart": 360.0}
        if self.look.turned and self.rng.random() < 0.6:
            turns = np.linspace(0, self.rng.uniform(0.67, 1.0) * period[scene["shape"]], 16, endpoint=False)
            covers = [self._figure({**scene, "turn": scene["turn"] + turn}) for turn in turns]
        else:
            away = 0.5 * self._length(scene)
            covers = [
                self._figure({**scene, "x": scene["x"] + x, "y": scene["y"] + y})
                for x, y in self.rng.uniform(-away, away, (16, 2))
            ]
        return self._painted(np.mean(covers, 0), scene, self._textured(), ("shape", "size"))

    def _plain(self) -> tuple[np.ndarray, dict[str, str]]:
        scene = self._scene()
        return self._painted(self._figure(scene), scene, False, ())

    def _scene(self) -> dict[str, str | float]:
        look = self.look
        values = {"shape": look.shapes, "size": look.sizes, "position": look.centres, "background": look.grounds}
        drawn = {name: self.rng.choice(list(known)) for name, known in values.items()}
        left, right, top, bottom = look.centres[drawn["position"]]
        colour = self.rng.choice(list(look.colours)) if look.colours else ""
        turn = self.rng.uniform(0, 360) if look.turned else 0.0
        return {**drawn, "colour": colour, "x": self.rng.uniform(left, right), "y": self.rng.uniform(top, bottom), "turn": turn}

    def _length(self, scene: Mapping) -> float:
        return self.look.lengths[scene["shape"]] * self.look.sizes[scene["size"]]

    def _figure(self, scene: Mapping, scale: float | None = None) -> np.ndarray:
        scale = self.look.sizes[scene["size"]] if scale is None else scale
        return self._cover(self.look.shapes[scene["shape"]], self.look.lengths[scene["shape"]] * scale, scene)

    def _alike(self, name: str, scene: Mapping, *, turned: bool) -> np.ndarray:
        """A foreign shape about as large by area as a figure of the scene's size that is no stroke."""
        parts = [(arc(0, 360), 1)] if name == "disc" else {**self.foreign, **LIKE}[name]
        known = [shape for shape in self.look.shapes if shape != "spiral"]
        areas = [_area(self.look.shapes[shape]) * self.look.lengths[shape] ** 2 for shape in known]
        length = math.sqrt(np.mean(areas) / _area(parts)) * self.look.sizes[scene["size"]]
        turn = self.rng.uniform(0, 360) if turned else 0.0
        return self._cover(parts, length * (1 if name == "disc" else self.rng.uniform(0.9, 1.1)), {**scene, "turn": turn})

    def _cover(self, parts: Parts, length: float, scene: Mapping) -> np.ndarray:
        """(SIDE, SIDE) of 0..1, half of them without soft borders, as true figures are."""
        canvas = Image.new("L", (SIDE * FINE, SIDE * FINE))
        cos, sin = math.cos(math.radians(scene["turn"])), math.sin(math.radians(scene["turn"]))
        for polygon, filled in parts:
            points = [(scene["x"] + length * (cos * x - sin * y), scene["y"] + length * (sin * x + cos * y)) for x, y in polygon]
            ImageDraw.Draw(canvas).polygon([(FINE * x - 0.5, FINE * y - 0.5) for x, y in points], fill=255 * filled)
        cover = np.asarray(canvas.resize((SIDE, SIDE), Image.Resampling.BOX)) / 255
        return (cover >= 0.5).astype(float) if self.rng.random() < 0.5 else cover

    def _textured(self) -> bool:
        return bool(self.look.texture and self.rng.random() < 0.5)

    def _painted(
        self, cover: np.ndarray, scene: Mapping, textured: bool, unknown: tuple[str, ...] = ("shape", "size")
    ) -> tuple[np.ndarray, dict[str, str]]:
        """The picture, and what it shows but for `unknown`."""
        colour = self.look.colours[scene["colour"]] if self.look.colours else (self.look.ink,) * 3
        names = ("shape", "size", "colour", "position", "background")
        truth = {name: str(scene[name]) for name in names if scene[name] and name not in unknown}
        return self._inked(cover, np.array(colour, float)[:, None, None], scene, textured), truth

    def _inked(
        self, cover: np.ndarray, ink: np.ndarray, scene: Mapping, textured: bool, ground: np.ndarray | None = None
    ) -> np.ndarray:
        """Ink (3, SIDE or 1, SIDE or 1) over the ground of a scene, or another (3, 1, 1), by cover."""
        look = self.look
        low, high = look.grounds[scene["background"]]
        if look.texture:
            ink = ink * 255 / np.maximum(ink.max(0), 1)
            shade = (125 + 130 * self._waves()) / 255 if textured else self.rng.uniform(0.75, 1.0)
            grey = low + (high - low) * (self._waves() if textured else self.rng.uniform(0.3, 1.0))
        else:
            shade, grey = 1.0, low
        under = (grey if ground is None else ground) * np.ones((3, SIDE, SIDE))
        return _stored(under + cover * (ink * shade * np.ones((SIDE, SIDE)) - under))

    def _waves(self) -> np.ndarray:
        """(SIDE, SIDE) a texture of three waves, 0..1."""
        y, x = np.mgrid[:SIDE, :SIDE] / SIDE
        total = sum(
            np.sin(2 * math.pi * (fx * x + fy * y) + phase) for fx, fy, phase in self.rng.uniform((-9, -9, 0), (9, 9, 7), (3, 3))
        )
        return (total - total.min()) / (total.max() - total.min())


class Contours:
    """Draws contours of every kind but blends; arguments as of `Pictures`."""

    def __init__(self, world: str, level: int, *, seed: int) -> None:
        self.pictures = Pictures(world, level, seed=seed)
        self.rng = self.pictures.rng

    def draw(self, kind: str, count: int) -> Drawn:
        """Contours of one kind, (count, 64, 5) float32."""
        return Drawn(np.stack([getattr(self, f"_{kind}")() for _ in range(count)]).astype(np.float32), {})

    def _noise(self) -> np.ndarray:
        spread = self.rng.uniform(0.02, 0.3)
        points = self.rng.uniform(0.2, 0.8, 2) + spread * (self.rng.random((64, 2)) - 0.5)
        return felt(points, self.rng)

    def _foreign(self) -> np.ndarray:
        single = [name for name in self.pictures._far if len(self.pictures.foreign[name]) == 1]
        scene = self.pictures._scene()
        return self._felt(self.pictures.foreign[self.rng.choice(single)][0][0], scene, self.pictures._length(scene))

    def _discs(self) -> np.ndarray:
        scene = self.pictures._scene()
        return self._felt(arc(0, 360), scene, self.rng.uniform(0.8, 1.1) * self.pictures._length(scene))

    def _sizes(self) -> np.ndarray:
        look, scene = self.pictures.look, self.pictures._scene()
        scene["shape"] = self.rng.choice([name for name in look.shapes if name != "spiral"])
        scale = self.rng.uniform(*look.wrong[self.rng.integers(len(look.wrong))])
        return self._felt(look.shapes[scene["shape"]][0][0], scene, look.lengths[scene["shape"]] * scale)

    def _unions(self) -> np.ndarray:
        """Half of one contour, then half of another."""
        halves = []
        for part in (slice(0, 32), slice(32, 64)):
            scene = self.pictures._scene()
            halves.append(
                self._points(self.pictures.look.shapes[scene["shape"]][0][0], scene, self.pictures._length(scene))[part]
            )
        return felt(np.concatenate(halves), self.rng)

    def _felt(self, polygon: Polygon, scene: Mapping, length: float) -> np.ndarray:
        return felt(self._points(polygon, scene, length), self.rng)

    def _points(self, polygon: Polygon, scene: Mapping, length: float) -> np.ndarray:
        """64 points at equal steps along a polygon, from a drawn start, in sides of the picture."""
        points = np.array([*polygon, polygon[0]])
        way = np.concatenate([[0], np.hypot(*np.diff(points, axis=0).T).cumsum()])
        wanted = (self.rng.random() + np.arange(64) / 64) % 1 * way[-1]
        x, y = (np.interp(wanted, way, points[:, axis]) for axis in (0, 1))
        cos, sin = math.cos(math.radians(scene["turn"])), math.sin(math.radians(scene["turn"]))
        return np.stack([scene["x"] + length * (cos * x - sin * y), scene["y"] + length * (sin * x + cos * y)], 1) / SIDE


def felt(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Contacts (64, 5) at points (64, 2): places, direction to the next, turn; with the sensor's noise."""
    step = np.roll(points, -1, 0) - points
    angle = np.arctan2(step[:, 1], step[:, 0])
    turn = (angle - np.roll(angle, 1) + math.pi) % (2 * math.pi) - math.pi
    angle, turn = angle + 0.02 * rng.standard_normal(64), turn + 0.02 * rng.standard_normal(64)
    places = points + 0.002 * rng.standard_normal((64, 2))
    return np.column_stack([places, np.cos(angle), np.sin(angle), turn])


def blends(views: np.ndarray, shapes: np.ndarray, *, seed: int) -> Drawn:
    """Means (n, ...) of true views and of others that show another shape."""
    rng = np.random.default_rng([seed, 9])
    partner = np.array([rng.choice(np.flatnonzero(shapes != shape)) for shape in shapes])
    mean = (views.astype(np.float64) + views[partner]) / 2
    return Drawn(np.rint(mean).astype(views.dtype) if views.dtype == np.uint8 else mean.astype(views.dtype), {})


def _area(parts: Parts) -> float:
    """In squared lengths, counted on a fine grid."""
    canvas = Image.new("L", (400, 400))
    for polygon, filled in parts:
        ImageDraw.Draw(canvas).polygon([(200 + 200 * x, 200 + 200 * y) for x, y in polygon], fill=filled)
    return float(np.asarray(canvas).sum()) / 200**2


def _blurred(cover: np.ndarray, sigma: float) -> np.ndarray:
    return np.asarray(Image.fromarray(np.rint(255 * cover).astype(np.uint8)).filter(ImageFilter.GaussianBlur(sigma))) / 255


def _stored(view: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(view, 0, 255)).astype(np.uint8)
