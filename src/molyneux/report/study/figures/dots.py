"""Figures of scores of a study: every run is a dot, the mean over the runs of a row a line across it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from molyneux.core import DataError, Score
from molyneux.core.score import About
from molyneux.report.record_lines import StudyRun
from molyneux.report.study.figures.drawing import DARK, LIGHT, style_sheet, svg_sheet, svg_text

_LEFT, _GAP, _TOP, _BOTTOM = 132, 30, 52, 62
_PANELS = {1: 472, 2: 236, 3: 236}
"""Width of a panel by how many there are; of more, `_NARROW`."""
_NARROW = 160
_KINDS = "abc"
_STYLE = style_sheet(
    [
        *(f".{kind} {{ fill: {colour}; stroke: {colour} }}" for kind, colour in zip(_KINDS, LIGHT, strict=False)),
        "circle { fill-opacity: .45; stroke: none }",
        ".mean { stroke-width: 2.5 }",
    ],
    [f".{kind} {{ fill: {colour}; stroke: {colour} }}" for kind, colour in zip(_KINDS, DARK, strict=False)],
    stripes=True,
)

Choice = Callable[[StudyRun], bool]
"""Whether a run is among those that are meant."""


@dataclass(frozen=True)
class DotScore:
    """One kind of dot: the score it shows.

    Args:
        title: in the legend.
        name: of the score.
        about: what the score has to be about, among other things.
    """

    title: str
    name: str
    about: About

    def of(self, run: StudyRun) -> Score | None:
        """The score of a run of that name that is about all of what is asked for and, beside it, as little as possible."""
        wanted = set(self.about.items())
        found = [score for score in run.scores if score.name == self.name and wanted <= set(score.about.items())]
        return min(found, key=lambda score: len(score.about), default=None)


@dataclass(frozen=True)
class DotFigure:
    """A row of panels with the same rows.

    Args:
        title: of the figure; says what the axis shows, with its unit.
        shown: up to three kinds of dots.
        most: the right end of the axis, whose left end is 0.
        panels: title of each panel, and which runs it has; by default one panel of all.
        rows: name of each row, and which runs it has; by default one for each variant.
        control: name of a control of the first score that is drawn as a dashed line; chance by default.
    """

    title: str
    shown: tuple[DotScore, ...]
    most: float
    panels: Mapping[str, Choice] | None = None
    rows: Mapping[str, Choice] | None = None
    control: str = "chance"

    def svg(self, runs: Sequence[StudyRun]) -> str:
        """The figure of the runs of a study as SVG.

        Raises:
            DataError: there is no run of a row in a panel.
        """
        rows = self.rows or {name: variant(name) for name in dict.fromkeys(str(run.settings["name"]) for run in runs)}
        panels = self.panels or {"": lambda run: True}
        step = _PANELS.get(len(panels), _NARROW) + _GAP
        left = max(_LEFT, 24 + 7.6 * max(map(len, rows), default=0))
        width, height = round(left + step * len(panels)), _TOP + self._row * len(rows) + _BOTTOM
        parts = list[str]()
        for row, name in enumerate(rows):
            if row % 2:
                y = _TOP + self._row * row
                parts.append(f'<rect class="stripe" x="8" y="{y}" width="{width - 16}" height="{self._row}"/>')
            parts.append(svg_text(left - 10, _TOP + self._row * (row + 0.5) + 4, name, "row", anchor="end"))
        for place, (title, inside) in enumerate(panels.items()):
            chosen = [run for run in runs if inside(run)]
            parts += self._panel(title, chosen, rows, left + step * place, step - _GAP)
        return svg_sheet(self.title, _STYLE, width, height, [*parts, *self._legend(left, height - 12)])

    @property
    def _row(self) -> int:
        """Height of a row in pixels."""
        return 14 + 10 * len(self.shown)

    def _panel(
        self, title: str, runs: Sequence[StudyRun], rows: Mapping[str, Choice], left: float, width: float
    ) -> Iterator[str]:
        bottom = _TOP + self._row * len(rows)

        def place(value: float) -> float:
            return round(left + width * min(max(value, 0), self.most) / self.most, 1)

        yield svg_text(left, _TOP - 8, title, "title")
        for step in range(5):
            x = place(self.most * step / 4)
            yield f'<line class="grid" x1="{x}" y1="{_TOP}" x2="{x}" y2="{bottom}"/>'
            yield svg_text(x, bottom + 15, f"{self.most * step / 4:g}", "soft", anchor="middle")
        if (control := self._level(runs)) is not None:
            yield f'<line class="line" x1="{place(control)}" y1="{_TOP}" x2="{place(control)}" y2="{bottom}"/>'
        for row, (name, inside) in enumerate(rows.items()):
            here = [run for run in runs if inside(run)]
            if not here:
                raise DataError(f"expected a run of {name} in panel {title!r}, got none: sweep the study, or leave the row out")
            for kind, (shown, style) in enumerate(zip(self.shown, _KINDS, strict=False)):
                scores = [score for run in here if (score := shown.of(run)) is not None]
                values = [score.value for score in scores if score.value is not None]
                y = round(_TOP + self._row * (row + (kind + 1) / (len(self.shown) + 1)), 1)
                yield from (f'<circle class="{style}" cx="{place(value)}" cy="{y}" r="3.5"/>' for value in values)
                if values:
                    mean = place(sum(values) / len(values))
                    yield f'<line class="mean {style}" x1="{mean}" y1="{y - 4.5}" x2="{mean}" y2="{y + 4.5}"/>'

    def _legend(self, left: float, y: float) -> Iterator[str]:
        x = left
        for shown, style in zip(self.shown, _KINDS, strict=False):
            yield f'<circle class="{style}" cx="{x}" cy="{y - 4}" r="3.5"/>'
            yield svg_text(x + 9, y, shown.title, "soft")
            x += 26 + 6.6 * len(shown.title)
        yield f'<line class="line" x1="{x}" y1="{y - 11}" x2="{x}" y2="{y + 2}"/>'
        yield svg_text(x + 9, y, self.control, "soft")

    def _level(self, runs: Sequence[StudyRun]) -> float | None:
        """The mean of chance or of a control of the first score shown."""
        scores = [score for run in runs if (score := self.shown[0].of(run)) is not None]
        values = [score.chance if self.control == "chance" else score.controls.get(self.control) for score in scores]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None


def variant(name: str) -> Choice:
    """The runs of a variant of a study."""
    return lambda run: str(run.settings["name"]) == name
