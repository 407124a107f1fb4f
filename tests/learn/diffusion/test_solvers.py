"""Solvers of the probability flow beside its solution in closed form, for normally distributed codes."""

from typing import get_args

import numpy as np
import pytest
import torch
from scipy import integrate

from molyneux.learn.diffusion.multitime import DiffusedCodes, Drawing
from molyneux.learn.diffusion.schedule import Schedule, signal_and_noise
from molyneux.learn.diffusion.solvers import Solver, _weights, solve

MEAN = torch.tensor([1.5, -0.5, 0.0], dtype=torch.float64)
VARIANCE = torch.tensor([0.3, 0.02, 1.4], dtype=torch.float64)
"""Of the codes."""

LAST = torch.tensor(1e-3, dtype=torch.float64)
"""Time of the last step."""


def clean_at(schedule):
    """What codes at a time are without noise, in the mean."""

    def known(codes, time):
        signal, scale = signal_and_noise(time, schedule)
        return MEAN + signal * VARIANCE / (signal.square() * VARIANCE + scale.square()) * (codes - signal * MEAN)

    return known


def solution(noise, schedule):
    """The codes of the flow at the last time, without the noise that is left: all distributions on the way are normal."""
    spreads = []
    for time in (torch.ones((), dtype=torch.float64), LAST):
        signal, scale = signal_and_noise(time, schedule)
        spreads.append((signal, (signal.square() * VARIANCE + scale.square()).sqrt()))
    (first, wide), (last, narrow) = spreads
    return clean_at(schedule)(last * MEAN + narrow / wide * (noise - first * MEAN), LAST)


def ddim(clean, noise, steps, schedule):
    """Song et al., Denoising Diffusion Implicit Models (ICLR 2021): first order."""
    codes, grid = noise, torch.linspace(1, LAST.item() ** 0.5, steps, dtype=torch.float64).square()
    signal, scale = signal_and_noise(grid, schedule)
    for step in range(1, steps):
        found = clean(codes, grid[step - 1])
        codes = signal[step] * found + scale[step] / scale[step - 1] * (codes - signal[step - 1] * found)
    return clean(codes, grid[-1])


def errors(solver, schedule, counts):
    noise = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    exact = solution(noise, schedule)
    found = [
        ddim(clean_at(schedule), noise, steps, schedule)
        if solver == "ddim"
        else solve(solver, clean_at(schedule), noise, steps, schedule)
        for steps in counts
    ]
    return np.array([(each - exact).abs().max().item() for each in found])


@pytest.mark.parametrize("schedule", get_args(Schedule))
def test_errors_fall_with_the_order_of_a_solver(schedule):
    """With twice the steps an error is divided by two to the order; a cosine's first steps, of long ratios, hold it back."""
    counts = (20, 40, 80, 160)
    found = {solver: errors(solver, schedule, counts) for solver in ("ddim", *get_args(Solver))}
    orders = {solver: np.log2(each[:-1] / each[1:])[-1] for solver, each in found.items()}
    assert orders["ddim"] == pytest.approx(1, abs=0.3)
    assert orders["dpm-solver++"] > 1.6
    assert orders["unipc"] > (2.5 if schedule == "linear" else 2.0)
    assert (found["dpm-solver++"] < 0.5 * found["ddim"]).all()
    assert (found["unipc"] < found["dpm-solver++"]).all()
    if schedule == "linear":
        assert (found["unipc"][:-1] < found["dpm-solver++"][1:]).all()  # half the steps


@pytest.mark.parametrize("points", [1, 2, 3, 4])
def test_weights_integrate_polynomials_exactly(points):
    places = [0.3, -0.2, -1.1, 0.9][:points]
    weights = _weights(places, 0.3, 0.9)
    for power in range(points):
        expected = integrate.quad(lambda x, power=power: np.exp(x - 0.9) * x**power, 0.3, 0.9)[0]
        assert sum(w * x**power for w, x in zip(weights, places, strict=True)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("solver", get_args(Solver))
def test_the_net_is_run_once_a_step_and_codes_are_drawn_from_the_distribution(solver):
    runs, mean, variance = [], MEAN.float(), VARIANCE.float()

    def velocity(codes, times):
        runs.append(len(codes))
        signal, scale = signal_and_noise(times)
        clean = mean + signal * variance / (signal.square() * variance + scale.square()) * (codes - signal * mean)
        return (signal * codes - clean) / scale

    scale = {"centre": torch.zeros(3), "spread": torch.ones(3)}
    known = torch.zeros(1, 1, dtype=torch.bool)
    made = DiffusedCodes(velocity, torch.zeros(1, 3), known, (3,), Drawing(25, solver=solver), **scale)
    drawn = made.rsample((20_000,), torch.Generator().manual_seed(1))[:, 0]
    assert len(runs) == 25
    torch.testing.assert_close(drawn.mean(0), mean, atol=0.03, rtol=0.02)
    torch.testing.assert_close(drawn.var(0), variance, atol=0.01, rtol=0.06)
