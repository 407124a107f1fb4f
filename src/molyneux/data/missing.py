"""Samples that lack modalities at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, Source, Spec, nearest
from molyneux.core.seeds import key, uniforms
from molyneux.data.origin import origin_of
from molyneux.data.positions import check_positions


class Missing:
    """The samples of a source with modalities missing completely at random.

    Each modality is missing with its rate, independently of the others, *given that at least one is present*: no sample loses
    everything, and the share that is missing is therefore a little below the rate (for two modalities at rate r it is
    r / (1 + r)). The mask of a sample is a function of seed and position alone.

    Args:
        source: the complete samples; what is missing there stays missing.
        rates: probability of missing per modality, 0..1; modalities not named are never missing.
        seed: of the masks.

    Raises:
        ConfigError: unknown modalities, rates outside 0..1, or a rate of 1 for every modality.
    """

    def __init__(self, source: Source, rates: Mapping[str, float], *, seed: int) -> None:
        names = source.spec.names
        problems = [f"unknown modality {name!r}; {nearest(name, names)}" for name in rates if name not in names]
        problems += [f"expected a rate from 0 to 1 for {name}, got {rate}" for name, rate in rates.items() if not 0 <= rate <= 1]
        if not problems and all(rates.get(name, 0.0) == 1 for name in names):
            problems = ["expected a rate below 1 for at least one modality, got 1 for all: nothing would be left"]
        if problems:
            raise ConfigError(problems)
        self.source, self.rates, self.seed = source, dict(rates), seed
        self._rates = np.array([rates.get(name, 0.0) for name in names])
        self._stream = key(seed, "missing")

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        return self.source.spec

    @property
    def origin(self) -> Mapping[str, Any] | None:
        """Everything the samples depend on."""
        return origin_of(self.source, missing=self.rates, seed=self.seed)

    def __len__(self) -> int:
        return len(self.source)

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions, with a presence mask for every modality."""
        rows = check_positions(indices, len(self))
        batch = self.source.batch(rows)
        there = np.stack([batch.mask(name).numpy() for name in self.spec.names], 1)
        present = _present(np.where(there, self._rates, 1.0), uniforms(self._stream, rows, len(self._rates)))
        masks = {name: torch.from_numpy(present[:, column].copy()) for column, name in enumerate(self.spec.names)}
        return replace(batch, present=masks)


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
