"""Which arithmetic and memory layout are fast on this machine, for this model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from molyneux.core import ConfigError
from molyneux.learn.training import Training

_BF16_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}
"""Names of bf16 instructions in Linux's list of processor features (x86 and Arm)."""


def has_bf16(features: str | None = None) -> bool:
    """Whether the processor multiplies bf16 numbers itself; False where that cannot be found out.

    Args:
        features: the text of /proc/cpuinfo; read where not given.

    >>> has_bf16("flags : fpu avx2 avx512_bf16")
    True
    >>> has_bf16("flags : fpu avx2")
    False
    """
    if features is None:
        path = Path("/proc/cpuinfo")
        features = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return not _BF16_FLAGS.isdisjoint(features.split())


def use_gpu(training: Training) -> bool:
    """Whether to train on a GPU.

    Raises:
        ConfigError: one is asked for, and there is none.
    """
    available = torch.cuda.is_available()
    if training.device == "gpu" and not available:
        raise ConfigError("device: expected a GPU that torch can use, got none: set it to cpu or auto")
    return available and training.device != "cpu"


def use_bf16(training: Training, model: nn.Module) -> bool:
    """Whether to train with bf16 autocast."""
    if training.precision != "auto":
        return training.precision == "bf16"
    fast = torch.cuda.is_bf16_supported(including_emulation=False) if use_gpu(training) else has_bf16()
    return fast and _convolves(model)


def use_channels_last(training: Training, model: nn.Module) -> bool:
    """Whether images and the weights of convolutions lie in memory with their channels last."""
    return _convolves(model) if training.channels_last == "auto" else training.channels_last


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """So many torch threads inside the block; None changes nothing."""
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _convolves(model: nn.Module) -> bool:
    return any(isinstance(part, nn.Conv2d | nn.ConvTranspose2d) for part in model.modules())
