"""Drawings of a study: strict coherence of every group, direction by direction."""

from __future__ import annotations

from molyneux.report import wording
from molyneux.report.page import Drawings
from molyneux.report.plots.dots import DotRow, Lines, dot_panel
from molyneux.report.plots.svg import Panel
from molyneux.report.settings import model_of
from molyneux.report.study.groups import Group, Key, label
from molyneux.report.study.parts import Part
from molyneux.report.study.seeds import over_seeds, published_interval
from molyneux.report.wording import slug

_KEYS = (
    ("dot", "mean over seeds with its 95 % interval, seeds as small dots"),
    ("ring", "published, with its interval"),
    ("chance", "guessing"),
    ("ceiling", "judge ceiling"),
)


def strict_drawings(part: Part) -> Drawings | None:
    """One panel per direction; None where strict coherence was not measured."""
    panels = [_panel(part, key) for key in part.main if key[0] == "coherence.strict"]
    keys = _KEYS if part.leaderboard else tuple(key for key in _KEYS if key[0] != "ring")
    return Drawings("", tuple(panels), keys) if panels else None


def _panel(part: Part, key: Key) -> Panel:
    scored = [group for group in part.groups if group.scores(key)]
    over = over_seeds([score for group in scored for score in group.scores(key)])
    ceiling = next((value for name, value in over.controls.items() if "ceiling" in name), None)
    direction = wording.direction(over.first)
    rows = [_row(part, group, key) for group in scored]
    return dot_panel(
        slug(f"strict {part.title} {direction}"), f"{direction}, Strict, %", rows, Lines(0.0, 100.0, over.chance, ceiling)
    )


def _row(part: Part, group: Group, key: Key) -> DotRow:
    over, board = over_seeds(group.scores(key)), part.leaderboard
    figure = board.figure(model_of(group.runs[0].settings), over.first) if board else None
    published = (figure.mean, published_interval(figure, board.seeds, over.first)) if figure and board else None
    return DotRow(label(group, part.axes), over.values, over.mean, over.interval, published)
