"""The trials of a search on record: `trials.jsonl` beside the records, from which a search goes on where its storage is gone."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

from molyneux.core import ConflictError, CorruptFileError, store
from molyneux.report import portable
from molyneux.run.studies.study import Study

VARIANT = "variant"
"""The setting of a trial that names its variant."""
ENDED = ("complete", "pruned", "fail")
_FORMAT = 1
_STORAGE_FORMAT = 2
"""Version of how values stand in the storage; earlier ones held the places of values in their lists."""
_NAMES = {"trial", "state", "settings", "value", "losses"}


class TrialsFile:
    """`trials.jsonl`: a first line with the fingerprint of the search, `{"format": 1, "search": ...}`, and a line for each trial.

    Args:
        path: what is there is read once.
        study: whose trials they are.

    Attributes:
        ended: the trials up to the first that did not end, as `Trials.rows` has them; their settings are those of the study.

    Raises:
        ConflictError: the trials are those of another study. Of a file without the first line, as earlier versions wrote it, that
            is so where the settings of a trial are none that this study tries. CorruptFileError: a line is no trial.
    """

    def __init__(self, path: Path, study: Study) -> None:
        self.path, self._study, self._lines = path, study, 0
        self._search = store.fingerprint(portable(search_settings(study)))
        rows = store.read_lines(path) if store.is_file(path) else []
        known = bool(rows) and "format" in rows[0]
        if known and rows.pop(0) != self._first:
            self._refuse_foreign(len(rows), "their variants, grid, ranges, base, goal, seeds or search differ")
        for number, row in enumerate(rows):
            if problem := self._problem(row, number):
                if not known and set(row) == _NAMES:
                    self._refuse_foreign(len(rows), f"trial {number}: {problem}")
                raise CorruptFileError(
                    f"{path}: the line of trial {number} cannot be used ({problem}): restore the file from a copy, or move it "
                    f"away, and the search begins anew"
                )
        self.ended = [self._chosen(row) for row in takewhile(lambda row: row["state"] in ENDED, rows)]

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write all trials anew, also those that were stopped or failed."""
        store.write_lines(self.path, [self._first, *map(dict, rows)])

    @property
    def _first(self) -> dict[str, Any]:
        return {"format": _FORMAT, "search": self._search}

    def _refuse_foreign(self, trials: int, why: str) -> NoReturn:
        raise ConflictError(
            f"{self.path} holds {trials} trials of another search ({why}): "
            f"choose another folder with --results, or move the file away"
        )

    def _problem(self, row: Mapping[str, Any], number: int) -> str:
        """What is wrong with the line of a trial; empty if nothing is."""
        if set(row) != _NAMES or row["trial"] != number or not isinstance(row["settings"], Mapping):
            return f"expected trial {number} with {', '.join(sorted(_NAMES))}, got {json.dumps(row)[:80]}"
        if row["state"] not in (*ENDED, "running"):
            return f"state: expected one of {', '.join(ENDED)} and running, got {str(row['state'])[:40]!r}"
        if (row["state"] == "complete") is not _is_number(row["value"]):
            return f"value: expected a number for a complete trial and null for others, got {str(row['value'])[:40]}"
        if not isinstance(row["losses"], list) or not all(map(_is_loss, row["losses"])):
            return "losses: expected pairs of an epoch and a number"
        return next(self._problems_of_settings(row["settings"]), "")

    def _problems_of_settings(self, settings: Mapping[str, Any]) -> Iterator[str]:
        known = [*choices_of(self._study), *self._study.ranges]
        if set(settings) != set(known):
            yield f"expected the settings {', '.join(known)}, got {', '.join(sorted(settings))}"
        for name, values in choices_of(self._study).items():
            if name in settings and json.dumps(settings[name]) not in map(json.dumps, values):
                yield f"{name}: {str(settings[name])[:80]} is none of its values"
        for name, item in self._study.ranges.items():
            value: Any = settings.get(name)
            low, high = self._study.number(name, item.low), self._study.number(name, item.high)
            if name in settings and not (_is_number(value) and low <= value <= high and (not item.whole or type(value) is int)):
                whole = "a whole number" if item.whole else "a number"
                yield f"{name}: expected {whole} from {low} to {high}, got {str(value)[:40]}"

    def _chosen(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A trial with its settings in the order in which they are drawn."""
        return {**row, "settings": {name: row["settings"][name] for name in [*choices_of(self._study), *self._study.ranges]}}


def choices_of(study: Study) -> dict[str, list[Any]]:
    """The settings of a search that have one of several values, with these as they stand in its storage."""
    named = {VARIANT: list(study.variants)} if study.variants else {}
    return {**named, **{path: choices(values) for path, values in study.grid.items()}}


def choices(values: Sequence[Any]) -> list[Any]:
    """Values as they stand in the storage: themselves where all are plain and different, otherwise as JSON."""
    plain = all(value is None or isinstance(value, bool | int | float | str) for value in values)
    if plain and len(set(values)) == len(values):
        return list(values)
    return [json.dumps(_json(value), sort_keys=True) for value in values]


def search_settings(study: Study) -> dict[str, Any]:
    """What makes the trials of a study those of this study and no other; how many there are does not."""
    return {
        "base": study.base_settings,
        "format": _STORAGE_FORMAT,
        "grid": {path: list(values) for path, values in study.grid.items()},
        "ranges": {path: vars(item) for path, item in study.ranges.items()},
        "variants": {name: dict(values) for name, values in study.variants.items()},
        "goal": [{**vars(goal), "about": dict(goal.about)} for goal in study.goals],
        "seeds": list(study.seeds),
        **({"by_seed": {path: list(values) for path, values in study.by_seed.items()}} if study.by_seed else {}),
        "search": study.search,
        "pruning": study.pruning,
        "apart": study.apart,
    }


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _json(item) for name, item in value.items()}
    return [_json(item) for item in value] if isinstance(value, list | tuple) else value


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_loss(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and _is_number(pair[1])
