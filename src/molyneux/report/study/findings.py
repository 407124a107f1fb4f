"""What a study found: the best of its settings in each part, as cards, a sentence and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from molyneux.core import Score
from molyneux.core.reader import read_earlier
from molyneux.report import wording
from molyneux.report.choice_scores import is_choice
from molyneux.report.page import Headline
from molyneux.report.settings import train_overlap_of
from molyneux.report.study.choice_panels import choice_about
from molyneux.report.study.groups import Key, StudyPart
from molyneux.report.study.seeds import OverSeeds, above, best_of
from molyneux.report.study.tables import OVER_SEEDS, best_figure, entry_of, marks_used
from molyneux.report.tables import Column, Entry, Strip, Table
from molyneux.report.tables.table import DASH, ceiling, reference_entry
from molyneux.report.wording import MISSING, write, write_interval


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
    part: StudyPart


def study_headlines(parts: Sequence[StudyPart]) -> tuple[Headline, ...]:
    """One headline for each part and direction of strict coherence; of a part without it, for its first score."""
    return tuple(map(_headline, _leading(parts)))


def study_answer(parts: Sequence[StudyPart]) -> str:
    """Which settings are best, by the first result of a study, in one sentence; empty where nothing has a better direction."""
    found = _leading(parts)
    if not found:
        early = any(read_earlier(score) for part in parts for score in part.scores)
        return "An earlier reader read these views: the numbers are history, and nothing is concluded from them." if early else ""
    item, over = found[0], found[0].over
    several = len(item.part.groups) > 1
    who = wording.listed(item.best[:4]) if several else "It"
    if over.score.is_guessed:
        highest = "highest" if over.first.higher_is_better else "lowest"
        does = ("are equal, with" if len(item.best) > 1 else f"has the {highest} mean,") if several else "reaches"
        guess = ", no better than guessing"
    else:
        does = ("are equal, with" if len(item.best) > 1 else "is best, with") if several else "reaches"
        guess = "" if over.chance is None else ", guessing"
    guess += "" if over.chance is None else f"{',' * over.score.is_guessed} {write(over.chance, over.decimals)}{_unit(over)}"
    near = f" {len(item.close)} {'others are' if len(item.close) > 1 else 'other is'} not apart from it." if item.close else ""
    return f"{who} {does} {over.written}{_unit(over)}{guess} ({item.about}).{near}"


def _leading(parts: Sequence[StudyPart]) -> list[Finding]:
    found = [_finding(part, key) for part in parts for key in part.strict or part.leading]
    return [finding for finding in found if finding is not None]


def _headline(item: Finding) -> Headline:
    note = "" if wording.is_joint(item.over.first.about) else train_overlap_of(item.part.scores)
    return Headline(item.about, f"{item.over.written}{_unit(item.over)}", _sentence(item), _strip(item.over), note)


def findings_table(parts: Sequence[StudyPart]) -> Table:
    """The headlines as a table: the best groups for each part and direction, beside the best published number and chance."""
    rows = [
        (
            Entry(item.about),
            entry_of(item.over, item.part.published),
            Entry(named(item.best)),
            Entry(named(item.close), tone="muted") if item.close else DASH,
            Entry(_published_text(item) or MISSING, tone="muted"),
            reference_entry(item.over.first, item.over.chance),
        )
        for item in findings(parts)
    ]
    heads = ("", "strict, %", "of", "not apart from it", "best published", "guessing")
    columns = tuple(Column(head, "right" if head in ("strict, %", "guessing") else "left") for head in heads)
    notes = (*marks_used(rows), OVER_SEEDS)
    return Table("findings", "Strict coherence of the best models", columns, tuple(rows), notes)


def named(labels: Sequence[str]) -> str:
    """Labels in one line; of more than 30, the first ten and how many others there are."""
    return ", ".join(labels if len(labels) <= 30 else [*labels[:10], f"{len(labels) - 10:,} others"])


def findings(parts: Sequence[StudyPart]) -> tuple[Finding, ...]:
    """The best groups for each part and direction of strict coherence; none of what an earlier, unnamed reader read."""
    found = [_finding(part, key) for part in parts for key in part.strict]
    return tuple(finding for finding in found if finding is not None)


def _finding(part: StudyPart, key: Key) -> Finding | None:
    column = part.column(key)
    top = best_of(column)
    if not top or read_earlier(top[0].first):
        return None
    names = {id(cell): part.label(group) for group, cell in zip(part.groups, column, strict=True)}
    best = tuple(names[id(cell)] for cell in top if cell.written == top[0].written)
    close = tuple(names[id(cell)] for cell in top if cell.written != top[0].written)
    first = top[0].first
    what = _about(first)
    return Finding(part.titled(what) if part.title else what, best, close, top[0], part)


def _about(score: Score) -> str:
    if score.name == "coherence.strict":
        return wording.direction(score)
    if is_choice(score):
        return choice_about(score)
    return ", ".join(part for part in (wording.measure(score), wording.subject(score)) if part)


def _sentence(finding: Finding) -> str:
    over, count, guessed = finding.over, len(finding.over.values), finding.over.score.is_guessed
    seeds = f"{count} seed{'s' if count > 1 else ''}"
    interval = f" ({write_interval(over.interval, over.decimals)} over {seeds})" if over.interval else ""
    *others, last = finding.best
    names = f"{named(others)} and {last}" if others else last
    highest = over.first.higher_is_better
    if others:
        claim = f"{names} are equal with"
    elif finding.close:
        claim = f"{names} has the {'highest' if highest else 'lowest'} mean,"
    else:
        best = f"{'Highest' if guessed and highest else 'Best'} is {names} with"
        claim = f"{names} with" if len(finding.part.groups) == 1 else best
    unit = _unit(over)
    parts = [f"{claim} {over.written}{unit}{interval}"]
    parts += [f"not apart from it: {named(finding.close)}"] if finding.close else []
    parts += ["this is not above guessing"] if guessed else []
    parts += ["this is not above the mean view"] if over.score.is_mean_view and not guessed else []
    if over.chance is not None:
        parts.append(f"guessing gives {write(over.chance, over.decimals)}{unit}")
    limit = best_figure(finding.part.published, over.first)
    if limit is not None:
        verdict = {True: "intervals apart", False: "which is better", None: "intervals not apart"}[above(over, limit)]
        parts.append(f"the best published number is {_published_text(finding)}, {verdict}")
    return "; ".join(parts) + "."


def _unit(over: OverSeeds) -> str:
    return " %" if over.first.unit == "%" else ""


def _published_text(finding: Finding) -> str:
    """The best published number and whose it is; empty where there is none."""
    figure = finding.part.published.best(finding.over.first) if finding.part.published else None
    return f"{figure[1].text} % ({figure[0]})" if figure else ""


def _strip(over: OverSeeds) -> Strip | None:
    low, high = over.first.bounds
    if low is None or high is None or over.mean is None:
        return None
    return Strip(over.mean, low, high, over.interval, over.chance, ceiling(over.controls))
