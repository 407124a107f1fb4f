"""Schedules of weights, and how a file tells them apart."""

import math

import numpy as np
import pytest

from molyneux.core import ConfigError, Progress
from molyneux.core.config import build
from molyneux.learn.objectives import Cyclical, Warmup, WarmupSteps, Weight, weight_at, weight_problems


@pytest.mark.parametrize(("step", "weight"), [(0, 1.0), (100, 1.4), (500, 3.0), (5000, 3.0)])
def test_steps_count_whatever_the_length_of_the_training(step, weight):
    for steps in (6000, 60_000):
        assert weight_at(WarmupSteps(500, value=3.0, start=1.0), Progress(step, steps)) == pytest.approx(weight)


@pytest.mark.parametrize("schedule", [WarmupSteps(5000, value=2.0), Cyclical(4, value=2.0), Cyclical(3, value=2.0), Warmup(2.0)])
def test_validation_has_the_final_value(schedule):
    assert weight_at(schedule, Progress(3750, 3750)) == 2.0


def test_cycles():
    # Fu et al., equations 6 and 7: tau = mod(t - 1, T / M) / (T / M); beta = tau / R below R, else 1 (t counts from 1).
    cycles, steps, rising = 4, 1000, 0.5
    found = [weight_at(Cyclical(cycles, rising=rising), Progress(step, steps)) for step in range(steps)]
    taus = [math.fmod(step, steps / cycles) / (steps / cycles) for step in range(steps)]
    assert found == pytest.approx([min(1.0, tau / rising) for tau in taus])
    assert sum(value == 0.0 for value in found) == cycles


@pytest.mark.parametrize(
    ("settings", "schedule"),
    [
        (2, 2.0),
        ({"value": 10, "steps": 5000}, WarmupSteps(5000, value=10.0)),
        ({"value": 10, "cycles": 4}, Cyclical(4, value=10.0)),
        ({"value": 1.0, "fraction": 1.0, "start": 0.05}, Warmup(1.0, 1.0, 0.05)),
    ],
)
def test_a_file_tells_schedules_apart_by_their_settings(settings, schedule):
    assert build(Weight, settings).value == schedule


def test_a_mistake_in_a_file_is_told():
    with pytest.raises(ConfigError, match='fractoin: unknown setting; did you mean "fraction"'):
        build(Weight, {"value": 1.0, "fractoin": 1.0})


@pytest.mark.parametrize(
    ("make", "problems"),
    [(lambda: WarmupSteps(0, value=-1.0), 2), (lambda: Cyclical(0, value=math.inf, rising=0.0, start=-1.0), 4)],
)
def test_all_problems_at_once(make, problems):
    with pytest.raises(ConfigError) as caught:
        make()
    assert len(caught.value.problems) == problems


@pytest.mark.parametrize(("cycles", "steps"), [(200, 100), (100, 100), (51, 100), (4, 7), (1, 1)])
def test_a_cycle_of_less_than_two_steps_is_refused(cycles, steps):
    message = f"cycles: expected at least 2 steps of the training in a cycle, got {cycles} cycles in {steps} steps: choose fewer"
    with pytest.raises(ConfigError, match=message):
        Cyclical(cycles).at(Progress(0, steps))


@pytest.mark.parametrize(("cycles", "steps"), [(50, 100), (4, 8), (3, 7), (1, 2)])
def test_a_cycle_of_two_steps_rises(cycles, steps):
    schedule = Cyclical(cycles)
    found = [schedule.at(Progress(step, steps)) for step in range(steps)]
    assert sum(value > 0 for value in found) >= cycles
    assert schedule.at(Progress(steps, steps)) == 1.0


@pytest.mark.parametrize(
    ("make", "problems"),
    [
        (lambda: Warmup("x", fraction=None, start=[]), ["value", "start", "fraction"]),
        (lambda: WarmupSteps("many", value=None), ["value", "steps"]),
        (lambda: Cyclical("many", value="x", rising="x"), ["value", "cycles", "rising"]),
    ],
)
def test_what_is_no_number_is_told_all_at_once(make, problems):
    with pytest.raises(ConfigError) as caught:
        make()
    assert [problem.partition(":")[0] for problem in caught.value.problems] == problems
    assert all("expected" in problem and ", got " in problem for problem in caught.value.problems)


def test_numbers_of_numpy_are_numbers():
    assert weight_at(WarmupSteps(np.int64(4), value=np.float32(2.0)), Progress(2, 10)) == 1.0
    assert weight_problems(beta=np.float32(0.5), gamma=np.int64(2)) == []
    assert weight_at(np.float32(0.5), Progress(0, 1)) == 0.5


@pytest.mark.parametrize("weight", ["a", None, Warmup, [1.0], {"value": 1.0}])
def test_a_weight_is_a_number_or_a_schedule(weight):
    (problem,) = weight_problems(beta=weight)
    assert problem.startswith("beta: expected a number of at least 0 or a schedule (Cyclical, Warmup or WarmupSteps), got ")
    assert problem.endswith(repr(weight))


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_that_is_a_number_is_at_least_zero(weight):
    assert weight_problems(beta=weight) == [f"beta: expected a number of at least 0, got {weight}"]


@pytest.mark.parametrize(("step", "weight"), [(0, 0.5), (10, 1.25), (20, 2.0), (50, 2.0), (100, 2.0)])
def test_a_warmup_rises_linearly_and_stays(step, weight):
    assert weight_at(Warmup(2.0, fraction=0.2, start=0.5), Progress(step, 100)) == pytest.approx(weight)


def test_a_number_is_constant():
    assert weight_at(3, Progress(7, 10)) == 3.0


def test_all_problems_of_a_warmup_at_once():
    with pytest.raises(ConfigError) as caught:
        Warmup(-1.0, fraction=0.0, start=math.inf)
    assert len(caught.value.problems) == 3
