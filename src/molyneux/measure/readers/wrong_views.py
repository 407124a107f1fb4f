"""Pictures and contours that are not of a world, to find out what readers accept; more pictures are in `more_wrong_pictures`.

Contours are noise, halves of two contours, foreign shapes, discs, and figures of wrong sizes. Kinds of pictures: `noise`,
`unions` (of two figures), `foreign` (shapes that the world does not have), `discs`, `sizes` (at least 17 % away from every size
of the world), `blurs` (by a Gaussian of at least a quarter of the length), `averages` (over two thirds of the
rotation after which a figure looks the same, or over half a length), `plain`, which are right: true figures of worlds with
textures, without any, and `near`, shapes that resemble one of the world (squares with round corners, trapezoids, drops, beans,
ellipses of another ratio).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from PIL import Image, ImageFilter

from molyneux.measure.readers.drawer import SIDE, Drawer, Scene, blurred, distances, stored
from molyneux.measure.readers.reading import LabelledViews
from molyneux.measure.readers.shapes import LIKE, NEAR, Polygon, arc

PICTURES = ("noise", "unions", "foreign", "discs", "sizes", "blurs", "averages", "plain", "near")
ALIKE = (*NEAR, *LIKE, "blur 0.2", "shaded")
"""Shapes that resemble one of a world, and figures between right and wrong, which are drawn one by one."""
_PERIODS = {"square": 90.0, "ellipse": 180.0, "heart": 360.0}
"""The rotation in degrees after which a figure looks the same."""

Made = tuple[np.ndarray, dict[str, str]]
"""A picture, and what it shows."""


class WrongPictures(Drawer):
    """Draws the kinds of `PICTURES`; arguments and errors as of `Drawer`."""

    def draw(self, kind: str, count: int) -> LabelledViews:
        """Pictures of one kind."""
        made: list[Made] = [getattr(self, f"_{kind}")() for _ in range(count)]
        truth = {name: [shown[name] for _, shown in made] for name in made[0][1]}
        return LabelledViews(np.stack([view for view, _ in made]), truth)

    def draw_alike(self, name: str, count: int) -> LabelledViews:
        """Pictures of one of `ALIKE`; `blur 0.2` is by a fifth of the length, `shaded` from full light to 5 %."""
        views = []
        for _ in range(count):
            scene = self.scene()
            if name == "shaded":
                cover = self.figure(scene)
                away = 0.95 * distances(scene, self.angle()) / self.length(scene)
                cover = cover * np.clip(0.525 - away, 0.05, 1.0)
            elif name == "blur 0.2":
                cover = blurred(self.figure(scene), 0.2 * self.length(scene))
            else:
                cover = self.alike(name, scene)
            views.append(self._shown(cover, scene)[0])
        return LabelledViews(np.stack(views))

    def _shown(
        self, cover: np.ndarray, scene: Scene, unknown: tuple[str, ...] = ("shape", "size"), *, plain: bool = False
    ) -> Made:
        textured = False if plain else self.textured()
        return self.painted(cover, self.ink(scene), scene, textured=textured), self.truth(scene, unknown)

    def _noise(self) -> Made:
        view: np.ndarray
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
                soft = ImageFilter.GaussianBlur(block)
                view = np.stack([np.asarray(Image.fromarray(channel.astype(np.uint8)).filter(soft)) for channel in view])
        return stored(view), {}

    def _foreign(self) -> Made:
        scene = self.scene()
        return self._shown(self.alike(str(self.rng.choice(self.far)), scene), scene)

    def _near(self) -> Made:
        scene = self.scene()
        return self._shown(self.alike(str(self.rng.choice(list(NEAR))), scene), scene)

    def _discs(self) -> Made:
        """Plain discs on plain grounds."""
        scene = self.scene()
        return self._shown(self.alike("disc", scene), scene, ("shape",), plain=True)

    def _sizes(self) -> Made:
        scene = self.scene()
        scale = self.rng.uniform(*self.look.wrong[self.rng.integers(len(self.look.wrong))])
        return self._shown(self.figure(scene, scale=scale), scene)

    def _unions(self) -> Made:
        while True:
            scene, other = self.scene(), self.scene()
            first, second = self.figure(scene), self.figure(other)
            if self.rng.random() < 0.5:
                angle, away = self.angle(), self.rng.uniform(0.5, 1.0) * self.length(scene)
                second = self.figure(replace(other, x=scene.x + away * math.cos(angle), y=scene.y + away * math.sin(angle)))
            both = np.maximum(first, second)
            if both.sum() > 1.3 * max(first.sum(), second.sum()):
                return self._shown(both, scene, ("shape", "size", "position"))

    def _blurs(self) -> Made:
        scene = self.scene()
        cover = self.figure(scene)
        return self._shown(blurred(cover, self.rng.uniform(0.26, 0.4) * self.length(scene)), scene)

    def _averages(self) -> Made:
        scene = self.scene()
        if self.look.turned and self.rng.random() < 0.6:
            turns = np.linspace(0, self.rng.uniform(0.67, 1.0) * _PERIODS[scene.shape], 16, endpoint=False)
            scenes = [replace(scene, turn=scene.turn + turn) for turn in turns]
        else:
            away = 0.5 * self.length(scene)
            scenes = [scene.moved(x, y) for x, y in self.rng.uniform(-away, away, (16, 2))]
        return self._shown(np.mean([self.figure(each) for each in scenes], 0), scene)

    def _plain(self) -> Made:
        scene = self.scene()
        return self._shown(self.figure(scene), scene, (), plain=True)


CONTOURS = ("noise", "unions", "foreign", "discs", "sizes")


class WrongContours(Drawer):
    """Draws the kinds of `CONTOURS`; arguments and errors as of `Drawer`."""

    def draw(self, kind: str, count: int) -> LabelledViews:
        """Contours of one kind, (count, 64, 5) float32."""
        return LabelledViews(np.stack([getattr(self, f"_{kind}")() for _ in range(count)]).astype(np.float32))

    def _noise(self) -> np.ndarray:
        spread = self.rng.uniform(0.02, 0.3)
        return self._contacts(self.rng.uniform(0.2, 0.8, 2) + spread * (self.rng.random((64, 2)) - 0.5))

    def _foreign(self) -> np.ndarray:
        single = [name for name in self.far if len(self.foreign[name]) == 1]
        scene = self.scene()
        return self._felt(self.foreign[str(self.rng.choice(single))][0][0], scene, self.length(scene))

    def _discs(self) -> np.ndarray:
        scene = self.scene()
        return self._felt(arc(0, 360), scene, self.rng.uniform(0.8, 1.1) * self.length(scene))

    def _sizes(self) -> np.ndarray:
        look, scene = self.look, self.scene()
        scene = replace(scene, shape=str(self.rng.choice([name for name in look.shapes if name != "spiral"])))
        scale = self.rng.uniform(*look.wrong[self.rng.integers(len(look.wrong))])
        return self._felt(look.shapes[scene.shape][0][0], scene, look.lengths[scene.shape] * scale)

    def _unions(self) -> np.ndarray:
        """Half of one contour, then half of another."""
        halves = []
        for part in (slice(0, 32), slice(32, 64)):
            scene = self.scene()
            halves.append(self._points(self.look.shapes[scene.shape][0][0], scene, self.length(scene))[part])
        return self._contacts(np.concatenate(halves))

    def _felt(self, polygon: Polygon, scene: Scene, length: float) -> np.ndarray:
        return self._contacts(self._points(polygon, scene, length))

    def _points(self, polygon: Polygon, scene: Scene, length: float) -> np.ndarray:
        """64 points at equal steps along a polygon, from a drawn start, in sides of the picture."""
        points = np.array([*polygon, polygon[0]])
        way = np.concatenate([[0], np.hypot(*np.diff(points, axis=0).T).cumsum()])
        wanted = (self.rng.random() + np.arange(64) / 64) % 1 * way[-1]
        x, y = (np.interp(wanted, way, points[:, axis]) for axis in (0, 1))
        cos, sin = math.cos(math.radians(scene.turn)), math.sin(math.radians(scene.turn))
        found: np.ndarray = np.stack([scene.x + length * (cos * x - sin * y), scene.y + length * (sin * x + cos * y)], 1) / SIDE
        return found

    def _contacts(self, points: np.ndarray) -> np.ndarray:
        """Contacts (64, 5) at points (64, 2): places, direction to the next, turn; with the sensor's noise."""
        step = np.roll(points, -1, 0) - points
        angle = np.arctan2(step[:, 1], step[:, 0])
        turn = (angle - np.roll(angle, 1) + math.pi) % (2 * math.pi) - math.pi
        angle, turn = angle + 0.02 * self.rng.standard_normal(64), turn + 0.02 * self.rng.standard_normal(64)
        places = points + 0.002 * self.rng.standard_normal((64, 2))
        return np.column_stack([places, np.cos(angle), np.sin(angle), turn])
