"""Views as a generator might make them: a judge has to read soft and noisy ones too."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def soften(view: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Pictures (B, C, H, W) in 0..1, spoiled.

    Half of them are blurred by a drawn amount (up to a 5 x 5 binomial filter, one in eight up to twice: 1.4 pixels standard
    deviation); each is dimmed or brightened by up to 20 % and gets noise of up to 5 % standard deviation.
    """
    amount, gain, noise = torch.rand(3, len(view), 1, 1, 1, generator=generator, device=view.device)
    gain = 0.8 + 0.4 * gain
    weights = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0], device=view.device) / 16
    kernel = torch.outer(weights, weights).expand(view.shape[1], 1, 5, 5)
    mixed = view
    for share in ((2 * amount - 1).clamp(min=0), (8 * amount - 7).clamp(min=0)):  # half of the pictures stay sharp
        mixed = mixed + share * (functional.conv2d(mixed, kernel, padding=2, groups=view.shape[1]) - mixed)
    static = torch.randn(view.shape, generator=generator, device=view.device)
    spoiled: Tensor = gain * mixed + 0.05 * noise * static
    return spoiled.clamp(0, 1)


def jitter(view: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Series (B, T, D): each value gets noise of a drawn standard deviation, up to 2 % of its channel's over the batch."""
    amount = torch.rand(len(view), 1, 1, generator=generator, device=view.device)
    static = torch.randn(view.shape, generator=generator, device=view.device)
    return view + 0.02 * amount * view.std((0, 1)) * static


def blur(view: Tensor, sigma: float) -> Tensor:
    """Pictures (B, C, H, W) blurred by a Gaussian of so many pixels; at the border the nearest pixel goes on."""
    reach = round(3 * sigma)
    steps = torch.arange(-reach, reach + 1, dtype=view.dtype)
    kernel = torch.softmax(-(steps**2) / (2 * sigma**2), 0)
    channels = view.shape[1]
    for shape, padding in (((1, 1, -1, 1), (0, 0, reach, reach)), ((1, 1, 1, -1), (reach, reach, 0, 0))):
        padded = functional.pad(view, padding, mode="replicate")
        view = functional.conv2d(padded, kernel.view(shape).expand(channels, 1, *kernel.view(shape).shape[2:]), groups=channels)
    return view
