"""Contours that are not of a world: noise, halves of two contours, foreign shapes, discs, and figures of wrong sizes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from molyneux.measure.readers.drawer import SIDE, Drawer, Scene
from molyneux.measure.readers.reading import LabelledViews
from molyneux.measure.readers.shapes import Polygon, arc

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
