"""Leaderboard: with which model to start, all models and worlds on one screen, and each table with what a training cost."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from nicegui import ui

import molyneux.run as runs
from molyneux.studio.address import PageState, chosen, word
from molyneux.studio.curves import show_points
from molyneux.studio.frame import again, card, heading, note, show_rows
from molyneux.studio.visit import ResultArea, Visit

if TYPE_CHECKING:
    from molyneux.report import Leaderboard, Table
    from molyneux.report.leaderboard.boards import Board, BoardRow
    from molyneux.report.leaderboard.overview import Overview

PATH, TITLE = "/leaderboard", "Leaderboard"
INTRO = "With which model to start, from records alone: every score beside its chance level, its seeds and what a training cost."
_COSTS = {
    "processor_seconds": "processor seconds of a training",
    "seconds": "seconds of a training",
    "steps": "steps of a training",
}


@dataclass(frozen=True)
class LeaderboardState(PageState):
    """What the page shows.

    Args:
        search: a part of the name of a model or world; rows and tables without it are left out.
        board: title of the table that is shown whole; empty for the first.
        cost: what the scores are drawn against.
    """

    search: str = ""
    board: str = ""
    cost: str = "processor_seconds"

    def checked(self) -> Self:
        """See `PageState`."""
        return replace(self, cost=chosen(self.cost, _COSTS), search=self.search[:100])


State = LeaderboardState


@dataclass(frozen=True)
class _Ranked:
    leaderboard: Leaderboard
    overview: Overview
    boards: dict[str, Board]


async def build(visit: Visit[LeaderboardState]) -> None:
    """Build the page."""
    await _Leaderboard(visit).build()


class _Leaderboard:
    def __init__(self, visit: Visit[LeaderboardState]) -> None:
        self.visit = visit
        self.ranked: _Ranked | None = None

    async def build(self) -> None:
        if not self.visit.library.results:
            note("There are no records here. Name folders of them at the start: molyneux studio --results studies/results")
            return
        with card("Start with"):
            self.first = ResultArea("the answer")
        with card("Models and worlds"):
            search = ui.input("Only models or worlds with", value=self.visit.state.search).props(
                "outlined dense clearable debounce=300"
            )
            search.on_value_change(lambda e: self._changed(search=word(e.value)))
            self.matrix = ResultArea("models and worlds")
        with card("One table"):
            self.table = ResultArea("one table")
        library = self.visit.library
        self.ranked = await self.visit.compute(
            "ranked", self.first, lambda _: library.of_records("leaderboard", _ranked), words="reading records"
        )
        self._show()

    def _changed(self, **values: Any) -> None:
        if self.visit.change(**values):
            self._show()

    def _show(self) -> None:
        ranked, state = self.ranked, self.visit.state
        if ranked is None:
            return
        with self.first.fresh():
            ui.label(ranked.overview.answer).classes("answer")
            with ui.element("div").classes("columns"):
                for headline in ranked.overview.cards:
                    if _has(state.search, headline.about, headline.sentence):
                        with card(headline.about, level=3):
                            ui.label(headline.number).classes("big")
                            ui.label(headline.sentence)
        with self.matrix.fresh():
            if ranked.overview.matrix is not None:
                _show_matrix(ranked.overview.matrix, state.search)
        self._table(ranked)

    def _table(self, ranked: _Ranked) -> None:
        state = self.visit.state
        names = [name for name, board in ranked.boards.items() if _has(state.search, name, *(row.label for row in board.rows))]
        if not names:
            with self.table.fresh():
                note("No table has this.")
            return
        name = chosen(state.board, names)
        board = ranked.boards[name]
        with self.table.fresh():
            box = ui.select(names, label="table", value=name).props("outlined dense options-dense")
            box.on_value_change(lambda e: self._changed(board=word(e.value)))
            decimals, unit = board.over.decimals, " %" if board.over.first.unit == "%" else ""
            known = {"guessing": board.over.chance, **board.over.controls}
            controls = ", ".join(f"{what} {value:.{decimals}f}{unit}" for what, value in known.items() if value is not None)
            ui.label(f"Beside the models: {controls}." if controls else "This score has no chance level.").classes("quiet")
            rows = [_row(row, decimals) for row in board.rows]
            show_rows(("rank", "model", "score", "95 % interval", "seeds", "training"), rows)
            points = [(row.label, row.cost[state.cost], row.mean) for row in board.rows if state.cost in row.cost]
            if len(points) > 1:
                heading("Cost against score", level=3)
                cost = ui.select(_COSTS, label="cost", value=state.cost).props("outlined dense options-dense")
                cost.on_value_change(lambda e: self._changed(cost=word(e.value)))
                show_points(points, across=_COSTS[state.cost], up=name)
            again(*_lines(self.visit))


def _ranked(folders: Sequence[str]) -> _Ranked:
    """The leaderboard of folders of records."""
    from molyneux.report import leaderboard_overview

    found = runs.make_leaderboard(folders)
    return _Ranked(found, leaderboard_overview(found.boards), {_title(board): board for board in found.boards})


def _title(board: Board) -> str:
    from molyneux.report import wording

    world, level, split = board.task.place
    place = f"{world} level {level}" if level else world
    subject = wording.subject(board.over.first)
    return ", ".join(
        part for part in (place, wording.measure(board.over.first), subject, "" if split == "test" else split) if part
    )


def _row(row: BoardRow, decimals: int) -> tuple[str, ...]:
    interval = f"{row.interval[0]:.{decimals}f} to {row.interval[1]:.{decimals}f}" if row.interval else ""
    cost = f"{row.cost['seconds']:,.0f} s" if "seconds" in row.cost else ""
    source = f" ({row.source})" if row.source else ""
    return (str(row.rank or ""), f"{row.label}{source}", f"{row.mean:.{decimals}f}", interval, str(row.seeds), cost)


def _has(search: str, *texts: str) -> bool:
    return not search or any(search.lower() in text.lower() for text in texts)


def _show_matrix(table: Table, search: str) -> None:
    """Models by worlds; colour, and a word for who does not see it, say what is above chance."""
    head = "".join(f'<th scope="col">{html.escape(column.whole)}</th>' for column in table.columns)
    worlds = [number for number, column in enumerate(table.columns) if number == 0 or _has(search, column.whole)]
    rows = []
    for row in table.rows:
        if not (_has(search, row[0].text) or len(worlds) > 1):
            continue
        cells = "".join(_cell(entry.shown, entry.heat) for entry in row[1:])
        rows.append(f'<tr><th scope="row">{html.escape(row[0].shown or row[0].text)}</th>{cells}</tr>')
    ui.html(
        f'<div class="scroll" tabindex="0"><table class="plain matrix"><tr>{head}</tr>{"".join(rows)}</table></div>',
        sanitize=False,
    )
    for text in table.notes:
        note(text)


def _cell(text: str, heat: float | None) -> str:
    if heat is None:
        return f"<td>{html.escape(text)}</td>"
    kind = "above" if heat > 0 else "below"
    share = f"{min(100, round(12 + 60 * abs(heat)))}%"
    return f'<td class="heat {kind}" style="--heat:{share}">{html.escape(text)}<span class="hidden"> {kind} chance</span></td>'


def _lines(visit: Visit[LeaderboardState]) -> tuple[str, str]:
    folders = list(visit.library.results)
    python = (
        "from molyneux.report import leaderboard_overview\nfrom molyneux.run import make_leaderboard\n\n"
        f"leaderboard = make_leaderboard({folders!r})\nprint(leaderboard_overview(leaderboard.boards).answer)"
    )
    return python, f"molyneux leaderboard {' '.join(folders)} --out leaderboard"
