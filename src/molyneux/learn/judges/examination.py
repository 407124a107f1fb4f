"""Examination of judges: what they read in samples that nobody has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Source, Spec
from molyneux.learn.judges.ghosts import UNREADABLE, make_ghosts
from molyneux.learn.judges.judge import Judge
from molyneux.learn.judges.lesson import codes_of, recode

_BATCH = 500

_GHOSTS = 1000
"""Ghosts of each kind that are read."""


def examine(judge: Judge, source: Source, samples: int | None = None) -> dict[str, float]:
    """Share of right answers per factor that the source has, on its first `samples` (all of them by default), 0..1."""
    counts = confusion(judge, source, samples)
    return {name: int(table.diag().sum()) / int(table.sum()) for name, table in counts.items()}


def doubt(judge: Judge, source: Source, dissolved_by: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Share of a source's ghosts that are called unreadable, per factor, the lowest of its kinds of ghost, 0..1."""
    found: dict[str, float] = {}
    factors = [factor.name for factor in judge.record.factors]
    for ghosts in make_ghosts(source, judge.record.modality.name, factors, dissolved_by):
        view = ghosts.batch(np.arange(min(_GHOSTS, len(ghosts)))).views[judge.record.modality.name]
        name = ghosts.spec.factors[0].name
        spec = Spec(ghosts.spec.modalities, judge.record.factors)
        read = judge.reader(spec, judge.record.modality.name, (name,), refuse=False).read(view).codes[:, 0]
        share = (read == spec.factor(name).code(UNREADABLE)).double().mean().item()
        found[name] = min(share, found.get(name, 1.0))
    return found


def confusion(judge: Judge, source: Source, samples: int | None = None) -> dict[str, Tensor]:
    """Per factor that the source has, how often value i was read as value j, (values, values) by the judge's codes.

    Args:
        judge: who reads; also "unreadable" is among its values where it knows that answer.
        source: true views.
        samples: how many of them are read, the first ones; all by default.
    """
    spec, modality = source.spec, judge.record.modality.name
    known = [factor for factor in judge.record.factors if factor.name in {own.name for own in spec.factors}]
    readable = Spec((spec.modality(modality),), tuple(known))
    reader = judge.reader(readable, modality, [factor.name for factor in known], refuse=False)
    tables = {factor.name: torch.zeros(len(factor.values) ** 2, dtype=torch.long) for factor in known}
    total = min(samples or len(source), len(source))
    for start in range(0, total, _BATCH):
        batch = source.batch(np.arange(start, min(start + _BATCH, total)))
        truth, read = recode(codes_of(batch), spec, known), reader.read(batch.views[modality]).codes
        for i, (factor, table) in enumerate(zip(known, tables.values(), strict=True)):
            pairs = truth[:, i] * len(factor.values) + read[:, i]
            table += pairs[truth[:, i] >= 0].bincount(minlength=len(table))
    return {factor.name: tables[factor.name].view(len(factor.values), -1) for factor in known}
