"""Main results of a study: the best group in every direction, results that are not clearly better, and drawings of all groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from molyneux.report import wording
from molyneux.report.numbers import MISSING, places, write, write_interval
from molyneux.report.page import Drawings, Headline
from molyneux.report.plots import DotRow, Panel, Scale, dot_panel
from molyneux.report.published import PublishedResults
from molyneux.report.settings import model_of
from molyneux.report.study.groups import Group, Key, Part, label
from molyneux.report.study.seeds import OverSeeds, above, over_seeds, published_interval
from molyneux.report.study.tables import OVER_SEEDS, best_figure, entry_of, is_at_chance, marks_used
from molyneux.report.tables import Column, Entry, Strip, Table
from molyneux.report.tables.entries import reference_entry
from molyneux.report.tables.table import INTERVAL

_KEYS = (
    ("dot", "mean over seeds with its 95 % interval, seeds as small dots"),
    ("ring", "published, with its interval"),
    ("chance", "chance"),
    ("ceiling", "judge ceiling"),
)


@dataclass(frozen=True)
class Finding:
    """The best group of a part in one direction.

    Args:
        about: part and direction.
        best: label of the group.
        alone: whether there is no other group.
        over: strict coherence of the group over its seeds.
        published: published results for the part.
    """

    about: str
    best: str
    alone: bool
    over: OverSeeds
    published: PublishedResults | None

    @property
    def number(self) -> str:
        """The mean as text."""
        return write(self.over.mean, self.decimals)

    @property
    def decimals(self) -> int:
        """Number of decimals of the mean."""
        return places(self.over.first)


def study_headlines(parts: Sequence[Part]) -> tuple[Headline, ...]:
    """One headline for each part and direction of strict coherence."""
    return tuple(Headline(item.about, f"{item.number} %", _sentence(item), _strip(item.over)) for item in findings(parts))


def findings_table(parts: Sequence[Part]) -> Table:
    """The headlines as a table: the best group for each part and direction, beside the best published number and chance."""
    rows = [
        (
            Entry(item.about),
            entry_of(item.over, None, item.published),
            Entry(item.best),
            Entry(_published_text(item) or MISSING, tone="muted"),
            reference_entry(item.over.first, item.over.chance),
        )
        for item in findings(parts)
    ]
    heads = (Column("", "left"), Column("strict, %"), Column("of", "left"), Column("best published", "left"), Column("guessing"))
    return Table("findings", "The best model's strict coherence", heads, tuple(rows), (*marks_used(rows), OVER_SEEDS))


def findings(parts: Sequence[Part]) -> tuple[Finding, ...]:
    """The best group for each part and direction of strict coherence."""
    best = [_finding(part, key) for part in parts for key in part.main if key[0] == "coherence.strict"]
    return tuple(finding for finding in best if finding is not None)


def _finding(part: Part, key: Key) -> Finding | None:
    candidates = [(over_seeds(scores), group) for group in part.groups if (scores := group.scores(key))]
    known = [(over.mean, over, group) for over, group in candidates if over.mean is not None]
    if not known:
        return None
    _, over, group = max(known, key=lambda item: item[0])
    about = part.titled(wording.direction(over.first)) if part.title else wording.direction(over.first)
    return Finding(about, label(group, part.axes), len(part.groups) == 1, over, part.published)


def _sentence(finding: Finding) -> str:
    over, count = finding.over, len(finding.over.values)
    interval = (
        f" ({write_interval(over.interval, finding.decimals)} over {count} seed{'s' if count > 1 else ''})"
        if over.interval
        else ""
    )
    parts = [f"{'' if finding.alone else 'Best is '}{finding.best} with {finding.number} %{interval}"]
    if over.chance is not None:
        parts.append(f"guessing gives {write(over.chance, finding.decimals)} %")
    figure, limit = _published_text(finding), best_figure(finding.published, over.first)
    if figure and limit is not None:
        verdict = {True: "intervals apart", False: "which is better", None: "intervals not apart"}[above(over, limit)]
        parts.append(f"the best published number is {figure}, {verdict}")
    return "; ".join(parts) + "."


def _published_text(finding: Finding) -> str:
    """The best published number and whose it is; empty where there is none."""
    figure = finding.published.best(finding.over.first) if finding.published else None
    return f"{figure[1].text} % ({figure[0]})" if figure else ""


def _strip(over: OverSeeds) -> Strip | None:
    low, high = over.first.bounds
    if low is None or high is None or over.mean is None:
        return None
    ceiling = next((value for name, value in over.controls.items() if "ceiling" in name), None)
    return Strip(over.mean, low, high, over.interval, over.chance, ceiling)


def shortfall_table(parts: Sequence[Part]) -> Table | None:
    """Every group and direction whose strict coherence is not clearly above chance and the best published number."""
    rows = [row for part in parts for key in part.main if key[0] == "coherence.strict" for row in _shortfall_rows(part, key)]
    if not rows:
        return None
    titles = ("part", "runs", "direction", f"Strict, %{INTERVAL}", "why")
    columns = tuple(Column(title, "right" if "Strict" in title else "left") for title in titles)
    return Table("shortfalls", "Not clearly above guessing and the best published number", columns, tuple(rows))


def _shortfall_rows(part: Part, key: Key) -> list[tuple[Entry, ...]]:
    measured = [(group, over_seeds(scores)) for group in part.groups if (scores := group.scores(key))]
    return [_shortfall_row(part, group, over, why) for group, over in measured if (why := _reason(part, over))]


def _shortfall_row(part: Part, group: Group, over: OverSeeds, why: str) -> tuple[Entry, ...]:
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


def _reason(part: Part, over: OverSeeds) -> str:
    decimals = places(over.first)
    if over.mean is None:
        return f"not measured: {over.first.note}"
    if is_at_chance(over):
        return f"not above guessing ({write(over.chance, decimals)})"
    figure = best_figure(part.published, over.first)
    best = part.published.best(over.first) if part.published else None
    if figure is None or best is None or above(over, figure):
        return ""
    how = "below" if above(over, figure) is False else "not apart from"
    return f"{how} the best published number ({best[0]}, {best[1].text})"


def strict_drawings(part: Part) -> Drawings | None:
    """One panel per direction; None where strict coherence was not measured."""
    panels = [_panel(part, key) for key in part.main if key[0] == "coherence.strict"]
    keys = _KEYS if part.published else tuple(key for key in _KEYS if key[0] != "ring")
    return Drawings("", tuple(panels), keys) if panels else None


def _panel(part: Part, key: Key) -> Panel:
    scored = [group for group in part.groups if group.scores(key)]
    over = over_seeds([score for group in scored for score in group.scores(key)])
    ceiling = next((value for name, value in over.controls.items() if "ceiling" in name), None)
    direction = wording.direction(over.first)
    rows = [_dot_row(part, group, key) for group in scored]
    return dot_panel(
        part.identifier("strict", direction), f"{direction}, Strict, %", rows, Scale(0.0, 100.0, over.chance, ceiling)
    )


def _dot_row(part: Part, group: Group, key: Key) -> DotRow:
    over, results = over_seeds(group.scores(key)), part.published
    figure = results.figure(model_of(group.runs[0].settings), over.first) if results else None
    published = (figure.mean, published_interval(figure, results.seeds, over.first)) if figure and results else None
    return DotRow(label(group, part.axes), over.values, over.mean, over.interval, published)
