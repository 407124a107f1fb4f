"""Scores of any name as tables: one for every family, and one for every measure that fills a table by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.tables.scores import DIRECTION, Head, score_table
from molyneux.report.tables.table import Table

_OWN_TABLE = 6
"""A measure with more rows than this has a table of its own."""


def family_tables(scores: Sequence[Score]) -> list[Table]:
    """Tables in the order in which families and measures first appear; nothing about a score need be known."""
    counts = Counter(score.name for score in scores)
    groups: dict[str, list[Score]] = {}
    for score in scores:
        own = counts[score.name] > _OWN_TABLE
        groups.setdefault(score.name if own else wording.family(score.name), []).append(score)
    return [_table(name, members) for name, members in groups.items()]


def _table(name: str, scores: Sequence[Score]) -> Table:
    if {score.name for score in scores} == {name} and len(scores) > _OWN_TABLE:
        title = f"{wording.family_title(wording.family(name))}: {wording.measure(scores[0]).lower()}"
        return score_table(wording.slug(name), title, scores, heads=(DIRECTION, *_subjects(scores)))
    return score_table(wording.slug(name), wording.family_title(name), scores)


def _subjects(scores: Sequence[Score]) -> list[Head]:
    """One column for everything that the scores are about, besides the direction."""
    names = dict.fromkeys(name for score in scores for name in score.about if name not in ("source", "target"))

    def head(name: str) -> Head:
        return Head(name.replace("_", " "), lambda score: str(score.about.get(name, "")))

    return [head(name) for name in names]
