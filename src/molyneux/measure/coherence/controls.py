"""Controls of generation that need no model: views made of training samples, read by the same readers as generated views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Batch, Modality, Reader, views
from molyneux.core.reader import identity
from molyneux.core.score import MEAN_VIEW
from molyneux.measure.coherence.answers import ReadCodes, read
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import having

MEAN, OTHER, CONSTANT = MEAN_VIEW, "nearest other view", "mean of all views"
"""Names of the controls: for each sample the mean of the training views with the same asked factors, drawn as a generated view;
the training view of other asked factors that is nearest to its true view; and the mean of all training views."""

_TRAINED = 10_000
"""Training samples that the means are of."""
_COMPARED = 1000, 2000
"""True views, and training views among which the nearest is searched."""
_MOST_BYTES = 2**29
"""Of the sums of views: where the asked factors have more combinations, each mean would be of few views anyway."""


def view_controls(evaluation: Evaluation, target: str, reader: Reader, ceiling: ReadCodes | None) -> dict[str, ReadCodes]:
    """What a reader reads in views that need no model, against the factors of the test samples, by the name of the control.

    They are made once for the training samples and the asked factors, whatever the condition.

    Args:
        evaluation: has the training samples; nothing is compared without them.
        target: the modality.
        reader: reads it.
        ceiling: what the reader reads in the true views of the test samples, of the factors that are asked for; None without any.
    """
    training = evaluation.training
    if training is None or ceiling is None or not ceiling.factors or not len(ceiling.truth):
        return {}
    asked = [factor.name for factor in ceiling.factors]
    key = f"{target} {asked}"
    made = training.once(f"mean views of {key}", lambda: _mean_views(training, target, asked))
    found = {}
    if made is not None:
        reading = training.once(f"{key} {identity(reader)}", lambda: read(reader, made.views, evaluation.spec).select(asked))
        found[MEAN] = _at(reading, made.places(ceiling.truth), ceiling.truth)
        found[CONSTANT] = _at(reading, np.full(len(ceiling.truth), len(made.combinations)), ceiling.truth)
    truth = ceiling.truth[: _COMPARED[0]]
    nearest = evaluation.once(f"nearest views of {key}", lambda: _nearest_other(evaluation, target, asked, truth))
    if nearest is not None:
        found[OTHER] = _at(read(reader, nearest, evaluation.spec).select(asked), np.arange(len(nearest)), truth[: len(nearest)])
    return found


def _at(reading: ReadCodes, places: np.ndarray, truth: np.ndarray) -> ReadCodes:
    """What was read at these places as answers about samples with these factors."""
    forced = None if reading.forced is None else reading.forced[places]
    return ReadCodes(reading.factors, truth, reading.read[places], forced)


@dataclass(frozen=True)
class MeanViews:
    """Mean views of the training samples.

    Args:
        combinations: (G, F) the distinct codes of the asked factors, sorted.
        views: (G + 1, *shape) the mean of each, in its stored form, and last that of all samples.
    """

    combinations: np.ndarray
    views: Tensor

    def places(self, truth: np.ndarray) -> np.ndarray:
        """(N,) the place of the mean view of samples with factors (N, F); that of all where no training sample has them."""
        known = {tuple(row): place for place, row in enumerate(self.combinations.tolist())}
        return np.array([known.get(tuple(row), len(known)) for row in truth.tolist()], np.int64)


def _mean_views(training: Evaluation, target: str, asked: Sequence[str]) -> MeanViews | None:
    """The mean views of the first training samples; None without samples, or where their sums would not fit."""
    modality, columns = training.spec.modality(target), [training.spec.factor_index(name) for name in asked]
    codes = [batch.factors[:, columns].numpy() for batch in _having(training, target) if batch.factors is not None]
    if not codes:
        return None
    combinations, rows, counts = np.unique(np.concatenate(codes), axis=0, return_inverse=True, return_counts=True)
    size = int(np.prod(modality.shape)) * max(1, len(modality.symbols))
    if size * (len(combinations) + 1) * 8 > _MOST_BYTES:
        return None
    sums, start = torch.zeros(len(combinations), size, dtype=torch.float64), 0
    for batch in _having(training, target):
        view = _numbers(modality, batch.views[target]).flatten(1)
        sums.index_add_(0, torch.from_numpy(rows.ravel()[start : start + len(view)]), view.double())
        start += len(view)
    sums = torch.cat([sums, sums.sum(0, keepdim=True)])
    return MeanViews(combinations, _drawn(modality, sums / torch.from_numpy(np.append(counts, counts.sum()))[:, None]))


def _having(evaluation: Evaluation, target: str) -> Iterator[Batch]:
    """The first samples that have a modality, on the CPU."""
    for _, batch in evaluation.batches(_TRAINED):
        if len(part := having(batch, (target,))):
            yield part.to("cpu")


def _numbers(modality: Modality, view: Tensor) -> Tensor:
    """Views (B, *shape) whose mean is drawn: whole numbers of images, which add up exactly, indicators of symbols."""
    if modality.symbols:
        return functional.one_hot(view.long(), len(modality.symbols))
    return view


def _drawn(modality: Modality, means: Tensor) -> Tensor:
    """The stored view (G, *shape) of means (G, D): as a model's mean is drawn; of symbols the most probable ones."""
    if modality.symbols:
        ids = means.reshape(-1, *modality.shape, len(modality.symbols)).argmax(-1)
        return views.to_stored(modality, views.padded(modality, ids))
    found = means.reshape(-1, *modality.shape)
    if modality.dtype != "uint8":
        return views.to_stored(modality, found.float())
    return found.round().to(torch.uint8)


