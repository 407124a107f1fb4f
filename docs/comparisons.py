"""Measures of a study compared with each other, and models by all of them, as tables: used by `tables.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from molyneux.measure.disentanglement import correlation_matrix, top_counts
from molyneux.report import StudyRun

CODE = {"source": "text", "code": "shared"}
USE = (
    ("code_use.rate", CODE),
    ("code_use.distortion", {"source": "text", "target": "text"}),
    ("code_use.active_units", CODE),
    ("code_use.hoyer", CODE),
)
"""What tables of text VAEs have: KL, Rec, active units, sparsity."""
METRICS = ("higgins", "kim_mnih", "sap", "mig", "modularity", "dci_disentanglement")
"""The six metrics of the text study."""

Shown = Sequence[tuple[str, Mapping[str, str]]]


def metrics(variant: str) -> list[tuple[str, dict[str, str]]]:
    """The six metrics of one variant, by name and what they are about."""
    return [(f"disentanglement.{name}", {**CODE, "variant": variant}) for name in METRICS]


def top_three(runs: Sequence[StudyRun]) -> str:
    """In how many of the six metrics each model is among the best three, by the means over seeds of both variants."""
    models = list(dict.fromkeys(str(run.settings["name"]) for run in runs))
    columns = {variant: top_counts(_means(runs, models, metrics(variant))) for variant in ("published", "recommended")}
    lines = [f"| model | {' | '.join(columns)} |", "|---|---:|---:|"]
    lines += [
        f"| {model} | {' | '.join(f'{counts[row]:g}' for counts in columns.values())} |" for row, model in enumerate(models)
    ]
    return "\n".join(lines) + "\n"


def correlations(runs: Sequence[StudyRun]) -> str:
    """Pearson's correlation of measures over all runs: published variants above the diagonal, recommended ones below."""
    names = [*METRICS, "hoyer", "active units", "-distortion", "rate"]
    above, below = (_correlated(runs, variant) for variant in ("published", "recommended"))
    lines = [f"|  | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for row, name in enumerate(names):
        cells = [_number((above if row < column else below)[row, column], same=row == column) for column in range(len(names))]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _correlated(runs: Sequence[StudyRun], variant: str) -> np.ndarray:
    rate, distortion, active, hoyer = USE
    table = np.array([_values(run, [*metrics(variant), hoyer, active, distortion, rate]) for run in runs])
    table[:, len(METRICS) + 2] *= -1
    return correlation_matrix(table)


def _means(runs: Sequence[StudyRun], models: Sequence[str], shown: Shown) -> np.ndarray:
    return np.array([np.mean([_values(run, shown) for run in runs if run.settings["name"] == model], axis=0) for model in models])


def _values(run: StudyRun, shown: Shown) -> list[float]:
    found = {(score.name, tuple(sorted(score.about.items()))): score.value for score in run.scores}
    values = (found.get((name, tuple(sorted(about.items())))) for name, about in shown)
    return [float("nan") if value is None else value for value in values]


def _number(value: float, *, same: bool) -> str:
    return "" if same or not np.isfinite(value) else f"{value:.2f}"
