"""AV-MNIST: written digits with the spectrograms of spoken ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, tensors
from molyneux.data.formats.array_files import map_array
from molyneux.data.formats.mapped_files import MappedFile

_TRAIN, _VALIDATION = 60_000, 5_000
_DIGITS = tuple("0123456789")
PIXELS, _SIDE, SPECTROGRAM = 784, 28, 112
_FILES = ("image/train_data.npy", "image/test_data.npy", "audio/train_data.npy", "audio/test_data.npy")
_LABELS = ("train_labels.npy", "test_labels.npy")


@final
class PublishedAVMNIST(FileBenchmark):
    """Digits seen and heard, both made hard: 70,000 pairs; Vielzeuf et al. (ECCV workshop, 2018).

    Layout: `image/train_data.npy` and `image/test_data.npy` (N, 784) from 0 to 255, `audio/train_data.npy` and
    `audio/test_data.npy` (N, 112, 112) uint8, `train_labels.npy` and `test_labels.npy` (N,). Any N is read. Arrays stay in their
    files; rows are read when they are asked for.

    Modalities are `image` (1, 28, 28) and `audio`, a spectrogram as an image (1, 112, 112); what is stored as uint8 is served so,
    and other numbers are divided by 255. The target is the class `label`. The last twelfth of the training rows (of 60,000, the
    last 5,000) validates, as published.

    In the files that circulate, pictures and sounds may be of different digits, for the published generator keeps no order.

    Args:
        folder: see `FileBenchmark`.
    """

    name = "av-mnist-published-v1"
    licence = "MNIST CC BY-SA 3.0, FSDD CC BY-SA 4.0, ESC-50 CC BY-NC 3.0: not for commercial use"
    origin = "Vielzeuf, Lechervy, Pateux and Jurie (ECCV workshop, 2018), files of Pérez-Rúa et al. (CVPR 2019)"
    page = "https://github.com/pliang279/MultiBench"
    metric = "accuracy"
    sizes = "55,000 / 5,000 / 10,000"
    folders = ("avmnist", "av-mnist")
    files = (*_FILES, *_LABELS)
    published_as = f"the folder avmnist of {page} (first of https://github.com/jperezrua/mfas)"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        opened = {name: map_array(path) for name, path in paths.items()}
        arrays = {name: array for name, (_, array) in opened.items()}
        labels, sizes = [], []
        for part, file in zip(("train", "test"), _LABELS, strict=True):
            image = self.array(arrays[f"image/{part}_data.npy"], (None, PIXELS), paths[f"image/{part}_data.npy"])
            audio = paths[f"audio/{part}_data.npy"]
            self.array(arrays[f"audio/{part}_data.npy"], (len(image), SPECTROGRAM, SPECTROGRAM), audio)
            found = self.array(arrays[file].reshape(-1), (len(image),), paths[file])
            labels.append(self.codes(found, len(_DIGITS), paths[file]))
            sizes.append(len(image))
        views = {sense: [arrays[f"{sense}/{part}_data.npy"] for part in ("train", "test")] for sense in ("image", "audio")}
        shapes = {"image": (1, _SIDE, _SIDE), "audio": (1, SPECTROGRAM, SPECTROGRAM)}
        dtypes = {
            sense: "uint8" if all(part.dtype == np.uint8 for part in parts) else "float32" for sense, parts in views.items()
        }
        spec = Spec(
            tuple(Modality(sense, "image", shapes[sense], dtypes[sense]) for sense in views),
            targets=(Target("label", "class", _DIGITS),),
        )
        digits, first_test = np.concatenate(labels), sizes[0]

        def read(rows: np.ndarray) -> Batch:
            found = {}
            for sense, parts in views.items():
                shown = np.empty((len(rows), *shapes[sense]), dtypes[sense])
                for part, own, start in ((0, rows < first_test, 0), (1, rows >= first_test, first_test)):
                    name = _FILES[2 * (sense == "audio") + part]
                    values, where = opened[name][0].take(parts[part], rows[own] - start), paths[name]
                    stored = (
                        values if dtypes[sense] == "uint8" else self.finite(values, where, rows[own] - start) / np.float32(255)
                    )
                    shown[own] = stored.reshape(-1, *shapes[sense])
                found[sense] = shown
            return Batch(tensors(**found), targets=tensors(label=digits[rows]))

        cut = first_test - first_test * _VALIDATION // _TRAIN
        ranges = {"train": (0, cut), "validation": (cut, first_test), "test": (first_test, len(digits))}
        mapped: list[MappedFile] = [file for file, _ in opened.values()]
        return FileSamples(spec, {split: np.arange(*ends) for split, ends in ranges.items()}, read, mapped)
