"""The sense of touch: one or two fingers of a hand follow a curve, in the hand's own frame, and lift now and then."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from molyneux.core import ConfigError
from molyneux.core.tooling.compiled import compiled
from molyneux.core.tooling.kinds import kind_problems

STEPS = 64
"""Moments of a touch."""

CHANNELS = ("x", "y", "pressure", "second x", "second y", "second pressure")
"""What is known at each moment; of each finger its place in the hand's frame, and its pressure, which is 0 where it is lifted."""

_GIVEN = 22
"""Uniform numbers of a touch that are no tremor."""

NUMBERS = _GIVEN + 4 * STEPS
"""Uniform numbers that a touch is made from."""

START, BACKWARDS, TURN, SIZE, TWO = 0, 1, 2, 3, 4
_LAPS, _LAG, _SPEED, _PRESS, _LIFTS, _LIFT = 5, 6, 7, 11, 15, 16
"""Columns of the uniform numbers."""

SMALLEST, LARGEST = 0.6, 1.4
_CORRELATED = 0.6
"""How much of the tremor of a moment remains at the next one."""


@dataclass(frozen=True)
class Hand:
    """How a hand feels.

    Args:
        second: share of the touches in which a second finger follows, 0..1.
        speed: how much the speed changes on the way, 0..0.6, as a share of its mean.
        tremor: standard deviation of the place of a finger, 0..0.05, in radii of a disc of the same area.
        lifts: most stretches of a touch in which a finger is lifted, 0..2; of one to four moments each.
        turned: whether the hand has a rotation of its own. Without, it feels in the frame in which a picture shows a shape that
            is not turned.

    Raises:
        ConfigError: settings of the wrong kind, and numbers out of range; all at once.
    """

    second: float = 0.5
    speed: float = 0.4
    tremor: float = 0.01
    lifts: int = 2
    turned: bool = True

    def __post_init__(self) -> None:
        limits = {"second": 1.0, "speed": 0.6, "tremor": 0.05, "lifts": 2}
        problems = kind_problems(Hand, vars(self), prefix="hand.")
        wrong = {problem.partition(":")[0] for problem in problems}
        problems += [
            f"hand.{name}: expected a number from 0 to {most:g}, got {getattr(self, name)!r}"
            for name, most in limits.items()
            if f"hand.{name}" not in wrong and not 0 <= getattr(self, name) <= most
        ]
        if problems:
            raise ConfigError(problems)


def touches(curves: np.ndarray, which: np.ndarray, uniforms: np.ndarray, hand: Hand) -> np.ndarray:
    """Touches, (n, `STEPS`, 6) float32; the channels are `CHANNELS`.

    The first finger starts anywhere on the curve and goes 1.05 to 1.3 times around, forwards or backwards, at a speed that
    changes; the second, if there is one, is 0.3 to 0.7 of the way ahead, and both go 0.75 to 1.05 times around. Places are told
    from where the first finger starts, in a frame that is rotated and scaled by 0.6 to 1.4 (radii of a disc of the same area). A
    finger that is lifted, or that there is not, has 0 in its three channels.

    Args:
        curves: (k, points, 2) closed curves of equal steps, of the area pi.
        which: (n,) int64 the curve that is felt.
        uniforms: (n, `NUMBERS`) of [0, 1).
        hand: how it feels.
    """
    out = np.empty((len(which), STEPS, len(CHANNELS)), np.float32)
    _feel(curves, which, uniforms, hand.second, hand.speed, hand.tremor, hand.lifts, hand.turned, out)
    return out


def rotation(uniforms: np.ndarray) -> np.ndarray:
    """Radians by which a hand is rotated, (n,), clockwise."""
    return np.asarray(2.0 * math.pi * uniforms[:, TURN])


def scale(uniforms: np.ndarray) -> np.ndarray:
    """How large a hand feels what it feels, (n,)."""
    return np.asarray(SMALLEST + (LARGEST - SMALLEST) * uniforms[:, SIZE])


