"""Texts that are written symbol by symbol, each given those before it."""

from __future__ import annotations

import torch
from torch import Size, Tensor
from torch.nn import functional

from molyneux.learn.likelihoods.decoding import Writer, best_of_beams, drawn, greedy, written
from molyneux.learn.likelihoods.likelihood import ViewDistribution
from molyneux.learn.likelihoods.texts import targets


class WrittenTexts(ViewDistribution):
    """Texts of a writer given codes: `p(x | z) = prod_t p(x_t | x_<t, z)`, up to and including the first `end`.

    A text without an `end` counts to its last position, so the probabilities of all texts add up to 1.

    Args:
        writer: writes one text for each code.
        codes: (N, D), N the product of `batch_shape`.
        batch_shape: the shape (..., B).
        beams: of the search for `mode` and `view`; None writes greedily.
    """

    def __init__(self, writer: Writer, codes: Tensor, batch_shape: Size, *, beams: int | None = None) -> None:
        self.writer, self.codes, self.beams = writer, codes, beams
        super().__init__(batch_shape, Size(writer.modality.shape))

    @property
    def mode(self) -> Tensor:
        """The text that greedy decoding or the search finds, int64 ids (..., B, L); not always the most probable."""
        return self.greedy() if self.beams is None else self.best(self.beams)

    @property
    def view(self) -> Tensor:
        """The same as `mode`: ids have no mean."""
        return self.mode

    @torch.no_grad()
    def greedy(self) -> Tensor:
        """Texts of the most probable symbol given those before, (..., B, L)."""
        return self._shaped(written(self.writer, self.codes, greedy))

    @torch.no_grad()
    def best(self, beams: int) -> Tensor:
        """The most probable texts that a search with so many beams finds, (..., B, L)."""
        return self._shaped(best_of_beams(self.writer, self.codes, beams))

    def log_prob(self, value: Tensor) -> Tensor:
        """Nats of ids (B, L), summed over the positions that count, (..., B); one call of the network for all codes."""
        ids = value.long().expand(self.batch_shape + self.event_shape).flatten(0, -2)
        logits = self.writer.forced(self.codes, ids).float()
        target = targets(self.writer.modality, ids).t().flatten()
        each = functional.cross_entropy(logits.flatten(0, 1), target, reduction="none")
        return -each.reshape(logits.shape[:2]).sum(0).reshape(self.batch_shape)

    def _draw(self, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
        copies = Size(shape).numel() // max(1, len(self.codes) * self.event_shape.numel())
        codes = self.codes.expand(copies, *self.codes.shape).flatten(0, 1)
        return written(self.writer, codes, drawn(generator)).reshape(shape)

    def _shaped(self, ids: Tensor) -> Tensor:
        return ids.reshape(self.batch_shape + self.event_shape)
