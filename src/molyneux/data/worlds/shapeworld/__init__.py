"""Scenes of shapes, and captions whose meaning is evaluated on them (ShapeWorld, Kuhnle & Copestake, 2017)."""

from molyneux.data.worlds.shapeworld.agreement import ShapeWorld

__all__ = ["ShapeWorld"]
