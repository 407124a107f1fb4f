"""Controls of probes that need no training: nearest neighbours in the codes of an untrained net, and in the input itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import DataError, NotApplicableError, views
from molyneux.measure.codes import CodeTable
from molyneux.measure.evaluation import Evaluation

UNTRAINED, RAW = "untrained net", "raw input"
"""Names of the controls: the label of the nearest neighbour by the codes of the same net with the weights it starts with, and by
the values of the observed views."""

_FITTED, _TESTED = 5000, 1000
"""Samples among which neighbours are searched, and for which."""


@dataclass(frozen=True)
class Neighbours:
    """Distances from test samples to samples with known labels.

    Args:
        squares: (M, N) squared distances from the first M rows of the codes to score to the first N of those to fit.
    """

    squares: Tensor

    def right(self, fit: np.ndarray, labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray) -> np.ndarray:
        """Whether the nearest of the rows `fit` has the label of each of the rows `test`, (m,) of those that have distances."""
        near, here = fit < self.squares.shape[1], test < self.squares.shape[0]
        if not near.any():
            return np.zeros(0, bool)
        found = self.squares[torch.from_numpy(test[here])][:, torch.from_numpy(fit[near])].argmin(1).numpy()
        return np.asarray(labels[near][found] == test_labels[here])


def code_neighbours(fit: Mapping[str, np.ndarray], test: Mapping[str, np.ndarray]) -> dict[str, Neighbours]:
    """Neighbours by each code, whose dimensions are standardised; those that are the same everywhere count nothing."""
    found = {}
    for name, codes in fit.items():
        known = codes[:_FITTED]
        spread = known.std(0)
        scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1), 0)
        pair = (torch.from_numpy((part - known.mean(0)) * scale) for part in (test[name][:_TESTED], known))
        found[name] = Neighbours(_squares(*pair))
    return found


def untrained_neighbours(
    evaluation: Evaluation, observed: Sequence[str], samples: int, codes: Callable[[CodeTable], Mapping[str, np.ndarray]]
) -> dict[str, Neighbours]:
    """Neighbours by the codes of the same net with the weights it starts with; none without it, or where it encodes nothing.

    Args:
        evaluation: has the net, `untrained`.
        observed: the observed modalities.
        samples: at most so many.
        codes: chooses the codes of a table.
    """
    untrained = evaluation.before_training
    if untrained is None:
        return {}
    with suppress(NotApplicableError, DataError):  # an untrained net may need what is fitted later
        if isinstance(untrained.model, nn.Module):
            untrained.model.eval()
        few = min(samples, _FITTED)
        test = codes(untrained.table(observed, few))
        fit = test if untrained.training is None else codes(untrained.training.table(observed, few))
        return code_neighbours(fit, test)
    return {}


def raw_neighbours(evaluation: Evaluation, observed: Sequence[str], table: CodeTable, training: CodeTable | None) -> Neighbours:
    """Neighbours by the values of the observed views, as models compute with them; symbols differ or are the same.

    Args:
        evaluation: has the samples.
        observed: the observed modalities.
        table: codes of the test samples; their rows are searched.
        training: codes of the training samples; those of the test samples without them.
    """
    fitted = evaluation if training is None or evaluation.training is None else evaluation.training
    rows = (table if training is None else training).rows[:_FITTED]
    tested = _points(evaluation, observed, table.rows[:_TESTED])
    parts = [_squares(tested, _points(fitted, observed, some)) for some in np.array_split(rows, max(1, len(rows) // 500))]
    return Neighbours(torch.cat(parts, 1))


def _points(evaluation: Evaluation, observed: Sequence[str], rows: np.ndarray) -> Tensor:
    """The observed views of some samples as points (B, D)."""
    batch, parts = evaluation.source.batch(rows), []
    for name in observed:
        modality, view = evaluation.spec.modality(name), batch.views[name].cpu()
        ready = functional.one_hot(view.long(), len(modality.symbols)) if modality.symbols else views.to_model(modality, view)
        parts.append(ready.float().flatten(1))
    return torch.cat(parts, 1)


def _squares(test: Tensor, fit: Tensor) -> Tensor:
    """Squared distances (M, N), but for the lengths of `test`, which do not change what is nearest."""
    return fit.square().sum(1) - 2 * test @ fit.T
