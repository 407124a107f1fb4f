"""Examination of judges: what they read in samples that nobody has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Source, Spec
from molyneux.learn.judges.ghosts import codes_by_name, make_ghosts
from molyneux.learn.judges.judge import Judge
from molyneux.learn.judges.legibility import Blur
from molyneux.learn.judges.lesson import codes_of, recode
from molyneux.learn.judges.members import RECAST, RECIPES
from molyneux.learn.judges.recast import make_recast
from molyneux.learn.judges.unseen import Defocused, Foreign, Medians
from molyneux.learn.judges.wreckage import Material, Wreckage

_BATCH = 500

_GHOSTS = 1000
"""Ghosts of each kind that are read, at most."""

_FEW = 20


def examine(judge: Judge, source: Source, samples: int | None = None) -> dict[str, float]:
    """Share of right answers per factor that the source has, on its first `samples` (all of them by default), 0..1."""
    counts = confusion(judge, source, samples)
    return {name: int(table.diag().sum()) / int(table.sum()) for name, table in counts.items()}


def doubt(
    judge: Judge, held: Material, blurs: Mapping[str, Sequence[Blur]], *, seed: int = 0, examined: int = 10_000
) -> dict[str, dict[str, dict[str, float]]]:
    """How the answer "unreadable" is used: see `Record.doubts`.

    True views, ghosts of every recipe that judges learn from, wreckage of every kind, and three recipes that no judge learns
    from: `median` of views (sharp where a mean is soft), `defocused` (soft without members) and `foreign` (true pictures of
    shapes that the world does not have). A kind is left out where it cannot be made, a factor where fewer than 20 views tell
    of it.
    """
    name, factors = judge.record.modality.name, [factor.name for factor in judge.record.factors]
    counts = confusion(judge, held.true, examined)
    doubts = {"true": {"refused": {name: int(table[:, -1].sum()) / int(table.sum()) for name, table in counts.items()}}}
    codes, ghosts_read = codes_by_name(held.silhouette or held.true), min(_GHOSTS, examined)
    for recipe in RECIPES:
        ghosts = make_ghosts(held.true, name, factors, recipe=recipe, count=ghosts_read, blurs=blurs, seed=seed, codes=codes)
        doubts[recipe.name] = _used(judge, ghosts, count=ghosts_read)
        if recipe.name == "smeared":
            doubts["median"] = _used(judge, Medians(ghosts, held.true, name), count=ghosts_read, refused_only=True)
    for kind in held.kinds:
        doubts[kind] = _used(judge, Wreckage(held, name, factors, kind=kind, seed=seed), count=ghosts_read)
    if held.silhouette is not None:
        doubts[RECAST.name] = _used(
            judge, make_recast(held, name, factors, count=ghosts_read, blurs=blurs, seed=seed, codes=codes), count=ghosts_read
        )
    if held.foreign is not None:
        doubts["foreign"] = _used(judge, Foreign(held, name, factors), count=ghosts_read)
    if judge.record.modality.kind == "image":
        doubts["defocused"] = _used(judge, Defocused(held, name, factors), count=ghosts_read, refused_only=True)
    return {kind: found for kind, found in doubts.items() if any(found.values())}


def _used(judge: Judge, source: Source, *, count: int, refused_only: bool = False) -> dict[str, dict[str, float]]:
    """The shares of views whose factor is refused where it is to be, and told rightly where it is to be."""
    found: dict[str, dict[str, float]] = {"refused": {}, "told": {}}
    if not len(source):
        return found
    for factor, table in confusion(judge, source, count).items():
        true, lost = table[:-1], table[-1]
        if lost.sum() >= _FEW:
            found["refused"][factor] = int(lost[-1]) / int(lost.sum())
        if true.sum() >= _FEW and not refused_only:
            found["told"][factor] = int(true.diag().sum()) / int(true.sum())
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
