"""Sources made of arrays and of other sources: samples in memory, some samples, some modalities, missing modalities."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, Source, Spec, nearest
from molyneux.core.seeds import key, uniforms
from molyneux.data.dataset import check_positions
from molyneux.data.layout import columns_of, read_arrays, to_arrays, to_batch


def origin_of(source: Source, **changes: Any) -> Mapping[str, Any] | None:
    """The origin of a source, or of what these changes make of it: two sources of the same origin hold the same bytes.

    None where the source has no `origin` that says everything its samples depend on.
    """
    origin: Mapping[str, Any] | None = getattr(source, "origin", None)
    if origin is None:
        return None
    return {"of": dict(origin), **changes} if changes else dict(origin)


def require_positive(**numbers: int) -> None:
    """Raise ConfigError, with its name, for a number below 1."""
    if problems := [f"expected {name} of at least 1, got {number}" for name, number in numbers.items() if number < 1]:
        raise ConfigError(problems)


class ArraySource:
    """Samples that lie in memory, in one batch that fits the spec (else SpecError); nothing is copied until they are read."""

    in_memory = True
    """Training need not load it."""

    def __init__(self, spec: Spec, batch: Batch) -> None:
        self.spec, self._size = spec, len(batch)
        self._arrays = to_arrays(batch.check(spec))

    def __len__(self) -> int:
        return self._size

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        rows = check_positions(indices, self._size)
        # NumPy's take copies whole rows: three times as fast here as torch.index_select on one thread.
        return to_batch({name: array.take(rows, axis=0) for name, array in self._arrays.items()}, self.spec)


def load(source: Source, *, chunk: int = 4096, threads: int = 1) -> ArraySource:
    """The whole source in memory; `threads` chunks of so many samples are fetched at the same time.

    Raises:
        ConfigError: `chunk` or `threads` below 1.
    """
    require_positive(chunk=chunk, threads=threads)
    size, spec = len(source), source.spec
    if isinstance(source, ArraySource):
        return source
    arrays = {column.name: np.empty((size, *column.shape), column.dtype) for column in columns_of(source)}

    def fetch(start: int) -> None:
        for name, rows in read_arrays(source, arrays, np.arange(start, min(start + chunk, size))).items():
            arrays[name][start : start + len(rows)] = rows

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(fetch, range(0, size, chunk)):
            pass
    return ArraySource(spec, to_batch(arrays, spec))


class DerivedSource:
    """A source made of another one.

    Args:
        source: what it is made of.
        spec: what a batch looks like; as in `source` by default.
        changes: what is done to the samples, as plain data, for the origin.
    """

    def __init__(self, source: Source, *, spec: Spec | None = None, **changes: Any) -> None:
        self.source, self.spec, self._changes = source, source.spec if spec is None else spec, changes

    @property
    def origin(self) -> Mapping[str, Any] | None:
        """Everything the samples depend on; None where the source cannot say."""
        return origin_of(self.source, **self._changes)

    def __len__(self) -> int:
        return len(self.source)


class Subset(DerivedSource):
    """The samples of a source at these positions, in this order.

    Raises:
        DataError: a position lies outside the source.
    """

    def __init__(self, source: Source, indices: np.ndarray) -> None:
        self.indices = check_positions(indices, len(source))
        super().__init__(source, subset=hashlib.sha256(self.indices.astype("<i8").tobytes()).hexdigest())

    def __len__(self) -> int:
        return len(self.indices)

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions of the subset."""
        return self.source.batch(self.indices[check_positions(indices, len(self))])


class Views(DerivedSource):
    """The same samples with only these modalities, in this order.

    Raises:
        ConfigError: no modality is left. SpecError: the source has no such modality.
    """

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        if not names:
            raise ConfigError(f"expected at least one of the modalities {', '.join(source.spec.names)}, got none")
        self.names = tuple(names)
        super().__init__(source, spec=source.spec.restrict(self.names), views=list(names))

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        batch = self.source.batch(indices)
        present, lengths = ({name: part[name] for name in self.names if name in part} for part in (batch.present, batch.lengths))
        return replace(batch, views={name: batch.views[name] for name in self.names}, present=present, lengths=lengths)


