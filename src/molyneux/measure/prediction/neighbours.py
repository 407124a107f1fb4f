"""Controls of probes that need no training: nearest neighbours in the codes of an untrained net, and in the input itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, DataError, NotApplicableError, Subset, store
from molyneux.measure.code_controls import points
from molyneux.measure.codes import CodeTable
from molyneux.measure.evaluation import Evaluation

_FITTED, _TESTED = 5000, 1000
"""Samples among which neighbours are searched, and for which."""
_KEPT_BYTES = 2**28
"""Of samples that are kept in memory for the next condition."""


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
    evaluation: Evaluation,
    observed: Sequence[str],
    table: CodeTable,
    training: CodeTable | None,
    codes: Callable[[CodeTable], Mapping[str, np.ndarray]],
) -> dict[str, Neighbours]:
    """Neighbours by the codes of the same net with the weights it starts with; none without it, or where it encodes nothing.

    The net and its codes of training samples are made once for all conditions.

    Args:
        evaluation: has the net, `untrained`.
        observed: the observed modalities.
        table: codes of the test samples; the same samples are encoded.
        training: codes of the training samples; those of the test samples without them.
        codes: chooses the codes of a table.
    """
    fitted = evaluation if training is None or evaluation.training is None else evaluation.training
    start = fitted.before_training
    if start is None:
        return {}
    with suppress(NotApplicableError, DataError):  # an untrained net may need what is fitted later
        rows = (table if training is None else training).rows[:_FITTED]
        fit = fitted.once(f"untrained codes given {list(observed)}", lambda: _encoded(start, observed, rows))
        test = fit if training is None else _encoded(replace(evaluation, model=start.model), observed, table.rows[:_TESTED])
        return code_neighbours(codes(fit), codes(test))
    return {}


def _encoded(evaluation: Evaluation, observed: Sequence[str], rows: np.ndarray) -> CodeTable:
    """The codes of the samples at some places of the source, in their order."""
    some = replace(evaluation, source=Subset(evaluation.source, rows), samples=len(rows), train=None, reference=None)
    return some.table(observed)


def raw_neighbours(evaluation: Evaluation, observed: Sequence[str], table: CodeTable, training: CodeTable | None) -> Neighbours:
    """Neighbours by the values of the observed views, as models compute with them; symbols differ or are the same.

    Training samples are read once for all conditions and sets of modalities, as long as they are few bytes.

    Args:
        evaluation: has the samples.
        observed: the observed modalities.
        table: codes of the test samples; their rows are searched.
        training: codes of the training samples; those of the test samples without them.
    """
    fitted = evaluation if training is None or evaluation.training is None else evaluation.training
    rows = (table if training is None else training).rows[:_FITTED]
    tested = points(evaluation.spec, observed, evaluation.source.batch(table.rows[:_TESTED]).to("cpu"))
    centre = tested.mean(0)  # distances do not depend on it, their digits do
    parts = [_squares(tested - centre, points(fitted.spec, observed, some) - centre) for some in _inputs(fitted, rows)]
    return Neighbours(torch.cat(parts, 1))


def _inputs(evaluation: Evaluation, rows: np.ndarray) -> Iterator[Batch]:
    """The samples at some places of the source on the CPU, some hundreds at once."""
    places = np.array_split(rows, max(1, len(rows) // 500))
    if evaluation.spec.sample_bytes * len(rows) > _KEPT_BYTES:
        yield from (evaluation.source.batch(some).to("cpu") for some in places)
        return
    kept = evaluation.once(
        f"inputs {store.fingerprint(rows.tolist())}", lambda: [evaluation.source.batch(some).to("cpu") for some in places]
    )
    yield from kept


def _squares(test: Tensor, fit: Tensor) -> Tensor:
    """Squared distances (M, N), but for the lengths of `test`, which do not change what is nearest."""
    return fit.square().sum(1) - 2 * test @ fit.T
