"""Drawing of scenes: entities one after the other, each with a place where it fits, by random numbers of its scene alone."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from molyneux.core import ConfigError, seeds
from molyneux.core.compiled import compiled
from molyneux.core.seeds import philox
from molyneux.data.worlds.shapeworld.geometry import distance, half_extents
from molyneux.data.worlds.shapeworld.scenes import AREAS, COLOURS, SHAPES, Scenes
from molyneux.data.worlds.shapeworld.settings import SceneSettings

ENTITY_TRIES, SCENE_TRIES = 20, 200
"""How often an entity is drawn anew, and then its whole scene, before the settings are refused."""

_RANDOM, _REINFORCED, _LIMITED, _FRAMED, _CLUSTERED = range(5)
_MODES = {"random": _RANDOM, "reinforced": _REINFORCED, "limited": _LIMITED, "framed": _FRAMED, "clustered": _CLUSTERED}

_GRID = 64
"""Points on a side at which the overlap of two entities is counted."""

_SHADE_DIFFERENCE = 0.5
"""Entities of one colour may overlap if their shades differ by as much."""

_AREAS = np.array(AREAS)

_SHAPE_COUNT, _COLOUR_COUNT = len(SHAPES), len(COLOURS)


class _Numbers(NamedTuple):
    """Settings as the compiled code takes them."""

    counts: np.ndarray
    first: np.ndarray
    others: np.ndarray
    mode: int
    limits: tuple[int, int]
    reinforcement: tuple[int, int]
    size: tuple[float, float]
    uniform_area: bool
    distortion: tuple[float, float]
    rotated: bool
    shade: float
    normal_shade: bool
    overlap: float
    provoked: float
    outside: float


class _Rows(NamedTuple):
    """The arrays of `Scenes`."""

    present: np.ndarray
    shape: np.ndarray
    colour: np.ndarray
    centre: np.ndarray
    size: np.ndarray
    distortion: np.ndarray
    rotation: np.ndarray
    shade: np.ndarray
    overlap: np.ndarray


def sample_scenes(settings: SceneSettings, stream: np.ndarray, indices: np.ndarray) -> Scenes:
    """Scenes by number: each is a function of the settings, the stream and its number alone.

    Args:
        settings: what is drawn.
        stream: key of the random numbers, from `seeds.key`.
        indices: (n,) numbers of scenes.

    Raises:
        ConfigError: no scene that fits was found in a bounded number of trials.
    """
    count, entities = len(indices), max(settings.counts)
    size = (count, entities)
    rows = _Rows(
        np.zeros(size, np.bool_), np.zeros(size, np.int8), np.zeros(size, np.int8), np.zeros((*size, 2)), np.ones(size),
        np.ones(size), np.zeros(size), np.zeros(size), np.zeros((*size, entities)),
    )  # fmt: skip
    failed = _sample(stream, np.ascontiguousarray(indices).astype(np.uint64), _numbers(settings), rows)
    if failed >= 0:
        numbers = " or ".join(map(str, settings.counts))
        raise ConfigError(
            f"no scene of {numbers} entities was found that keeps to the settings (scene {indices[failed]} was tried "
            f"{SCENE_TRIES} times, each entity {ENTITY_TRIES} times): ask for fewer or smaller entities, or allow more overlap"
        )
    return Scenes(**rows._asdict())


def stream_of(seed: int, split: str, *names: str | int) -> np.ndarray:
    """The key of the scenes of a split."""
    return seeds.key(seed, "shapeworld-v1", split, *names)


def _numbers(settings: SceneSettings) -> _Numbers:
    low, high = (float(end) for end in settings.size)
    wide, wider = (float(end) for end in settings.distortion)
    return _Numbers(
        np.asarray(settings.counts, np.int64),
        settings.table(first=True),
        settings.table(),
        _MODES[settings.attributes],
        (int(settings.limits[0]), int(settings.limits[1])),
        (int(settings.reinforcement[0]), int(settings.reinforcement[1])),
        (low, high),
        settings.uniform_area,
        (wide, wider),
        settings.rotated,
        float(settings.shade),
        settings.normal_shade,
        float(settings.overlap),
        float(settings.provoked),
        float(settings.outside),
    )


@compiled
def _uniform(state: np.ndarray) -> float:
    """The next random number of [0, 1) of a scene; `state` is its key, its number, the block, the lane and the block's words."""
    lane: Any = np.int64(state[4])
    if lane == 4:
        state[3] += np.uint64(1)
        words = philox(state[3], state[2], state[0], state[1])
        for place in range(4):
            state[5 + place] = words[place]
        lane = np.int64(0)
    state[4] = np.uint64(lane + 1)
    return (state[5 + lane] >> np.uint64(11)) * (1.0 / 9007199254740992.0)  # type: ignore[no-any-return]