class Lacking(DerivedSource):
    """The samples of a source without some modalities: these are masked in every sample.

    What is missing in the source stays missing.

    Raises:
        ConfigError: unknown modalities, or no modality is left.
    """

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        known = source.spec.names
        problems = [f"unknown modality {name!r}; {nearest(name, known)}" for name in names if name not in known]
        if not problems and set(names) >= set(known):
            problems = [f"expected at least one of the modalities {', '.join(known)} to be left, got all as lacking"]
        if problems:
            raise ConfigError(problems)
        self.names = tuple(name for name in known if name in names)
        super().__init__(source, lacking=list(self.names))

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        batch = self.source.batch(indices)
        return batch.observe([name for name in batch.views if name not in self.names])


class Missing(DerivedSource):
    """The samples of a source with modalities missing completely at random.

    Each modality is missing with its rate, independently of the others, *given that at least one is present*: no sample loses
    everything, and the share that is missing is therefore a little below the rate (for two modalities at rate r it is
    r / (1 + r)). The mask of a sample is a function of seed and position alone.

    With `where`, only samples whose factors and classes have certain values lack modalities: missing by class, or at random given
    a factor. The others are complete.

    Args:
        source: the complete samples; what is missing there stays missing.
        rates: probability of missing per modality, 0..1; modalities not named are never missing.
        seed: of the masks.
        where: by the name of a factor, or of a target of task class, the values of the samples that may lack modalities; a sample
            has to have one of the values of each.

    Raises:
        ConfigError: unknown modalities, rates outside 0..1, a rate of 1 for every modality, unknown factors, targets or values.
    """

    def __init__(
        self, source: Source, rates: Mapping[str, float], *, seed: int, where: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        limits = {name: list(values) for name, values in (where or {}).items()}
        changes: dict[str, Any] = {"where": limits} if limits else {}
        super().__init__(source, missing=dict(rates), seed=seed, **changes)
        names = self.spec.names
        problems = [f"unknown modality {name!r}; {nearest(name, names)}" for name in rates if name not in names]
        problems += [f"expected a rate from 0 to 1 for {name}, got {rate}" for name, rate in rates.items() if not 0 <= rate <= 1]
        if not problems and all(rates.get(name, 0.0) == 1 for name in names):
            problems = ["expected a rate below 1 for at least one modality, got 1 for all: nothing would be left"]
        problems += value_problems(self.spec, limits)
        if problems:
            raise ConfigError(problems)
        self.rates, self.seed, self.where = dict(rates), seed, limits
        self._rates = np.array([rates.get(name, 0.0) for name in names])
        self._stream = key(seed, "missing")

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions, with a presence mask for every modality."""
        rows = check_positions(indices, len(self))
        batch = self.source.batch(rows)
        available = np.stack([batch.mask(name).numpy() for name in self.spec.names], 1)
        rates = self._rates * _has_values(batch, self.spec, self.where)[:, None]
        present = _present(np.where(available, rates, 1.0), uniforms(self._stream, rows, len(self._rates)))
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


def _has_values(batch: Batch, spec: Spec, where: Mapping[str, Sequence[str]]) -> np.ndarray:
    """Which samples have one of the values of each factor and class that `where` names, (B,) bool; unknown ones have not."""
    found = np.ones(len(batch), dtype=bool)
    for name, values in where.items():
        if name in (factor.name for factor in spec.factors) and batch.factors is not None:
            factor = spec.factor(name)
            found &= np.isin(batch.factors[:, spec.factor_index(name)].numpy(), [factor.code(value) for value in values])
        else:
            codes = [spec.target(name).symbols.index(value) for value in values]
            found &= np.isin(batch.targets[name].numpy(), codes) & batch.known_mask(name).numpy()
    return found


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
