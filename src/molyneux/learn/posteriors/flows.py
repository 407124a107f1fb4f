"""Normalising flows over codes: rational-quadratic splines (library `zuko`), with noise drawn by a generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from molyneux.core.lazy import lazy_module
from molyneux.learn.posteriors import Diagonal, DiagonalNormal

coupling = lazy_module("molyneux.learn.posteriors.coupling")

_FIXED_DRAWS = 32
"""Draws that the mean of a flow is estimated with; always the same ones."""


class Flow(nn.Module):
    """An invertible map from codes to noise of the same dimensions, which may depend on a context.

    Durkan et al., Neural Spline Flows (NeurIPS 2019): monotonic rational-quadratic splines on [-5, 5] and the identity beyond, in
    coupling layers, of which each changes one half of the dimensions given the other half (and the context). Densities and
    samples cost the same. A new flow is near the identity.

    Args:
        features: dimensions of a code.
        context: dimensions of the context; 0 for none.
        layers: coupling layers.
        width: units of the two hidden layers of the net of each coupling layer.
        bins: pieces of a spline.
        scale: factor of the initial weights of the last layer of these nets; with 0 the flow begins as the identity.
    """

    def __init__(
        self, features: int, context: int = 0, *, layers: int = 4, width: int = 64, bins: int = 8, scale: float = 0.1
    ) -> None:
        super().__init__()
        from zuko.flows import NSF  # takes a while to import, and only models with flows need it

        self.features = features
        hidden = (width, width)
        self.layers = NSF(features, context, bins=bins, passes=2, transforms=layers, hidden_features=hidden).transform
        with torch.no_grad():
            for layer in self.layers.transforms:
                last = [part for part in layer.modules() if isinstance(part, nn.Linear)][-1:]
                for parameter in last[0].parameters() if last else layer.parameters():
                    parameter.mul_(scale)

    def forward(self, codes: Tensor, context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Noise (..., D) of codes (..., D), and the logarithm of the determinant of the derivative, (...)."""
        noise, volume = noise_of([self], codes.unsqueeze(0), context)
        return noise[0], volume[0]

    def inverse(self, noise: Tensor, context: Tensor | None = None) -> Tensor:
        """Codes (..., D) of noise (..., D); a context (..., C) may lack leading axes of the noise."""
        return codes_of([self], noise.unsqueeze(0), context)[0]

    def alone(self, context: Tensor | None) -> Any:
        """The transformation as `zuko` makes it."""
        return self.layers(None if context is None else context.float())


def noise_of(flows: Sequence[Flow], codes: Tensor, context: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """What each of M flows of the same sizes makes of codes, at once; see `Flow`.

    Args:
        flows: of the same sizes.
        codes: (M, ..., D), or (1, ..., D), the same for all.
        context: (..., C), the same for all.

    Returns:
        Noise (M, ..., D) and volumes (M, ...).
    """
    if flows[0].features > 1:
        noise, volume = coupling.noise_of([flow.layers.transforms for flow in flows], codes, context)
        return noise, volume
    # One dimension has no halves.
    with torch.autocast(codes.device.type, enabled=False):
        rows = codes.float().expand(len(flows), *codes.shape[1:])
        found = [flow.alone(context).call_and_ladj(row) for flow, row in zip(flows, rows, strict=True)]
    return torch.stack([noise for noise, _ in found]), torch.stack([volume for _, volume in found])


def codes_of(flows: Sequence[Flow], noise: Tensor, context: Tensor | None = None) -> Tensor:
    """Codes (M, ..., D) of which M flows make noise (M, ..., D); see `noise_of`."""
    if flows[0].features > 1:
        codes: Tensor = coupling.codes_of([flow.layers.transforms for flow in flows], noise, context)
        return codes
    with torch.autocast(noise.device.type, enabled=False):
        return torch.stack([flow.alone(context).inv(row.float()) for flow, row in zip(flows, noise, strict=True)])


class FlowDistribution:
    """The distribution of the codes that a flow makes of noise. Satisfies `core.CodeDistribution`.

    Args:
        flow: the map.
        base: distribution of the noise, (..., B, D).
        context: of the flow, (..., B, C); None for none.
        centre: added to what the flow gives, (D,), after it was multiplied by `spread`.
        spread: scale of the codes, (D,).
    """

    def __init__(
        self,
        flow: Flow,
        base: Diagonal,
        context: Tensor | None = None,
        *,
        centre: Tensor | None = None,
        spread: Tensor | None = None,
    ) -> None:
        self.flow, self.base, self.context = flow, base, context
        self.centre = base.loc.new_zeros(flow.features) if centre is None else centre
        self.spread = base.loc.new_ones(flow.features) if spread is None else spread

    @property
    def mean(self) -> Tensor:
        """The mean, (..., B, D), estimated with 32 draws that are the same for every sample: a flow has none in closed form."""
        noise = fixed_noise(_FIXED_DRAWS, self.base.loc)
        noise = noise.reshape(_FIXED_DRAWS, *[1] * (self.base.loc.dim() - 1), -1)
        return self._codes(self.base.loc + self.base.stddev * noise).mean(0)

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Reparameterised samples, (*sample_shape, ..., B, D)."""
        return self._codes(self.base.rsample(sample_shape, generator))

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats, (*leading, ..., B, D) -> (*leading, ..., B)."""
        noise, volume = self.flow((value - self.centre) / self.spread, self.context)
        density: Tensor = self.base.log_prob(noise) + volume - self.spread.log().sum()
        return density

    def _codes(self, noise: Tensor) -> Tensor:
        return self.flow.inverse(noise, self.context) * self.spread + self.centre


def fixed_noise(count: int, like: Tensor) -> Tensor:
    """Standard normal noise (count, D) that is the same at every call, in pairs of opposite sign; on the device of `like`."""
    half = torch.randn((count // 2, like.shape[-1]), generator=torch.Generator().manual_seed(0))
    return torch.cat([half, -half]).to(like)


def standard_noise(leading: tuple[int, ...], features: int, like: Tensor) -> DiagonalNormal:
    """Standard normal noise of shape (*leading, features), on the device of `like`."""
    return DiagonalNormal.standard((*leading, features), like)
