"""How much of a scene varies that its caption does not say."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LIMITS = {"shade": 255.0, "rotation": 180.0, "size": 0.5, "position": 1.0, "background": 255.0}
"""Largest noise by name; the smallest is 0."""


@dataclass(frozen=True)
class Noise:
    """Nuisance variation; the defaults are the published behaviour.

    Args:
        shade: largest change of each RGB channel of the colour as rendered, 0..255; published 0.
        rotation: largest turn away from upright in degrees, 0..180; published 180 (CdSprites).
        size: largest relative change of the size, 0..0.5; published 0.
        position: share of the published range of positions that is used, around its middle, 0..1; published 1.
        background: largest grey noise of each background pixel, 0..255; published 0.
    """

    shade: float = 0.0
    rotation: float = 180.0
    size: float = 0.0
    position: float = 1.0
    background: float = 0.0

    def problems(self) -> list[str]:
        """One sentence for each setting out of range."""
        return out_of_range(self)


def out_of_range(noise: DataclassInstance) -> list[str]:
    """One sentence for each field of `LIMITS` that is out of its range."""
    return [
        f"expected noise.{name} from 0 to {LIMITS[name]:g}, got {getattr(noise, name)}"
        for name in (field.name for field in fields(noise) if field.name in LIMITS)
        if not 0.0 <= getattr(noise, name) <= LIMITS[name]
    ]
