"""MHD: handwritten digits as images, trajectories, sounds and labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

import numpy as np
import torch

from molyneux.core import Batch, Modality, Reader, Spec
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, last_twelfth, tensors
from molyneux.data.benchmarks.digits.samples import DIGITS, class_factor
from molyneux.data.formats.torch_files import read_tensors
from molyneux.data.lookup_reader import label_reader

FILES = ("mhd_train.pt", "mhd_test.pt")
_PARTS = "labels (N,), images (N, 1, 28, 28), trajectories (N, 200), sounds (N, 3, 32, 32) and two normalisations"
POINTS, SIDE, BANDS, BLOCKS = 200, 28, 32, 3


@final
class MHD(FileBenchmark):
    """Handwritten digits as image, sound, trajectory and label: 60,000 samples; Vasco, Yin, Melo and Paiva (2022).

    Layout: `mhd_train.pt` and `mhd_test.pt`, each what `torch.save` wrote of a tuple of labels (N,), images (N, 1, 28, 28),
    trajectories (N, 200), sounds (N, 3, 32, 32), and what was taken from trajectories and sounds to normalise them, which is not
    used. The files are read without running code; one that names more than tensors, numbers and plain containers is refused.

    Modalities are `image` (1, 28, 28); `sound`, a mel spectrogram as an image (1, 32, 96) of the three blocks one after the
    other; `trajectory`, 200 normalised numbers; and `label`, a symbol. Values are as published: images and sounds from 0 to 1.
    `label` is the factor and the target too, and is read exactly. The last twelfth of the training samples validates.

    Args:
        folder: see `FileBenchmark`.
    """

    name = "mhd-v1"
    licence = "MIT (code); sounds of the Speech Commands Dataset CC BY 4.0"
    origin = "Vasco, Yin, Melo and Paiva (Neural Networks 146, 2022)"
    page = "https://github.com/miguelsvasco/nexus_pytorch"
    metric = "coherence of each direction"
    sizes = "45,834 / 4,166 / 10,000"
    folders = ("mhd", "MHD")
    files = FILES
    published_as = f"the files {' and '.join(FILES)}, which {page} names,"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        parts = [self._read(paths[name]) for name in self.files]
        first_test = len(parts[0]["label"])
        labels = np.concatenate([part["label"] for part in parts])
        shapes = {"image": (1, SIDE, SIDE), "sound": (1, BANDS, BLOCKS * BANDS)}
        views = (Modality(name, "image", shape) for name, shape in shapes.items())
        factors, targets = class_factor(DIGITS)
        spec = Spec((*views, Modality("trajectory", "tabular", (POINTS,)), _label()), factors, targets)

        def read(rows: np.ndarray) -> Batch:
            found = {}
            for modality in spec.modalities[:3]:
                out = np.empty((len(rows), *modality.shape), np.float32)
                for part, own, start, name in zip(
                    parts, (rows < first_test, rows >= first_test), (0, first_test), self.files, strict=True
                ):
                    values = self.finite(part[modality.name][rows[own] - start], paths[name], rows[own] - start)
                    out[own] = _in_a_row(values) if modality.name == "sound" else values.reshape(-1, *modality.shape)
                found[modality.name] = out
            codes = torch.from_numpy(labels[rows][:, None].copy())
            return Batch(tensors(**found, label=labels[rows]), factors=codes, targets=tensors(label=labels[rows]))

        return FileSamples(spec, last_twelfth(first_test, len(labels) - first_test), read)

    def readers(self) -> Mapping[str, Reader]:
        """The exact reader of labels."""
        return {"label": label_reader(_label(), class_factor(DIGITS)[0][0])}

    def _read(self, path: Path) -> dict[str, np.ndarray]:
        """The arrays of a file by modality."""
        found: Any = read_tensors(path, f"a tuple of {_PARTS}")
        if not isinstance(found, tuple | list) or len(found) < 4 or not all(isinstance(item, torch.Tensor) for item in found[:4]):
            raise self.wrong(path, f"a tuple of {_PARTS}", type(found).__name__)
        labels, images, trajectories, sounds = (item.numpy() for item in found[:4])
        count = len(labels)
        return {
            "label": self.codes(self.array(labels.reshape(-1), (None,), path), len(DIGITS), path),
            "image": self.array(images.reshape(len(images), -1), (count, SIDE * SIDE), f"{path}, images"),
            "trajectory": self.array(trajectories.reshape(len(trajectories), -1), (count, POINTS), f"{path}, trajectories"),
            "sound": self.array(sounds, (count, BLOCKS, BANDS, BANDS), f"{path}, sounds"),
        }


def _in_a_row(sounds: np.ndarray) -> np.ndarray:
    """Sounds (B, 1, 32, 96) of three blocks (B, 3, 32, 32) of 32 moments each, moments to the right."""
    joined = sounds.reshape(len(sounds), BLOCKS * BANDS, BANDS)
    return joined.transpose(0, 2, 1)[:, None]


def _label() -> Modality:
    return Modality("label", "label", (), "int64", DIGITS)
