"""Priors of private codes given the shared one that are trained with the model: normal, mixture of normals, flow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from molyneux.core import CodeDistribution
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.posteriors import DiagonalNormal, draw_component, expert_parameters
from molyneux.learn.posteriors.flows import Flow, FlowDistribution, standard_noise

__all__ = ["ConditionalFlow", "ConditionalMixture", "ConditionalNormal", "PrivateDensity", "PrivatePrior"]

_FIRST_SCALE = 0.1
"""Factor of the initial weights of the last layer, so that a new prior is near a standard normal."""


class PrivateDensity(nn.Module, ABC):
    """A density of the private codes of one modality given the shared code. Satisfies `core.ConditionalCode`."""

    @abstractmethod
    def given(self, shared: Tensor) -> CodeDistribution:
        """The distribution of private codes (..., B, P) given shared ones (..., B, D)."""


class PrivatePrior(ABC):
    """Settings of a density of private codes given the shared one."""

    @abstractmethod
    def density(self, shared: int, private: int) -> PrivateDensity:
        """A new density for codes of these dimensions."""


@dataclass(frozen=True)
class ConditionalNormal(PrivatePrior):
    """A normal distribution with independent dimensions, whose parameters a net makes of the shared code.

    Its divergence from a posterior is in closed form.

    Args:
        width: units of each hidden layer of the net.
        layers: hidden layers.
    """

    width: int = 128
    layers: int = 2

    def __post_init__(self) -> None:
        refuse(_problems(self, "width", "layers"))

    def density(self, shared: int, private: int) -> PrivateDensity:
        """See `PrivatePrior`."""
        return _NormalDensity(_net(shared, self.width, self.layers, 2 * private))


@dataclass(frozen=True)
class ConditionalMixture(PrivatePrior):
    """A mixture of normal distributions with independent dimensions: a mixture density network (Bishop, 1994).

    Weights, means and variances are made of the shared code by one net. The divergence is estimated with the codes drawn.

    Args:
        components: normals in the mixture.
        width: units of each hidden layer of the net.
        layers: hidden layers.
    """

    components: int = 16
    width: int = 128
    layers: int = 2

    def __post_init__(self) -> None:
        refuse(_problems(self, "components", "width", "layers"))

    def density(self, shared: int, private: int) -> PrivateDensity:
        """See `PrivatePrior`."""
        outputs = self.components * (1 + 2 * private)
        return _MixtureDensity(self.components, _net(shared, self.width, self.layers, outputs), private)


@dataclass(frozen=True)
class ConditionalFlow(PrivatePrior):
    """A neural spline flow (`Flow`) whose splines depend on the shared code. The divergence is estimated with the codes drawn.

    Args:
        layers: coupling layers.
        width: units of the two hidden layers of the net of each coupling layer.
        bins: pieces of a spline.
    """

    layers: int = 4
    width: int = 64
    bins: int = 8

    def __post_init__(self) -> None:
        refuse([*_problems(self, "layers", "width"), *_problems(self, "bins", least=2)])

    def density(self, shared: int, private: int) -> PrivateDensity:
        """See `PrivatePrior`."""
        return _FlowDensity(Flow(private, shared, layers=self.layers, width=self.width, bins=self.bins))


class DiagonalMixture:
    """A mixture over codes (..., B, P) of normals with independent dimensions. Satisfies `core.CodeDistribution`.

    Args:
        log_weights: of the C components, (..., B, C); their exponentials have sum 1.
        components: loc (..., B, C, P).
    """

    def __init__(self, log_weights: Tensor, components: DiagonalNormal) -> None:
        self.log_weights, self.components = log_weights, components

    @property
    def mean(self) -> Tensor:
        """The mean, (..., B, P)."""
        return (self.log_weights.exp().unsqueeze(-1) * self.components.loc).sum(-2)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, ..., B, P). The gradient reaches the components that are drawn, not the weights."""
        count, size = self.components.loc.shape[-2:]
        choice = draw_component(self.log_weights.exp().reshape(-1, count).T, tuple(sample_shape), generator)
        parts = DiagonalNormal(*(item.reshape(-1, count, size) for item in (self.components.loc, self.components.log_variance)))
        drawn = parts[torch.arange(choice.shape[-1], device=choice.device), choice].rsample((), generator)
        return drawn.reshape(*sample_shape, *self.components.loc.shape[:-2], size)

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, (*leading, ..., B, P) -> (*leading, ..., B)."""
        return (self.log_weights + self.components.log_prob(value.unsqueeze(-2))).logsumexp(-1)


class _NormalDensity(PrivateDensity):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def given(self, shared: Tensor) -> DiagonalNormal:
        """See `PrivateDensity`."""
        return DiagonalNormal(*expert_parameters(self.net(shared)))


class _MixtureDensity(PrivateDensity):
    def __init__(self, components: int, net: nn.Module, private: int) -> None:
        super().__init__()
        self.net, self.components = net, components
        self.centres = nn.Parameter(torch.randn(components, private))  # apart from each other, or they would stay alike

    def given(self, shared: Tensor) -> DiagonalMixture:
        """See `PrivateDensity`."""
        raw = self.net(shared).float()
        weights, rest = raw[..., : self.components], raw[..., self.components :]
        loc, log_variance = expert_parameters(rest.unflatten(-1, (self.components, -1)))
        return DiagonalMixture(weights.log_softmax(-1), DiagonalNormal(loc + self.centres, log_variance))


class _FlowDensity(PrivateDensity):
    def __init__(self, flow: Flow) -> None:
        super().__init__()
        self.flow = flow

    def given(self, shared: Tensor) -> FlowDistribution:
        """See `PrivateDensity`."""
        base = standard_noise(tuple(shared.shape[:-1]), self.flow.features, shared.float())
        return FlowDistribution(self.flow, base, shared)


def _net(inputs: int, width: int, layers: int, outputs: int) -> nn.Module:
    sizes = [inputs, *[width] * layers]
    hidden = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
    last = nn.Linear(width, outputs)
    with torch.no_grad():
        for parameter in last.parameters():
            parameter.mul_(_FIRST_SCALE)
    return nn.Sequential(*hidden, last)


def _problems(settings: object, *names: str, least: int = 1) -> list[str]:
    return [f"private_prior.{problem}" for problem in too_small(settings, *names, least=least)]
