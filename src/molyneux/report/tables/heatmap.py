"""Breakdowns as coloured tables: accuracy by the values of factors, the colour from chance to the best."""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.settings import split_of
from molyneux.report.tables.table import DASH, Column, Entry, Table, count_entry, reference_entry
from molyneux.report.wording import MISSING, places, write

BREAKDOWN = "breakdown.accuracy"
WHOLE = "prediction.accuracy"
COLOURS = "Colour: blue above chance, orange below it, the stronger the further from it."


def heat(value: float | None, chance: float | None, bounds: tuple[float | None, float | None]) -> float | None:
    """How far a value lies between chance, 0, and the upper bound, 1, or the lower one, -1; None where that has no meaning.

    >>> heat(75.0, 50.0, (0.0, 100.0)), heat(20.0, 50.0, (0.0, 100.0))
    (0.5, -0.6)
    """
    low, high = bounds
    if value is None or chance is None or low is None or high is None or not low < chance < high:
        return None
    return round((value - chance) / (high - chance if value >= chance else chance - low), 4)


def heat_entry(score: Score | None, *, decimals: int | None = None) -> Entry:
    """A value with its colour; its interval stands in CSV and in the tooltip."""
    if score is None:
        return DASH
    if score.value is None:
        return Entry(MISSING, tone="muted")
    text = write(score.value, places(score) if decimals is None else decimals)
    colour = heat(score.value, score.chance, score.bounds) if score.higher_is_better else None
    return Entry(text, value=score.value, interval=score.interval, heat=colour)


def breakdown_scores(scores: Sequence[Score]) -> list[Score]:
    """The accuracies by values of factors, under all conditions."""
    return [score for score in scores if score.name == BREAKDOWN and {"factor", "value"} <= set(score.about)]


def breakdown_tables(scores: Sequence[Score]) -> list[Table]:
    """One table for each target: values of factors in rows, the samples as they are and other splits in columns.

    A factor that has one value only is left out: it says what the row of all samples says.
    """
    chosen = [score for score in breakdown_scores(scores) if _columns_of(score)]
    targets = dict.fromkeys(wording.value_text(score.about.get("target")) for score in chosen)
    found = [
        _table(target, [s for s in chosen if wording.value_text(s.about.get("target")) == target], scores) for target in targets
    ]
    return [table for table in found if table.rows]


def _columns_of(score: Score) -> bool:
    """Whether a score is of the samples as they are or of another split."""
    return not (set(wording.CONDITIONS) & set(score.about)) - {"split"}


def _table(target: str, chosen: Sequence[Score], scores: Sequence[Score]) -> Table:
    base = split_of([score for score in chosen if "split" not in score.about] or chosen)
    splits = list(dict.fromkeys(wording.value_text(score.about.get("split")) or base for score in chosen))
    rows: dict[tuple[str, str], dict[str, Score]] = {}
    for score in [*_whole(target, scores), *chosen]:
        row = (wording.value_text(score.about.get("factor")), wording.value_text(score.about.get("value")))
        rows.setdefault(row, {})[wording.value_text(score.about.get("split")) or base] = score
    counts = {factor: len([name for name, _ in rows if name == factor]) for factor, _ in rows}
    shown = {row: cells for row, cells in rows.items() if row == ("", "") or counts[row[0]] > 1}
    entries, above = [], ""
    for (factor, value), cells in shown.items():
        first = cells.get(base) or next(iter(cells.values()))
        words = (Entry(factor or "all samples", repeated=bool(factor) and factor == above), Entry(value))
        values = [heat_entry(cells.get(split)) for split in splits]
        entries.append((*words, *values, reference_entry(first, first.chance), count_entry(first)))
        above = factor
    columns = (Column("factor", "left"), Column("value", "left"), *map(Column, (*splits, "chance", "n")))
    return Table(
        wording.identifier(f"breakdown {target}"), f"Accuracy, % by factor: {target}", columns, tuple(entries), (COLOURS,)
    )


def _whole(target: str, scores: Sequence[Score]) -> list[Score]:
    """The accuracy of a target on all samples, from the most modalities, under the conditions of `_columns_of`."""
    found = [s for s in scores if s.name == WHOLE and wording.value_text(s.about.get("target")) == target and _columns_of(s)]
    most = max((len(wording.names_of(score.about.get("source"))) for score in found), default=0)
    return [score for score in found if len(wording.names_of(score.about.get("source"))) == most]
