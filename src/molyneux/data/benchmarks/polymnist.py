"""PolyMNIST, built from MNIST: the same digit in several handwritings, each on a background of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, final

import numpy as np
import torch

from molyneux.core import Batch, DataError, Modality, Spec, seeds
from molyneux.core.image_files import decoded, open_image
from molyneux.data.benchmarks.bases.file_benchmark import FileSamples, tensors
from molyneux.data.benchmarks.digits.images import FILES, SIDE
from molyneux.data.benchmarks.digits.samples import DIGITS, DigitImages, class_factor, dealt
from molyneux.data.worlds.textures import PARAMETERS, PATTERNS, draw_patterns, folder_digest, texture_files

_BACKGROUND = 96
"""Of a procedural background, in pixels."""

_DEPTH = (120, 104, 72)
"""How far the three channels go from black or white, in turn."""


@lru_cache(maxsize=1)
def procedural_backgrounds() -> tuple[np.ndarray, ...]:
    """A background (3, _BACKGROUND, _BACKGROUND) uint8 of each family of textures, always the same ones.

    Every channel stays near black or near white, by the place of the family, so that the inverted colours of a digit differ from
    those around it everywhere, by at least 15 of 255 in each channel.
    """
    count, stream = len(PATTERNS), seeds.generator(0, "polymnist-backgrounds-v1")
    grey = np.empty((count, _BACKGROUND, _BACKGROUND), np.uint8)
    numbers, keys = stream.random((count, PARAMETERS)), stream.integers(0, 1 << 63, count).astype(np.uint64)
    draw_patterns(np.arange(count), numbers, keys, grey)
    pictures = []
    for family in range(count):
        depth = np.roll(_DEPTH, family)[:, None, None]
        near_black = grey[family].astype(np.int64) * depth // 255
        corner = np.array([(family + 1) >> channel & 1 for channel in range(3)])[:, None, None]
        picture = np.where(corner == 1, 255 - near_black, near_black).astype(np.uint8)
        picture.setflags(write=False)
        pictures.append(picture)
    return tuple(pictures)


def _folder_backgrounds(path: Path, count: int, smallest: int) -> tuple[np.ndarray, ...]:
    """The first `count` pictures of a folder by name, (3, H, W) uint8 each, in their own sizes.

    Raises:
        StoreError: no such folder. DataError: too few pictures, or one that cannot be read or is smaller than `smallest`.
    """
    files = texture_files(path)
    if len(files) < count:
        raise DataError(f"{path}: expected at least {count} pictures, one for each modality, got {len(files)}: add pictures")
    return tuple(_picture(file, smallest) for file in files[:count])


def _picture(file: Path, smallest: int) -> np.ndarray:
    with open_image(file, str(file)) as image:
        pixels = np.asarray(decoded(image, "RGB", str(file))).transpose(2, 0, 1)
    if min(pixels.shape[1:]) < smallest:
        raise DataError(
            f"{file}: expected a picture of at least {smallest} pixels a side, got {pixels.shape[1:]}: take a larger one"
        )
    return np.ascontiguousarray(pixels)


def _crops(picture: np.ndarray, corners: np.ndarray, side: int) -> np.ndarray:
    """Squares (B, 3, side, side) of a picture (3, H, W) whose top left corners (B, 2) are given; copies."""
    windows = np.lib.stride_tricks.sliding_window_view(picture, (side, side), axis=(1, 2)).transpose(1, 2, 0, 3, 4)
    found: np.ndarray = windows[corners[:, 0], corners[:, 1]]
    return found


def _corners(pictures: Sequence[np.ndarray], draws: np.ndarray, side: int) -> np.ndarray:
    """Corners (B, M, 2) of squares within pictures (3, H, W) from draws (B, M, 2) of [0, 1).

    As in the published generator, the last row and column of corners are left out.
    """
    room = np.array([[picture.shape[1] - side, picture.shape[2] - side] for picture in pictures])
    return np.asarray((draws * room).astype(np.int64))


_INK = 128
"""A pixel belongs to the digit above this value."""
_FEWEST, _MOST = 2, 10
_SMALLEST = 0.25
_CHUNK = 4096


@final
class PolyMNIST(DigitImages):
    """The same digit in two to ten handwritings, each on a background of its own: 70,000 samples, built from MNIST.

    The recipe is that of Sutter, Daunhawer and Vogt, "Generalized Multimodal ELBO" (ICLR 2021): for each modality, the images of
    each class are put in an order of their own, and samples of equal places are one sample. An image is a random square of the
    modality's background, of 28 pixels; where the digit has a value above 128, the colours of the background are inverted. With
    `scale`, digits are first shrunk (bilinearly) and put at a random place: the translated variant of Daunhawer et al., "On the
    Limitations of Multimodal VAEs" (ICLR 2022), which has 0.75.

    Layout: the four files of MNIST. Modalities are `m0`, `m1`, ..., images (3, 28, 28); `label` is the factor and the target.
    The last 5,000 of the 60,000 training images validate; handwriting is paired within a split. What is drawn for a sample
    depends on its number and `pairing_seed` alone.

    Differences from the published files: backgrounds are procedural textures, one family for each modality, whose inversion is
    visible everywhere (the published ones are photographs, which `backgrounds` can name); images are made when they are asked for
    and not stored; training images are divided to have validation samples. `PublishedPolyMNIST` reads the published files.

    Args:
        folder: see `FileBenchmark`.
        modalities: how many, 2 to 10.
        backgrounds: a folder of pictures of at least 29 pixels a side; the first ones by name are the backgrounds. By default
            procedural ones.
        scale: side of a digit as a share of the image's, 0.25 to 1; below 1, digits stand at a random place.
        pairing_seed: which handwriting, which part of the background and which place.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name = "polymnist-v1"
    licence = "MNIST CC BY-SA 3.0; backgrounds Apache-2.0"
    origin = "MNIST (LeCun et al., 1998), joined as by Sutter, Daunhawer and Vogt (ICLR 2021)"
    page = "http://yann.lecun.com/exdb/mnist/"
    metric = "coherence by number of given modalities"
    sizes = "55,000 / 5,000 / 10,000"
    folders = ("mnist", "MNIST")
    files = FILES
    published_as = f"the four files of {page}"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        modalities: int = 5,
        backgrounds: Path | None = None,
        scale: float = 1.0,
        pairing_seed: int = 0,
    ) -> None:
        problems = []
        if not _FEWEST <= modalities <= _MOST:
            problems.append(f"modalities: expected {_FEWEST} to {_MOST}, got {modalities}")
        if not _SMALLEST <= scale <= 1.0:
            problems.append(f"scale: expected a share from {_SMALLEST} to 1, got {scale}")
        settings = {"modalities": modalities, "backgrounds": backgrounds, "scale": float(scale), "pairing_seed": pairing_seed}
        super().__init__(folder, settings, problems)

    @property
    def choices(self) -> Mapping[str, Any]:
        """The settings but for the files, as plain data, with a hash of the pictures in place of their folder."""
        path = self._settings["backgrounds"]
        return {**self._settings, "backgrounds": None if path is None else folder_digest(Path(path))}

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        found, rows = self.digits(paths)
        count, path, seed = self._settings["modalities"], self._settings["backgrounds"], self._settings["pairing_seed"]
        pictures = procedural_backgrounds()[:count] if path is None else _folder_backgrounds(Path(path), count, SIDE + 1)
        chosen = np.empty((len(found.labels), count), np.int64)
        for split, part in rows.items():
            labels = found.labels[part]
            for number in range(count):
                names, what = (self.name, split, "handwriting", number), f"digits of the split {split}"
                chosen[part, number] = part[dealt(labels, labels, seed=seed, names=names, what=what)]
        ink = _ink(found.images, self._settings["scale"])
        stream = seeds.key(seed, self.name, "places")
        factors, targets = class_factor(DIGITS)
        spec = Spec(tuple(Modality(f"m{number}", "image", (3, SIDE, SIDE), "uint8") for number in range(count)), factors, targets)

        def read(rows: np.ndarray) -> Batch:
            draws = seeds.uniforms(stream, rows, 4 * count).reshape(len(rows), count, 4)
            corners = _corners(pictures, draws[..., :2], SIDE)
            views = {
                name: _image(pictures[place], corners[:, place], ink, chosen[rows, place], draws[:, place, 2:])
                for place, name in enumerate(spec.names)
            }
            labels = found.labels[rows]
            return Batch(tensors(**views), factors=torch.from_numpy(labels[:, None].copy()), targets=tensors(label=labels))

        return FileSamples(spec, rows, read)


