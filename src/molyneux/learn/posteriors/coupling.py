"""Flows of several modalities computed at once: their weights are stacked, and samples are the last axis.

The weights are those of the coupling layers of `zuko.flows.NSF`, and so are the values. A coupling layer changes one half of the
dimensions by splines whose parameters depend on the context alone, and the other half by splines that depend on the first too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from molyneux.learn.posteriors.splines import inverse_spline, spline

__all__ = ["codes_of", "noise_of"]

_COLUMNS = 2048
"""Samples that are computed at once where no gradient is asked for, so that what is between two operations stays in the cache."""


def noise_of(stacks: Sequence[Sequence[Any]], codes: Tensor, context: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Noise that flows make of codes, and the logarithms of the determinants of the derivatives.

    Args:
        stacks: of each of M flows its coupling layers, of the same sizes.
        codes: (M, ..., D), or (1, ..., D), the same for all.
        context: (..., C), the same for all flows; its leading axes and those of the codes broadcast. None for none.

    Returns:
        Noise (M, ..., D) and volumes (M, ...).
    """
    codes = _beside(codes, context)

    def work(layers: list[CouplingLayer], values: Tensor, given: Tensor | None) -> tuple[Tensor, Tensor]:
        volume = values.new_zeros(())
        for layer in layers:
            values, more = layer(values, given)
            volume = volume + more
        return values.transpose(1, 2), volume

    noise, volume = _by_columns(stacks, codes, context, work)
    shape = codes.shape[1:-1]
    return noise.reshape(len(stacks), *codes.shape[1:]), volume.reshape(len(stacks), *shape)


def codes_of(stacks: Sequence[Sequence[Any]], noise: Tensor, context: Tensor | None = None) -> Tensor:
    """Codes (M, ..., D) that M flows make of noise; see `noise_of`."""

    def work(layers: list[CouplingLayer], values: Tensor, given: Tensor | None) -> tuple[Tensor]:
        for layer in reversed(layers):
            values = layer.inverse(values, given)
        return (values.transpose(1, 2),)

    noise = _beside(noise, context)
    return _by_columns(stacks, noise, context, work)[0].reshape(len(stacks), *noise.shape[1:])


def _beside(rows: Tensor, context: Tensor | None) -> Tensor:
    """Rows (M, ..., D) with the leading axes that they and the context have together."""
    if context is None:
        return rows
    leading = np.broadcast_shapes(tuple(rows.shape[1:-1]), tuple(context.shape[:-1]))
    gap = len(leading) - (rows.ndim - 2)
    rows = rows.reshape(len(rows), *[1] * gap, *rows.shape[1:])
    return rows.expand(len(rows), *leading, rows.shape[-1])


def _by_columns(
    stacks: Sequence[Sequence[Any]],
    rows: Tensor,
    context: Tensor | None,
    work: Callable[[list[CouplingLayer], Tensor, Tensor | None], tuple[Tensor, ...]],
) -> list[Tensor]:
    """What `work` makes of columns (M, D, N) of the rows, in parts where there is no gradient; samples are its axis 1."""
    with torch.autocast(rows.device.type, enabled=False):
        layers = [CouplingLayer(parts, number) for number, parts in enumerate(zip(*stacks, strict=True))]
        columns = _columns(rows.float(), len(stacks))
        leading = rows.shape[1:-1]
        given = None if context is None else _columns(context.float().expand(1, *leading, context.shape[-1]), len(stacks))
        total = columns.shape[-1]
        size = max(1, total) if torch.is_grad_enabled() else _COLUMNS
        parts = [slice(start, start + size) for start in range(0, max(1, total), size)]
        found = [work(layers, columns[..., part], None if given is None else given[..., part]) for part in parts]
        return list(found[0]) if len(found) == 1 else [torch.cat(pieces, 1) for pieces in zip(*found, strict=True)]


def _columns(rows: Tensor, count: int) -> Tensor:
    """Rows (M, ..., D) or (1, ..., D) as columns (M, D, N)."""
    flat = rows.reshape(len(rows), rows.shape[1:-1].numel(), rows.shape[-1])
    return flat.transpose(1, 2).contiguous().expand(count, -1, -1)


class CouplingLayer:
    """A coupling layer of each of M flows.

    Args:
        layers: of `zuko`, of the same sizes.
        number: of the layer in its flow: the first half of the dimensions is changed alone in every other one, beginning with 0.
    """

    def __init__(self, layers: Sequence[Any], number: int) -> None:
        self.width: int = layers[0].total
        features = len(layers[0].order)
        half = (features + 1) // 2
        parts = slice(0, half), slice(half, features)
        self.alone, self.coupled = parts if number % 2 == 0 else (slice(features - half, features), slice(0, features - half))
        linear = [list(layer.hyper)[::2] for layer in layers]
        self.own: Tensor | None = None
        if layers[0].hyper.in_features == features:
            # Without a context nothing is masked but inputs of the coupled half and outputs of the other, which are constants.
            alone, rows = self._outputs(self.alone), self._outputs(self.coupled)
            own = torch.stack([net[-1].bias[alone] for net in linear])
            self.own = own.reshape(len(layers), -1, self.width, 1)
            weights = [
                [net[0].weight[:, self.alone], *(part.weight for part in net[1:-1]), net[-1].weight[rows]] for net in linear
            ]
            biases = [[*(part.bias for part in net[:-1]), net[-1].bias[rows]] for net in linear]
        else:
            weights = [[part.mask * part.weight for part in net] for net in linear]
            biases = [[part.bias for part in net] for net in linear]
        self.weights = [torch.stack(each) for each in zip(*weights, strict=True)]
        self.biases = [torch.stack(each).unsqueeze(-1) for each in zip(*biases, strict=True)]

    def __call__(self, values: Tensor, context: Tensor | None) -> tuple[Tensor, Tensor]:
        """What the layer makes of values (M, D, N) in a context (M, C, N), and the logarithm of the volume, (M, N)."""
        alone, coupled = self._parameters(values, context)
        first, one = spline(alone, values[:, self.alone])
        second, two = spline(coupled, values[:, self.coupled])
        return self._joined(first, second), one.sum(1) + two.sum(1)

    def inverse(self, values: Tensor, context: Tensor | None) -> Tensor:
        """The values (M, D, N) of which the layer makes these."""
        own = self._parameters(torch.zeros_like(values), context)[0] if self.own is None else self.own
        first = inverse_spline(own, values[:, self.alone])
        coupled = self._parameters(self._joined(first, values[:, self.coupled]), context)[1]
        return self._joined(first, inverse_spline(coupled, values[:, self.coupled]))

    def _parameters(self, values: Tensor, context: Tensor | None) -> tuple[Tensor, Tensor]:
        """Raw parameters of the splines of both halves, (M, D', 3 K - 1, N) each; those of the second depend on the first."""
        if self.own is not None:
            return self.own, self._net(values[:, self.alone])
        raw = self._net(values if context is None else torch.cat([values, context], 1))
        return raw[:, self.alone], raw[:, self.coupled]

    def _net(self, hidden: Tensor) -> Tensor:
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            hidden = torch.baddbmm(bias, weight, hidden.relu() if number else hidden)
        return hidden.reshape(len(hidden), hidden.shape[1] // self.width, self.width, hidden.shape[2])

    def _outputs(self, half: slice) -> slice:
        return slice(half.start * self.width, half.stop * self.width)

    def _joined(self, alone: Tensor, coupled: Tensor) -> Tensor:
        return torch.cat([alone, coupled] if self.alone.start == 0 else [coupled, alone], 1)
