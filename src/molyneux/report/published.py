"""Published results: numbers from papers and public leaderboards, with their source and protocol, to compare own numbers with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from molyneux.core import Score, about_names
from molyneux.report import wording
from molyneux.report.settings import steps_of, world_of
from molyneux.report.wording import write_count

_FILES = ("cdsprites.json", "ynoc.json", "pos.json")
FEWEST_STEPS = 5000
"""Runs of fewer optimiser steps are first looks and not set beside published numbers, which come from whole trainings."""

Place = tuple[str, tuple[tuple[str, wording.Value], ...]]
"""Name of a score and its sorted `about`."""


@dataclass(frozen=True)
class Figure:
    """A published number.

    Args:
        mean: over seeds.
        sd: standard deviation over seeds, where given.
        step: one unit of the last printed digit; the number before rounding lies within half of it.
    """

    mean: float
    sd: float | None = None
    step: float = 0.0

    @property
    def text(self) -> str:
        """As it was printed: `52 (3)`, `1.3`."""
        return f"{self.mean:g}" if self.sd is None else f"{self.mean:g} ({self.sd:g})"


@dataclass(frozen=True)
class PublishedResults:
    """A published table for one level of a world, or for a world without levels.

    Args:
        source: who published it, and where.
        protocol: how the protocol, the models and the readers differ from ours.
        chance: how the numbers compare with chance.
        seeds: number of runs behind each number.
        models: names of models, or of variants of one, in the published order.
        figures: the numbers by model and by place.
        variants: whether the models are variants of one class, so that the class does not identify them.
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
        """The published number of a model for the same measure as `score`; None where there is none."""
        return self.figures.get(model, {}).get(_place(score.name, score.about))

    def best(self, score: Score) -> tuple[str, Figure] | None:
        """The best published model and its number for the same measure as `score`; None where higher is not better."""
        if not score.higher_is_better:
            return None
        known = [(model, figure) for model in self.models if (figure := self.figure(model, score)) is not None]
        return max(known, key=lambda pair: pair[1].mean, default=None)

    @property
    def notes(self) -> tuple[str, str, str]:
        """Source, protocol and chance: sentences to print below every table that shows these numbers."""
        return (f"Published: {self.source}", self.protocol, self.chance)


def published(world: str, level: str) -> PublishedResults | None:
    """The published results for a level of a world, such as `published("cdsprites", "3")`; None where there are none.

    For a world without levels, `level` is empty.
    """
    for name in _FILES:
        record = json.loads(resources.files(__package__).joinpath("published_results", name).read_text(encoding="utf-8"))
        if record["world"] == world and level in record["levels"]:
            return _results(record, level)
    return None


def published_beside(settings: Mapping[str, Any], scores: Sequence[Score]) -> tuple[PublishedResults | None, str]:
    """The published results to show beside scores, and a sentence where they are left out because training was short.

    Published numbers are of worlds with default settings, on the test split: they are shown only if the origin of every score
    records both, and if the model was trained for at least `FEWEST_STEPS` steps or their number is not recorded.

    Args:
        settings: settings of a run, under dotted names.
        scores: the scores that would stand beside the published numbers.
    """
    origins = [score.origin for score in scores if score.origin]
    same = all(origin.get("split") == "test" and origin.get("changed") == [] for origin in origins)
    results, steps = published(*world_of(settings, scores)) if origins and same else None, steps_of(settings)
    if results is None or steps is None or steps >= FEWEST_STEPS:
        return results, ""
    short = f"{write_count(steps)} optimiser steps, fewer than {write_count(FEWEST_STEPS)}"
    return None, f"Published results are left out: this is a training of {short}."


def _results(record: Mapping[str, Any], level: str) -> PublishedResults:
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
    return PublishedResults(**head, models=tuple(record["models"]), figures=figures, variants=record.get("variants", False))


def _step(numbers: Sequence[float]) -> float:
    """One unit of the last digit of the most precise number of a column."""
    return 10.0 ** -max((len(f"{number:g}".partition(".")[2]) for number in numbers), default=0)


def _place(name: str, about: Mapping[str, Any]) -> Place:
    """Place of a number; the source of joint views has one name, and the order of several targets does not matter."""
    named = {key: about_names(wording.names_of(value)) for key, value in about.items()}
    if wording.is_joint(named):
        named["source"] = "prior"
    if "target" in named:
        named["target"] = about_names(sorted(wording.names_of(named["target"])))
    return name, tuple(sorted(named.items()))
