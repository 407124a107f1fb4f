"""Scenes of shapes, and captions whose meaning is evaluated on them (ShapeWorld, Kuhnle & Copestake, 2017)."""

from molyneux.data.worlds.shapeworld.agreement import ShapeWorld
from molyneux.data.worlds.shapeworld.meaning.ace import realise_with_ace
from molyneux.data.worlds.shapeworld.meaning.dmrs import dmrs_of, eds_of, mrs_of, tree_of_dmrs
from molyneux.data.worlds.shapeworld.meaning.trees import Tree

__all__ = ["ShapeWorld", "Tree", "dmrs_of", "eds_of", "mrs_of", "realise_with_ace", "tree_of_dmrs"]
