"""What normal noise leaves of bits: the accuracy and the information of a bit that is sent several times, or in shares.

A bit is sent as -1 or +1 and received with normal noise of standard deviation `noise`. Its log-likelihood ratio L = 2 t / noise^2
says all that the received number t tells about it (Richardson and Urbanke, "Modern Coding Theory", Cambridge 2008, section 4.1).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

_TERMS = 512
"""Terms of the series in `parity_information` that are added one by one; the sum of the rest is an integral."""


def repeated_accuracy(noise: float, copies: int) -> float:
    """Best accuracy for a fair bit of which there are `copies`, each with noise of its own; 1/2 for none of them."""
    if not copies:
        return 0.5
    return float(ndtr(math.sqrt(copies) / noise)) if noise else 1.0


def repeated_information(noise: float, copies: int) -> float:
    """Mutual information of a fair bit and `copies` of it, each with noise of its own, in bits.

    1 - E[log2(1 + exp(-L))] given that the bit is +1, by the trapezoidal rule, which is exact to rounding here.
    """
    if not copies:
        return 0.0
    if not noise:
        return 1.0
    ratio, weights = _ratios(noise / math.sqrt(copies))
    return float(1.0 - weights @ np.logaddexp(0.0, -ratio) / math.log(2.0))


def parity_accuracy(noise: float, shares: int) -> float:
    """Best accuracy for the parity of `shares` fair bits, each received once: (1 + (1 - 2 e)^shares) / 2, e the error of one."""
    return (1.0 + (2.0 * repeated_accuracy(noise, 1) - 1.0) ** shares) / 2.0


def parity_information(noise: float, shares: int) -> float:
    """Mutual information of the parity of `shares` fair bits and what is received of all of them, in bits.

    The posterior of the parity is (1 + T) / 2, T the product of tanh(L / 2) of the shares. With the series
    1 - h((1 + T) / 2) = sum_k T^(2k) / (2k (2k - 1) ln 2) of the binary entropy h, and independent shares, it is
    sum_k E[tanh(L / 2)^(2k)]^shares / (2k (2k - 1) ln 2). Absolute error below 1e-6.
    """
    if not noise:
        return 1.0
    ratio, weights = _ratios(noise, points=4001)
    decay = np.exp(-np.abs(ratio))
    # log(tanh^2); where the ratio is 0 the power is 0.
    logs = 2.0 * (np.log1p(-decay, out=np.full_like(decay, -np.inf), where=decay < 1.0) - np.log1p(decay))

    def moments(powers: np.ndarray) -> np.ndarray:
        return np.array([weights @ np.exp(power * logs) for power in powers]) ** shares

    first = np.arange(1.0, _TERMS + 1.0)
    total = float((moments(first) / (2.0 * first * (2.0 * first - 1.0))).sum())
    steps = np.linspace(math.log(_TERMS + 0.5), math.log(1e16), 1001)  # sum over k > _TERMS as an integral over log k
    rest = np.exp(steps)
    return (total + float(np.trapezoid(moments(rest) / (2.0 * (2.0 * rest - 1.0)), steps))) / math.log(2.0)


def _ratios(noise: float, points: int = 40_001) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihood ratios of a bit that is +1 at equal steps of its noise, and their probabilities."""
    normal = np.linspace(-12.0, 12.0, points)
    density = np.exp(-(normal**2) / 2.0)
    return 2.0 * (1.0 + noise * normal) / noise**2, density / density.sum()
