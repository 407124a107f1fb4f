"""PolyMNIST as its authors publish it: images in files, or tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import final

import numpy as np
import torch

from molyneux.core import Batch, Modality, Spec
from molyneux.core.image_files import in_threads, read_image
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, last_twelfth_of_classes, tensors
from molyneux.data.benchmarks.digits.samples import DIGITS, class_factor
from molyneux.data.formats.torch_files import read_tensors

SIDE = 28
_SHAPE = (3, SIDE, SIDE)
_PARTS = ("train", "test")
_IMAGE = re.compile(r"(\d+)\.(\d)\.png")
_Images = Callable[[np.ndarray], np.ndarray]
"""Gives the images (B, 3, 28, 28) uint8 at these rows (B,) of a part."""


@final
class PublishedPolyMNIST(FileBenchmark):
    """The same digit in five handwritings on photographs: 70,000 samples; Sutter, Daunhawer and Vogt (ICLR 2021).

    Layout: `train/m0/N.LABEL.png` to `train/m4`, and `test` likewise; N counts the images of a class, and images of equal names
    are one sample. Or tensors: `train/m0.pt` (N, 3, 28, 28), numbers from 0 to 1 or bytes, to `m4.pt`, and `train/labels.pt`
    (N,), which are read without running code. Two modalities or more are read, as many as there are. Images in files are
    decoded when they are asked for: store the samples (`data.keep`) to read them faster.

    Modalities are `m0`, `m1`, ..., images (3, 28, 28); `label` is the factor and the target. Of the training samples of each
    class, the last twelfth validates; the published code has no validation samples. `PolyMNIST` builds such samples from MNIST.

    Args:
        folder: see `FileBenchmark`.
    """

    name = "polymnist-published-v1"
    licence = "MNIST CC BY-SA 3.0; photographs as their owners state"
    origin = "Sutter, Daunhawer and Vogt (ICLR 2021)"
    page = "https://github.com/thomassutter/MoPoE"
    metric = "coherence by number of given modalities"
    sizes = "55,000 / 5,000 / 10,000"
    folders = ("MMNIST", "PolyMNIST", "polymnist")
    files = ()
    published_as = f"the folder MMNIST of PolyMNIST.zip, which {page} names,"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)

    def many(self) -> Sequence[Path]:
        """The images of the first modality, or the tensors."""
        found = sorted(self.folder.glob("*/*.pt"))
        return found or [path for part in _PARTS for path in self.listed(f"{part}/m0/*.png")]

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        stored = (self.folder / "train" / "m0.pt").is_file()
        count = len(list((self.folder / "train").glob("m[0-9].pt" if stored else "m[0-9]"))) if self.many() else 0
        if count < 2:
            raise self.wrong(self.folder / "train", "two modalities or more, m0 and m1", f"{count}")
        names = [f"m{number}" for number in range(count)]
        opened = [(self._tensors if stored else self._files)(self.folder / part, names) for part in _PARTS]
        labels, first_test = np.concatenate([labels for labels, _ in opened]), len(opened[0][0])
        factors, targets = class_factor(DIGITS)
        spec = Spec(tuple(Modality(name, "image", _SHAPE, "uint8") for name in names), factors, targets)

        def read(rows: np.ndarray) -> Batch:
            views = {name: np.empty((len(rows), *_SHAPE), np.uint8) for name in names}
            for (_, images), own, start in zip(opened, (rows < first_test, rows >= first_test), (0, first_test), strict=True):
                for name in names:
                    views[name][own] = images[name](rows[own] - start)
            codes = labels[rows]
            return Batch(tensors(**views), factors=torch.from_numpy(codes[:, None].copy()), targets=tensors(label=codes))

        return FileSamples(spec, last_twelfth_of_classes(labels, np.arange(len(labels)) < first_test), read)

    def _files(self, folder: Path, names: Sequence[str]) -> tuple[np.ndarray, Mapping[str, _Images]]:
        """Classes (N,) and images of a part in files, by class and number."""
        listed = [{path.name for path in (folder / name).glob("*.png")} for name in names]
        for name, found in zip(names, listed, strict=True):
            if lacking := (listed[0] ^ found):
                raise self.wrong(folder / name, f"the images that {names[0]} has", f"others, such as {min(lacking)}")
        keys = []
        for file in listed[0]:
            match = _IMAGE.fullmatch(file)
            if match is None:
                raise self.wrong(folder / names[0], "images named N.LABEL.png", file)
            keys.append((int(match[2]), int(match[1])))
        keys.sort()
        files = [f"{number}.{label}.png" for label, number in keys]
        images = {name: partial(_decoded, folder / name, files) for name in names}
        return np.array([label for label, _ in keys], np.int64), images

    def _tensors(self, folder: Path, names: Sequence[str]) -> tuple[np.ndarray, Mapping[str, _Images]]:
        """Classes (N,) and images of a part in tensors."""
        labels = self._tensor(folder / "labels.pt", (None,))
        images = {name: self._tensor(folder / f"{name}.pt", (len(labels), *_SHAPE)) for name in names}
        codes = self.codes(labels.numpy(), len(DIGITS), folder / "labels.pt")
        return codes, {name: partial(_bytes, found) for name, found in images.items()}

    def _tensor(self, path: Path, shape: Sequence[int | None]) -> torch.Tensor:
        if not path.is_file():
            raise self.wrong(path, "a tensor", "no file")
        found = read_tensors(path, "a tensor")
        if not isinstance(found, torch.Tensor):
            raise self.wrong(path, "a tensor", type(found).__name__)
        self.array(found.numpy(), shape, path)
        return found


def _decoded(folder: Path, files: Sequence[str], rows: np.ndarray) -> np.ndarray:
    paths = [folder / files[row] for row in rows.tolist()]
    found = list(in_threads(lambda path: read_image(path, _SHAPE, str(path)), paths))
    return np.stack(found) if found else np.empty((0, *_SHAPE), np.uint8)


def _bytes(images: torch.Tensor, rows: np.ndarray) -> np.ndarray:
    """Rows of stored images as bytes; numbers from 0 to 1 are rounded, as when they are saved as PNG."""
    found = images[torch.from_numpy(rows)]
    return (found if found.dtype == torch.uint8 else (255 * found).round().clamp(0, 255).to(torch.uint8)).numpy()
