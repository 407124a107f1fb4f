"""What a study found, in sentences: for every level and direction the best group beside guessing and the published best."""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.report import wording
from molyneux.report.numbers import places, write, write_interval
from molyneux.report.page import Headline
from molyneux.report.study.groups import Group, Key, label
from molyneux.report.study.parts import Part
from molyneux.report.study.seeds import OverSeeds, above, over_seeds
from molyneux.report.study.tables import best_figure
from molyneux.report.tables import Strip


def study_headlines(parts: Sequence[Part]) -> tuple[Headline, ...]:
    """One headline for each part and direction of strict coherence."""
    found = [_headline(part, key) for part in parts for key in part.main if key[0] == "coherence.strict"]
    return tuple(headline for headline in found if headline is not None)


def _headline(part: Part, key: Key) -> Headline | None:
    candidates = [(over_seeds(scores), group) for group in part.groups if (scores := group.scores(key))]
    known = [(over.mean, over, group) for over, group in candidates if over.mean is not None]
    if not known:
        return None
    mean, over, group = max(known, key=lambda item: item[0])
    decimals = places(over.first)
    number = f"{write(mean, decimals)} %"
    about = part.titled(wording.direction(over.first)) if part.title else wording.direction(over.first)
    return Headline(about, number, _sentence(part, over, group, number), _strip(over, mean))


def _sentence(part: Part, over: OverSeeds, group: Group, number: str) -> str:
    decimals = places(over.first)
    count = len(over.values)
    interval = (
        f" ({write_interval(over.interval, decimals)} over {count} seed{'s' if count > 1 else ''})" if over.interval else ""
    )
    best = "Best is " if len(part.groups) > 1 else ""
    parts = [f"{best}{label(group, part.axes)} with {number}{interval}"]
    if over.chance is not None:
        parts.append(f"guessing gives {write(over.chance, decimals)} %")
    figure = part.leaderboard.best(over.first) if part.leaderboard else None
    limit = best_figure(part.leaderboard, over.first)
    if figure is not None and limit is not None:
        verdict = {True: "intervals apart", False: "which is better", None: "intervals not apart"}[above(over, limit)]
        parts.append(f"the best published number is {figure[1].text} % ({figure[0]}), {verdict}")
    return "; ".join(parts) + "."


def _strip(over: OverSeeds, mean: float) -> Strip | None:
    low, high = over.first.bounds
    if low is None or high is None:
        return None
    ceiling = next((value for name, value in over.controls.items() if "ceiling" in name), None)
    return Strip(mean, low, high, over.interval, over.chance, ceiling)
