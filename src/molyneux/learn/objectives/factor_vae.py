"""FactorVAE: total correlation estimated by a discriminator."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from molyneux.core import ConfigError, Loss
from molyneux.learn.objectives.bounds import Objective, Sampled
from molyneux.learn.objectives.penalties import Penalty, frozen
from molyneux.learn.objectives.weights import Weight, weight_at, weight_problems


@dataclass(frozen=True)
class FactorVAE(Objective):
    """FactorVAE: Kim & Mnih, Disentangling by Factorising (ICML 2018), equation 2.

    `KL + gamma TC`, where the total correlation of the codes is the mean log-odds that a discriminator gives them of being codes
    and not codes whose dimensions were permuted across the batch, each by itself (algorithm 1). The discriminator learns to tell
    the two apart in the same step: it is a constant in the cost of the codes, and the codes are constants in its own loss, so
    both get the gradients that two optimisers would compute.

    Deviations: one optimiser with one learning rate for both, where the paper gives the discriminator its own (1e-4, betas 0.5
    and 0.9); clipping, if wanted, is by the norm of all gradients together. One batch serves both, as in disentanglement_lib.
    One log-odds in place of two logits. In evaluation the discriminator's loss is reported and counts nothing, for it is no cost
    of the model.

    Args:
        gamma: weight of the total correlation.
        width: units of each hidden layer of the discriminator.
        layers: its hidden layers, with leaky ReLU (0.2).
    """

    gamma: Weight = 10.0
    width: int = 1000
    layers: int = 6

    def __post_init__(self) -> None:
        problems = weight_problems(gamma=self.gamma)
        for name in ("width", "layers"):
            if getattr(self, name) < 1:
                problems.append(f"{name}: expected at least 1, got {getattr(self, name)}")
        if problems:
            raise ConfigError(problems)

    def build(self, latent_dim: int) -> Penalty:
        """See `Objective`."""
        return _Discriminated(self, latent_dim)


def permute_dimensions(codes: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Codes (B, D) with every dimension permuted across the batch by itself."""
    order = torch.rand(codes.shape, generator=generator, device=codes.device).argsort(0)
    return codes.gather(0, order)


class _Discriminated(Penalty):
    fewest = 2

    def __init__(self, settings: FactorVAE, latent_dim: int) -> None:
        super().__init__()
        self.settings = settings
        sizes = [latent_dim, *[settings.width] * settings.layers]
        hidden = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.LeakyReLU(0.2))]
        self.discriminator = nn.Sequential(*hidden, nn.Linear(settings.width, 1))

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        with frozen(self.discriminator):
            total_correlation = self._log_odds(sampled.codes).mean()
        codes = sampled.codes.detach()
        real, permuted = self._log_odds(codes), self._log_odds(permute_dimensions(codes, sampled.generator))
        own = 0.5 * (softplus(-real).mean() + softplus(permuted).mean())
        total = rate.sum(-1).mean() + weight_at(self.settings.gamma, sampled.progress) * total_correlation
        terms = {"total_correlation": total_correlation.detach(), "discriminator": own.detach()}
        return Loss(total + own if self.training else total, terms)

    def _log_odds(self, codes: Tensor) -> Tensor:
        odds: Tensor = self.discriminator(codes).squeeze(-1)
        return odds
