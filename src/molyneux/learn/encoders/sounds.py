"""Encoders of signals: sounds by their spectrograms, and forces by causal convolutions of stride 2."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import ConfigError, Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder, unfit
from molyneux.learn.encoders.nets.net import zeros_beyond
from molyneux.learn.encoders.pictures.convolutional import ResNet
from molyneux.learn.encoders.pictures.small import channel_problems
from molyneux.learn.encoders.steps import ViewSteps

PICTURE = ResNet((16, 32, 64, 128))


@dataclass(frozen=True)
class Spectrogram(ViewEncoder):
    """The logarithm of a sound's power spectrum over time, as a picture, and an encoder of pictures.

    Hann windows; `log(1 + 100 |X|^2)`. A sound is silent beyond its length.

    Args:
        picture: encoder of the spectrogram, of the shape (channels, window / 2 + 1, windows).
        window: samples of a window.
        hop: samples between windows.
    """

    picture: ViewEncoder = PICTURE
    window: int = 256
    hop: int = 128

    kinds = frozenset({"audio"})

    def __post_init__(self) -> None:
        problems = too_small(self, "window", least=2) + too_small(self, "hop")
        if "image" not in self.picture.kinds:
            problems.append(unfit("picture", self.picture, "image"))
        refuse(problems)

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        channels, samples = modality.shape
        if samples <= self.window // 2:
            raise ConfigError(f"window: expected less than twice the {samples} samples of {modality.name}, got {self.window}")
        shape = (channels, self.window // 2 + 1, 1 + samples // self.hop)
        return SpectrogramEncoder(modality, self, self.picture.build(Modality(modality.name, "image", shape, "float32")))


class SpectrogramEncoder(Encoder):
    """See `Spectrogram`."""

    taper: Tensor

    def __init__(self, modality: Modality, settings: Spectrogram, picture: Encoder) -> None:
        super().__init__(modality, vector=picture.vector, width=picture.width, grid=picture.grid, layers=picture.layer_widths)
        self.window, self.hop, self.picture = settings.window, settings.hop, picture
        self.register_buffer("taper", torch.hann_window(settings.window), persistent=False)

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        sound = view if lengths is None else zeros_beyond(view, lengths, 2)
        spectrum = torch.stft(sound.flatten(0, 1), self.window, self.hop, window=self.taper, return_complex=True)
        power = torch.view_as_real(spectrum).square().sum(-1).reshape(*sound.shape[:2], *spectrum.shape[1:])
        encoding: Encoding = self.picture((1 + 100 * power / self.window).log())
        return encoding


@dataclass(frozen=True)
class ForceConvolution(ViewEncoder):
    """Causal convolutions of two steps and stride 2 with leaky ReLU; Lee et al., Making Sense of Vision and Touch (ICRA 2019).

    Each halves the steps; the vector is the last state. With the default, 32 readings of 6 numbers become 256 numbers.

    Args:
        channels: of each convolution.
    """

    channels: tuple[int, ...] = (16, 32, 64, 128, 256)

    kinds = frozenset({"audio", "series"})

    def __post_init__(self) -> None:
        refuse(channel_problems(self.channels))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return ForceEncoder(modality, self)


class ForceEncoder(Encoder):
    """See `ForceConvolution`. A window that the length of a series does not fill begins with zeros: its end is what counts."""

    def __init__(self, modality: Modality, settings: ForceConvolution) -> None:
        steps = ViewSteps(modality)
        sizes = (steps.width, *settings.channels)
        last = sizes[-1]
        count = max(1, -(-steps.count // 2 ** len(settings.channels)))
        super().__init__(modality, vector=last, width=last, grid=(1, count))
        self.steps = steps
        self.layers = nn.ModuleList(nn.Conv1d(a, b, 2, 2) for a, b in pairwise(sizes))

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        values, counts = self.steps(view, lengths)
        order = torch.arange(values.shape[1], device=values.device) + counts.unsqueeze(1)
        values = values.gather(1, (order % values.shape[1]).unsqueeze(2).expand_as(values)).transpose(1, 2)  # ends together
        for layer in self.layers:
            values = functional.leaky_relu(layer(functional.pad(values, (values.shape[2] % 2, 0))), 0.1)
        states, some = values.transpose(1, 2), counts > 0
        parts = states * some.reshape(-1, 1, 1)
        return Encoding(parts[:, -1], parts, some.unsqueeze(1).expand(-1, states.shape[1]))
