"""The leaderboard as tables, as a page in Markdown and HTML, and as JSON; the same records give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from molyneux.core import Score, store
from molyneux.report import wording
from molyneux.report.leaderboard.boards import FOREIGN, PUBLISHED, RECORD, Board, BoardRow
from molyneux.report.leaderboard.overview import leaderboard_overview
from molyneux.report.leaderboard.protocol import differences, protocol_words
from molyneux.report.page import Page, Section, render_html, render_markdown
from molyneux.report.tables import Column, Entry, Strip, Table
from molyneux.report.tables.table import DASH, Tone, ceiling, reference_entry
from molyneux.report.wording import write, write_interval

_FORMAT = 2
_RANKS = (
    "Rank: one more than the number of models whose 95 % interval lies wholly on the better side; models that are not apart from "
    "the best share its rank. Intervals hold for new seeds."
)
_SINGLE = (
    "† A single seed: the interval holds for new samples and not for new seeds, so the rank may change, and it changes no other."
)
_UNRANKED = {
    PUBLISHED: "Published: numbers from papers, made by another protocol; they have no rank.",
    FOREIGN: "Elsewhere: records that were added and not measured here; their protocol is not checked, and they have no rank.",
}
_COST = (
    "Seconds: of one training with its validation; processor seconds are seconds times threads, an upper limit. Times of "
    "different processors do not compare."
)


@dataclass(frozen=True)
class Leaderboard:
    """Ranked records.

    Args:
        boards: one for each score and protocol.
        runs: number of records on them.
        left_out: number of records without a score that can be ranked: no data set in their origin, no better direction, or read
            by an earlier reader.
    """

    boards: tuple[Board, ...]
    runs: int
    left_out: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain data for other programs."""
        return {
            "format": _FORMAT,
            "records": self.runs,
            "left_out": self.left_out,
            "tables": [_board_json(board) for board in self.boards],
        }


def write_leaderboard(leaderboard: Leaderboard, folder: Path | str, *, title: str = "Leaderboard") -> list[Path]:
    """Write `leaderboard.md`, `leaderboard.html` and `leaderboard.json`, and return them.

    Raises:
        StoreError: the folder cannot be written.
    """
    folder = Path(folder)
    page = _page(leaderboard, title)
    files = {folder / "leaderboard.md": render_markdown(page), folder / "leaderboard.html": render_html(page)}
    for path, text in files.items():
        store.write_text(path, text)
    store.write_json(folder / "leaderboard.json", leaderboard.to_json())
    return [*files, folder / "leaderboard.json"]


def leaderboard_tables(leaderboard: Leaderboard) -> list[Table]:
    """Every board as a table, in the order of worlds, levels, splits and scores."""
    tables = [replace(table, title=f"{place}: {table.title}") for place, some in _sections(leaderboard) for table in some]
    return [replace(table, notes=(_RANKS, *table.notes)) if number == 0 else table for number, table in enumerate(tables)]


def _page(leaderboard: Leaderboard, title: str) -> Page:
    sections = [
        Section(wording.identifier(place), place, _RANKS if number == 0 else "", tuple(tables))
        for number, (place, tables) in enumerate(_sections(leaderboard))
    ]
    facts = [f"{leaderboard.runs} records", f"{len(leaderboard.boards)} tables"]
    if leaderboard.left_out:
        facts.append(f"{leaderboard.left_out} records have nothing that can be ranked, or were read by an earlier reader")
    first = leaderboard_overview(leaderboard.boards)
    matrix = [Section("matrix", "Models and worlds", "", (first.matrix,))] if first.matrix and len(first.cards) > 1 else []
    return Page(
        "leaderboard",
        title,
        tuple(facts),
        first.cards,
        (*matrix, *sections),
        answer=first.answer,
        command="molyneux leaderboard RESULTS --out leaderboard",
    )


def _places(leaderboard: Leaderboard) -> list[tuple[str, list[Board]]]:
    """The boards of each world, level and split under their title."""
    grouped = groupby(leaderboard.boards, lambda board: board.task.place)
    return [(_place(*place), list(boards)) for place, boards in grouped]


def _place(world: str, level: str, split: str) -> str:
    parts = [world, f"level {level}" if level else "", f"{split} split, for choosing" if split != "test" else ""]
    return ", ".join(part for part in parts if part)


def _sections(leaderboard: Leaderboard) -> list[tuple[str, list[Table]]]:
    """The tables of each place under its title. A sentence stands below the first table that needs it, and not again."""
    told = set[str]()
    sections = []
    for place, boards in _places(leaderboard):
        tables = _tables(boards)
        for number, table in enumerate(tables):
            tables[number] = replace(table, notes=tuple(note for note in table.notes if note not in told))
            told |= {note for note in table.notes if not note.startswith("Protocol ")}
        sections.append((place, tables))
    return sections


