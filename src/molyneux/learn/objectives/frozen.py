"""Passing a gradient through a module without giving it any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def frozen(module: nn.Module) -> Iterator[None]:
    """What is computed within treats the module's parameters as constants; gradients of its inputs are as ever.

    What was computed before, with weights that are shared with another module, keeps its gradient. It also holds for what a
    distribution computes later than its decoder, as one that reads word by word does, if that is within.
    """
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    for parameter in parameters:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)
