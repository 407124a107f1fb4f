"""Worlds: generators whose true factors are known."""

from molyneux.data.dataset import Split, SplitSource
from molyneux.data.worlds.altered import Altered, can_alter
from molyneux.data.worlds.cdsprites import CdSprites
from molyneux.data.worlds.cdsprites_settings import Noise
from molyneux.data.worlds.gebid import GeBiD
from molyneux.data.worlds.gebid_settings import GeBiDNoise
from molyneux.data.worlds.sentences import Letters, PartsOfSpeech, Ynoc, ideal_codes
from molyneux.data.worlds.world import World

__all__ = [
    "Altered",
    "CdSprites",
    "GeBiD",
    "GeBiDNoise",
    "Letters",
    "Noise",
    "PartsOfSpeech",
    "Split",
    "SplitSource",
    "World",
    "Ynoc",
    "can_alter",
    "ideal_codes",
]
