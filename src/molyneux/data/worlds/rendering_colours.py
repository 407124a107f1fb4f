"""The colour of a figure in a picture, for the reader of renderings: which of the world's it is, if it is one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_module
from molyneux.data.worlds.painting import DARK_CLEAN
from molyneux.data.worlds.renderings import INSIDE

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import functional
else:
    torch = lazy_module("torch")
    functional = lazy_module("torch.nn.functional")

ALIKE, SPOT = 0.185, 0.3
"""Largest distances from a colour of the world of that of a picture, and of the mean over 4 x 4 pixels. Colours are compared at
full brightness, with 1 for the largest channel."""

HUE = 0.12
"""The same for what a colour has beside grey, on grey ground, which is how figures are told from ground there."""

SPOTTED = 0.05
"""Share of an object up to which it may have other colours."""

WITHIN = 0.9
"""Evened brightness of a pixel that is all covered by the figure."""

SHIFT = 1.8
"""Largest distance between two colours of which the channels differ by at most 1, after both are brought to full brightness."""

_DEEP = 4
"""Pixels away from the border of a figure that are enough to tell its colour."""

_DARKEST = 0.35
"""Mean grey of ground from which on it may be a light one of which black was taken away: the darkest are dark."""


def nearest_colour(view: Tensor, unaltered: Tensor | None, light: Tensor, colours: Tensor, alike: float) -> tuple[Tensor, Tensor]:
    """Code of the colour that pictures have, -1 where it is another, a mixture of two or in spots; and the nearest.

    Args:
        view: (n, 3, S, S) pictures on black ground.
        unaltered: (n, 3, S, S) on the ground that they have, where it is not black: how grey figures are is seen there.
        light: (n, S, S) evened brightness, 0 where there is no figure.
        colours: (C, 3), the largest channel 1.
        alike: largest distance from one of them.
    """
    ink = _full((view * light[:, None]).sum((2, 3)))
    first, second = torch.triu_indices(len(colours), len(colours), 1)
    mixed = _full(colours[first] + colours[second])
    best, code = torch.cdist(ink, colours, compute_mode="donot_use_mm_for_euclid_dist").min(1)
    mixture = torch.cdist(ink, mixed).amin(1) if len(mixed) else torch.full_like(best, torch.inf)
    if unaltered is not None:
        grey = (_full(_inside_colour(unaltered, light > WITHIN, colours[code])) - colours[code]).norm(dim=1)
        hue = best / (1 - colours[code].amin(1))  # the grey of `view` is that of the world's colour
        best = grey.maximum(hue * (alike / HUE))
    pooled = functional.avg_pool2d(view, 4, 2, 1)
    inside = functional.avg_pool2d(light[:, None], 4, 2, 1)[:, 0] > INSIDE
    away = (_full(pooled) - colours[code][:, :, None, None]).square().sum(1)
    spotted = ((away > SPOT**2) & inside).sum((1, 2)) > SPOTTED * inside.sum((1, 2))
    return code.where((best < mixture) & (best <= alike) & ~spotted, -1), code


def _full(colours: Tensor) -> Tensor:
    """Colours (n, 3, ...) at full brightness: the largest channel is 1."""
    return colours / colours.amax(1, keepdim=True).clamp(min=1e-6)


def _inside_colour(view: Tensor, inside: Tensor, colour: Tensor) -> Tensor:
    """(n, 3) mean colour inside of figures, away from their borders where there is such, with the black that was taken away.

    Args:
        view: (n, 3, S, S) pictures.
        inside: (n, S, S) whether a pixel is covered by the figure.
        colour: (n, 3) of the figure, the largest channel 1: no more black than its smallest channel, or than dark ground has, was
            taken away.
    """
    deep = deep_inside(inside)
    mean = (view * deep[:, None]).sum((2, 3)) / deep.sum((1, 2)).clamp(min=1)[:, None]
    low, empty = colour.amin(1), 1 - inside.float()
    ground = (view.amin(1) * empty).sum((1, 2)) / empty.sum((1, 2)).clamp(min=1)
    most = torch.where(ground < _DARKEST, low.clamp(max=int(DARK_CLEAN.max()) / 255), low)
    missing = ((low * mean.amax(1) - mean.amin(1)) / (1 - low)).clamp(min=0)
    black = (missing / (1 + missing)).minimum(most)[:, None]
    return mean * (1 - black) + black


def deep_inside(inside: Tensor) -> Tensor:
    """(n, S, S) pixels away from the border of what is inside, or all of them where there are too few such."""
    deep = functional.avg_pool2d(inside[:, None].float(), 3, 1, 1)[:, 0] > 0.99
    return torch.where((deep.sum((1, 2)) >= _DEEP)[:, None, None], deep, inside)
