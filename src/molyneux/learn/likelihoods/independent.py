"""Independent values: Bernoulli in 0..1, normal or Laplace with a scale that is given, learned, or fitted to each batch."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Size, Tensor, nn
from torch.nn import functional

from molyneux.core import ConfigError, Modality
from molyneux.learn.likelihoods.likelihood import LikelihoodHead, LocatedViews, ViewDistribution, ViewLikelihood, single

SMALLEST_VARIANCE = 1e-6
"""Floor of a fitted variance, so that a perfect reconstruction has a finite density."""

_NEXT_TO_NOTHING = 1e-30
"""The `beta` of a smooth L1 loss that is the distance to all digits."""


class BernoulliViews(ViewDistribution):
    """Independent Bernoulli values, by logits (..., B, *event).

    Targets may lie anywhere in 0..1: the log-probability is then the negative cross-entropy, whose optimum is still the
    target, but which is no density over the continuum and does not reach 0.
    """

    def __init__(self, logits: Tensor, batch_shape: Size, length_axis: int | None = None) -> None:
        self.logits = logits
        super().__init__(batch_shape, logits.shape[len(batch_shape) :], length_axis)

    @property
    def mean(self) -> Tensor:
        """Probability of a 1, (..., B, *event)."""
        return self.logits.sigmoid()

    @property
    def mode(self) -> Tensor:
        """The more probable of 0 and 1, (..., B, *event)."""
        return (self.logits > 0).to(self.logits)

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of views (B, *event), summed over the event, (..., B)."""
        # One fused kernel: four times as fast as `value * logits - softplus(logits)` on a CPU.
        target = self._within(value).expand_as(self.logits)
        return -self._sum(functional.binary_cross_entropy_with_logits(self.logits, target, reduction="none"))

    def log_prob_of_each(self, value: Tensor) -> Tensor:
        """Nats of every view (m, *event) under every distribution, (..., B, m) in double precision: a product of matrices."""
        logits = self.logits.double().flatten(len(self.batch_shape))
        return logits @ value.double().flatten(1).mT - functional.softplus(logits).sum(-1, keepdim=True)

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        uniform = torch.rand(shape, generator=generator, device=self.logits.device)
        return (uniform < self.mean).to(self.logits)


class BernoulliHead(LikelihoodHead):
    """One logit for each value."""

    def __init__(self, modality: Modality) -> None:
        super().__init__()
        self.length_axis = modality.length_axis

    def forward(self, raw: Tensor, batch_shape: Size) -> BernoulliViews:
        """See `LikelihoodHead`."""
        return BernoulliViews(single(raw, batch_shape), batch_shape, self.length_axis)


@dataclass(frozen=True)
class Bernoulli(ViewLikelihood):
    """Bernoulli likelihood of values between 0 and 1."""

    kinds = frozenset({"image", "video"})

    def head(self, modality: Modality) -> BernoulliHead:
        """See `ViewLikelihood`."""
        self.check(modality)
        return BernoulliHead(modality)


class LocationScaleViews(LocatedViews):
    """Independent values around `loc` (..., B, *event) with one scale for all, given by its logarithm.

    Where the scale is to be fitted to the data, `report` is given and called with the detached fitted log-scale.
    """

    def __init__(
        self,
        loc: Tensor,
        log_scale: Tensor,
        batch_shape: Size,
        *,
        length_axis: int | None = None,
        report: Callable[[Tensor], None] | None = None,
    ) -> None:
        self.loc, self.log_scale, self.report = loc, log_scale, report
        super().__init__(batch_shape, loc.shape[len(batch_shape) :], length_axis)

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, a scalar."""
        return self.log_scale.exp()

    def fitted(self, value: Tensor, weight: Tensor) -> LocationScaleViews:
        """With the scale of highest likelihood for these views, if it is to be fitted; otherwise itself.

        Rybkin et al., Simple and Effective VAE Training with Calibrated Decoders (ICML 2021), the optimal sigma-VAE. The
        gradient runs through the scale too, so it is that of `D log(scale)`, the loss that the paper minimises.
        """
        if self.report is None:
            return self
        log_scale = self._best_log_scale(value, weight)
        self.report(log_scale.detach())
        fitted = type(self)(self.loc, log_scale, self.batch_shape, length_axis=self.length_axis)
        return fitted.masked(self.lengths)

    def _weighted_mean(self, each: Tensor, weight: Tensor) -> Tensor:
        weight = weight.expand(self.batch_shape)
        numbers = (weight * self._numbers()).sum()
        return (self._sum(each) * weight).sum() / numbers.clamp_min(torch.finfo(each.dtype).tiny)

    @abstractmethod
    def _best_log_scale(self, value: Tensor, weight: Tensor) -> Tensor:
        """Logarithm of the scale of highest likelihood, a scalar."""


class NormalViews(LocationScaleViews):
    """Independent normal values."""

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of views (B, *event), summed over the event, (..., B)."""
        # One fused kernel each way, where a difference and its square take two.
        target = self._within(value).expand_as(self.loc)
        squared = self._sum(functional.mse_loss(self.loc, target, reduction="none"))
        constant = self._numbers() * (self.log_scale + 0.5 * math.log(2 * math.pi))
        return -0.5 * squared * (-2 * self.log_scale).exp() - constant

    def log_prob_of_each(self, value: Tensor) -> Tensor:
        """Nats of every view (m, *event) under every distribution, (..., B, m) in double precision: a product of matrices."""
        loc, views = self.loc.double().flatten(len(self.batch_shape)), value.double().flatten(1)
        squared = loc.square().sum(-1, keepdim=True) + views.square().sum(-1) - 2.0 * loc @ views.mT
        log_scale = self.log_scale.double()
        constant = self.event_shape.numel() * (log_scale + 0.5 * math.log(2 * math.pi))
        return -0.5 * squared.clamp_min(0.0) * (-2 * log_scale).exp() - constant

    def _best_log_scale(self, value: Tensor, weight: Tensor) -> Tensor:
        return 0.5 * self._weighted_mean((self._within(value) - self.loc).square(), weight).clamp_min(SMALLEST_VARIANCE).log()

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        return self.loc + self.log_scale.exp() * torch.randn(shape, generator=generator, device=self.loc.device)


