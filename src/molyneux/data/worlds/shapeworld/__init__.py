"""Microworlds of shapes with captions that have a formal meaning (after Kuhnle & Copestake, 2017)."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.worlds.shapeworld.agreement import ShapeWorld
    from molyneux.data.worlds.shapeworld.classification import ShapeClasses
    from molyneux.data.worlds.shapeworld.meaning.dmrs.dmrs import dmrs_of, eds_of, mrs_of, realise_with_ace, tree_of_dmrs
    from molyneux.data.worlds.shapeworld.meaning.language.captions import paraphrase, parse, say
    from molyneux.data.worlds.shapeworld.meaning.language.people import Interpretation, interpret
    from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree
    from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
    from molyneux.data.worlds.shapeworld.scenes.settings import HeldOut, SceneSettings
    from molyneux.data.worlds.shapeworld.single_scene import SceneEntity, SingleScene, scene_of
    from molyneux.data.worlds.shapeworld.world_settings import CaptionSettings, HeldOutSplits, PictureSettings

__all__ = [
    "CaptionSettings",
    "HeldOut",
    "HeldOutSplits",
    "Interpretation",
    "PictureSettings",
    "SceneEntity",
    "SceneSettings",
    "Semantics",
    "ShapeClasses",
    "ShapeWorld",
    "SingleScene",
    "Tree",
    "dmrs_of",
    "eds_of",
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
