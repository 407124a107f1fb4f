"""Tables of a study: groups of runs in rows, scores in columns, published numbers below the group they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from molyneux.core import Score
from molyneux.core.reader import read_earlier
from molyneux.report import wording
from molyneux.report.published import PublishedResults
from molyneux.report.study.groups import Axis, Key, SeedGroup, StudyPart
from molyneux.report.study.references import References
from molyneux.report.study.seeds import OverSeeds, above, best_of, published_interval
from molyneux.report.study.shown import spread_places
from molyneux.report.tables import Column, Entry, Table, readers_note
from molyneux.report.tables.table import DASH
from molyneux.report.wording import MISSING, places, write, write_interval

OVER_SEEDS = (
    "Means over seeds with the 95 % interval that holds for new seeds (Student's t, never narrower than the samples "
    "allow); of a single seed, the interval over samples."
)
NOTE = f"{OVER_SEEDS} Bold: the best mean of a column, where it is apart from all others and better than guessing."
MARKS = {
    "▲": "above the best published number, intervals apart",
    "≈": "not apart from the best published number",
    "▼": "below the best published number, intervals apart",
    "∅": "not above guessing",
    "⊘": "not below guessing, where lower is better",
    "µ": "not above the mean of the training views with the same factors, which needs no model",
    "=": "not apart from the published number of the same model",
    "≠": "apart from the published number of the same model",
}


def results_table(
    name: str,
    title: str,
    part: StudyPart,
    keys: Sequence[Key],
    *,
    published: PublishedResults | None = None,
    notes: Sequence[str] = (),
    shown: Sequence[int] | None = None,
) -> Table:
    """One row per group, one column per score; published rows below the group of the same model; chance and ceiling last.

    Controls that differ between groups stand below each of them; where they are many or hardly differ, pages give their range.

    Args:
        name: identifier of the table.
        title: line above it.
        part: groups in rows.
        keys: scores in columns.
        published: published results for the same task.
        notes: sentences below, after the meaning of the marks.
        shown: places of the groups that pages show, where there are too many.
    """
    columns = [part.column(key) for key in keys]
    known = [len(part.groups) > 1 and any(cell is not None and cell.interval for cell in column) for column in columns]
    history = [any(cell is not None and read_earlier(cell.first) for cell in column) for column in columns]
    known = [told and not past for told, past in zip(known, history, strict=True)]
    best = [best_of(column) if told else [] for column, told in zip(columns, known, strict=True)]
    references = References(columns)
    rows, owned = list[tuple[Entry, ...]](), list[list[int]]()
    last = {group.published_as(published): group for group in part.groups}
    for place, (group, cells) in enumerate(zip(part.groups, zip(*columns, strict=True), strict=True)):
        own, start = group.published_as(published), len(rows)
        strong = [cell is not None and [cell] == top and not _is_trivial(cell) for cell, top in zip(cells, best, strict=True)]
        entries = [entry_of(cell, published, own, strong=bold) for cell, bold in zip(cells, strong, strict=True)]
        beside = references.own(place, part.label(group))
        rows += [(Entry(part.label(group)), *entries), *(row for row, _ in beside)]
        hidden = {start + 1 + number for number, (_, seen) in enumerate(beside) if not seen}
        rows += _published_rows(published, group, cells) if last[own] is group else []
        owned.append([row for row in range(start, len(rows)) if row not in hidden])
    samples, end = [next(filter(None, column)) for column in columns], len(rows)
    rows += references.shared()
    groups = range(len(owned)) if shown is None else shown
    seen = tuple(row for group in groups for row in owned[group]) + tuple(range(end, len(rows)))
    common, titles = _heads([sample.first for sample in samples])
    title = ": ".join(words for words in (title, common) if words)
    read = readers_note([sample.first for sample in samples])
    heads = (Column("", "left"), *map(Column, titles))
    whole = (*references.notes, *marks_used(rows), *read, *notes)
    return Table(name, title, heads, tuple(rows), whole, shown=None if len(seen) == len(rows) else seen)


def seeds_table(name: str, title: str, part: StudyPart, keys: Sequence[Key]) -> Table:
    """Every group and score with mean, deviation, both intervals and the value of every seed."""
    heads = ("runs", "of what", "measure", "mean", "over seeds (95 %)", "over samples (95 %)", "deviation", "seeds")
    rows = []
    for group in part.groups:
        known = [over for key in keys if (over := group.over(key)) is not None]
        rows += [(Entry(part.label(group), repeated=number > 0), *_spread(over)) for number, over in enumerate(known)]
    columns = tuple(Column(head, "left" if number < 3 else "right") for number, head in enumerate(heads))
    return Table(name, title, columns, tuple(rows), folded=True)


def measures_table(name: str, title: str, part: StudyPart, keys: Sequence[Key], *, folded: bool = False) -> Table:
    """Scores in rows and groups in columns, for families of many scores."""
    cells = [part.column(key) for key in keys]
    firsts = [next(filter(None, row)).first for row in cells]
    measure = wording.distinct_measures(firsts)
    rows = [
        (Entry(measure(first)), Entry(wording.subject(first)), *map(_plain, row))
        for first, row in zip(firsts, cells, strict=True)
    ]
    columns = (Column("measure", "left"), Column("of what", "left"), *(Column(part.label(group)) for group in part.groups))
    return Table(name, title, columns, tuple(rows), ("Means over seeds, in brackets the standard deviation.",), folded)


def best_figure(published: PublishedResults | None, score: Score) -> tuple[float, float] | None:
    """The interval of the best published number for the same measure as `score`."""
    best = published.best(score) if published else None
    return published_interval(best[1], published.seeds, score) if best and published else None


def _is_trivial(over: OverSeeds) -> bool:
    """Whether guessing, or the mean of training views, does as well."""
    return over.score.is_guessed or over.score.is_mean_view


def _mark(over: OverSeeds, published: PublishedResults | None, own: str) -> str:
    """The mark of a mean, against the best published number where higher is better, else against that of the same model."""
    if over.score.is_guessed:
        return "⊘" if over.first.higher_is_better is False else "∅"
    if over.score.is_mean_view:
        return "µ"
    best = best_figure(published, over.first)
    if best is not None:
        return {True: "▲", False: "▼", None: "≈"}[above(over, best)]
    if published is None or over.first.higher_is_better:
        return ""
    figure = published.figure(own, over.first)
    if figure is None:
        return ""
    return "=" if above(over, published_interval(figure, published.seeds, over.first)) is None else "≠"


def marks_used(rows: Sequence[tuple[Entry, ...]]) -> list[str]:
    """The legend of the marks in a table, as a note."""
    used = {entry.text[-1:] for row in rows for entry in row}
    meanings = [f"{mark} {meaning}" for mark, meaning in MARKS.items() if mark in used]
    return ["; ".join(meanings) + "."] if meanings else []


def entry_of(over: OverSeeds | None, published: PublishedResults | None, own: str = "", *, strong: bool = False) -> Entry:
    """A mean with its mark and interval; bold if `strong`."""
    if over is None:
        return DASH
    if over.mean is None:
        return Entry(MISSING, tone="muted")
    mark = _mark(over, published, own)
    text = over.written + (f" {mark}" if mark else "")
    detail = write_interval(over.interval, over.decimals) if over.interval else ""
    return Entry(text, detail, over.mean, over.interval, "strong" if strong else "")


def _published_rows(
    published: PublishedResults | None, group: SeedGroup, cells: Sequence[OverSeeds | None]
) -> list[tuple[Entry, ...]]:
    """The published row of a group's model."""
    model = group.published_as(published)
    if published is None or not model:
        return []
    figures = [published.figure(model, cell.first) if cell else None for cell in cells]
    entries = [Entry(figure.text, value=figure.mean, tone="muted") if figure else DASH for figure in figures]
    return [(Entry(f"{model}, published", tone="muted"), *entries)]


