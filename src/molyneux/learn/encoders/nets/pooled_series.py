"""Series that are read the same wherever something happens in them: convolutions over time, pooled."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from molyneux.core import Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.general import Series, Transpose
from molyneux.learn.encoders.nets.net import Net, zeros_beyond

GROUPS = 4
"""Groups of channels that are normalised together (Wu & He, Group Normalization, ECCV 2018)."""

KERNEL = 5

RATE = 4
"""Steps of a series for one of the features that are pooled."""


@dataclass(frozen=True)
class PooledSeries(Net):
    """Convolutions over time whose features are pooled (mean and maximum) and read by two linear layers; the decoder of `Series`.

    What happens in a series counts the same wherever it happens. It fits the touch of a contour, which begins anywhere on it.

    Args:
        channels: channels at the full and at half the rate; at a quarter of the rate there are twice as many.
        width: units of the fully connected layers.
    """

    channels: int = 64
    width: int = 256

    kinds = frozenset({"audio", "series"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "channels", "width"))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        return PooledEncoder(modality, self.channels, self.width, outputs)

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        return Series(width=self.width).body(modality, inputs, parameters)


class PooledEncoder(nn.Module):
    """Views (B, *shape), of which only the first positions count where there are lengths, to numbers (B, outputs)."""

    def __init__(self, modality: Modality, channels: int, width: int, outputs: int) -> None:
        super().__init__()
        self.length_axis = modality.length_axis
        series = modality.kind == "series"
        depth = modality.shape[1] if series else modality.shape[0]
        wide = 2 * channels
        sizes = ((depth, channels, 1), (channels, channels, 2), (channels, wide, 2), (wide, wide, 1))
        layers = (
            part
            for a, b, stride in sizes
            for part in (nn.Conv1d(a, b, KERNEL, stride, KERNEL // 2), nn.GroupNorm(GROUPS, b), nn.ReLU())
        )
        self.features = nn.Sequential(Transpose() if series else nn.Identity(), *layers)
        head = (part for a, b in pairwise((4 * channels, width, outputs)) for part in (nn.Linear(a, b), nn.ReLU()))
        self.head = nn.Sequential(*list(head)[:-1])

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Tensor:
        """See the class."""
        if lengths is not None and self.length_axis is not None:
            view = zeros_beyond(view, lengths, 1 + self.length_axis)
        features = self.features(view)
        count, steps = features.new_full((len(view), 1), features.shape[2]), features.shape[2]
        if lengths is not None and self.length_axis is not None:
            kept = -(-lengths // RATE)
            within = torch.arange(steps, device=view.device) < kept.unsqueeze(1)
            features, count = features * within.unsqueeze(1), kept.clamp(min=1).unsqueeze(1).to(features)
        # Features are rectified, so the zeros beyond the lengths are no maximum of theirs.
        found: Tensor = self.head(torch.cat([features.sum(2) / count, features.amax(2)], 1))
        return found
