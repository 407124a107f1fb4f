"""Truth of captions in scenes: a stack machine that evaluates Polish notation on batches of scenes.

A predicate is a row of one value for each entity, a statement one value: agrees (1), undetermined (0), disagrees (-1).
Conjunction is the minimum, so a noun and what is said of it restrict the same entities (Kuhnle & Copestake, 2017; rules as in
ShapeWorld, but for what `Semantics` decides).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from molyneux.core import DataError
from molyneux.core.compiled import compiled
from molyneux.data.worlds.shapeworld.meaning.counting import balance, bounded, connected, count
from molyneux.data.worlds.shapeworld.meaning.programs import Operation, instructions
from molyneux.data.worlds.shapeworld.meaning.semantics import Semantics
from molyneux.data.worlds.shapeworld.scenes import Scenes

_MALFORMED = -2

_COLOUR = int(Operation.COLOUR)
_SHAPE = int(Operation.SHAPE)
_BOTH = int(Operation.BOTH)
_NOT = int(Operation.NOT)
_AXIS = int(Operation.AXIS)
_DEPTH = int(Operation.DEPTH)
_SIZE = int(Operation.SIZE)
_SHADE = int(Operation.SHADE)
_SAME_SHAPE = int(Operation.SAME_SHAPE)
_SAME_COLOUR = int(Operation.SAME_COLOUR)
_BESIDES = int(Operation.BESIDES)
_PROXIMITY = int(Operation.PROXIMITY)
_UNIQUE = int(Operation.UNIQUE)
_SELECT_AXIS = int(Operation.SELECT_AXIS)
_SELECT_SIZE = int(Operation.SELECT_SIZE)
_SELECT_SHADE = int(Operation.SELECT_SHADE)
_SELECT_DISTANCE = int(Operation.SELECT_DISTANCE)
_THERE_IS = int(Operation.THERE_IS)
_EXISTS = int(Operation.EXISTS)
_RATIO = int(Operation.RATIO)
_BOUND = int(Operation.BOUND)
_QUOTIENT = int(Operation.QUOTIENT)
_ANY = int(Operation.ANY)


class _Scene(NamedTuple):
    """The arrays of `Scenes` that meaning is about, or their rows for one scene."""

    present: np.ndarray
    shape: np.ndarray
    colour: np.ndarray
    centre: np.ndarray
    area: np.ndarray
    shade: np.ndarray
    overlap: np.ndarray


class _Rules(NamedTuple):
    """The numbers of `Semantics`."""

    axis_distance: float
    distance: float
    overlap: float
    area: float
    shade: float
    quantifier: float
    published: bool
    cone: bool


def truth(
    programs: np.ndarray, scenes: Scenes, semantics: Semantics | None = None, *, rows: np.ndarray | None = None
) -> np.ndarray:
    """Whether captions are true of scenes, one of each: agrees (1), undetermined (0), disagrees (-1).

    Args:
        programs: (n, L) int16, codes of statements in Polish notation, padded with 0 at the end.
        scenes: n of them, or any number with `rows`.
        semantics: margins and decisions; those of `Semantics()` by default.
        rows: (n,) of which scene each caption is evaluated; one scene may have several.

    Returns:
        (n,) int8.

    Raises:
        DataError: not as many captions as scenes, rows that are not there, or codes that are no statement.
    """
    chosen = np.arange(len(scenes)) if rows is None else np.asarray(rows, np.int64)
    if programs.ndim != 2 or len(programs) != len(chosen):
        raise DataError(f"expected one row of codes for each of {len(chosen)} scenes, got {programs.shape}")
    if len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(scenes):
        raise DataError(f"expected rows of 0 to {len(scenes) - 1}, got {chosen.min()} to {chosen.max()}")
    return _evaluated(programs, chosen, scenes, semantics)


def truth_table(programs: np.ndarray, scenes: Scenes, semantics: Semantics | None = None) -> np.ndarray:
    """Whether each of m captions (m, L) is true of each of n scenes, (n, m) int8; arguments and errors as `truth`."""
    rows = np.repeat(np.arange(len(scenes)), len(programs))
    return _evaluated(np.tile(programs, (len(scenes), 1)), rows, scenes, semantics).reshape(len(scenes), len(programs))


def _evaluated(programs: np.ndarray, rows: np.ndarray, scenes: Scenes, semantics: Semantics | None) -> np.ndarray:
    chosen, out = semantics or Semantics(), np.empty(len(rows), np.int8)
    distances = float(chosen.axis_distance), float(chosen.distance), float(chosen.overlap)
    margins = (*distances, float(chosen.area), float(chosen.shade), float(chosen.quantifier))
    rules = _Rules(*margins, published=chosen.vacuous == "published", cone=chosen.cone)
    every = _Scene(scenes.present, scenes.shape, scenes.colour, scenes.centre, scenes.areas, scenes.shade, scenes.overlap)
    _evaluate(np.ascontiguousarray(programs, np.int16), rows, every, rules, instructions(), out)
    if (out == _MALFORMED).any():
        raise DataError(f"the codes of row {int((out == _MALFORMED).argmax())} are no statement in Polish notation")
    return out


@compiled
def _evaluate(programs: np.ndarray, rows: np.ndarray, every: _Scene, rules: _Rules, table: np.ndarray, out: np.ndarray) -> None:
    """The truth of programs (n, L) in the scenes of `rows` (n,), into `out` (n,)."""
    entities, length = every.present.shape[1], programs.shape[1]
    stack = np.empty((length + 3, max(entities, 3)), np.int8)
    failed = np.zeros(length + 3, np.bool_)
    for n in range(len(programs)):
        row, top, sound = rows[n], 0, True
        scene = _Scene(
            every.present[row],
            every.shape[row],
            every.colour[row],
            every.centre[row],
            every.area[row],
            every.shade[row],
            every.overlap[row],
        )
        for place in range(length - 1, -1, -1):
            code = programs[n, place]
            if code == 0 and top == 0:
                continue
            if code <= 0 or code >= len(table) or top < table[code, 3]:
                sound = False
                break
            top -= int(table[code, 3])
            _step(stack, failed, top, table[code], scene, rules)
            top += 1
        statement = sound and top == 1 and table[programs[n, 0], 0] >= _THERE_IS
        out[n] = stack[0, 0] if statement else _MALFORMED


@compiled
def _step(stack: np.ndarray, failed: np.ndarray, top: int, symbol: np.ndarray, scene: _Scene, rules: _Rules) -> None:
    """Replace the arguments of a symbol on the stack, which begin at `top`, the last one first, by its value.

    `failed` says of every value whether something it presupposes does not hold.
    """
    operation, arity = int(symbol[0]), int(symbol[3])
    entities, out = len(scene.present), stack[top]
    first, last = stack[top + max(0, arity - 1)], stack[top]
    fails = False
    for argument in range(arity):
        fails = fails or failed[top + argument]
    if operation <= _SHAPE:
        for e in range(entities):
            value = scene.colour[e] if operation == _COLOUR else scene.shape[e]
            out[e] = 1 if scene.present[e] and (operation == _ANY or value == symbol[1]) else -1
    elif operation == _BOTH:
        for e in range(entities):
            out[e] = min(first[e], last[e])
    elif operation == _NOT:
        for e in range(entities):
            out[e] = -first[e] if scene.present[e] else -1
    elif operation <= _PROXIMITY:
        found = np.full(entities, -1, np.int8)
        reference, comparison = first[:entities], last[:entities]
        for e in range(entities):
            if scene.present[e]:
                if operation == _PROXIMITY:
                    found[e] = _compared(e, reference, comparison, symbol[2], scene.centre, rules.distance)
                else:
                    found[e] = _related(e, reference, operation, symbol, scene, rules)
        out[:entities] = found
    elif operation <= _SELECT_DISTANCE:
        found = np.full(entities, -1, np.int8)
        if not _select(found, first[:entities], last[:entities], operation, symbol, scene, rules):
            fails = fails or not rules.published
        out[:entities] = found
    else:
        if operation <= _EXISTS:
            value = -1
            for e in range(entities):
                value = max(value, min(first[e], last[e]))
            out[0] = value
        elif operation <= _RATIO:
            count(out, first, last, operation, int(symbol[4]), symbol[5], entities, rules.quantifier, rules.published)
        elif operation == _BOUND:
            out[0] = bounded(first, symbol[5])
        elif operation <= _QUOTIENT:
            out[0] = balance(
                first, stack[top + 1], last, operation, int(symbol[4]), symbol[5], entities, rules.quantifier, rules.published
            )
        if operation > _QUOTIENT:
            out[0] = connected(operation, first[0], last[0])
        elif fails:
            out[0] = 0  # kept as failed: a number bound of it is undetermined too
        fails = fails and operation <= _QUOTIENT
    failed[top] = fails


@compiled
def _related(e: int, reference: np.ndarray, operation: int, symbol: np.ndarray, scene: _Scene, rules: _Rules) -> int:
    """Value of a relation of entity e to the entities of a noun other than itself."""
    direction, axis = symbol[2], int(symbol[1])
    accepted, rejected, others = False, True, False
    for r in range(len(reference)):
        if r == e or reference[r] < 0:
            continue
        others, yes, no = True, False, False
        if operation == _AXIS:
            ahead = direction * (scene.centre[e, axis] - scene.centre[r, axis])
            yes = ahead > max(rules.axis_distance, abs(scene.centre[e, 1 - axis] - scene.centre[r, 1 - axis]))
            no = not yes if rules.cone else -ahead > rules.axis_distance
        elif operation == _DEPTH:
            share, side = min(scene.overlap[e, r], scene.overlap[r, e]), direction * (e - r) > 0
            yes = share > rules.overlap and side
            no = not (share > 0 and (share <= rules.overlap or side))
        elif operation == _SIZE:
            more = direction * (scene.area[e] - scene.area[r])
            yes, no = scene.shape[e] == scene.shape[r] and more > rules.area, -more > rules.area
        elif operation == _SHADE:
            more = direction * (scene.shade[e] - scene.shade[r])
            yes, no = scene.colour[e] == scene.colour[r] and more > rules.shade, -more > rules.shade
        elif operation == _BESIDES:
            yes = True
        else:
            same = scene.shape[e] == scene.shape[r] if operation == _SAME_SHAPE else scene.colour[e] == scene.colour[r]
            yes = same if direction > 0 else not same
            no = not yes
        accepted = accepted or (yes and reference[r] > 0)
        rejected = rejected and no
    if not others:
        two_valued = operation == _BESIDES or (rules.cone and operation == _AXIS)
        return 0 if reference[e] >= 0 and not two_valued else -1
    return 1 if accepted else (-1 if rejected else 0)


@compiled
def _compared(e: int, reference: np.ndarray, comparison: np.ndarray, direction: float, centre: np.ndarray, margin: float) -> int:
    """Whether entity e is closer to an entity of the comparison than one of the reference is, or farther from it."""
    accepted, rejected, pairs, named, compared = False, True, False, False, False
    for r in range(len(reference)):
        named = named or reference[r] >= 0
        compared = compared or comparison[r] >= 0
    for r in range(len(reference)):
        for c in range(len(reference)):
            if e in (r, c) or r == c or reference[r] < 0 or comparison[c] < 0:
                continue
            pairs = True
            more = direction * (_distance(centre, e, c) - _distance(centre, r, c))
            accepted = accepted or (more > margin and reference[r] > 0 and comparison[c] > 0)
            rejected = rejected and -more >= margin
    if not pairs:
        return 0 if named and compared else -1
    return 1 if accepted else (-1 if rejected else 0)


@compiled
def _select(
    found: np.ndarray,
    scope: np.ndarray,
    comparison: np.ndarray,
    operation: int,
    symbol: np.ndarray,
    scene: _Scene,
    rules: _Rules,
) -> bool:
    """Which entity of a noun a selector picks, into `found` (E,); whether what it presupposes holds."""
    direction, axis, two = symbol[2], int(symbol[1]), symbol[6] > 0
    point, points, members = -1, 0, 0
    if operation == _SELECT_DISTANCE:
        for c in range(len(scope)):
            if comparison[c] >= 0:
                point, points = c, points + 1
        if points != 1 or comparison[point] < 1:
            return False
    for e in range(len(scope)):
        if scope[e] > 0 and e != point:
            members += 1
    if (operation == _UNIQUE and members != 1) or (operation != _UNIQUE and members < 2) or (two and members != 2):
        return False
    for e in range(len(scope)):
        if scope[e] <= 0 or e == point:
            continue
        best, beaten = True, False
        for o in range(len(scope)):
            if o in (e, point) or scope[o] <= 0:
                continue
            comparable = True
            if operation == _SELECT_AXIS:
                more, margin = direction * (scene.centre[e, axis] - scene.centre[o, axis]), rules.axis_distance
                comparable = not two or more > abs(scene.centre[e, 1 - axis] - scene.centre[o, 1 - axis])
            elif operation == _SELECT_SIZE:
                more, margin = direction * (scene.area[e] - scene.area[o]), rules.area
                comparable = scene.shape[e] == scene.shape[o]
            elif operation == _SELECT_SHADE:
                more, margin = direction * (scene.shade[e] - scene.shade[o]), rules.shade
                comparable = scene.colour[e] == scene.colour[o]
            else:
                more = direction * (_distance(scene.centre, e, point) - _distance(scene.centre, o, point))
                margin = rules.distance
            best = best and comparable and more > margin
            beaten = beaten or -more > margin
        found[e] = 1 if best else (-1 if beaten else 0)
    return True


@compiled
def _distance(centre: np.ndarray, a: int, b: int) -> float:
    """Distance of the centres of two entities."""
    return float(np.hypot(centre[a, 0] - centre[b, 0], centre[a, 1] - centre[b, 1]))
