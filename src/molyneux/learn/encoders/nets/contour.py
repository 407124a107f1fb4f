"""A net for closed contours of one figure: where it is, how large, where the contour starts, and its outline."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from molyneux.core import Modality, SpecError
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.nets.net import MeasuringNet, NetEncoder
from molyneux.learn.posteriors.diagonal import raw_log_variances

__all__ = ["Contour"]

CHANNELS = 5
"""Numbers of a contact: x, y, cosine and sine of the direction of travel, turn."""

MEASURED = 5
"""Numbers of a code that are measured: x and y of the centre, log radius, cosine and sine of the phase of the start."""

_STDDEV = 0.01
"""Standard deviation of the measured numbers, in their units (`measure`)."""

_ROUND = 0.25
"""Scale of what the layers draw, so that a training begins with outlines that are nearly circles."""

_SHORTEST = 1e-6
"""Length of a step, in units of the coordinates, below which its direction is shorter than 1."""


@dataclass(frozen=True)
class Contour(MeasuringNet):
    """Closed contours of one figure, as `CdSprites` has of touch, by their Fourier coefficients in a frame of their own.

    A contour is a sequence of contacts at equal steps along the border, clockwise in the picture, from any of its points. As
    complex numbers x + i y by the share t of the way, it is a sum of c_n exp(2 pi i n t) (Kuhl and Giardina, Elliptic Fourier
    features of a closed contour, Computer Graphics and Image Processing 18, 1982, with complex numbers in place of pairs): c_0
    is the centre; the modulus of c_1 is a radius, and its argument the phase of the start, 0 where the contour starts right of
    the centre. Without centre, radius and phase, the same outline has the same coefficients, wherever its contour starts, and
    fully connected layers learn outlines and their rotation from these. The first five numbers of a code are measured (x, y, log
    radius, cosine and sine of the phase), with small fixed deviations; the others are learned. The decoder draws coefficients,
    and its contacts have the directions and turns that belong to their places.

    For series of 5 channels. It needs a model with one code of the contour, normal or Laplace, shared or private, such as
    `MLD` with a rate above 0.

    Args:
        width: units of each of the two hidden layers.
        harmonics: the highest frequency of an outline, below half the number of contacts.
    """

    width: int = 512
    harmonics: int = 24

    kinds = frozenset({"series"})
    measured = MEASURED

    def __post_init__(self) -> None:
        refuse([*too_small(self, "width"), *too_small(self, "harmonics", least=2)])

    def check(self, modality: Modality) -> None:
        """Raise SpecError for series that are no contours, or of too few contacts, too."""
        super().check(modality)
        if modality.shape[1:] != (CHANNELS,):
            raise SpecError(
                f"Contour reads contacts of {CHANNELS} numbers (x, y, cosine and sine of the direction, turn), "
                f"but {modality.name} has the shape {modality.shape}: use another net"
            )
        if modality.shape[0] <= 2 * self.harmonics:
            raise SpecError(
                f"Contour: expected harmonics below half the {modality.shape[0]} contacts of {modality.name}, "
                f"got {self.harmonics}"
            )

    def encoder(self, modality: Modality, outputs: int) -> nn.Module:
        """See `Net`; `outputs` are locations and log-variances of a code."""
        self.check(modality)
        return NetEncoder(modality, _Feel(self, self.learned(modality, self.code_size(modality, outputs))))

    def body(self, modality: Modality, inputs: int, parameters: int) -> nn.Module:
        """See `Net`."""
        self.check(modality)
        if parameters != 1:
            raise SpecError(f"Contour draws one number for each of {modality.name}: use a likelihood with one, such as Normal")
        return _Trace(self, modality.shape[0], self.learned(modality, inputs))


def coefficients(points: Tensor) -> Tensor:
    """The Fourier coefficients (B, T) complex of closed lines through points (B, T, 2), in the order of `torch.fft.fftfreq`."""
    found: Tensor = torch.fft.fft(torch.view_as_complex(points.contiguous()), norm="forward")
    return found


def measure(lines: Tensor) -> Tensor:
    """The measured numbers (B, 5) of lines with coefficients (B, T).

    In units in which they are near -1..1 in pictures of side 1: four times the centre from the middle of the picture; twice the
    logarithm of the radius over a tenth of the side, a radius being at least a hundredth; cosine and sine of the phase.
    """
    centre, first = lines[:, 0], lines[:, 1]
    radius, phase = first.abs().clamp_min(0.01), first.angle()
    return torch.stack([(centre.real - 0.5) * 4, (centre.imag - 0.5) * 4, (radius / 0.1).log() * 2, phase.cos(), phase.sin()], 1)


def frame(measured: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Centre (B, 1) complex, radius (B, 1) and phase (B, 1) in radians that numbers (B, 5) stand for."""
    x, y, size, cos, sin = measured.unsqueeze(1).unbind(2)
    return torch.complex(x / 4 + 0.5, y / 4 + 0.5), 0.1 * (size.clamp(-8.0, 8.0) / 2).exp(), torch.atan2(sin, cos)


