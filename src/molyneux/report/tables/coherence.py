"""The coherence tables: every direction beside guessing, the best constant answer, the judge's ceiling and published numbers."""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.numbers import write_count
from molyneux.report.published import Leaderboard
from molyneux.report.tables.scores import DIRECTION, FACTOR, MEASURE, Extra, score_table
from molyneux.report.tables.table import Entry, Table

_ORDER = ("coherence.strict", "coherence.strict_forced", "coherence.features", "coherence.letters")
_TITLE = "How much meaning is carried"
_MEANING = (
    "Strict: every factor is right. Features: how many are. Letters: equal characters at equal places. "
    "Forced choice: the judge may not call a view unreadable, as in published evaluations. "
    "Judge ceiling: what the same reader reads in true views. Intervals: 95 %."
)


def coherence_scores(scores: Sequence[Score]) -> list[Score]:
    """Strict, Features and Letters of whole views, direction by direction: fewest senses first, joint last."""
    return _ordered([score for score in scores if score.name in _ORDER and not _about(score)])


def factor_scores(scores: Sequence[Score]) -> list[Score]:
    """The scores of single factors, direction by direction."""
    return _ordered([score for score in scores if score.name == "coherence.accuracy" and _about(score) == {"factor"}])


def coherence_table(scores: Sequence[Score], leaderboard: Leaderboard | None = None) -> Table | None:
    """How much meaning each direction carries, beside what was published; None if nothing was measured."""
    extras = [_published(leaderboard, model) for model in leaderboard.models] if leaderboard else []
    return _table(scores, extras, leaderboard.notes if leaderboard else ())


def coherence_summary(scores: Sequence[Score], leaderboard: Leaderboard | None = None) -> Table | None:
    """The same in fewer columns: the number of samples in a note, and of the published numbers only the best of each row."""
    extras = [Extra("published best", lambda score: _best(leaderboard, score))] if leaderboard else []
    notes = [f"Published best: {leaderboard.title}, by another protocol; the report says how."] if leaderboard else []
    counts = sorted({score.n for score in coherence_scores(scores)})
    samples = " to ".join(write_count(count) for count in counts[:: max(1, len(counts) - 1)])
    table = _table(scores, extras, (f"Samples: {samples}.", *notes))
    return table.without("n") if table else None


def _table(scores: Sequence[Score], extras: Sequence[Extra], notes: Sequence[str]) -> Table | None:
    chosen, heads = coherence_scores(scores), (DIRECTION, MEASURE)
    if not chosen:
        return None
    return score_table("coherence", _TITLE, chosen, heads=heads, extras=extras, notes=(_MEANING, *notes), drawn=True)


def factor_table(scores: Sequence[Score]) -> Table | None:
    """Which factors are carried in which direction; None if nothing was measured."""
    chosen = factor_scores(scores)
    return score_table("factors", "Which factors are carried, %", chosen, heads=(DIRECTION, FACTOR)) if chosen else None


def _published(leaderboard: Leaderboard, model: str) -> Extra:
    def entry(score: Score) -> Entry:
        figure = leaderboard.figure(model, score)
        return Entry("–", tone="muted") if figure is None else Entry(figure.text, value=figure.mean, tone="muted")  # noqa: RUF001

    return Extra(f"{model} published", entry)


def _best(leaderboard: Leaderboard, score: Score) -> Entry:
    best = leaderboard.best(score)
    if best is None:
        return Entry("–", tone="muted")  # noqa: RUF001
    return Entry(f"{best[1].mean:g}", best[0], best[1].mean, tone="muted")


def _about(score: Score) -> set[str]:
    return set(score.about) - {"source", "target"}


def _ordered(scores: Sequence[Score]) -> list[Score]:
    """Direction by direction: fewest senses first, joint last, otherwise as measured; within one, strict first."""
    seen = list(dict.fromkeys(wording.direction(score) for score in scores))

    def rank(score: Score) -> tuple[bool, int, int, int]:
        measure = _ORDER.index(score.name) if score.name in _ORDER else 0
        senses = (score.about.get("source", "") + score.about.get("target", "")).count("+")
        return wording.is_joint(score.about), senses, seen.index(wording.direction(score)), measure

    return sorted(scores, key=rank)
