"""JointTransformer: self-attention over the regions of the picture and the words of the text together."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Spec
from molyneux.core.tooling.moved import moved
from molyneux.learn.checks import dropout_problems, refuse, too_small
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.encoders.nets.transformer import time_positions
from molyneux.learn.encoders.pictures.small import StridedCNN
from molyneux.learn.encoders.texts import BagOfWords
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor

TRUNK, WORDS, HEAD = StridedCNN((24, 48, 64)), BagOfWords(64), Head(128)


@dataclass(frozen=True)
class TransformerLayers:
    """Sizes of transformer layers.

    Args:
        layers: how many.
        width: of the layers; even and a multiple of `heads`.
        heads: attention heads.
        feedforward: units of the inner layer.
        dropout: share of units dropped in training.
    """

    layers: int = 3
    width: int = 64
    heads: int = 4
    feedforward: int = 128
    dropout: float = 0.0

    def __post_init__(self) -> None:
        problems = too_small(self, "layers", "width", "heads", "feedforward")
        if not problems and self.width % math.lcm(2, self.heads):
            problems.append(f"width: expected an even multiple of the {self.heads} heads, got {self.width}")
        refuse(problems + dropout_problems(dropout=self.dropout))


class JointTransformer(PictureTextPredictor):
    """Transformer layers over regions and words in one sequence; Li et al., VisualBERT (2019).

    VisualBERT: A Simple and Performant Baseline for Vision and Language: a token for the answer, the words with sinusoidal
    positions (Vaswani et al., NeurIPS 2017, section 3.5), and the regions with their coordinates, each sense with a learned
    vector of its own; every token attends to every other. Layers normalise before they compute (Xiong et al., On Layer
    Normalization in the Transformer Architecture, ICML 2020). The answer's token goes to the head. Regions are those of a small
    CNN (the hybrid of Dosovitskiy et al., ViT, ICLR 2021, section 3.1); PixelPatches are patches of pixels.

    Args:
        spec: see `Predictor`.
        transformer: sizes of the layers.
        trunk: encoder of the picture.
        words: encoder of the text, whose parts are the tokens.
        head: see `Head`.
    """

    positions: Tensor

    @moved(**{item.name: f"transformer.{item.name}" for item in fields(TransformerLayers)})
    def __init__(
        self,
        spec: Spec,
        *,
        transformer: TransformerLayers = TransformerLayers(),
        trunk: ViewEncoder = TRUNK,
        words: ViewEncoder = WORDS,
        head: Head = HEAD,
        **inputs: Unpack[Inputs],
    ) -> None:
        super().__init__(spec, trunk, words, **inputs)
        width = transformer.width
        self.region, self.word = nn.Linear(self.picture.width, width), nn.Linear(self.words.width, width)
        self.answer = nn.Parameter(torch.randn(width) / width**0.5)
        self.register_buffer("positions", time_positions(self.words.grid[1], width), persistent=False)
        self.layers = nn.ModuleList(Layer(transformer) for _ in range(transformer.layers))
        self.norm = nn.LayerNorm(width)
        self.answer_from(width, head)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The token of the answer after the last layer, (B, width)."""
        regions, words = self.region(picture.parts), self.word(text.parts) + self.positions
        answer = self.answer.expand(len(words), 1, -1)
        tokens = torch.cat([answer.to(words.dtype), words, regions.to(words.dtype)], 1)
        mask = torch.cat([torch.ones_like(text.mask[:, :1]), text.mask, picture.mask], 1)
        away = torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, torch.finfo(torch.float32).min)[:, None, None]
        for layer in self.layers:
            tokens = layer(tokens, away)
        found: Tensor = self.norm(tokens[:, 0])
        return found


class Layer(nn.Module):
    """Self-attention and two linear layers, each after a normalisation and added to what it was given.

    Vaswani et al. (NeurIPS 2017), equation 1 and section 3.2.2. Written out, because torch's own attention with a mask takes
    several times as long in bf16 on a CPU.
    """

    def __init__(self, settings: TransformerLayers) -> None:
        super().__init__()
        width, heads, feedforward = settings.width, settings.heads, settings.feedforward
        self.heads, self.before, self.after = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.combine = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner = nn.Sequential(nn.Linear(width, feedforward), nn.GELU(), nn.Linear(feedforward, width))
        self.drop = nn.Dropout(settings.dropout)

    def forward(self, tokens: Tensor, away: Tensor) -> Tensor:
        """Tokens (B, N, width) to the same shape; `away` (B, 1, 1, N) is added to scores, very low for tokens that are absent."""
        size, count, width = tokens.shape
        parts = self.project(self.before(tokens)).reshape(size, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        scores = (query * (self.heads / width) ** 0.5) @ key.transpose(-1, -2)
        heads = (scores + away).softmax(-1).to(value.dtype) @ value
        tokens = tokens + self.drop(self.combine(heads.transpose(1, 2).reshape(size, count, width)))
        result: Tensor = tokens + self.drop(self.inner(self.after(tokens)))
        return result