def turned(lines: Tensor, frequencies: Tensor, phase: Tensor) -> Tensor:
    """Coefficients (B, N) at `frequencies` (N,) of lines that start later, by a phase (B, 1) of the way."""
    angle = frequencies * phase
    return lines * torch.polar(torch.ones_like(angle), angle)


def followed(points: Tensor) -> Tensor:
    """Contours (B, T, 5) through points (B, T, 2): with the directions of the steps and the turns between them."""
    step = points.roll(-1, 1) - points
    direction = step / (step.square().sum(-1, keepdim=True) + _SHORTEST**2).sqrt()
    (bx, by), (ax, ay) = direction.unbind(-1), direction.roll(1, 1).unbind(-1)
    turn = torch.atan2(ax * by - ay * bx, ax * bx + ay * by)
    return torch.cat([points, direction, turn.unsqueeze(-1)], -1)


class _Feel(nn.Module):
    """Contours to locations and raw log-variances of codes."""

    raw: Tensor
    frequencies: Tensor

    def __init__(self, net: Contour, learned: int) -> None:
        super().__init__()
        self.register_buffer("frequencies", _outline_frequencies(net.harmonics), persistent=False)
        layers: list[nn.Module] = []
        for before, after in ((4 * len(self.frequencies), net.width), (net.width, net.width)):
            layers += [nn.Linear(before, after), nn.BatchNorm1d(after), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(net.width, 2 * learned))
        self.register_buffer("raw", raw_log_variances([_STDDEV] * MEASURED), persistent=False)

    def forward(self, contour: Tensor) -> Tensor:
        """(B, T, 5) to (B, 2 D); the layers see the outline's coefficients, and those of its directions, which decay less."""
        with torch.autocast(contour.device.type, enabled=False), torch.no_grad():
            lines, directions = coefficients(contour[..., :2].float()), coefficients(contour[..., 2:4].float())
            measured = measure(lines)
            _, radius, phase = frame(measured)
            n = self.frequencies
            parts = [lines[:, n] / radius * n.square(), directions[:, n] * n]
            seen = torch.view_as_real(torch.cat([turned(part, n, -phase) for part in parts], 1)).flatten(1)
        loc, raw = self.layers(seen).float().chunk(2, -1)
        return torch.cat([measured, loc, self.raw.expand(len(contour), -1), raw], -1)


class _Trace(nn.Module):
    """Codes to contours."""

    frequencies: Tensor
    waves: Tensor

    def __init__(self, net: Contour, contacts: int, learned: int) -> None:
        super().__init__()
        self.register_buffer("frequencies", _outline_frequencies(net.harmonics), persistent=False)
        layers: list[nn.Module] = []
        for before in (learned, net.width):
            layers += [nn.Linear(before, net.width), nn.BatchNorm1d(net.width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(net.width, 2 * len(self.frequencies)))
        angle = torch.cat([torch.ones(1), self.frequencies])[:, None] * torch.arange(contacts) * (2 * math.pi / contacts)
        self.register_buffer("waves", torch.polar(torch.ones_like(angle), angle), persistent=False)

    def forward(self, codes: Tensor) -> Tensor:
        """(N, D) to (N, 1, T, 5)."""
        drawn = self.layers(codes[:, MEASURED:])
        with torch.autocast(codes.device.type, enabled=False):
            centre, radius, phase = frame(codes[:, :MEASURED].float())
            outline = torch.view_as_complex(_ROUND * drawn.float().reshape(len(codes), -1, 2)) / self.frequencies.square()
            lines = torch.cat([torch.ones_like(centre), outline], 1)  # of frequency 1, and the others
            lines = turned(lines, torch.cat([self.frequencies.new_ones(1), self.frequencies]), phase)
            own = followed(torch.view_as_real(lines @ self.waves))  # before the centre takes digits from the steps
            places = torch.view_as_real(centre).float() + radius.unsqueeze(1) * own[..., :2]
            return torch.cat([places, own[..., 2:]], -1).unsqueeze(1)


def _outline_frequencies(harmonics: int) -> Tensor:
    """All from -`harmonics` to `harmonics` but 0 and 1, whose coefficients are measured; as indices, negative ones count back."""
    return torch.tensor([n for n in range(-harmonics, harmonics + 1) if n not in (0, 1)])
