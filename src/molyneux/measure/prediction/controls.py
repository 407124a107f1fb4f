"""What can be predicted without the model: from the words themselves, and from a random projection of what was observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Modality, views
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import having

PROJECTION = "random projection"


def control_features(evaluation: Evaluation, observed: tuple[str, ...], *, samples: int, dimensions: int) -> Mapping[str, Any]:
    """By control, features of the samples that have all observed modalities, in their order: those of `collect_codes`.

    - `random projection`: (N, dimensions): what is observed, multiplied with random normal numbers. No fewer dimensions than the
      code, and nothing learned.
    - `bag of words` (`bag of letters` where symbols are letters): which symbols occur, a sparse (N, symbols); only where texts
      are observed.

    Args:
        evaluation: whose samples.
        observed: the modalities.
        samples: at most so many.
        dimensions: of the projection.
    """
    from scipy import sparse

    modalities = [evaluation.spec.modality(name) for name in observed]
    texts = [modality for modality in modalities if modality.kind == "text"]
    turns = {modality.name: _turn(evaluation, modality, dimensions) for modality in modalities}
    projected, bags = list[np.ndarray](), list[Any]()
    for _, batch in evaluation.batches(samples):
        part = having(batch, observed).to("cpu")
        features = {modality.name: _features(modality, part.views[modality.name]) for modality in modalities}
        projected.append(sum(features[name] @ turn for name, turn in turns.items()))
        if texts:
            bags.append(sparse.hstack([features[modality.name] for modality in texts], format="csr"))
    words = any(len(symbol) > 1 for modality in texts for symbol in modality.symbols)
    bag = {"bag of words" if words else "bag of letters": sparse.vstack(bags, format="csr")} if texts else {}
    return {PROJECTION: np.concatenate(projected), **bag}


def _turn(evaluation: Evaluation, modality: Modality, dimensions: int) -> np.ndarray:
    size = len(modality.symbols) or modality.size
    turn: np.ndarray = evaluation.rng("downstream", "projection", modality.name).normal(size=(size, dimensions)) / np.sqrt(size)
    return turn


def _features(modality: Modality, view: Tensor) -> Any:
    """Views as rows of numbers; which symbols occur, as a sparse matrix, where they have symbols."""
    from scipy import sparse

    if not modality.symbols:
        return views.to_model(modality, view).flatten(1).double().numpy()
    ids = view.long().reshape(len(view), -1)
    said = torch.ones_like(ids, dtype=torch.bool)
    if modality.kind == "text":
        said = torch.arange(ids.shape[1]) < views.text_lengths(modality, ids)[:, None]
    rows, places = (found.numpy() for found in torch.nonzero(said, as_tuple=True))
    counts = sparse.csr_array((np.ones(len(rows)), (rows, ids.numpy()[rows, places])), shape=(len(ids), len(modality.symbols)))
    counts.sum_duplicates()
    counts.data[:] = 1.0
    return counts
