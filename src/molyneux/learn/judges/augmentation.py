"""What pictures and contours are put through before a judge learns from them: blur, noise, the blocks of JPEG."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

_BLOCK = 8

_LUMA = (
    (16, 11, 10, 16, 24, 40, 51, 61),
    (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77),
    (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101),
    (72, 92, 95, 98, 112, 100, 103, 99),
)
_CHROMA = ((17, 18, 24, 47), (18, 21, 26, 66), (24, 26, 56, 99), (47, 66, 99, 99))
"""Steps of brightness and of colour at quality 50 (ITU-T T.81, annex K); those of colour are 99 but for the first."""

_YCBCR = ((0.299, 0.587, 0.114), (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))


def soften(view: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Augmented pictures (B, C, H, W) in 0..1, soft and noisy as a generator might make them.

    Half of them are blurred by a drawn amount (up to a 5 x 5 binomial filter, one in eight up to twice: 1.4 pixels standard
    deviation); each is dimmed or brightened by up to 10 % and gets noise of up to 5 % standard deviation. A quarter is
    `compressed`.
    """
    amount, gain, noise = torch.rand(3, len(view), 1, 1, 1, generator=generator, device=view.device)
    soft = view.clone()
    for share in (2 * amount - 1, 8 * amount - 7):  # half of the pictures stay sharp
        rows = torch.nonzero(share.flatten() > 0).flatten()
        soft[rows] = torch.lerp(soft[rows], _binomial(soft[rows]), share[rows])
    static = 12**0.5 * (torch.rand(view.shape, generator=generator, device=view.device) - 0.5)
    augmented: Tensor = soft.mul_(0.9 + 0.2 * gain).add_(static.mul_(0.05 * noise)).clamp_(0, 1)
    draw = torch.rand(2, len(view), generator=generator, device=view.device)
    rows = torch.nonzero(draw[0] < 0.25).flatten()
    with torch.autocast(view.device.type, enabled=False):  # cosines of 8 bits are no cosines
        augmented[rows] = compressed(augmented[rows], 70 + 25 * draw[1][rows])
    return augmented


def _binomial(view: Tensor) -> Tensor:
    """Pictures (B, C, H, W) filtered by 1, 4, 6, 4, 1 sixteenths along both axes, black beyond the border."""
    for axis in (3, 2):
        padded = functional.pad(view, (2, 2) if axis == 3 else (0, 0, 2, 2))
        a, b, c, d, e = (padded.narrow(axis, start, view.shape[axis]) for start in range(5))
        view = (a + e).add_(b + d, alpha=4).add_(c, alpha=6).div_(16)
    return view


def jitter(view: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Series (B, T, D): each value gets noise of a drawn standard deviation, up to 2 % of its channel's over the batch."""
    amount = torch.rand(len(view), 1, 1, generator=generator, device=view.device)
    static = torch.randn(view.shape, generator=generator, device=view.device)
    return view + 0.02 * amount * view.std((0, 1)) * static


def compressed(view: Tensor, quality: Tensor) -> Tensor:
    """Pictures (B, C, H, W) in 0..1 as JPEG of a quality (B,) from 50 to 100 stores them; colours at half of the resolution.

    Pictures of 3 channels are taken for RGB; channels of others are each taken for brightness.
    """
    height, width = view.shape[2:]
    padded = functional.pad(255 * view, (0, -width % (2 * _BLOCK), 0, -height % (2 * _BLOCK)), mode="replicate")
    scale = ((200 - 2 * quality) / 100).view(-1, 1, 1, 1, 1, 1)
    chroma = functional.pad(view.new_tensor(_CHROMA), (0, 4, 0, 4), value=99.0)
    if view.shape[1] != 3:
        return (_quantised(padded - 128, view.new_tensor(_LUMA), scale) + 128)[:, :, :height, :width].div(255).clamp(0, 1)
    matrix = view.new_tensor(_YCBCR)
    turned = torch.einsum("ij,bjhw->bihw", matrix, padded)
    light = _quantised(turned[:, :1] - 128, view.new_tensor(_LUMA), scale) + 128
    coarse = _quantised(functional.avg_pool2d(turned[:, 1:], 2), chroma, scale)
    fine = functional.interpolate(coarse, scale_factor=2, mode="bilinear", align_corners=False)
    back = torch.einsum("ij,bjhw->bihw", torch.linalg.inv(matrix), torch.cat([light, fine], 1))
    return back[:, :, :height, :width].div(255).clamp(0, 1)


def _quantised(channels: Tensor, steps: Tensor, scale: Tensor) -> Tensor:
    """Channels (B, C, H, W) whose cosines, in blocks of 8 x 8, are rounded to multiples of `steps` times `scale`."""
    place = torch.arange(_BLOCK, device=channels.device)
    cosine = torch.cos(torch.pi / _BLOCK * (place + 0.5) * place[:, None]) * (2 / _BLOCK) ** 0.5
    cosine[0] /= 2**0.5
    batch, depth, height, width = channels.shape
    blocks = channels.view(batch, depth, height // _BLOCK, _BLOCK, width // _BLOCK, _BLOCK).transpose(3, 4)
    step = (steps * scale).round().clamp(min=1)
    rounded = ((cosine @ blocks @ cosine.T) / step).round() * step
    found: Tensor = (cosine.T @ rounded @ cosine).transpose(3, 4).reshape(channels.shape)
    return found
