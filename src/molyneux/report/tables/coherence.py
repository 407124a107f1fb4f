"""Coherence tables: every direction beside chance, the best constant answer, the judge's ceiling and published numbers."""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.numbers import write_count
from molyneux.report.published import PublishedResults
from molyneux.report.tables.scores import DIRECTION, FACTOR, MEASURE, Extra, score_table
from molyneux.report.tables.table import DASH, Entry, Table

_ORDER = ("coherence.strict", "coherence.strict_forced", "coherence.features", "coherence.letters")
_TITLE = "How much of the meaning arrives"
_MEANING = (
    "Strict: every factor is right. Features: number of right factors. Letters: equal characters at equal places. "
    "Forced choice: the judge may not abstain, as in published evaluations. "
    "Judge ceiling: accuracy of the same reader on true views. Intervals: 95 %."
)


def coherence_scores(scores: Sequence[Score]) -> list[Score]:
    """Strict, Features and Letters of whole views, direction by direction: fewest modalities first, joint last."""
    return _ordered([score for score in scores if score.name in _ORDER and not _details(score)])


def factor_scores(scores: Sequence[Score]) -> list[Score]:
    """The accuracies of single factors, direction by direction."""
    return _ordered([score for score in scores if score.name == "coherence.accuracy" and _details(score) == {"factor"}])


def coherence_table(scores: Sequence[Score], published: PublishedResults | None = None) -> Table | None:
    """The coherence of every direction beside published numbers; None where it was not measured."""
    extras = [_published(published, model) for model in published.models] if published else []
    return _table(scores, extras, published.notes if published else ())


def coherence_summary(scores: Sequence[Score], published: PublishedResults | None = None) -> Table | None:
    """The same in fewer columns: the number of samples in a note, and of the published numbers only the best of each row."""
    extras = [Extra("published best", lambda score: _best(published, score))] if published else []
    notes = [f"Published best: {published.title}, by another protocol; the report says how."] if published else []
    counts = sorted({score.n for score in coherence_scores(scores)})
    samples = " to ".join(write_count(count) for count in counts[:: max(1, len(counts) - 1)])
    table = _table(scores, extras, (f"Samples: {samples}.", *notes))
    return table.without("n") if table else None


def factor_table(scores: Sequence[Score]) -> Table | None:
    """The accuracy of every factor in every direction; None where it was not measured."""
    chosen = factor_scores(scores)
    return score_table("factors", "Accuracy of each factor, %", chosen, heads=(DIRECTION, FACTOR)) if chosen else None


def _table(scores: Sequence[Score], extras: Sequence[Extra], notes: Sequence[str]) -> Table | None:
    chosen, heads = coherence_scores(scores), (DIRECTION, MEASURE)
    if not chosen:
        return None
    return score_table("coherence", _TITLE, chosen, heads=heads, extras=extras, notes=(_MEANING, *notes), drawn=True)


def _published(published: PublishedResults, model: str) -> Extra:
    def entry(score: Score) -> Entry:
        figure = published.figure(model, score)
        return DASH if figure is None else Entry(figure.text, value=figure.mean, tone="muted")

    return Extra(f"{model} published", entry)


def _best(published: PublishedResults, score: Score) -> Entry:
    best = published.best(score)
    return DASH if best is None else Entry(f"{best[1].mean:g}", best[0], best[1].mean, tone="muted")


def _details(score: Score) -> set[str]:
    return set(score.about) - {"source", "target"}


def _ordered(scores: Sequence[Score]) -> list[Score]:
    """Direction by direction: fewest modalities first, joint last, otherwise as measured; within one, strict first."""
    directions = list(dict.fromkeys(wording.direction(score) for score in scores))

    def rank(score: Score) -> tuple[bool, int, int, int]:
        measure = _ORDER.index(score.name) if score.name in _ORDER else 0
        modalities = sum(len(wording.names_of(score.about.get(name))) for name in ("source", "target"))
        return wording.is_joint(score.about), modalities, directions.index(wording.direction(score)), measure

    return sorted(scores, key=rank)
