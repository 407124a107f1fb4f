"""Truth of captions in scenes: a stack machine that evaluates Polish notation on batches of scenes.

A predicate is a row of one value for each entity, a statement one value: agrees (1), undetermined (0), disagrees (-1).
Conjunction is the minimum, so a noun and what is said of it restrict the same entities (Kuhnle & Copestake, 2017; rules as in
ShapeWorld, but for what `Semantics` decides, such as what a statement presupposes). What quantifiers count is in `counting`,
whose functions are compiled into these: a change there has to touch this file too, see `core.tooling.compiled`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from molyneux.core import DataError
from molyneux.core.tooling.compiled import compiled
from molyneux.data.worlds.shapeworld.meaning.trees.programs import Operation, instructions
from molyneux.data.worlds.shapeworld.meaning.truth.counting import balance, bounded, connected, count
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.scenes.scenes import AREAS, Scenes

_MALFORMED = -2

_AREAS = np.array(AREAS)

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
    """The arrays of `Scenes` that meaning is about."""

    present: np.ndarray
    shape: np.ndarray
    colour: np.ndarray
    centre: np.ndarray
    size: np.ndarray
    distortion: np.ndarray
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
    measures = scenes.size, scenes.distortion, scenes.shade, scenes.overlap
    scene = _Scene(scenes.present, scenes.shape, scenes.colour, scenes.centre, *measures)
    _evaluate(np.ascontiguousarray(programs, np.int16), rows, scene, rules, instructions(), out)
    if (out == _MALFORMED).any():
        raise DataError(f"the codes of row {int((out == _MALFORMED).argmax())} are no statement in Polish notation")
    return out


@compiled
def _evaluate(programs: np.ndarray, rows: np.ndarray, scene: _Scene, rules: _Rules, table: np.ndarray, out: np.ndarray) -> None:
    """The truth of programs (n, L) in the scenes of `rows` (n,), into `out` (n,).

    What is called often is written out here: to pass arrays to a function costs more than to evaluate a noun.
    """
    entities, length = scene.present.shape[1], programs.shape[1]
    stack = np.empty((length + 3, max(entities, 3)), np.int8)
    found, failed = np.empty(entities, np.int8), np.zeros(length + 3, np.bool_)
    for n in range(len(programs)):
        row, top, sound = rows[n], 0, True
        for place in range(length - 1, -1, -1):
            code = programs[n, place]
            if code == 0 and top == 0:
                continue
            if code <= 0 or code >= len(table) or top < table[code, 3]:
                sound = False
                break
            operation, arity = int(table[code, 0]), int(table[code, 3])
            top -= arity
            first, fails = top + max(0, arity - 1), False
            for argument in range(arity):
                fails = fails or failed[top + argument]
            if operation <= _SHAPE:
                for e in range(entities):
                    value = scene.colour[row, e] if operation == _COLOUR else scene.shape[row, e]
                    fits = scene.present[row, e] and (operation == _ANY or value == table[code, 1])
                    stack[top, e] = 1 if fits else -1
            elif operation == _BOTH:
                for e in range(entities):
                    stack[top, e] = min(stack[first, e], stack[top, e])
            elif operation == _NOT:
                for e in range(entities):
                    stack[top, e] = -stack[top, e] if scene.present[row, e] else -1
            elif operation <= _SELECT_DISTANCE:
                if operation < _PROXIMITY:
                    _relate(found, row, stack[top], operation, table[code], scene, rules)
                elif operation == _PROXIMITY:
                    _compare(found, row, stack[first], stack[top], table[code, 2], scene, rules.distance)
                elif not _select(found, row, stack[first], stack[top], operation, table[code], scene, rules):
                    fails = fails or not rules.published
                for e in range(entities):
                    stack[top, e] = found[e]
            elif operation <= _EXISTS:
                value = -1
                for e in range(entities):
                    value = max(value, min(stack[first, e], stack[top, e]))
                stack[top, 0] = 0 if fails else value
            else:
                _state(stack, top, first, table[code], entities, rules)
                if fails and operation <= _QUOTIENT:
                    stack[top, 0] = 0  # kept as failed: a number bound of it is undetermined too
                fails = fails and operation <= _QUOTIENT
            failed[top] = fails
            top += 1
        statement = sound and top == 1 and table[programs[n, 0], 0] >= _THERE_IS
        out[n] = stack[0, 0] if statement else _MALFORMED


@compiled
def _state(stack: np.ndarray, top: int, first: int, symbol: np.ndarray, entities: int, rules: _Rules) -> None:
    """Replace the arguments of a statement on the stack, from `first`, the first one, to `top`, the last, by its truth."""
    operation, comparator, quantity = int(symbol[0]), int(symbol[4]), symbol[5]
    margin, published = rules.quantifier, rules.published
    if operation <= _RATIO:
        count(stack[top], stack[first], stack[top], operation, comparator, quantity, entities, margin, published)
    elif operation == _BOUND:
        stack[top, 0] = bounded(stack[first], quantity)
    elif operation <= _QUOTIENT:
        one, other, body = stack[first], stack[top + 1], stack[top]
        stack[top, 0] = balance(one, other, body, operation, comparator, quantity, entities, margin, published)
    else:
        stack[top, 0] = connected(operation, stack[first, 0], stack[top, 0])


@compiled
def _area(shape: int, size: float, distortion: float) -> float:
    """Area of an entity, as `Scenes.areas`."""
    return float(_AREAS[shape] * (size * size) / distortion)


@compiled
def _relate(
    found: np.ndarray, row: int, reference: np.ndarray, operation: int, symbol: np.ndarray, scene: _Scene, rules: _Rules
) -> None:
    """Value of a relation of each entity to the entities of a noun other than itself, into `found` (E,)."""
    direction, axis, entities = symbol[2], int(symbol[1]), len(found)
    shape, colour, centre, size, distortion = scene.shape, scene.colour, scene.centre, scene.size, scene.distortion
    for e in range(entities):
        if not scene.present[row, e]:
            found[e] = -1
            continue
        accepted, rejected, others = False, True, False
        for r in range(entities):
            if r == e or reference[r] < 0:
                continue
            others, yes, no = True, False, False
            if operation == _AXIS:
                ahead = direction * (centre[row, e, axis] - centre[row, r, axis])
                yes = ahead > max(rules.axis_distance, abs(centre[row, e, 1 - axis] - centre[row, r, 1 - axis]))
                no = not yes if rules.cone else -ahead > rules.axis_distance
            elif operation == _DEPTH:
                share, side = min(scene.overlap[row, e, r], scene.overlap[row, r, e]), direction * (e - r) > 0
                yes = share > rules.overlap and side
                no = not (share > 0 and (share <= rules.overlap or side))
            elif operation == _SIZE:
                more = _area(shape[row, e], size[row, e], distortion[row, e])
                more = direction * (more - _area(shape[row, r], size[row, r], distortion[row, r]))
                yes, no = shape[row, e] == shape[row, r] and more > rules.area, -more > rules.area
            elif operation == _SHADE:
                more = direction * (scene.shade[row, e] - scene.shade[row, r])
                yes, no = colour[row, e] == colour[row, r] and more > rules.shade, -more > rules.shade
            elif operation == _BESIDES:
                yes = True
            else:
                same = shape[row, e] == shape[row, r] if operation == _SAME_SHAPE else colour[row, e] == colour[row, r]
                yes = same if direction > 0 else not same
                no = not yes
            rejected = rejected and no
            accepted = yes and reference[r] > 0
            if accepted:
                break
        if others:
            found[e] = 1 if accepted else (-1 if rejected else 0)
        else:
            two_valued = operation == _BESIDES or (rules.cone and operation == _AXIS)
            found[e] = 0 if reference[e] >= 0 and not two_valued else -1


@compiled
def _compare(
    found: np.ndarray, row: int, reference: np.ndarray, comparison: np.ndarray, direction: float, scene: _Scene, margin: float
) -> None:
    """Whether each entity is closer to an entity of the comparison than one of the reference is, or farther from it."""
    entities, centre, named, compared = len(found), scene.centre, False, False
    for r in range(entities):
        named = named or reference[r] >= 0
        compared = compared or comparison[r] >= 0
    for e in range(entities):
        accepted, rejected, pairs = False, True, False
        for c in range(entities):
            if accepted or e == c or comparison[c] < 0 or not scene.present[row, e]:
                continue
            away = np.hypot(centre[row, e, 0] - centre[row, c, 0], centre[row, e, 1] - centre[row, c, 1])
            for r in range(entities):
                if r in (e, c) or reference[r] < 0:
                    continue
                pairs = True
                more = np.hypot(centre[row, r, 0] - centre[row, c, 0], centre[row, r, 1] - centre[row, c, 1])
                more = direction * (away - more)
                accepted = accepted or (more > margin and reference[r] > 0 and comparison[c] > 0)
                rejected = rejected and -more >= margin
        if pairs:
            found[e] = 1 if accepted else (-1 if rejected else 0)
        else:
            found[e] = 0 if named and compared and scene.present[row, e] else -1


@compiled
def _select(
    found: np.ndarray,
    row: int,
    scope: np.ndarray,
    comparison: np.ndarray,
    operation: int,
    symbol: np.ndarray,
    scene: _Scene,
    rules: _Rules,
) -> bool:
    """Which entity of a noun a selector picks, into `found` (E,); whether what it presupposes holds."""
    direction, axis, two = symbol[2], int(symbol[1]), symbol[6] > 0
    found[:] = -1
    point, points, members = int(np.int64(-1)), 0, 0  # a literal would compile `_distance` for itself
    if operation == _SELECT_DISTANCE:
        for c in range(len(found)):
            if comparison[c] >= 0:
                point, points = c, points + 1
        if points != 1 or comparison[point] < 1:
            return False
    for e in range(len(found)):
        if scope[e] > 0 and e != point:
            members += 1
    if (operation == _UNIQUE and members != 1) or (operation != _UNIQUE and members < 2) or (two and members != 2):
        return False
    for e in range(len(found)):
        if scope[e] <= 0 or e == point:
            continue
        best, beaten = True, False
        for o in range(len(found)):
            if o in (e, point) or scope[o] <= 0:
                continue
            comparable = True
            if operation == _SELECT_AXIS:
                more, margin = direction * (scene.centre[row, e, axis] - scene.centre[row, o, axis]), rules.axis_distance
                aside = abs(scene.centre[row, e, 1 - axis] - scene.centre[row, o, 1 - axis])
                comparable = not two or more > aside
            elif operation == _SELECT_SIZE:
                more, margin = _area(scene.shape[row, e], scene.size[row, e], scene.distortion[row, e]), rules.area
                more = direction * (more - _area(scene.shape[row, o], scene.size[row, o], scene.distortion[row, o]))
                comparable = scene.shape[row, e] == scene.shape[row, o]
            elif operation == _SELECT_SHADE:
                more, margin = direction * (scene.shade[row, e] - scene.shade[row, o]), rules.shade
                comparable = scene.colour[row, e] == scene.colour[row, o]
            else:
                more = direction * (_distance(row, scene.centre, e, point) - _distance(row, scene.centre, o, point))
                margin = rules.distance
            best = best and comparable and more > margin
            beaten = beaten or -more > margin
        found[e] = 1 if best else (-1 if beaten else 0)
    return True


@compiled
def _distance(row: int, centre: np.ndarray, a: int, b: int) -> float:
    """Distance of the centres of two entities."""
    return float(np.hypot(centre[row, a, 0] - centre[row, b, 0], centre[row, a, 1] - centre[row, b, 1]))