def _heads(scores: Sequence[Score]) -> tuple[str, list[str]]:
    """The subject that all columns share, and the title of each column: its own subject and its measure."""
    factors = [wording.value_text(score.about.get("factor")) for score in scores]
    if all(factors) and len({(score.name, wording.direction(score)) for score in scores}) == 1:
        return "", factors
    about, measure = [wording.subjects(score) for score in scores], wording.distinct_measures(scores)
    common = [part for part in about[0] if all(part in parts for parts in about)] if len(scores) > 1 else []
    own = [", ".join(part for part in parts if part not in common) for parts in about]
    heads = [": ".join(filter(None, (part, measure(score)))) for part, score in zip(own, scores, strict=True)]
    return ", ".join(common), heads


def _spread(over: OverSeeds) -> tuple[Entry, ...]:
    decimals = places(over.first)
    seeds = over.interval if len(over.values) > 1 else None
    return (
        Entry(wording.subject(over.first)),
        Entry(wording.measure(over.first)),
        Entry(write(over.mean, decimals), value=over.mean, tone="strong"),
        Entry(write_interval(seeds, decimals), interval=seeds) if seeds else DASH,
        Entry(write_interval(over.pooled, decimals), interval=over.pooled) if over.pooled else DASH,
        Entry(write(over.sd, decimals), value=over.sd) if over.sd is not None else DASH,
        Entry(" ".join(write(value, decimals) for value in over.values) or MISSING, tone="muted"),
    )


def _plain(over: OverSeeds | None) -> Entry:
    if over is None:
        return DASH
    decimals = places(over.first)
    return Entry(write(over.mean, decimals), write(over.sd, decimals) if over.sd is not None else "", over.mean)


def ablation_tables(part: StudyPart) -> list[Table]:
    """One table for each setting besides the model, where more than one setting is varied.

    Its groups share the values that all other settings have most often: the base that was varied around.
    """
    varied = [axis for axis in part.axes if len({group.values[axis.path] for group in part.groups}) > 1]
    tables = []
    for axis in varied if len(varied) > 1 else []:
        groups = _around(part.groups, [other for other in varied if other is not axis], axis)
        if not axis.is_model and len(groups) > 1:
            name, title = part.identifier("ablation", axis.title), part.titled(f"effect of {axis.title}")
            around, places = replace(part, groups=groups, axes=(axis,)), spread_places(len(groups))
            tables.append(results_table(name, title, around, part.main, shown=places))
    return tables


def _around(groups: Sequence[SeedGroup], fixed: Sequence[Axis], axis: Axis) -> tuple[SeedGroup, ...]:
    """The groups in which the fixed settings have the values that go with most values of the axis."""

    def held(group: SeedGroup) -> tuple[str, ...]:
        return tuple(group.values[other.path] for other in fixed)

    base = Counter(map(held, groups)).most_common(1)[0][0]
    chosen = [group for group in groups if held(group) == base]
    return tuple(sorted(chosen, key=lambda group: axis.values.index(group.values[axis.path])))
