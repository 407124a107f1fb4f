"""What a decoder returns: a distribution over views, and the settings that choose it.

Views are in the form that models compute with (`core.views.to_model`): images as floats 0..1, symbols as int64 ids. A
decoder's network gives `parameters` raw numbers for every value of a view, (N, parameters, *shape); a *head* turns them into
a distribution with batch shape (..., B) and event shape `shape`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import ClassVar, Self

import torch
from torch import Size, Tensor, nn
from torch.distributions import Distribution, constraints

from molyneux.core import Kind, Modality, SpecError


class ViewDistribution(Distribution):
    """A distribution over whole views: batch shape (..., B), event shape the modality's.

    `log_prob` gives (..., B) nats summed over the event and broadcasts a value (B, *event) over leading axes. Arguments are
    not validated: views are checked once, when a batch enters the model.

    Args:
        batch_shape: (..., B).
        event_shape: of one view.
        length_axis: the axis of the event along which views may have different lengths (`Modality.length_axis`).
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}
    lengths: Tensor | None = None

    def __init__(self, batch_shape: Size, event_shape: Size, length_axis: int | None = None) -> None:
        self.length_axis = length_axis
        super().__init__(batch_shape, event_shape, validate_args=False)

    def masked(self, lengths: Tensor | None) -> Self:
        """The distribution of the first `lengths` (B,) positions of each view: others neither count nor get a gradient.

        None counts every position. Raises SpecError if views of this kind have no lengths.
        """
        if lengths is None:
            return self
        if self.length_axis is None:
            raise SpecError("expected no lengths, since views of this kind have none: leave them out of the batch")
        shortened = copy(self)
        shortened.lengths = lengths
        return shortened

    def sample(self, sample_shape: Size | list[int] | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Views drawn without gradient, (*sample_shape, ..., B, *event), of the largest length."""
        with torch.no_grad():
            return self._draw((*sample_shape, *self.batch_shape, *self.event_shape), generator)

    @property
    def view(self) -> Tensor:
        """The one view to show: the mean, or the most probable symbols."""
        return self.mean

    def fitted(self, value: Tensor, weight: Tensor) -> Self:
        """The distribution with the parameters that are fitted to views (B, *event); most have none and return themselves.

        Samples count by their `weight` (..., B); content of samples of weight 0 is not used.
        """
        return self

    def _within(self, value: Tensor) -> Tensor:
        """Values (..., B, *event) with zeros beyond the lengths."""
        if self.lengths is None or self.length_axis is None:
            return value
        axis = self.length_axis - len(self.event_shape)
        positions = torch.arange(self.event_shape[axis], device=value.device)
        within = positions < self.lengths.to(value.device).unsqueeze(-1)
        after = len(self.event_shape) - self.length_axis - 1
        return value.masked_fill(~within.reshape(len(within), *(1,) * self.length_axis, -1, *(1,) * after), 0)

    def _numbers(self) -> Tensor | int:
        """How many values of each view count, (B,) or one number for all."""
        whole = self.event_shape.numel()
        if self.lengths is None or self.length_axis is None:
            return whole
        return self.lengths * (whole // self.event_shape[self.length_axis])

    def _sum(self, each: Tensor) -> Tensor:
        """Sum over what counts of the event, (..., B, *event) -> (..., B)."""
        each = self._within(each)
        return each.flatten(each.dim() - len(self.event_shape)).sum(-1) if self.event_shape else each

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        raise NotImplementedError


class LocatedViews(ViewDistribution):
    """A symmetric distribution of values around `loc` (..., B, *event), which is its mean and its mode."""

    loc: Tensor

    @property
    def mean(self) -> Tensor:
        """The location, (..., B, *event)."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The location, (..., B, *event)."""
        return self.loc


class ViewLikelihood(ABC):
    """Settings of the distribution that a decoder returns; a frozen dataclass."""

    kinds: ClassVar[frozenset[Kind]]
    """Kinds of modality that it can describe."""

    def check(self, modality: Modality) -> None:
        """Raise SpecError if this likelihood cannot describe the modality."""
        if modality.kind not in self.kinds:
            known = ", ".join(sorted(self.kinds))
            raise SpecError(f"{type(self).__name__} describes {known}, but modality {modality.name} is {modality.kind}")

    def parameters(self, modality: Modality) -> int:
        """Raw numbers that the network gives for each value of a view."""
        return 1

    @abstractmethod
    def head(self, modality: Modality) -> LikelihoodHead:
        """The module that makes the distribution."""


class LikelihoodHead(nn.Module, ABC):
    """Turns raw numbers (N, parameters, *shape) into a distribution with batch shape `batch_shape`."""

    @abstractmethod
    def forward(self, raw: Tensor, batch_shape: Size) -> ViewDistribution:
        """The distribution; N is the product of `batch_shape`."""


def single(raw: Tensor, batch_shape: Size) -> Tensor:
    """The only raw number of each value in full precision: (N, 1, *shape) -> (*batch_shape, *shape)."""
    return raw.float().reshape(batch_shape + raw.shape[2:])
