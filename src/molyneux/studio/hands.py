"""A touch as the hand gives it: fingers that move along their path in the frame of the hand, with the last moments of it."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING

import numpy as np
from nicegui import ui

from molyneux.studio.frame import show_view

if TYPE_CHECKING:
    from torch import Tensor

    from molyneux.core import Modality

_SIDE, _EDGE = 100.0, 6.0
"""Side of the drawing, and what is left free at its border, in its unit."""


def show_sense(modality: Modality, view: Tensor, *, about: str, path: bool) -> bool:
    """Show one view (*shape) in stored form; a touch moment by moment, or with its whole path.

    Args:
        modality: of the view.
        view: the view.
        about: what it shows, for people who do not see it.
        path: whether the whole path is drawn.

    Returns:
        Whether something moves.
    """
    from molyneux.report.plots import finger_paths

    fingers = finger_paths(view.numpy(), modality.channels) if modality.kind == "series" else []
    if path or not fingers:
        show_view(modality, view, about=about)
        return False
    ui.html(moving_svg(fingers, about), sanitize=False).classes("contour")
    return True


def moving_svg(fingers: list[np.ndarray], about: str) -> str:
    """Fingers as an SVG that `molyneuxFeel` of the script moves: places (T, 2) of each, NaN where it is lifted."""
    every = np.concatenate(fingers)
    low, high = np.nanmin(every, 0), np.nanmax(every, 0)
    scale = (_SIDE - 2 * _EDGE) / max(float((high - low).max()), 1e-9)
    placed = [((points - (low + high) / 2) * scale + _SIDE / 2).round(1) for points in fingers]
    told = [[None if np.isnan(x) else [float(x), float(y)] for x, y in points] for points in placed]
    parts = "".join(
        f'<path class="trail finger-{number}"/><circle class="finger-{number}" r="3.2"/>' for number in range(len(told))
    )
    count = "one finger" if len(told) == 1 else f"{len(told)} fingers"
    label = html.escape(f"{about}, as {count} move", quote=True)
    data = html.escape(json.dumps(told, separators=(",", ":")), quote=True)
    return (
        f'<svg class="hand" viewBox="0 0 {_SIDE:g} {_SIDE:g}" role="img" aria-label="{label}" data-fingers="{data}">{parts}</svg>'
    )
