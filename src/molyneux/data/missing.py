"""Incomplete samples: modalities that are missing at rates, at random, by modality, or depending on a class or factor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, Modality, Source, Spec, nearest, views
from molyneux.core.seeds import key, uniforms
from molyneux.core.sources import DerivedSource, check_positions


class Missing(DerivedSource):
    """The samples of a source with modalities missing at rates.

    Each modality is missing with its rate, independently of the others, *given that at least one is present*: no sample loses
    everything, and the share that is missing is therefore a little below the rate (for two modalities at rate r it is
    r / (1 + r)). That also holds of samples that lack modalities already: one of those that they have is kept, whatever its rate.
    The mask of a sample is a function of seed and position alone.

    With rates alone, modalities are missing completely at random, or by modality where only some are named. With `by`, the rate
    depends on a class or factor: what is missing tells something of it (missing not at random, if that is not observed). With
    `where`, only samples with certain values lack modalities; the others are complete. With `above`, a modality is missing
    depending on itself. `MCAR`, `MAR` and `MNAR` (`missing_protocols`) are these under the names of Rubin (1976).

    Args:
        source: the complete samples; what is missing there stays missing.
        rates: probability of missing per modality, 0..1; modalities not named are never missing.
        seed: of the masks.
        where: by the name of a factor, or of a target of task class, the values of the samples that may lack modalities; a sample
            has to have one of the values of each.
        by: by the name of a factor, or of a target of task class, what the rates of samples with some of its values are
            multiplied by; 1 for values that are not named, and where it is not known. Numbers of several names are multiplied.
        above: by modality, a number that the mean of a sample's values (of images and videos from 0 to 1) has to exceed for the
            sample to lack that modality, such as the brightness of an image.
        empty: whether a sample may lose everything; then each modality is missing with its rate whatever the others are.
            Models that are trained on such a sample say that they cannot be.

    Raises:
        ConfigError: unknown modalities, rates outside 0..1, also after multiplication, a rate of 1 for every modality, unknown
            factors, targets or values, or modalities without a mean.
    """

    def __init__(
        self,
        source: Source,
        rates: Mapping[str, float],
        *,
        seed: int,
        where: Mapping[str, Sequence[str]] | None = None,
        by: Mapping[str, Mapping[str, float]] | None = None,
        above: Mapping[str, float] | None = None,
        empty: bool = False,
    ) -> None:
        limits = {name: list(values) for name, values in (where or {}).items()}
        factors = {name: dict(values) for name, values in (by or {}).items()}
        given = {"where": limits, "by": factors, "above": dict(above or {}), "empty": empty}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value}
        super().__init__(source, missing=dict(rates), seed=seed, **changes)
        names = self.spec.names
        problems = [f"unknown modality {name!r}; {nearest(name, names)}" for name in rates if name not in names]
        problems += [f"expected a rate from 0 to 1 for {name}, got {rate}" for name, rate in rates.items() if not 0 <= rate <= 1]
        problems += value_problems(self.spec, limits)
        problems += value_problems(self.spec, {name: list(values) for name, values in factors.items()})
        problems += _mean_problems(self.spec, dict(above or {}), rates)
        problems = [*dict.fromkeys(problems)] or [*_rate_problems(self.spec, rates, factors, empty=empty)]
        if problems:
            raise ConfigError(problems)
        self.rates, self.seed, self.where, self.by = dict(rates), seed, limits, factors
        self.above, self.empty = dict(above or {}), empty
        self._rates = np.array([rates.get(name, 0.0) for name in names])
        self._stream = key(seed, "missing")

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions, with a presence mask for every modality."""
        rows = check_positions(indices, len(self))
        batch = self.source.batch(rows)
        available = np.stack([batch.mask(name).numpy() for name in self.spec.names], 1)
        rates = self._rates * (which_have(batch, self.spec, self.where) * _multiplier(batch, self.spec, self.by))[:, None]
        for name, least in self.above.items():
            rates[:, self.spec.names.index(name)] *= _means(batch, self.spec.modality(name)) > least
        rates, draws = np.where(available, rates, 1.0), uniforms(self._stream, rows, len(self._rates))
        present = draws >= rates if self.empty else _present(_leaving_one(rates, available), draws)
        masks = {name: torch.from_numpy(present[:, column].copy()) for column, name in enumerate(self.spec.names)}
        return replace(batch, present=masks)


def value_problems(spec: Spec, where: Mapping[str, Sequence[str]]) -> list[str]:
    """What is wrong with names and values of factors and of targets of task class."""
    known = {factor.name: factor.values for factor in spec.factors}
    known |= {target.name: target.symbols for target in spec.targets if target.task == "class"}
    problems = [
        f"expected a factor or a target of task class, got {name!r}; {nearest(name, known)}"
        for name in where
        if name not in known
    ]
    problems += [f"{name}: expected at least one value, got none" for name, values in where.items() if not values]
    return problems + [
        f"{name}: no value {value!r}; {nearest(str(value), known[name])}"
        for name, values in where.items()
        for value in values
        if name in known and value not in known[name]
    ]


