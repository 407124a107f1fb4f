"""Kinetics-400: short videos of people's actions, with their sound."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
import torch

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, tensors
from molyneux.data.dataset import Split
from molyneux.data.formats.torch_files import read_tensors

_PARTS: Mapping[Split, str] = {"train": "train", "validation": "valid", "test": "test"}
BANDS, FRAMES = 40, 763


class Kinetics(FileBenchmark):
    """Videos with sound of an action; see its two kinds, a small and a large one.

    Layout: the folders `train`, `valid` and `test` with files `batch_37<k>.pdt` saved by `torch.save`, each a list of tuples of a
    video (3, T, H, W), as published (3, 150, 112, 112), normalised; a log-mel spectrogram (40, 763); and a label. They are read
    as PyTorch reads weights, without running code, and memory-mapped: of a file of 2 GB only the samples that a batch needs.
    Optical flow is not in the published files.

    Modalities are `video` (T, 3, H, W) and `audio`, a series (763, 40) of frames of 40 mel bands. The target is the class
    `action`. Files have to be of the present format of PyTorch (since 1.6); older ones are not memory-mapped and are refused.

    Args:
        folder: see `FileBenchmark`.
    """

    licence = "CC BY 4.0 (annotations); videos belong to their owners"
    origin = "Kay et al. (The Kinetics human action video dataset, 2017)"
    page = "https://github.com/cvdfoundation/kinetics-dataset"
    metric = "accuracy"
    files = ()
    published_as = (
        "the files batch_37<k>.pdt that MultiBench (https://github.com/pliang279/MultiBench) describes, made of the videos "
        f"of {page}"
    )
    actions: ClassVar[tuple[str, ...]]
    """Names of the classes."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)

    def many(self) -> Sequence[Path]:
        """The files of samples."""
        return [path for part in _PARTS.values() for path in sorted(self.listed(f"{part}/batch_37*.pdt"), key=_number)]

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        files, places, labels = self.many(), list[tuple[int, int]](), list[int]()
        shape: tuple[int, ...] | None = None
        for number, path in enumerate(files):
            for row, sample in enumerate(self._read(path)):
                shape = shape or tuple(sample[0].shape)
                self._check(sample, shape, f"{path}, sample {row}")
                places.append((number, row))
                labels.append(int(sample[2]))
        table, actions = np.array(places, np.int64).reshape(-1, 2), self.codes(np.array(labels), len(self.actions), self.folder)
        parts = [path.parent.name for path in files]
        rows = {
            split: np.flatnonzero(np.isin(table[:, 0], [n for n, at in enumerate(parts) if at == part]))
            for split, part in _PARTS.items()
        }
        assert shape is not None
        channels, frames, height, width = shape
        spec = Spec(
            (Modality("video", "video", (frames, channels, height, width)), Modality("audio", "series", (FRAMES, BANDS))),
            targets=(Target("action", "class", self.actions),),
        )

        def read(rows: np.ndarray) -> Batch:
            video = np.empty((len(rows), frames, channels, height, width), np.float32)
            audio = np.empty((len(rows), FRAMES, BANDS), np.float32)
            for number in np.unique(table[rows, 0]).tolist():
                samples = self._read(files[number])
                for place in np.flatnonzero(table[rows, 0] == number).tolist():
                    seen, heard, _ = samples[table[rows[place], 1]]
                    video[place] = seen.float().numpy().transpose(1, 0, 2, 3)
                    audio[place] = heard.float().numpy().T
            views = {
                "video": self.finite(video, f"{self.folder}, video", rows),
                "audio": self.finite(audio, f"{self.folder}, audio", rows),
            }
            return Batch(tensors(**views), targets=tensors(action=actions[rows]))

        return FileSamples(spec, rows, read)

    def _read(self, path: Path) -> list[Any]:
        """The samples of a file, whose tensors stay in it.

        Raises:
            StoreError: it cannot be read, or names code. DataError: it is no list of samples.
        """
        found = read_tensors(path, "a list of tuples of tensors and a whole number", mapped_only=True)
        if not isinstance(found, list) or not found:
            raise self.wrong(path, "a list of samples", type(found).__name__)
        return found

    def _check(self, sample: Any, shape: tuple[int, ...], where: str) -> None:
        whole = (
            isinstance(sample, tuple | list) and len(sample) == 3 and all(isinstance(part, torch.Tensor) for part in sample[:2])
        )
        if (
            not whole
            or not isinstance(sample[2], int | torch.Tensor)
            or (isinstance(sample[2], torch.Tensor) and sample[2].numel() != 1)
        ):
            raise self.wrong(where, "a video, a spectrogram and a whole number as label", f"{type(sample).__name__}")
        if tuple(sample[0].shape) != shape or len(shape) != 4 or tuple(sample[1].shape) != (BANDS, FRAMES):
            got = f"{tuple(sample[0].shape)} and {tuple(sample[1].shape)}"
            raise self.wrong(where, f"a video of shape {shape} and a spectrogram ({BANDS}, {FRAMES})", got)


def _number(path: Path) -> int:
    digits = re.sub(r"\D", "", path.stem.removeprefix("batch_37"))
    return int(digits or 0)


@final
class KineticsSmall(Kinetics):
    """Five actions of Kinetics-400: 2,624 videos; Kay et al. (2017).

    See `Kinetics` for the layout, views and settings.
    """

    name = "kinetics-small-v1"
    sizes = "2,112 / 171 / 341"
    folders = ("kinetics-small", "kinetics_small")
    actions = ("archery", "breakdancing", "crying", "dining", "singing")


@final
class KineticsLarge(Kinetics):
    """All 400 actions of Kinetics-400: 306,245 videos; Kay et al. (2017).

    See `Kinetics` for the layout, views and settings. The files have no names of the classes.
    """

    name = "kinetics-large-v1"
    sizes = "246,527 / 19,906 / 39,812"
    folders = ("kinetics-large", "kinetics_large")
    actions = tuple(f"action {number}" for number in range(400))
