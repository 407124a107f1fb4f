"""Numbers that others have published, kept as data with their source and what must be known to read them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from molyneux.core import Score
from molyneux.report import wording

_FILES = ("cdsprites.json", "ynoc.json", "pos.json")


Place = tuple[str, tuple[tuple[str, str], ...]]
"""Name of a score, and what it is about."""


@dataclass(frozen=True)
class Figure:
    """A published number.

    Args:
        mean: over seeds.
        sd: standard deviation over seeds, where given.
        step: one unit of the last digit that was printed; what was rounded lies within half of it.
    """

    mean: float
    sd: float | None = None
    step: float = 0.0

    @property
    def text(self) -> str:
        """As it was printed: `52 (3)`, `1.3`."""
        return f"{self.mean:g}" if self.sd is None else f"{self.mean:g} ({self.sd:g})"


@dataclass(frozen=True)
class Leaderboard:
    """A published table for one level of a world, or for a world without levels.

    Args:
        title: its name.
        source: who published it, and where.
        protocol: how it was measured differently.
        chance: what must be known about guessing.
        seeds: number of runs behind each number.
        models: names of models, or of variants of one, in the published order.
        figures: per model, per name of a score and what it is about, the number.
        variants: whether the models are variants of one class, so that its name alone says nothing of which of them a run is.
    """

    title: str
    source: str
    protocol: str
    chance: str
    seeds: int
    models: tuple[str, ...]
    figures: Mapping[str, Mapping[Place, Figure]]
    variants: bool = False

    def figure(self, model: str, score: Score) -> Figure | None:
        """What was published for a model where this score stands; None where nothing was."""
        return self.figures.get(model, {}).get(_place(score.name, score.about))

    def best(self, score: Score) -> tuple[str, Figure] | None:
        """The best published model where this score stands, if more of it is better."""
        if not score.higher_is_better:
            return None
        known = [(model, figure) for model in self.models if (figure := self.figure(model, score)) is not None]
        return max(known, key=lambda pair: pair[1].mean, default=None)

    @property
    def notes(self) -> tuple[str, str, str]:
        """Source, protocol and chance, to be printed below every table that shows these numbers."""
        return (f"Published: {self.source}", self.protocol, self.chance)


def published(world: str, level: str) -> Leaderboard | None:
    """The published table of a level of a world, such as `published("cdsprites", "3")`; None where there is none.

    The level of a world without levels is empty.
    """
    for name in _FILES:
        record = json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
        if record["world"] == world and level in record["levels"]:
            return _leaderboard(record, level)
    return None


def _leaderboard(record: Mapping[str, Any], level: str) -> Leaderboard:
    places = [_place(column["score"], column["about"]) for column in record["columns"]]
    rows = record["levels"][level]
    steps = [_step([number for row in rows.values() for number in row[column] or ()]) for column in range(len(places))]
    figures = {
        model: {
            place: Figure(numbers[0], numbers[1] if len(numbers) > 1 else None, step)
            for place, numbers, step in zip(places, row, steps, strict=True)
            if numbers is not None
        }
        for model, row in rows.items()
    }
    head = {name: record[name] for name in ("title", "source", "protocol", "chance", "seeds")}
    return Leaderboard(**head, models=tuple(record["models"]), figures=figures, variants=record.get("variants", False))


def _step(numbers: Sequence[float]) -> float:
    """One unit of the last digit that any number of a column has."""
    return 10.0 ** -max((len(f"{number:g}".partition(".")[2]) for number in numbers), default=0)


def _place(name: str, about: Mapping[str, str]) -> Place:
    """Where a number stands: joint views have one name, and the order of several targets says nothing."""
    told = {**about, "source": "prior"} if wording.is_joint(about) else dict(about)
    if "target" in told:
        told["target"] = "+".join(sorted(told["target"].split("+")))
    return name, tuple(sorted(told.items()))
