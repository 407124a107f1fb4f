"""The repertoire of a world: every scene there can be, and the caption of each."""

from __future__ import annotations

from typing import get_args

import numpy as np

from molyneux.core import Factor
from molyneux.data.worlds.grammar import Grammar
from molyneux.data.worlds.level_settings import LevelSettings
from molyneux.data.worlds.scenes import Scenes
from molyneux.data.worlds.world import Split


class Repertoire:
    """What a world's scenes can be and its captions can say.

    Args:
        settings: of the world, checked.
        nuisances: factors that no caption says; they come last.

    Attributes:
        factors: in the order of `Scenes.factors`.
        grammar: every caption.
        combinations: what each split draws from, over the factors before the nuisances.

    Raises:
        ConfigError: two combinations have the same caption.
    """

    def __init__(self, settings: LevelSettings, nuisances: tuple[Factor, ...]) -> None:
        self.factors = (*settings.drawn, *nuisances)
        self.grammar = Grammar(settings.levels.templates[settings.caption_level], settings.drawn)
        self.combinations = {split: settings.combinations(split) for split in get_args(Split)}
        self._columns = {factor.name: column for column, factor in enumerate(self.factors)}

    def codes(self, factors: np.ndarray, name: str) -> np.ndarray:
        """Codes (n,) int64 of one factor, from those of all (n, F) or of all but the nuisances."""
        return np.ascontiguousarray(factors[:, self._columns[name]])

    def captions(self, scenes: Scenes) -> np.ndarray:
        """Caption ids (n, length) uint8."""
        return self.grammar.write(scenes.factors[:, [self._columns[name] for name in self.grammar.names]])
