"""Figures of a score over the strength of an imperfection, one line for each variant of a study.

A line is the mean over the seeds of a variant, from as many modalities as it was measured with; the band is the range over seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from molyneux.core import DataError
from molyneux.core.curves import Curve, performance_curves
from molyneux.core.score import About
from molyneux.report.record_lines import StudyRun
from molyneux.report.study.figures.drawing import DARK, LIGHT, style_sheet, svg_sheet, svg_text
from molyneux.report.wording import names_of

_LEFT, _PANEL, _GAP, _TOP, _PLOT, _BELOW, _LEGEND = 46, 250, 44, 56, 190, 40, 20
_DASHES = ("", "6 3", "2 3", "10 3 2 3")
_PER_ROW = 4
"""Entries of a row of the legend in a figure of two panels."""
Scale = Callable[[float], float]
"""Where a number lies on an axis, in pixels."""


def _colours(colours: Sequence[str]) -> str:
    return " ".join(f".s{number} {{ stroke: {colour}; fill: {colour} }}" for number, colour in enumerate(colours))


_STYLE = style_sheet(
    [
        "polyline { stroke-width: 2 }",
        "polyline.curve { fill: none }",
        "polygon { fill-opacity: .15; stroke: none !important }",
        _colours(LIGHT),
    ],
    [_colours(DARK)],
)


@dataclass(frozen=True)
class CurvePanel:
    """A panel.

    Args:
        title: above it.
        under: the imperfection in words, as `Curve.under` has it, such as `gaussian-noise of image`.
        name: of the score.
        about: what the score has to be about, among other things.
        inside: settings that a run must have, by dotted names.
        least: the lower end of the vertical axis.
        most: its upper end.
    """

    title: str
    under: str
    name: str
    about: About
    inside: Mapping[str, Any]
    least: float
    most: float


@dataclass(frozen=True)
class CurveFigure:
    """Panels side by side with the same lines.

    Args:
        title: of the figure.
        panels: from left to right.
        control: name of a control that is drawn as a dashed line; chance by default.
        variants: whose lines are drawn; all by default.
    """

    title: str
    panels: tuple[CurvePanel, ...]
    control: str = "chance"
    variants: tuple[str, ...] = ()

    def svg(self, runs: Sequence[StudyRun]) -> str:
        """The figure of the runs of a study as SVG.

        Raises:
            DataError: no run has a curve for a panel.
        """
        runs = [run for run in runs if not self.variants or run.settings["name"] in self.variants]
        names = list(dict.fromkeys(str(run.settings["name"]) for run in runs))
        per_row = max(2, _PER_ROW * len(self.panels) // 2)
        rows = -(-len([*names, self.control]) // per_row)
        width = _LEFT + (_PANEL + _GAP) * len(self.panels)
        height = _TOP + _PLOT + _BELOW + _LEGEND * rows + 10
        parts = list[str]()
        for place, shown in enumerate(self.panels):
            parts += _panel(shown, self.control, runs, names, _LEFT + (_PANEL + _GAP) * place)
        parts += _legend([*names, self.control], per_row, (width - _LEFT) / per_row)
        return svg_sheet(self.title, _STYLE, width, height, parts)


def curves_of(run: StudyRun, shown: CurvePanel) -> list[Curve]:
    """The curves of a run that a panel asks for: those from the most modalities; none where it lacks the settings."""
    if any(run.settings.get(path) != value for path, value in shown.inside.items()):
        return []
    found = [curve for curve in performance_curves(run.scores) if curve.name == shown.name and curve.under == shown.under]
    found = [curve for curve in found if dict(shown.about).items() <= dict(curve.about).items()]
    counts = [len(names_of(curve.about.get("source"))) for curve in found]
    return [curve for curve, count in zip(found, counts, strict=True) if count == max(counts)][:1]


def _panel(shown: CurvePanel, control: str, runs: Sequence[StudyRun], names: Sequence[str], left: float) -> Iterator[str]:
    by_name = {name: [curve for run in runs if run.settings["name"] == name for curve in curves_of(run, shown)] for name in names}
    found = [curve for curves in by_name.values() for curve in curves]
    if not found:
        raise DataError(
            f"expected a curve of {shown.name} under {shown.under}, got none: sweep the study, or leave the panel out"
        )
    strongest = max(curve.strengths[-1] for curve in found)

    def x(strength: float) -> float:
        return round(left + _PANEL * strength / strongest, 1)

    def y(value: float) -> float:
        share = (min(max(value, shown.least), shown.most) - shown.least) / (shown.most - shown.least)
        return round(_TOP + _PLOT * (1 - share), 1)

    yield svg_text(left, _TOP - 10, shown.title, "title")
    for step in range(5):
        value = shown.least + (shown.most - shown.least) * step / 4
        yield f'<line class="grid" x1="{left}" y1="{y(value)}" x2="{left + _PANEL}" y2="{y(value)}"/>'
        yield svg_text(left - 6, y(value) + 4, f"{value:.3g}", "soft", anchor="end")
    parts = _parts(strongest)
    for step in range(parts + 1):
        yield svg_text(x(strongest * step / parts), _TOP + _PLOT + 16, f"{strongest * step / parts:.2g}", "soft", anchor="middle")
    levels = [level for curve in found if (level := _level(curve, control)) is not None]
    if levels:
        level = y(sum(levels) / len(levels))
        yield f'<line class="line" x1="{left}" y1="{level}" x2="{left + _PANEL}" y2="{level}"/>'
    for number, curves in enumerate(by_name.values()):
        if curves:
            yield from _line(number, curves, x, y)


def _parts(strongest: float) -> int:
    """Into how many equal parts an axis is divided: such that their ends are multiples of 0.05, if that can be."""
    return next((count for count in (4, 5, 3, 2) if round(strongest / count * 20, 6).is_integer()), 4)


def _line(number: int, curves: Sequence[Curve], x: Scale, y: Scale) -> Iterator[str]:
    """The band and the mean of the curves of one variant."""
    strengths = curves[0].strengths
    values = [[float(curve.values[place]) for curve in curves] for place in range(len(strengths))]
    if len(curves) > 1:
        above = [f"{x(place)},{y(max(each))}" for place, each in zip(strengths, values, strict=True)]
        below = [f"{x(place)},{y(min(each))}" for place, each in zip(strengths, values, strict=True)]
        yield f'<polygon class="{_class(number)}" points="{" ".join([*above, *reversed(below)])}"/>'
    points = " ".join(f"{x(place)},{y(sum(each) / len(each))}" for place, each in zip(strengths, values, strict=True))
    yield f'<polyline class="curve {_class(number)}"{_dash(number)} points="{points}"/>'


def _legend(names: Sequence[str], per_row: int, step: float) -> Iterator[str]:
    """What lines stand for; the last is the control."""
    for number, name in enumerate(names):
        left, top = round(_LEFT + step * (number % per_row), 1), _TOP + _PLOT + _BELOW + _LEGEND * (number // per_row) + 6
        style = "line" if number == len(names) - 1 else f"curve {_class(number)}"
        dash = "" if style == "line" else _dash(number)
        yield f'<polyline class="{style}"{dash} points="{left},{top} {left + 24},{top}"/>'
        yield svg_text(left + 30, top + 4, name, "soft")


def _class(number: int) -> str:
    return f"s{number % len(LIGHT)}"


def _dash(number: int) -> str:
    dash = _DASHES[number // len(LIGHT) % len(_DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _level(curve: Curve, control: str) -> float | None:
    return curve.averaged(lambda score: score.chance if control == "chance" else score.controls.get(control))