@compiled
def _feel(
    curves: np.ndarray,
    which: np.ndarray,
    uniforms: np.ndarray,
    second: float,
    speed: float,
    tremor: float,
    lifts: int,
    turned: bool,
    out: np.ndarray,
) -> None:
    steps, points = out.shape[1], curves.shape[1]
    kept, ways = math.sqrt(1.0 - _CORRELATED * _CORRELATED), np.empty(steps)
    for row in range(len(which)):
        given, curve = uniforms[row], curves[which[row]]
        two = given[TWO] < second
        sign = -1.0 if given[BACKWARDS] < 0.5 else 1.0
        laps = 0.75 + 0.3 * given[_LAPS] if two else 1.05 + 0.25 * given[_LAPS]
        angle = 2.0 * math.pi * given[TURN] if turned else 0.0
        size = SMALLEST + (LARGEST - SMALLEST) * given[SIZE]
        cos, sin = size * math.cos(angle), size * math.sin(angle)
        once, twice = 2.0 * math.pi * given[_SPEED], 2.0 * math.pi * given[_SPEED + 1]
        swing, sway = 0.6 * speed * given[_SPEED + 2], 0.4 * speed * given[_SPEED + 3]
        origin_x, origin_y = _place(curve, given[START] * points)
        for step in range(steps):
            time = step / (steps - 1)
            ways[step] = time + swing * (math.sin(2.0 * math.pi * time + once) - math.sin(once)) / (2.0 * math.pi)
            ways[step] += sway * (math.sin(4.0 * math.pi * time + twice) - math.sin(twice)) / (4.0 * math.pi)
        for finger in range(2):
            ahead = 0.3 + 0.4 * given[_LAG] if finger == 1 else 0.0
            shake_x, shake_y, carried = 0.0, 0.0, 0.0
            for step in range(steps):
                place = 3 * finger
                if finger == 1 and not two:
                    out[row, step, place], out[row, step, place + 1], out[row, step, place + 2] = 0.0, 0.0, 0.0
                    continue
                first = _GIVEN + 4 * step + 2 * finger
                radius = math.sqrt(-2.0 * math.log(1.0 - given[first]))  # Box and Muller, 1958
                turn, new = 2.0 * math.pi * given[first + 1], 1.0 if step == 0 else kept
                shake_x = carried * shake_x + new * radius * math.cos(turn)
                shake_y = carried * shake_y + new * radius * math.sin(turn)
                carried = _CORRELATED
                x, y = _place(curve, (given[START] + ahead + sign * laps * ways[step]) * points)
                x, y = x - origin_x + tremor * shake_x, y - origin_y + tremor * shake_y
                press = 2.0 * math.pi * (given[_PRESS + finger] + (1.0 + finger) * step / (steps - 1))
                pressure = 0.4 + 0.4 * given[_PRESS + 2 + finger] + 0.2 * math.sin(press)
                if _lifted(step, finger, two, steps, given, lifts):
                    x, y, pressure = 0.0, 0.0, 0.0
                out[row, step, place], out[row, step, place + 1] = cos * x - sin * y, sin * x + cos * y
                out[row, step, place + 2] = pressure


@compiled
def _place(curve: np.ndarray, place: float) -> tuple[float, float]:
    """The point of a curve at so many of its steps from its beginning."""
    points = len(curve)
    before = math.floor(place)
    rest = place - before
    a, b = before % points, (before + 1) % points
    return curve[a, 0] + rest * (curve[b, 0] - curve[a, 0]), curve[a, 1] + rest * (curve[b, 1] - curve[a, 1])


@compiled
def _lifted(step: int, finger: int, two: bool, steps: int, given: np.ndarray, lifts: int) -> bool:
    """Whether a finger is lifted: the second stretch is of the second finger where there are two."""
    count = int(given[_LIFTS] * (lifts + 1))
    for lift in range(count):
        if two and lift != finger:
            continue
        length = 1 + int(given[_LIFT + 2 * lift] * 4)
        start = 1 + int(given[_LIFT + 2 * lift + 1] * (steps - 1 - length))
        if start <= step < start + length:
            return True
    return False
