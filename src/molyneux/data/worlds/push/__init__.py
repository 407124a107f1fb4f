"""MuJoCo Push, simulated: a finger pushes a puck on a table."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.worlds.push.push import SimulatedPush, export_push

__all__ = ["SimulatedPush", "export_push"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
