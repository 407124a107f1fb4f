"""Pictures that are not of a world, to find out what readers accept. New kinds are added to `held_out_pictures`.

Kinds: `noise`, `unions` (of two figures), `foreign` (shapes that the world does not have), `discs`, `sizes` (at least 17 % away
from every size of the world), `blurs` (by a Gaussian of at least a quarter of the length), `averages` (over two thirds of the
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
from molyneux.measure.readers.shapes import LIKE, NEAR

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
