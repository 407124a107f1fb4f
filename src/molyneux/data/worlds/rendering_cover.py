"""How far a coloured figure covers each pixel of a picture on grey ground, for the reader of renderings."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

GREYISH, _NOISE = 0.06, 1.5
"""Differences of the channels of a pixel that are taken for noise: up to the first, and up to so many times their median, which
is that of grey ground."""

HALVED = 0.35
"""Largest change of a cover that was stored at half of the resolution when it is stored so again, as a share of the differences
between neighbouring pixels (both in the root of the sum of squares)."""

_LUMA = (0.299, 0.587, 0.114)

_REACH, _NEAR, _ALIKE = 2, 1.6, 0.05
"""Joint bilateral upsampling: neighbours along each axis at half of the resolution, and standard deviations of the Gaussian
weights by distance in pixels and by difference in brightness."""


class Covers(NamedTuple):
    """Covers of pictures, times their brightness, 0 where there is no figure.

    Args:
        projected: (n, S, S) the part of each pixel's colour that is of the colour of the figure.
        sharpened: (n, S, S) the same with the borders that brightness, which is stored at full resolution, has nearby.
        halved: (n,) whether colours were stored at half of the resolution.
    """

    projected: Tensor
    sharpened: Tensor
    halved: Tensor


def on_black(view: Tensor, colours: Tensor) -> Tensor:
    """Pictures (n, 3, S, S) of figures on grey ground as they would be on black ground, from the colours (C, 3) of the world."""
    low = view.amin(1, keepdim=True)
    span = view.amax(1, keepdim=True) - low
    noise = (_NOISE * span.flatten(1).median(1).values).clamp(1e-6, GREYISH).view(-1, 1, 1, 1)
    clear = 1 - noise / span.clamp(min=1e-6).maximum(noise)
    saturated, span = clear * (view - low), clear * span
    grey = colours.amin(1, keepdim=True)
    share = (grey / (colours.amax(1, keepdim=True) - grey))[_likest(saturated, span, colours)]  # of grey to what is not grey
    return saturated + share[:, :, None, None] * span


def covers(view: Tensor, colours: Tensor) -> Covers:
    """How far figures in one of the colours (C, 3) of the world cover the pixels of pictures (n, 3, S, S) on grey ground.

    The cover at half of the resolution is made sharp again by joint bilateral upsampling (Kopf et al. 2007, section 3), with
    brightness as the guide.
    """
    saturated = view - view.amin(1, keepdim=True)
    hues = colours / colours.amax(1, keepdim=True)
    hues = hues - hues.mean(1, keepdim=True)
    hue = hues[_likest(saturated, saturated.amax(1, keepdim=True), colours)]
    projected = ((view - view.mean(1, keepdim=True)) * (hue / hue.square().sum(1, keepdim=True))[:, :, None, None]).sum(1)
    half = functional.avg_pool2d(projected[:, None], 2)
    again = functional.interpolate(half, projected.shape[1:], mode="bilinear", align_corners=False)[:, 0]
    steps = sum(projected.diff(dim=axis).square().sum((1, 2)) for axis in (1, 2))
    halved = (projected - again).square().sum((1, 2)) <= HALVED**2 * steps
    light = torch.einsum("c,nchw->nhw", view.new_tensor(_LUMA), view)
    return Covers(projected.clamp(min=0), _upsampled(half[:, 0], light).clamp(min=0), halved)


def _likest(saturated: Tensor, span: Tensor, colours: Tensor) -> Tensor:
    """(n,) the colour of the world that is most like what is not grey in pictures (n, 3, S, S), weighted by (n, 1, S, S)."""
    ink = (saturated * span).sum((2, 3))
    return (ink @ functional.normalize(colours - colours.amin(1, keepdim=True), dim=1).T).argmax(1)


def _upsampled(half: Tensor, light: Tensor) -> Tensor:
    """A cover (n, S / 2, S / 2) at the resolution of a guide (n, S, S)."""
    size, side = light.shape[-1], half.shape[-1]
    padded = (_REACH,) * 4
    values = functional.pad(half[:, None], padded, mode="replicate")[:, 0]
    guides = functional.pad(functional.avg_pool2d(light[:, None], 2), padded, mode="replicate")[:, 0]
    places = torch.arange(size)
    total, weights = torch.zeros_like(light), torch.full_like(light, 1e-8)
    for down in range(2 * _REACH + 1):
        for across in range(2 * _REACH + 1):
            value, guide = (_doubled(part[:, down : down + side, across : across + side]) for part in (values, guides))
            away_y, away_x = (2 * (places // 2 + step - _REACH) + 0.5 - places for step in (down, across))
            distance = away_y[:, None].square() + away_x.square()
            weight = (-distance / (2 * _NEAR**2) - (guide - light).square() / (2 * _ALIKE**2)).exp()
            total, weights = total + weight * value, weights + weight
    return total / weights


def _doubled(part: Tensor) -> Tensor:
    return part.repeat_interleave(2, 1).repeat_interleave(2, 2)
