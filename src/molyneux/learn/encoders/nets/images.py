"""Nets for images: strided convolutions as in the papers, and a faster net whose decoder paints patches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.net import Net, NetEncoder, Reshape

STRIDES = 4
"""Strided convolutions on each side; each halves or doubles the grid."""

PATCH = 4
"""Side of a patch in pixels."""

SPAN = 3.0
"""Coordinates run from -3 to 3, so that slopes of usual size make steep edges."""


@dataclass(frozen=True)
class Convolutional(Net):
    """Four convolutions (kernel 4, stride 2) with ReLU and a fully connected layer, mirrored in the decoder.

    Sejnova et al., Benchmarking Multimodal Variational Autoencoders: GeBiD Dataset and Toolkit (2022), "Model comparison
    on GeBiD", with the widths of the published code. Any image size fits; sizes that are no multiple of 16 are padded with black.

    Args:
        channels: of every convolution.
        width: units of the fully connected layers.
    """

    channels: int = 32
    width: int = 256

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "channels", "width"))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        return _encoder(modality, (self.channels,) * STRIDES, self.width, outputs)

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, height, width = modality.shape
        rows, columns = _grid(height), _grid(width)
        entry = self.channels * rows * columns
        parts: list[nn.Module] = [nn.Linear(inputs, self.width), nn.ReLU(), nn.Linear(self.width, entry), nn.ReLU()]
        parts.append(Reshape(self.channels, rows, columns))
        for _ in range(STRIDES - 1):
            parts += [nn.ConvTranspose2d(self.channels, self.channels, 4, 2, 1), nn.ReLU()]
        parts.append(nn.ConvTranspose2d(self.channels, parameters * depth, 4, 2, 1))
        return nn.Sequential(*parts, RawImage(parameters, depth, height, width))


@dataclass(frozen=True)
class Patches(Net):
    """A fast image net for CPUs, where most of the time of a convolutional net goes into its layers at full resolution.

    The encoder halves the grid four times by convolution, with few channels where the grid is fine. The decoder has no
    convolution: see `PlanePainter`. Any image size fits; sizes that are no multiple of 16 are padded with black.

    Args:
        channels: channels of the encoder's second grid (16x16 for 64 pixels); the grid before has half as many, those after
            two and three times as many.
        planes: planes that a code makes.
        hidden: units of the net that makes a patch.
        width: units of the fully connected layers.
    """

    channels: int = 32
    planes: int = 64
    hidden: int = 96
    width: int = 256

    kinds = frozenset({"image"})

    def __post_init__(self) -> None:
        refuse(too_small(self, "channels", "planes", "hidden", "width"))

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        c = self.channels
        return _encoder(modality, (max(1, c // 2), c, 2 * c, 3 * c), self.width, outputs)

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        depth, height, width = modality.shape
        rows, columns = -(-height // PATCH), -(-width // PATCH)
        values = parameters * depth
        return nn.Sequential(
            nn.Linear(inputs, self.width),
            nn.ReLU(),
            nn.Linear(self.width, self.width),
            nn.ReLU(),
            PlanePainter(self.width, self.planes, self.hidden, rows=rows, columns=columns, values=PATCH * PATCH * values),
            Unpatch(rows, columns, values),
            RawImage(parameters, depth, height, width),
        )


class Unpatch(nn.Module):
    """Pixels of every patch to images, (N, rows * columns, 16 * values) -> (N, values, 4 rows, 4 columns)."""

    def __init__(self, rows: int, columns: int, values: int) -> None:
        super().__init__()
        self.rows, self.columns, self.values = rows, columns, values

    def forward(self, pixels: Tensor) -> Tensor:
        """The images."""
        tiles = pixels.reshape(-1, self.rows, self.columns, PATCH, PATCH, self.values)
        rows = tiles.permute(0, 5, 1, 3, 2, 4)
        return rows.reshape(-1, self.values, PATCH * self.rows, PATCH * self.columns)


class PlanePainter(nn.Module):
    """Features to the patches of an image, (N, width) -> (N, rows * columns, values).

    Features give the origin and the axes of a frame over the image, and the coefficients of planes `a x + b y + c` in it; a small
    fully connected net makes the values of each patch of the rectified heights of all planes at its centre. A rectified plane
    has an edge, which can lie anywhere; and all planes move and turn with their frame, so a figure can be learned apart from its
    position and rotation. Compare Bepler et al., Explicitly disentangling image content from translation and rotation with
    spatial-VAE (NeurIPS 2019), where a frame takes codes of its own.

    Args:
        width: number of features.
        planes, hidden: see `Patches`.
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


def crop(image: Tensor, height: int, width: int) -> Tensor:
    """The middle of images (..., H, W), or zeros around them where they are smaller."""
    down, right = height - image.shape[-2], width - image.shape[-1]
    if not down and not right:
        return image
    # Rounded towards 0, so that cropping undoes padding.
    left, top = int(right / 2), int(down / 2)
    return functional.pad(image, (left, right - left, top, down - top))


class Centre(nn.Module):
    """Images 0..1 to -1..1, padded with black (-1) around them, or cropped, to a size."""

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        self.height, self.width = height, width

    def forward(self, image: Tensor) -> Tensor:
        """Images (B, C, H, W) to (B, C, height, width)."""
        return crop(image, self.height, self.width) * 2 - 1


class RawImage(nn.Module):
    """Raw numbers of an image that may be larger to those of the image itself."""

    def __init__(self, parameters: int, depth: int, height: int, width: int) -> None:
        super().__init__()
        self.shape = (parameters, depth, height, width)

    def forward(self, raw: Tensor) -> Tensor:
        """(N, parameters * C, H', W') to (N, parameters, C, H, W)."""
        return crop(raw, *self.shape[2:]).reshape(len(raw), *self.shape)


def _encoder(modality: Modality, channels: tuple[int, ...], width: int, outputs: int) -> NetEncoder:
    """Strided convolutions with ReLU, each of which halves the grid, and a fully connected layer."""
    depth, height, breadth = modality.shape
    rows, columns = _grid(height), _grid(breadth)
    return NetEncoder(
        modality,
        Centre(rows << STRIDES, columns << STRIDES),
        *(layer for a, b in pairwise((depth, *channels)) for layer in (nn.Conv2d(a, b, 4, 2, 1), nn.ReLU())),
        nn.Flatten(),
        nn.Linear(channels[-1] * rows * columns, width),
        nn.ReLU(),
        nn.Linear(width, outputs),
    )


def _grid(size: int) -> int:
    """Cells of the coarsest grid along an axis of that many pixels."""
    return -(-size >> STRIDES)
