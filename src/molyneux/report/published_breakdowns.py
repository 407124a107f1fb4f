"""Published breakdowns: which samples stand behind each row of a paper's table, and the paper's numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import product
from typing import Any

from molyneux.report.settings import short

_FILES = ("shapeworld.json",)

Cell = tuple[tuple[str, ...], tuple[str, ...]]
"""Factors and a value of each: one accuracy of the measure `breakdown`."""


@dataclass(frozen=True)
class NamedRow:
    """A row of a published table.

    Args:
        title: as in the paper.
        parts: groups of accuracies by the values of factors; none stands for all samples.
        each: whether every group counts once, instead of every sample.
        published: numbers of each model, by the name that our variant of it has, one for each split.
    """

    title: str
    parts: tuple[tuple[Cell, ...], ...]
    each: bool
    published: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class NamedBreakdown:
    """A published table of accuracies by kinds of samples.

    Args:
        title: line above the table.
        settings: of the world, by the last part of their dotted names: for which runs the table is.
        rows: in their order; none where all values of `factors` are shown.
        factors: names of factors.
        models: names of the published models, by the names that our variants of them have.
        splits: names of the splits, in their order.
        notes: source and protocol, where there are published numbers.
    """

    title: str
    settings: Mapping[str, str]
    rows: tuple[NamedRow, ...]
    factors: tuple[str, ...]
    models: Mapping[str, str]
    splits: tuple[str, ...]
    notes: tuple[str, ...]

    def fits(self, settings: Mapping[str, Any]) -> bool:
        """Whether the table is for a run of these settings, under dotted names."""
        world = "data.world.init_args."
        return all(short(settings.get(f"{world}{name}")) == value for name, value in self.settings.items())


def named_breakdowns(world: str) -> tuple[NamedBreakdown, ...]:
    """The published tables of a world, such as `named_breakdowns("shapeworld")`."""
    for name in _FILES:
        record = json.loads(resources.files(__package__).joinpath("published_results", name).read_text(encoding="utf-8"))
        if record["world"] == world:
            return tuple(_breakdown(record, table) for table in record["tables"])
    return ()


def _breakdown(record: Mapping[str, Any], table: Mapping[str, Any]) -> NamedBreakdown:
    rows = tuple(
        NamedRow(
            row["title"],
            tuple(_cells(values) for values in row["of"]),
            row.get("each", False),
            {model: tuple(numbers) for model, numbers in row["published"].items()},
        )
        for row in table.get("rows", ())
    )
    notes = (f"Published: {record['source']}", record["protocol"]) if rows else ()
    splits, factors = tuple(record["splits"]), tuple(table.get("factors", ()))
    return NamedBreakdown(table["title"], table["settings"], rows, factors, record["models"], splits, notes)


def _cells(values: Mapping[str, Sequence[str]]) -> tuple[Cell, ...]:
    """The accuracies that belong to some values of factors: one for each combination."""
    return tuple((tuple(values), combination) for combination in product(*values.values()))