@compiled
def _below(state: np.ndarray, count: int) -> int:
    """An integer from 0 to below `count`."""
    return min(int(_uniform(state) * count), count - 1)


@compiled
def _sample(stream: np.ndarray, indices: np.ndarray, numbers: _Numbers, rows: _Rows) -> int:
    """Draw scenes into `rows`; the first that could not be drawn, or -1."""
    state = np.empty(9, np.uint64)
    weights = np.empty((_SHAPE_COUNT, _COLOUR_COUNT))
    for row in range(len(indices)):
        state[:] = np.uint64(0)
        state[0], state[1], state[2], state[4] = stream[0], stream[1], indices[row], np.uint64(4)
        count = numbers.counts[_below(state, len(numbers.counts))]
        found = False
        for _ in range(SCENE_TRIES):
            if _scene(state, row, count, numbers, rows, weights):
                found = True
                break
        if not found:
            return row
        if numbers.overlap > 0:
            _order(row, count, rows)
    return -1


@compiled
def _scene(state: np.ndarray, row: int, count: int, numbers: _Numbers, rows: _Rows, weights: np.ndarray) -> bool:
    """Draw a scene of `count` entities; whether all found a place."""
    rows.present[row] = False
    rows.overlap[row] = 0
    weights[:] = 1
    if numbers.mode == _LIMITED:
        _limit(state, numbers, weights)
    frame = _below(state, count) + 1 if numbers.mode == _FRAMED else 0
    clusters = 1 + _below(state, 3)
    places = np.empty((clusters, 2))
    for cluster in range(clusters):
        places[cluster, 0], places[cluster, 1] = _uniform(state), _uniform(state)
    provoked = numbers.provoked * _uniform(state)
    for e in range(count):
        placed = False
        for _ in range(ENTITY_TRIES):
            if not _attributes(state, row, e, frame, numbers, rows, weights):
                return False
            _measures(state, row, e, numbers, rows)
            _place(state, row, e, numbers, rows, places, provoked)
            if _fits(row, e, numbers, rows):
                placed = True
                break
        if not placed:
            return False
        rows.present[row, e] = True
        if numbers.mode == _REINFORCED:
            low, high = numbers.reinforcement
            more = low + _below(state, high - low + 1)
            weights[rows.shape[row, e]] += more
            weights[:, rows.colour[row, e]] += more
    return True


@compiled
def _limit(state: np.ndarray, numbers: _Numbers, weights: np.ndarray) -> None:
    """Leave a few shapes and a few colours of a scene."""
    for axis in range(2):
        allowed = np.zeros(weights.shape[axis], np.int64)
        size = 0
        for value in range(len(allowed)):
            some = numbers.others[value].any() if axis == 0 else numbers.others[:, value].any()
            if some:
                allowed[size], size = value, size + 1
        low, high = numbers.limits
        keep = min(size, low + _below(state, high - low + 1))
        for place in range(size):
            other = place + _below(state, size - place)
            allowed[place], allowed[other] = allowed[other], allowed[place]
        for value in allowed[keep:size]:
            if axis == 0:
                weights[value] = 0
            else:
                weights[:, value] = 0


@compiled
def _attributes(state: np.ndarray, row: int, e: int, frame: int, numbers: _Numbers, rows: _Rows, weights: np.ndarray) -> bool:
    """Draw shape and colour of an entity; False where no combination is left."""
    table = numbers.first if e == 0 else numbers.others
    shape, colour = rows.shape[row], rows.colour[row]
    if 0 < e < frame and table[shape[0], colour[0]]:
        shape[e], colour[e] = shape[0], colour[0]
        return True
    total = 0.0
    for s in range(_SHAPE_COUNT):
        for c in range(_COLOUR_COUNT):
            if table[s, c] and not (frame > 0 and e >= frame and s == shape[0] and c == colour[0]):
                total += weights[s, c]
    if total <= 0:
        return False
    target, last = _uniform(state) * total, -1
    for s in range(_SHAPE_COUNT):
        for c in range(_COLOUR_COUNT):
            if not table[s, c] or weights[s, c] <= 0 or (frame > 0 and e >= frame and s == shape[0] and c == colour[0]):
                continue
            last = s * _COLOUR_COUNT + c
            target -= weights[s, c]
            if target < 0:
                shape[e], colour[e] = s, c
                return True
    shape[e], colour[e] = last // _COLOUR_COUNT, last % _COLOUR_COUNT
    return True


