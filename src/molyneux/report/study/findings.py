"""Main results of a study: the best group in every direction, results that are not clearly better, and drawings of all groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from molyneux.report import wording
from molyneux.report.numbers import MISSING, write, write_interval
from molyneux.report.page import Drawings, Headline
from molyneux.report.plots import DotRow, Panel, Scale, dot_panel
from molyneux.report.study.groups import Group, Key, Part
from molyneux.report.study.seeds import OverSeeds, above, best_of, over_seeds, published_interval
from molyneux.report.study.tables import OVER_SEEDS, best_figure, entry_of, is_at_chance, marks_used
from molyneux.report.tables import Column, Entry, Strip, Table
from molyneux.report.tables.table import DASH, INTERVAL, ceiling, reference_entry

_KEYS = (
    ("dot", "mean over seeds with its 95 % interval, seeds as small dots"),
    ("ring", "published, with its interval"),
    ("chance", "chance"),
    ("ceiling", "judge ceiling"),
)


@dataclass(frozen=True)
class Finding:
    """The best groups of a part in one direction.

    Args:
        about: part and direction.
        best: labels of the groups with the highest mean, as it is written.
        close: labels of the groups whose means are lower but not apart from it.
        over: strict coherence of the first of the best groups over its seeds.
        part: the part.
    """

    about: str
    best: tuple[str, ...]
    close: tuple[str, ...]
    over: OverSeeds
    part: Part


def study_headlines(parts: Sequence[Part]) -> tuple[Headline, ...]:
    """One headline for each part and direction of strict coherence."""
    return tuple(Headline(item.about, f"{item.over.written} %", _sentence(item), _strip(item.over)) for item in findings(parts))


def findings_table(parts: Sequence[Part]) -> Table:
    """The headlines as a table: the best groups for each part and direction, beside the best published number and chance."""
    rows = [
        (
            Entry(item.about),
            entry_of(item.over, item.part.published),
            Entry(", ".join(item.best)),
            Entry(", ".join(item.close), tone="muted") if item.close else DASH,
            Entry(_published_text(item) or MISSING, tone="muted"),
            reference_entry(item.over.first, item.over.chance),
        )
        for item in findings(parts)
    ]
    heads = ("", "strict, %", "of", "not apart from it", "best published", "guessing")
    columns = tuple(Column(head, "right" if head in ("strict, %", "guessing") else "left") for head in heads)
    notes = (*marks_used(rows), OVER_SEEDS)
    return Table("findings", "Strict coherence of the best models", columns, tuple(rows), notes)


def findings(parts: Sequence[Part]) -> tuple[Finding, ...]:
    """The best groups for each part and direction of strict coherence."""
    found = [_finding(part, key) for part in parts for key in part.strict]
    return tuple(finding for finding in found if finding is not None)


def _finding(part: Part, key: Key) -> Finding | None:
    column = part.column(key)
    top = best_of(column)
    if not top:
        return None
    names = {id(cell): part.label(group) for group, cell in zip(part.groups, column, strict=True)}
    best = tuple(names[id(cell)] for cell in top if cell.written == top[0].written)
    close = tuple(names[id(cell)] for cell in top if cell.written != top[0].written)
    direction = wording.direction(top[0].first)
    return Finding(part.titled(direction) if part.title else direction, best, close, top[0], part)


def _sentence(finding: Finding) -> str:
    over, count = finding.over, len(finding.over.values)
    seeds = f"{count} seed{'s' if count > 1 else ''}"
    interval = f" ({write_interval(over.interval, over.decimals)} over {seeds})" if over.interval else ""
    alone = len(finding.part.groups) == 1
    names = " and ".join(part for part in (", ".join(finding.best[:-1]), finding.best[-1]) if part)
    parts = [f"{'' if alone else 'Equal are ' if len(finding.best) > 1 else 'Best is '}{names} with {over.written} %{interval}"]
    if finding.close:
        parts[0] = parts[0].replace("Best is ", "The highest mean has ", 1)
        parts.append(f"not apart from it: {', '.join(finding.close)}")
    if over.chance is not None:
        parts.append(f"guessing gives {write(over.chance, over.decimals)} %")
    limit = best_figure(finding.part.published, over.first)
    if limit is not None:
        verdict = {True: "intervals apart", False: "which is better", None: "intervals not apart"}[above(over, limit)]
        parts.append(f"the best published number is {_published_text(finding)}, {verdict}")
    return "; ".join(parts) + "."


def _published_text(finding: Finding) -> str:
    """The best published number and whose it is; empty where there is none."""
    figure = finding.part.published.best(finding.over.first) if finding.part.published else None
    return f"{figure[1].text} % ({figure[0]})" if figure else ""


def _strip(over: OverSeeds) -> Strip | None:
    low, high = over.first.bounds
    if low is None or high is None or over.mean is None:
        return None
    return Strip(over.mean, low, high, over.interval, over.chance, ceiling(over.controls))


def shortfall_table(parts: Sequence[Part]) -> Table | None:
    """Every group and direction whose strict coherence is not clearly above chance and the best published number."""
    rows = [row for part in parts for key in part.strict for row in _shortfall_rows(part, key)]
    if not rows:
        return None
    titles = ("part", "runs", "direction", f"Strict, %{INTERVAL}", "why")
    columns = tuple(Column(title, "right" if "Strict" in title else "left") for title in titles)
    return Table("shortfalls", "Not clearly above guessing and the best published number", columns, tuple(rows))


def _shortfall_rows(part: Part, key: Key) -> list[tuple[Entry, ...]]:
    rows = []
    for group in part.groups:
        over = group.over(key)
        if over is None or not (why := _reason(part, over)):
            continue
        texts = (part.title, part.label(group), wording.direction(over.first))
        rows.append((*map(Entry, texts), replace(entry_of(over, None), text=over.written), Entry(why, tone="muted")))
    return rows


def _reason(part: Part, over: OverSeeds) -> str:
    if over.mean is None:
        return f"not measured: {over.first.note}"
    if is_at_chance(over):
        return f"not above guessing ({write(over.chance, over.decimals)})"
    figure = best_figure(part.published, over.first)
    best = part.published.best(over.first) if part.published else None
    if figure is None or best is None or above(over, figure):
        return ""
    how = "below" if above(over, figure) is False else "not apart from"
    return f"{how} the best published number ({best[0]}, {best[1].text})"


def strict_drawings(part: Part) -> Drawings | None:
    """One panel per direction; None where strict coherence was not measured."""
    panels = [_panel(part, key) for key in part.strict]
    keys = _KEYS if part.published else tuple(key for key in _KEYS if key[0] != "ring")
    return Drawings("", tuple(panels), keys) if panels else None


def _panel(part: Part, key: Key) -> Panel:
    over = over_seeds([score for group in part.groups for score in group.scores(key)])
    direction = wording.direction(over.first)
    rows = [_dot_row(part, group, own) for group in part.groups if (own := group.over(key)) is not None]
    scale = Scale(0.0, 100.0, over.chance, ceiling(over.controls))
    return dot_panel(part.identifier("strict", direction), f"{direction}, Strict, %", rows, scale)


def _dot_row(part: Part, group: Group, over: OverSeeds) -> DotRow:
    results = part.published
    figure = results.figure(group.published_as(results), over.first) if results else None
    published = (figure.mean, published_interval(figure, results.seeds, over.first)) if figure and results else None
    return DotRow(part.label(group), over.values, over.mean, over.interval, published)
