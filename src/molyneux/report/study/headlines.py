"""What a study found, in sentences: for every level and direction the best group beside guessing and the published best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from molyneux.report import wording
from molyneux.report.numbers import MISSING, places, write, write_interval
from molyneux.report.page import Headline
from molyneux.report.published import Leaderboard
from molyneux.report.study.groups import Key, label
from molyneux.report.study.parts import Part
from molyneux.report.study.seeds import OverSeeds, above, over_seeds
from molyneux.report.study.tables import OVER_SEEDS, best_figure, entry_of, marks_used, reference_of
from molyneux.report.tables import Column, Entry, Strip, Table


@dataclass(frozen=True)
class Finding:
    """The best group of a part in one direction.

    Args:
        about: part and direction.
        best: its label.
        alone: whether there is no other group.
        over: its strict coherence over seeds.
        leaderboard: published numbers of the part.
    """

    about: str
    best: str
    alone: bool
    over: OverSeeds
    leaderboard: Leaderboard | None

    @property
    def number(self) -> str:
        """The mean."""
        return write(self.over.mean, self.decimals)

    @property
    def decimals(self) -> int:
        """Digits after the point."""
        return places(self.over.first)


def study_headlines(parts: Sequence[Part]) -> tuple[Headline, ...]:
    """One headline for each part and direction of strict coherence."""
    return tuple(Headline(found.about, f"{found.number} %", _sentence(found), _strip(found.over)) for found in findings(parts))


def findings_table(parts: Sequence[Part]) -> Table:
    """The headlines as a table: the best group for each part and direction, beside the published best and guessing."""
    rows = [
        (
            Entry(found.about),
            entry_of(found.over, None, found.leaderboard),
            Entry(found.best),
            Entry(_published(found) or MISSING, tone="muted"),
            reference_of(found.over, found.over.chance),
        )
        for found in findings(parts)
    ]
    heads = (Column("", "left"), Column("strict, %"), Column("of", "left"), Column("best published", "left"), Column("guessing"))
    return Table("findings", "The best model's strict coherence", heads, tuple(rows), (*marks_used(rows), OVER_SEEDS))


def findings(parts: Sequence[Part]) -> tuple[Finding, ...]:
    """The best group for each part and direction of strict coherence."""
    found = [_finding(part, key) for part in parts for key in part.main if key[0] == "coherence.strict"]
    return tuple(finding for finding in found if finding is not None)


def _finding(part: Part, key: Key) -> Finding | None:
    candidates = [(over_seeds(scores), group) for group in part.groups if (scores := group.scores(key))]
    known = [(over.mean, over, group) for over, group in candidates if over.mean is not None]
    if not known:
        return None
    _, over, group = max(known, key=lambda item: item[0])
    about = part.titled(wording.direction(over.first)) if part.title else wording.direction(over.first)
    return Finding(about, label(group, part.axes), len(part.groups) == 1, over, part.leaderboard)


def _sentence(found: Finding) -> str:
    over, count = found.over, len(found.over.values)
    interval = (
        f" ({write_interval(over.interval, found.decimals)} over {count} seed{'s' if count > 1 else ''})" if over.interval else ""
    )
    parts = [f"{'' if found.alone else 'Best is '}{found.best} with {found.number} %{interval}"]
    if over.chance is not None:
        parts.append(f"guessing gives {write(over.chance, found.decimals)} %")
    figure, limit = _published(found), best_figure(found.leaderboard, over.first)
    if figure and limit is not None:
        verdict = {True: "intervals apart", False: "which is better", None: "intervals not apart"}[above(over, limit)]
        parts.append(f"the best published number is {figure}, {verdict}")
    return "; ".join(parts) + "."


def _published(found: Finding) -> str:
    """The best published number and whose it is; empty where there is none."""
    figure = found.leaderboard.best(found.over.first) if found.leaderboard else None
    return f"{figure[1].text} % ({figure[0]})" if figure else ""


def _strip(over: OverSeeds) -> Strip | None:
    low, high = over.first.bounds
    if low is None or high is None or over.mean is None:
        return None
    ceiling = next((value for name, value in over.controls.items() if "ceiling" in name), None)
    return Strip(over.mean, low, high, over.interval, over.chance, ceiling)
