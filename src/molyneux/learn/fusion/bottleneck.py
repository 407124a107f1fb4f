"""Attention over the parts of all modalities: through a few bottleneck tokens, and from a few latent vectors (Perceiver)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from molyneux.learn.checks import dropout_problems, head_problems, refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec
from molyneux.learn.encoders.sequences import unattended
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, Projections, part_widths, presence

SCALE = 0.02
"""Standard deviation that learned tokens and positions start with, as in ViT."""


def _width_problems(settings: BottleneckAttention | Perceiver) -> list[str]:
    problems = too_small(settings, "width", "heads", "layers", "feedforward") + dropout_problems(dropout=settings.dropout)
    return problems or head_problems(width=settings.width, heads=settings.heads)


@dataclass(frozen=True)
class BottleneckAttention(Fusion):
    """Multimodal bottleneck transformer (MBT); Nagrani et al., Attention Bottlenecks (NeurIPS 2021), equations 2 and 5 to 9.

    The parts of each modality, with learned positions and a token for the answer, go through transformer layers of their own.
    From layer `fusion_from` on, a few bottleneck tokens are among those of every modality; after each layer they become the mean
    of what the modalities made of them (equation 9), so that all that modalities exchange passes through them. Features are the
    mean of the answer tokens, which with a linear head is the mean of the logits.

    Deviations: parts come from any encoder; modalities that are absent are left out of both means.

    Args:
        width: of the layers; a multiple of `heads`.
        heads: attention heads.
        layers: of each modality.
        fusion_from: layers before the exchange begins; with as many as `layers` there is none.
        bottlenecks: bottleneck tokens.
        feedforward: units of the inner layer.
        dropout: share of units dropped in training.
    """

    width: int = 64
    heads: int = 4
    layers: int = 3
    fusion_from: int = 1
    bottlenecks: int = 4
    feedforward: int = 128
    dropout: float = 0.0

    def __post_init__(self) -> None:
        problems = _width_problems(self) + too_small(self, "bottlenecks") + too_small(self, "fusion_from", least=0)
        if not problems and self.fusion_from >= self.layers:
            problems.append(f"fusion_from: expected less than the {self.layers} layers, got {self.fusion_from}")
        refuse(problems)

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        return BottleneckLayer(self, encodings)


class BottleneckLayer(FusionLayer):
    """See `BottleneckAttention`."""

    def __init__(self, settings: BottleneckAttention, encodings: Mapping[str, EncodingSpec]) -> None:
        width = settings.width
        super().__init__(width)
        self.fusion_from, self.tokens = settings.fusion_from, ModalityTokens(encodings, width, answer=True)
        self.bottlenecks = nn.Parameter(torch.randn(1, settings.bottlenecks, width) * SCALE)
        self.layers = ModalityDict[nn.ModuleList]()
        for name in encodings:
            self.layers[name] = nn.ModuleList(_layer(settings) for _ in range(settings.layers))
        self.norm = nn.LayerNorm(width)
        self.depth = settings.layers

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        tokens, masks = self.tokens(encodings)
        present = presence(encodings).t()[..., None, None]
        count = present.sum(0).clamp(min=1)
        shared = self.bottlenecks.expand(present.shape[1], -1, -1)
        for number in range(self.depth):
            # What the last layer makes of the bottlenecks is read by nothing.
            exchanged = [self._layer(name, number, tokens, masks, shared) for name in tokens]
            if self.fusion_from <= number < self.depth - 1:
                shared = (torch.stack(exchanged) * present).sum(0) / count
        answers = torch.stack([states[:, :1] for states in tokens.values()]) * present
        features: Tensor = self.norm((answers.sum(0) / count).squeeze(1))
        return features

    def _layer(self, name: str, number: int, tokens: dict[str, Tensor], masks: Mapping[str, Tensor], shared: Tensor) -> Tensor:
        """Pass the tokens of a modality through a layer, in place, and return what it makes of the bottleneck tokens."""
        count, layer, mask = tokens[name].shape[1], self.layers[name][number], masks[name]
        if number < self.fusion_from:
            tokens[name] = layer(tokens[name], src_key_padding_mask=~mask)
            return shared
        everything = torch.cat([tokens[name], shared.to(tokens[name].dtype)], 1)
        hides = torch.cat([~mask, torch.zeros_like(shared[..., 0], dtype=torch.bool)], 1)
        states = layer(everything, src_key_padding_mask=hides)
        tokens[name] = states[:, :count]
        exchanged: Tensor = states[:, count:]
        return exchanged


@dataclass(frozen=True)
class Perceiver(Fusion):
    """A few latent vectors attend to the parts of all modalities; Jaegle et al., Perceiver (ICML 2021), section 3.

    The parts of all modalities, each with learned positions and a learned vector of its modality, stand in one sequence. In each
    of `blocks` rounds the latent vectors attend to it (cross-attention) and then to each other in transformer layers. Features
    are their mean. The cost grows with the number of parts, not with its square.

    Deviations: learned positions in place of Fourier features; rounds share no weights.

    Args:
        latents: latent vectors.
        width: of all layers; a multiple of `heads`.
        heads: attention heads.
        blocks: rounds of attention to the parts.
        layers: transformer layers of each round.
        feedforward: units of the inner layer.
        dropout: share of units dropped in training.
    """

    latents: int = 16
    width: int = 64
    heads: int = 4
    blocks: int = 2
    layers: int = 1
    feedforward: int = 128
    dropout: float = 0.0

    def __post_init__(self) -> None:
        refuse(_width_problems(self) + too_small(self, "latents", "blocks"))

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        return PerceiverLayer(self, encodings)


class PerceiverLayer(FusionLayer):
    """See `Perceiver`."""

    def __init__(self, settings: Perceiver, encodings: Mapping[str, EncodingSpec]) -> None:
        width = settings.width
        super().__init__(width)
        self.tokens = ModalityTokens(encodings, width, answer=False)
        self.latents = nn.Parameter(torch.randn(1, settings.latents, width) * SCALE)
        self.rounds = nn.ModuleList(PerceiverRound(settings) for _ in range(settings.blocks))
        self.norm = nn.LayerNorm(width)

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        by_modality, masks = self.tokens(encodings)
        tokens, mask = torch.cat([*by_modality.values()], 1), torch.cat([*masks.values()], 1)
        latents = self.latents.expand(len(tokens), -1, -1)
        for one in self.rounds:
            latents = one(latents, tokens, unattended(mask))
        features: Tensor = self.norm(latents).mean(1)
        return features


class PerceiverRound(nn.Module):
    """Cross-attention with a feed-forward layer, and transformer layers over the latent vectors."""

    def __init__(self, settings: Perceiver) -> None:
        super().__init__()
        width = settings.width
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.attention = nn.MultiheadAttention(width, settings.heads, settings.dropout, batch_first=True)
        self.feedforward = nn.Sequential(
            nn.Linear(width, settings.feedforward), nn.GELU(), nn.Linear(settings.feedforward, width)
        )
        self.layers = nn.ModuleList(_layer(settings) for _ in range(settings.layers))

    def forward(self, latents: Tensor, tokens: Tensor, hides: Tensor) -> Tensor:
        """Latent vectors (B, L, W) given tokens (B, N, W) and which of them nothing attends to."""
        told = self.norms[1](tokens)
        seen, _ = self.attention(self.norms[0](latents), told, told, key_padding_mask=hides, need_weights=False)
        latents = latents + seen
        latents = latents + self.feedforward(self.norms[2](latents))
        for layer in self.layers:
            latents = layer(latents)
        return latents


class ModalityTokens(nn.Module):
    """The parts of each modality at one width, with learned positions; an answer token stands before them where asked for.

    Args:
        encodings: of the modalities.
        width: of the tokens.
        answer: whether each modality has a token for the answer, which is always there.
    """

    def __init__(self, encodings: Mapping[str, EncodingSpec], width: int, *, answer: bool) -> None:
        super().__init__()
        self.entry, self.answer = Projections(part_widths(encodings), width), answer
        self.positions = ModalityDict[Learned]()
        for name, spec in encodings.items():
            self.positions[name] = Learned(spec.count + answer, width)

    def forward(self, encodings: Mapping[str, Encoding]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Tokens (B, N, width) and which there are, (B, N) bool, by modality."""
        parts, masks = self.entry.parts(encodings), {}
        for name, encoding in encodings.items():
            masks[name], tokens = encoding.mask, parts[name]
            if self.answer:
                tokens = torch.cat([torch.zeros_like(tokens[:, :1]), tokens], 1)
                masks[name] = torch.cat([torch.ones_like(masks[name][:, :1]), masks[name]], 1)
            parts[name] = tokens + self.positions[name].values
        return parts, masks


class Learned(nn.Module):
    """Learned vectors (1, count, width)."""

    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.values = nn.Parameter(torch.randn(1, count, width) * SCALE)


def _layer(settings: BottleneckAttention | Perceiver) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(
        settings.width,
        settings.heads,
        settings.feedforward,
        settings.dropout,
        activation="gelu",
        batch_first=True,
        norm_first=True,
    )
