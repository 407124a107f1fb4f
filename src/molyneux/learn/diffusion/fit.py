"""The fit of a diffusion model to codes that are computed once, after the training of the autoencoders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import NamedTuple, get_args

import torch
from torch import Tensor

from molyneux.core import FitStore, TrainingError
from molyneux.learn.checks import levels_below_zero, not_positive, refuse, too_small
from molyneux.learn.diffusion.multitime import MultiTimeDenoiser, multitime_loss
from molyneux.learn.diffusion.schedule import Schedule
from molyneux.learn.diffusion.tokens import TokenDenoiser
from molyneux.learn.files import tensors_digest
from molyneux.learn.training.checkpoints import moments, restore_moments
from molyneux.learn.training.hardware import can_use_bf16, device_has_bf16
from molyneux.learn.training.settings import Precision

__all__ = ["CodeNet", "CodePosteriors", "ExPostDiffusion", "fit_denoiser"]

CodeNet = MultiTimeDenoiser | TokenDenoiser
"""A net that predicts velocities of codes."""

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
        precision: `32`, `bf16` or `auto`: bf16 where the net is wide, and the processor or the CUDA device has it. Where the
            device has no bf16 arithmetic, the fit is in 32 bits.
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
        known = get_args(Precision)
        problems += [] if self.precision in known else [f"precision: expected one of {', '.join(known)}, got {self.precision!r}"]
        refuse(f"after.{problem}" for problem in problems)

    def uses_bf16(self, width: int, device: str) -> bool:
        """Whether the net, of that many units a layer, is trained with bf16 autocast on a device of this type."""
        if self.precision != "auto":
            return self.precision == "bf16" and can_use_bf16(device)
        return width >= _WIDE and device_has_bf16(device)


class CodePosteriors(NamedTuple):
    """Normal distributions of standardised codes, (N, D) means and standard deviations, and what is present, (N, M)."""

    mean: Tensor
    stddev: Tensor
    present: Tensor


def fit_denoiser(
    denoiser: CodeNet,
    codes: CodePosteriors,
    *,
    share: float,
    settings: ExPostDiffusion,
    seed: int,
    schedule: Schedule = "linear",
    alone: float = 0.0,
    kept: FitStore | None = None,
) -> None:
    """Fit a net to codes, each drawn anew for every step; the same codes and seed give the same weights.

    Args:
        denoiser: the net, fitted in place.
        codes: of the training samples.
        share: of the codes of which a part of the modalities is given (`multitime_loss`).
        settings: of the fit.
        seed: of all randomness.
        schedule: of the noise.
        alone: share of the codes of which one modality is learned alone (`multitime_loss`).
        kept: has the state of a fit that was stopped, and gets that of this one; None starts anew and keeps nothing.

    Raises:
        TrainingError: the loss is not finite.
    """
    sizes, device = tuple(denoiser.sizes.values()), codes.mean.device
    bf16 = settings.uses_bf16(denoiser.width, device.type)
    fit = _Fit(denoiser, settings, seed, device)
    if kept is not None:
        made_by = {"after": asdict(settings), "share": share, "schedule": schedule, "alone": alone, "seed": seed, "bf16": bf16}
        fit.resume(kept.state({**made_by, "codes": tensors_digest(codes._asdict())}))
    for step in fit.steps():
        rows = torch.randint(len(codes.mean), (settings.batch_size,), generator=fit.generator, device=device)
        noise = torch.randn((len(rows), codes.mean.shape[1]), generator=fit.generator, device=device)
        drawn, present = codes.mean.index_select(0, rows), codes.present.index_select(0, rows)
        if settings.spread:
            drawn = drawn + settings.spread * codes.stddev.index_select(0, rows) * noise
        with torch.enable_grad(), torch.autocast(device.type, torch.bfloat16, enabled=bf16):
            loss = multitime_loss(denoiser, drawn, present, sizes, share, fit.generator, schedule, alone=alone).mean()
        fit.learn(loss)
        if step % _CHECKED_EVERY == 0 or step + 1 == settings.steps:
            _require_finite(loss, step)
        if kept is not None:
            kept.keep(step + 1, settings.steps, settings.batch_size, fit.state)
    fit.end()


class _Fit:
    """Where a fit stands: the net, the optimiser, the running means of the weights and the generator of random numbers."""

    def __init__(self, net: CodeNet, settings: ExPostDiffusion, seed: int, device: torch.device) -> None:
        self.net, self.settings, self.done = net, settings, 0
        self.generator = torch.Generator(device).manual_seed(seed)
        self.parameters = dict(net.named_parameters())
        self.means = {name: parameter.detach().clone() for name, parameter in self.parameters.items()}
        self._now_and_mean = [parameter.detach() for parameter in self.parameters.values()], list(self.means.values())
        self.optimizer = torch.optim.Adam(self.parameters.values(), lr=settings.learning_rate, fused=True)

    def steps(self) -> Iterator[int]:
        """The numbers of the steps that are left, each with its learning rate set."""
        for step in range(self.done, self.settings.steps):
            grown = min(1.0, (step + 1) / (self.settings.warmup_steps + 1))
            for group in self.optimizer.param_groups:
                group["lr"] = self.settings.learning_rate * grown * 0.5 * (1 + math.cos(math.pi * step / self.settings.steps))
            yield step

    def learn(self, loss: Tensor) -> None:
        """Make a step."""
        self.optimizer.zero_grad()
        torch.autograd.backward(loss)
        self.optimizer.step()
        # Warmed up, so that the first weights do not count for long.
        average = self.settings.average
        decay = min(average, (1 + self.done) / (10 + self.done)) if average else 0.0
        torch._foreach_lerp_(self._now_and_mean[1], self._now_and_mean[0], 1 - decay)
        self.done += 1

    @torch.no_grad()
    def end(self) -> None:
        """Give the net the running means."""
        for name, parameter in self.parameters.items():
            parameter.copy_(self.means[name])

    def state(self) -> dict[str, Tensor]:
        """All of it as tensors."""
        return {
            "done": torch.tensor(self.done),
            "generator": self.generator.get_state(),
            **{f"weights:{name}": parameter.detach() for name, parameter in self.parameters.items()},
            **{f"means:{name}": mean for name, mean in self.means.items()},
            **{f"moments:{name}": value for name, value in moments(self.net, self.optimizer).items()},
        }

    @torch.no_grad()
    def resume(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state` gave; from the start where that is empty."""
        if not state:
            return
        self.done = int(state["done"])
        self.generator.set_state(state["generator"])
        for name, parameter in self.parameters.items():
            parameter.copy_(state[f"weights:{name}"])
            self.means[name].copy_(state[f"means:{name}"])
        saved = {name: value for name, value in state.items() if name.startswith("moments:")}
        restore_moments(self.net, self.optimizer, {name.removeprefix("moments:"): value for name, value in saved.items()})


def _require_finite(loss: Tensor, step: int) -> None:
    if not bool(loss.isfinite()):
        raise TrainingError(
            f"diffusion model, step {step + 1}: expected a finite loss, got {loss.item()}: lower after.learning_rate"
        )
