"""What the true views and the best constant view of a modality score: what a model can reach, and must exceed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from molyneux.measure.coherence import Answers
from molyneux.measure.coherence.reading import read
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import having
from molyneux.measure.reconstruction.average import Average
from molyneux.measure.reconstruction.comparison import FIELDS, compare


@dataclass(frozen=True)
class Baseline:
    """The baselines of one modality, on the very samples that are measured on.

    Args:
        constant: by comparison, the mean of the constant view that does best; with `log_likelihood`, for symbols, the
            nats per sample of the best distribution that knows how often each symbol stands at each position.
        ceiling: what the reader reads in the true views; None without a reader.
    """

    constant: Mapping[str, float]
    ceiling: Answers | None


def baselines(evaluation: Evaluation) -> dict[str, Baseline]:
    """The baselines of every modality that occurs in the samples: two passes over them."""
    averages = {name: average for name, average in _averages(evaluation).items() if average.count}
    compared: dict[tuple[str, str, int], list[np.ndarray]] = defaultdict(list)
    read_true: dict[str, list[Answers]] = defaultdict(list)
    for _, batch in evaluation.batches():
        for name, average in averages.items():
            part, reader = having(batch, (name,)), evaluation.reader(name)
            truth = part.views[name].cpu()
            for place, view in enumerate(average.views):
                for what, values in compare(average.modality, view.expand_as(truth), truth).items():
                    compared[name, what, place].append(values)
            if reader is not None and part.factors is not None:
                read_true[name].append(read(reader, truth, part.factors, evaluation.spec))
    return {
        name: Baseline(
            {**_best(name, compared), **_likelihood(average)}, Answers.join(read_true[name]) if read_true[name] else None
        )
        for name, average in averages.items()
    }


def _averages(evaluation: Evaluation) -> dict[str, Average]:
    averages = {modality.name: Average(modality) for modality in evaluation.spec.modalities}
    for _, batch in evaluation.batches():
        for name, average in averages.items():
            average.add(having(batch, (name,)).views[name].cpu())
    return averages


def _best(modality: str, compared: Mapping[tuple[str, str, int], list[np.ndarray]]) -> dict[str, float]:
    """The mean of each comparison, of the constant view that does best in it."""
    means: dict[str, list[float]] = defaultdict(list)
    for (name, what, _), parts in compared.items():
        if name == modality:
            means[what].append(float(np.concatenate(parts).mean()))
    return {what: max(found) if FIELDS[what].get("higher_is_better", True) else min(found) for what, found in means.items()}


def _likelihood(average: Average) -> dict[str, float]:
    value = average.log_likelihood
    return {} if value is None else {"log_likelihood": value}
