"""Layers that give values another shape."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class Reshape(nn.Module):
    """Gives every sample a shape, (B, ...) -> (B, *shape)."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, value: Tensor) -> Tensor:
        """The reshaped values."""
        return value.reshape(len(value), *self.shape)

    def extra_repr(self) -> str:
        """Shown by `print(module)`."""
        return str(self.shape)


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