def _mean_problems(spec: Spec, above: Mapping[str, float], rates: Mapping[str, float]) -> list[str]:
    """What is wrong with modalities that are missing depending on their own values."""
    known = [name for name in above if name in spec.names]
    return [
        *(f"above: unknown modality {name!r}; {nearest(name, spec.names)}" for name in above if name not in spec.names),
        *(
            f"above: expected modalities of numbers, got {name}, of symbols: name a factor in by"
            for name in known
            if spec.modality(name).symbols
        ),
        *(f"above: expected a rate for {name}, which is never missing, got none: add it" for name in known if name not in rates),
    ]


def _rate_problems(
    spec: Spec, rates: Mapping[str, float], by: Mapping[str, Mapping[str, float]], *, empty: bool
) -> Iterator[str]:
    """What is wrong with rates of known modalities, each multiplied by the largest of its factors in `by`."""
    unusable = [
        f"{name}: expected numbers of at least 0 that rates are multiplied by, got {number} for {value!r}"
        for name, values in by.items()
        for value, number in values.items()
        if not 0 <= number < math.inf
    ]
    if unusable:
        yield from unusable
        return
    most, words = 1.0, list[str]()
    for name, values in by.items():
        known = {factor.name: factor.values for factor in spec.factors}
        count = len(known[name] if name in known else spec.target(name).symbols)
        value, number = max(values.items(), key=lambda item: item[1])
        if number > 1 or len(values) == count:
            most *= number
            words.append(f"{name} {value}")
    largest = {name: rates.get(name, 0.0) * most for name in spec.names}
    if words and max(largest.values()) > 1:
        shown = ", ".join(f"{rate:g} for {name}" for name, rate in largest.items() if rate > 1)
        yield f"expected rates of at most 1, got {shown} where {' and '.join(words)}: lower them, or what they are multiplied by"
    elif not empty and all(rate == 1 for rate in largest.values()):
        yield "expected a rate below 1 for at least one modality, got 1 for all: nothing would be left"


def _codes(batch: Batch, spec: Spec, name: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """The codes of a factor, or of a target of task class, (B,), -1 where it is absent or not known; and its values."""
    if name in (factor.name for factor in spec.factors) and batch.factors is not None:
        return batch.factors[:, spec.factor_index(name)].numpy(), spec.factor(name).values
    return np.where(batch.known_mask(name).numpy(), batch.targets[name].numpy(), -1), spec.target(name).symbols


def which_have(batch: Batch, spec: Spec, where: Mapping[str, Sequence[str]]) -> np.ndarray:
    """Which samples have one of the named values of each factor and class in `where`, (B,) bool; False if it is unknown."""
    found = np.ones(len(batch), dtype=bool)
    for name, values in where.items():
        codes, symbols = _codes(batch, spec, name)
        found &= np.isin(codes, [symbols.index(value) for value in values])
    return found


def _multiplier(batch: Batch, spec: Spec, by: Mapping[str, Mapping[str, float]]) -> np.ndarray:
    """What the rates of each sample are multiplied by, (B,)."""
    found = np.ones(len(batch))
    for name, values in by.items():
        codes, symbols = _codes(batch, spec, name)
        found *= np.array([*(values.get(symbol, 1.0) for symbol in symbols), 1.0])[codes]  # the last is that of code -1
    return found


def _means(batch: Batch, modality: Modality) -> np.ndarray:
    """The mean of each view's values, (B,); of images and videos from 0 to 1. Values beyond a length do not count."""
    view = views.to_model(modality, batch.views[modality.name]).double()
    if modality.name not in batch.lengths:
        return view.flatten(1).mean(1).numpy()
    axis, here = modality.length_axis or 0, batch.positions(modality.name, Spec((modality,))).double()
    weight = here.reshape(len(view), *[1] * axis, -1, *[1] * (view.ndim - 2 - axis)).expand_as(view)
    total: np.ndarray = ((view * weight).flatten(1).sum(1) / weight.flatten(1).sum(1).clamp(min=1)).numpy()
    return total


def _leaving_one(rates: np.ndarray, available: np.ndarray) -> np.ndarray:
    """Rates (B, M), slightly below 1 in samples that would lose all they have, (B, M) bool: a random one stays."""
    return np.where((rates == 1.0).all(1, keepdims=True) & available, 1.0 - 1e-9, rates)


def _present(rates: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Masks (B, M) of independent presences with probability 1 - rate, given at least one, from uniforms (B, M).

    In order of the modalities: as long as none is present, the chance of the next rises from 1 - rate to
    (1 - rate) / (1 - product of the rates from it on), which is 1 for the last that can be present.
    """
    some_left = 1.0 - np.cumprod(rates[:, ::-1], 1)[:, ::-1]
    chance = np.divide(1.0 - rates, some_left, out=np.zeros_like(rates), where=some_left > 0)
    present = np.zeros(rates.shape, dtype=bool)
    any_yet = np.zeros(len(rates), dtype=bool)
    for column in range(rates.shape[1]):
        present[:, column] = draws[:, column] < np.where(any_yet, 1.0 - rates[:, column], chance[:, column])
        any_yet |= present[:, column]
    return present
