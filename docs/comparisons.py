"""Measures of a study compared with each other, and models by all of them, as tables: used by `tables.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from shown import DCI, METRICS, USE, Shown, metrics

from molyneux.core import Score
from molyneux.core.intervals import student
from molyneux.measure.disentanglement import correlation_matrix, top_counts
from molyneux.report import StudyRun
from molyneux.report.published import PublishedResults
from molyneux.report.tables import pipe_table
from molyneux.report.wording import measure

FINANCE = {
    "F&B": (
        "food",
        2.140,
        {"LSTM": 1.856, "EF-LSTM": 1.835, "LF-LSTM": 1.893, "EF-Transformer": 2.144, "LF-Transformer": 2.155, "MulT": 2.053},
    ),
    "Health": (
        "health",
        0.575,
        {"LSTM": 0.541, "EF-LSTM": 0.526, "LF-LSTM": 0.541, "EF-Transformer": 0.573, "LF-Transformer": 0.573, "MulT": 0.555},
    ),
    "Tech": (
        "tech",
        0.140,
        {"LSTM": 0.125, "EF-LSTM": 0.121, "LF-LSTM": 0.120, "EF-Transformer": 0.143, "LF-Transformer": 0.143, "MulT": 0.135},
    ),
}
"""By group of shares: its setting, and the published mean squared errors of the mean and of each model (MultiBench, table 19)."""

TOP_THREE = ("disentanglement.top_three", ())
"""Where the paper's count stands among its numbers."""


def top_three(runs: Sequence[StudyRun], printed: PublishedResults | None) -> str:
    """In how many of the six metrics each model is among the best three, by the means over seeds; the paper's counts beside."""
    models = _models(runs)
    columns = {f"as {variant}": top_counts(_means(runs, models, metrics(variant))) for variant in ("published", "recommended")}
    figures = [printed.figures.get(model, {}).get(TOP_THREE) if printed else None for model in models]
    rows = [
        [model, figure.text if figure else "", *(f"{round(counts[row], 1):g}" for counts in columns.values())]
        for row, (model, figure) in enumerate(zip(models, figures, strict=True))
    ]
    return pipe_table(["model", "paper", *columns], rows)


def trials(runs: Sequence[StudyRun], score: tuple[str, Mapping[str, str]]) -> str:
    """Every run of a search with its seed, the split it was measured on, and a score, in the order of the records."""
    name, about = score
    found = [next(one for one in run.scores if one.name == name and dict(one.about) == dict(about)) for run in runs]
    rows = [
        [run.settings["name"], run.settings["seed"], score.origin["split"], run.settings["learn.epochs"], f"{score.value:.2f}"]
        for run, score in zip(runs, found, strict=True)
    ]
    return pipe_table(["trial", "seed", "measured on", "epochs", measure(found[0])], rows, words=(0, 2))


def against_constant(runs: Sequence[StudyRun], published: Mapping[str, tuple[str, float, Mapping[str, float]]]) -> str:
    """The mean squared errors of all models divided by that of the training targets' mean: ours and published."""
    head = [f"{title}{what}" for title in published for what in ("", ", published")]
    rows = []
    for model in _models(runs):
        cells = [model]
        for group, mean, errors in published.values():
            own = [
                run for run in runs if run.settings["name"] == model and run.settings["data.benchmark.init_args.group"] == group
            ]
            ratios = [score.value / score.chance for run in own for score in run.scores if _is_whole_error(score)]
            each = f" ({' '.join(f'{ratio:.3f}' for ratio in ratios)})" if len(ratios) > 1 else ""
            cells += [f"{np.mean(ratios):.3f}{each}" if ratios else "", f"{errors[model] / mean:.3f}" if model in errors else ""]
        rows.append(cells)
    return (
        pipe_table(["model", *head], rows)
        + "\n- Mean over seeds, in brackets each seed. 1 is what the mean of the training targets gives.\n"
    )


def _is_whole_error(score: Score) -> bool:
    return score.name == "prediction.mse" and "strength" not in score.about


def best_by(runs: Sequence[StudyRun], score: tuple[str, Mapping[str, str]]) -> str:
    """The model with the highest mean of a score over seeds."""
    models = _models(runs)
    return models[int(np.nanargmax(_means(runs, models, [score])[:, 0]))]


def correlations(runs: Sequence[StudyRun]) -> str:
    """Pearson's correlation of measures over all runs: published variants above the diagonal, recommended ones below."""
    names = [*(measure(Score(name, None)) for name in METRICS), "Hoyer", "Active units", "-Distortion", "Rate"]
    above, below = (_correlated(runs, variant) for variant in ("published", "recommended"))
    rows = (
        [name, *(_number((above if row < column else below)[row, column], same=row == column) for column in range(len(names)))]
        for row, name in enumerate(names)
    )
    return pipe_table(["", *names], rows)


def dci_together(runs: Sequence[StudyRun]) -> str:
    """The geometric mean of DCI's three recommended numbers for each model: its mean over seeds and the interval for new ones.

    A number that does not apply, as where no dimension knows anything, counts as 0.
    """
    models = _models(runs)
    rows = []
    for model in models:
        each = _together([run for run in runs if run.settings["name"] == model], "value")
        low, high = student(float(each.mean()), float(each.std(ddof=1)), len(each), (0.0, 1.0))
        rows.append([model, f"{each.mean():.2f} ({low:.2f}\N{EN DASH}{high:.2f})"])
    rows.append(["chance", f"{_together(runs, 'chance').mean():.2f}"])
    return (
        pipe_table(["model", "DCI, geometric mean of the three"], rows)
        + "\n- Means over seeds with the 95 % interval that holds for new seeds (Student's t).\n"
    )


def _together(runs: Sequence[StudyRun], what: str) -> np.ndarray:
    """The geometric mean of the three parts in each run, of their values or their chance levels, (runs,)."""
    found: np.ndarray = np.cbrt(np.clip(np.nan_to_num([_values(run, DCI, what) for run in runs]), 0, None).prod(1))
    return found


def _models(runs: Sequence[StudyRun]) -> list[str]:
    return list(dict.fromkeys(str(run.settings["name"]) for run in runs))


def _correlated(runs: Sequence[StudyRun], variant: str) -> np.ndarray:
    rate, distortion, active, hoyer = USE
    table = np.array([_values(run, [*metrics(variant), hoyer, active, distortion, rate]) for run in runs])
    table[:, len(METRICS) + 2] *= -1
    return correlation_matrix(table)


def _means(runs: Sequence[StudyRun], models: Sequence[str], shown: Shown) -> np.ndarray:
    return np.array([np.mean([_values(run, shown) for run in runs if run.settings["name"] == model], axis=0) for model in models])


def _values(run: StudyRun, shown: Shown, what: str = "value") -> list[float]:
    found = {(score.name, tuple(sorted(score.about.items()))): getattr(score, what) for score in run.scores}
    values = (found.get((name, tuple(sorted(about.items())))) for name, about in shown)
    return [float("nan") if value is None else value for value in values]


def _number(value: float, *, same: bool) -> str:
    return "" if same or not np.isfinite(value) else f"{value:.2f}"
