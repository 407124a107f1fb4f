"""Records from elsewhere: a number that somebody else measured or published, as one line of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from molyneux.core import ConfigError, nearest, store
from molyneux.core.config import build
from molyneux.report.leaderboard.protocol import LeaderboardTask
from molyneux.report.study.groups import Key

_STATED = ("level", "source", "split", "world")
"""What `origin` says of the place of a record; its other entries must be those of the protocol."""


@dataclass(frozen=True, kw_only=True)
class ForeignRecord:
    """One number from elsewhere, a line of the file that `molyneux leaderboard --add` reads.

    `{"name": "MyVAE", "score": "coherence.strict", "value": 71.2, "about": {"source": "text", "target": "image"},
    "origin": {"source": "https://example.org/paper, table 3", "world": "cdsprites-v1", "level": 2}}`

    Args:
        name: of the model.
        score: name of the score, as in our records.
        value: the number, or the mean over seeds, in the unit of the score.
        origin: `source`, which says who measured it and where; `world` with its version; `level` of worlds that have levels;
            `split`, by default `test`. Whatever else it says of the protocol, such as `samples` or `package`, must be so in a
            table for the record to be shown there.
        about: what the score is about, as in our records.
        interval: its 95 % interval.
        seeds: number of trainings behind it.
        seconds: of one training, where they are known.
        processor_seconds: of one training, where they are known.

    Raises:
        ConfigError: a number is not finite, the interval does not hold the value, or the origin lacks `source` or `world`.
    """

    name: str
    score: str
    value: float
    origin: Mapping[str, Any]
    about: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    interval: tuple[float, float] | None = None
    seeds: int = 1
    seconds: float | None = None
    processor_seconds: float | None = None

    def __post_init__(self) -> None:
        problems = [f"{what}: expected some text, got none" for what in ("name", "score") if not getattr(self, what).strip()]
        if not math.isfinite(self.value):
            problems.append(f"value: expected a finite number, got {self.value}")
        if self.interval is not None and not self.interval[0] <= self.value <= self.interval[1]:
            problems.append(f"interval: expected one that holds the value {self.value}, got {list(self.interval)}")
        if self.seeds < 1:
            problems.append(f"seeds: expected at least 1, got {self.seeds}")
        for what, words in {"source": "who measured it, and where", "world": "on which data, such as cdsprites-v1"}.items():
            if not str(self.origin.get(what) or "").strip():
                problems.append(f"origin.{what}: is missing: say {words}")
        if problems:
            raise ConfigError(problems)

    @property
    def source(self) -> str:
        """Who measured it, and where."""
        return str(self.origin["source"])

    @property
    def key(self) -> Key:
        """Name and `about` of the score."""
        return self.score, tuple(sorted(self.about.items()))

    def fits(self, task: LeaderboardTask) -> bool:
        """Whether nothing that the record says contradicts the protocol of a task."""
        stated = (str(self.origin["world"]), str(self.origin.get("level", "")), str(self.origin.get("split", "test")))
        details = task.details
        said = {name: value for name, value in self.origin.items() if name not in _STATED}
        return task.key == self.key and task.place == stated and all(details.get(name) == value for name, value in said.items())


def read_foreign(path: Path | str) -> list[ForeignRecord]:
    """The records in a file of JSON lines.

    Raises:
        StoreError: the file is not there. CorruptFileError: it cannot be read as text.
        ConfigError: with every problem of every line, such as one that is not JSON.
    """
    path = Path(path)
    found, problems = list[ForeignRecord](), list[str]()
    for number, line in enumerate(store.read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(build(ForeignRecord, _object(line)).value)
        except ConfigError as error:
            problems += [f"{path}, line {number}: {problem}" for problem in error.problems]
    if problems:
        raise ConfigError(problems)
    return found


def _object(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ConfigError([f"expected one JSON object, got {line[:40]!r} ({error})"]) from error
    if not isinstance(record, dict):
        raise ConfigError([f"expected one JSON object, got {line[:40]!r}"])
    return record


def unplaced(records: Sequence[ForeignRecord], tasks: Sequence[LeaderboardTask]) -> list[str]:
    """A sentence for each record that has a place in no table."""
    return [_why(record, tasks) for record in records if not any(record.fits(task) for task in tasks)]


def _why(record: ForeignRecord, tasks: Sequence[LeaderboardTask]) -> str:
    about = f"{record.name!r} from {record.source}"
    names = {task.key[0] for task in tasks}
    if record.score not in names:
        return f"{about}: no table ranks {record.score!r}; {nearest(record.score, names)}"
    same = [task for task in tasks if task.key == record.key]
    if not same:
        known = sorted({str(task.about) for task in tasks if task.key[0] == record.score})
        return f"{about}: no table ranks {record.score} about {dict(record.about)}; known: {', '.join(known)}"
    places = sorted({f"{task.world} level {task.level or 'none'} {task.split}" for task in same})
    return f"{about}: its origin {dict(record.origin)} fits no table of {record.score}; tables: {', '.join(places)}"
