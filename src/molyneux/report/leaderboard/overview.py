"""What a leaderboard answers first: with which model to start, and a matrix of models and worlds by how far above chance.

Each world, level and split `test` has one column: of its tables, that of the first score of `_FIRST` that it has; of several of
one score, that from the most modalities, of those that with the fewest settings of the world changed, and of those that with the
most models of several seeds. Models of the matrix are the best of each column. One is above chance if its interval lies above
chance, above the best constant answer, and above the control of unbound counts, as far as there are such. Controls that were run
as models are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from molyneux.report import wording
from molyneux.report.leaderboard.boards import RECORD, Board, BoardRow
from molyneux.report.page import Headline
from molyneux.report.tables import Column, Entry, Strip, Table
from molyneux.report.tables.heatmap import heat
from molyneux.report.tables.table import DASH, ceiling
from molyneux.report.wording import listed, write, write_interval

_FIRST = ("coherence.strict", "prediction.accuracy", "disentanglement.mig", "downstream.accuracy")
_MODELS = 3
"""Models of each column that have a row."""
_COLOUR = "Colour: blue above chance, orange below it, the stronger the further from it; the words say whether the interval is."
_COLUMNS = "Each column has the best models of one table of its world, and what others of the matrix reach there."


@dataclass(frozen=True)
class Overview:
    """The first part of a leaderboard.

    Args:
        answer: with which model to start.
        cards: that of each world.
        matrix: models by worlds; None where no table can be ranked.
    """

    answer: str
    cards: tuple[Headline, ...]
    matrix: Table | None


def leaderboard_overview(boards: Sequence[Board]) -> Overview:
    """What the boards of a leaderboard answer."""
    columns = _columns(boards)
    if not columns:
        return Overview("", (), None)
    firsts = {place: _leaders(board) for place, board in columns.items()}
    wins: dict[str, int] = {}
    for rows in firsts.values():
        for row in rows:
            wins[row.label] = wins.get(row.label, 0) + 1
    most = max(wins.values())
    best = [name for name, count in wins.items() if count == most]
    if len(columns) == 1:
        (board,) = columns.values()
        answer = f"{_begin(board.rows[0], board)} {listed(best)}: {_reached(board.rows[0], board=board)}."
    elif most > 1:
        answer = f"Start with {listed(best)}, first on {most} of {len(columns)} worlds; each card has the model of its world."
    else:
        answer = f"No model is first on two of the {len(columns)} worlds: start with that of the card of your kind of data."
    return Overview(answer, tuple(_card(place, board, firsts[place]) for place, board in columns.items()), _matrix(columns))


def _columns(boards: Sequence[Board]) -> dict[str, Board]:
    """The board of each world and level that stands for it, under its title."""
    found: dict[str, list[Board]] = {}
    for board in boards:
        ours = _ours(board)
        if board.task.split == "test" and ours:
            world, level, _ = board.task.place
            found.setdefault(f"{world} level {level}" if level else world, []).append(board)
    return {place: min(some, key=_order) for place, some in found.items()}


def _ours(board: Board) -> list[BoardRow]:
    """The rows of our records that are of models."""
    return [row for row in board.rows if row.kind == RECORD and row.label != wording.control("unbound")]


def _order(board: Board) -> tuple[int, ...]:
    ours, altered = _ours(board), len(board.task.details.get("changed") or ())
    several = sum(row.seeds > 1 for row in ours)
    name, recommended = board.task.key[0], board.task.about.get("variant", "recommended") == "recommended"
    first = _FIRST.index(name) if name in _FIRST else len(_FIRST)
    return first, 0 if recommended else 1, -len(wording.names_of(board.task.about.get("source"))), altered, -several, -len(ours)


def _leaders(board: Board) -> list[BoardRow]:
    """The best of the models that share the first rank: their mean decides which is named; of several seeds before one."""
    ours = _ours(board)
    several = [row for row in ours if row.seeds > 1] or ours
    return several[:1]


def _reached(row: BoardRow, *, board: Board) -> str:
    decimals = board.over.decimals
    unit = " %" if board.over.first.unit == "%" else ""
    measure = wording.measure(board.over.first).partition(",")[0]
    interval = f" ({write_interval(row.interval, decimals)})" if row.interval else ""
    chance = "" if board.over.chance is None else f", guessing has {write(board.over.chance, decimals)}{unit}"
    return f"{measure} {write(row.mean, decimals)}{unit}{interval}{chance}"


def _card(place: str, board: Board, leaders: Sequence[BoardRow]) -> Headline:
    row, first = leaders[0], board.over.first
    unit = " %" if first.unit == "%" else ""
    equal = [other.label for other in board.rows if other.rank == row.rank and other.label != row.label and other.seeds > 1]
    named = [*equal[:3], f"{len(equal) - 3} more"] if len(equal) > 4 else equal
    near = f" Not apart from it: {listed(named)}." if equal else ""
    what = f" ({wording.subject(first)})" if wording.subject(first) else ""
    sentence = f"{_begin(row, board)} {row.label}: {_reached(row, board=board)}{what}. {_verdict(row, board)}.{near}"
    low, high = first.bounds
    strip = None
    if low is not None and high is not None and high > low:
        strip = Strip(row.mean, low, high, row.interval, board.over.chance, ceiling(board.over.controls))
    return Headline(place, f"{write(row.mean, board.over.decimals)}{unit}", sentence, strip)


def _begin(row: BoardRow, board: Board) -> str:
    """How the sentence that names a model begins: only one that is better than guessing is one to start with."""
    return "No model to start with; the first is" if _stands(row, board) in ("at chance", "below") else "Start with"


def _verdict(row: BoardRow, board: Board) -> str:
    """Whether a model is above what is reached without looking, in words."""
    level, what = _level(board)
    if level is not None and what != "guessing" and board.over.chance is not None:
        what = f"{what} ({write(level, board.over.decimals)}{' %' if board.over.first.unit == '%' else ''})"
    words = {
        "above": f"It is better than {what}",
        "at chance": f"It is not better than {what}",
        "below": f"It is worse than {what}",
    }
    return words.get(_stands(row, board), "It has no chance level")


def _level(board: Board) -> tuple[float | None, str]:
    """The best that is reached without looking at the inputs, or without binding what they show, and its name."""
    names = {"constant": "the best constant answer", "unbound": "counts without binding"}
    known = {what: board.over.controls[name] for name, what in names.items() if name in board.over.controls}
    if board.over.chance is not None:
        known = {"guessing": board.over.chance, **known}
    if not known:
        return None, ""
    best = (max if board.task.higher_is_better else min)(known, key=lambda what: known[what])
    return known[best], best


def _stands(row: BoardRow, board: Board) -> str:
    """`above`, `at chance` or `below`; empty where there is no chance and no constant answer."""
    level, _ = _level(board)
    if level is None:
        return ""
    low, high = row.ends
    if not board.task.higher_is_better:
        low, high, level = -high, -low, -level
    lowest = level if board.over.chance is None else min(level, board.over.chance * (1 if board.task.higher_is_better else -1))
    return "above" if low > level else "below" if high < lowest else "at chance"


def _matrix(columns: Mapping[str, Board]) -> Table:
    shown: dict[str, None] = {}
    for board in columns.values():
        shown.update(dict.fromkeys([row.label for row in _ours(board)][:_MODELS]))
    by_column = [{row.label: row for row in reversed(_ours(board))} for board in columns.values()]
    rows = []
    for label in shown:
        cells = [_cell(known.get(label), board) for known, board in zip(by_column, columns.values(), strict=True)]
        rows.append((Entry(label), *cells))
    heads = [Column(f"{wording.measure(board.over.first)}", group=place) for place, board in columns.items()]
    return Table("matrix", "Models and worlds", (Column("model", "left"), *heads), tuple(rows), (_COLUMNS, _COLOUR))


def _cell(row: BoardRow | None, board: Board) -> Entry:
    if row is None:
        return DASH
    level, _ = _level(board)
    if board.task.higher_is_better:
        colour = heat(row.mean, level, board.over.first.bounds)
    else:
        colour = None if not level else max(-1.0, 1.0 - row.mean / level)
    return Entry(write(row.mean, board.over.decimals), _stands(row, board), row.mean, row.interval, heat=colour)
