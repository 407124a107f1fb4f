"""Worlds: generators whose true factors are known."""

from molyneux.data.worlds.altered import AlteredScenes
from molyneux.data.worlds.cdsprites import CdSprites
from molyneux.data.worlds.gebid import GeBiD
from molyneux.data.worlds.gebid_settings import GeBiDNoise
from molyneux.data.worlds.noise import Noise
from molyneux.data.worlds.sentences import Letters, PartsOfSpeech, Ynoc, ideal_codes
from molyneux.data.worlds.world import Split, World, WorldSource

__all__ = [
    "AlteredScenes",
    "CdSprites",
    "GeBiD",
    "GeBiDNoise",
    "Letters",
    "Noise",
    "PartsOfSpeech",
    "Split",
    "World",
    "WorldSource",
    "Ynoc",
    "ideal_codes",
]