class LaplaceViews(LocationScaleViews):
    """Independent Laplace values; the scale is the mean distance from the location."""

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, a scalar."""
        return math.sqrt(2.0) * self.log_scale.exp()

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of views (B, *event), summed over the event, (..., B)."""
        # One fused kernel each way, where a difference and its size take two: the smooth L1 loss is linear from `beta` on.
        target = self._within(value).expand_as(self.loc)
        distance = self._sum(functional.smooth_l1_loss(self.loc, target, reduction="none", beta=_NEXT_TO_NOTHING))
        return -distance * (-self.log_scale).exp() - self._numbers() * (self.log_scale + math.log(2.0))

    def _best_log_scale(self, value: Tensor, weight: Tensor) -> Tensor:
        distance = self._weighted_mean((self._within(value) - self.loc).abs(), weight)
        return distance.clamp_min(math.sqrt(SMALLEST_VARIANCE)).log()

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        draws = torch.empty((2, *shape), device=self.loc.device).exponential_(generator=generator)
        drawn: Tensor = self.loc + self.log_scale.exp() * (draws[0] - draws[1])
        return drawn


class LocationScaleHead(LikelihoodHead):
    """One location for each value, and one scale for the whole modality.

    The running mean of a fitted scale is used for drawing and in evaluation, where a scale fitted to the views that are evaluated
    would bias their likelihood.
    """

    log_scale: Tensor

    def __init__(
        self, views: type[LocationScaleViews], scale: float | Literal["learned", "optimal"], length_axis: int | None = None
    ) -> None:
        super().__init__()
        self.views, self.optimal, self.length_axis = views, scale == "optimal", length_axis
        initial = torch.tensor(0.0 if isinstance(scale, str) else math.log(scale))
        if scale == "learned":
            self.log_scale = nn.Parameter(initial)
        else:
            self.register_buffer("log_scale", initial)

    def forward(self, raw: Tensor, batch_shape: Size) -> LocationScaleViews:
        """See `LikelihoodHead`."""
        report = self._remember if self.optimal and self.training else None
        loc = single(raw, batch_shape)
        return self.views(loc, self.log_scale, batch_shape, length_axis=self.length_axis, report=report)

    def _remember(self, log_scale: Tensor) -> None:
        self.log_scale.lerp_(log_scale, 0.05)


@dataclass(frozen=True)
class _LocationScale(ViewLikelihood):
    """Settings that normal and Laplace share."""

    scale: float | Literal["learned", "optimal"] = 1.0

    kinds = frozenset({"audio", "image", "series", "set", "tabular", "video"})
    views: ClassVar[type[LocationScaleViews]]

    def __post_init__(self) -> None:
        usable = self.scale in ("learned", "optimal") if isinstance(self.scale, str) else 0 < self.scale < math.inf
        if not usable:
            raise ConfigError(f'scale: expected a positive number, "learned" or "optimal", got {self.scale!r}')

    def head(self, modality: Modality) -> LocationScaleHead:
        """See `ViewLikelihood`."""
        self.check(modality)
        return LocationScaleHead(self.views, self.scale, modality.length_axis)


@dataclass(frozen=True)
class Normal(_LocationScale):
    """Normal likelihood with one standard deviation for all values of a modality.

    Args:
        scale: the standard deviation; "learned" makes it a parameter of the model; "optimal" takes the best one of each
            training batch (the sigma-VAE of Rybkin et al., ICML 2021) and its running mean in evaluation.
    """

    views = NormalViews


@dataclass(frozen=True)
class Laplace(_LocationScale):
    """Laplace likelihood with one scale, the mean absolute deviation, for all values of a modality; see `Normal`."""

    views = LaplaceViews
