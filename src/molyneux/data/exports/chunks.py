"""A source read from its first sample to its last."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from molyneux.core import Batch, Source
from molyneux.data.sources import require_positive


def batches(source: Source, chunk: int, progress: Callable[[int], None] | None) -> Iterator[tuple[np.ndarray, Batch]]:
    """Positions and samples of a source in chunks, checked; `progress` is called with the size of each chunk once it is used.

    Raises:
        ConfigError: `chunk` below 1. SpecError, DataError: samples that do not fit the spec or are out of bounds.
    """
    require_positive(chunk=chunk)
    for start in range(0, len(source), chunk):
        rows = np.arange(start, min(start + chunk, len(source)))
        yield rows, source.batch(rows).check_values(source.spec, rows)
        if progress is not None:
            progress(len(rows))
