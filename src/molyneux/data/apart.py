"""Senses kept apart: samples with some factor values never have certain modalities together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, Source, Spec, nearest
from molyneux.core.seeds import key, uniforms
from molyneux.core.sources import DerivedSource, check_positions
from molyneux.data.missing import value_problems, which_have


@dataclass(frozen=True, kw_only=True)
class Separation:
    """Which samples have only one of several sets of modalities.

    Args:
        where: by the name of a factor, or of a target of task class, the values of these samples; a sample has to have one of the
            values of each. None: all samples.
        sets: each of these samples has the modalities of one of these sets, drawn with equal probability, and lacks all others:
            with `[[image, text], [touch]]` it is seen with a text, or felt alone, but never seen and felt.

    Raises:
        ConfigError: no set, or an empty one.
    """

    sets: tuple[tuple[str, ...], ...]
    where: Mapping[str, tuple[str, ...]] | None = None

    def __post_init__(self) -> None:
        problems = [] if self.sets else ["sets: expected at least one set of modalities, got none"]
        problems += ["sets: expected at least one modality in each set, got an empty one"] * (not all(self.sets))
        if problems:
            raise ConfigError(problems)

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for modalities, factors, targets or values that samples of a Spec lack."""
        names = dict.fromkeys(name for group in self.sets for name in group)
        problems = [f"sets: no modality {name!r}; {nearest(name, spec.names)}" for name in names if name not in spec.names]
        if problems := problems + [f"where: {problem}" for problem in value_problems(spec, self.where or {})]:
            raise ConfigError(problems)


class Apart(DerivedSource):
    """The samples of a source, some of which have only one of several sets of modalities; see `Separation`.

    Which set a sample has is a function of seed and position alone. What is missing in the source stays missing.

    Args:
        source: the complete samples.
        separation: which samples, and which sets.
        seed: of the sets.

    Raises:
        ConfigError: modalities, factors, targets or values that the samples lack.
    """

    def __init__(self, source: Source, separation: Separation, *, seed: int) -> None:
        where = {name: list(values) for name, values in (separation.where or {}).items()}
        super().__init__(source, apart={"sets": [list(group) for group in separation.sets], "where": where}, seed=seed)
        separation.check(self.spec)
        self.separation, self._where, self._stream = separation, where, key(seed, "apart")
        self._members = np.array([[name in group for name in self.spec.names] for group in separation.sets])

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions, with a presence mask for every modality."""
        rows = check_positions(indices, len(self))
        batch = self.source.batch(rows)
        draws = uniforms(self._stream, rows, 1)[:, 0]
        chosen = self._members[(draws * len(self._members)).astype(np.int64)]
        allowed = torch.from_numpy(np.where(which_have(batch, self.spec, self._where)[:, None], chosen, True))
        masks = {name: batch.mask(name) & allowed[:, column] for column, name in enumerate(self.spec.names)}
        return replace(batch, present=masks)
