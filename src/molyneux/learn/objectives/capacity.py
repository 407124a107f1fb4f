"""A divergence of a given size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from molyneux.core import ConfigError, Loss
from molyneux.learn.objectives.objective import Objective, Penalty, Sampled
from molyneux.learn.objectives.weight import Weight, weight_at, weight_problems


@dataclass(frozen=True)
class Capacity(Objective):
    """CCI-VAE, the distance of the divergence from a capacity C: Burgess et al., Understanding disentangling in beta-VAE (2018).

    Equation 8; `per` says of what the distance is taken. "sample": `beta mean_i |KL_i - C|`, every sample by itself, as in
    "Unsupervised Representation Disentanglement of Text". "batch": `beta |mean_i KL_i - C|`, as the annealed VAE of
    disentanglement_lib, whose name for beta is gamma. The first is never the smaller one.

    Both publications raise C linearly over so many steps: `capacity: {value: 10, steps: 5000}`; validation has the final C.

    Args:
        beta: weight of the distance.
        capacity: C in nats.
        per: "sample" or "batch".
    """

    beta: Weight = 1.0
    capacity: Weight = 5.0
    per: Literal["sample", "batch"] = "sample"

    def __post_init__(self) -> None:
        problems = weight_problems(beta=self.beta, capacity=self.capacity)
        if self.per not in ("sample", "batch"):
            problems.append(f'per: expected "sample" or "batch", got {self.per!r}')
        if problems:
            raise ConfigError(problems)

    def build(self, latent_dim: int) -> Penalty:
        """See `Objective`."""
        return _Distance(self)


class _Distance(Penalty):
    def __init__(self, settings: Capacity) -> None:
        super().__init__()
        self.settings = settings

    def cost(self, sampled: Sampled, rate: Tensor) -> Loss:
        """See `Penalty`."""
        beta, capacity = (weight_at(weight, sampled.progress) for weight in (self.settings.beta, self.settings.capacity))
        each = rate.sum(-1)
        gap = (each - capacity).abs().mean() if self.settings.per == "sample" else (each.mean() - capacity).abs()
        return Loss(beta * gap, {"gap": gap.detach()})
