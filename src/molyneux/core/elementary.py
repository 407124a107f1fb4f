"""Elementary functions of arrays with the same bits on every processor.

NumPy and torch have kernels of their own for wide vectors (AVX-512, and MKL's vector functions), whose last bits differ from
those on other processors: so do stored views that are made with `np.log`, `np.power` or `torch.sin`. The functions here call the
C library for each value, as compiled kernels of worlds do. `data` uses them for everything that becomes a view.
"""

from __future__ import annotations

import math

import numpy as np

from molyneux.core.tooling.compiled import compiled


def log(values: np.ndarray) -> np.ndarray:
    """Natural logarithms, float64 of the same shape; -inf of 0, and NaN of negative numbers.

    >>> log(np.array([1.0, math.e]))
    array([0., 1.])
    """
    return _applied(_logs, values)


def sine(radians: np.ndarray) -> np.ndarray:
    """Sines, float64 of the same shape."""
    return _applied(_sines, radians)


def cosine(radians: np.ndarray) -> np.ndarray:
    """Cosines, float64 of the same shape."""
    return _applied(_cosines, radians)


def normals(uniforms: np.ndarray) -> np.ndarray:
    """Independent standard normal numbers from as many independent ones of [0, 1): (n, 2 K) float64 (Box and Muller, 1958)."""
    out = np.empty(uniforms.shape)
    _box_muller(np.ascontiguousarray(uniforms, np.float64), out)
    return out


def _applied(kernel: object, values: np.ndarray) -> np.ndarray:
    given = np.ascontiguousarray(values, np.float64)
    out = np.empty(given.size)
    kernel(given.reshape(-1), out)  # type: ignore[operator]
    return out.reshape(np.shape(values))


@compiled
def _logs(values: np.ndarray, out: np.ndarray) -> None:
    for place in range(len(values)):
        value = values[place]
        out[place] = math.log(value) if value > 0.0 else (-np.inf if value == 0.0 else np.nan)


@compiled
def _sines(values: np.ndarray, out: np.ndarray) -> None:
    for place in range(len(values)):
        out[place] = math.sin(values[place])


@compiled
def _cosines(values: np.ndarray, out: np.ndarray) -> None:
    for place in range(len(values)):
        out[place] = math.cos(values[place])


@compiled
def _box_muller(uniforms: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(uniforms)):
        for place in range(0, uniforms.shape[1] - 1, 2):
            radius = math.sqrt(-2.0 * math.log(1.0 - uniforms[row, place]))
            angle = 2.0 * math.pi * uniforms[row, place + 1]
            out[row, place], out[row, place + 1] = radius * math.cos(angle), radius * math.sin(angle)
