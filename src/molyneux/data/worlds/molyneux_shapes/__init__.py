"""The world of Molyneux's question: many closed curves, seen in pictures, felt by a hand, and named."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.worlds.molyneux_shapes.bridging import Bridging
    from molyneux.data.worlds.molyneux_shapes.hand import Hand
    from molyneux.data.worlds.molyneux_shapes.world import MolyneuxShapes

__all__ = ["Bridging", "Hand", "MolyneuxShapes"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
