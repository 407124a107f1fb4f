"""What readers say of views that are and are not of their world, as tables of the records of `studies/judges.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from molyneux.report import StudyRun

_TRUE = ("true", "soft", "plain")
"""Kinds of views that show figures of the world: as it draws them, a little blurred and noisy, and without texture."""


def accepted(runs: Sequence[StudyRun], before: Sequence[StudyRun], *, world: str, modality: str) -> str:
    """Share of views of each kind of which every factor was read, by reader and level; `before` with earlier readers."""
    runs = [run for run in runs if (run.settings["world"], run.settings["modality"]) == (world, modality)]
    if not runs:
        return ""
    found = {_place(run): _percent(run, "reading.accepted", {}) for run in runs}
    earlier = {_place(run): _percent(run, "reading.accepted", {}) for run in before if run.settings["world"] == world}
    readers = sorted({run.settings["reader"] for run in runs}, reverse=True, key=lambda reader: reader == "exact")
    kinds = list(dict.fromkeys(run.settings["kind"] for run in runs))
    columns = [(reader, level) for reader in readers for level in range(1, 6)]
    lines = [f"| kind of view | {' | '.join(f'{reader}, level {level}' for reader, level in columns)} | exact before, level 1 |"]
    lines.append(f"|---|{'---:|' * (len(columns) + 1)}")
    for kind in kinds:
        cells = [found.get((modality, reader, level, kind), "") for reader, level in columns]
        lines.append(f"| {kind} | {' | '.join(cells)} | {earlier.get((modality, 'exact', 1, kind), '')} |")
    note = f"- Views accepted (every factor read), %, of {runs[0].scores[0].n:,} of each kind and level."
    return f"{_without_empty(lines)}\n\n{note}\n"


def right(runs: Sequence[StudyRun], *, world: str, modality: str) -> str:
    """Share of true views of each factor that were read correctly, by reader, kind and level."""
    runs = [run for run in runs if (run.settings["world"], run.settings["modality"]) == (world, modality)]
    runs = [run for run in runs if run.settings["kind"] in _TRUE]
    scores = [score for run in runs for score in run.scores if score.name == "reading.correct"]
    factors = list(dict.fromkeys(score.about["factor"] for score in scores))
    lines = [f"| reader | kind of view | level | {' | '.join(factors)} |", f"|---|---|---:|{'---:|' * len(factors)}"]
    for reader, kind, run in sorted(((run.settings["reader"], run.settings["kind"], run) for run in runs), key=_order):
        cells = [_percent(run, "reading.correct", {"factor": factor}) for factor in factors]
        lines.append(f"| {reader} | {kind} | {run.settings['level']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n- Read correctly, %; abstaining counts as wrong.\n"


def _order(row: tuple[str, str, StudyRun]) -> tuple[str, int, int]:
    """The exact reader before the judge, kinds as in `_TRUE`, then levels."""
    reader, kind, run = row
    return reader, _TRUE.index(kind), run.settings["level"]


def _place(run: StudyRun) -> tuple[str, str, int, str]:
    settings = run.settings
    return settings["modality"], settings["reader"], settings["level"], settings["kind"]


def _percent(run: StudyRun, name: str, about: Mapping[str, str]) -> str:
    for score in run.scores:
        if score.name == name and dict(score.about) == dict(about) and score.value is not None:
            return f"{score.value:.1f}"
    return ""


def _without_empty(lines: Sequence[str]) -> str:
    """The table without columns that have no value."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows[2:])]
    return "\n".join(f"| {' | '.join(row[column] for column in kept)} |" for row in rows)
