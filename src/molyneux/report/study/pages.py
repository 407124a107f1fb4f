"""The page of a study, and the files it is written to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from molyneux.core import DataError, nearest
from molyneux.report import wording
from molyneux.report.page import Page, Section
from molyneux.report.settings import seen_of, split_of
from molyneux.report.study.ablations import ablation_tables
from molyneux.report.study.drawings import strict_drawings
from molyneux.report.study.groups import Key
from molyneux.report.study.headlines import findings_table, study_headlines
from molyneux.report.study.parts import Part, divide
from molyneux.report.study.records import StudyRun
from molyneux.report.study.shortfalls import shortfall_table
from molyneux.report.study.tables import NOTE, measures_table, results_table, seeds_table
from molyneux.report.tables import Table
from molyneux.report.wording import slug
from molyneux.report.write import FORMATS, write_page


def write_study(runs: Sequence[StudyRun], out: Path, *, name: str = "", formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write the page of a study: `study.md`, `study.html`, and every table as CSV and LaTeX under `tables/`.

    Args:
        runs: records of its runs.
        out: folder to write into.
        name: title of the page; the folder's name where none is given.
        formats: any of `csv`, `html`, `latex`, `markdown`.

    Returns:
        The files written.

    Raises:
        DataError: there are no runs. ConfigError: an unknown format. StoreError: the folder cannot be written.
    """
    return write_page(study_page(runs, name or out.resolve().name), out, "study", formats)


def study_tables(runs: Sequence[StudyRun]) -> list[Table]:
    """The main table of every level, for pages that show nothing else; errors as `write_study`."""
    return _main_tables(_parts(runs))


def study_findings(runs: Sequence[StudyRun]) -> Table:
    """What the study found, a line for every level and direction; errors as `write_study`."""
    return findings_table(_parts(runs))


def chosen_tables(
    runs: Sequence[StudyRun], shown: Sequence[tuple[str, Mapping[str, str]]], *, published: bool = False
) -> list[Table]:
    """For every level a table of chosen scores, for pages that show nothing else.

    Args:
        runs: records.
        shown: scores, each by its name and all of what it is about.
        published: whether published numbers stand beside them.

    Raises:
        DataError: there are no runs, or a score that none of them has.
    """
    keys = [(name, tuple(sorted(about.items()))) for name, about in shown]
    tables, parts = [], _parts(runs)
    for name, about in keys:
        if not any(part.has((name, about)) for part in parts):
            known = {str(dict(score.about)) for run in runs for score in run.scores if score.name == name}
            hint = f" {nearest(str(dict(about)), known)}" if known else ""
            raise DataError(f"no run has the score {name} about {dict(about)};{hint or ' measure it, or leave it out'}")
    for part in parts:
        grid = part.grid([key for key in keys if part.has(key)])
        board = part.leaderboard if published else None
        source = () if board is None else (*board.notes, _SPREAD_PUBLISHED.format(board.seeds))
        name, title = slug(f"chosen {part.title}"), part.titled("chosen scores")
        tables.append(results_table(name, title, grid, leaderboard=board, notes=(NOTE, *source)))
    return tables


def study_page(runs: Sequence[StudyRun], name: str) -> Page:
    """Everything the records of a study say; errors as `write_study`."""
    parts = _parts(runs)
    short = shortfall_table(parts)
    ablations = tuple(table for part in parts for table in ablation_tables(part))
    sections = (
        *(_results(part, table) for part, table in zip(parts, _main_tables(parts), strict=True)),
        Section("shortfalls", "Where it does not get there", "", (short,) if short else ()),
        Section("ablations", "One setting at a time", _ABLATIONS, ablations),
        Section("factors", "Factors", _FACTORS, tuple(table for part in parts for table in _factor_tables(part))),
        Section("measures", "Further measures", "", tuple(table for part in parts for table in _family_tables(part))),
        Section("spread", "Over seeds", _SPREAD, tuple(_spread(part) for part in parts)),
    )
    groups = sum(len(part.groups) for part in parts)
    seeds = sorted({run.seed for run in runs if run.seed}, key=lambda seed: (len(seed), seed))
    splits = ", ".join(dict.fromkeys(split_of(run.scores) for run in runs))
    seeded = f"seeds {', '.join(seeds)}" if seeds else ""
    facts = (f"{len(runs)} runs", f"{groups} settings", seeded, f"measured on the {splits} split")
    return Page("study", name, tuple(fact for fact in facts if fact), study_headlines(parts), sections)


_ABLATIONS = f"Every table varies one setting and holds all others at the values they have most often. {NOTE}"
_FACTORS = f"Which parts of the meaning arrive and which are lost, in %. {NOTE}"
_AS_ABOVE = "Published numbers come from another protocol, as said above."
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
    return Section(slug(part.title or "results"), part.title or "Results", "", (table, drawings) if drawings else (table,))


def _main_tables(parts: Sequence[Part]) -> list[Table]:
    """What must be known about the published numbers stands in full below the first table that has any."""
    tables: list[Table] = []
    told = False
    for part in parts:
        board = part.leaderboard
        known = seen_of(part.scores)
        seen = (f"Measured views that also occur in training: {known}.",) if known else ()
        source = () if board is None else (_AS_ABOVE,) if told else (*board.notes, _SPREAD_PUBLISHED.format(board.seeds))
        told = told or board is not None
        name, title = slug(f"results {part.title}"), part.titled("results")
        tables.append(results_table(name, title, part.grid(part.main), leaderboard=board, notes=(NOTE, *seen, *source)))
    return tables


def _factor_tables(part: Part) -> list[Table]:
    directions: dict[str, list[Key]] = {}
    for key in part.factors:
        about = dict(key[1])
        directions.setdefault(wording.direction_of(about), []).append(key)
    return [
        results_table(slug(f"factors {part.title} {words}"), part.titled(words), part.grid(members))
        for words, members in directions.items()
    ]


def _family_tables(part: Part) -> list[Table]:
    families: dict[str, list[Key]] = {}
    for key in part.rest:
        families.setdefault(wording.family(key[0]), []).append(key)
    return [
        measures_table(slug(f"{part.title} {name}"), part.titled(wording.family_title(name)), part.grid(members))
        for name, members in families.items()
    ]


def _spread(part: Part) -> Table:
    return seeds_table(slug(f"seeds {part.title}"), part.titled("mean and spread"), part.grid(part.main))
