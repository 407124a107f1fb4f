"""Convolutions whose maps are normalised, rectified and pooled, in a single pass over the maps where it is faster.

Batch normalisation, ReLU and 2x2 maximum pooling read and write the maps about ten times in a training step of torch, and store
them four times. The compiled kernels here read them three times forward and once backward, and store nothing but the pooled maps,
because the maximum of `a x + b` is `a` times the maximum (or minimum) of `x`. On one thread of a CPU a step of LeNet takes less
than half the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from molyneux.core.tooling.compiled import compiled


class PooledConvolutions(nn.Sequential):
    """Convolutions with batch normalisation and ReLU, and 2x2 maximum pooling.

    The same numbers as the layers one after the other, up to rounding, and the same weights and running statistics. The layers
    themselves run on accelerators, in double precision, and where torch is to write the operations down. Under autocast the
    convolution is in bf16 and the rest in 32 bits. The kernels have no second derivative; where one is wanted,
    `torch.backends.mkldnn.enabled = False` leaves them out.

    Args:
        layers: each a sequence of a convolution, batch normalisation and ReLU.
    """

    def __init__(self, *layers: nn.Sequential) -> None:
        super().__init__(*layers, nn.MaxPool2d(2))

    def forward(self, maps: Tensor) -> Tensor:
        """Maps (B, C, H, W) to (B, D, H // 2, W // 2)."""
        *before, joined, pool = self.children()
        for layer in before:
            maps = layer(maps)
        convolution, norm, relu = cast(tuple[nn.Module, nn.BatchNorm2d, nn.ReLU], tuple(joined.children()))
        maps = convolution(maps)
        if can_be_joined(maps, norm):
            return normalised_pool(maps.float(), norm)
        pooled: Tensor = pool(relu(norm(maps)))
        return pooled


def can_be_joined(maps: Tensor, norm: nn.BatchNorm2d) -> bool:
    """Whether the kernels can be used: on the CPU, maps of at most 32 bits of more than one position, and kernels wanted."""
    precise = maps.dtype in (torch.float32, torch.bfloat16) and norm.weight.dtype == torch.float32
    plain = type(maps) is Tensor and maps.device.type == "cpu" and bool(torch.backends.mkldnn.enabled)
    return plain and precise and maps.numel() > maps.shape[1] and min(maps.shape[2:]) > 1 and not torch.compiler.is_compiling()


def normalised_pool(maps: Tensor, norm: nn.BatchNorm2d) -> Tensor:
    """2x2 maxima of rectified, normalised maps (B, C, H, W); in training mode the running statistics go on as in torch."""
    if norm.training:
        pooled, mean, variance = _joined(maps, norm.weight, norm.bias, None, None, norm.eps)
        momentum, count = norm.momentum or 0.0, maps.numel() // maps.shape[1]
        with torch.no_grad():
            norm.running_mean.lerp_(mean, momentum)  # type: ignore[union-attr]
            norm.running_var.lerp_(variance * (count / (count - 1)), momentum)  # type: ignore[union-attr]
            norm.num_batches_tracked.add_(1)  # type: ignore[union-attr]
    else:
        pooled, _, _ = _joined(maps, norm.weight, norm.bias, norm.running_mean, norm.running_var, norm.eps)
    return pooled


class _NormalisedPool(torch.autograd.Function):
    """Maps, scale, shift, running statistics or None, and epsilon to pooled maps and the mean and variance that were used."""

    @staticmethod
    def forward(
        ctx: Any, maps: Tensor, weight: Tensor, bias: Tensor, mean: Tensor | None, variance: Tensor | None, eps: float
    ) -> Any:
        view = _channels_last(maps)
        ctx.batch = mean is None
        if mean is None or variance is None:
            mean, variance = (torch.from_numpy(item) for item in _moments(view))
        inverse = (variance + eps).rsqrt()
        scale = weight * inverse
        pooled = np.empty((view.shape[0], view.shape[1] // 2, view.shape[2] // 2, view.shape[3]), np.float32)
        _pool(view, _numbers(scale), _numbers(bias - mean * scale), pooled)
        ctx.save_for_backward(maps, weight, mean, inverse, found := torch.from_numpy(pooled).permute(0, 3, 1, 2))
        ctx.mark_non_differentiable(mean, variance)
        return found, mean, variance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, *_: Tensor) -> Any:
        """With y = w n + b for normalised n, dL/dn = w g - mean(w g) - n mean(w g n), means over a batch's statistics alone."""
        maps, weight, mean, inverse, pooled = ctx.saved_tensors
        view, flowing = _channels_last(maps), _channels_last(gradient)
        of_bias, of_maxima = (torch.from_numpy(item) for item in _sums(view, flowing, _channels_last(pooled), _numbers(weight)))
        of_weight = (of_maxima - mean * of_bias) * inverse
        count, scale = maps.numel() / maps.shape[1], weight * inverse
        slope = -scale * inverse * of_weight / count if ctx.batch else torch.zeros_like(scale)
        level = -scale * of_bias / count - slope * mean if ctx.batch else torch.zeros_like(scale)
        result = np.empty_like(view)
        _gradient(view, flowing, _channels_last(pooled), _numbers(scale), _numbers(slope), _numbers(level), result)
        return torch.from_numpy(result).permute(0, 3, 1, 2), of_weight, of_bias, None, None, None


_joined: Callable[..., tuple[Tensor, Tensor, Tensor]] = _NormalisedPool.apply


def _channels_last(maps: Tensor) -> np.ndarray:
    """(B, C, H, W) as an array (B, H, W, C) without gaps."""
    return maps.detach().permute(0, 2, 3, 1).contiguous().numpy()


def _numbers(values: Tensor) -> np.ndarray:
    return values.detach().numpy()


def _moments(maps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each channel of (B, H, W, C), (C,)."""
    samples, rows, columns, channels = maps.shape
    lines, count = maps.reshape(samples, rows, columns * channels), samples * rows * columns
    mean = _line_sums(lines).reshape(-1, channels).sum(0) / count
    variance = _squared_distances(lines, np.tile(mean.astype(np.float32), columns)).reshape(-1, channels).sum(0) / count
    return mean.astype(np.float32), variance.astype(np.float32)


@compiled
def _line_sums(lines: np.ndarray) -> np.ndarray:
    """Sums of (B, H, L) over the first two axes, (L,) double: within a sample in single precision."""
    total = np.zeros(lines.shape[2])
    part = np.zeros(lines.shape[2], np.float32)
    for sample in range(lines.shape[0]):
        part[:] = 0
        for row in range(lines.shape[1]):
            for place in range(lines.shape[2]):
                part[place] += lines[sample, row, place]
        for place in range(lines.shape[2]):
            total[place] += part[place]
    return total


@compiled
def _squared_distances(lines: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Sums of the squared distances of (B, H, L) from `centre` (L,) over the first two axes, (L,) double."""
    total = np.zeros(lines.shape[2])
    part = np.zeros(lines.shape[2], np.float32)
    for sample in range(lines.shape[0]):
        part[:] = 0
        for row in range(lines.shape[1]):
            for place in range(lines.shape[2]):
                distance = lines[sample, row, place] - centre[place]
                part[place] += distance * distance
        for place in range(lines.shape[2]):
            total[place] += part[place]
    return total


@compiled
def _pool(maps: np.ndarray, scale: np.ndarray, shift: np.ndarray, pooled: np.ndarray) -> None:
    """Write the 2x2 maxima of `max(0, scale x + shift)` of maps (B, H, W, C); NaN stays NaN."""
    for sample in range(pooled.shape[0]):
        for row in range(pooled.shape[1]):
            for column in range(pooled.shape[2]):
                for channel in range(pooled.shape[3]):
                    a, i, j = scale[channel], 2 * row, 2 * column
                    upper = max(a * maps[sample, i, j, channel], a * maps[sample, i, j + 1, channel])
                    lower = max(a * maps[sample, i + 1, j, channel], a * maps[sample, i + 1, j + 1, channel])
                    value = max(upper, lower) + shift[channel]
                    pooled[sample, row, column, channel] = np.float32(0) if value <= 0 else value


@compiled
def _sums(maps: np.ndarray, flowing: np.ndarray, pooled: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients at positive maxima summed over all but the channels, and the same times the map's value there, (C,) each."""
    plain, timed = np.zeros(weight.shape[0]), np.zeros(weight.shape[0])
    for sample in range(pooled.shape[0]):
        for row in range(pooled.shape[1]):
            for column in range(pooled.shape[2]):
                for channel in range(pooled.shape[3]):
                    if pooled[sample, row, column, channel] > 0:
                        i, j, rising = 2 * row, 2 * column, weight[channel] >= 0
                        first, second = maps[sample, i, j, channel], maps[sample, i, j + 1, channel]
                        third, fourth = maps[sample, i + 1, j, channel], maps[sample, i + 1, j + 1, channel]
                        most = max(max(first, second), max(third, fourth))
                        least = min(min(first, second), min(third, fourth))
                        plain[channel] += flowing[sample, row, column, channel]
                        timed[channel] += flowing[sample, row, column, channel] * (most if rising else least)
    return plain.astype(np.float32), timed.astype(np.float32)


@compiled
def _gradient(
    maps: np.ndarray,
    flowing: np.ndarray,
    pooled: np.ndarray,
    scale: np.ndarray,
    slope: np.ndarray,
    level: np.ndarray,
    result: np.ndarray,
) -> None:
    """Write `slope x + level` of all positions, and add `scale` times the gradient where the first of the maxima is."""
    for sample in range(result.shape[0]):
        for row in range(result.shape[1]):
            for column in range(result.shape[2]):
                for channel in range(result.shape[3]):
                    result[sample, row, column, channel] = slope[channel] * maps[sample, row, column, channel] + level[channel]
        for row in range(pooled.shape[1]):
            for column in range(pooled.shape[2]):
                for channel in range(pooled.shape[3]):
                    a, i, j = scale[channel], 2 * row, 2 * column
                    first, second = a * maps[sample, i, j, channel], a * maps[sample, i, j + 1, channel]
                    third, fourth = a * maps[sample, i + 1, j, channel], a * maps[sample, i + 1, j + 1, channel]
                    most = max(max(first, second), max(third, fourth))
                    step = np.float32(0)
                    if pooled[sample, row, column, channel] > 0:
                        step = a * flowing[sample, row, column, channel]
                    at_second = second == most and first != most
                    at_third = third == most and first != most and second != most
                    at_fourth = first != most and second != most and third != most
                    result[sample, i, j, channel] += step if first == most else np.float32(0)
                    result[sample, i, j + 1, channel] += step if at_second else np.float32(0)
                    result[sample, i + 1, j, channel] += step if at_third else np.float32(0)
                    result[sample, i + 1, j + 1, channel] += step if at_fourth else np.float32(0)