def _ink(images: np.ndarray, scale: float) -> np.ndarray:
    """Which pixels belong to digits (N, 784), (N, S, S) bool, S being their side after scaling by bilinear interpolation."""
    if scale == 1.0:
        return images.reshape(-1, SIDE, SIDE) > _INK
    shrink = partial(torch.nn.functional.interpolate, scale_factor=scale, mode="bilinear", align_corners=False)
    blocks = (images[start : start + _CHUNK].reshape(-1, 1, SIDE, SIDE) for start in range(0, len(images), _CHUNK))
    return np.concatenate([(shrink(torch.from_numpy(block).float()) > _INK).numpy()[:, 0] for block in blocks])


def _image(background: np.ndarray, corners: np.ndarray, ink: np.ndarray, digits: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Images (B, 3, 28, 28): squares of a background at corners (B, 2), inverted where digits (B,) have ink.

    Small digits stand where draws (B, 2) of [0, 1) say, at any place but the last row and column, as published.
    """
    side = ink.shape[1]
    if side == SIDE:
        shown = ink[digits]
    else:
        offsets = (draws * (SIDE - side)).astype(np.int64)
        down, across = (np.arange(SIDE) - offsets[:, axis, None] for axis in (0, 1))
        inside = ((down >= 0) & (down < side))[:, :, None] & ((across >= 0) & (across < side))[:, None]
        down, across = down.clip(0, side - 1), across.clip(0, side - 1)
        shown = ink[digits[:, None, None], down[:, :, None], across[:, None]] & inside
    out = _crops(background, corners, SIDE)
    out ^= np.where(shown, np.uint8(255), np.uint8(0))[:, None]
    return out
