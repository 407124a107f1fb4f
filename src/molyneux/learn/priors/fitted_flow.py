"""A normalising flow that is fitted to codes after training, in the place of the prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.learn.checks import not_positive, refuse, too_small
from molyneux.learn.posteriors.flows import Flow, FlowDistribution, standard_noise
from molyneux.learn.priors.prior import ExPostPrior, FittedDensity

__all__ = ["ExPostFlow", "FlowDensity"]

_BATCH = 256
"""Codes of one step of the fit."""

_HELD_OUT = 10
"""Of so many codes, one chooses the best weights and is not fitted to."""

_CHECKED_EVERY = 50
"""Steps between two looks at the codes that were held out."""


@dataclass(frozen=True)
class ExPostFlow(ExPostPrior):
    """A prior that is fitted after training (`ExPostPrior`): neural spline flows (`Flow`).

    One flow is the density of shared codes; each modality with private codes has another, their density given the shared code.
    They are fitted by maximum likelihood with Adam, and keep the weights that are best for a tenth of the codes, held out.

    Args:
        layers: coupling layers of a flow.
        width: units of each hidden layer of their nets.
        bins: pieces of a spline.
        steps: optimiser steps of each fit.
        learning_rate: of the first step; it goes to zero along half a cosine.
        samples: training samples whose codes they are fitted to, at most.
    """

    layers: int = 4
    width: int = 64
    bins: int = 8
    steps: int = 1500
    learning_rate: float = 2e-3
    samples: int = 20_000

    def __post_init__(self) -> None:
        small = too_small(self, "layers", "width", "steps", "samples") + too_small(self, "bins", least=2)
        refuse(f"prior.{problem}" for problem in [*small, *not_positive(learning_rate=self.learning_rate)])

    def density(self, shared: int, private: int = 0) -> FlowDensity:
        """See `ExPostPrior`."""
        return FlowDensity(self, shared, private)


class FlowDensity(FittedDensity):
    """A flow over shared codes, or over private codes given the shared one; the standard normal distribution until it is fitted.

    Args:
        settings: of the flow and its fit.
        shared: dimensions of the shared code.
        private: dimensions of the private code; 0 for a density of the shared code.
    """

    centre: Tensor
    spread: Tensor

    def __init__(self, settings: ExPostFlow, shared: int, private: int = 0) -> None:
        super().__init__()
        self.settings, self.shared, self.private = settings, shared, private
        self.flow = self._new_flow().requires_grad_(False)
        self.register_buffer("centre", torch.zeros(shared + private))
        self.register_buffer("spread", torch.ones(shared + private))

    def marginal(self, size: int) -> FlowDistribution:
        """See `FittedDensity`."""
        base = standard_noise((size,), self.shared, self.centre)
        return FlowDistribution(self.flow, base, centre=self.centre, spread=self.spread)

    def given(self, shared: Tensor) -> FlowDistribution:
        """See `FittedDensity`."""
        d = self.shared
        context = (shared - self.centre[:d]) / self.spread[:d]
        base = standard_noise(tuple(shared.shape[:-1]), self.private, shared)
        return FlowDistribution(self.flow, base, context, centre=self.centre[d:], spread=self.spread[d:])

    def fit(self, codes: np.ndarray, seed: int) -> None:
        """See `FittedDensity`; nothing is fitted to fewer than 20 codes. The same codes and seed give the same weights."""
        codes = codes[np.isfinite(codes).all(1)]
        if len(codes) < 2 * _HELD_OUT:
            return
        centre, spread = codes.mean(0), codes.std(0) + 1e-6
        self.centre.copy_(torch.from_numpy(centre))
        self.spread.copy_(torch.from_numpy(spread))
        scaled = torch.from_numpy((codes - centre) / spread).float()
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.manual_seed(seed)
            flow = self._new_flow()
            flow.load_state_dict(self._maximised(flow, scaled, torch.Generator().manual_seed(seed)))
        self.flow.load_state_dict(flow.state_dict())

    def _new_flow(self) -> Flow:
        features, context = (self.private, self.shared) if self.private else (self.shared, 0)
        chosen = self.settings
        return Flow(features, context, layers=chosen.layers, width=chosen.width, bins=chosen.bins, scale=0.0)

    def _maximised(self, flow: Flow, codes: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        """The weights of the flow that are best for the codes held out, of those at every 50th step."""
        codes = codes[torch.randperm(len(codes), generator=generator)]
        held, rest = codes[::_HELD_OUT], codes[torch.arange(len(codes)) % _HELD_OUT != 0]
        steps, optimizer = self.settings.steps, torch.optim.Adam(flow.parameters(), lr=self.settings.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        best, weights = self._loss(flow, held).item(), _copy_of(flow)
        for step in range(1, steps + 1):
            rows = torch.randint(len(rest), (min(_BATCH, len(rest)),), generator=generator)
            optimizer.zero_grad()
            torch.autograd.backward(self._loss(flow, rest[rows]))
            optimizer.step()
            schedule.step()
            if step % _CHECKED_EVERY == 0 or step == steps:
                with torch.no_grad():
                    found = self._loss(flow, held).item()
                if found < best:
                    best, weights = found, _copy_of(flow)
        return weights

    def _loss(self, flow: Flow, codes: Tensor) -> Tensor:
        """Mean negative log-likelihood of codes (N, D + P) in units of their spread, but for a constant."""
        context, values = (codes[:, : self.shared], codes[:, self.shared :]) if self.private else (None, codes)
        noise, volume = flow(values, context)
        loss: Tensor = (0.5 * noise.square().sum(-1) - volume).mean()
        return loss


def _copy_of(module: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
