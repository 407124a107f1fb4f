"""Layers whose weights begin as the nets of this package need them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from torch import nn

L = TypeVar("L", nn.Linear, nn.Conv2d)


def he_normal(layer: L) -> L:
    """A layer before a ReLU: normal weights of variance `2 / inputs`, biases 0; He et al., Delving Deep (ICCV 2015), eq. 10."""
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def perceptron(sizes: Sequence[int]) -> nn.Sequential:
    """Linear layers between these widths, with ReLU between them; of one width, none."""
    hidden = [part for a, b in pairwise(sizes[:-1]) for part in (he_normal(nn.Linear(a, b)), nn.ReLU())]
    return nn.Sequential(*hidden, *(nn.Linear(a, b) for a, b in [*pairwise(sizes)][-1:]))
