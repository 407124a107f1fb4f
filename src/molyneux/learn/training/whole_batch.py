"""Whether the loss of a model is a mean over samples, so that processes may compute it of parts of a batch."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from molyneux.core import Batch, Loss
from molyneux.learn.training.shared_draws import Share

__all__ = ["turned_off", "whole_batch_problem"]

LossOf = Callable[[nn.Module, Batch, Share | None], Loss]
"""The loss of a model for samples, which are a whole batch or a part of one."""

_SETS, _CUT = 18, 7
"""Samples that are compared, or sets of samples that stay together, and how many of them are in the first part: numbers that
other axes of what is drawn seldom have."""
_OF_LOSS, _OF_GRADIENT = 1e-5, 1e-3
"""What rounding in 32 bits may change: relative to the loss, and to the norm of the gradient of a parameter."""


def whole_batch_problem(model: nn.Module, loss: LossOf, batch: Batch, together: int) -> str:
    """Why a loss is no mean over samples, in a few words; empty where it is one.

    Parts of the model may say it themselves, by an attribute `whole_batch`. What else looks at several samples at once, such as a
    contrastive loss or batch normalisation, is found by trying: loss and gradient of a few samples are compared with those of
    two parts of them. Dropout is turned off for it, and where the samples have masks the first one lacks something.

    Args:
        model: on its device; it is not changed.
        loss: of a copy of it.
        batch: at least two sets of samples.
        together: samples of a set, which all are in one part.
    """
    for part in model.modules():
        if reason := getattr(part, "whole_batch", ""):
            return str(reason)
    tried = turned_off(copy.deepcopy(model))
    sets = min(_SETS, len(batch) // together)
    size, cut = sets * together, max(1, sets * _CUT // _SETS) * together
    rows = _with_gaps(batch[:size])
    shares = (None, Share(0, cut, size), Share(cut, size - cut, size))
    whole, *parts = [_Tried.of(tried, loss, rows, share) for share in shares]
    if any(part.changed for part in (whole, *parts)):
        return "it changes buffers by the batch, as batch normalisation does"
    return whole.problem(parts, [cut / size, 1 - cut / size])


def turned_off(model: nn.Module) -> nn.Module:
    """The same model, whose layers drop no units."""
    for part in model.modules():
        if isinstance(part, nn.modules.dropout._DropoutNd):
            part.p = 0.0
        elif isinstance(part, nn.MultiheadAttention | nn.RNNBase):
            part.dropout = 0.0
    return model


@dataclass(frozen=True)
class _Tried:
    """A loss with its gradient by the name of the parameter, and whether it changed buffers of the model."""

    total: Tensor
    gradient: dict[str, Tensor]
    changed: bool

    @classmethod
    def of(cls, model: nn.Module, loss: LossOf, rows: Batch, share: Share | None) -> _Tried:
        """Try all rows, or a share of them."""
        model.zero_grad()
        before = {name: buffer.clone() for name, buffer in model.named_buffers()}
        total = loss(model, rows if share is None else rows[share.start : share.start + share.length], share).total
        total.backward()  # type: ignore[no-untyped-call]
        changed = any(not torch.equal(before[name], buffer) for name, buffer in model.named_buffers())
        model.load_state_dict(before, strict=False)
        found = {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}
        return cls(total.detach(), found, changed)

    def problem(self, parts: list[_Tried], weights: list[float]) -> str:
        """What differs between this loss of all samples and the mean of those of the parts by weight."""
        mean = sum(weight * float(part.total) for weight, part in zip(weights, parts, strict=True))
        total = float(self.total)
        if not math.isfinite(total + mean):
            return ""  # which the step itself will say
        if not abs(total - mean) <= _OF_LOSS * max(abs(total), 1e-3):
            return (
                f"its loss of a few samples together is {total:.6g}, and the mean of the losses of two parts of them {mean:.6g}"
            )
        norm = torch.stack([item.norm() for item in self.gradient.values()]).norm() if self.gradient else torch.zeros(())
        for name, own in self.gradient.items():
            shares = [weight * part.gradient[name] for weight, part in zip(weights, parts, strict=True) if name in part.gradient]
            gap = (own - torch.stack(shares).sum(0)).norm() if shares else own.norm()
            if not gap <= _OF_GRADIENT * own.norm() + _OF_LOSS * norm:
                return f"the gradient of {name} by a few samples together is not the mean of those by two parts of them"
        return ""


def _with_gaps(batch: Batch) -> Batch:
    """The same samples, the first without what the batch has masks for: means over those that have it then show."""
    present = dict(batch.present)
    for name, mask in batch.present.items():
        left = replace(batch, present=present)
        if any(bool(left.mask(other)[0]) for other in batch.views if other != name):
            present[name] = _without_first(mask)
    return replace(batch, present=present, known={name: _without_first(mask) for name, mask in batch.known.items()})


def _without_first(mask: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(mask[:1]), mask[1:]])
