"""InfoNCE between paired vectors, and its learned temperature."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

LARGEST_SCALE = 100.0
"""The inverse temperature is at most this and at least 1, as in CLIP."""


def temperature_problems(temperature: float) -> list[str]:
    """What is wrong with a temperature at the start of a training."""
    if 1 / LARGEST_SCALE <= temperature <= 1:
        return []
    return [f"temperature: expected a number from {1 / LARGEST_SCALE} to 1, got {temperature}"]


def bounded_scale(log_scale: Tensor) -> Tensor:
    """The inverse temperature of a learned logarithm, a scalar in 1..100."""
    bounded: Tensor = _Bounded.apply(log_scale, 0.0, math.log(LARGEST_SCALE))  # type: ignore[no-untyped-call]
    return bounded.exp()


class _Bounded(torch.autograd.Function):
    """A number kept in a range; out of it, only a gradient that leads back in passes, so that it never stays outside."""

    generate_vmap_rule = True  # so that several trainings can be computed at once

    @staticmethod
    def forward(value: Tensor, low: float, high: float) -> Tensor:
        return value.clamp(low, high)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, float, float], output: Tensor) -> None:
        value, ctx.low, ctx.high = inputs
        ctx.save_for_backward(value)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (value,), gradient = ctx.saved_tensors, gradients[0]
        outwards = ((value >= ctx.high) & (gradient < 0)) | ((value <= ctx.low) & (gradient > 0))
        return gradient.where(~outwards, 0), None, None


def info_nce(first: Tensor, second: Tensor, scale: Tensor | float, kinds: Tensor | None = None) -> Tensor:
    """The symmetric cross-entropy of pairs (N, D), (N, D) in nats: each row finds its partner among all, and the other way round.

    Logits are `scale` times the inner products. 0 of no pairs; 0 of one; ln N where all similarities are equal. In full
    precision, under autocast too.

    Args:
        first: one of the two vectors of each pair.
        second: the other one.
        scale: the inverse temperature.
        kinds: integers (N,); a row is not compared with others of its own kind. Negative ones are kinds of their own. None
            compares each row with all.
    """
    with torch.autocast(first.device.type, enabled=False):
        logits = scale * (first.float() @ second.float().T)
        partner = torch.arange(len(logits), device=logits.device)
        if kinds is not None:
            same = (kinds.unsqueeze(0) == kinds.unsqueeze(1)) & (kinds >= 0)
            logits = logits.masked_fill(same & (partner.unsqueeze(0) != partner.unsqueeze(1)), -math.inf)
        if not len(logits):
            return logits.sum()
        return 0.5 * (functional.cross_entropy(logits, partner) + functional.cross_entropy(logits.T, partner))
