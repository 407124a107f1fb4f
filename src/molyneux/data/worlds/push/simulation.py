"""The physics of a pushed puck, by MuJoCo (Todorov, Erez and Tassa, IROS 2012), and its picture.

A finger on three sliding joints follows a position that moves at a bounded speed. It lowers itself behind the puck, pushes it
towards a place near the middle of the table, rises, and begins anew; where it touches the puck, how far it pushes and at which
speed is drawn for each push. Lengths are in metres, forces in newtons, torques in newton metres, times in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from molyneux.core import ConfigError, seeds
from molyneux.data.worlds import raster

STEPS = 250
"""Of a trajectory."""

SIDE = 32
"""Pixels of a picture."""

CENTRE = (0.5, 0.0)
"""The middle of the table and of the picture."""

VIEW = 0.4
"""Length of table that the picture shows in each direction."""

MASSES, FRICTIONS = (0.1, 0.5), (0.15, 0.5)
"""Of the puck, between which they are drawn; the friction is that of puck and table."""

_STEP, _SUBSTEPS = 0.05, 25
_TABLE, _RADIUS, _HEIGHT = 0.8, 0.035, 0.04
_FINGER, _LOW, _HIGH = 0.012, _TABLE + 0.02, _TABLE + 0.09
_PUSHES, _DRAWS = 12, 5
_SHADES = (60, 230, 130)
"""Of table, puck and finger."""

_MODEL = """
<mujoco>
  <option timestep="{timestep}" integrator="implicitfast" cone="elliptic" impratio="5"/>
  <worldbody>
    <geom name="table" type="plane" pos="0 0 {table}" size="2 2 0.1" friction="{friction} 0.005 0.0001"/>
    <body name="puck" pos="{x} {y} {puck_z}" euler="0 0 {yaw}">
      <freejoint/>
      <geom name="puck" type="cylinder" size="{radius} {half}" mass="{mass}" friction="{friction} 0.005 0.0001"/>
    </body>
    <body name="carriage" gravcomp="1">
      <joint name="x" type="slide" axis="1 0 0" damping="20"/>
      <joint name="y" type="slide" axis="0 1 0" damping="20"/>
      <joint name="z" type="slide" axis="0 0 1" damping="20"/>
      <geom type="sphere" size="0.01" pos="0 0 0.15" mass="0.5" contype="0" conaffinity="0"/>
      <body name="finger" gravcomp="1">
        <site name="wrist" pos="0 0 0.15"/>
        <site name="tip" type="capsule" fromto="0 0 0.012 0 0 0.15" size="{touch}"/>
        <geom name="finger" type="capsule" fromto="0 0 0.012 0 0 0.15" size="{finger}" mass="0.2" friction="0.5 0.005 0.0001"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="x" kp="600"/>
    <position joint="y" kp="600"/>
    <position joint="z" kp="600"/>
  </actuator>
  <sensor>
    <force site="wrist"/>
    <torque site="wrist"/>
    <touch site="tip"/>
    <framepos objtype="xbody" objname="finger"/>
    <framepos objtype="xbody" objname="puck"/>
    <framequat objtype="xbody" objname="puck"/>
    <framelinvel objtype="xbody" objname="puck"/>
  </sensor>