def _tables(boards: Sequence[Board]) -> list[Table]:
    """The boards of a place. Those of one score under several protocols are numbered, and say how they differ from the first."""
    tables = []
    for _, same in groupby(boards, lambda board: board.task.key):
        group = list(same)
        for number, board in enumerate(group, start=1):
            many = f", protocol {number} of {len(group)}" if len(group) > 1 else ""
            other = f"Differs from protocol 1: {differences(group[0].task, board.task)}." if number > 1 else ""
            tables.append(_table(board, many, other))
    return tables


def _table(board: Board, many: str, other: str) -> Table:
    first = board.over.first
    title = f"{': '.join(part for part in (wording.subject(first), wording.measure(first)) if part)}{many}"
    kinds = {row.kind for row in board.rows}
    costed = any(row.cost for row in board.rows)
    heads = ("rank", "model", "mean (95 %)", "seeds", *(("steps", "seconds", "processor seconds") if costed else ()))
    columns = tuple(Column(head, "left" if head == "model" else "right") for head in heads)
    rows = [_entries(row, board, costed=costed) for row in board.rows]
    rows += _reference_rows(board, len(heads))
    notes = [protocol_words(board.task.details), other, *(_UNRANKED[kind] for kind in (PUBLISHED, FOREIGN) if kind in kinds)]
    notes += [_SINGLE] if any(row.kind == RECORD and row.seeds == 1 for row in board.rows) else []
    notes += [*board.published.notes] if board.published and PUBLISHED in kinds else []
    notes += [f"{row.label}, elsewhere: {row.source}" for row in board.rows if row.kind == FOREIGN]
    notes += [_COST] if costed else []
    name = wording.identifier(" ".join((*board.task.place, first.name, title, board.task.protocol)))
    return Table(name, title, columns, tuple(rows), tuple(note for note in notes if note))


def _entries(row: BoardRow, board: Board, *, costed: bool) -> tuple[Entry, ...]:
    tone: Tone = "" if row.kind == RECORD else "muted"
    rank = DASH if row.rank is None else Entry(f"{row.rank}{'†' if row.seeds == 1 else ''}", value=row.rank)
    label = row.label if row.kind == RECORD else f"{row.label}, {row.kind}"
    detail = write_interval(row.interval, board.over.decimals) if row.interval else ""
    strong: Tone = "strong" if row.rank == 1 else tone
    strip = _strip(row, board) if row.kind == RECORD else None
    mean = Entry(write(row.mean, board.over.decimals), detail, row.mean, row.interval, strong, strip=strip)
    costs = [row.cost.get(name) for name in ("steps", "seconds", "processor_seconds")] if costed else []
    cost = [DASH if number is None else Entry(f"{number:,.0f}", value=number, tone="muted") for number in costs]
    return (rank, Entry(label, tone=tone), mean, Entry(str(row.seeds), value=row.seeds), *cost)


def _strip(row: BoardRow, board: Board) -> Strip | None:
    low, high = board.over.first.bounds
    if low is None or high is None or high <= low:
        return None
    return Strip(row.mean, low, high, row.interval, board.over.chance, ceiling(board.over.controls))


def _reference_rows(board: Board, width: int) -> list[tuple[Entry, ...]]:
    """Chance and controls, to compare with."""
    first: Score = board.over.first
    numbers = {"guessing": board.over.chance, **{wording.control(name): value for name, value in board.over.controls.items()}}
    return [
        (DASH, Entry(name, tone="muted"), reference_entry(first, number), *(DASH,) * (width - 3))
        for name, number in sorted(numbers.items(), key=lambda item: ("ceiling" in item[0], item[0] != "guessing", item[0]))
        if number is not None
    ]


def _board_json(board: Board) -> dict[str, Any]:
    task, first = board.task, board.over.first
    return {
        "world": task.world,
        "level": task.level,
        "split": task.split,
        "score": task.key[0],
        "about": {name: list(value) if isinstance(value, tuple) else value for name, value in task.about.items()},
        "unit": task.unit,
        "higher_is_better": task.higher_is_better,
        "bounds": list(first.bounds),
        "chance": board.over.chance,
        "controls": dict(board.over.controls),
        "protocol": task.details,
        "rows": [_row_json(row) for row in board.rows],
    }


def _row_json(row: BoardRow) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "model": row.label,
        "kind": row.kind,
        "mean": row.mean,
        "interval": None if row.interval is None else list(row.interval),
        "seeds": row.seeds,
        "values": list(row.values),
        "cost": dict(row.cost),
        "source": row.source,
    }
