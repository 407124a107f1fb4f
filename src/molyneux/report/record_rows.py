"""What is measured, told once in a line of `records.jsonl`, and the rows of numbers that refer to it; see `record_lines`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from molyneux.core import DataError, Score

REQUIRED = ("name", "unit", "higher_is_better", "bounds", "n")
_COMPACT = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
OPTIONAL = ("about", "chance", "controls", "note")
"""Fields of a score that a line tells; optional ones only where they are not empty."""


class Measured(NamedTuple):
    """What is measured.

    Args:
        label: of its line.
        digest: of what the line tells.
        score: without a value, or the first one of its kind; n, chance and controls are those of rows that tell none.
        controls: the names of its controls in their order.
    """

    label: str
    digest: str
    score: Score
    controls: tuple[str, ...]

    def row(self, score: Score) -> list[Any]:
        """The row of a score of this kind."""
        own = [score.n, score.chance, [score.controls[name] for name in self.controls]]
        usual = [self.score.n, self.score.chance, [self.score.controls[name] for name in self.controls]]
        while own and repr(own[-1]) == repr(usual[len(own) - 1]):
            own.pop()
        low, high = score.interval or (None, None)
        return [self.label, score.value, *((low, high, *own) if own or score.interval is not None else ())]

    def score_of(self, row: Sequence[Any], origin: Mapping[str, Any]) -> Score:
        """The score of a row; DataError where it is none."""
        told, values, controls = self.score, list(row[1:]), self.score.controls
        if len(values) not in (1, 3, 4, 5, 6):
            raise DataError(f"expected a row of 2 or 4 to 7 values, got {len(row)}")
        if len(values) == 6:
            numbers = values.pop()
            if not isinstance(numbers, list) or len(numbers) != len(self.controls) or None in numbers:
                raise DataError(f"expected a number for each of {len(self.controls)} controls, got {str(numbers)[:40]}")
            controls = dict(zip(self.controls, numbers, strict=True))
        usual: list[Any] = [None, None, told.n, told.chance]
        value, low, high, n, chance = [*values, *usual[len(values) - 1 :]]
        if type(n) is not int or n < 0:
            raise DataError(f"expected a number of samples, got {str(n)[:40]}")
        for number in (value, low, high, chance, *(() if controls is told.controls else controls.values())):
            if number is not None and ((type(number) is not float and type(number) is not int) or not -inf < number < inf):
                raise DataError(f"expected a number, got {str(number)[:40]}")
        if (low is None) is not (high is None):
            raise DataError("expected both ends of an interval, or null twice")
        interval = None if low is None else (low, high)
        fields = (told.name, value, told.about, interval, n, told.unit, told.higher_is_better, told.bounds, chance, controls)
        return Score(*fields, origin=origin, note=told.note)


def content_of(score: Score) -> dict[str, Any]:
    """What the line of a score tells, as plain data."""
    empty: tuple[Any, ...] = (None, "", {})
    told = {name: getattr(score, name) for name in REQUIRED}
    told |= {name: value for name in OPTIONAL if (value := getattr(score, name)) not in empty}
    told |= {name: dict(told[name]) for name in ("about", "controls") if name in told}
    plain: dict[str, Any] = json.loads(compact(told))
    return plain


def form_of(score: Score) -> tuple[Any, ...]:
    """What `kind_of` is made of, which takes less time: scores of one form are of one kind."""
    about, controls = repr(sorted(score.about.items())), tuple(sorted(score.controls))
    return score.name, about, score.unit, score.higher_is_better, repr(score.bounds), controls, score.note


def kind_of(content: Mapping[str, Any]) -> str:
    """What scores have in common that differ in numbers alone."""
    return compact({**content, "n": 0, "chance": None, "controls": sorted(content.get("controls", ()))})


def compact(value: Any) -> str:
    """JSON without spaces, names sorted."""
    return _COMPACT.encode(value)
