"""Where a study does not get there: results that guessing or a published model also reaches."""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.report import wording
from molyneux.report.numbers import places, write, write_interval
from molyneux.report.study.groups import Group, Key, label
from molyneux.report.study.parts import Part
from molyneux.report.study.seeds import OverSeeds, above, over_seeds
from molyneux.report.study.tables import best_figure, is_at_chance
from molyneux.report.tables import Column, Entry, Table
from molyneux.report.tables.table import INTERVAL


def shortfall_table(parts: Sequence[Part]) -> Table | None:
    """Every group and direction whose strict coherence is not clearly above guessing and above the best published number."""
    rows = [row for part in parts for key in part.main if key[0] == "coherence.strict" for row in _rows(part, key)]
    if not rows:
        return None
    titles = ("part", "runs", "direction", f"Strict, %{INTERVAL}", "why")
    columns = tuple(Column(title, "right" if "Strict" in title else "left") for title in titles)
    return Table("shortfalls", "Not clearly above guessing and the best published number", columns, tuple(rows))


def _rows(part: Part, key: Key) -> list[tuple[Entry, ...]]:
    found = [(group, over_seeds(scores)) for group in part.groups if (scores := group.scores(key))]
    return [_row(part, group, over, why) for group, over in found if (why := _why(part, over))]


def _row(part: Part, group: Group, over: OverSeeds, why: str) -> tuple[Entry, ...]:
    decimals = places(over.first)
    detail = write_interval(over.interval, decimals) if over.interval else ""
    number = Entry(write(over.mean, decimals), detail, over.mean, over.interval)
    return (
        Entry(part.title),
        Entry(label(group, part.axes)),
        Entry(wording.direction(over.first)),
        number,
        Entry(why, tone="muted"),
    )


def _why(part: Part, over: OverSeeds) -> str:
    decimals = places(over.first)
    if over.mean is None:
        return f"not measured: {over.first.note}"
    if is_at_chance(over):
        return f"not above guessing ({write(over.chance, decimals)})"
    figure = best_figure(part.leaderboard, over.first)
    best = part.leaderboard.best(over.first) if part.leaderboard else None
    if figure is None or best is None or above(over, figure):
        return ""
    how = "below" if above(over, figure) is False else "not apart from"
    return f"{how} the best published number ({best[0]}, {best[1].text})"
