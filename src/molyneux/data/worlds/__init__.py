"""Worlds: generators whose true factors are known."""

from molyneux.data.dataset import Split, SplitSource, World
from molyneux.data.worlds.cdsprites import CdSprites
from molyneux.data.worlds.cdsprites_settings import Noise
from molyneux.data.worlds.gebid import GeBiD
from molyneux.data.worlds.gebid_settings import GeBiDNoise
from molyneux.data.worlds.sentences import Letters, PartsOfSpeech, Ynoc, ideal_codes
from molyneux.data.worlds.shapeworld import HeldOut, SceneSettings, Semantics, ShapeWorld

__all__ = [
    "CdSprites",
    "GeBiD",
    "GeBiDNoise",
    "HeldOut",
    "Letters",
    "Noise",
    "PartsOfSpeech",
    "SceneSettings",
    "Semantics",
    "ShapeWorld",
    "Split",
    "SplitSource",
    "World",
    "Ynoc",
    "ideal_codes",
]
