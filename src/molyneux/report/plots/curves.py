"""Curves of scores over the strength of an imperfection: one line for each source of a run, or for each group of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from molyneux.core import Score
from molyneux.core.curves import Curve, performance_curves
from molyneux.core.intervals import Interval
from molyneux.report import wording
from molyneux.report.plots.svg import CHANCE, INK, QUIET, RULE, SERIES, Panel, axes, label, panel
from molyneux.report.strengths import curve_sentence, to_absence
from molyneux.report.wording import identifier

_DETAILS = frozenset({"factor", "label", "value", "dimension", "bin"})
_DASHES = ("-", (0, (4, 2)), (0, (1.5, 1)), (0, (4, 1, 1, 1)))
_LINES = len(SERIES) * len(_DASHES)


@dataclass(frozen=True)
class Line:
    """One line of a drawing: what it stands for, its points, and an interval of each where there is one."""

    label: str
    points: tuple[tuple[float, float], ...]
    intervals: tuple[Interval | None, ...]


def strength_curves(scores: Sequence[Score], of: Sequence[str] = (), scale: float | None = 1.0) -> list[Panel]:
    """Curves of the scores of a run: a panel for each score and imperfection, a line for each source that was observed.

    The sentence of a panel says what is left of the score from the most modalities at the greatest strength.

    Args:
        scores: of a run under all conditions.
        of: names of the scores that are drawn; by default the first of each measure and subject.
        scale: see `strength_words`.
    """
    groups: dict[tuple[str, str, str], list[Curve]] = {}
    for curve in to_absence(leading_curves(scores, of), scores):
        groups.setdefault((curve.name, _subject(curve), curve.under), []).append(curve)
    return [replace(_of_run(*key, curves), note=_said(curves, scale)) for key, curves in groups.items()]


def _said(curves: Sequence[Curve], scale: float | None) -> str:
    """The sentence of the curve from the most modalities."""
    return curve_sentence(max(curves, key=lambda curve: len(wording.names_of(curve.about.get("source")))), scale)


def leading_curves(scores: Sequence[Score], of: Sequence[str] = ()) -> list[Curve]:
    """The curves that are drawn: of the scores named, or else of the first score of each measure and subject.

    Scores of single factors, labels and values are left out.
    """
    curves = performance_curves([score for score in scores if not _DETAILS & set(score.about)])
    first: dict[tuple[str, str, str], str] = {}
    for curve in curves:
        first.setdefault((wording.family(curve.name), _subject(curve), curve.under), curve.name)
    leading = set(of) or set(first.values())
    return [curve for curve in curves if curve.name in leading]


def _subject(curve: Curve) -> str:
    about = {name: value for name, value in curve.about.items() if name not in (*wording.CONDITIONS, "source")}
    return wording.subject(replace(curve.scores[0], about=about))


def _of_run(name: str, subject: str, under: str, curves: Sequence[Curve]) -> Panel:
    lines = [
        Line(
            wording.value_text(curve.about.get("source")),
            tuple(zip(curve.strengths, map(float, curve.values), strict=True)),
            tuple(score.interval for score in curve.scores),
        )
        for curve in curves
    ]
    first, chance = curves[0].scores[0], _shared_chance(curves)
    title = ", ".join(part for part in (wording.measure(first), subject, under.replace("-", " ")) if part)
    return line_panel(f"strength {name} {subject} {under}", title, lines, chance=chance)


def line_panel(
    name: str,
    title: str,
    lines: Sequence[Line],
    *,
    chance: float | None = None,
    across: str = "strength",
    doubling: bool = False,
) -> Panel:
    """A panel of lines with their legend; more lines than there are colours and dashes are left out, the last ones.

    Args:
        name: of the panel.
        title: above it.
        lines: in their order.
        chance: a level that all lines share.
        across: what the horizontal axis is.
        doubling: whether a step of the horizontal axis doubles its number, and the points are marked on it; below 1 it is linear.
    """
    shown = lines[:_LINES]
    drawn = axes(height=2.3 + 0.17 * ((len(shown) + 1) // 2))
    for number, line in enumerate(shown):
        colour, dashes = SERIES[number % len(SERIES)], _DASHES[number // len(SERIES)]
        places, values = zip(*line.points, strict=True)
        drawn.plot(places, values, color=colour, ls=dashes, lw=1.6, marker="o", markersize=3, label=label(line.label))
        for place, interval in zip(places, line.intervals, strict=True):
            if interval is not None:
                drawn.vlines(place, *interval, color=colour, linewidth=0.8, alpha=0.6)
    if chance is not None:
        drawn.axhline(chance, color=CHANCE, linewidth=1.4, linestyle=_DASHES[2])
    if doubling:
        marks = sorted({place for line in shown for place, _ in line.points})
        drawn.set_xscale("log", base=2) if marks[0] > 0 else drawn.set_xscale("symlog", base=2, linthresh=1)
        drawn.set_xticks(marks, [f"{mark:g}" for mark in marks])
        drawn.set_xticks([], minor=True)
        drawn.set_xlim(left=marks[0] / 1.3 if marks[0] > 1 else marks[0] - 0.3)
    drawn.yaxis.grid(True, color=RULE, linewidth=0.6)
    drawn.set_axisbelow(True)
    drawn.set_xlabel(across, fontsize=8, color=QUIET)
    if any(line.label for line in shown):
        legend = drawn.figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8, handlelength=2.4)
        for text in legend.get_texts():
            text.set(color=INK, parse_math=False)
    return panel(identifier(name), title, drawn)


def group_curves(groups: Mapping[str, Sequence[Sequence[Score]]], of: Sequence[str] = (), *, part: str = "") -> list[Panel]:
    """Curves of the groups of a study, each the mean of its runs with their range, from as many modalities as there are.

    Args:
        groups: by label, the scores of each run.
        of: see `strength_curves`.
        part: the part of the study, where it has several.

    Returns:
        A panel for each score, subject and imperfection, with a line for each group.
    """
    panels: dict[tuple[object, ...], tuple[list[Curve], list[Line]]] = {}
    for text, runs in groups.items():
        by_key: dict[tuple[object, ...], list[Curve]] = {}
        for curve in (curve for scores in runs for curve in _widest(leading_curves(scores, of))):
            by_key.setdefault((curve.name, _subject(curve), curve.under, curve.strengths), []).append(curve)
        for key, curves in by_key.items():
            values = list(zip(*(curve.values.tolist() for curve in curves), strict=True))
            points = tuple((place, sum(each) / len(each)) for place, each in zip(curves[0].strengths, values, strict=True))
            line = Line(text, points, tuple((min(each), max(each)) for each in values))
            known, lines = panels.setdefault(key[:3], ([], []))
            known += curves
            lines.append(line)
    return [_of_study(part, curves, lines) for curves, lines in panels.values()]


def _widest(curves: Sequence[Curve]) -> list[Curve]:
    """Of the curves of one score and subject under one imperfection, those from the most modalities."""
    most: dict[tuple[str, str, str], int] = {}
    for curve in curves:
        key = (curve.name, _subject(curve), curve.under)
        most[key] = max(most.get(key, 0), len(wording.names_of(curve.about.get("source"))))
    return [
        curve
        for curve in curves
        if len(wording.names_of(curve.about.get("source"))) == most[curve.name, _subject(curve), curve.under]
    ]


def _of_study(part: str, curves: Sequence[Curve], lines: Sequence[Line]) -> Panel:
    curve, subject = curves[0], _subject(curves[0])
    title = ", ".join(part for part in (wording.measure(curve.scores[0]), subject, curve.under) if part)
    name = f"strength {part} {curve.name} {subject} {curve.under}"
    return line_panel(name, title, lines, chance=_shared_chance(curves))


def _shared_chance(curves: Sequence[Curve]) -> float | None:
    """The chance that all curves have, averaged over their strengths; None where it differs as written."""
    found = [curve.averaged(lambda score: score.chance) for curve in curves]
    decimals = wording.places(curves[0].scores[0])
    return found[0] if len({wording.write(chance, decimals) for chance in found}) == 1 else None
