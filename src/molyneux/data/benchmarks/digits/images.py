"""Handwritten digits: files in the format of MNIST, and the removal of energy by principal component analysis."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from molyneux.core import CorruptFileError, files
from molyneux.core.store import is_file, read_error
from molyneux.data.formats.limits import require_unpacked

SIDE = 28
"""Of a picture."""

FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
"""Pictures and classes for training and for testing, as their authors publish them."""

_CHUNK = 4096
_BLOCK = 1 << 22


def idx_files(folder: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Names `*.gz` of IDX files, without `.gz` where only the file without compression is there."""
    plain = (name.removesuffix(".gz") for name in names)
    return tuple(
        bare if is_file(folder / bare) and not is_file(folder / name) else name for name, bare in zip(names, plain, strict=True)
    )


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


class Components(NamedTuple):
    """The mean (D,) of pictures, and the directions (D, K) of those of their principal components that are kept."""

    mean: np.ndarray
    kept: np.ndarray


def principal_components(training: np.ndarray, energy: float, *, reaching: bool = True) -> Components | None:
    """The first principal components of pictures (M, D) uint8; None for all of them.

    Args:
        training: what they are fitted to.
        energy: the share of the variance that they have, 0..1.
        reaching: whether the fewest components are kept that have this share, or those that together have less.
    """
    if energy >= 1.0:
        return None
    mean, values, vectors = _components(training)
    shares = np.cumsum(values) / values.sum()
    return Components(mean, vectors[:, : int(np.searchsorted(shares, energy, side="left")) + int(reaching)])


def without_energy(images: np.ndarray, components: Components | None) -> np.ndarray:
    """Pictures (N, D) uint8 with these components alone, rounded and cut to 0..255; unchanged without components."""
    if components is None:
        return images
    mean, kept = components
    out = np.empty_like(images)
    for start in range(0, len(images), _CHUNK):  # chunks at fixed places: the bytes do not depend on what is asked for
        codes = (images[start : start + _CHUNK] - mean) @ kept
        out[start : start + _CHUNK] = np.clip(np.rint(codes @ kept.T + mean), 0, 255)
    return out


def _components(training: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    return mean, values[::-1], vectors[:, ::-1]


def _read_idx(path: Path, *, axes: int) -> np.ndarray:
    """The unsigned bytes of an IDX file, compressed where its name ends in `.gz`; no more is unpacked than its head says."""
    try:
        with files.open_plain(path) as file, gzip.open(file) if path.suffix == ".gz" else file as stream:
            size = file.seek(0, 2)
            file.seek(0)
            magic, *shape = struct.unpack(f">{1 + axes}I", stream.read(4 * (1 + axes)))
            if magic != 0x0800 + axes:
                raise ValueError(f"its first number is {magic}")
            require_unpacked(path, size, count := math.prod(shape))
            content = np.empty(count, np.uint8)
            found = _filled(content, stream)
            if found != count or stream.read(1):
                raise ValueError(f"its head promises {count:,} bytes, it has {'more' if found == count else f'{found:,}'}")
            return content.reshape(shape)
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise CorruptFileError(f"{path}: expected a file compressed by gzip ({error}): restore it") from error
        raise read_error(error, path) from error
    except (EOFError, ValueError, struct.error, zlib.error) as error:
        raise CorruptFileError(f"{path}: expected an IDX file of {axes} axes of bytes ({error}): restore it") from error


def _filled(content: np.ndarray, stream: gzip.GzipFile | IO[bytes]) -> int:
    """How many bytes of an array (N,) a stream has filled; fewer where it ends."""
    done = 0
    while done < len(content) and (block := stream.read(min(_BLOCK, len(content) - done))):
        content[done : done + len(block)] = np.frombuffer(block, np.uint8)
        done += len(block)
    return done
