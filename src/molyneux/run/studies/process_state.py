"""Settings of a process that libraries change for all that follows, put back after every run of a worker."""

from __future__ import annotations

import ctypes
import gc
import locale
import os
import random
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch


@contextmanager
def as_in_new_process() -> Iterator[None]:
    """What is computed inside finds global settings as in a process that has computed nothing, and leaves them as they were.

    The global generators of Python, NumPy and torch start from random seeds, as in every new process. Put back in the end are
    the environment, the working directory, `sys.path`, the handlers of signals, filters of warnings (those that were shown once
    are shown again) and of NumPy's floating-point errors, the locale, and torch's default type and device, number of threads,
    precision of products, kernels that are allowed, and its switches of determinism, gradients and anomaly detection.
    """
    for seed in (random.seed, np.random.seed, torch.seed):
        seed()
    before = [(read(), read, write) for read, write in _SETTINGS]
    with warnings.catch_warnings():
        try:
            yield
        finally:
            for value, read, write in before:
                if read() != value:
                    write(value)


def free_memory() -> None:
    """Give what a run held back to the system: objects that refer to each other, and memory that the C library keeps."""
    gc.collect()
    torch.cuda.empty_cache()  # nothing where CUDA is not used
    with suppress(AttributeError, OSError, TypeError):  # C libraries other than glibc have no such function, Windows no such name
        ctypes.CDLL(None).malloc_trim(0)


def resident_bytes() -> int:
    """Memory that this process holds; 0 where the system has no `/proc`."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was removed
        return None


def _enter(folder: Path | None) -> None:
    with suppress(OSError):
        os.chdir(folder or "")


def _set_environment(variables: dict[str, str]) -> None:
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    for name, value in variables.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _handlers() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in sorted(signal.valid_signals())}


def _set_handlers(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        if handler is not None and signal.getsignal(number) != handler:  # None: of C code, which cannot be set again
            signal.signal(number, handler)


def _set_default_device(device: torch.device) -> None:
    torch.set_default_device(None if device.type == "cpu" else device)  # a device by name slows every call


def _kernels() -> list[tuple[Any, str, Any]]:
    cpu, cuda = torch.backends.mkldnn, torch.backends.cudnn
    names = ((cpu, "enabled"), (cuda, "enabled"), (cuda, "benchmark"), (cuda, "deterministic"), (cuda, "allow_tf32"))
    return [(where, name, getattr(where, name)) for where, name in names]


def _set_kernels(kernels: list[tuple[Any, str, Any]]) -> None:
    for where, name, value in kernels:
        if getattr(where, name) != value:
            setattr(where, name, value)


_SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], object]], ...] = (
    (_working_directory, _enter),
    (lambda: dict(os.environ), _set_environment),
    (_umask, os.umask),
    (lambda: list(sys.path), lambda path: sys.path.__setitem__(slice(None), path)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (gc.isenabled, lambda enabled: gc.enable() if enabled else gc.disable()),
    (_handlers, _set_handlers),
    (lambda: locale.setlocale(locale.LC_ALL), lambda name: locale.setlocale(locale.LC_ALL, name)),
    (np.geterr, lambda errors: np.seterr(**errors)),
    (np.get_printoptions, lambda options: np.set_printoptions(**options)),
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_default_device, _set_default_device),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    (_kernels, _set_kernels),
)
"""How each setting is read, and how it is set."""
