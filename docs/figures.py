"""Draw the figures of the study pages from their records, as SVG files in `docs/assets/figures`.

Run by `make tables`; with `--check` nothing is written, and the exit status says whether a figure differs from the records.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from bridged import bridged_figures
from missing_senses import STUDIES, rate_curves
from tables import runs_of

from molyneux.report import StudyRun
from molyneux.report.study.figures import CurveFigure, CurvePanel, DotFigure, DotScore
from molyneux.report.study.figures.dots import variant

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "assets" / "figures"


def _starts(name: str) -> Callable[[StudyRun], bool]:
    return lambda run: str(run.settings["name"]).startswith(name)


_TO_IMAGE = {"source": "text", "target": "image"}
_SHAPE = {**_TO_IMAGE, "factor": "shape"}
_CODE = {"source": "text", "code": "shared", "variant": "recommended"}


def _levels(*levels: int) -> dict[str, Callable[[StudyRun], bool]]:
    """A panel for each level of a world."""
    return {f"Level {level}": (lambda run, level=level: run.settings["data.world.init_args.level"] == level) for level in levels}


_MIG = (DotScore("MIG, recommended variant", "disentanglement.mig", _CODE),)
_NAMED_AND_DRAWN = (
    DotScore("image to text, strict", "coherence.strict", {"source": "image", "target": "text"}),
    DotScore("text to image, strict (forced choice)", "coherence.strict_forced", _TO_IMAGE),
    DotScore("text to image, strict", "coherence.strict", _TO_IMAGE),
)
_DMVAE = ("DMVAE", "DMVAE-fitted", "DMVAE-tuned")
_MSE = {"target": "squared return"}
_GROUP, _NOISY = "data.benchmark.init_args.group", "correlated of gaussian-noise"
_INFORMATION = (("Redundant", "redundancy"), ("Unique to x1", "unique x1"), ("Synergistic", "synergy"))
_BROKEN = {"noise": "gaussian-noise of x1", "shared-noise": "correlated of gaussian-noise", "missing": "missing of x1 + x2"}
_CORRECT, _TO_TEXT = "prediction.accuracy", {"source": "image", "target": "text"}

FIGURES: dict[str, tuple[str, DotFigure | CurveFigure]] = {
    "cdsprites": (
        "cdsprites",
        DotFigure(
            "Text to image, % of images in which every factor is right",
            (
                DotScore("strict", "coherence.strict", _TO_IMAGE),
                DotScore("strict, forced choice", "coherence.strict_forced", _TO_IMAGE),
            ),
            100,
            _levels(1, 2, 3),
        ),
    ),
    "cdsprites-shapes": (
        "cdsprites",
        DotFigure(
            "Text to image, % of the figures of each shape whose shape is right",
            tuple(
                DotScore(shape, "coherence.value_accuracy", {**_SHAPE, "value": shape})
                for shape in ("ellipse", "square", "heart")
            ),
            100,
            _levels(1, 2, 3),
            {name: variant(name) for name in _DMVAE},
        ),
    ),
    "limits": (
        "limits",
        DotFigure(
            "Text to image, level 2, one seed: % of images",
            (
                DotScore("strict", "coherence.strict", _TO_IMAGE),
                DotScore("strict, forced choice", "coherence.strict_forced", _TO_IMAGE),
                DotScore("unreadable", "coherence.unreadable", _TO_IMAGE),
            ),
            100,
        ),
    ),
    "generative": (
        "generative+generative-4-5",
        DotFigure(
            "Captions of images and images of captions, % in which every factor is right",
            _NAMED_AND_DRAWN,
            100,
            _levels(1, 2, 3, 4, 5),
        ),
    ),
    "generative-convolutional": (
        "generative-convolutional",
        DotFigure(
            "Captions of images and images of captions, convolutional nets, % in which every factor is right",
            _NAMED_AND_DRAWN,
            100,
            _levels(1, 2, 3, 4, 5),
        ),
    ),
    "generative-gebid": (
        "generative-gebid",
        DotFigure(
            "GeBiD: captions of images and images of captions, % in which every factor is right",
            _NAMED_AND_DRAWN,
            100,
            _levels(1, 2, 3, 4, 5),
        ),
    ),
    "ynoc": ("ynoc+ynoc-best", DotFigure("Mutual information gap on test sentences", _MIG, 1)),
    "pos": ("pos+pos-best", DotFigure("Mutual information gap on test sentences", _MIG, 1)),
    "ynoc-search": (
        "ynoc-search-early+ynoc-search",
        DotFigure(
            "Mutual information gap of every recorded trial",
            _MIG,
            1,
            rows={
                "round 1": _starts("round 1"),
                "round 2": _starts("round 2"),
                "round 3": _starts("round 3:"),
                "round 3, test": _starts("round 3, best"),
                "round 4": _starts("slots"),
            },
        ),
    ),
    "downstream": (
        "ag-news",
        DotFigure(
            "Topics predicted from frozen codes by logistic regression, % right",
            (DotScore("logistic regression on codes", "downstream.accuracy", {"classifier": "logistic", "target": "label"}),),
            100,
            control="bag of words",
        ),
    ),
    "stocks-noise": (
        "stocks",
        CurveFigure(
            "Mean squared error of the next day's squared return, all shares with the same noise",
            tuple(
                CurvePanel(title, _NOISY, "prediction.mse", _MSE, {_GROUP: group}, least, most)
                for title, group, least, most in (
                    ("F&B", "food", 0.6, 0.9),
                    ("Health", "health", 2.7, 3.0),
                    ("Tech", "tech", 0.1, 0.3),
                )
            ),
        ),
    ),
    "push-noise": (
        "push",
        CurveFigure(
            "Mean squared error of the puck's place, by the strength of noise",
            (
                CurvePanel("Noise on the image", "gaussian-noise of image", "prediction.mse", {}, {}, 0, 4.2),
                CurvePanel("The same noise on all", _NOISY, "prediction.mse", {}, {}, 0, 2.6),
            ),
        ),
    ),
    **{
        f"interactions-{name}": (
            "broken-interactions",
            CurveFigure(
                {
                    "noise": "Targets that are right, %, by the strength of noise on x1",
                    "shared-noise": "Targets that are right, %, by the strength of noise that hits x1 and x2 alike",
                    "missing": "Targets that are right, %, by the rate at which x1 and x2 are missing",
                }[name],
                tuple(
                    CurvePanel(title, imperfection, "prediction.accuracy", {"target": target}, {}, 40, 100)
                    for title, target in _INFORMATION
                ),
            ),
        )
        for name, imperfection in _BROKEN.items()
    },
    "av-mnist-noise": (
        "av-mnist",
        CurveFigure(
            "Digits that are right, %, by the strength of noise on one sense and by the rate of missing senses",
            (
                CurvePanel("Noise on the image", "gaussian-noise of image", _CORRECT, {}, {}, 0, 100),
                CurvePanel("Noise on the sound", "gaussian-noise of audio", _CORRECT, {}, {}, 0, 100),
                CurvePanel("Senses missing", "missing of image + audio", _CORRECT, {}, {}, 0, 100),
            ),
        ),
    ),
    "broken-senses": (
        "broken-senses",
        CurveFigure(
            "What a generative model writes of a noisy image, and what it restores",
            (
                CurvePanel("Caption right, %", "gaussian-noise of image", "coherence.strict", _TO_TEXT, {}, 0, 100),
                CurvePanel(
                    "Error of the image", "gaussian-noise of image", "reconstruction.mse", {"source": "image"}, {}, 0, 0.2
                ),
            ),
        ),
    ),
}
"""By name: the studies whose records are drawn, and the figure."""


def drawings() -> dict[str, str]:
    """Every figure whose studies have records, as SVG, by its name."""
    drawn = {item.name: item.svg() for study in STUDIES for item in rate_curves(study, runs_of(study))}
    drawn |= {item.name: item.svg() for item in bridged_figures(runs_of)}
    return drawn | {name: figure.svg(runs) for name, (studies, figure) in FIGURES.items() if (runs := runs_of(studies))}


def main() -> int:
    """Draw every figure, or only look with `--check`."""
    wrong = []
    for name, drawn in drawings().items():
        path = FOLDER / f"{name}.svg"
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
