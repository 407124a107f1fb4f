"""How codes are drawn with a diffusion model: solvers of its probability flow, from noise at time 1 to codes at time 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from molyneux.learn.diffusion.schedule import Schedule, signal_and_noise

Solver = Literal["dpm-solver++", "unipc"]
"""How a probability flow is solved, see `solve`."""

_LAST = 1e-3
"""Time of the last step, after which what is left of the noise is taken off at once."""

_ORDER = 3
"""Of the polynomials of `unipc`; a corrected step has one point more."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
"""Of the quadrature of polynomials of that order times an exponential, exact to all digits for steps of any use."""

_Clean = Callable[[Tensor, Tensor], Tensor]
"""From codes (..., D) and their time to what they are without noise."""


def solve(solver: Solver, clean_at: _Clean, noise: Tensor, steps: int, schedule: Schedule) -> Tensor:
    """The codes at time 0 that the probability flow makes of noise (..., D) at time 1; each step runs the net once.

    `dpm-solver++`: Lu et al., DPM-Solver++ (2022), algorithm 2 (second order, multistep), at times that are the squares of equal
    steps to 0: what is left of the noise in the end decides on the last digits of a code. `unipc`: Zhao et al., UniPC (NeurIPS
    2023), of third order, at times that are the cubes of equal steps: what the net says without noise is a polynomial of the
    logarithm of the ratio of signal and noise, through the last three points, by which the flow is solved exactly; what it says
    at the end of a step then corrects the step.

    Args:
        solver: which.
        clean_at: what the net says that codes at a time are without noise.
        noise: standard normal.
        steps: how often the net is run.
        schedule: of the noise.
    """
    return (_dpm_solver if solver == "dpm-solver++" else _unipc)(clean_at, noise, steps, schedule)


def _dpm_solver(clean_at: _Clean, noise: Tensor, steps: int, schedule: Schedule) -> Tensor:
    codes = noise
    grid = torch.linspace(1, _LAST**0.5, steps, device=codes.device).square()
    signal, scale = signal_and_noise(grid, schedule)
    ratio = (signal / scale).log()
    before = clean = clean_at(codes, grid[0])
    for step in range(1, steps):
        length = ratio[step] - ratio[step - 1]
        ahead = clean
        if step > 1:  # extrapolated from the last two
            ahead = clean + (clean - before) * length / (2 * (ratio[step - 1] - ratio[step - 2]))
        codes = scale[step] / scale[step - 1] * codes - signal[step] * torch.expm1(-length) * ahead
        before, clean = clean, clean_at(codes, grid[step])
    return clean


def _unipc(clean_at: _Clean, noise: Tensor, steps: int, schedule: Schedule) -> Tensor:
    grid = torch.linspace(1, _LAST ** (1 / 3), steps, dtype=torch.float64).pow(3)
    signal, scale = signal_and_noise(grid, schedule)
    ratio = (signal / scale).log().tolist()
    times, codes = grid.to(noise), noise
    said = [clean_at(codes, times[0])]  # the latest first
    for step in range(1, steps):
        still = (scale[step] / scale[step - 1]).item() * codes
        for order, points in ((min(_ORDER, step), step - 1), (min(_ORDER + 1, step + 1), step)):
            weights = _weights([ratio[points - number] for number in range(order)], ratio[step - 1], ratio[step])
            codes = still
            for weight, clean in zip(weights, said, strict=False):
                codes = codes.add(clean, alpha=signal[step].item() * weight)
            if points < step:
                said = [clean_at(codes, times[step]), *said[:_ORDER]]
    return said[0]


def _weights(points: Sequence[float], start: float, end: float) -> list[float]:
    """Of the values at points: the integral of the polynomial through them times `exp(x - end)`, from start to end."""
    x = start + 0.5 * (end - start) * (_NODES + 1)
    measure = 0.5 * (end - start) * _WEIGHTS * np.exp(x - end)
    return [
        float((measure * np.prod([(x - other) / (point - other) for other in points if other != point], 0)).sum())
        for point in points
    ]
