"""MuJoCo Push, simulated: a finger pushes a puck on a table."""

from molyneux.data.worlds.push.push import SimulatedPush, export_push

__all__ = ["SimulatedPush", "export_push"]
