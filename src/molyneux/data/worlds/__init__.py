"""Worlds: generators whose true factors are known."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.dataset import Split, SplitSource, World
    from molyneux.data.worlds.cdsprites import CdSprites
    from molyneux.data.worlds.cdsprites_settings import Noise, SpriteRendering
    from molyneux.data.worlds.gebid import GeBiD
    from molyneux.data.worlds.gebid_settings import GeBiDNoise
    from molyneux.data.worlds.interactions import Decomposition, Interactions
    from molyneux.data.worlds.levels import FigureAttributes, Rendering
    from molyneux.data.worlds.molyneux_shapes import Bridging, Hand, MolyneuxShapes
    from molyneux.data.worlds.push import SimulatedPush, export_push
    from molyneux.data.worlds.sentences import Letters, PartsOfSpeech, Ynoc, ideal_codes
    from molyneux.data.worlds.shapeworld import (
        CaptionSettings,
        HeldOut,
        HeldOutSplits,
        Interpretation,
        PictureSettings,
        SceneEntity,
        SceneSettings,
        Semantics,
        ShapeClasses,
        ShapeWorld,
        SingleScene,
        Tree,
        dmrs_of,
        eds_of,
        interpret,
        mrs_of,
        paraphrase,
        parse,
        realise_with_ace,
        say,
        scene_of,
        tree_of_dmrs,
    )

__all__ = [
    "Bridging",
    "CaptionSettings",
    "CdSprites",
    "Decomposition",
    "FigureAttributes",
    "GeBiD",
    "GeBiDNoise",
    "Hand",
    "HeldOut",
    "HeldOutSplits",
    "Interactions",
    "Interpretation",
    "Letters",
    "MolyneuxShapes",
    "Noise",
    "PartsOfSpeech",
    "PictureSettings",
    "Rendering",
    "SceneEntity",
    "SceneSettings",
    "Semantics",
    "ShapeClasses",
    "ShapeWorld",
    "SimulatedPush",
    "SingleScene",
    "Split",
    "SplitSource",
    "SpriteRendering",
    "Tree",
    "World",
    "Ynoc",
    "dmrs_of",
    "eds_of",
    "export_push",
    "ideal_codes",
    "interpret",
    "mrs_of",
    "paraphrase",
    "parse",
    "realise_with_ace",
    "say",
    "scene_of",
    "tree_of_dmrs",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
