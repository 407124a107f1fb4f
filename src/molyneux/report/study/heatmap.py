"""Breakdowns of a study as coloured tables: values of factors in rows, models and splits in columns, one table for each world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from molyneux.core import Score
from molyneux.core.intervals import pooled, share_interval
from molyneux.report import wording
from molyneux.report.published import FEWEST_STEPS
from molyneux.report.published_breakdowns import Cell, NamedBreakdown, NamedRow, named_breakdowns
from molyneux.report.record_lines import StudyRun
from molyneux.report.settings import model_of, split_of, steps_of, world_of
from molyneux.report.study.groups import Axis, SeedGroup, find_axes, group_runs, label
from molyneux.report.study.seeds import OverSeeds, over_seeds
from molyneux.report.tables import Column, Entry, Table
from molyneux.report.tables.heatmap import BREAKDOWN, COLOURS, WHOLE, heat
from molyneux.report.tables.table import DASH
from molyneux.report.wording import write

_SHORT = {"validation": "val."}
"""Titles of columns that would be wider than their numbers."""
MISSING_ROWS = (
    "A dash: not on record; a row about two factors at once needs the measure breakdown with these factors crossed, and a value "
    "of fewer than 20 samples has no accuracy."
)


def heat_tables(runs: Sequence[StudyRun]) -> list[Table]:
    """The accuracy by kinds of samples of every world of a study; rows as in a published table where there is one."""
    having = [run for run in runs if any(score.name == BREAKDOWN for score in run.scores)]
    if not having:
        return []
    axes = find_axes(having)
    data = [axis for axis in axes if axis.path.startswith("data.")]
    models = [axis for axis in axes if axis not in data]
    known = named_breakdowns(world_of(having[0].settings, having[0].scores)[0])
    worlds: dict[tuple[str, ...], list[StudyRun]] = {}
    for run in having:
        worlds.setdefault(tuple(axis.value(run.settings) for axis in data), []).append(run)

    def place(values: tuple[str, ...]) -> tuple[int, list[int]]:
        own = [axis.values.index(value) for axis, value in zip(data, values, strict=True)]
        return next((number for number, named in enumerate(known) if named.fits(worlds[values][0].settings)), len(known)), own

    tables: list[Table] = []
    for values in sorted(worlds, key=place):
        title = ", ".join(f"{axis.title} {value}" for axis, value in zip(data, values, strict=True))
        tables += _tables(worlds[values], models, title)
    return _said_once(tables)


def blank_tables(world: str) -> list[Table]:
    """The published tables of a world without numbers of our own, for pages of studies that have no records yet."""
    return _said_once(
        _table(named, named.title, [_Column(name, split, ()) for name in named.models for split in named.splits], named.rows, "")
        for named in named_breakdowns(world)
        if named.rows
    )


def _said_once(tables: Iterable[Table]) -> list[Table]:
    """Tables without the notes that a table before them has."""
    said, found = set[str](), []
    for table in tables:
        found.append(replace(table, notes=tuple(note for note in table.notes if note not in said)))
        said |= set(table.notes)
    return found


@dataclass(frozen=True)
class _Measured:
    """The accuracies of one run for one target, by split and by values of factors; without factors, of all samples."""

    run: StudyRun
    target: str

    @cached_property
    def found(self) -> Mapping[tuple[str, Cell], Score]:
        """Every accuracy."""
        base, most, found = split_of([s for s in self.run.scores if "split" not in s.about]), -1, dict[tuple[str, Cell], Score]()
        for score in self.run.scores:
            about = score.about
            if wording.value_text(about.get("target")) != self.target or set(wording.CONDITIONS) & set(about) - {"split"}:
                continue
            split = wording.value_text(about.get("split")) or base
            if score.name == BREAKDOWN:
                cell = (wording.names_of(about.get("factor")), wording.names_of(about.get("value")))
                found[split, cell] = score
            elif score.name == WHOLE and (count := len(wording.names_of(about.get("source")))) >= most:
                most, found[split, ((), ())] = count, score
        return found

    def score(self, row: NamedRow, split: str) -> Score | None:
        """The accuracy on the samples of a row."""
        if not row.parts:
            return self.found.get((split, ((), ())))
        parts = []
        for cells in row.parts:
            known = [self.found[split, cell] for cell in cells if (split, cell) in self.found]
            if (pooled := pooled_share(known)) is not None:
                parts.append(pooled)
            elif row.each:
                return None
        return mean_share(parts) if row.each else pooled_share(parts)


@dataclass(frozen=True)
class _Column:
    """The runs of one group on one split."""

    group: str
    split: str
    runs: tuple[_Measured, ...]

    def over(self, row: NamedRow) -> OverSeeds | None:
        """The accuracy on the samples of a row over the seeds; None where no run has it."""
        scores = [score for run in self.runs if (score := run.score(row, self.split)) is not None]
        return over_seeds(scores) if scores else None


def _tables(runs: Sequence[StudyRun], axes: Sequence[Axis], title: str) -> list[Table]:
    """A table for each target of runs on one world."""
    settings = runs[0].settings
    named = next((one for one in named_breakdowns(world_of(settings, runs[0].scores)[0]) if one.fits(settings)), None)
    short = any((steps_of(run.settings) or FEWEST_STEPS) < FEWEST_STEPS for run in runs)
    targets = dict.fromkeys(
        wording.value_text(score.about.get("target")) for run in runs for score in run.scores if score.name == BREAKDOWN
    )
    groups = sorted(group_runs(runs, axes), key=lambda group: _place(_label(group, axes), named))
    tables = []
    for target in targets:
        measured = {id(run): _Measured(run, target) for run in runs}
        splits = _splits(list(measured.values()), named)
        columns = [
            _Column(_label(group, axes), split, tuple(measured[id(run)] for run in group.runs))
            for group in groups
            for split in splits
        ]
        rows = named.rows if named and named.rows else _all_rows(list(measured.values()), named)
        if named and named.rows and not short:  # the published numbers of models that have no run
            absent = [name for name in named.models if name not in {column.group for column in columns}]
            columns += [_Column(name, split, ()) for name in absent for split in named.splits]
            columns.sort(key=lambda column: _place(column.group, named))
        whole = named.title if named else title
        about = f"{whole}: {target}" if len(targets) > 1 and whole else whole or target
        tables.append(_table(None if short else named, about, columns, rows, title))
    return tables


def _label(group: SeedGroup, axes: Sequence[Axis]) -> str:
    """Label of a group; where there is only one, the name of its runs or of their model."""
    run = group.runs[0]
    return label(group, axes) if axes else str(run.settings.get("name") or model_of(run.settings, run.scores) or "all runs")


def _place(name: str, named: NamedBreakdown | None) -> int:
    """Models with published numbers first."""
    models = list(named.models) if named else []
    return models.index(name) if name in models else len(models)


def _splits(runs: Sequence[_Measured], named: NamedBreakdown | None) -> list[str]:
    known = dict.fromkeys(split for run in runs for split, _ in run.found)
    order = named.splits if named else ()
    return [*(split for split in order if split in known), *(split for split in known if split not in order)]


def _all_rows(runs: Sequence[_Measured], named: NamedBreakdown | None) -> tuple[NamedRow, ...]:
    """A row for all samples and one for every value of the factors that have several, those that are crossed left out."""
    values: dict[str, dict[str, None]] = {}
    for run in runs:
        for _, (factors, cell) in run.found:
            if len(factors) == 1:
                values.setdefault(factors[0], {})[cell[0]] = None
    chosen = named.factors if named and named.factors else tuple(values)
    rows = [NamedRow("all samples", (), False, {})]
    for factor in (name for name in chosen if len(values.get(name, ())) > 1):
        rows += [NamedRow(f"{factor}: {value}", ((((factor,), (value,)),),), False, {}) for value in values[factor]]
    return tuple(rows)


def _table(
    named: NamedBreakdown | None, title: str, columns: Sequence[_Column], rows: Sequence[NamedRow], identity: str
) -> Table:
    """Own numbers in rows, those of the paper in the rows below."""
    entries: list[tuple[Entry, ...]] = []
    found: list[OverSeeds] = []
    for row in rows:
        cells = [column.over(row) for column in columns]
        found += [cell for cell in cells if cell is not None]
        if any(column.runs for column in columns):
            entries.append((Entry(row.title), *map(_entry, cells)))
        if named is not None and any(column.group in row.published for column in columns):
            head = "published" if any(column.runs for column in columns) else row.title
            entries.append((Entry(head, tone="muted"), *(_published_entry(named, row, column) for column in columns)))
    heads = (Column("", "left"), *(Column(_SHORT.get(column.split, column.split), group=column.group) for column in columns))
    name = wording.identifier(f"breakdown {identity or title}".strip())
    return Table(name, f"{title}: accuracy, %", heads, tuple(entries), _notes(named, found, entries))


def _notes(named: NamedBreakdown | None, found: Sequence[OverSeeds], rows: Sequence[Sequence[Entry]]) -> tuple[str, ...]:
    chances = dict.fromkeys(write(chance, 1) for chance in sorted(over.chance for over in found if over.chance is not None))
    widths = sorted((over.interval[1] - over.interval[0]) / 2 for over in found if over.interval is not None)
    notes = [f"{COLOURS} Chance is {' or '.join(chances or ['50.0'])} %."]
    if widths:
        middle, widest = (write(width, 1) for width in (widths[len(widths) // 2], widths[-1]))
        seeds = sorted({len(over.values) for over in found})
        counted = " to ".join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))
        notes.append(
            f"{'One seed' if seeds[-1] == 1 else f'Means over {counted} seeds'}; 95 % intervals: half of them are within "
            f"±{middle} points, all within ±{widest}; every one is in the CSV of the table."
        )
    notes += [MISSING_ROWS] if any(entry is DASH for row in rows for entry in row if row[0].tone != "muted") else []
    return (*notes, *(named.notes if named else ()))


def _entry(over: OverSeeds | None) -> Entry:
    if over is None or over.mean is None:
        return DASH
    colour = heat(over.mean, over.chance, over.first.bounds)
    return Entry(write(over.mean, 0), value=over.mean, interval=over.interval, heat=colour)


def _published_entry(named: NamedBreakdown, row: NamedRow, column: _Column) -> Entry:
    numbers = dict(zip(named.splits, row.published.get(column.group, ()), strict=False))
    if column.split not in numbers:
        return Entry("")
    number = float(numbers[column.split])
    return Entry(f"{number:g}", value=number, tone="muted", heat=heat(number, 50.0, (0.0, 100.0)))


def pooled_share(scores: Sequence[Score]) -> Score | None:
    """The share of right answers on the samples of several scores together; None without any that has a value.

    Args:
        scores: accuracies in % on different samples of one run.
    """
    known = [score for score in scores if score.value is not None and score.n]
    if not known:
        return None
    n, right = sum(score.n for score in known), round(sum(score.n * (score.value or 0.0) / 100 for score in known))
    low, high = share_interval(right, n)
    return replace(known[0], value=100 * right / n, interval=(100 * low, 100 * high), n=n, controls={})


def mean_share(scores: Sequence[Score]) -> Score | None:
    """The mean of several shares, each counted once, such as of true and of false samples; None where one has no value.

    Args:
        scores: accuracies in % on different samples of one run.
    """
    known = [score for score in scores if score.value is not None]
    if not scores or len(known) < len(scores):
        return None
    value = sum(score.value or 0.0 for score in known) / len(known)
    return replace(known[0], value=value, interval=pooled(known), n=sum(score.n for score in known), controls={})
