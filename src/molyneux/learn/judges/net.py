"""The network of a judge: features of a picture or of a contour, and a classifier of each factor."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Modality, SpecError

SIDE = 64
"""Side in pixels to which pictures are resized."""
WIDTH = 128
"""Units of the last hidden layer."""


class PictureFeatures(nn.Module):
    """Convolutions over a picture of 64 pixels; features are pooled maps (what is there) and a coarse map (where)."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            _convolution(channels, width // 2, 4, 2, 1),
            _convolution(width // 2, width, 4, 2, 1),
            _convolution(width, 2 * width, 3),
            _convolution(2 * width, 2 * width, 3, 2),
            _convolution(2 * width, 3 * width, 3),
        )
        self.place = nn.Conv2d(3 * width, 4, 1)
        self.features = 2 * 3 * width + 4 * (SIDE // 8) ** 2

    def forward(self, view: Tensor) -> Tensor:
        """Features (B, F) of pictures (B, C, H, W) in 0..1, of any size."""
        maps = self.layers(_resize(view))
        return torch.cat([maps.amax((2, 3)), maps.mean((2, 3)), self.place(maps).flatten(1)], 1)


class ContourFeatures(nn.Module):
    """Convolutions around a closed contour; features do not depend on where the contour starts."""

    def __init__(self, channels: int, width: int = 64) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            _circular(channels, width, 5),
            _circular(width, width, 5, 2),
            _circular(width, 2 * width, 5, 3),
        )
        self.features = 2 * 2 * width + 2 * channels

    def forward(self, view: Tensor) -> Tensor:
        """Features (B, F) of contours (B, T, D)."""
        steps = view.transpose(1, 2)
        middle = steps.mean(2, keepdim=True)
        maps = self.layers(steps - middle)
        spread = (steps - middle).square().mean(2)
        return torch.cat([maps.amax(2), maps.mean(2), middle.squeeze(2), spread], 1)


class JudgeNet(nn.Module):
    """Reads factors in the views of one modality.

    Args:
        modality: of kind image or series.
        factors: number of values of each factor.
        width: of the layers of pictures; channels are multiples of a half of it.

    Raises:
        SpecError: there are no judges for this kind of modality.
    """

    def __init__(self, modality: Modality, factors: Mapping[str, int], width: int = 48) -> None:
        super().__init__()
        if modality.kind not in ("image", "series"):
            raise SpecError(f"modality {modality.name}: judges read kinds image and series, got {modality.kind}")
        self.picture = modality.kind == "image"
        self.body = PictureFeatures(modality.shape[0], width) if self.picture else ContourFeatures(modality.shape[1])
        self.hidden = nn.Sequential(nn.Linear(self.body.features, WIDTH), nn.ReLU())
        self.names = tuple(factors)
        self.heads = nn.ModuleDict({_key(name): nn.Linear(WIDTH, values) for name, values in factors.items()})

    def features(self, view: Tensor) -> Tensor:
        """The last hidden layer (B, 128) of views in the form models compute with."""
        hidden: Tensor = self.hidden(self.body(view))
        return hidden

    def forward(self, view: Tensor) -> dict[str, Tensor]:
        """Logits (B, values) per factor, of views in the form models compute with."""
        features = self.features(view)
        return dict(zip(self.names, (head(features) for head in self.heads.values()), strict=True))


def _key(name: str) -> str:
    """The name of a factor as a key of `nn.ModuleDict`, which takes no dots and none of its own attributes."""
    plain = name.isidentifier() and not name.startswith("_") and not hasattr(nn.ModuleDict, name)
    return name if plain and name != "training" else f"_{name.encode().hex()}"


def _convolution(inputs: int, outputs: int, size: int, stride: int = 1, padding: int = 1) -> nn.Sequential:
    layer = nn.Conv2d(inputs, outputs, size, stride, padding, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


def _circular(inputs: int, outputs: int, size: int, dilation: int = 1) -> nn.Sequential:
    padding = dilation * (size // 2)
    layer = nn.Conv1d(inputs, outputs, size, padding=padding, dilation=dilation, padding_mode="circular", bias=False)
    return nn.Sequential(layer, nn.BatchNorm1d(outputs), nn.ReLU(inplace=True))


def _resize(view: Tensor) -> Tensor:
    """Larger pictures are averaged over areas, smaller ones interpolated."""
    if view.shape[-2:] == (SIDE, SIDE):
        return view
    if min(view.shape[-2:]) >= SIDE:
        return functional.interpolate(view, (SIDE, SIDE), mode="area")
    return functional.interpolate(view, (SIDE, SIDE), mode="bilinear", align_corners=False)


def width_of(tensors: Mapping[str, Tensor]) -> int:
    """The width of a network of pictures from its weights; any number for one of contours."""
    return 2 * len(tensors["body.layers.0.0.weight"])
