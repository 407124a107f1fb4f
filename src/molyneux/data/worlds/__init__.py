"""Worlds: generators whose true factors are known."""

from molyneux.data.dataset import Split, SplitSource, World
from molyneux.data.worlds.cdsprites import CdSprites
from molyneux.data.worlds.cdsprites_settings import Noise
from molyneux.data.worlds.gebid import GeBiD
from molyneux.data.worlds.gebid_settings import GeBiDNoise
from molyneux.data.worlds.interactions import Decomposition, Interactions
from molyneux.data.worlds.push import SimulatedPush, export_push
from molyneux.data.worlds.sentences import Letters, PartsOfSpeech, Ynoc, ideal_codes
from molyneux.data.worlds.shapeworld import (
    HeldOut,
    SceneSettings,
    Semantics,
    ShapeClasses,
    ShapeWorld,
    Tree,
    dmrs_of,
    eds_of,
    mrs_of,
    paraphrase,
    parse,
    realise_with_ace,
    say,
    tree_of_dmrs,
)

__all__ = [
    "CdSprites",
    "Decomposition",
    "GeBiD",
    "GeBiDNoise",
    "HeldOut",
    "Interactions",
    "Letters",
    "Noise",
    "PartsOfSpeech",
    "SceneSettings",
    "Semantics",
    "ShapeClasses",
    "ShapeWorld",
    "SimulatedPush",
    "Split",
    "SplitSource",
    "Tree",
    "World",
    "Ynoc",
    "dmrs_of",
    "eds_of",
    "export_push",
    "ideal_codes",
    "mrs_of",
    "paraphrase",
    "parse",
    "realise_with_ace",
    "say",
    "tree_of_dmrs",
]