@compiled
def _measures(state: np.ndarray, row: int, e: int, numbers: _Numbers, rows: _Rows) -> None:
    """Draw size, distortion, rotation and shade of an entity."""
    low, high = numbers.size
    share = _uniform(state)
    rows.size[row, e] = (
        math.sqrt(low * low + share * (high * high - low * low)) if numbers.uniform_area else low + share * (high - low)
    )
    wide, wider = numbers.distortion
    stretched = rows.shape[row, e] in (1, 7)
    share = _uniform(state)
    rows.distortion[row, e] = wide + share * (wider - wide) if stretched else 1.0
    share = _uniform(state)
    rows.rotation[row, e] = share if numbers.rotated else 0.0
    shade = (2 * _uniform(state) - 1) * numbers.shade
    if numbers.normal_shade:
        for _ in range(100):
            radius, angle = math.sqrt(-2 * math.log(1 - _uniform(state))), 2 * math.pi * _uniform(state)
            normal = radius * math.cos(angle)
            if abs(normal) <= 1:
                shade = normal * numbers.shade
                break
    rows.shade[row, e] = shade


@compiled
def _place(state: np.ndarray, row: int, e: int, numbers: _Numbers, rows: _Rows, places: np.ndarray, provoked: float) -> None:
    """Draw a centre: anywhere, near a cluster, or next to an earlier entity."""
    width, height = _box(row, e, rows)
    margin_x, margin_y = (0.0, 0.0) if numbers.outside > 0 else (width, height)
    x, y = _uniform(state), _uniform(state)
    rows.centre[row, e, 0] = margin_x + x * max(0.0, 1 - 2 * margin_x)
    rows.centre[row, e, 1] = margin_y + y * max(0.0, 1 - 2 * margin_y)
    if numbers.mode == _CLUSTERED:
        cluster = _below(state, len(places))
        for axis in range(2):
            rows.centre[row, e, axis] = places[cluster, axis] + 0.2 * (rows.centre[row, e, axis] - 0.5)
    if _uniform(state) < provoked and e > 0 and numbers.overlap > 0:
        other, angle, away = _below(state, e), 2 * math.pi * _uniform(state), 0.75 + _uniform(state)
        other_width, other_height = _box(row, other, rows)
        rows.centre[row, e, 0] = rows.centre[row, other, 0] + math.cos(angle) * other_width * away
        rows.centre[row, e, 1] = rows.centre[row, other, 1] + math.sin(angle) * other_height * away


@compiled
def _box(row: int, e: int, rows: _Rows) -> tuple[float, float]:
    """Half the width and height of the box around an entity as it is rotated."""
    width, height = _extents(row, e, rows)
    cos, sin = abs(math.cos(2 * math.pi * rows.rotation[row, e])), abs(math.sin(2 * math.pi * rows.rotation[row, e]))
    return cos * width + sin * height, sin * width + cos * height


@compiled
def _fits(row: int, e: int, numbers: _Numbers, rows: _Rows) -> bool:
    """Whether an entity lies inside the scene and does not overlap others by more than it may; fills in its overlaps."""
    width, height = _box(row, e, rows)
    x, y = rows.centre[row, e, 0], rows.centre[row, e, 1]
    beyond = x < width or y < height or x > 1 - width or y > 1 - height
    if beyond and (numbers.outside <= 0 or _outside(row, e, rows) > numbers.outside):
        return False
    together, free = 0.0, numbers.overlap <= 0
    own = _AREAS[rows.shape[row, e]] * rows.size[row, e] ** 2 / rows.distortion[row, e]
    for o in range(e):
        other = _AREAS[rows.shape[row, o]] * rows.size[row, o] ** 2 / rows.distortion[row, o]
        alike = rows.colour[row, e] == rows.colour[row, o]
        alike = free or (alike and abs(rows.shade[row, e] - rows.shade[row, o]) < _SHADE_DIFFERENCE)
        common = _common(row, e, o, rows, 0.5 / _GRID if free else 0.0, alike)
        if common > 0 and alike:
            return False
        share, covered = min(1.0, common / own), min(1.0, common / other)
        rows.overlap[row, e, o], rows.overlap[row, o, e] = share, covered
        together += share
        others = covered
        for p in range(e):
            others += rows.overlap[row, o, p]
        if min(share, covered) > numbers.overlap or (common > 0 and max(together, others) > numbers.overlap):
            return False
    return True


