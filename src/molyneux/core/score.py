"""Scores: measured numbers with their interval, chance level, controls and origin."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from molyneux.core import store
from molyneux.core.errors import DataError

About = Mapping[str, str | tuple[str, ...]]
"""What a score is about, by key, such as `{"source": ("image", "touch"), "target": "text"}`. Several modalities are a tuple of
their names, a single one is a string."""

MEAN_VIEW = "mean view"
"""The control of readings of generated views: what is read in the mean of the training views with the same factors."""


_TYPES: dict[str, Any] = {"name": str, "value": (Real, type(None)), "about": Mapping, "n": Integral, "unit": str, "note": str}
_USUAL: dict[str, tuple[type, ...]] = {"value": (float, int, type(None)), "about": (dict,), "n": (int,)}
_USUAL |= dict.fromkeys(("name", "unit", "note"), (str,))
"""Types that need no look at abstract ones, which takes longer."""
_EXPECTED = {
    "name": "a text",
    "value": "a number or None",
    "about": "a dictionary of names",
    "n": "a number of samples",
    "unit": "a text",
    "note": "a sentence",
}


@dataclass(frozen=True)
class Score:
    """One measured number. Tables, plots and leaderboards are derived from scores and from nothing else.

    Args:
        name: `family.measure`, such as `coherence.strict`.
        value: the number; None where the measure does not apply, with the reason in `note`.
        about: what it is about, such as `{"source": "text", "target": "image", "factor": "shape"}`; several modalities are a
            tuple of names.
        interval: 95 % interval (low, high), or None where there is none.
        n: number of samples behind it.
        unit: such as `%`, `nats`, `1`.
        higher_is_better: direction; None if neither.
        bounds: smallest and largest possible value; None for an open end.
        chance: the value of guessing, or None where chance has no meaning.
        controls: named values obtained without the information the task is about (`constant`, `judge ceiling`, ...).
        origin: on which samples, by which model, with which judge.
        note: one sentence where a reader of the number needs it.

    Raises:
        DataError: the value is NaN, or an argument is of another type, as where two positions are mixed up.
    """

    name: str
    value: float | None
    about: About = field(default_factory=dict)
    interval: tuple[float, float] | None = None
    n: int = 0
    unit: str = "1"
    higher_is_better: bool | None = True
    bounds: tuple[float | None, float | None] = (None, None)
    chance: float | None = None
    controls: Mapping[str, float] = field(default_factory=dict)
    origin: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        given = vars(self)
        wrong = [name for name in _TYPES if type(given[name]) not in _USUAL[name] and not isinstance(given[name], _TYPES[name])]
        for name in wrong:
            raise DataError(f"score {self.name}: expected {_EXPECTED[name]} as {name}, got {getattr(self, name)!r}")
        if self.value is not None and math.isnan(self.value):
            raise DataError(f"score {self.name} {dict(self.about)} is NaN: record it as None with a note that says why")

    @property
    def is_guessed(self) -> bool:
        """Whether it is not better than guessing: its interval contains chance, or it is worse.

        Where higher is better, the best constant answer is guessing too. Of a score that guessing makes as good as can be, such
        as the gap between two splits, nothing can be said.
        """
        if self.chance is None or self.value is None:
            return False
        low, high = self.interval or (self.value, self.value)
        if self.higher_is_better is False:
            return high >= self.chance > 0
        return low <= max(self.chance, self.controls.get("constant", self.chance))

    @property
    def is_mean_view(self) -> bool:
        """Whether it is not better than the mean of the training views with the same factors, which no model is needed for.

        Nothing is said where that mean is read as well as the true views, as that of captions, which are determined by factors.
        """
        mean = self.controls.get(MEAN_VIEW)
        if mean is None or self.value is None or self.higher_is_better is not True:
            return False
        ceiling = self.controls.get("judge ceiling")
        low, _ = self.interval or (self.value, self.value)
        return low <= mean and (ceiling is None or mean < ceiling)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary, one line of `scores.jsonl`."""
        return {**vars(self), **{name: dict(getattr(self, name)) for name in ("about", "controls", "origin")}}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Score:
        """Read what `to_json` wrote.

        Raises:
            DataError: a field is of another type; names it.
        """
        return cls._read(record, _FIELDS)

    @classmethod
    def _read(cls, record: Mapping[str, Any], fields: Mapping[str, Callable[[Any], bool]]) -> Score:
        """As `from_json`, of which these fields are checked."""
        for name, fits in fields.items():
            if name in record and not fits(record[name]):
                shown = repr(record[name])[:60]
                raise DataError(
                    f"expected the record of a Score, got one whose {name} cannot be read ({shown}): restore its file"
                )
        try:
            interval = record.get("interval")
            return cls(
                **{
                    **record,
                    "about": {
                        name: tuple(value) if isinstance(value, list) else value
                        for name, value in record.get("about", {}).items()
                    },
                    "interval": None if interval is None else (interval[0], interval[1]),
                    "bounds": tuple(record.get("bounds", (None, None))),
                }
            )
        except (TypeError, KeyError, IndexError, AttributeError) as error:
            raise DataError(f"expected the record of a Score, got one that cannot be read: {error}") from error

    @classmethod
    def load_lines(cls, path: Path) -> list[Score]:
        """The scores of a run from its `scores.jsonl`; those of one origin share it.

        Raises:
            DataError: a line is no score; names the file and the line. CorruptFileError: the file holds no lines of JSON.
        """
        scores, origins, others = list[Score](), list[Any](), {name: fits for name, fits in _FIELDS.items() if name != "origin"}
        for number, record in enumerate(store.read_lines(path), 1):
            known = next((origin for origin in origins if origin == record.get("origin", {})), None)
            origins += [record.get("origin", {})] if known is None else []
            record["origin"] = origins[-1] if known is None else known
            try:
                scores.append(cls._read(record, _FIELDS if known is None else others))
            except DataError as error:
                raise DataError(f"{path}, line {number}: {error}") from error
        return scores


