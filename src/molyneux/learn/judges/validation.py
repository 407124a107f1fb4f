"""Validation of judges: what they read in fresh true views, and in fresh views that do not show every factor."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from molyneux.core import JudgeMaterial, Source, Spec
from molyneux.learn.judges.judge import Judge
from molyneux.learn.judges.labels import codes_of, recode
from molyneux.learn.judges.negatives import Negatives

_BATCH = 500

_OTHERS = 2000
"""Views of each kind but the true ones that are read, at most."""

_FEW = 20
"""Fewer labelled views than this give no rate."""


def validate_accuracy(judge: Judge, source: Source, samples: int | None = None) -> dict[str, float]:
    """Accuracy per factor that the source has, on its first `samples` (all of them by default), 0..1."""
    counts = confusion(judge, source, samples)
    return {name: int(table.diag().sum()) / int(table.sum()) for name, table in counts.items()}


def validate_abstention(
    judge: Judge, material: JudgeMaterial, *, seed: int = 0, samples: int = 10_000
) -> dict[str, dict[str, dict[str, float]]]:
    """How often a judge abstains where it should and should not, on fresh views: see `Record.abstention`."""
    names = [factor.name for factor in judge.record.factors]
    negatives = Negatives(material.views, judge.record.modality.name, names, seed=seed, cuts=material.altered is None)
    others = {"negatives": negatives, **({} if material.altered is None else {"altered": material.altered})}
    true = confusion(judge, material.views, samples)
    rates = {"true": {"abstained": {name: int(table[:, -1].sum()) / int(table.sum()) for name, table in true.items()}}}
    rates |= {kind: _rates(confusion(judge, source, min(samples, _OTHERS))) for kind, source in others.items()}
    return {kind: found for kind, found in rates.items() if any(found.values())}


def _rates(tables: dict[str, Tensor]) -> dict[str, dict[str, float]]:
    """By factor, the share of unreadable views for which the judge abstains, and of readable ones that it reads correctly."""
    rates: dict[str, dict[str, float]] = {"abstained": {}, "correct": {}}
    for factor, table in tables.items():
        readable, unreadable = table[:-1], table[-1]
        if unreadable.sum() >= _FEW:
            rates["abstained"][factor] = int(unreadable[-1]) / int(unreadable.sum())
        if readable.sum() >= _FEW:
            rates["correct"][factor] = int(readable.diag().sum()) / int(readable.sum())
    return rates


def confusion(judge: Judge, source: Source, samples: int | None = None) -> dict[str, Tensor]:
    """Per factor that the source has, how often value i was read as value j, (values, values) in the order of the judge's values.

    Args:
        judge: who reads; "unreadable" is among its values where it can abstain.
        source: views with codes; those without a label count nowhere.
        samples: how many of them are read, the first ones; all by default.
    """
    spec, modality = source.spec, judge.record.modality.name
    known = [factor for factor in judge.record.factors if factor.name in {own.name for own in spec.factors}]
    readable = Spec((spec.modality(modality),), tuple(known))
    reader = judge.reader(readable, modality, [factor.name for factor in known], abstain=False)
    tables = {factor.name: torch.zeros(len(factor.values) ** 2, dtype=torch.long) for factor in known}
    total = min(samples or len(source), len(source))
    for start in range(0, total, _BATCH):
        batch = source.batch(np.arange(start, min(start + _BATCH, total)))
        truth, read = recode(codes_of(batch), spec, known), reader.read(batch.views[modality]).codes
        for i, (factor, table) in enumerate(zip(known, tables.values(), strict=True)):
            pairs = truth[:, i] * len(factor.values) + read[:, i]
            table += pairs[truth[:, i] >= 0].bincount(minlength=len(table))
    return {factor.name: tables[factor.name].view(len(factor.values), -1) for factor in known}
