"""The page of a study: its main results, results that are not clearly better, drawings of all groups, and every table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from molyneux.core import DataError, Score, nearest
from molyneux.core.score import MEAN_VIEW
from molyneux.report import wording
from molyneux.report.aggregation import aggregate_table, comparisons, tasks_of, tradeoff_panels
from molyneux.report.page import FORMATS, Block, Drawings, Page, Section, write_page
from molyneux.report.plots import DotRow, Panel, Scale, dot_panel, group_curves
from molyneux.report.record_lines import StudyRun
from molyneux.report.records import seed_order
from molyneux.report.robustness import with_robustness
from molyneux.report.settings import chosen_of, precision_of, split_of, train_overlap_of
from molyneux.report.study.choice_panels import KEYS as CHOICE_KEYS
from molyneux.report.study.choice_panels import choice_panels
from molyneux.report.study.findings import findings_table, study_answer, study_headlines
from molyneux.report.study.groups import Key, SeedGroup, StudyPart, divide
from molyneux.report.study.heatmap import blank_tables, heat_tables
from molyneux.report.study.references import shared_ceiling, shared_chance
from molyneux.report.study.seeds import OverSeeds, above, published_interval
from molyneux.report.study.shown import BEST_COLUMNS, best_places, only, shown_sentence
from molyneux.report.study.significance import compared_table
from molyneux.report.study.tables import (
    NOTE,
    ablation_tables,
    best_figure,
    entry_of,
    measures_table,
    results_table,
    seeds_table,
)
from molyneux.report.tables import Column, Entry, Table, base_scores
from molyneux.report.tables.heatmap import BREAKDOWN
from molyneux.report.tables.table import INTERVAL
from molyneux.report.wording import write

_KEYS = (
    ("dot", "mean over seeds with its 95 % interval, seeds as small dots"),
    ("ring", "published, with its interval"),
    ("chance", "chance"),
    ("ceiling", "judge ceiling"),
)
_ABLATIONS = f"Every table varies one setting and holds all others at the values they have most often. {NOTE}"
_FACTORS = f"Coherence of single factors, in %: which parts of the meaning arrive and which are lost. {NOTE}"
_BREAKDOWN = "Accuracy on the samples with each value of a factor: which kinds of samples the models get right."
_CONDITIONS = "Scores of samples with corruptions, with missing modalities, or of another split."
_ROBUSTNESS = (
    "Scores over the strength of an imperfection, from all modalities; strength 0 is the samples as they are. Relative and "
    "effective robustness are among the further measures, where the runs name a baseline."
)
_TRADEOFFS = (
    "Performance, speed of training and robustness, each scaled from 0 for the worst method of a task to 1 for the best. Circles "
    "grow with the variance over data sets; the dotted curve is a fit, quadratic for speed and linear for robustness."
)
_CURVE_KEYS = (("interval", "range over seeds"), ("chance", "chance"))
_AS_ABOVE = "Published numbers come from another protocol, other models and other readers; see the first table."
_SPREAD_PUBLISHED = "Intervals of published numbers: Student's t from the printed deviation over {} seeds."
_SPREAD = (
    "Two intervals that answer different questions: over seeds, where the mean of new seeds would lie; over samples, how well "
    "these very runs were measured."
)


def write_study(
    runs: Sequence[StudyRun],
    out: Path | str,
    *,
    name: str = "",
    formats: Sequence[str] = FORMATS,
    by_seed: Sequence[str] = (),
) -> list[Path]:
    """Write the page of a study, and return the files: `study.md`, `study.html`, every table as CSV and LaTeX in `tables/`.

    Args:
        runs: records of the runs of the study.
        out: folder to write into.
        name: title of the page: the name of the study's file; by default that of its runs where they have one name, as without
            variants, or else that of the folder.
        formats: any of `csv`, `html`, `latex`, `markdown`.
        by_seed: dotted names of settings that change with the seed (`run.Study`): runs that differ in these alone are seeds of
            one setting.

    Raises:
        DataError: there are no runs. ConfigError: an unknown format. StoreError: the folder cannot be written.
    """
    out, names = Path(out), {str(run.settings.get("name", "")) for run in runs}
    page = study_page(_but(runs, by_seed), name or (names.pop() if len(names) == 1 else "") or out.resolve().name)
    changing = f"With the seed changes {', '.join(map(wording.setting, by_seed))}"
    return write_page(replace(page, facts=(*page.facts, changing)) if by_seed else page, out, "study", formats)


def _but(runs: Sequence[StudyRun], paths: Sequence[str]) -> list[StudyRun]:
    """The runs without some settings and all that is below them."""
    ends = tuple(f"{path}." for path in paths)
    return [
        replace(run, settings={name: value for name, value in run.settings.items() if not f"{name}.".startswith(ends)})
        for run in runs
    ]


def study_tables(runs: Sequence[StudyRun]) -> list[Table]:
    """The main table of every level; errors as `write_study`."""
    return _main_tables(_parts(runs))


def study_findings(runs: Sequence[StudyRun]) -> Table:
    """The best group for every level and direction as one table; errors as `write_study`."""
    return findings_table(_parts(runs))


def chosen_tables(
    runs: Sequence[StudyRun], shown: Sequence[tuple[str, Mapping[str, wording.Value]]], *, published: bool = False
) -> list[Table]:
    """One table of chosen scores for every level.

    Args:
        runs: records of runs.
        shown: scores, each by its name and its whole `about`.
        published: whether to show published results beside them.

    Raises:
        DataError: there are no runs, or no run has one of the scores.
    """
    keys = [(name, tuple(sorted(about.items()))) for name, about in shown]
    tables, parts = [], _parts(runs)
    for name, about in keys:
        if not any(part.has((name, about)) for part in parts):
            known = {str(dict(score.about)) for run in runs for score in run.scores if score.name == name}
            hint = f" {nearest(str(dict(about)), known)}" if known else ""
            raise DataError(f"no run has the score {name} about {dict(about)};{hint or ' measure it, or leave it out'}")
    for part in parts:
        results = part.published if published else None
        source = () if results is None else (*results.notes, _SPREAD_PUBLISHED.format(results.seeds))
        chosen, name, title = list(filter(part.has, keys)), part.identifier("chosen"), part.titled("chosen scores")
        tables.append(results_table(name, title, part, chosen, published=results, notes=(NOTE, *source)).visible)
    return tables


def study_breakdowns(runs: Sequence[StudyRun], world: str = "") -> list[Table]:
    """The accuracies by kinds of samples as coloured tables, one for each world and target.

    Args:
        runs: records of the runs of the study; there may be none.
        world: the world whose published tables are given where there are none, such as `shapeworld`.
    """
    return heat_tables(runs) if runs else blank_tables(world)


def study_page(runs: Sequence[StudyRun], name: str) -> Page:
    """The page of a study; errors as `write_study`."""
    parts = _parts(runs)
    shown = [best_places(part) for part in parts]
    some = [only(part, places) for part, places in zip(parts, shown, strict=True)]
    few = [only(part, best_places(part, BEST_COLUMNS)) for part in parts]
    seen = [run for part in some for group in part.groups for run in group.runs]
    short = shortfall_table(some)
    ablations = tuple(table for part in parts for table in ablation_tables(part))
    compared = tuple(table for of_part in zip(parts, shown, strict=True) if (table := _compared(*of_part)) is not None)
    drawn = [strict_drawings(part) for part in few]
    first = next((replace(drawings, panels=drawings.panels[:1]) for drawings in drawn if drawings is not None), None)
    sections = (
        *(_results(*of_part, first) for of_part in zip(parts, _main_tables(parts, shown), drawn, strict=True)),
        Section("significance", "Significance and cost", "", compared),
        Section("shortfalls", "Results not clearly better", "", (short,) if short else ()),
        Section("ablations", "One setting at a time", _ABLATIONS, ablations),
        Section("factors", "Factors", _FACTORS, tuple(table for part in some for table in _factor_tables(part))),
        Section("breakdown", "Accuracy by factor", _BREAKDOWN, tuple(heat_tables(seen))),
        Section("conditions", "Conditions", _CONDITIONS, tuple(_condition_table(part) for part in few if part.conditions)),
        Section("robustness", "Robustness", _ROBUSTNESS, tuple(block for part in few for block in _curves(part))),
        Section("tradeoffs", "Methods compared", _TRADEOFFS, _tradeoffs(runs)),
        Section("measures", "Further measures", "", tuple(table for part in few for table in _family_tables(part))),
        Section("spread", "Over seeds", _SPREAD, tuple(_spread(part) for part in some)),
    )
    groups = sum(len(part.groups) for part in parts)
    seeds = sorted({run.seed for run in runs if run.seed}, key=seed_order)
    splits = ", ".join(dict.fromkeys(split_of(base_scores(run.scores)) for run in runs))
    seeded = f"seeds {', '.join(seeds)}" if seeds else ""
    counted = (f"{count} {noun}{'s' * (count != 1)}" for count, noun in ((len(runs), "run"), (groups, "setting")))
    facts = (*counted, seeded, f"measured on the {splits} split")
    return Page(
        "study",
        name,
        tuple(fact for fact in facts if fact),
        study_headlines(parts),
        sections,
        answer=study_answer(parts),
        remarks=shown_sentence(parts),
        picture=first,
        command="molyneux sweep STUDY.yaml",
    )


def _parts(runs: Sequence[StudyRun]) -> list[StudyPart]:
    if not runs:
        raise DataError("expected the records of at least one run, got none: run the sweep first")
    return divide(with_robustness(runs))


def _tradeoffs(runs: Sequence[StudyRun]) -> tuple[Block, ...]:
    """What methods reach and what they cost, over all data sets of a study; nothing where only their performance is known."""
    known = with_robustness(runs)
    if not tasks_of(known) or len(compared := comparisons(known)) < 2:
        return ()
    panels = tradeoff_panels(compared)
    table = aggregate_table(compared)
    return (table, Drawings("", tuple(panels))) if panels else (table,)


def _curves(part: StudyPart) -> list[Drawings]:
    """Curves of all groups over the strength of each imperfection."""
    groups = {part.label(group): [run.scores for run in group.runs] for group in part.groups}
    panels = group_curves(groups, chosen_of(part.groups[0].runs[0].settings), part=part.title)
    return [Drawings(part.title, tuple(panels), _CURVE_KEYS)] if panels else []


def _results(part: StudyPart, table: Table, drawings: Drawings | None, first: Drawings | None) -> Section:
    """The main table, and the drawings but for the one that stands at the top of the page."""
    if drawings and first:
        panels = tuple(panel for panel in drawings.panels if panel.name != first.panels[0].name)
        drawings = replace(drawings, panels=panels) if panels else None
    return Section(part.identifier("results"), part.title or "Results", "", (table, drawings) if drawings else (table,))


def _main_tables(parts: Sequence[StudyPart], shown: Sequence[tuple[int, ...]] = ()) -> list[Table]:
    """The main table of every part. The first with published numbers has their source and protocol in its notes.

    Pages show the groups at the places `shown` of each part.
    """
    tables: list[Table] = []
    explained = False
    for number, part in enumerate(parts):
        results = part.published
        trained = precision_of((run.settings, run.scores) for group in part.groups for run in group.runs)
        notes = [note for note in (NOTE, train_overlap_of(part.scores), trained) if note]
        if results is not None:
            notes += [_AS_ABOVE] if explained else [*results.notes, _SPREAD_PUBLISHED.format(results.seeds)]
            explained = True
        elif part.left_out:
            notes.append(part.left_out)
        name, title = part.identifier("results"), part.titled("results")
        places = shown[number] if shown else None
        tables.append(results_table(name, title, part, part.main, published=results, notes=notes, shown=places))
    return tables


def _factor_tables(part: StudyPart) -> list[Table]:
    """One table for each direction, folded as the directions and levels repeat it."""
    directions: dict[str, list[Key]] = {}
    for key in part.factors:
        directions.setdefault(wording.direction(Score(key[0], None, dict(key[1]))), []).append(key)
    tables = [
        results_table(part.identifier("factors", direction), part.titled(direction), part, keys)
        for direction, keys in directions.items()
    ]
    return [replace(table, folded=True) for table in tables]


def _family_tables(part: StudyPart) -> list[Table]:
    families: dict[str, list[Key]] = {}
    for key in (key for key in part.rest if key[0] != BREAKDOWN):  # it has coloured tables
        families.setdefault(wording.family(key[0]), []).append(key)
    return [
        measures_table(part.identifier("family", name), part.titled(wording.family_title(name)), part, keys, folded=True)
        for name, keys in families.items()
    ]


def _condition_table(part: StudyPart) -> Table:
    return measures_table(part.identifier("conditions"), part.titled("scores by condition"), part, part.conditions)


def _compared(part: StudyPart, shown: tuple[int, ...]) -> Table | None:
    """The headline scores with their significance against the best, and the cost of the trainings."""
    keys = part.strict or part.main
    return compared_table(part, keys, part.identifier("significance"), part.titled("significance and cost"), shown)


def _spread(part: StudyPart) -> Table:
    return seeds_table(part.identifier("seeds"), part.titled("mean and spread"), part, part.main)


def shortfall_table(parts: Sequence[StudyPart]) -> Table | None:
    """Every group and direction whose strict coherence is not clearly above chance and the best published number."""
    rows = [row for part in parts for key in part.strict for row in _shortfall_rows(part, key)]
    if not rows:
        return None
    titles = ("part", "runs", "direction", f"Strict, %{INTERVAL}", "why")
    columns = tuple(Column(title, "right" if "Strict" in title else "left") for title in titles)
    return Table("shortfalls", "Not clearly above guessing and the best published number", columns, tuple(rows))


def _shortfall_rows(part: StudyPart, key: Key) -> list[tuple[Entry, ...]]:
    rows = []
    for group in part.groups:
        over = group.over(key)
        if over is None or not (why := _reason(part, over)):
            continue
        texts = (part.title, part.label(group), wording.direction(over.first))
        rows.append((*map(Entry, texts), replace(entry_of(over, None), text=over.written), Entry(why, tone="muted")))
    return rows


def _reason(part: StudyPart, over: OverSeeds) -> str:
    if over.mean is None:
        return f"not measured: {over.first.note}"
    if over.score.is_guessed:
        return f"not above guessing ({write(over.chance, over.decimals)})"
    if over.score.is_mean_view:
        return f"not above the mean view ({write(over.controls[MEAN_VIEW], over.decimals)})"
    figure = best_figure(part.published, over.first)
    best = part.published.best(over.first) if part.published else None
    if figure is None or best is None or above(over, figure):
        return ""
    how = "below" if above(over, figure) is False else "not apart from"
    return f"{how} the best published number ({best[0]}, {best[1].text})"


def strict_drawings(part: StudyPart) -> Drawings | None:
    """One panel per direction of strict coherence; without it, of the scores that stand for the part; None without values.

    Two-way choices with several numbers of bridged things are drawn over this number.
    """
    if not part.strict and (curves := choice_panels(part)):
        return Drawings("", tuple(curves), CHOICE_KEYS)
    keys = part.strict or part.leading
    shown = [key for key in keys if any((over := group.over(key)) and over.values for group in part.groups)]
    panels, left = [_panel(part, key) for key in shown], set[str]()
    columns = [part.column(key) for key in shown]
    left |= {"ring"} if not part.published or not part.strict else set()
    left |= {"chance"} if all(shared_chance(column) is None for column in columns) else set()
    left |= {"ceiling"} if all(shared_ceiling(column) is None for column in columns) else set()
    return Drawings("", tuple(panels), tuple(key for key in _KEYS if key[0] not in left)) if panels else None


def _panel(part: StudyPart, key: Key) -> Panel:
    column = part.column(key)
    over = next(filter(None, column))
    low, high = over.first.bounds
    rows = [_dot_row(part, group, own) for group in part.groups if (own := group.over(key)) is not None]
    ends = [end for row in rows for end in (*row.values, *(row.interval or ())) if end is not None]
    low, high = min(ends) if low is None else low, max(ends) if high is None else high
    scale = Scale(low, high, shared_chance(column), shared_ceiling(column))
    subject = wording.direction(over.first) if key in part.strict else wording.subject(over.first)
    name = part.identifier("strict", subject) if key in part.strict else part.identifier("leading", key[0], subject)
    return dot_panel(name, f"{subject}, {wording.measure(over.first)}", rows, scale)


def _dot_row(part: StudyPart, group: SeedGroup, over: OverSeeds) -> DotRow:
    results = part.published
    figure = results.figure(group.published_as(results), over.first) if results else None
    published = (figure.mean, published_interval(figure, results.seeds, over.first)) if figure and results else None
    return DotRow(part.label(group), over.values, over.mean, over.interval, published)
