"""Convolutions with which a diffusion model reads and predicts codes that lie on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.learn.checks import refuse, too_small


@dataclass(frozen=True)
class GridLayers:
    """Settings of the convolutions for codes on a grid.

    Args:
        channels: on the grid of the code; half as fine, there are twice as many.
        blocks: residual blocks on each of the two grids, before and after all modalities meet.
    """

    channels: int = 64
    blocks: int = 2

    def __post_init__(self) -> None:
        refuse(f"grids.{problem}" for problem in too_small(self, "channels", "blocks"))


class GridFeatures(NamedTuple):
    """What was read of a code: (B, C, rows, columns), and (B, 2 C, rows', columns') half as fine."""

    fine: Tensor
    coarse: Tensor


class GridReader(nn.Module):
    """Convolutions over a code on a grid, steered by a context, and features of the whole.

    Args:
        shape: channels, rows and columns of the code.
        width: of the context and of the features.
        layers: of the convolutions.
    """

    def __init__(self, shape: tuple[int, int, int], *, width: int, layers: GridLayers) -> None:
        super().__init__()
        self.shape = shape
        depth, rows, columns = shape
        channels = layers.channels
        self.enter = nn.Conv2d(depth, channels, 3, 1, 1)
        self.fine = _Blocks(channels, width, layers.blocks)
        self.halve = nn.Conv2d(channels, 2 * channels, 2, 2)
        self.coarse = _Blocks(2 * channels, width, layers.blocks)
        self.whole = nn.Linear(2 * channels * _half(rows) * _half(columns), width)

    def forward(self, codes: Tensor, context: Tensor) -> tuple[GridFeatures, Tensor]:
        """Features on both grids and of the whole (B, width), of codes (B, D) in a context (B, width)."""
        depth, rows, columns = self.shape
        grid = codes.reshape(-1, depth, rows, columns).contiguous(memory_format=torch.channels_last)
        # A row or column of zeros makes an odd side even, for the grid that is half as fine.
        grid = functional.pad(grid, (0, columns % 2, 0, rows % 2))
        fine = self.fine(self.enter(grid), context)
        coarse = self.coarse(self.halve(fine), context)
        return GridFeatures(fine, coarse), self.whole(coarse.permute(0, 2, 3, 1).flatten(1))


class GridPredictor(nn.Module):
    """Convolutions from the features of a `GridReader` and those of all modalities to numbers for a code on a grid.

    Args:
        shape: channels, rows and columns of the code.
        width: of the features of all modalities.
        layers: of the convolutions.
    """

    def __init__(self, shape: tuple[int, int, int], *, width: int, layers: GridLayers) -> None:
        super().__init__()
        self.shape = shape
        depth, rows, columns = shape
        channels = layers.channels
        self.whole = nn.Linear(width, 2 * channels * _half(rows) * _half(columns))
        self.coarse = _Blocks(2 * channels, width, layers.blocks)
        self.refine = nn.ConvTranspose2d(2 * channels, channels, 2, 2)
        self.fine = _Blocks(channels, width, layers.blocks)
        self.norm = _norm(channels)
        self.leave = nn.Conv2d(channels, depth, 3, 1, 1)

    def forward(self, features: GridFeatures, hidden: Tensor) -> Tensor:
        """Numbers (B, D) given features of all modalities (B, width)."""
        _, rows, columns = self.shape
        context = functional.silu(hidden)
        spread = self.whole(hidden).reshape(len(hidden), _half(rows), _half(columns), -1).permute(0, 3, 1, 2)
        coarse = self.coarse(features.coarse + spread, context)
        fine = self.fine(features.fine + self.refine(coarse), context)
        numbers: Tensor = self.leave(functional.silu(self.norm(fine)))[..., :rows, :columns]
        return numbers.flatten(1)


def _half(side: int) -> int:
    return -(-side // 2)


def _norm(channels: int) -> nn.GroupNorm:
    """Normalisation of groups of channels over the whole grid (Wu & He, Group Normalization, ECCV 2018)."""
    return nn.GroupNorm(math.gcd(channels, 8), channels)


class _Blocks(nn.ModuleList):
    """Residual blocks, one after the other."""

    def __init__(self, channels: int, width: int, count: int) -> None:
        super().__init__(_Block(channels, width) for _ in range(count))

    def forward(self, grid: Tensor, context: Tensor) -> Tensor:
        """Features (B, C, rows, columns) in a context (B, width)."""
        for block in self:
            grid = block(grid, context)
        return grid


class _Block(nn.Module):
    """Two convolutions, added to their input; the context scales and shifts the features between them.

    Perez et al., FiLM: Visual Reasoning with a General Conditioning Layer (AAAI 2018), as in Dhariwal & Nichol, Diffusion Models
    Beat GANs on Image Synthesis (NeurIPS 2021), section 3.1. At the start it gives its input.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.first_norm, self.second_norm = _norm(channels), _norm(channels)
        self.first, self.second = (nn.Conv2d(channels, channels, 3, 1, 1) for _ in range(2))
        self.steer = nn.Linear(width, 2 * channels)
        for parameter in (*self.second.parameters(), *self.steer.parameters()):
            nn.init.zeros_(parameter)

    def forward(self, grid: Tensor, context: Tensor) -> Tensor:
        """Features of the same shape."""
        scale, shift = self.steer(context)[:, :, None, None].chunk(2, 1)
        hidden = self.first(functional.silu(self.first_norm(grid)))
        hidden = functional.silu(self.second_norm(hidden) * (1 + scale) + shift)
        added: Tensor = grid + self.second(hidden)
        return added
