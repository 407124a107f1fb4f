"""Layers next to codes, which need more digits than bf16 has."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["CodeConv2d", "CodeLinear"]


class CodeLinear(nn.Linear):
    """A linear layer in the precision of its weights, also under autocast: the last one before codes, or the first one after.

    A normal code that says r nats about a sample in one dimension is known to within about exp(-r) of its spread, and bf16 has
    8 binary digits, 5.5 nats. Where a dimension says more, as the position of a figure does, rounding takes what it says.
    """

    def forward(self, values: Tensor) -> Tensor:
        """See `torch.nn.Linear`."""
        with torch.autocast(values.device.type, enabled=False):
            return super().forward(values.to(self.weight.dtype))


class CodeConv2d(nn.Conv2d):
    """A convolution in the precision of its weights, also under autocast, for codes on a grid; see `CodeLinear`."""

    def forward(self, values: Tensor) -> Tensor:
        """See `torch.nn.Conv2d`."""
        with torch.autocast(values.device.type, enabled=False):
            return super().forward(values.to(self.weight.dtype))
