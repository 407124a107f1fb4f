"""Several trained models measured on the same samples: one page with their scores, costs and curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from molyneux.core import ConfigError, Dataset, History, Source, nearest
from molyneux.measure import Measure
from molyneux.report import StudyRun
from molyneux.report.robustness import with_robustness
from molyneux.run.model_report import MEASURES, ModelReport, evaluate_model
from molyneux.run.run.sections import ConditionSettings


@dataclass(frozen=True)
class Comparison:
    """What `compare_models` finds; `print` shows the main table in Markdown.

    Args:
        reports: by the name of a model, the report of each of its trainings.
        runs: the same scores, and the robustness against the baseline, as records of a study, which `write_study`, `comparisons`
            and `save_records` of `report` take. Their settings are the name of the model, as `name` and as `model`, and as `seed`
            the number of the training.
    """

    reports: Mapping[str, tuple[ModelReport, ...]]
    runs: tuple[StudyRun, ...]

    def write(self, folder: Path | str, *, name: str = "comparison", formats: Sequence[str] = ("markdown", "html")) -> list[Path]:
        """Write one page of all models, and return the files.

        The page has the scores of the samples as they are, the scores under each imperfection, curves over its strength, what
        models reach against what they cost, and every other score.

        Args:
            folder: to write into; it is made.
            name: title of the page.
            formats: any of `csv`, `html`, `latex`, `markdown`.

        Raises:
            ConfigError: an unknown format. StoreError: the folder cannot be written.
        """
        from molyneux.report import write_study  # draws: takes a second to import

        return write_study(self.runs, Path(folder), name=name, formats=formats)

    def __str__(self) -> str:
        from molyneux.report import study_tables, to_markdown  # not needed by those who only read the scores

        return "\n".join(to_markdown(table.visible) for table in study_tables(self.runs))


def compare_models(
    models: Mapping[str, Any],
    data: Source | Dataset,
    histories: Mapping[str, Any] | None = None,
    *,
    baseline: str | None = None,
    measures: Sequence[Measure] = MEASURES,
    conditions: Sequence[ConditionSettings] | None = None,
    samples: int = 10_000,
    batch_size: int = 500,
    seed: int = 0,
) -> Comparison:
    """Measure several models on the same samples, under the same imperfections, as `evaluate_model` measures one.

    Args:
        models: trained models by name; or, by name, a list of models that differ by the seed of their training alone: tables then
            show means with intervals over the seeds.
        data: see `evaluate_model`.
        histories: of the trainings, as `fit` returns them, by the same names and in the same order.
        baseline: the name of the model that relative and effective robustness compare others with; without one there are none.
        measures: see `evaluate_model`.
        conditions: see `evaluate_model`.
        samples: see `evaluate_model`.
        batch_size: see `evaluate_model`.
        seed: see `evaluate_model`.

    Raises:
        ConfigError: there are no models, a baseline or a history has a name that no model has, or as `evaluate_model`.
    """
    trainings = {name: _listed(model) for name, model in models.items()}
    logs = {name: _listed(log) for name, log in (histories or {}).items()}
    if problems := list(_problems(trainings, logs, baseline)):
        raise ConfigError(problems)
    under: dict[str, Any] = {
        "measures": measures,
        "conditions": conditions,
        "samples": samples,
        "batch_size": batch_size,
        "seed": seed,
    }
    reports = {
        name: tuple(
            evaluate_model(model, data, log, **under)
            for model, log in zip(each, logs.get(name, (None,) * len(each)), strict=True)
        )
        for name, each in trainings.items()
    }
    runs = [
        StudyRun({"name": name, "model": name, "seed": number}, report.scores)
        for name, each in reports.items()
        for number, report in enumerate(each, 1)
    ]
    return Comparison(reports, tuple(with_robustness(runs, baseline or "")))


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _problems(
    models: Mapping[str, Sequence[Any]], histories: Mapping[str, Sequence[History]], baseline: str | None
) -> Iterator[str]:
    """A sentence for each setting that cannot be used."""
    if not models or not all(models.values()):
        yield "models: expected at least one trained model under each name, got none"
    if baseline is not None and baseline not in models:
        yield f"baseline: no model {baseline!r}; {nearest(baseline, models)}"
    for name, each in histories.items():
        if name not in models:
            yield f"histories: no model {name!r}; {nearest(name, models)}"
        elif len(each) != len(models[name]):
            yield f"histories: expected one for each of the {len(models[name])} trainings of {name!r}, got {len(each)}"
