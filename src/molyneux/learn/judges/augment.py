"""Views as a generator might make them: a judge has to read soft and noisy ones too."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def soften(view: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Pictures (B, C, H, W) in 0..1, spoiled.

    Half of them are blurred by a drawn amount (up to a 5 x 5 binomial filter); each is dimmed or brightened by up to 20 %
    and gets noise of up to 5 % standard deviation.
    """
    amount, gain, noise = torch.rand(3, len(view), 1, 1, 1, generator=generator, device=view.device)
    gain = 0.8 + 0.4 * gain
    weights = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0], device=view.device) / 16
    kernel = torch.outer(weights, weights).expand(view.shape[1], 1, 5, 5)
    blurred = functional.conv2d(view, kernel, padding=2, groups=view.shape[1])
    mixed = view + (2 * amount - 1).clamp(min=0) * (blurred - view)  # half of the pictures stay sharp
    static = torch.randn(view.shape, generator=generator, device=view.device)
    spoiled: Tensor = gain * mixed + 0.05 * noise * static
    return spoiled.clamp(0, 1)


def jitter(view: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Series (B, T, D): each value gets noise of a drawn standard deviation, up to 2 % of its channel's over the batch."""
    amount = torch.rand(len(view), 1, 1, generator=generator, device=view.device)
    static = torch.randn(view.shape, generator=generator, device=view.device)
    return view + 0.02 * amount * view.std((0, 1)) * static
