"""Letters: how many characters of a generated text equal those of the true text. Pure functions of symbol ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Modality, SpecError, views


@dataclass(frozen=True)
class LetterAccuracy:
    """Per text, how many characters are right.

    Args:
        published: (N,) equal characters at equal positions over the true length: symbols after the true end are
            ignored (the toolkit's Letters).
        padded: (N,) equal characters at equal positions over the full padded length: wrong symbols after the true end count.
    """

    published: np.ndarray
    padded: np.ndarray

    @classmethod
    def of(cls, modality: Modality, read: Tensor, truth: Tensor, lengths: Tensor | None = None) -> LetterAccuracy:
        """Compare generated with true ids, both (N, L) stored text; `lengths` (N,) are those of the true texts, where known."""
        if read.shape != truth.shape:
            raise SpecError(f"expected texts of shape {tuple(truth.shape)}, got {tuple(read.shape)}")
        equal = (read == truth).double()
        inside = _inside(modality, truth, lengths)
        published = (equal * inside).sum(-1) / inside.sum(-1)
        return cls(published.numpy(), equal.mean(-1).numpy())

    @classmethod
    def join(cls, parts: Sequence[LetterAccuracy]) -> LetterAccuracy:
        """The letters of several batches as one."""
        return cls(np.concatenate([part.published for part in parts]), np.concatenate([part.padded for part in parts]))


class ConstantText:
    """Finds the constant text that scores best, from batches of true texts; memory is one (L, symbols) table.

    At each position it takes the symbol with the largest total weight, where a text weighs 1 / its true length (as in
    the published Letters) or, padded, 1 / L.
    """

    def __init__(self, modality: Modality) -> None:
        self.modality = modality
        self.count = 0
        self._published = np.zeros((modality.shape[0], len(modality.symbols)))
        self._padded = np.zeros_like(self._published)

    def add(self, truth: Tensor, lengths: Tensor | None = None) -> None:
        """Count true texts (N, L) of the given lengths (N,)."""
        inside = _inside(self.modality, truth, lengths)
        self._published += self._weigh(truth, inside / inside.sum(-1, keepdim=True))
        self._padded += self._weigh(truth, torch.full_like(inside, 1.0 / truth.shape[-1]))
        self.count += len(truth)

    def include(self, other: ConstantText) -> None:
        """Count the texts that another one has counted too."""
        self._published += other._published
        self._padded += other._padded
        self.count += other.count

    @property
    def published(self) -> float:
        """Letters of the best constant text over the true length, 0..1."""
        return float(self._published.max(1).sum() / max(1, self.count))

    @property
    def padded(self) -> float:
        """Letters of the best constant text over the padded length, 0..1."""
        return float(self._padded.max(1).sum() / max(1, self.count))

    @property
    def ids(self) -> np.ndarray:
        """(L,) the constant text that scores best over the true length; padding where no text reaches."""
        padding = self.modality.padding or 0
        return np.where(self._published.max(1) > 0, self._published.argmax(1), padding)

    def _weigh(self, truth: Tensor, weight: Tensor) -> np.ndarray:
        length, symbols = self._published.shape
        place = (torch.arange(length) * symbols + truth.long()).flatten().numpy()
        return np.bincount(place, weight.flatten().numpy(), minlength=length * symbols).reshape(length, symbols)


def _inside(modality: Modality, truth: Tensor, lengths: Tensor | None) -> Tensor:
    """(N, L) 1 up to the end of each text (its `end` symbol, or its last one that is not padding; at least one), else 0."""
    if modality.end is not None:
        return views.counted_positions(modality, truth, lengths).double()
    counted = views.text_lengths(modality, truth, lengths).clamp(min=1)
    return (torch.arange(truth.shape[-1]) < counted[:, None]).double()
