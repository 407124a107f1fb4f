"""MNIST and FashionMNIST: an image and its class as two modalities."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, final

import numpy as np
import torch

from molyneux.core import Batch, Modality, Reader, Spec
from molyneux.data.benchmarks.bases.file_benchmark import FileSamples, tensors
from molyneux.data.benchmarks.digits.images import FILES, SIDE
from molyneux.data.benchmarks.digits.samples import DIGITS, DigitImages, class_factor
from molyneux.data.lookup_reader import label_reader


class ImageLabels(DigitImages):
    """Images and their classes as two modalities; see its kinds. As in Wu and Goodman, "Multimodal Generative Models" (2018).

    Layout: four files of the IDX format, compressed by gzip or not. Modalities are `image` (1, 28, 28) and `label`, a symbol;
    `label` is the factor and the target too. The last 5,000 of the 60,000 training images validate. Labels are read exactly,
    images by a judge that is trained from the labels.

    Args:
        folder: see `FileBenchmark`.
    """

    metric = "joint, marginal and conditional log-likelihood"
    sizes = "55,000 / 5,000 / 10,000"
    files = FILES
    classes: ClassVar[tuple[str, ...]]
    """Names of the classes."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        found, rows = self.digits(paths)
        factors, targets = class_factor(self.classes)
        image = Modality("image", "image", (1, SIDE, SIDE), "uint8")
        spec = Spec((image, self._label), factors, targets)

        def read(rows: np.ndarray) -> Batch:
            labels = found.labels[rows]
            views = tensors(image=found.images[rows].reshape(-1, *image.shape), label=labels)
            codes = torch.from_numpy(labels[:, None].copy())
            return Batch(views, factors=codes, targets=tensors(label=found.labels[rows]))

        return FileSamples(spec, rows, read)

    def readers(self) -> Mapping[str, Reader]:
        """The exact reader of labels."""
        return {"label": label_reader(self._label, class_factor(self.classes)[0][0])}

    @property
    def _label(self) -> Modality:
        return Modality("label", "label", (), "int64", self.classes)


@final
class MNIST(ImageLabels):
    """Handwritten digits with their classes: 70,000 images; LeCun, Bottou, Bengio and Haffner (1998).

    See `ImageLabels` for the layout.

    Args:
        folder: see `FileBenchmark`.
    """

    name = "mnist-v1"
    licence = "CC BY-SA 3.0"
    origin = "LeCun, Bottou, Bengio and Haffner (Proceedings of the IEEE, 1998)"
    page = "http://yann.lecun.com/exdb/mnist/"
    folders = ("mnist", "MNIST")
    published_as = f"the four files of {page}"
    classes = DIGITS


@final
class FashionMNIST(ImageLabels):
    """Articles of clothing with their classes: 70,000 images; Xiao, Rasul and Vollgraf (2017).

    See `ImageLabels` for the layout.

    Args:
        folder: see `FileBenchmark`.
    """

    name = "fashion-mnist-v1"
    licence = "MIT"
    origin = "Xiao, Rasul and Vollgraf (arXiv:1708.07747, 2017)"
    page = "https://github.com/zalandoresearch/fashion-mnist"
    folders = ("fashion-mnist", "FashionMNIST")
    published_as = f"the four files of {page}"
    classes = (
        "T-shirt/top",
        "trouser",
        "pullover",
        "dress",
        "coat",
        "sandal",
        "shirt",
        "sneaker",
        "bag",
        "ankle boot",
    )