</mujoco>
"""


class Trajectories(NamedTuple):
    """Trajectories in a row; all float32.

    Args:
        finger: (N, STEPS, 3) position of its tip, the end effector.
        force: (N, STEPS, 6) what the finger's wrist feels: forces, then torques.
        contact: (N, STEPS) 1 where something touches the finger, else 0.
        puck: (N, STEPS, 10) its position (3), orientation as a quaternion (4) and velocity (3).
        mass, friction: (N,) of the puck.
    """

    finger: np.ndarray
    force: np.ndarray
    contact: np.ndarray
    puck: np.ndarray
    mass: np.ndarray
    friction: np.ndarray


def simulate(stream: np.ndarray, numbers: np.ndarray, *, threads: int = 1) -> Trajectories:
    """The trajectories of these numbers (N,) of a stream: each is a function of the stream and its number alone.

    MuJoCo gives the same bytes on one machine with one version; other machines and versions may differ in last bits, which
    contacts amplify.

    Args:
        stream: key of the stream, from `seeds.key`.
        numbers: of trajectories.
        threads: that simulate at the same time; physics leaves the interpreter to the others.

    Raises:
        ConfigError: the package mujoco is not installed.
    """
    _mujoco()
    draws = seeds.uniforms(stream, numbers, 6 + _PUSHES * _DRAWS)
    with ThreadPoolExecutor(threads) as pool:
        made = list(pool.map(_trajectory, draws))
    return Trajectories(*(np.array([part[place] for part in made], np.float32) for place in range(6)))


def pictures(finger: np.ndarray, puck: np.ndarray) -> np.ndarray:
    """What a camera above the table sees, (n, SIDE, SIDE) uint8, of positions (n, >= 2) of the finger and the puck.

    x runs to the right and y upwards. Discs with graded borders, drawn by the rasteriser of the worlds of pictures: MuJoCo's
    renderer needs OpenGL, which many machines that train do not have.
    """
    out = np.full((len(finger), SIDE, SIDE), _SHADES[0], np.float32)
    for place, radius, shade in ((puck, _RADIUS, _SHADES[1]), (finger, _FINGER, _SHADES[2])):
        centre = 0.5 + (place[:, :2].astype(np.float64) - CENTRE) / VIEW * (1.0, -1.0)
        size = np.full(len(place), 2.0 * radius / VIEW)
        code = np.full(len(place), raster.SHAPES.index("circle"))
        flat = np.zeros(len(place))
        cover = raster.masks(raster.Figures(code, centre, size, flat, flat), SIDE, anti_alias=True).astype(np.float32) / 255.0
        out += cover * (shade - out)
    return np.asarray(np.rint(out), np.uint8)


def _mujoco() -> ModuleType:
    try:
        import mujoco
    except ImportError as error:
        raise ConfigError("SimulatedPush needs mujoco, which simulates it: install molyneux[mujoco]") from error
    return mujoco  # type: ignore[no-any-return]


def _trajectory(draws: np.ndarray) -> tuple[Any, ...]:
    """The parts of `Trajectories` of one trajectory."""
    mujoco = _mujoco()
    mass, friction = (low + share * (high - low) for share, (low, high) in zip(draws[:2], (MASSES, FRICTIONS), strict=True))
    x, y = CENTRE[0] + 0.16 * (draws[2] - 0.5), CENTRE[1] + 0.16 * (draws[3] - 0.5)
    model = mujoco.MjModel.from_xml_string(
        _MODEL.format(
            timestep=_STEP / _SUBSTEPS,
            table=_TABLE,
            friction=friction,
            x=x,
            y=y,
            yaw=360.0 * draws[4],
            puck_z=_TABLE + _HEIGHT / 2.0,
            radius=_RADIUS,
            half=_HEIGHT / 2.0,
            mass=mass,
            finger=_FINGER,
            touch=_FINGER + 0.002,
        )
    )
    data = mujoco.MjData(model)
    wanted = np.array([CENTRE[0] + 0.2 * (draws[5] - 0.5), CENTRE[1] - 0.1, _HIGH])
    data.qpos[-3:] = wanted
    rows, ways, pushes = np.empty((STEPS, 20)), iter(()), iter(draws[6:].reshape(_PUSHES, _DRAWS))  # type: Any, Any, Any
    for step in range(STEPS):
        way = next(ways, None)
        if way is None:
            ways = _straight(wanted, _push(data.qpos[:2].copy(), *next(pushes)))
            way = next(ways)
        wanted = data.ctrl[:] = way
        mujoco.mj_step(model, data, nstep=_SUBSTEPS)
        mujoco.mj_forward(model, data)  # sensors of the state that was reached
        rows[step] = data.sensordata
    return rows[:, 7:10], rows[:, :6], rows[:, 6] > 0.0, rows[:, 10:], mass, friction


def _push(puck: np.ndarray, x: float, y: float, side: float, length: float, speed: float) -> Sequence[tuple[Any, float]]:
    """The stations of the finger, and the speed towards each, of a push of the puck from its place; draws are 0..1."""
    towards = np.array([CENTRE[0] + 0.2 * (x - 0.5), CENTRE[1] + 0.2 * (y - 0.5)]) - puck
    distance = math.hypot(*towards)
    ahead = towards / distance if distance > 1e-6 else np.array([1.0, 0.0])
    aside = np.array([-ahead[1], ahead[0]]) * (1.2 * (side - 0.5) * _RADIUS)
    behind = puck - ahead * (_RADIUS + _FINGER + 0.015) + aside
    front = behind + ahead * (0.04 + 0.16 * length)
    return (
        ((*behind, _HIGH), 0.2),
        ((*behind, _LOW), 0.1),
        ((*front, _LOW), 0.05 + 0.1 * speed),
        ((*front, _HIGH), 0.1),
    )


def _straight(start: np.ndarray, stations: Sequence[tuple[Any, float]]) -> Iterator[np.ndarray]:
    """Places at equal times from one station to the next, at the speed of each."""
    at = start
    for station, speed in stations:
        goal = np.array(station)
        count = max(1, math.ceil(float(np.linalg.norm(goal - at)) / (speed * _STEP)))
        for place in range(1, count + 1):
            yield at + (goal - at) * (place / count)
        at = goal
