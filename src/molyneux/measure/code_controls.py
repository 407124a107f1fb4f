"""Controls of measures of codes that need no training: codes of an untrained net, and of the input itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Batch, DataError, NotApplicableError, Spec, views
from molyneux.measure.codes import CodeTable
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Draw

UNTRAINED, RAW = "untrained net", "raw input"
"""Names of the controls: what the same net has with the weights it starts with, and what the observed views have as they are."""

_FITTED = 1_000
"""Samples whose principal components stand for the input."""
_AT_ONCE = 500


def control_codes(
    evaluation: Evaluation, observed: Sequence[str], table: CodeTable, draw: Draw
) -> dict[str, dict[str, np.ndarray]]:
    """By code, the codes (N, D) of each control for the samples of a table, in their order.

    `UNTRAINED` is the same code of the net before its training, where there is such a net and it encodes. `RAW` is the observed
    views, as models compute with them, in as many principal components of 1,000 samples as the code has dimensions: a metric of
    single dimensions needs as many, and the pixels themselves are too many. None under a condition (of which a control of the
    samples as they are says enough) and for codes of the prior.

    Args:
        evaluation: has the samples and the net, `untrained`.
        observed: the observed modalities.
        table: codes of the samples.
        draw: means or samples of the posterior.
    """
    if evaluation.about:
        return {}
    codes = table.codes(draw)
    untrained = untrained_codes(evaluation, observed, table, draw)
    widest = max((values.shape[1] for values in codes.values()), default=0)
    raw = _components(evaluation, observed, table, widest)
    found: dict[str, dict[str, np.ndarray]] = {}
    for name, values in codes.items():
        beside = {UNTRAINED: untrained.get(name), RAW: raw[:, : values.shape[1]] if raw.shape[1] else None}
        found[name] = {control: part for control, part in beside.items() if part is not None}
    return found


def untrained_codes(
    evaluation: Evaluation, observed: Sequence[str], table: CodeTable, draw: Draw = "mean"
) -> Mapping[str, np.ndarray]:
    """By code, the codes (N, D) of the net before its training, for the samples of a table and in their order.

    None where there is no such net, it encodes nothing, or the samples are those of a condition.
    """
    if evaluation.about:
        return {}
    start = evaluation.before_training
    if start is None:
        return {}
    with suppress(NotApplicableError, DataError):  # an untrained net may need what is fitted later
        made = start.table(observed, int(table.rows.max()) + 1)
        places = np.searchsorted(made.rows, table.rows)  # both have the samples with all that is observed
        return {name: values[places] for name, values in made.codes(draw).items()}
    return {}


def untrained_pair(
    evaluation: Evaluation, observed: Sequence[str], table: CodeTable, training: CodeTable | None
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By code, the posterior means of the net before its training, of the samples to score and of those to fit.

    As of `untrained_codes`.

    Args:
        evaluation: has the samples and the net.
        observed: the observed modalities.
        table: codes of the samples to score.
        training: codes of the training samples; without them the samples to score are fitted on too.
    """
    tested = untrained_codes(evaluation, observed, table)
    if not tested or training is None or evaluation.training is None:
        return {name: (values, values) for name, values in tested.items()}
    fitted = untrained_codes(evaluation.training, observed, training)
    return {name: (values, fitted[name]) for name, values in tested.items() if name in fitted}


def _components(evaluation: Evaluation, observed: Sequence[str], table: CodeTable, count: int) -> np.ndarray:
    """The first principal components (N, at most `count`) of the observed views of the samples of a table."""
    rows = np.sort(table.rows)
    parts = [rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE)]
    some = torch.cat([_read(evaluation, observed, part) for part in parts[: _FITTED // _AT_ONCE]]).double()
    centre = some.mean(0)
    size, axes = torch.linalg.eigh((some - centre) @ (some - centre).T)  # of samples: there are fewer of them than of pixels
    kept = min(count, int((size > 1e-9 * size[-1].clamp(min=1e-300)).sum()))
    basis = (some - centre).T @ axes[:, len(axes) - kept :].flip(1) / size[len(size) - kept :].flip(0).sqrt()
    found = torch.cat([(_read(evaluation, observed, part).double() - centre) @ basis for part in parts]).numpy()
    return np.asarray(found[np.searchsorted(rows, table.rows)])


def _read(evaluation: Evaluation, observed: Sequence[str], rows: np.ndarray) -> Tensor:
    return points(evaluation.spec, observed, evaluation.source.batch(rows).to("cpu"))


def points(spec: Spec, observed: Sequence[str], batch: Batch) -> Tensor:
    """The observed views of some samples as points (B, D), as models compute with them; symbols are one-hot."""
    parts = []
    for name in observed:
        modality, view = spec.modality(name), batch.views[name]
        ready = functional.one_hot(view.long(), len(modality.symbols)) if modality.symbols else views.to_model(modality, view)
        parts.append(ready.float().flatten(1))
    return torch.cat(parts, 1)
