"""Readers applied to batches: which factors are asked for, and what is read against the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from molyneux.core import Factor, Reader, Reading, Spec
from molyneux.measure.coherence.answers import Answers
from molyneux.measure.coherence.directions import Direction
from molyneux.measure.evaluation import Evaluation


def asked_factors(evaluation: Evaluation, direction: Direction) -> tuple[str, ...]:
    """The factors that the target's reader reads and that some observed modality shows.

    A caption without a colour cannot ask for one. A modality nobody reads is taken to show every factor.
    """
    target = evaluation.reader(direction.target)
    if target is None:
        return ()
    readers = [evaluation.reader(name) for name in direction.observed]
    shown = {factor for reader in readers if reader is not None for factor in reader.factors}
    everything = any(reader is None for reader in readers)
    known = (factor.name for factor in evaluation.spec.factors if factor.name in target.factors)
    return tuple(name for name in known if everything or name in shown)


def read(reader: Reader, view: Tensor, truth: Tensor, spec: Spec) -> Answers:
    """What a reader reads in stored views (B, ...), against true factors (B, all factors of the Spec).

    The factors are in the order of the Spec, whatever the order of the reader.
    """
    reading = reader.read(view.cpu())
    columns = np.array([spec.factor_index(name) for name in reading.factors], dtype=np.int64)
    order = np.argsort(columns)
    factors = tuple(spec.factors[column] for column in columns[order])
    forced = None if reading.forced is None else reading.forced.cpu().numpy()[:, order]
    return Answers(factors, truth.cpu().numpy()[:, columns[order]], reading.codes.cpu().numpy()[:, order], forced)


def words(reading: Reading, factors: Sequence[Factor], row: int) -> str:
    """What was read in one sample, as words; the reason where it could not be read.

    A factor without a code is doubted (`size?`) if the reader gives a reason for the sample; else the sample does not have it.
    """
    codes: np.ndarray = reading.codes[row].cpu().numpy()
    known = {factor.name: factor for factor in factors}
    if (codes < 0).all():
        return f"unreadable: {reading.reasons[row]}" if row in reading.reasons else "unreadable"
    doubt = "?" if row in reading.reasons else ""
    read = zip(reading.factors, codes, strict=True)
    return " ".join(known[name].values[code] if code >= 0 else f"{name}{doubt}" for name, code in read if code >= 0 or doubt)
