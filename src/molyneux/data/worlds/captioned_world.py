"""Worlds in levels of difficulty: scenes of one object, pictured, described and felt."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch

from molyneux.core import Batch, Modality, Reader, Spec, seeds
from molyneux.data.dataset import Split
from molyneux.data.worlds.caption_reader import CaptionReader
from molyneux.data.worlds.combinations import Combinations
from molyneux.data.worlds.grammar import Grammar
from molyneux.data.worlds.levels import LevelSettings, SceneSpace
from molyneux.data.worlds.parallel import spread
from molyneux.data.worlds.raster import Figures
from molyneux.data.worlds.scenes import PaintScenes, Scenes, View
from molyneux.data.worlds.touch import Touch
from molyneux.data.worlds.world import World

_COMBINATION = 0
"""Column of `Scenes.draws` that decides on the combination; the others are the subclass's."""


class CaptionedWorld(World):
    """Scenes of one object with a caption that says, up to a level, what the picture shows.

    Combinations of the attributes are equally likely; a subclass sets `_settings`, `_space` and `_threads` at
    construction and says how its nuisances are drawn, what figure the object is, and how it is painted.
    """

    untouched: ClassVar[tuple[str, ...]] = ()
    """Names of the factors that a contour does not show."""

    textured: ClassVar[tuple[int, ...]] = ()
    """Columns of `Scenes.draws` that decide on textures."""

    _settings: LevelSettings
    _space: SceneSpace
    _threads: int

    @property
    @abstractmethod
    def _numbers(self) -> int:
        """Uniform numbers per scene; more of them leave the first ones as they are."""

    @abstractmethod
    def _nuisances(self, drawn: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Codes (n, N) int64 of the factors that no caption says, from combinations (n, F) and uniform numbers (n, k)."""

    @abstractmethod
    def _figures(self, factors: np.ndarray, draws: np.ndarray) -> Figures:
        """Geometry of scenes, in scene units, from the codes of all factors and uniform numbers (n, k)."""

    @abstractmethod
    def _painter(self) -> PaintScenes:
        """What paints pictures; asked for once a batch."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data: with name, split and seed they determine every byte."""
        return self._settings.to_json()

    @property
    def spec(self) -> Spec:
        """Modalities as chosen; factors are those of the picture and the caption, then the nuisances, with x and y at the end."""
        return Spec(tuple(view.modality for view in self._views().values()), self._space.factors)

    @property
    def caption_factors(self) -> tuple[str, ...]:
        """Names of the factors that a caption says."""
        return self._settings.levels.names(self._settings.caption_level)

    @property
    def picture_factors(self) -> tuple[str, ...]:
        """Names of the factors that a picture shows and a caption of its level would say."""
        return self._settings.levels.names(self._settings.level)

    def visible(self, modality: str) -> tuple[str, ...]:
        """Names of the factors that a view shows; all that its picture shows but for `untouched` where it is a contour."""
        if modality == "text":
            return self.caption_factors
        return tuple(name for name in self.picture_factors if modality == "image" or name not in self.untouched)

    @property
    def shapes(self) -> tuple[str, ...]:
        """Names of its shapes, as the rasteriser has them."""
        return tuple(self._settings.choices["shapes"].values())

    @property
    def grammar(self) -> Grammar:
        """Every caption of this world."""
        return self._space.grammar

    @property
    def splits(self) -> Mapping[Split, int | None]:
        """Endless splits; `heldout` is among them where combinations are held out."""
        return dict.fromkeys(self._space.combinations)

    def combinations(self, split: Split) -> Combinations:
        """What a split draws from; its `contains` takes the columns of `Batch.factors` before the nuisances.

        Raises:
            ConfigError: no such split.
        """
        self.size(split)
        return self._space.combinations[split]

    def scenes(self, indices: np.ndarray, *, split: Split, seed: int) -> Scenes:
        """The scenes of these sample numbers (n,), any order, any non-negative integers.

        Raises:
            ConfigError: no such split. DataError: no integers in one row, or a negative number.
        """
        indices, combinations = self.numbers(indices, split), self.combinations(split)
        draws = seeds.uniforms(seeds.key(seed, self.name, split), indices, self._numbers)
        drawn = combinations.sample(draws[:, _COMBINATION])
        factors = np.concatenate([drawn, self._nuisances(drawn, draws)], 1)
        return Scenes(indices, split, seed, factors, self._figures(factors, draws), draws)

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples of these numbers (B,), any order, any non-negative integers; errors as `scenes`."""
        return self.view(self.scenes(indices, split=split, seed=seed))

    def view(self, scenes: Scenes) -> Batch:
        """The samples of scenes, which may have been altered since they were drawn."""
        views = {name: torch.from_numpy(view.make(scenes)) for name, view in self._views().items()}
        return Batch(views, factors=torch.from_numpy(scenes.factors))

    def readers(self) -> Mapping[str, Reader]:
        """The parser of captions, if there are captions."""
        return {"text": CaptionReader(self.grammar)} if "text" in self._settings.modalities else {}

    def _views(self) -> dict[str, View]:
        side = self._settings.image_size
        touch = Touch(self.name, noise=self._settings.touch_noise)
        known = {
            "image": View(Modality("image", "image", (3, side, side), "uint8"), self._pictures),
            "text": View(self.grammar.modality("text"), self._space.captions),
            "touch": View(touch.modality("touch"), touch.contours),
        }
        return {name: known[name] for name in self._settings.modalities}

    def _pictures(self, scenes: Scenes) -> np.ndarray:
        side = self._settings.image_size
        out = np.empty((len(scenes), 3, side, side), np.uint8)
        paint = self._painter()
        spread(lambda part: paint(scenes[part], out[part]), len(scenes), threads=self._threads)
        return out