def _number(value: Any) -> bool:
    return type(value) in (int, float) and -math.inf < value < math.inf


def _optional(value: Any) -> bool:
    return value is None or _number(value)


def _names(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list | tuple) and all(isinstance(item, str) for item in value))


def _mapping(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) and fits(item) for name, item in value.items())


def _pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(_optional, value))


def _origin(value: Mapping[str, Any]) -> bool:
    """Whether those parts of an origin that tables and pages are made from are what they should be, where they are there."""
    return all(fits(value[name]) for name, fits in _ORIGIN.items() if value.get(name) is not None)


_ORIGIN: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("split", "world", "model", "experiment", "precision"), lambda value: isinstance(value, str)),
    **dict.fromkeys(("train_overlap", "seen"), lambda value: _mapping(value, _number)),
    **dict.fromkeys(("readers", "second_readers"), lambda value: _mapping(value, lambda item: True)),
    "changed": lambda value: isinstance(value, list | tuple),
}

_FIELDS: Mapping[str, Callable[[Any], bool]] = {
    "name": lambda value: isinstance(value, str),
    "value": _optional,
    "about": lambda value: _mapping(value, _names),
    "interval": lambda value: value is None or (_pair(value) and None not in value),
    "n": lambda value: type(value) is int and value >= 0,
    "unit": lambda value: isinstance(value, str),
    "higher_is_better": lambda value: value is None or isinstance(value, bool),
    "bounds": _pair,
    "chance": _optional,
    "controls": lambda value: _mapping(value, _number),
    "origin": lambda value: _mapping(value, lambda item: True) and _origin(value),
    "note": lambda value: isinstance(value, str),
}
"""By field, whether a value that was read can be it."""


def about_names(names: Sequence[str]) -> str | tuple[str, ...]:
    """The value of `Score.about` for one or several modalities.

    >>> about_names(["image"]), about_names(["image", "text"])
    ('image', ('image', 'text'))
    """
    return names[0] if len(names) == 1 else tuple(names)
