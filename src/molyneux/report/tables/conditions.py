"""Tables of scores under conditions: corruptions with their strengths, missing modalities, other splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.tables.scores import LabelColumn, head_entries
from molyneux.report.tables.table import DASH, Column, Footnotes, Table, reference_entry, value_entry

_DETAILS = frozenset({"factor", "label", "value", "dimension", "bin"})
"""Scores about one of these are left to CSV where the same measure has scores about the whole."""

Identity = tuple[str, tuple[tuple[str, wording.Value], ...]]
"""Name of a score and what it is about, the condition left out."""


def base_scores(scores: Sequence[Score]) -> list[Score]:
    """The scores of the samples as they are; all scores where every one was measured under some condition."""
    return [score for score in scores if not wording.is_conditional(score)] or list(scores)


def condition_tables(scores: Sequence[Score]) -> list[Table]:
    """Scores under every condition beside those of the samples as they are; no table where there was one condition only.

    Corruptions have a table with one row per score and corruption and one column per strength; all other conditions have a table
    with one row per score and one column per condition.
    """
    base = {_identity(score): score for score in scores if not wording.is_conditional(score)}
    whole = {_family(score) for score in scores if score.value is not None and not _DETAILS & set(score.about)}
    whole |= {"breakdown"} if "prediction" in whole else set()  # its scores are all of details, the whole is a prediction
    shown = [score for score in scores if not (_DETAILS & set(score.about) and _family(score) in whole)]
    rest = [score for score in shown if wording.is_conditional(score)]
    strengths = [score for score in rest if "strength" in score.about]
    others = [score for score in rest if "strength" not in score.about]
    heads = (
        LabelColumn("measure", wording.distinct_measures(rest)),
        LabelColumn("of what", lambda score: wording.subject(score, without=wording.CONDITIONS)),
        LabelColumn("corruption", lambda score: wording.condition(score, without=("strength",))),
    )
    title = "Scores by strength of the corruption"
    tables = [_table("corruptions", title, heads, strengths, _strength, base)] if strengths else []
    if others:
        tables.append(_table("conditions", "Scores by condition", heads[:2], others, wording.condition, base))
    return tables


def _family(score: Score) -> str:
    return score.name.partition(".")[0]


def _strength(score: Score) -> str:
    return wording.value_text(score.about["strength"])


def _size(text: str) -> float:
    """Numbers in rising order; the sort keeps everything else in its order, behind them."""
    try:
        return float(text)
    except ValueError:
        return float("inf")


def _identity(score: Score) -> Identity:
    return score.name, tuple(sorted((name, value) for name, value in score.about.items() if name not in wording.CONDITIONS))


def _table(
    name: str,
    title: str,
    heads: Sequence[LabelColumn],
    scores: Sequence[Score],
    column_of: Callable[[Score], str],
    base: Mapping[Identity, Score],
) -> Table:
    """One row for the scores with the same text under all heads; a column for the base, each value of `column_of`, and chance."""
    groups: dict[tuple[str, ...], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.name, *(head.text(score) for head in heads)), []).append(score)
    names, subjects = list(dict.fromkeys(score.name for score in scores)), list(dict.fromkeys(map(_identity, scores)))
    rows = sorted(groups.values(), key=lambda row: (names.index(row[0].name), subjects.index(_identity(row[0]))))
    columns = sorted(dict.fromkeys(map(column_of, scores)), key=_size)
    heads = [head for head in heads if any(head.text(row[0]) for row in rows)]
    extra = ["chance"] if any(row[0].chance is not None for row in rows) else []
    footnotes, entries = Footnotes(), []
    for number, row in enumerate(rows):
        by_column = {column_of(score): score for score in row}
        shown = [base.get(_identity(row[0])), *(by_column.get(column) for column in columns)]
        values = [DASH if score is None else value_entry(score, footnotes.mark(score.note)) for score in shown]
        texts = head_entries(heads, row[0], rows[number - 1][0] if number else None)
        entries.append((*texts, *values, *(reference_entry(row[0], row[0].chance) for _ in extra)))
    titles = (*(Column(head.title, "left") for head in heads), *map(Column, ("unchanged", *columns, *extra)))
    return Table(name, title, titles, tuple(entries), ("Values with 95 % intervals.", *footnotes.notes))
