"""Views as sequences of steps, and batch normalisation that a single sample can pass.

Steps are the time steps of a series, the samples of a sound, the frames of a video, the elements of a set and the words of a
text; a view of any other kind is one step.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Modality
from molyneux.core.views import text_lengths
from molyneux.learn.encoders.nets.net import zeros_beyond
from molyneux.learn.encoders.texts import within, words


class ViewSteps(nn.Module):
    """Views to their steps, 0 beyond the lengths; symbols become learned vectors.

    Args:
        modality: of the views.
        embedding: numbers of a symbol; 0 makes a vector of zeros and a one of it, which has no weights.
    """

    def __init__(self, modality: Modality, embedding: int = 32) -> None:
        super().__init__()
        self.modality = modality
        self.count, self.width = step_sizes(modality)
        self.table = None
        if modality.symbols:
            self.width = embedding or len(modality.symbols)
            self.table = words(modality, embedding) if embedding else None

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Views in model form (B, *shape) to steps (B, T, D) and how many there are in each sample, (B,)."""
        counts = step_counts(self.modality, view, lengths)
        if self.modality.symbols:
            ids = view.reshape(len(view), self.count)
            size = len(self.modality.symbols)
            values = functional.one_hot(ids, size).float() if self.table is None else self.table(ids)
        else:
            values = as_steps(self.modality, view)
        return zeros_beyond(values, counts, 1), counts


def step_sizes(modality: Modality) -> tuple[int, int]:
    """How many steps a view of numbers has at most, and the numbers of one; a text has one id for each."""
    if modality.kind == "audio":
        return modality.shape[1], modality.shape[0]
    if modality.length_axis is None:
        return 1, modality.size
    return modality.shape[0], math.prod(modality.shape[1:])


def as_steps(modality: Modality, view: Tensor) -> Tensor:
    """Views of numbers (B, *shape) as steps (B, T, D)."""
    if modality.kind == "audio":
        return view.transpose(1, 2)
    return view.reshape(len(view), *step_sizes(modality))


def step_counts(modality: Modality, view: Tensor, lengths: Tensor | None) -> Tensor:
    """How many steps each of the views in model form has, (B,)."""
    if modality.kind == "text":
        return text_lengths(modality, view, lengths)
    if lengths is not None and modality.length_axis is not None:
        return lengths
    return torch.full((len(view),), step_sizes(modality)[0], dtype=torch.int64, device=view.device)


def step_mask(counts: Tensor, longest: int) -> Tensor:
    """Which of `longest` steps there are, (B, longest) bool, for counts (B,)."""
    return within(counts, longest)


def step_mean(steps: Tensor, counts: Tensor) -> Tensor:
    """The mean over the first `counts` (B,) steps (B, T, D), (B, D); 0 where there are none."""
    return zeros_beyond(steps, counts, 1).sum(1) / counts.clamp(min=1).unsqueeze(1)


class _OneSample:
    """Normalises a batch with a single number for each channel, which has no variance, by the running statistics."""

    def forward(self, values: Tensor) -> Tensor:
        """Values (B, C, ...) normalised over all axes but the second."""
        if values.numel() > values.shape[1]:
            normalised: Tensor = super().forward(values)  # type: ignore[misc]
            return normalised
        found: Tensor = functional.batch_norm(
            values,
            self.running_mean,  # type: ignore[attr-defined]
            self.running_var,  # type: ignore[attr-defined]
            self.weight,  # type: ignore[attr-defined]
            self.bias,  # type: ignore[attr-defined]
            False,
            0.0,
            self.eps,  # type: ignore[attr-defined]
        )
        return found


class BatchNorm1d(_OneSample, nn.BatchNorm1d):
    """Batch normalisation of vectors that takes a batch of one, which another sample's missing modality can leave."""


class BatchNorm2d(_OneSample, nn.BatchNorm2d):
    """Batch normalisation of maps that takes a batch of one position."""
