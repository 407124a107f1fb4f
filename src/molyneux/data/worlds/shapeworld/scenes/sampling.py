"""Drawing of scenes: entities one after the other, each with a place where it fits, by random numbers of its scene alone."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from molyneux.core import seeds
from molyneux.core.seeds import philox
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.scenes.placement import SceneRows, box, fits, order
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, NotDrawnError, Scenes
from molyneux.data.worlds.shapeworld.scenes.settings import SceneSettings

ENTITY_TRIES, SCENE_TRIES = 20, 200
"""How often an entity is drawn anew, and then its whole scene, before the settings are refused."""

_RANDOM, _REINFORCED, _LIMITED, _FRAMED, _CLUSTERED = range(5)
_MODES = {"random": _RANDOM, "reinforced": _REINFORCED, "limited": _LIMITED, "framed": _FRAMED, "clustered": _CLUSTERED}

_LIMITS = tuple(f"{how}{what}" for how in ("excluded", "required") for what in ("", "_places", "_sizes"))
"""Settings that leave an entity less than the whole scene and all attributes."""

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
    excluded_places: np.ndarray
    required_places: np.ndarray
    excluded_sizes: np.ndarray
    required_sizes: np.ndarray


def sample_scenes(settings: SceneSettings, stream: np.ndarray, indices: np.ndarray) -> Scenes:
    """Scenes by number: each is a function of the settings, the stream and its number alone.

    Args:
        settings: what is drawn.
        stream: key of the random numbers, from `seeds.key`.
        indices: (n,) numbers of scenes.

    Raises:
        NotDrawnError: no scene that fits was found in a bounded number of trials.
    """
    count, entities = len(indices), max(settings.counts)
    size = (count, entities)
    rows = SceneRows(
        np.zeros(size, np.bool_), np.zeros(size, np.int8), np.zeros(size, np.int8), np.zeros((*size, 2)), np.ones(size),
        np.ones(size), np.zeros(size), np.zeros(size), np.zeros((*size, entities)),
    )  # fmt: skip
    failed = _sample(stream, np.ascontiguousarray(indices).astype(np.uint64), _numbers(settings), rows)
    if failed >= 0:
        numbers = " or ".join(map(str, settings.counts))
        limits = " and ".join(name for name in _LIMITS if getattr(settings, name))
        raise NotDrawnError(
            f"no scene of {numbers} entities was found that keeps to the settings (scene {indices[failed]} was tried "
            f"{SCENE_TRIES} times, each entity {ENTITY_TRIES} times)",
            (f"leave more by {limits}, " if limits else "") + "ask for fewer or smaller entities, or allow more overlap",
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
        *(np.array(places, np.float64).reshape(-1, 4) for places in (settings.excluded_places, settings.required_places)),
        *(np.array(sizes, np.float64).reshape(-1, 2) for sizes in (settings.excluded_sizes, settings.required_sizes)),
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
def _sample(stream: np.ndarray, indices: np.ndarray, numbers: _Numbers, rows: SceneRows) -> int:
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
            order(row, count, rows)
    return -1


@compiled
def _scene(state: np.ndarray, row: int, count: int, numbers: _Numbers, rows: SceneRows, weights: np.ndarray) -> bool:
    """Draw a scene of `count` entities; whether all found a place."""
    rows.present[row] = False
    rows.overlap[row] = 0
    weights[:] = 1
    if numbers.mode == _LIMITED:
        _limit(state, numbers, weights)
    frame = _below(state, count) + 1 if numbers.mode == _FRAMED else 0
    clusters = 1 + _below(state, int(np.int64(3)))
    places = np.empty((clusters, 2))
    for cluster in range(clusters):
        places[cluster, 0], places[cluster, 1] = _uniform(state), _uniform(state)
    provoked = numbers.provoked * _uniform(state)
    moved, before = np.empty((0, 0), np.bool_), np.empty((0, 0, 0))  # overlaps were not measured before
    for e in range(count):
        placed = False
        for _ in range(ENTITY_TRIES):
            if not _attributes(state, row, e, frame, numbers, rows, weights):
                return False
            _measures(state, row, e, numbers, rows)
            _place(state, row, e, numbers, rows, places, provoked)
            if _allowed(row, e, numbers, rows) and fits(row, e, rows, numbers.overlap, numbers.outside, moved, before):
                placed = True
                break
        if not placed:
            return False
        rows.present[row, e] = True
        if numbers.mode == _REINFORCED:
            low, high = numbers.reinforcement
            more = low + _below(state, high - low + 1)
            for c in range(_COLOUR_COUNT):
                weights[rows.shape[row, e], c] += more
            for s in range(_SHAPE_COUNT):
                weights[s, rows.colour[row, e]] += more
    return True


@compiled
def _allowed(row: int, e: int, numbers: _Numbers, rows: SceneRows) -> bool:
    """Whether an entity has no place and no size that is held out, and the first one those that are required."""
    centre = rows.centre
    x, y, size = centre[row, e, 0], centre[row, e, 1], rows.size[row, e]
    if _within(x, y, numbers.excluded_places) or _between(size, numbers.excluded_sizes):
        return False
    if e > 0:
        return True
    place = len(numbers.required_places) == 0 or _within(x, y, numbers.required_places)
    return place and (len(numbers.required_sizes) == 0 or _between(size, numbers.required_sizes))


@compiled
def _within(x: float, y: float, places: np.ndarray) -> bool:
    found = False
    for place in range(len(places)):
        found = found or (places[place, 0] <= x <= places[place, 2] and places[place, 1] <= y <= places[place, 3])
    return found


@compiled
def _between(size: float, ranges: np.ndarray) -> bool:
    found = False
    for place in range(len(ranges)):
        found = found or ranges[place, 0] <= size <= ranges[place, 1]
    return found


@compiled
def on_grid(value: float) -> float:
    """The nearest multiple of 2 ** -20: numbers of a scene are exact in 32 bits, and so are those of its reflections."""
    return math.floor(value * 1048576.0 + 0.5) / 1048576.0


@compiled
def _limit(state: np.ndarray, numbers: _Numbers, weights: np.ndarray) -> None:
    """Leave a few shapes and a few colours of a scene."""
    for axis in range(2):
        allowed = np.zeros(weights.shape[axis], np.int64)
        size = 0
        for value in range(len(allowed)):
            some = False
            for other in range(weights.shape[1 - axis]):
                some = some or (numbers.others[value, other] if axis == 0 else numbers.others[other, value])
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
def _attributes(state: np.ndarray, row: int, e: int, frame: int, numbers: _Numbers, rows: SceneRows, weights: np.ndarray) -> bool:
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
def _measures(state: np.ndarray, row: int, e: int, numbers: _Numbers, rows: SceneRows) -> None:
    """Draw size, distortion, rotation and shade of an entity."""
    low, high = numbers.size
    if e == 0 and len(numbers.required_sizes):
        asked = numbers.required_sizes[_below(state, len(numbers.required_sizes))]
        low, high = max(low, asked[0]), min(high, asked[1])
    share = _uniform(state)
    rows.size[row, e] = on_grid(
        math.sqrt(low * low + share * (high * high - low * low)) if numbers.uniform_area else low + share * (high - low)
    )
    wide, wider = numbers.distortion
    stretched = rows.shape[row, e] in (1, 7)
    share = _uniform(state)
    rows.distortion[row, e] = on_grid(wide + share * (wider - wide)) if stretched else 1.0
    share = _uniform(state)
    rows.rotation[row, e] = on_grid(share) % 1.0 if numbers.rotated else 0.0
    shade = (2 * _uniform(state) - 1) * numbers.shade
    if numbers.normal_shade:
        for _ in range(100):
            radius, angle = math.sqrt(-2 * math.log(1 - _uniform(state))), 2 * math.pi * _uniform(state)
            normal = radius * math.cos(angle)
            if abs(normal) <= 1:
                shade = normal * numbers.shade
                break
    rows.shade[row, e] = on_grid(shade)


@compiled
def _place(state: np.ndarray, row: int, e: int, numbers: _Numbers, rows: SceneRows, places: np.ndarray, provoked: float) -> None:
    """Draw a centre: anywhere, near a cluster, or next to an earlier entity."""
    centre = rows.centre
    width, height = box(row, e, rows)
    margin_x, margin_y = (0.0, 0.0) if numbers.outside > 0 else (width, height)
    x, y = _uniform(state), _uniform(state)
    centre[row, e, 0] = margin_x + x * max(0.0, 1 - 2 * margin_x)
    centre[row, e, 1] = margin_y + y * max(0.0, 1 - 2 * margin_y)
    if e == 0 and len(numbers.required_places):
        asked = numbers.required_places[_below(state, len(numbers.required_places))]
        centre[row, e, 0], centre[row, e, 1] = (
            asked[0] + x * (asked[2] - asked[0]),
            asked[1] + y * (asked[3] - asked[1]),
        )
    elif numbers.mode == _CLUSTERED:
        cluster = _below(state, len(places))
        for axis in range(2):
            centre[row, e, axis] = places[cluster, axis] + 0.2 * (centre[row, e, axis] - 0.5)
    if _uniform(state) < provoked and e > 0 and numbers.overlap > 0:
        other, angle, away = _below(state, e), 2 * math.pi * _uniform(state), 0.75 + _uniform(state)
        other_width, other_height = box(row, other, rows)
        centre[row, e, 0] = centre[row, other, 0] + math.cos(angle) * other_width * away
        centre[row, e, 1] = centre[row, other, 1] + math.sin(angle) * other_height * away
    centre[row, e, 0], centre[row, e, 1] = on_grid(centre[row, e, 0]), on_grid(centre[row, e, 1])
