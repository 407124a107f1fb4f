"""Types of settings that come from code: those of files are checked before they arrive here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise


def is_a(value: object, kinds: type | tuple[type, ...]) -> bool:
    """Whether a value is of some types; truth values are no numbers."""
    return isinstance(value, kinds) and not isinstance(value, bool)


def list_problems(kinds: type | tuple[type, ...], words: str, *, length: int | None = None, **lists: object) -> list[str]:
    """Problems of lists by name: what is no list, or holds something of another type.

    Args:
        kinds: of what a list holds.
        words: what it is called.
        length: of the lists; any by default.
        lists: by name.
    """
    problems = []
    for name, values in lists.items():
        fits = (
            not isinstance(values, str) and isinstance(values, Sequence | range) and all(is_a(value, kinds) for value in values)
        )
        if not fits or (length is not None and len(values) != length):  # type: ignore[arg-type]
            problems.append(f"{name}: expected {words}{'' if length else ', as a list'}, got {values!r}")
    return problems


def covers_range(low: float, high: float, ranges: Sequence[Sequence[float]]) -> bool:
    """Whether some ranges, each from its first to its second number, cover all from `low` to `high`."""
    reached = low
    for first, last in sorted((one[0], one[1]) for one in ranges):
        if first > reached:
            break
        reached = max(reached, last)
    return bool(ranges) and reached >= high


def covers_square(places: Sequence[Sequence[float]]) -> bool:
    """Whether some rectangles, each left, top, right and bottom, cover the unit square."""
    xs, ys = (sorted({0.0, 1.0, *(place[side] for place in places for side in (first, first + 2))}) for first in (0, 1))
    middles = [((left + right) / 2, (top + bottom) / 2) for left, right in pairwise(xs) for top, bottom in pairwise(ys)]
    return all(any(place[0] <= x <= place[2] and place[1] <= y <= place[3] for place in places) for x, y in middles)


def held_out_problems(combinations: Mapping[str, object], places: Mapping[str, object], sizes: Mapping[str, object]) -> list[str]:
    """Problems of the types of combinations, of places and of sizes, each by the names of settings."""
    problems = []
    for settings, kinds, words in (
        (combinations, str, "pairs of a shape and a colour"),
        (places, (int, float), "places of four numbers"),
        (sizes, (int, float), "pairs of a smallest and a largest width"),
    ):
        for name, values in settings.items():
            listed = not isinstance(values, str) and isinstance(values, Sequence)
            if not listed or any(list_problems(kinds, "", x=value) for value in values):  # type: ignore[attr-defined]
                problems.append(f"{name}: expected {words}, as a list of lists, got {values!r}")
    return problems


Optional = Mapping[str, tuple[object, type | tuple[type, ...], str]]
"""By the name of a setting that may be None, its value, the types that it may have, and words for them."""


def optional_problems(optional: Optional) -> list[str]:
    """Problems of the types of settings that may be None."""
    return [
        f"{name}: expected {words} or None, got {value!r}"
        for name, (value, kinds, words) in optional.items()
        if value is not None and not is_a(value, kinds)
    ]


def type_problems(optional: Optional, *, kind: object, only: object, views: object) -> list[str]:
    """Problems of the types of the settings of `ShapeWorld`.

    Args:
        optional: settings that may be None.
        kind: see `ShapeWorld`; the same for the others.
        only: see there.
        views: see there.
    """
    problems = [] if isinstance(kind, str) else list_problems(str, "the name of a kind, or several", kind=kind)
    problems += list_problems(str, "names of views", views=views)
    if only is not None and not isinstance(only, Mapping):
        problems.append(f"only: expected lists of values by the name of a factor, got {only!r}")
    elif only is not None:
        problems += list_problems(str, "values", **{f"only.{name}": values for name, values in only.items()})
    return problems + optional_problems(optional)
