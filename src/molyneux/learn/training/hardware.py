"""What this machine offers to a training: device, arithmetic, memory layout, threads and the allocator's settings."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from molyneux.core import ConfigError
from molyneux.learn.training.settings import Training

_BF16_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}
"""Names of bf16 instructions in Linux's list of processor features (x86 and Arm)."""

_WITHOUT_BF16 = {"SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX2_VNNI_2", "AVX512_CORE", "AVX512_CORE_VNNI"}
"""Values of oneDNN's ONEDNN_MAX_CPU_ISA that leave no bf16 arithmetic."""

_WIDE = 256
"""Rows and columns of a matrix from which on a product in bf16 takes less time, the conversions included."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
"""Numbers of the settings in glibc's malloc.h."""


@dataclass(frozen=True)
class Placement:
    """Where a training computes, and in which arithmetic.

    Args:
        device: of the model; of CUDA, the one that is the process's current device.
        bf16: whether to compute in bf16 where autocast does; weights stay in 32 bits.
    """

    device: torch.device
    bf16: bool = False

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """What a loss is computed within."""
        return torch.autocast(self.device.type, torch.bfloat16) if self.bf16 else contextlib.nullcontext()


def choose_device(training: Training) -> str:
    """The device to train on: `cpu`, `cuda` or `mps`; raises ConfigError if torch cannot use the one that is asked for."""
    usable = [name for name, found in (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available())) if found]
    if training.device == "auto":
        return "cuda" if "cuda" in usable else "cpu"
    wanted = {"gpu": ("cuda", "mps")}.get(training.device, (training.device,))
    device = next((name for name in wanted if name in ("cpu", *usable)), None)
    if device is None:
        here = ", ".join(("cpu", *usable))
        raise ConfigError(
            f"device: expected one that torch can use here ({here}), got {training.device}, of which it finds none: "
            "set it to cpu or auto"
        )
    return device


def device_after(training: Training) -> str:
    """The device of what is computed after a training: its own, or the processor for MPS, which lacks double precision."""
    device = choose_device(training)
    return "cpu" if device == "mps" else device


def has_bf16(features: str | None = None) -> bool:
    """Whether the processor has bf16 instructions and torch's kernels use them; False where that cannot be found out.

    Args:
        features: the processor's features, as /proc/cpuinfo has them; read where not given.
    """
    if features is None:
        path = Path("/proc/cpuinfo")
        features = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return not _BF16_FLAGS.isdisjoint(features.split()) and _kernels_have_bf16()


def device_has_bf16(device: str) -> bool:
    """Whether a device of this type (`cpu`, `cuda`, `mps`) has bf16 instructions that torch uses; False for MPS, not measured."""
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device == "cpu" and has_bf16()


@cache
def computes_lstm_in_bf16() -> bool:
    """Whether this processor can compute an LSTM in bf16, tried once per process: other layers torch emulates without a word."""
    zeros = torch.zeros
    weights = [zeros(4, 1), zeros(4, 1), zeros(4), zeros(4)]
    try:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            torch.lstm(zeros(1, 1, 1), (zeros(1, 1, 1), zeros(1, 1, 1)), weights, True, 1, 0.0, False, False, True)
    except RuntimeError:
        return False
    return True


def use_bf16(training: Training, model: nn.Module) -> bool:
    """Whether to train with bf16 autocast: where it is asked for or known to gain, and the device has arithmetic for it.

    It is never emulated: a step takes ten to fifty times as long then. `bf16_note` says where that changes what is asked for.
    """
    device = choose_device(training)
    if training.precision == "auto":
        return device_has_bf16(device) and _gains_from_bf16(model)
    return training.precision == "bf16" and can_use_bf16(device) and not lacks_lstm(model, device)


def precision_of(training: Training, model: nn.Module) -> str:
    """In which arithmetic `fit` trains a model here, `32` or `bf16`."""
    return "bf16" if use_bf16(training, model) else "32"


def can_use_bf16(device: str) -> bool:
    """Whether bf16 that is asked for is used on a device of this type: where it has bf16 instructions, and on MPS."""
    return device == "mps" or device_has_bf16(device)


