"""How noise grows with time in a diffusion model."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

BETA_MIN, BETA_MAX = 0.1, 20.0
"""Rates of the noise at time 0 and 1, those of Song et al. (2021)."""

_END = 0.999
"""The share of a cosine that is run through, so that something is left of the codes in the end."""

Schedule = Literal["linear", "cosine"]
"""How noise grows with time, see `signal_and_noise`."""


def signal_and_noise(time: Tensor, schedule: Schedule = "linear") -> tuple[Tensor, Tensor]:
    """Factors `a` and `s` of codes and noise at times in 0..1: `z_t = a z + s noise`, with `a^2 + s^2 = 1`.

    `linear`: Song et al., Score-Based Generative Modeling through Stochastic Differential Equations (ICLR 2021), equation 33: the
    variance preserving process, whose rate of noise rises linearly. `cosine`: Nichol & Dhariwal, Improved Denoising Diffusion
    Probabilistic Models (ICML 2021), section 3.2, `a = cos(pi t / 2)`, up to t = 0.999: more of the time lies where codes of many
    numbers are decided.
    """
    if schedule == "cosine":
        angle = _END * 0.5 * math.pi * time
        return angle.cos(), angle.sin()
    log_signal = -0.25 * time.square() * (BETA_MAX - BETA_MIN) - 0.5 * time * BETA_MIN
    return log_signal.exp(), (-torch.expm1(2 * log_signal)).sqrt()


class TimeFeatures(nn.Module):
    """Sines and cosines of times.

    Args:
        frequencies: how many, from half a turn to 64 turns of a time from 0 to 1.
    """

    frequencies: Tensor

    def __init__(self, frequencies: int = 16) -> None:
        super().__init__()
        self.size = 2 * frequencies
        self.register_buffer("frequencies", math.pi * 2.0 ** torch.linspace(-1, 6, frequencies), persistent=False)

    def forward(self, times: Tensor) -> Tensor:
        """Features (..., 2 F) of times (...)."""
        angles = times.unsqueeze(-1) * self.frequencies
        return torch.cat([angles.sin(), angles.cos()], -1)
