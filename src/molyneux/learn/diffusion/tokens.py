"""A transformer with which a diffusion model predicts codes of several modalities, of which some lie on a grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import choice_problems
from molyneux.learn.checks import head_problems, refuse, too_small
from molyneux.learn.diffusion.attention import GELU, attention
from molyneux.learn.diffusion.schedule import Schedule, TimeFeatures, signal_and_noise
from molyneux.learn.encoders.by_modality import ModalityDict

Predicted = Literal["clean", "velocity"]
"""What a net gives: codes without noise, or their velocity."""

_LEAST_NOISE = 0.05
"""The noise that is divided by is at least this, as in Li & He (2025)."""


@dataclass(frozen=True)
class TokenLayers:
    """Settings of a transformer over codes; its width and its number of blocks are those of the diffusion model.

    Args:
        heads: of attention; they divide the width, and each has an even share of it.
        hidden: units of the layer between two others in a block, in widths.
        predicts: `clean` codes, which lie on few dimensions where noise fills all, or their `velocity`: Li & He, Back to Basics:
            Let Denoising Generative Models Denoise (arXiv 2511.13720, 2025). The loss is that of the velocity either way.
    """

    heads: int = 4
    hidden: float = 4.0
    predicts: Predicted = "clean"

    def __post_init__(self) -> None:
        problems = [*too_small(self, "heads"), *choice_problems(predicts=(self.predicts, get_args(Predicted)))]
        problems += [f"hidden: expected a number above 0, got {self.hidden}"] * (not self.hidden > 0)
        refuse(f"tokens.{problem}" for problem in problems)


class TokenDenoiser(nn.Module):
    """A transformer that predicts the velocity `a noise - s z` of codes that have a time for each modality.

    Each cell of a code on a grid is a token, and so is each code without a grid; all tokens attend to all. Blocks are steered by
    the times of all modalities and the codes without a grid (Peebles & Xie, Scalable Diffusion Models with Transformers, ICCV
    2023, section 3.2, adaLN-Zero); all modalities are in one sequence as in Bao et al., One Transformer Fits All Distributions in
    Multi-Modal Diffusion at Scale (ICML 2023). At the start it predicts zero. Where it predicts clean codes `x`, the velocity of
    `z_t = a x + s noise` is `(a z_t - x) / s`, with `s` of at least 0.05.

    Args:
        sizes: dimensions of the codes by modality, in the order of the codes.
        width: units of a token.
        blocks: of attention and two layers.
        tokens: other settings.
        grids: rows and columns of the codes that lie on a grid, (channels, rows, columns) flattened.
        schedule: of the noise.

    Raises:
        ConfigError: heads that do not divide the width.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        *,
        width: int,
        blocks: int,
        tokens: TokenLayers,
        grids: Mapping[str, tuple[int, int]] | None = None,
        schedule: Schedule = "linear",
    ) -> None:
        super().__init__()
        refuse(head_problems(width=width, heads=tokens.heads))
        grids = grids or {}
        self.sizes, self.width, self.predicts, self.schedule = dict(sizes), width, tokens.predicts, schedule
        self.cells = {name: math.prod(grids[name]) if name in grids else 1 for name in sizes}
        self.plain = tuple(name for name in sizes if name not in grids)
        self.features = TimeFeatures()
        self.enter, self.leave = ModalityDict[nn.Module](), ModalityDict[nn.Module]()
        self.places, self.clocks, self.context = ModalityDict[nn.Module](), ModalityDict[nn.Module](), ModalityDict[nn.Module]()
        for name, size in self.sizes.items():
            self.enter[name] = nn.Linear(size // self.cells[name], width)
            self.places[name] = _Places(*grids.get(name, (1, 1)), width)
            self.clocks[name] = nn.Linear(self.features.size, width)
            self.context[name] = nn.Linear(self.features.size + (size if name in self.plain else 0), width)
            self.leave[name] = _Leave(width, size // self.cells[name])
        self.steer = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.blocks = nn.ModuleList(_Block(width, tokens) for _ in range(blocks))

    def forward(self, codes: Tensor, times: Tensor) -> Tensor:
        """Velocities (N, D) of noisy codes (N, D) at times (N, M) in 0..1."""
        parts = dict(zip(self.sizes, torch.split(codes, list(self.sizes.values()), -1), strict=True))
        features = dict(zip(self.sizes, self.features(times).unbind(1), strict=True))
        context, entering = [], []
        for name, part in parts.items():
            told = torch.cat([part, features[name]], -1) if name in self.plain else features[name]
            context.append(self.context[name](told))
            cells = part.reshape(len(part), -1, self.cells[name]).transpose(1, 2)  # (N, cells, channels)
            entering.append(self.places[name](self.enter[name](cells)) + self.clocks[name](features[name]).unsqueeze(1))
        steer = self.steer(torch.stack(context).sum(0))
        hidden = torch.cat(entering, 1)
        for block in self.blocks:
            hidden = block(hidden, steer)
        split = torch.split(hidden, list(self.cells.values()), 1)
        found = [self.leave[name](own, steer).transpose(1, 2).flatten(1) for name, own in zip(self.sizes, split, strict=True)]
        predicted = torch.cat([numbers.float() for numbers in found], -1)
        if self.predicts == "velocity":
            return predicted
        signal, noise = (
            factor.repeat_interleave(torch.tensor([*self.sizes.values()], device=codes.device), 1)
            for factor in signal_and_noise(times, self.schedule)
        )
        return (signal * codes - predicted) / noise.clamp_min(_LEAST_NOISE)


class _Places(nn.Module):
    """Adds what tells the cells of a code apart: at the start sines and cosines of row and column, and then what is learned.

    Vaswani et al., Attention Is All You Need (NeurIPS 2017), section 3.5, for each half of the width.
    """

    def __init__(self, rows: int, columns: int, width: int) -> None:
        super().__init__()
        row, column = (part.flatten() for part in torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij"))
        table = torch.zeros(rows * columns, width)
        rates = 100.0 ** -torch.linspace(0, 1, max(1, width // 4))
        waves = [wave(place[:, None] * rates) for place in (row, column) for wave in (torch.sin, torch.cos)]
        known = torch.cat(waves, 1)[:, :width]
        table[:, : known.shape[1]] = known
        self.table = nn.Parameter(table if rows * columns > 1 else torch.zeros(1, width))

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (N, cells, width) of the same shape."""
        placed: Tensor = tokens + self.table
        return placed


class _Block(nn.Module):
    """Attention and two layers, each added to its input, and steered; at the start it gives its input."""

    def __init__(self, width: int, tokens: TokenLayers) -> None:
        super().__init__()
        self.heads, inner = tokens.heads, max(1, round(tokens.hidden * width))
        self.norms = nn.ModuleList(nn.LayerNorm(width, elementwise_affine=False) for _ in range(2))
        self.asked, self.mixed = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.layers = nn.Sequential(nn.Linear(width, inner), GELU(), nn.Linear(inner, width))
        self.steer = _zeros(nn.Linear(width, 6 * width))

    def forward(self, hidden: Tensor, steer: Tensor) -> Tensor:
        """Tokens (N, T, width), steered by (N, width)."""
        first, second = self.steer(steer).unsqueeze(1).chunk(2, -1)
        scale, shift, gate = first.chunk(3, -1)
        asked = self.asked(self.norms[0](hidden) * (1 + scale) + shift)
        hidden = hidden + gate * self.mixed(attention(asked, self.heads))
        scale, shift, gate = second.chunk(3, -1)
        added: Tensor = hidden + gate * self.layers(self.norms[1](hidden) * (1 + scale) + shift)
        return added


class _Leave(nn.Module):
    """From tokens to the numbers of a code; zeros at the start."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.norm, self.steer = nn.LayerNorm(width, elementwise_affine=False), _zeros(nn.Linear(width, 2 * width))
        self.layer = _zeros(nn.Linear(width, outputs))

    def forward(self, hidden: Tensor, steer: Tensor) -> Tensor:
        """Numbers (N, T, outputs) of tokens (N, T, width), steered by (N, width)."""
        scale, shift = self.steer(steer).unsqueeze(1).chunk(2, -1)
        numbers: Tensor = self.layer(self.norm(hidden) * (1 + scale) + shift)
        return numbers


def _zeros(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
