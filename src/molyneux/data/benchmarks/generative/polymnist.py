"""PolyMNIST, built from MNIST: the same digit in several handwritings, each on a background of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
import torch

from molyneux.core import Batch, Modality, Spec, seeds
from molyneux.data.benchmarks.av_mnist.digits import FILES, SIDE
from molyneux.data.benchmarks.file_benchmark import FileSamples, tensors
from molyneux.data.benchmarks.generative import backgrounds
from molyneux.data.benchmarks.generative.digit_images import DigitImages, class_factor
from molyneux.data.benchmarks.generative.pairing import dealt
from molyneux.data.benchmarks.generative.words import DIGITS
from molyneux.data.worlds.textures import folder_digest

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
        pictures = backgrounds.procedural()[:count] if path is None else backgrounds.of_folder(Path(path), count, SIDE + 1)
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
            corners = backgrounds.corners(pictures, draws[..., :2], SIDE)
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
    out = backgrounds.crops(background, corners, SIDE)
    out ^= np.where(shown, np.uint8(255), np.uint8(0))[:, None]
    return out