def bf16_note(training: Training, model: nn.Module) -> str:
    """What to tell where bf16 is asked for and 32 bits are used, in one line; empty where that is not so."""
    device = choose_device(training)
    if training.precision != "bf16" or use_bf16(training, model):
        return ""
    lacks = "an LSTM in bf16" if can_use_bf16(device) else "bf16 arithmetic"
    return (
        f"precision: bf16 is asked for, and this device ({device}) has no {lacks}: {type(model).__name__} is trained in 32 bits, "
        "in which steps take up to about twice as long as in bf16 elsewhere"
    )


def bf16_problem(model: nn.Module) -> str:
    """The sentence for a model that cannot be computed in bf16 here, though the device has bf16 arithmetic."""
    return (
        f"precision: expected a device that can compute {type(model).__name__} in bf16, got one without the instructions "
        "that it needs: set precision to 32"
    )


def use_channels_last(training: Training, model: nn.Module) -> bool:
    """Whether images and the weights of convolutions lie in memory with their channels last."""
    return _has_convolutions(model) if training.channels_last == "auto" else training.channels_last


@contextlib.contextmanager
def on_device(model: nn.Module, device: str) -> Iterator[None]:
    """The model on a device inside the block, and on the CPU after it."""
    try:
        model.to(device)
        yield
    finally:
        model.to("cpu")


@contextlib.contextmanager
def threads(count: int | None) -> Iterator[None]:
    """So many torch threads inside the block; None changes nothing."""
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def keep_freed_memory(kept: int = 2**30) -> None:
    """Keep memory that was freed for the next step, up to so many bytes; where the C library is not glibc nothing changes.

    By default glibc gives large blocks back to the system as soon as they are free, and every step of a training asks for them
    again: a step of an LSTM in 32 bits takes up to half as long again. It holds for the rest of the process; `fit` calls it.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # other C libraries have no such function, Windows no such name
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_TRIM_THRESHOLD, kept)
        allocator.mallopt(_MMAP_THRESHOLD, min(kept, 2**25))  # the most that glibc accepts
        allocator.mallopt(_MMAP_MAX, 0)  # larger blocks, such as the gradient of a wide LSTM, are kept too


def _kernels_have_bf16() -> bool:
    """Whether torch and oneDNN use bf16 kernels: the environment can switch off what the processor has."""
    limits = (os.environ.get(f"{library}_MAX_CPU_ISA", "").upper() for library in ("ONEDNN", "DNNL"))
    if not _WITHOUT_BF16.isdisjoint(limits):
        return False  # on AVX-512 alone oneDNN emulates bf16
    arm = torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "SVE256")
    wide = arm or torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return wide and _onednn_has_bf16()


def _onednn_has_bf16() -> bool:
    """What torch says of oneDNN, which is yes with AVX-512 alone."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _gains_from_bf16(model: nn.Module) -> bool:
    """Whether steps get shorter: with two-dimensional convolutions, with LSTMs, and where most weights are in wide matrices.

    Measured on an EPYC with avx512_bf16, step in bf16 / step in 32 bits, batches of 64-128: LSTMs of width 32, 128 and 512 0.81,
    0.59 and 0.57; dense layers of width 32, 128, 256 and 512 1.85, 1.28, 0.93 and 0.69; transformers of width 64 and 256 1.69
    and 0.61.
    """
    if _has_convolutions(model) or _has_lstm(model):
        return True
    matrices = [parameter for parameter in model.parameters() if parameter.ndim == 2]
    wide = sum(matrix.numel() for matrix in matrices if min(matrix.shape) >= _WIDE)
    return 2 * wide > sum(matrix.numel() for matrix in matrices)


def lacks_lstm(model: nn.Module, device: str) -> bool:
    """Whether the model has an LSTM that the processor cannot compute in bf16, whatever else it can."""
    return device == "cpu" and _has_lstm(model) and not computes_lstm_in_bf16()


def _has_convolutions(model: nn.Module) -> bool:
    return any(isinstance(part, nn.Conv2d | nn.ConvTranspose2d) for part in model.modules())


def _has_lstm(model: nn.Module) -> bool:
    """Whether a layer is an LSTM: torch's own, or one that says so in its attribute `cell`."""
    return any(isinstance(part, nn.LSTM | nn.LSTMCell) or getattr(part, "cell", None) == "lstm" for part in model.modules())
