"""Microworlds of shapes with captions that have a formal meaning (after Kuhnle & Copestake, 2017)."""

from molyneux.data.worlds.shapeworld.agreement import ShapeWorld
from molyneux.data.worlds.shapeworld.meaning.semantics import Semantics
from molyneux.data.worlds.shapeworld.settings import HeldOut, SceneSettings

__all__ = ["HeldOut", "SceneSettings", "Semantics", "ShapeWorld"]
