"""Handwritten digits: the files of MNIST, and their removal of energy by principal component analysis."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from molyneux.core import CorruptFileError
from molyneux.core.store import read_error

SIDE = 28
"""Of a picture."""

FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
"""Pictures and classes for training and for testing, as their authors publish them."""

_CHUNK = 4096


class Digits(NamedTuple):
    """Pictures (N, 28 * 28) uint8 and their classes (N,) int64."""

    images: np.ndarray
    labels: np.ndarray


def read_digits(images: Path, labels: Path) -> Digits:
    """The pictures and classes of two files of MNIST.

    Raises:
        CorruptFileError: a file is not in the IDX format (LeCun, Cortes and Burges, 1998), was cut, or does not fit the other.
        StoreError: a file cannot be read.
    """
    found = Digits(_read_idx(images, axes=3), _read_idx(labels, axes=1).astype(np.int64))
    if found.images.shape[1:] != (SIDE, SIDE) or len(found.images) != len(found.labels) or found.labels.max(initial=0) > 9:
        got = f"{found.images.shape} and {found.labels.shape}"
        raise CorruptFileError(
            f"expected {images} to have pictures (N, {SIDE}, {SIDE}) and {labels.name} a class 0..9 for each, got {got}: "
            "restore the files"
        )
    return Digits(found.images.reshape(-1, SIDE * SIDE), found.labels)


def without_energy(images: np.ndarray, training: np.ndarray, energy: float, *, reaching: bool = True) -> np.ndarray:
    """Pictures (N, D) uint8 with only the first principal components of the training pictures, rounded and cut to 0..255.

    Args:
        images: the pictures, (N, D) uint8.
        training: those that the components and the mean are fitted to, (M, D) uint8.
        energy: the share of the variance that is kept, 0..1; 1 changes nothing.
        reaching: whether the fewest components are kept that have this share, or those that together have less.
    """
    if energy >= 1.0:
        return images
    mean, axes = _components(training)
    values, vectors = axes
    shares = np.cumsum(values) / values.sum()
    kept = vectors[:, : int(np.searchsorted(shares, energy, side="left")) + int(reaching)]
    out = np.empty_like(images)
    for start in range(0, len(images), _CHUNK):  # chunks at fixed places: the bytes do not depend on what is asked for
        codes = (images[start : start + _CHUNK] - mean) @ kept
        out[start : start + _CHUNK] = np.clip(np.rint(codes @ kept.T + mean), 0, 255)
    return out


def _components(training: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Mean (D,), and variances (D,) and directions (D, D) of the principal components, the largest first.

    Sums of integers below 2^53 are exact in float64, so the covariance does not depend on how a library adds.
    """
    count, size = training.shape
    total, products = np.zeros(size), np.zeros((size, size))
    for start in range(0, count, _CHUNK):
        part = training[start : start + _CHUNK].astype(np.float64)
        total += part.sum(0)
        products += part.T @ part
    mean = total / count
    values, vectors = np.linalg.eigh(products / count - np.outer(mean, mean))
    return mean, (values[::-1], vectors[:, ::-1])


def _read_idx(path: Path, *, axes: int) -> np.ndarray:
    """The unsigned bytes of a compressed IDX file."""
    try:
        content = gzip.decompress(path.read_bytes())
        magic, *shape = struct.unpack(f">{1 + axes}I", content[: 4 * (1 + axes)])
        if magic != 0x0800 + axes:
            raise ValueError(f"its first number is {magic}")
        return np.frombuffer(content, np.uint8, offset=4 * (1 + axes)).reshape(shape)
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise CorruptFileError(f"{path}: expected a file compressed by gzip ({error}): restore it") from error
        raise read_error(error, path) from error
    except (EOFError, ValueError, struct.error) as error:
        raise CorruptFileError(f"{path}: expected an IDX file of {axes} axes of bytes ({error}): restore it") from error
