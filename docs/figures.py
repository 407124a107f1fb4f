"""Draw the figures of the study pages from their records, as SVG files in `docs/assets/figures`.

Run by `make tables`; with `--check` nothing is written, and the exit status says whether a figure differs from the records.
Every run of a study is a dot, the mean over runs of a row a line across it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from curves import CURVES, Curves, curves_svg
from missing_senses import STUDIES, RateCurves, rate_curves
from tables import records_of, runs_of

from molyneux.core import Score
from molyneux.report import StudyRun

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "assets" / "figures"
_LEFT, _GAP, _TOP, _BOTTOM = 132, 30, 52, 62
_PANELS = {1: 472, 2: 236, 3: 236}
"""Width of a panel by how many there are; of more, `_NARROW`."""
_NARROW = 160
_STYLE = """
  .page { fill: #ffffff }
  text { font: 13px system-ui, sans-serif; fill: #202124 }
  .soft { fill: #5f6368; font-size: 12px }
  .title { font-weight: 600 }
  .grid { stroke: #dadce0 }
  .stripe { fill: #f1f3f4 }
  .line { stroke: #5f6368; stroke-dasharray: 4 3 }
  .a { fill: #3949ab; stroke: #3949ab }
  .b { fill: #c65100; stroke: #c65100 }
  .c { fill: #00796b; stroke: #00796b }
  circle { fill-opacity: .45; stroke: none }
  .mean { stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #1e2129 }
    text { fill: #e8eaed }
    .soft { fill: #bdc1c6 }
    .grid { stroke: #3c4043 }
    .stripe { fill: #272b35 }
    .line { stroke: #bdc1c6 }
    .a { fill: #9fa8da; stroke: #9fa8da }
    .b { fill: #ffb74d; stroke: #ffb74d }
    .c { fill: #80cbc4; stroke: #80cbc4 }
  }
"""


@dataclass(frozen=True)
class Shown:
    """One kind of dot: the score it shows.

    Args:
        title: in the legend.
        name: of the score.
        about: what the score has to be about, among other things.
    """

    title: str
    name: str
    about: Mapping[str, str]


@dataclass(frozen=True)
class Figure:
    """A row of panels with the same rows.

    Args:
        studies: whose records are drawn.
        title: of the figure; says what the axis shows, with its unit.
        shown: up to three kinds of dots.
        most: the right end of the axis, whose left end is 0.
        panels: title of each panel, and which runs it has.
        rows: name of each row, and which runs it has; by default one for each variant.
        control: name of a control of the first score that is drawn as a dashed line; chance by default.
    """

    studies: tuple[str, ...]
    title: str
    shown: tuple[Shown, ...]
    most: float
    panels: Mapping[str, Callable[[StudyRun], bool]]
    rows: Mapping[str, Callable[[StudyRun], bool]] | None = None
    control: str = "chance"

    @property
    def row(self) -> int:
        """Height of a row in pixels."""
        return 14 + 10 * len(self.shown)


def _is(name: str) -> Callable[[StudyRun], bool]:
    return lambda run: str(run.settings["name"]) == name


def _starts(name: str) -> Callable[[StudyRun], bool]:
    return lambda run: str(run.settings["name"]).startswith(name)


def _every(run: StudyRun) -> bool:
    return True


_TO_IMAGE = {"source": "text", "target": "image"}
_SHAPE = {**_TO_IMAGE, "factor": "shape"}
_CODE = {"source": "text", "code": "shared", "variant": "recommended"}


def _levels(*levels: int) -> dict[str, Callable[[StudyRun], bool]]:
    """A panel for each level of a world."""
    return {f"Level {level}": (lambda run, level=level: run.settings["data.world.init_args.level"] == level) for level in levels}


_MIG = (Shown("MIG, recommended variant", "disentanglement.mig", _CODE),)
_NAMED_AND_DRAWN = (
    Shown("image to text, strict", "coherence.strict", {"source": "image", "target": "text"}),
    Shown("text to image, strict (forced choice)", "coherence.strict_forced", _TO_IMAGE),
    Shown("text to image, strict", "coherence.strict", _TO_IMAGE),
)
_DMVAE = ("DMVAE", "DMVAE-fitted", "DMVAE-tuned")
FIGURES: dict[str, Figure | Curves | RateCurves] = {
    **{item.name: item for study in STUDIES for item in rate_curves(study, runs_of(study))},
    "cdsprites": Figure(
        ("cdsprites",),
        "Text to image, % of images in which every factor is right",
        (Shown("strict", "coherence.strict", _TO_IMAGE), Shown("strict, forced choice", "coherence.strict_forced", _TO_IMAGE)),
        100,
        _levels(1, 2, 3),
    ),
    "cdsprites-shapes": Figure(
        ("cdsprites",),
        "Text to image, % of the figures of each shape whose shape is right",
        tuple(Shown(shape, "coherence.value_accuracy", {**_SHAPE, "value": shape}) for shape in ("ellipse", "square", "heart")),
        100,
        _levels(1, 2, 3),
        {name: _is(name) for name in _DMVAE},
    ),
    "limits": Figure(
        ("limits",),
        "Text to image, level 2, one seed: % of images",
        (
            Shown("strict", "coherence.strict", _TO_IMAGE),
            Shown("strict, forced choice", "coherence.strict_forced", _TO_IMAGE),
            Shown("unreadable", "coherence.unreadable", _TO_IMAGE),
        ),
        100,
        {"": _every},
    ),
    "generative": Figure(
        ("generative", "generative-4-5"),
        "Captions of images and images of captions, % in which every factor is right",
        _NAMED_AND_DRAWN,
        100,
        _levels(1, 2, 3, 4, 5),
    ),
    "generative-convolutional": Figure(
        ("generative-convolutional",),
        "Captions of images and images of captions, convolutional nets, % in which every factor is right",
        _NAMED_AND_DRAWN,
        100,
        _levels(1, 2, 3, 4, 5),
    ),
    "generative-gebid": Figure(
        ("generative-gebid",),
        "GeBiD: captions of images and images of captions, % in which every factor is right",
        _NAMED_AND_DRAWN,
        100,
        _levels(1, 2, 3, 4, 5),
    ),
    "ynoc": Figure(("ynoc", "ynoc-best"), "Mutual information gap on test sentences", _MIG, 1, {"": _every}),
    "pos": Figure(("pos", "pos-best"), "Mutual information gap on test sentences", _MIG, 1, {"": _every}),
    "ynoc-search": Figure(
        ("ynoc-search-early", "ynoc-search"),
        "Mutual information gap of every recorded trial",
        _MIG,
        1,
        {"": _every},
        {
            "round 1": _starts("round 1"),
            "round 2": _starts("round 2"),
            "round 3": _starts("round 3:"),
            "round 3, test": _starts("round 3, best"),
            "round 4": _starts("slots"),
        },
    ),
    "downstream": Figure(
        ("ag-news",),
        "Topics predicted from frozen codes by logistic regression, % right",
        (Shown("logistic regression on codes", "downstream.accuracy", {"classifier": "logistic", "target": "label"}),),
        100,
        {"": _every},
        control="bag of words",
    ),
    **{name: curves for name, curves in CURVES.items() if all(records_of(study).exists() for study in curves.studies)},
}


def svg(figure: Figure | Curves | RateCurves) -> str:
    """A figure as SVG.

    Raises:
        SystemExit: the records have no run for a row.
    """
    if isinstance(figure, RateCurves):
        return figure.svg()
    runs = runs_of("+".join(figure.studies))
    if isinstance(figure, Curves):
        return curves_svg(figure, runs)
    rows = figure.rows or {name: _is(name) for name in dict.fromkeys(str(run.settings["name"]) for run in runs)}
    panel = _PANELS.get(len(figure.panels), _NARROW) + _GAP
    left = max(_LEFT, 24 + 7.6 * max(map(len, rows)))
    width, height = round(left + panel * len(figure.panels)), _TOP + figure.row * len(rows) + _BOTTOM
    parts = [f'<rect class="page" width="{width}" height="{height}" rx="6"/>', _text(14, 22, figure.title, "title")]
    for row, name in enumerate(rows):
        if row % 2:
            y = _TOP + figure.row * row
            parts.append(f'<rect class="stripe" x="8" y="{y}" width="{width - 16}" height="{figure.row}"/>')
        parts.append(_text(left - 10, _TOP + figure.row * (row + 0.5) + 4, name, "row", anchor="end"))
    for place, (title, inside) in enumerate(figure.panels.items()):
        chosen = [run for run in runs if inside(run)]
        parts += _panel(figure, title, chosen, rows, left + panel * place, panel - _GAP)
    parts += _legend(figure, left, height - 12)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    return "\n".join([head, f"<title>{escape(figure.title)}</title>", f"<style>{_STYLE}</style>", *parts, "</svg>\n"])


def _panel(
    figure: Figure,
    title: str,
    runs: Sequence[StudyRun],
    rows: Mapping[str, Callable[[StudyRun], bool]],
    left: float,
    width: float,
) -> Iterator[str]:
    bottom = _TOP + figure.row * len(rows)

    def place(value: float) -> float:
        return round(left + width * min(max(value, 0), figure.most) / figure.most, 1)

    yield _text(left, _TOP - 8, title, "title")
    for step in range(5):
        x = place(figure.most * step / 4)
        yield f'<line class="grid" x1="{x}" y1="{_TOP}" x2="{x}" y2="{bottom}"/>'
        yield _text(x, bottom + 15, f"{figure.most * step / 4:g}", "soft", anchor="middle")
    if (control := _control(figure, runs)) is not None:
        yield f'<line class="line" x1="{place(control)}" y1="{_TOP}" x2="{place(control)}" y2="{bottom}"/>'
    for row, (name, inside) in enumerate(rows.items()):
        here = [run for run in runs if inside(run)]
        if not here:
            raise SystemExit(f"no run of {name} is on record in {', '.join(figure.studies)}")
        for kind, (shown, style) in enumerate(zip(figure.shown, "abc", strict=False)):
            scores = [score for run in here if (score := _score(run, shown)) is not None]
            values = [score.value for score in scores if score.value is not None]
            y = round(_TOP + figure.row * (row + (kind + 1) / (len(figure.shown) + 1)), 1)
            yield from (f'<circle class="{style}" cx="{place(value)}" cy="{y}" r="3.5"/>' for value in values)
            if values:
                mean = place(sum(values) / len(values))
                yield f'<line class="mean {style}" x1="{mean}" y1="{y - 4.5}" x2="{mean}" y2="{y + 4.5}"/>'


def _legend(figure: Figure, left: float, y: float) -> Iterator[str]:
    x = left
    for shown, style in zip(figure.shown, "abc", strict=False):
        yield f'<circle class="{style}" cx="{x}" cy="{y - 4}" r="3.5"/>'
        yield _text(x + 9, y, shown.title, "soft")
        x += 26 + 6.6 * len(shown.title)
    yield f'<line class="line" x1="{x}" y1="{y - 11}" x2="{x}" y2="{y + 2}"/>'
    yield _text(x + 9, y, figure.control, "soft")


def _text(x: float, y: float, words: str, style: str, *, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>' if words else ""


def _score(run: StudyRun, shown: Shown) -> Score | None:
    """The score of that name that is about all of what is asked for and, beside it, as little as possible."""
    wanted = set(shown.about.items())
    found = [score for score in run.scores if score.name == shown.name and wanted <= set(score.about.items())]
    return min(found, key=lambda score: len(score.about), default=None)


def _control(figure: Figure, runs: Sequence[StudyRun]) -> float | None:
    """The mean of chance or of a control of the first score shown."""
    scores = [score for run in runs if (score := _score(run, figure.shown[0])) is not None]
    values = [score.chance if figure.control == "chance" else score.controls.get(figure.control) for score in scores]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def main() -> int:
    """Draw every figure, or only look with `--check`."""
    wrong = []
    for name, figure in FIGURES.items():
        path, drawn = FOLDER / f"{name}.svg", svg(figure)
        if path.exists() and path.read_text(encoding="utf-8") == drawn:
            continue
        if "--check" in sys.argv:
            wrong.append(f"{path.relative_to(ROOT)} differs from the records: run make tables")
        else:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(drawn, encoding="utf-8")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
