"""Encoders of videos and other steps: an encoder of each step and one over them, or convolutions over time and space."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from molyneux.core import Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder, unfit
from molyneux.learn.encoders.nets.net import zeros_beyond
from molyneux.learn.encoders.pictures.convolutional import ResNet
from molyneux.learn.encoders.pictures.small import channel_problems
from molyneux.learn.encoders.sequences import RecurrentSteps
from molyneux.learn.encoders.steps import as_steps, step_counts, step_mask, step_mean, step_sizes

STEP, TIME = ResNet((16, 32, 64)), RecurrentSteps()


@dataclass(frozen=True)
class Stepwise(ViewEncoder):
    """An encoder reads each step, such as the frames of a video, and an encoder of series what it makes of them.

    Args:
        step: encoder of a frame of a video (kind image), or of the numbers of a step of a series or sound (kind tabular).
        time: encoder of the sequence of the vectors of the steps.
    """

    step: ViewEncoder = STEP
    time: ViewEncoder = TIME

    kinds = frozenset({"audio", "series", "video"})

    def __post_init__(self) -> None:
        problems = [] if "series" in self.time.kinds else [unfit("time", self.time, "series")]
        refuse(problems + ([] if {"image", "tabular"} & self.step.kinds else [unfit("step", self.step, "image")]))

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        count, width = step_sizes(modality)
        image = modality.kind == "video"
        one = Modality(modality.name, "image" if image else "tabular", modality.shape[1:] if image else (width,), "float32")
        step = self.step.build(one)
        return StepwiseEncoder(modality, step, self.time.build(Modality(modality.name, "series", (count, step.vector))))


class StepwiseEncoder(Encoder):
    """See `Stepwise`. Steps beyond the length of a view pass through no encoder."""

    def __init__(self, modality: Modality, step: Encoder, time: Encoder) -> None:
        super().__init__(modality, vector=time.vector, width=time.width, grid=time.grid, layers=time.layer_widths)
        self.step, self.time = step, time

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        values = view if self.modality.kind == "video" else as_steps(self.modality, view)
        counts = step_counts(self.modality, view, lengths)
        there = step_mask(counts, values.shape[1])
        states = torch.zeros(*values.shape[:2], self.step.vector, device=view.device)
        if there.any():
            found = self.step(values[there]).vector
            states = states.to(found.dtype).index_put((there,), found)
        encoding: Encoding = self.time(states, counts)
        return encoding


@dataclass(frozen=True)
class ResNet3D(ViewEncoder):
    """A residual network with convolutions over time and space; Hara et al. (ICCV workshops 2017), basic blocks.

    Each stage after the first halves frames, rows and columns. The vector is the mean over positions and the steps that are left,
    the parts are these steps.

    Deviation: group normalisation of each frame in place of batch normalisation, so that frames beyond the length of a video
    change nothing.

    Args:
        channels: of each stage, multiples of 8.
        blocks: of each stage.
        stem: stride of the first convolution along rows and columns.
    """

    channels: tuple[int, ...] = (16, 32, 64)
    blocks: int = 1
    stem: int = 2

    kinds = frozenset({"video"})

    def __post_init__(self) -> None:
        problems = channel_problems(self.channels) + too_small(self, "blocks", "stem")
        if not problems and any(size % 8 for size in self.channels):
            problems.append(f"channels: expected multiples of 8, got {self.channels}")
        refuse(problems)

    def build(self, modality: Modality) -> Encoder:
        """See `ViewEncoder`."""
        self.check(modality)
        return ResNet3DEncoder(modality, self)


class ResNet3DEncoder(Encoder):
    """See `ResNet3D`."""

    def __init__(self, modality: Modality, settings: ResNet3D) -> None:
        sizes = settings.channels
        halved = -(-modality.shape[0] // 2 ** (len(sizes) - 1))
        super().__init__(modality, vector=sizes[-1], width=sizes[-1], grid=(1, halved))
        self.entry = VideoConvolution(modality.shape[1], sizes[0], (1, settings.stem))
        self.blocks = nn.ModuleList(
            VideoBlock(a if not block else b, b, 2 if stage and not block else 1)
            for stage, (a, b) in enumerate(pairwise((sizes[0], *sizes)))
            for block in range(settings.blocks)
        )

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> Encoding:
        """See `Encoder`."""
        counts = step_counts(self.modality, view, lengths)
        maps, counts = self.entry(zeros_beyond(view, counts, 1).transpose(1, 2), counts)
        maps = maps.relu()
        for block in self.blocks:
            maps, counts = block(maps, counts)
        states = maps.mean((3, 4)).transpose(1, 2)
        return Encoding(step_mean(states, counts), zeros_beyond(states, counts, 1), step_mask(counts, states.shape[1]))


class VideoConvolution(nn.Module):
    """A 3x3x3 convolution, or 1x1x1, with group normalisation of each frame; 0 beyond the lengths.

    Args:
        inputs, outputs: channels.
        stride: over time, and over rows and columns.
        kernel: its side.
    """

    def __init__(self, inputs: int, outputs: int, stride: tuple[int, int], kernel: int = 3) -> None:
        super().__init__()
        self.stride = stride[0]
        self.convolution = nn.Conv3d(inputs, outputs, kernel, (stride[0], stride[1], stride[1]), kernel // 2, bias=False)
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")
        self.norm = nn.GroupNorm(outputs // 8, outputs)

    def forward(self, maps: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Maps (B, inputs, T, H, W) and how many frames there are (B,) to both after the convolution."""
        found = self.convolution(maps).transpose(1, 2)
        found = self.norm(found.flatten(0, 1)).unflatten(0, found.shape[:2])
        counts = -(-counts // self.stride)
        return zeros_beyond(found, counts, 1).transpose(1, 2), counts


class VideoBlock(nn.Module):
    """A residual block of `ResNet3D`."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = VideoConvolution(inputs, outputs, (stride, stride)), VideoConvolution(outputs, outputs, (1, 1))
        same = inputs == outputs and stride == 1
        self.shortcut = None if same else VideoConvolution(inputs, outputs, (stride, stride), 1)

    def forward(self, maps: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """See `VideoConvolution`."""
        changed, after = self.first(maps, counts)
        changed, _ = self.second(changed.relu(), after)
        return (changed + (maps if self.shortcut is None else self.shortcut(maps, counts)[0])).relu(), after