def _nearest_other(evaluation: Evaluation, target: str, asked: Sequence[str], truth: np.ndarray) -> Tensor | None:
    """For each true view, the nearest training view whose asked factors differ (n, *shape); None where all are the same.

    Nearest in the squared difference of values as models compute with them, of symbols in their number of differences.

    Args:
        evaluation: has the test and the training samples.
        target: the modality.
        asked: names of the factors.
        truth: (n, F) their codes in the first samples that have the modality.
    """
    assert evaluation.training is not None  # asked before
    modality, columns = evaluation.spec.modality(target), [evaluation.spec.factor_index(name) for name in asked]
    batches = [batch for batch in _first(_having(evaluation.training, target), _COMPARED[1]) if batch.factors is not None]
    if not batches:
        return None
    known = torch.cat([batch.views[target] for batch in batches])
    codes = torch.cat([batch.factors[:, columns] for batch in batches if batch.factors is not None])
    points = _point(modality, known)
    lengths, chosen = points.square().sum(1), list[Tensor]()
    true = (having(batch, (target,)).to("cpu") for _, batch in evaluation.true_batches())
    for batch in _first((batch for batch in true if len(batch)), len(truth)):
        own = torch.from_numpy(truth[sum(map(len, chosen)) :][: len(batch)])
        apart = lengths - 2 * _point(modality, batch.views[target]) @ points.T
        same = (own[:, None] == codes[None]).all(-1)
        if bool(same.all(1).any()):
            return None
        chosen.append(apart.masked_fill(same, torch.inf).argmin(1))
    return known[torch.cat(chosen)]


def _first(batches: Iterator[Batch], count: int) -> Iterator[Batch]:
    """The first `count` samples of batches."""
    for batch in batches:
        if count <= 0:
            return
        part = batch if len(batch) <= count else batch[torch.arange(count)]
        count -= len(part)
        yield part


def _point(modality: Modality, view: Tensor) -> Tensor:
    """Views as points (B, D) that can be compared."""
    return (_numbers(modality, view) if modality.symbols else views.to_model(modality, view)).float().flatten(1)
