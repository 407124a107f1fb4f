"""Draw curves of a score over the strength of an imperfection, one line for each variant of a study: used by `figures.py`.

A line is the mean over the seeds of a variant, from as many modalities as it was measured with; the band is the range over seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from molyneux.core.curves import Curve, performance_curves
from molyneux.report import StudyRun
from molyneux.report.wording import names_of

_LEFT, _PANEL, _GAP, _TOP, _PLOT, _BELOW, _LEGEND = 46, 250, 44, 56, 190, 40, 20
_LIGHT = ("#3949ab", "#c65100", "#00796b", "#a8478f", "#8a6d00", "#3a9bd1")
_DARK = ("#9fa8da", "#ffb74d", "#80cbc4", "#e0a3d0", "#dcc56a", "#90caf9")
_DASHES = ("", "6 3", "2 3", "10 3 2 3")
_PER_ROW = 4
"""Entries of a row of the legend in a figure of two panels."""


def _colours(colours: Sequence[str]) -> str:
    return "".join(f" .s{number} {{ stroke: {colour}; fill: {colour} }}" for number, colour in enumerate(colours))


_STYLE = f"""
  .page {{ fill: #ffffff }}
  text {{ font: 13px system-ui, sans-serif; fill: #202124 }}
  .soft {{ fill: #5f6368; font-size: 12px }}
  .title {{ font-weight: 600 }}
  .grid {{ stroke: #dadce0 }}
  .line {{ stroke: #5f6368; stroke-dasharray: 4 3 }}
  polyline {{ stroke-width: 2 }}
  polyline.curve {{ fill: none }}
  polygon {{ fill-opacity: .15; stroke: none !important }}
 {_colours(_LIGHT)}
  @media (prefers-color-scheme: dark) {{
    .page {{ fill: #1e2129 }}
    text {{ fill: #e8eaed }}
    .soft {{ fill: #bdc1c6 }}
    .grid {{ stroke: #3c4043 }}
    .line {{ stroke: #bdc1c6 }}
   {_colours(_DARK)}
  }}
"""


@dataclass(frozen=True)
class Shown:
    """A panel.

    Args:
        title: above it.
        under: the imperfection in words, as `Curve.under` has it, such as `gaussian-noise of image`.
        name: of the score.
        about: what the score has to be about, among other things.
        inside: settings that a run must have, by dotted names.
        least, most: the ends of the vertical axis.
    """

    title: str
    under: str
    name: str
    about: Mapping[str, Any]
    inside: Mapping[str, Any]
    least: float
    most: float


@dataclass(frozen=True)
class Curves:
    """Panels side by side with the same lines.

    Args:
        studies: whose records are drawn.
        title: of the figure.
        panels: from left to right.
        control: name of a control that is drawn as a dashed line; chance by default.
        variants: whose lines are drawn; all by default.
    """

    studies: tuple[str, ...]
    title: str
    panels: tuple[Shown, ...]
    control: str = "chance"
    variants: tuple[str, ...] = ()


def curves_svg(figure: Curves, runs: Sequence[StudyRun]) -> str:
    """The figure as SVG.

    Raises:
        SystemExit: no run has a curve for a panel.
    """
    runs = [run for run in runs if not figure.variants or run.settings["name"] in figure.variants]
    names = list(dict.fromkeys(str(run.settings["name"]) for run in runs))
    per_row = max(2, _PER_ROW * len(figure.panels) // 2)
    rows = -(-len([*names, figure.control]) // per_row)
    width = _LEFT + (_PANEL + _GAP) * len(figure.panels)
    height = _TOP + _PLOT + _BELOW + _LEGEND * rows + 10
    parts = [f'<rect class="page" width="{width}" height="{height}" rx="6"/>', _text(14, 22, figure.title, "title")]
    for place, shown in enumerate(figure.panels):
        parts += _panel(shown, figure.control, runs, names, _LEFT + (_PANEL + _GAP) * place)
    parts += _legend([*names, figure.control], per_row, (width - _LEFT) / per_row)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    return "\n".join([head, f"<title>{escape(figure.title)}</title>", f"<style>{_STYLE}</style>", *parts, "</svg>\n"])


def curves_of(run: StudyRun, shown: Shown) -> list[Curve]:
    """The curves of a run that a panel asks for: those from the most modalities; none where it lacks the settings."""
    if any(run.settings.get(path) != value for path, value in shown.inside.items()):
        return []
    found = [curve for curve in performance_curves(run.scores) if curve.name == shown.name and curve.under == shown.under]
    found = [curve for curve in found if dict(shown.about).items() <= dict(curve.about).items()]
    counts = [len(names_of(curve.about.get("source"))) for curve in found]
    return [curve for curve, count in zip(found, counts, strict=True) if count == max(counts)][:1]


def _panel(shown: Shown, control: str, runs: Sequence[StudyRun], names: Sequence[str], left: float) -> Iterator[str]:
    by_name = {name: [curve for run in runs if run.settings["name"] == name for curve in curves_of(run, shown)] for name in names}
    found = [curve for curves in by_name.values() for curve in curves]
    if not found:
        raise SystemExit(f"no curve of {shown.name} under {shown.under} is on record: sweep the study, or leave the panel out")
    strongest = max(curve.strengths[-1] for curve in found)

    def x(strength: float) -> float:
        return round(left + _PANEL * strength / strongest, 1)

    def y(value: float) -> float:
        share = (min(max(value, shown.least), shown.most) - shown.least) / (shown.most - shown.least)
        return round(_TOP + _PLOT * (1 - share), 1)

    yield _text(left, _TOP - 10, shown.title, "title")
    for step in range(5):
        value = shown.least + (shown.most - shown.least) * step / 4
        yield f'<line class="grid" x1="{left}" y1="{y(value)}" x2="{left + _PANEL}" y2="{y(value)}"/>'
        yield _text(left - 6, y(value) + 4, f"{value:.3g}", "soft", anchor="end")
    parts = _parts(strongest)
    for step in range(parts + 1):
        yield _text(x(strongest * step / parts), _TOP + _PLOT + 16, f"{strongest * step / parts:.2g}", "soft", anchor="middle")
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


def _line(number: int, curves: Sequence[Curve], x: Any, y: Any) -> Iterator[str]:
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
        yield _text(left + 30, top + 4, name, "soft")


def _class(number: int) -> str:
    return f"s{number % len(_LIGHT)}"


def _dash(number: int) -> str:
    dash = _DASHES[number // len(_LIGHT) % len(_DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _level(curve: Curve, control: str) -> float | None:
    return curve.averaged(lambda score: score.chance if control == "chance" else score.controls.get(control))


def _text(x: float, y: float, words: str, style: str, *, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>' if words else ""


_MSE = {"target": "squared return"}
_GROUP, _NOISY = "data.benchmark.init_args.group", "correlated of gaussian-noise"
_INFORMATION = (("Redundant", "redundancy"), ("Unique to x1", "unique x1"), ("Synergistic", "synergy"))
_BROKEN = {"noise": "gaussian-noise of x1", "shared-noise": "correlated of gaussian-noise", "missing": "missing of x1 + x2"}
_CORRECT, _TO_TEXT = "prediction.accuracy", {"source": "image", "target": "text"}
CURVES = {
    "stocks-noise": Curves(
        ("stocks",),
        "Mean squared error of the next day's squared return, all shares with the same noise",
        tuple(
            Shown(title, _NOISY, "prediction.mse", _MSE, {_GROUP: group}, least, most)
            for title, group, least, most in (
                ("F&B", "food", 0.6, 0.9),
                ("Health", "health", 2.7, 3.0),
                ("Tech", "tech", 0.1, 0.3),
            )
        ),
    ),
    "push-noise": Curves(
        ("push",),
        "Mean squared error of the puck's place, by the strength of noise",
        (
            Shown("Noise on the image", "gaussian-noise of image", "prediction.mse", {}, {}, 0, 4.2),
            Shown("The same noise on all", _NOISY, "prediction.mse", {}, {}, 0, 2.6),
        ),
    ),
    **{
        f"interactions-{name}": Curves(
            ("broken-interactions",),
            {
                "noise": "Targets that are right, %, by the strength of noise on x1",
                "shared-noise": "Targets that are right, %, by the strength of noise that hits x1 and x2 alike",
                "missing": "Targets that are right, %, by the rate at which x1 and x2 are missing",
            }[name],
            tuple(
                Shown(title, imperfection, "prediction.accuracy", {"target": target}, {}, 40, 100)
                for title, target in _INFORMATION
            ),
        )
        for name, imperfection in _BROKEN.items()
    },
    "av-mnist-noise": Curves(
        ("av-mnist",),
        "Digits that are right, %, by the strength of noise on one sense and by the rate of missing senses",
        (
            Shown("Noise on the image", "gaussian-noise of image", _CORRECT, {}, {}, 0, 100),
            Shown("Noise on the sound", "gaussian-noise of audio", _CORRECT, {}, {}, 0, 100),
            Shown("Senses missing", "missing of image + audio", _CORRECT, {}, {}, 0, 100),
        ),
    ),
    "broken-senses": Curves(
        ("broken-senses",),
        "What a generative model writes of a noisy image, and what it restores",
        (
            Shown("Caption right, %", "gaussian-noise of image", "coherence.strict", _TO_TEXT, {}, 0, 100),
            Shown("Error of the image", "gaussian-noise of image", "reconstruction.mse", {"source": "image"}, {}, 0, 0.2),
        ),
    ),
}
