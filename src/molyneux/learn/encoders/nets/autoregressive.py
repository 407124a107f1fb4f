"""What autoregressive text nets share: settings of decoding, embeddings, and the decoder that goes from symbol to symbol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from molyneux.core import ConfigError, Modality, choice_problems
from molyneux.learn.checks import dropout_problems, too_small
from molyneux.learn.encoders.nets.net import Net
from molyneux.learn.likelihoods import AutoregressiveTexts, Categorical, ViewLikelihood

Decoding = Literal["greedy", "beam"]


class AutoregressiveNet(Net):
    """A text net whose decoder writes symbol by symbol: the settings that all of them have, and their checks."""

    word_dropout: float
    decoding: Decoding
    beams: int

    kinds = frozenset({"text"})

    def decoding_problems(self) -> list[str]:
        """A sentence for each setting of decoding that cannot be used."""
        problems = dropout_problems(word_dropout=self.word_dropout)
        return problems + choice_problems(decoding=(self.decoding, get_args(Decoding))) + too_small(self, "beams")

    def check_likelihood(self, modality: Modality, likelihood: ViewLikelihood) -> None:
        """Raise SpecError or ConfigError unless this net and the likelihood can describe the modality."""
        self.check(modality)
        likelihood.check(modality)
        if not isinstance(likelihood, Categorical):
            name = type(likelihood).__name__
            raise ConfigError(f"likelihoods.{modality.name}: an autoregressive net needs a Categorical likelihood, got {name}")


class SymbolEmbedding(nn.Embedding):
    """A learned vector for each of `count` symbols, drawn as in Keras: uniform in -0.05..0.05."""

    def __init__(self, count: int, size: int) -> None:
        super().__init__(count, size)
        nn.init.uniform_(self.weight, -0.05, 0.05)

    def forward(self, ids: Tensor) -> Tensor:
        """Vectors (..., size) of ids (...)."""
        # The gradient of a selection is added up three times as fast as that of an embedding, on a CPU.
        return self.weight.index_select(0, ids.flatten()).reshape(*ids.shape, self.embedding_dim)


class DecoderEmbedding(SymbolEmbedding):
    """Vectors of the symbols of a language, of the start symbol, and, with `unknown`, of a symbol that stands for hidden ones."""

    def __init__(self, modality: Modality, size: int, *, unknown: bool) -> None:
        count = len(modality.symbols)
        self.first = count if modality.start is None else modality.start
        """What stands before a text: its `start` symbol, or one of its own."""
        self.unknown = max(count, self.first + 1)
        """What stands for a hidden symbol, as UNK in Bowman et al."""
        super().__init__(self.unknown + unknown, size)


class TextDecoder(nn.Module, ABC):
    """A decoder of texts, symbol by symbol; satisfies `likelihoods.AutoregressiveDecoder`.

    Args:
        modality: the texts.
        table: vectors of the symbols; None if it reads none.
        settings: of the net.
    """

    def __init__(self, modality: Modality, table: DecoderEmbedding | None, settings: AutoregressiveNet) -> None:
        super().__init__()
        self.modality, self.table, self.word_dropout = modality, table, settings.word_dropout
        self.first = 0 if table is None else table.first
        self.beams = settings.beams if settings.decoding == "beam" else None

    def forward(self, codes: Tensor) -> AutoregressiveTexts:
        """The distribution of texts given codes (..., inputs)."""
        return AutoregressiveTexts(self, codes.flatten(0, -2), codes.shape[:-1], beams=self.beams)

    def forced(self, codes: Tensor, ids: Tensor) -> Tensor:
        """See `AutoregressiveDecoder`. In training, symbols before are hidden (word dropout), the start symbol never."""
        before = ids.t()[:-1]
        if self.table is not None and self.training and self.word_dropout:
            hidden = torch.rand(before.shape, device=before.device) < self.word_dropout
            before = before.masked_fill(hidden, self.table.unknown)
        return self.logits(codes, torch.cat([before.new_full((1, len(ids)), self.first), before]))

    @abstractmethod
    def logits(self, codes: Tensor, before: Tensor) -> Tensor:
        """Logits (L, N, V) of the symbol at each position, for codes (N, D) and the symbols before each position (L, N)."""

    @abstractmethod
    def begin(self, codes: Tensor) -> tuple[Tensor, ...]:
        """See `AutoregressiveDecoder`."""

    @abstractmethod
    def step(self, symbols: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """See `AutoregressiveDecoder`."""
