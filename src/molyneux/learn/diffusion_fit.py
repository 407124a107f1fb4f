"""The fit of a diffusion model to codes that are computed once, after the training of the autoencoders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from molyneux.core import TrainingError
from molyneux.learn.checks import levels_below_zero, not_positive, refuse, too_small
from molyneux.learn.hardware import has_bf16
from molyneux.learn.multitime_diffusion import MultiTimeDenoiser, Schedule, multitime_loss
from molyneux.learn.training import Precision

__all__ = ["CodePosteriors", "ExPostDiffusion", "fit_denoiser"]

_CHECKED_EVERY = 100
"""Steps between two looks at whether the loss is finite."""

_WIDE = 256
"""Width of the net from which on steps in bf16 take less time."""


@dataclass(frozen=True)
class ExPostDiffusion:
    """Settings of a diffusion model that is fitted to codes after training, with Adam.

    Codes are computed once, so that a step costs no more than the net of the diffusion model: batches can be large and steps
    many. What is kept is a running mean of the weights: Song et al., Score-Based Generative Modeling through Stochastic
    Differential Equations (ICLR 2021), appendix C, and many others.

    Args:
        steps: optimiser steps.
        batch_size: codes of a step.
        learning_rate: reached after `warmup_steps`; it goes to zero along half a cosine.
        warmup_steps: in which the learning rate grows evenly.
        average: decay rate of the running mean of the weights; 0 keeps the last ones.
        samples: training samples whose codes it is fitted to, at most.
        spread: of the codes that are drawn, in standard deviations of their posteriors; 0 takes their means.
        precision: `32`, `bf16` or `auto`: bf16 where the processor has it and the net is wide.
    """

    steps: int = 10_000
    batch_size: int = 512
    learning_rate: float = 1e-3
    warmup_steps: int = 0
    average: float = 0.999
    samples: int = 100_000
    spread: float = 1.0
    precision: Precision = "auto"

    def __post_init__(self) -> None:
        problems = [*too_small(self, "steps", "batch_size", "samples"), *not_positive(learning_rate=self.learning_rate)]
        problems += [] if 0 <= self.average < 1 else [f"average: expected a share in 0..1, below 1, got {self.average}"]
        problems += levels_below_zero(warmup_steps=self.warmup_steps, spread=self.spread)
        known = ("auto", "32", "bf16")
        problems += [] if self.precision in known else [f"precision: expected auto, 32 or bf16, got {self.precision!r}"]
        refuse(f"after.{problem}" for problem in problems)

    def uses_bf16(self, width: int) -> bool:
        """Whether the net, of that many units a layer, is trained with bf16 autocast."""
        return self.precision == "bf16" or (self.precision == "auto" and width >= _WIDE and has_bf16())


class CodePosteriors(NamedTuple):
    """Normal distributions of standardised codes, (N, D) means and standard deviations, and what is present, (N, M)."""

    mean: Tensor
    stddev: Tensor
    present: Tensor


def fit_denoiser(
    denoiser: MultiTimeDenoiser,
    codes: CodePosteriors,
    *,
    share: float,
    settings: ExPostDiffusion,
    seed: int,
    schedule: Schedule = "linear",
) -> None:
    """Fit a net to codes, each drawn anew for every step; the same codes and seed give the same weights.

    Args:
        denoiser: the net, fitted in place.
        codes: of the training samples.
        share: of the codes of which a part of the modalities is given (`multitime_loss`).
        settings: of the fit.
        seed: of all randomness.
        schedule: of the noise.

    Raises:
        TrainingError: the loss is not finite.
    """
    device = codes.mean.device
    generator = torch.Generator(device).manual_seed(seed)
    sizes, width = tuple(denoiser.sizes.values()), denoiser.width
    parameters = list(denoiser.parameters())
    means = [parameter.detach().clone() for parameter in parameters]
    optimizer = torch.optim.Adam(parameters, lr=settings.learning_rate, fused=True)
    for step in range(settings.steps):
        for group in optimizer.param_groups:
            grown = min(1.0, (step + 1) / (settings.warmup_steps + 1))
            group["lr"] = settings.learning_rate * grown * 0.5 * (1 + math.cos(math.pi * step / settings.steps))
        rows = torch.randint(len(codes.mean), (settings.batch_size,), generator=generator, device=device)
        noise = torch.randn((len(rows), codes.mean.shape[1]), generator=generator, device=device)
        drawn = codes.mean[rows] + settings.spread * codes.stddev[rows] * noise
        with torch.enable_grad(), torch.autocast(device.type, torch.bfloat16, enabled=settings.uses_bf16(width)):
            loss = multitime_loss(denoiser, drawn, codes.present[rows], sizes, share, generator, schedule).mean()
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        # Warmed up, so that the first weights do not count for long.
        decay = min(settings.average, (1 + step) / (10 + step)) if settings.average else 0.0
        torch._foreach_lerp_(means, [parameter.detach() for parameter in parameters], 1 - decay)
        if step % _CHECKED_EVERY == 0 or step + 1 == settings.steps:
            _require_finite(loss, step)
    with torch.no_grad():
        for parameter, mean in zip(parameters, means, strict=True):
            parameter.copy_(mean)


def _require_finite(loss: Tensor, step: int) -> None:
    if not bool(loss.isfinite()):
        raise TrainingError(
            f"diffusion model, step {step + 1}: expected a finite loss, got {loss.item()}: lower after.learning_rate"
        )