@compiled
def _outside(row: int, e: int, rows: _Rows) -> float:
    """Share of an entity that lies outside of the scene, by points of a grid."""
    width, height = _extents(row, e, rows)
    reach_x, reach_y = _box(row, e, rows)
    cos, sin = math.cos(2 * math.pi * rows.rotation[row, e]), math.sin(2 * math.pi * rows.rotation[row, e])
    own, beyond = 0, 0
    for i in range(-int(reach_y * _GRID) - 1, int(reach_y * _GRID) + 2):
        for j in range(-int(reach_x * _GRID) - 1, int(reach_x * _GRID) + 2):
            x, y = j / _GRID, i / _GRID
            if distance(rows.shape[row, e], cos * x + sin * y, cos * y - sin * x, width, height) <= 0:
                own += 1
                px, py = rows.centre[row, e, 0] + x, rows.centre[row, e, 1] + y
                beyond += px < 0 or py < 0 or px > 1 or py > 1
    return beyond / max(own, 1)


@compiled
def _common(row: int, e: int, o: int, rows: _Rows, margin: float, any_is_enough: bool) -> float:
    """Area that two entities have in common, by points of a grid; each is `margin` larger all around.

    Args:
        row: of the scene.
        e: one entity.
        o: another.
        rows: the scenes.
        margin: in sides of the scene.
        any_is_enough: whether to stop at the first point.
    """
    (width, height), (box_x, box_y) = _extents(row, e, rows), _box(row, e, rows)
    (there_w, there_h), (there_x, there_y) = _extents(row, o, rows), _box(row, o, rows)
    (ax, ay), (bx, by) = rows.centre[row, e], rows.centre[row, o]
    left, right = max(ax - box_x, bx - there_x) - margin, min(ax + box_x, bx + there_x) + margin
    top, bottom = max(ay - box_y, by - there_y) - margin, min(ay + box_y, by + there_y) + margin
    if left > right or top > bottom:
        return 0.0
    cos, sin = math.cos(2 * math.pi * rows.rotation[row, e]), math.sin(2 * math.pi * rows.rotation[row, e])
    turn_cos, turn_sin = math.cos(2 * math.pi * rows.rotation[row, o]), math.sin(2 * math.pi * rows.rotation[row, o])
    shape, there, common = rows.shape[row, e], rows.shape[row, o], 0
    for i in range(math.ceil(top * _GRID), math.floor(bottom * _GRID) + 1):
        for j in range(math.ceil(left * _GRID), math.floor(right * _GRID) + 1):
            x, y = j / _GRID - ax, i / _GRID - ay
            if distance(shape, cos * x + sin * y, cos * y - sin * x, width, height) > margin:
                continue
            x, y = j / _GRID - bx, i / _GRID - by
            if distance(there, turn_cos * x + turn_sin * y, turn_cos * y - turn_sin * x, there_w, there_h) <= margin:
                common += 1
                if any_is_enough:
                    return 1.0
    return common / _GRID**2


@compiled
def _extents(row: int, e: int, rows: _Rows) -> tuple[float, float]:
    """Half the width and height of an entity before it is rotated."""
    return half_extents(rows.shape[row, e], rows.size[row, e], rows.distortion[row, e])


@compiled
def _order(row: int, count: int, rows: _Rows) -> None:
    """Put the entities of a scene in the order of drawing: of two that overlap, the one of which more is covered lies on top."""
    order, taken = np.empty(count, np.int64), np.zeros(count, np.bool_)
    for place in range(count):
        chosen = -1
        for e in range(count):
            if taken[e]:
                continue
            chosen = e if chosen < 0 else chosen
            free = True
            for o in range(count):
                free = free and (taken[o] or o == e or rows.overlap[row, o, e] >= rows.overlap[row, e, o])
            if free:
                chosen = e
                break
        order[place], taken[chosen] = chosen, True
    rows.shape[row, :count] = rows.shape[row][order]
    rows.colour[row, :count] = rows.colour[row][order]
    rows.size[row, :count] = rows.size[row][order]
    rows.distortion[row, :count] = rows.distortion[row][order]
    rows.rotation[row, :count] = rows.rotation[row][order]
    rows.shade[row, :count] = rows.shade[row][order]
    rows.centre[row, :count] = rows.centre[row][order]
    rows.overlap[row, :count] = rows.overlap[row][order]
    for e in range(count):
        rows.overlap[row, e, :count] = rows.overlap[row, e][order]
