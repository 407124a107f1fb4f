"""Planes: how a code paints a picture without convolutions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

SPAN = 3.0
"""Coordinates run from -3 to 3, so that slopes of usual size make steep edges."""


class PlanePainter(nn.Module):
    """Features to the patches of an image, (N, width) -> (N, rows * columns, values).

    Features say where a frame lies over the image (its origin and axes) and lay planes `a x + b y + c` in that frame; a small
    fully connected net makes the values of each patch of the rectified heights of all planes at its centre. A rectified plane
    is a half-plane with an edge, so edges can lie anywhere; and as all planes move and turn with their frame, what a figure
    is can be learned apart from where it stands and how it is turned. Compare Bepler et al., Explicitly disentangling
    image content from translation and rotation with spatial-VAE (NeurIPS 2019), where a frame takes codes of its own.

    Args:
        width: number of features.
        planes: number of planes.
        hidden: units of both layers of the net that makes a patch.
        rows, columns: the grid of patches.
        values: numbers of one patch.
    """

    positions: Tensor

    def __init__(self, width: int, planes: int, hidden: int, *, rows: int, columns: int, values: int) -> None:
        super().__init__()
        self.planes = planes
        self.frame, self.coefficients = nn.Linear(width, 4), nn.Linear(width, 3 * planes)
        with torch.no_grad():
            self.frame.bias.copy_(torch.tensor([0.0, 0.0, 1.0, 0.0]))
        self.heights, self.tilt = nn.Linear(planes, hidden), nn.Linear(width, hidden, bias=False)
        self.patch = nn.Sequential(nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, values))
        y, x = (SPAN * ((torch.arange(count) + 0.5) / count * 2 - 1) for count in (rows, columns))
        grid = torch.meshgrid(y, x, indexing="ij")
        self.register_buffer("positions", torch.stack([grid[1], grid[0], torch.ones(rows, columns)], -1).flatten(0, 1), False)

    def forward(self, features: Tensor) -> Tensor:
        """The patches."""
        planes = self.coefficients(features).reshape(len(features), 3, self.planes)
        planes = torch.bmm(self._frames(features).to(planes.dtype), planes)
        heights = torch.matmul(self.positions.to(planes.dtype), planes).relu()
        # The heights at a patch's centre do not say how edges run through it; the features do.
        patches: Tensor = self.patch(self.heights(heights) + self.tilt(features).unsqueeze(1))
        return patches

    def _frames(self, features: Tensor) -> Tensor:
        """(N, 3, 3): image coordinates (x, y, 1), as rows, to those in the frame of each sample."""
        left, top, along, across = self.frame(features).float().unbind(-1)
        zero, one = torch.zeros_like(left), torch.ones_like(left)
        rows = (
            (along, -across, zero),
            (across, along, zero),
            (-(along * left + across * top), across * left - along * top, one),
        )
        return torch.stack([torch.stack(row, -1) for row in rows], 1)
