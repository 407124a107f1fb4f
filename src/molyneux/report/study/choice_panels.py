"""Right two-way choices of a study over how many things came in both senses in training: a curve for all other settings each."""

from __future__ import annotations

from molyneux.core import Score
from molyneux.report import wording
from molyneux.report.choice_scores import is_choice, of_two
from molyneux.report.plots import Line, Panel, line_panel
from molyneux.report.study.groups import Axis, Key, StudyPart, label
from molyneux.report.study.references import shared_chance

_BRIDGED = ".bridging.bridged"
KEYS = (("interval", "95 % interval"), ("chance", "chance"))
"""The legend of these curves."""


def choice_about(score: Score) -> str:
    """What is chosen of what in which direction: `the right one of two new ones that are alike, touch → image`."""
    return f"the right one{of_two(score) or ' of two'}, {wording.direction(score)}"


def choice_panels(part: StudyPart) -> list[Panel]:
    """A panel for each leading score of two-way choices; none where another leads, or the number of bridged things is one."""
    axis = next((axis for axis in part.axes if axis.path.endswith(_BRIDGED)), None)
    if axis is None or len({group.values[axis.path] for group in part.groups}) < 2:
        return []
    return [_panel(part, key, axis) for key in part.leading if is_choice(Score(key[0], None, dict(key[1])))]


def _panel(part: StudyPart, key: Key, axis: Axis) -> Panel:
    """The curve of a score; the means and intervals are those of the tables."""
    others, column = [other for other in part.axes if other is not axis], part.column(key)
    points: dict[str, list[tuple[float, float, tuple[float, float] | None]]] = {}
    for group, over in zip(part.groups, column, strict=True):
        count = group.runs[0].settings.get(axis.path)
        if over is not None and over.mean is not None and isinstance(count, int | float):
            points.setdefault(label(group, others) if others else "", []).append((float(count), over.mean, over.interval))
    lines = [
        Line(name, tuple((place, mean) for place, mean, _ in own), tuple(interval for _, _, interval in own))
        for name, own in ((name, sorted(own)) for name, own in points.items())
    ]
    first = next(filter(None, column)).first
    name = part.identifier("leading", key[0], wording.subject(first))
    about = choice_about(first)
    title = f"{about[:1].upper()}{about[1:]}, %"
    return line_panel(name, title, lines, chance=shared_chance(column), across=axis.title, doubling=True)
