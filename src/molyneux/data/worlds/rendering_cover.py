"""How far a coloured figure covers each pixel of a picture on grey ground, for the reader of renderings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_module

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import functional
else:
    torch = lazy_module("torch")
    functional = lazy_module("torch.nn.functional")


GREYISH, _NOISE = 0.06, 1.5
"""Differences of the channels of a pixel that are taken for noise: up to the first, and up to so many times their median, which
is that of grey ground."""

HALVED = 0.35
"""Largest change of a cover that was stored at half of the resolution when it is stored so again, as a share of the differences
between neighbouring pixels (both in the root of the sum of squares)."""

_LUMA = (0.299, 0.587, 0.114)
"""Brightness of red, green and blue as JPEG stores it (ITU-R BT.601)."""

_REACH, _NEAR, _ALIKE = 2, 1.6, 0.05
"""Joint bilateral upsampling: neighbours along each axis at half of the resolution, and standard deviations of the Gaussian
weights by distance in pixels and by difference in brightness."""


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


def projected(view: Tensor, colours: Tensor) -> Tensor:
    """(n, S, S) covers of pictures (n, 3, S, S), times their brightness: how much of each pixel's colour is that of the figure.

    The figure has the one of the world's colours (C, 3) that what is not grey is most like.
    """
    saturated = view - view.amin(1, keepdim=True)
    hues = colours / colours.amax(1, keepdim=True)
    hues = hues - hues.mean(1, keepdim=True)
    hue = hues[_likest(saturated, saturated.amax(1, keepdim=True), colours)]
    return ((view - view.mean(1, keepdim=True)) * (hue / hue.square().sum(1, keepdim=True))[:, :, None, None]).sum(1)


def halved(cover: Tensor) -> Tensor:
    """(n,) whether covers (n, S, S) were stored at half of the resolution."""
    again = functional.interpolate(_half(cover)[:, None], cover.shape[1:], mode="bilinear", align_corners=False)[:, 0]
    down, across = (cover.diff(dim=axis).square().sum((1, 2)) for axis in (1, 2))
    return (cover - again).square().sum((1, 2)) <= HALVED**2 * (down + across)


def sharpened(cover: Tensor, view: Tensor) -> Tensor:
    """(n, S, S) covers with the borders that brightness, which is stored at full resolution, has nearby in pictures (n, 3, S, S).

    Joint bilateral upsampling (Kopf et al. 2007, section 3) of the cover at half of the resolution, with brightness as the guide.
    """
    return _upsampled(_half(cover), torch.einsum("c,nchw->nhw", view.new_tensor(_LUMA), view))


def _half(part: Tensor) -> Tensor:
    """Means (n, h, h) over 2 x 2 pixels of parts (n, S, S); of what is there at the end of an odd number of pixels."""
    return functional.avg_pool2d(part[:, None], 2, ceil_mode=True)[:, 0]


def _likest(saturated: Tensor, span: Tensor, colours: Tensor) -> Tensor:
    """(n,) the colour of the world that is most like what is not grey in pictures (n, 3, S, S), weighted by (n, 1, S, S)."""
    ink = (saturated * span).sum((2, 3))
    return (ink @ functional.normalize(colours - colours.amin(1, keepdim=True), dim=1).T).argmax(1)


def _upsampled(half: Tensor, light: Tensor) -> Tensor:
    """A cover (n, S / 2, S / 2) at the resolution of a guide (n, S, S)."""
    size, side = light.shape[-1], half.shape[-1]
    padded = (_REACH,) * 4
    values = functional.pad(half[:, None], padded, mode="replicate")[:, 0]
    guides = functional.pad(_half(light)[:, None], padded, mode="replicate")[:, 0]
    places = torch.arange(size)
    total, weights = torch.zeros_like(light), torch.full_like(light, 1e-8)
    for down in range(2 * _REACH + 1):
        for across in range(2 * _REACH + 1):
            value, guide = (_doubled(part[:, down : down + side, across : across + side], size) for part in (values, guides))
            away_y, away_x = (2 * (places // 2 + step - _REACH) + 0.5 - places for step in (down, across))
            distance = away_y[:, None].square() + away_x.square()
            weight = (-distance / (2 * _NEAR**2) - (guide - light).square() / (2 * _ALIKE**2)).exp()
            total, weights = total + weight * value, weights + weight
    return total / weights


def _doubled(part: Tensor, size: int) -> Tensor:
    return part.repeat_interleave(2, 1).repeat_interleave(2, 2)[:, :size, :size]
