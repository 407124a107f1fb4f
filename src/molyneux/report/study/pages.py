"""The page of a study, and single tables of it for other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from molyneux.core import DataError, Score, nearest
from molyneux.report import wording
from molyneux.report.page import Page, Section
from molyneux.report.records import StudyRun
from molyneux.report.render import FORMATS, write_page
from molyneux.report.settings import split_of, train_overlap_of
from molyneux.report.study.findings import findings_table, shortfall_table, strict_drawings, study_headlines
from molyneux.report.study.groups import Key, Part, divide
from molyneux.report.study.tables import NOTE, ablation_tables, measures_table, results_table, seeds_table
from molyneux.report.tables import Table, base_scores


def write_study(runs: Sequence[StudyRun], out: Path, *, name: str = "", formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write the page of a study, and return the files: `study.md`, `study.html`, every table as CSV and LaTeX in `tables/`.

    Args:
        runs: records of the runs of the study.
        out: folder to write into.
        name: title of the page: the name of the study's file; by default that of its runs where they have one name, as without
            variants, or else that of the folder.
        formats: any of `csv`, `html`, `latex`, `markdown`.

    Raises:
        DataError: there are no runs. ConfigError: an unknown format. StoreError: the folder cannot be written.
    """
    names = {str(run.settings.get("name", "")) for run in runs}
    return write_page(
        study_page(runs, name or (names.pop() if len(names) == 1 else "") or out.resolve().name), out, "study", formats
    )


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
        tables.append(results_table(name, title, part, chosen, published=results, notes=(NOTE, *source)))
    return tables


def study_page(runs: Sequence[StudyRun], name: str) -> Page:
    """The page of a study; errors as `write_study`."""
    parts = _parts(runs)
    short = shortfall_table(parts)
    ablations = tuple(table for part in parts for table in ablation_tables(part))
    sections = (
        *(_results(part, table) for part, table in zip(parts, _main_tables(parts), strict=True)),
        Section("shortfalls", "Results not clearly better", "", (short,) if short else ()),
        Section("ablations", "One setting at a time", _ABLATIONS, ablations),
        Section("factors", "Factors", _FACTORS, tuple(table for part in parts for table in _factor_tables(part))),
        Section("conditions", "Conditions", _CONDITIONS, tuple(_condition_table(part) for part in parts if part.conditions)),
        Section("measures", "Further measures", "", tuple(table for part in parts for table in _family_tables(part))),
        Section("spread", "Over seeds", _SPREAD, tuple(_spread(part) for part in parts)),
    )
    groups = sum(len(part.groups) for part in parts)
    seeds = sorted({run.seed for run in runs if run.seed}, key=lambda seed: (len(seed), seed))
    splits = ", ".join(dict.fromkeys(split_of(base_scores(run.scores)) for run in runs))
    seeded = f"seeds {', '.join(seeds)}" if seeds else ""
    facts = (f"{len(runs)} runs", f"{groups} settings", seeded, f"measured on the {splits} split")
    return Page("study", name, tuple(fact for fact in facts if fact), study_headlines(parts), sections)


_ABLATIONS = f"Every table varies one setting and holds all others at the values they have most often. {NOTE}"
_FACTORS = f"Coherence of single factors, in %: which parts of the meaning arrive and which are lost. {NOTE}"
_CONDITIONS = "Scores of samples with corruptions, with missing modalities, or of another split."
_AS_ABOVE = "Published numbers come from another protocol, other models and other readers; see the first table."
_SPREAD_PUBLISHED = "Intervals of published numbers: Student's t from the printed deviation over {} seeds."
_SPREAD = (
    "Two intervals that answer different questions: over seeds, where the mean of new seeds would lie; over samples, how well "
    "these very runs were measured."
)


def _parts(runs: Sequence[StudyRun]) -> list[Part]:
    if not runs:
        raise DataError("expected the records of at least one run, got none: run the sweep first")
    return divide(runs)


def _results(part: Part, table: Table) -> Section:
    drawings = strict_drawings(part)
    return Section(part.identifier("results"), part.title or "Results", "", (table, drawings) if drawings else (table,))


def _main_tables(parts: Sequence[Part]) -> list[Table]:
    """The main table of every part. The first with published numbers has their source and protocol in its notes."""
    tables: list[Table] = []
    explained = False
    for part in parts:
        results = part.published
        overlap = train_overlap_of(part.scores)
        notes = [NOTE, *([f"Measured views that also occur in training: {overlap}."] if overlap else [])]
        if results is not None:
            notes += [_AS_ABOVE] if explained else [*results.notes, _SPREAD_PUBLISHED.format(results.seeds)]
            explained = True
        elif part.left_out:
            notes.append(part.left_out)
        name, title = part.identifier("results"), part.titled("results")
        tables.append(results_table(name, title, part, part.main, published=results, notes=notes))
    return tables


def _factor_tables(part: Part) -> list[Table]:
    """One table for each direction, folded as the directions and levels repeat it."""
    directions: dict[str, list[Key]] = {}
    for key in part.factors:
        directions.setdefault(wording.direction(Score(key[0], None, dict(key[1]))), []).append(key)
    tables = [
        results_table(part.identifier("factors", direction), part.titled(direction), part, keys)
        for direction, keys in directions.items()
    ]
    return [replace(table, folded=True) for table in tables]


def _family_tables(part: Part) -> list[Table]:
    families: dict[str, list[Key]] = {}
    for key in part.rest:
        families.setdefault(wording.family(key[0]), []).append(key)
    return [
        measures_table(part.identifier("family", name), part.titled(wording.family_title(name)), part, keys, folded=True)
        for name, keys in families.items()
    ]


def _condition_table(part: Part) -> Table:
    return measures_table(part.identifier("conditions"), part.titled("scores by condition"), part, part.conditions)


def _spread(part: Part) -> Table:
    return seeds_table(part.identifier("seeds"), part.titled("mean and spread"), part, part.main)
