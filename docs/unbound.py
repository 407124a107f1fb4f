"""Tables of the unbound control of ShapeWorld: what perfect counts reach, and models beside it where binding decides."""

from __future__ import annotations

from collections.abc import Sequence

from molyneux.core import Score
from molyneux.data.worlds.shapeworld.contrast_sets import BINDING
from molyneux.report import StudyRun
from molyneux.report.tables import pipe_table

CONTROL = "unbound counts"
_PLACE = "data.world.init_args"


def control_table(runs: Sequence[StudyRun]) -> str:
    """The accuracy of the control on the test split, a row for each kind and a column for each variant."""
    found = {(_kind(run), _variant(run)): accuracy_of(run) for run in runs if run.settings["name"] == CONTROL}
    kinds, variants = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    rows = ([f"`{kind}`", *(_cell(found.get((kind, variant))) for variant in variants)] for kind in kinds)
    return pipe_table(["kind", *(f"`{variant}`" for variant in variants)], rows)


def beside_control(runs: Sequence[StudyRun]) -> str:
    """Test accuracy of models beside the control: on all samples, and on the balanced sets whose scenes it cannot tell apart."""
    names = list(dict.fromkeys(str(run.settings["name"]) for run in runs if run.settings["name"] != CONTROL))
    columns = [CONTROL, *names]
    lines = []
    cells = dict.fromkeys((_kind(run), _variant(run)) for run in runs if run.settings["name"] == CONTROL)
    for kind, variant in cells:
        chosen = {str(run.settings["name"]): run for run in runs if (_kind(run), _variant(run)) == (kind, variant)}
        title = f"{kind.upper()}, {variant}"
        rows: dict[str, dict[str, Score | float | None]] = {"all": {name: accuracy_of(run) for name, run in chosen.items()}}
        if variant == "balanced":
            rows["equal counts"] = {name: where_bound(run) for name, run in chosen.items()}
        for what, values in rows.items():
            if any(value is not None for value in values.values()):
                lines.append([title, what, *(_cell(values.get(name)) for name in columns)])
    return pipe_table(["data", "samples", *columns], lines, words=range(2))


def _kind(run: StudyRun) -> str:
    return str(run.settings[f"{_PLACE}.kind"])


def _variant(run: StudyRun) -> str:
    return str(run.settings[f"{_PLACE}.variant"])


def accuracy_of(run: StudyRun) -> Score | None:
    """The accuracy from all modalities on the split that the run is about."""
    known = [score for score in run.scores if score.name == "prediction.accuracy" and "split" not in score.about]
    return max(known, key=lambda score: len(score.about.get("source", "")) if isinstance(score.about["source"], tuple) else 0)


def where_bound(run: StudyRun) -> float | None:
    """The accuracy on sets whose scenes differ in nothing that counts tell, over all samples of them."""
    parts = [
        score
        for score in run.scores
        if score.name == "breakdown.accuracy"
        and "split" not in score.about
        and score.about["factor"] == "change"
        and score.about["value"] in BINDING
    ]
    total = sum(score.n for score in parts)
    return sum((score.value or 0.0) * score.n for score in parts) / total if total else None


def _cell(value: Score | float | None) -> str:
    number = value.value if isinstance(value, Score) else value
    if number is None:
        return "-"
    if isinstance(value, Score) and value.interval is not None:
        return f"{number:.1f} ({value.interval[0]:.1f} to {value.interval[1]:.1f})"
    return f"{number:.1f}"
