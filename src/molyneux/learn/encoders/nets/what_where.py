"""A net for images of one coloured figure: where it is, how bright it and the ground are, and what it looks like."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Modality, SpecError
from molyneux.learn.checks import not_positive, refuse, too_small
from molyneux.learn.encoders.nets.grid import NormalisedResidual
from molyneux.learn.encoders.nets.net import Decoder, MeasuringNet, NetEncoder, Reshape
from molyneux.learn.likelihoods import ViewLikelihood
from molyneux.learn.likelihoods.chromatic import ChromaticNormal, chromatic
from molyneux.learn.posteriors.diagonal import raw_log_variances

__all__ = ["WhatWhere"]

SIDE = 32
"""Rows and columns of the patch in which the figure is seen and drawn."""

_GREY = 0.05
"""Salience below which a pixel belongs to the ground."""

_STDDEVS = (0.01, 0.01, 0.01, 0.02, 0.02)
"""Standard deviations of the measured numbers, in their units (`_Frame.measure`)."""

MEASURED = len(_STDDEVS)
"""Numbers of a code that are measured: column and row of the centre, log radius, brightness of the ground and of the figure."""


Salience = Literal["saturation", "brightness"]
"""What sets a figure off from its ground: colour, or light."""

Ground = Literal["grey", "black"]
"""What a figure stands on."""


@dataclass(frozen=True)
class WhatWhere(MeasuringNet):
    """An attention window on the one coloured figure of an image; convolutions see and draw it in a frame of its own.

    Eslami et al., Attend, Infer, Repeat (NeurIPS 2016), with one object: a code says where the figure is and what it is, and a
    spatial transformer (Jaderberg et al., NeurIPS 2015) cuts the window out and puts what was drawn in its place. Here nothing
    has to learn where to look: the window lies around the centre of the saturation of the image (how far the chromaticity of a
    pixel is from grey, see `ChromaticNormal`), and its size is a multiple of the root mean square distance from there. So the
    convolutions learn outlines in one place and size, with few dimensions. The first five of the code are measured, (column,
    row, log radius, brightness of the ground, brightness of the figure), with small fixed deviations; the others are learned.

    The ground is drawn with one brightness and without colour. For images of 3 channels with one coloured figure on a grey or
    black ground, or one light figure without colour on a black ground (`salience: brightness`); several figures are seen as one.
    It needs the likelihood `ChromaticNormal`, its default, and a model with one code of the image, normal or Laplace, shared or
    private, such as `MLD` with a rate above 0.

    Args:
        channels: of the finest grid of the encoder, 1/2 of the patch of 32 x 32; the coarser ones have twice and three times as
            many.
        width: units of the fully connected layers.
        reach: half the side of the window, in root mean square distances from the centre.
        salience: of pixels, by which the figure is found: `saturation`, or `brightness`, which the convolutions then see in place
            of the chromaticity; and nothing is drawn in colour.
        ground: `black` for figures of one colour on black, where a pixel at the border is darker and of no other colour. In
            training the chromaticity of black pixels is grey, which shows the outline, so that drawn borders are pale; with
            `black`, images that are drawn after training have the chromaticity of the figure in all pixels, and their
            brightness alone shows the outline. It changes nothing where nothing is drawn in colour.
    """

    channels: int = 32
    width: int = 256
    reach: float = 2.3
    salience: Salience = "saturation"
    ground: Ground = "grey"

    kinds = frozenset({"image"})
    measured = MEASURED

    def __post_init__(self) -> None:
        wrong = [
            f"{name}: expected {' or '.join(known)}, got {getattr(self, name)!r}"
            for name, known in (("salience", get_args(Salience)), ("ground", get_args(Ground)))
            if getattr(self, name) not in known
        ]
        refuse([*too_small(self, "channels", "width"), *not_positive(reach=self.reach), *wrong])

    def check(self, modality: Modality) -> None:
        """Raise SpecError for images without three channels too."""
        super().check(modality)
        if modality.shape[0] != 3:
            raise SpecError(f"WhatWhere reads images of 3 channels, but {modality.name} has {modality.shape[0]}: use another net")

    def likelihood(self, modality: Modality) -> ChromaticNormal:
        """See `Net`."""
        self.check(modality)
        return ChromaticNormal()

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`; `outputs` are locations and log-variances of a code."""
        self.check(modality)
        return NetEncoder(modality, _Look(self, modality, self.learned(modality, self.code_size(modality, outputs))))

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`; the numbers are brightness and chromaticity."""
        self.check(modality)
        if parameters != 1:
            raise SpecError(f"WhatWhere draws brightness and chromaticity of {modality.name}: use the likelihood ChromaticNormal")
        return _Draw(self, modality, self.learned(modality, inputs))

    def decoder(self, modality: Modality, inputs: int, likelihood: ViewLikelihood) -> nn.Module:
        """See `Net`.

        Raises:
            SpecError: the likelihood is not `ChromaticNormal`.
        """
        if not isinstance(likelihood, ChromaticNormal):
            raise SpecError(
                f"WhatWhere draws brightness and chromaticity of {modality.name}: "
                f"expected the likelihood ChromaticNormal, got {type(likelihood).__name__}"
            )
        return Decoder(self.body(modality, inputs, 1), likelihood.head(modality))


class _Frame(nn.Module):
    """The pixels of an image and those of the patch, and how one is found from the other."""

    pixels: Tensor
    cells: Tensor

    def __init__(self, net: WhatWhere, modality: Modality) -> None:
        super().__init__()
        _, self.height, self.width = modality.shape
        self.side, self.reach = math.sqrt(self.height * self.width), net.reach
        self.by_brightness = net.salience == "brightness"
        rows, columns = torch.meshgrid(torch.arange(float(self.height)), torch.arange(float(self.width)), indexing="ij")
        pixels = torch.stack([columns - (self.width - 1) / 2, rows - (self.height - 1) / 2]).flatten(1)
        self.register_buffer("pixels", pixels, persistent=False)
        line = (torch.arange(SIDE) + 0.5) / SIDE * 2 - 1
        rows, columns = torch.meshgrid(line, line, indexing="ij")
        self.register_buffer("cells", torch.stack([columns, rows], -1), persistent=False)

    def measure(self, image: Tensor) -> Tensor:
        """The measured numbers (B, 5) of brightness and chromaticity (B, 3, H, W); without a figure they are finite.

        In units in which they are near -1..1: the centre from the middle of the image in quarters of its side, the square root of
        H W; twice the logarithm of the root mean square distance, at least a pixel, over a tenth of the side; brightness from
        -1, black, to 1.
        """
        salience = image[:, 0] if self.by_brightness else image[:, 1:].square().sum(1).sqrt()
        salience = salience.flatten(1).clamp(max=1.0)
        some = 1e-3
        total = salience.sum(1, keepdim=True) + some
        centre = torch.einsum("bp,kp->bk", salience, self.pixels) / total
        away = (self.pixels - centre.unsqueeze(-1)).square().sum(1)
        radius = ((salience * away).sum(1, keepdim=True) / total).sqrt().clamp_min(1.0)
        brightness, ground = image[:, 0].flatten(1), (salience < _GREY).float()
        grey = (brightness * ground).sum(1, keepdim=True) / ground.sum(1, keepdim=True).clamp_min(1.0)
        figure = (brightness * salience).sum(1, keepdim=True) / total
        size = (radius / (0.1 * self.side)).log() * 2
        return torch.cat([centre * 4 / self.side, size, grey * 2 - 1, figure * 2 - 1], 1)

    def window(self, measured: Tensor) -> tuple[Tensor, Tensor]:
        """The centre (B, 2), column and row from the middle of the image, and half the side (B, 1) of the window, in pixels."""
        size = measured[:, 2:3].clamp(-8.0, 8.0)
        return measured[:, :2] * self.side / 4, self.reach * 0.1 * self.side * (size / 2).exp()

    def cut(self, image: Tensor, measured: Tensor) -> Tensor:
        """The patch (B, C, side, side) in the window of an image (B, C, H, W); beyond the image it is 0."""
        centre, half = self.window(measured)
        scale = self.cells.new_tensor([2 / self.width, 2 / self.height])
        places = (centre[:, None, None] + half[:, None, None] * self.cells) * scale
        return functional.grid_sample(image, places, align_corners=False)

    def place(self, patch: Tensor, measured: Tensor) -> Tensor:
        """An image (B, C, H, W) that is 0 but in the window, where the patch (B, C, side, side) is."""
        centre, half = self.window(measured)
        places = (self.pixels.T - centre.unsqueeze(1)) / half.unsqueeze(1)
        return functional.grid_sample(patch, places.reshape(-1, self.height, self.width, 2), align_corners=False)


class _Look(nn.Module):
    """Images to locations and raw log-variances of codes."""

    raw: Tensor

    def __init__(self, net: WhatWhere, modality: Modality, learned: int) -> None:
        super().__init__()
        self.frame = _Frame(net, modality)
        c = net.channels
        layers: list[nn.Module] = []
        for before, after, residual in ((1 if self.frame.by_brightness else 2, c, False), (c, 2 * c, True), (2 * c, 3 * c, True)):
            layers += [nn.Conv2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
            layers += [NormalisedResidual(after)] if residual else []
        layers += [nn.Flatten(), nn.Linear(48 * c, net.width), nn.BatchNorm1d(net.width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(net.width, 2 * learned))
        self.register_buffer("raw", raw_log_variances(_STDDEVS), persistent=False)

    def forward(self, image: Tensor) -> Tensor:
        """(B, 3, H, W) in 0..1 to (B, 2 D)."""
        with torch.autocast(image.device.type, enabled=False), torch.no_grad():
            seen = chromatic(image.float())
            measured = self.frame.measure(seen)
            patch = self.frame.cut(seen[:, :1] if self.frame.by_brightness else seen[:, 1:], measured)
        loc, raw = self.layers(patch.contiguous(memory_format=torch.channels_last)).float().chunk(2, -1)
        return torch.cat([measured, loc, self.raw.expand(len(image), -1), raw], -1)


class _Draw(nn.Module):
    """Codes to brightness and chromaticity of images."""

    def __init__(self, net: WhatWhere, modality: Modality, learned: int) -> None:
        super().__init__()
        self.frame = _Frame(net, modality)
        self.on_black = net.ground == "black"
        c = net.channels
        layers: list[nn.Module] = [nn.Linear(learned, net.width), nn.BatchNorm1d(net.width), nn.ReLU()]
        layers += [nn.Linear(net.width, 48 * c), Reshape(3 * c, SIDE // 8, SIDE // 8)]
        layers += [nn.BatchNorm2d(3 * c), nn.ReLU(), NormalisedResidual(3 * c)]
        for before, after, residual in ((3 * c, 2 * c, True), (2 * c, c, False)):
            layers += [nn.ConvTranspose2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
            layers += [NormalisedResidual(after)] if residual else []
        self.layers = nn.Sequential(*layers, nn.ConvTranspose2d(c, 1 if self.frame.by_brightness else 3, 4, 2, 1))

    def forward(self, codes: Tensor) -> Tensor:
        """(N, D) to (N, 1, 3, H, W)."""
        patch = self.layers(codes[:, MEASURED:])
        with torch.autocast(codes.device.type, enabled=False):
            measured = codes[:, :MEASURED].float()
            patch = torch.cat([patch[:, :1].float().sigmoid(), patch[:, 1:].float()], 1)
            placed = self.frame.place(patch, measured)
            opacity, colour = placed[:, :1], placed[:, 1:]
            if self.frame.by_brightness:  # the variance of a colour that no image has would outweigh all else
                colour = placed.new_zeros(len(placed), 2, self.frame.height, self.frame.width)
            elif self.on_black and not self.training:
                colour = _of_figure(opacity, colour).expand_as(colour)
            ground, figure = ((measured[:, at, None, None, None] + 1) / 2 for at in (3, 4))
            return torch.cat([ground + opacity * (figure - ground), colour], 1).unsqueeze(1)


def _of_figure(opacity: Tensor, colour: Tensor) -> Tensor:
    """The chromaticity of a figure (N, 2, 1, 1): the mean of `colour` (N, 2, H, W), weighted by colourfulness and opacity."""
    weight = opacity * colour.square().sum(1, keepdim=True)
    return (colour * weight).sum((2, 3), keepdim=True) / weight.sum((2, 3), keepdim=True).clamp_min(1e-6)
