"""MNIST-SVHN: a handwritten digit with a photographed one of the same class, and with its word."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import final

import numpy as np
import torch

from molyneux.core import Batch, ConvertedViews, Modality, Reader, Spec, Understood, seeds
from molyneux.data.benchmarks.bases.file_benchmark import FileSamples, last_twelfth, tensors
from molyneux.data.benchmarks.digits.images import FILES, SIDE, Digits
from molyneux.data.benchmarks.digits.samples import (
    DIGITS,
    WORDS,
    DigitImages,
    class_factor,
    matched,
    placed_words,
    understood_digit,
    views_of_word,
    word_modality,
    word_reader,
)
from molyneux.data.dataset import Split
from molyneux.data.formats.matlab_files import read_matlab

PHOTOS = ("svhn/train_32x32.mat", "svhn/test_32x32.mat")
PHOTO_SIDE = 32
_MOST = 10_000
_LENGTH = 8
TEN = 10
"""The class that stands for 0 in SVHN."""


@final
class MNISTSVHN(DigitImages):
    """A handwritten digit with a photographed one of the same class; Shi, Siddharth, Paige and Torr (NeurIPS 2019).

    Layout: a folder with `mnist` (the four files) and `svhn` (`train_32x32.mat` and `test_32x32.mat`: `X` (32, 32, 3, N) uint8
    and `y` (N, 1), 10 for the digit 0). Modalities are `mnist` (1, 28, 28), `svhn` (3, 32, 32) and, with `text`, the word in 8
    characters; `label` is the factor and the target.

    Pairs are made as published: of each class, the first n images of both data sets (the smaller number, at most 10,000), in
    `rounds` in each of which every image is in one pair, drawn anew. Training pairs have training images of both, test pairs test
    images; the last twelfth of the training images of both makes the validation pairs, which are not published. The word begins
    at a random place, as in Sutter, Daunhawer and Vogt (NeurIPS 2020); the last place stays free, as there. Its alphabet is
    that of the ten words, where theirs has 71 characters. Words are read exactly, images by judges that are trained from the
    labels.

    Args:
        folder: holds `mnist` and `svhn`; by default the one that `MOLYNEUX_DATA` names.
        rounds: how often an image is in a pair: 30 in MMVAE's code, 20 in MoPoE's.
        text: whether there is the word too (MNIST-SVHN-Text).
        pairing_seed: of the pairs and of the places of words.

    Raises:
        ConfigError: no rounds.
    """

    name = "mnist-svhn-v1"
    licence = "MNIST CC BY-SA 3.0; SVHN for research without commercial use"
    origin = "MNIST (LeCun et al., 1998) and SVHN (Netzer et al., 2011), joined as by Shi et al. (NeurIPS 2019)"
    page = "http://ufldl.stanford.edu/housenumbers/"
    metric = "coherence of each direction"
    sizes = "about 1,540,000 / 140,000 / 300,000 pairs in 30 rounds"
    folders = (".",)
    files = (*(f"mnist/{name}" for name in FILES), *PHOTOS)
    published_as = f"the four files of MNIST as mnist and those of {page} (format 2) as svhn"

    def __init__(self, folder: Path | None = None, *, rounds: int = 30, text: bool = False, pairing_seed: int = 0) -> None:
        problems = [] if rounds >= 1 else [f"rounds: expected at least 1, got {rounds}"]
        super().__init__(folder, {"rounds": rounds, "text": text, "pairing_seed": pairing_seed}, problems)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        written, parts = self.digits(paths)
        photos, rows = self._photos([paths[name] for name in PHOTOS])
        pairs, text, seed = list[np.ndarray](), self._settings["text"], self._settings["pairing_seed"]
        found: dict[Split, np.ndarray] = {}
        for split, part in parts.items():
            left, right = matched(
                written.labels[part],
                photos.labels[rows[split]],
                rounds=self._settings["rounds"],
                most=_MOST,
                seed=seed,
                names=(self.name, split),
            )
            start = sum(map(len, pairs))
            pairs.append(np.stack([part[left], rows[split][right]], 1))
            found[split] = np.arange(start, start + len(left))
        table = np.concatenate(pairs)
        mnist = Modality("mnist", "image", (1, SIDE, SIDE), "uint8")
        svhn = Modality("svhn", "image", (3, PHOTO_SIDE, PHOTO_SIDE), "uint8")
        factors, targets = class_factor(DIGITS)
        spec = Spec((mnist, svhn, *([word_modality(_LENGTH)] if text else [])), factors, targets)
        stream, free = seeds.key(seed, self.name, "words"), _LENGTH - np.array([len(word) for word in WORDS])

        def read(rows: np.ndarray) -> Batch:
            left, right = table[rows].T
            labels = written.labels[left]
            views = {"mnist": written.images[left].reshape(-1, *mnist.shape), "svhn": photos.images[right]}
            if text:
                starts = (seeds.uniforms(stream, rows, 1)[:, 0] * free[labels]).astype(np.int64)
                views["text"] = placed_words(labels, starts, _LENGTH)
            codes = torch.from_numpy(labels[:, None].copy())
            return Batch(tensors(**views), factors=codes, targets=tensors(label=labels))

        return FileSamples(spec, found, read)

    def readers(self) -> Mapping[str, Reader]:
        """The exact reader of words, where there are any."""
        return {"text": word_reader(_LENGTH, class_factor(DIGITS)[0][0])} if self._settings["text"] else {}

    def understand(self, text: str) -> Understood:
        """The digit that a text names, as a word or a figure; see `core.Understands`."""
        return understood_digit(text)

    def views_of_caption(self, caption: str) -> Mapping[str, ConvertedViews]:
        """See `core.Understands`."""
        return views_of_word(caption, _LENGTH)

    def _photos(self, paths: list[Path]) -> tuple[Digits, dict[Split, np.ndarray]]:
        """All photographs (N, 3, 32, 32) and their classes, those to train first, and which of them each split may use."""
        train, test = (self._read(path) for path in paths)
        both = Digits(np.concatenate([train.images, test.images]), np.concatenate([train.labels, test.labels]))
        return both, last_twelfth(len(train.labels), len(test.labels))

    def _read(self, path: Path) -> Digits:
        """The photographs of a file of MATLAB, whose arrays are read without running code."""
        document = read_matlab(path, ("X", "y"))
        images, labels = self.known(document, ("X", "y"), path)
        pixels = self.array(images, (PHOTO_SIDE, PHOTO_SIDE, 3, None), f"{path}, X")
        if pixels.dtype != np.uint8:
            raise self.wrong(f"{path}, X", "bytes", str(pixels.dtype))
        found = self.array(np.asarray(labels).reshape(-1), (pixels.shape[3],), f"{path}, y")
        codes = self.codes(found, TEN + 1, f"{path}, y")
        return Digits(np.ascontiguousarray(pixels.transpose(3, 2, 0, 1)), codes % TEN)
