"""Which views that are measured on also occur in training, found by comparing the stored bytes.

A world of few scenes repeats itself: the first level of CdSprites+ has 73,125 pictures at most, so its test pictures are not all
new to a model. That is no leak, the splits are independent draws, but a reader of a score has to know it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from molyneux.core import Source, store

_CHUNK = 2_000
_FILE = "seen.{}.npy"


def remember(source: Source, folder: Path) -> None:
    """Store the digests of all views of the training samples: one file per modality, sorted uint64, 8 bytes a different view."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in source.spec.names}
    for digests in _digests(source, len(source)):
        for name, chunk in digests.items():
            found[name].append(chunk)
    for name, chunks in found.items():
        store.write_array(folder / _FILE.format(name), np.unique(np.concatenate(chunks)))


def seen(source: Source, folder: Path, samples: int) -> dict[str, float]:
    """By modality, the share of the first samples whose view is among those that were remembered, in %.

    Args:
        source: what is measured on.
        folder: where `remember` wrote; modalities of which it holds nothing are left out.
        samples: at most so many.
    """
    known = {name: store.read_array(path) for name in source.spec.names if store.is_file(path := folder / _FILE.format(name))}
    met = dict.fromkeys(known, 0)
    total = dict.fromkeys(known, 0)
    for digests in _digests(source, min(samples, len(source))) if known else ():
        for name, views in known.items():
            first, last = (np.searchsorted(views, digests[name], side) for side in ("left", "right"))  # they are sorted
            met[name] += int((first < last).sum())
            total[name] += len(digests[name])
    return {name: round(100 * met[name] / total[name], 2) for name in known if total[name]}


def _digests(source: Source, size: int) -> Iterator[dict[str, np.ndarray]]:
    """In chunks, by modality, a 64-bit digest of each view that is present: (n,) uint64."""
    for start in range(0, size, _CHUNK):
        batch = source.batch(np.arange(start, min(start + _CHUNK, size)))
        found = {}
        for name, view in batch.views.items():
            rows = np.ascontiguousarray(view[batch.mask(name)].numpy())
            hashes = b"".join(hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows)
            found[name] = np.frombuffer(hashes, np.uint64)
        yield found
