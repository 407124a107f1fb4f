"""Some samples of a source, or some of its modalities."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from molyneux.core import Batch, ConfigError, Source, Spec
from molyneux.data.origin import origin_of
from molyneux.data.positions import check_positions


class Subset:
    """The samples of a source at these positions, in this order.

    Raises:
        DataError: a position lies outside the source.
    """

    def __init__(self, source: Source, indices: np.ndarray) -> None:
        self.source, self.indices = source, check_positions(indices, len(source))

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        return self.source.spec

    @property
    def origin(self) -> Mapping[str, Any] | None:
        """Everything the samples depend on."""
        digest = hashlib.sha256(self.indices.astype("<i8").tobytes()).hexdigest()
        return origin_of(self.source, subset=digest)

    def __len__(self) -> int:
        return len(self.indices)

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions of the subset."""
        return self.source.batch(self.indices[check_positions(indices, len(self))])


class Views:
    """The same samples with only these modalities, in this order.

    Raises:
        ConfigError: no modality is left. SpecError: the source has no such modality.
    """

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        if not names:
            raise ConfigError(f"expected at least one of the modalities {', '.join(source.spec.names)}, got none")
        self.source, self.names = source, tuple(names)
        self._spec = source.spec.restrict(self.names)

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        return self._spec

    @property
    def origin(self) -> Mapping[str, Any] | None:
        """Everything the samples depend on."""
        return origin_of(self.source, views=list(self.names))

    def __len__(self) -> int:
        return len(self.source)

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions."""
        batch = self.source.batch(indices)
        views = {name: batch.views[name] for name in self.names}
        return replace(batch, views=views, present={name: mask for name, mask in batch.present.items() if name in views})
