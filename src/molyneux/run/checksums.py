"""A fingerprint of samples, by which a run notices that they are no longer what they were."""

from __future__ import annotations

import hashlib

import numpy as np

from molyneux.core import Source


def checksum(source: Source, *, samples: int = 1_000) -> str:
    """BLAKE2b of the first samples of a source (32 hex digits): every view, mask, factor and target, with names and shapes."""
    batch = source.batch(np.arange(min(samples, len(source))))
    digest = hashlib.blake2b(digest_size=16)
    for name, tensor in sorted(batch.tensors().items()):
        array = np.ascontiguousarray(tensor.numpy(force=True))
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
