"""What cannot be told from a mean of views that differ in a nuisance, for the worlds of the package.

Windows are in codes of the nuisance: positions about one pixel apart, orientations 360 / 39 degrees apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from molyneux.learn.judges import Blur
from molyneux.learn.judges.legibility import ITSELF

_TURN = 39.0
"""Codes of rotation after which a figure without symmetry looks the same."""

_NEAR = 3.0
"""Positions or orientations that may all stand for one view."""

_CDSPRITES = {
    "shape": (
        # an arc of 90 degrees, or half the turn after which the figure looks the same
        Blur("rotation", _NEAR, {"square": 5.0, "ellipse": 10.0, "heart": 10.0}, by="shape",
             period={"square": _TURN / 4, "ellipse": _TURN / 2, "heart": _TURN}),
        *(Blur(axis, _NEAR, {"small": 6.0, "big": 10.0}, by="size") for axis in ("x", "y")),  # half the figure's side
        Blur("size", 1.0),
    ),
    "size": tuple(Blur(axis, _NEAR, {"small": 6.0, "big": 10.0}, by="size") for axis in ("x", "y")),
    "colour": tuple(Blur(axis, 8.0) for axis in ("x", "y")),
}  # fmt: skip

_STROKES = {"line": _NEAR, "circle": _NEAR, "square": _NEAR, "semicircle": _NEAR, "pieslice": _NEAR}

_GEBID = {
    "shape": (
        *(Blur(axis, {**_STROKES, "spiral": 1.0}, {**dict.fromkeys(_STROKES, 9.0), "spiral": 3.0}, by="shape") for axis in "xy"),
        *(Blur(axis, _NEAR, {"small": 4.0, "large": 9.0}, by="size") for axis in "xy"),
        Blur("size", 1.0),
        Blur("position", 1.0, 1.0),
    ),
    "size": (*(Blur(axis, _NEAR) for axis in "xy"), Blur("position", 1.0, 1.0)),
    "colour": (*(Blur(axis, 8.0) for axis in "xy"), Blur("position", 1.0)),
}

_TOUCH = dict.fromkeys(("shape", "size"), (Blur(ITSELF, 1.0, 1.0),))
"""Each contour is felt from a start of its own, so the mean of two is neither."""

BLURS: Mapping[tuple[str, str], Mapping[str, Sequence[Blur]]] = {
    ("cdsprites-v1", "image"): _CDSPRITES,
    ("cdsprites-v1", "touch"): _TOUCH,
    ("gebid-v1", "image"): _GEBID,
    ("gebid-v1", "touch"): _TOUCH,
}
"""By name of the world and modality, by factor."""
