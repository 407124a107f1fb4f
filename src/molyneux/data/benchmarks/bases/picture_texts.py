"""The base class of published pictures with texts: each sample is a picture, a text, and whether they agree or an answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, DataError, Factor, Modality, Spec, StoreError, Target, store
from molyneux.core.image_files import Box, in_threads, read_image
from molyneux.data.benchmarks.bases.benchmark import Benchmark
from molyneux.data.benchmarks.texts.text_samples import word_view
from molyneux.data.dataset import Split

_ALL_WORDS = 1 << 40


@dataclass(frozen=True)
class SetSamples:
    """The samples of a split: S sets of P pictures and T texts, every picture with every text, texts running fastest.

    Args:
        pictures: (S, P) numbers of the pictures in `PictureTextFiles.pictures`.
        texts: (S, T) numbers of the texts in `PictureTextFiles.texts`.
        codes: (S, F) factor codes of each set.
        answers: (S,) values of the target; None for contrast sets, where pictures and texts of equal numbers agree.
        boxes: (S, 4) the part of its pictures that a set shows; None for whole pictures.
    """

    pictures: np.ndarray
    texts: np.ndarray
    codes: np.ndarray
    answers: np.ndarray | None = None
    boxes: np.ndarray | None = None

    def __len__(self) -> int:
        return int(self.pictures.size * self.texts.shape[1])


@dataclass(frozen=True)
class PictureTextFiles:
    """What the files of a data set hold.

    Args:
        pictures: names of the pictures.
        texts: what the texts say.
        records: the samples by split.
        factors: those of a set.
        target: what there is to predict.
    """

    pictures: Sequence[str]
    texts: Sequence[str]
    records: Mapping[Split, SetSamples]
    factors: tuple[Factor, ...]
    target: Target


class PictureTexts(Benchmark):
    """Pictures with texts of a published data set: the modalities `image` and `text`, and a target.

    Nothing is downloaded. Tables are read when samples are first asked for, pictures whenever a sample is: Pillow decodes them
    and resizes them to `image_size`, whatever their sides; nothing is cached. A text is cut into words in lower case, every
    character that is neither letter nor digit being a word by itself; `<eos>` and padding follow. Symbols are the words of the
    training texts, others are `<unk>`; of a data set that only tests, all words have symbols.

    Contrast sets stand in rows as `core.Target.contrast` says, in any order that a seed gives to a split.

    Args:
        folder: where the files lie; by default the folder of this data set in the one that `MOLYNEUX_DATA` names.
        images: where the pictures lie; by default the folder of the publishers beside the files.
        image_size: height and width of the views in pixels.
        words: the most frequent words that have a symbol; by default all.
        length: symbols of a text, at which longer ones are cut; by default the longest text fits.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    picture_folder: ClassVar[str] = "images"
    """Where the pictures lie, below the folder of the files."""

    def __init__(
        self,
        *,
        folder: Path | None = None,
        images: Path | None = None,
        image_size: tuple[int, int] = (224, 224),
        words: int | None = None,
        length: int | None = None,
    ) -> None:
        self._begin(folder, images, {"image_size": image_size, "words": words, "length": length})

    def _begin(
        self, folder: Path | None, images: Path | None, settings: Mapping[str, Any], *, problems: Sequence[str] = ()
    ) -> None:
        """What every constructor ends with: settings by their names in it, and what the subclass refuses."""
        super().__init__(folder)
        found, image_size = [*problems], settings["image_size"]
        listed = isinstance(image_size, Sequence) and not isinstance(image_size, str)
        if not listed or len(image_size) != 2 or not all(type(side) is int and side >= 1 for side in image_size):
            found.append(f"image_size: expected a height and a width of at least 1 pixel, got {image_size!r}")
        found += [
            f"{name}: expected at least 1, got {number!r}"
            for name, number in ((name, settings[name]) for name in ("words", "length"))
            if number is not None and (type(number) is not int or number < 1)
        ]
        if found:
            raise ConfigError(found)
        self._images, self.image_size = images, (image_size[0], image_size[1])
        self._settings: dict[str, Any] = {**settings, "image_size": self.image_size}

    @property
    def choices(self) -> Mapping[str, Any]:
        """The settings but for the files, as plain data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self._settings.items()}

    @property
    def spec(self) -> Spec:
        """The modalities `image` and `text`, the factors and the target; errors as `splits`."""
        height, width = self.image_size
        image = Modality("image", "image", (3, height, width), "uint8")
        return Spec((image, self._view[0]), self._content.factors, (self._content.target,))

    @property
    def splits(self) -> Mapping[Split, int]:
        """How many samples each split has.

        Raises:
            StoreError: a file is not there. DataError: a file does not hold what it should.
        """
        return {split: len(records) for split, records in self._content.records.items()}

    @property
    def together(self) -> int:
        """How many samples stay in a row: those of a contrast set."""
        return self._content.target.row_size

    @abstractmethod
    def read(self, paths: Mapping[str, Path]) -> PictureTextFiles:
        """What the files hold, which are there.

        Args:
            paths: by the names of `files` and `optional`.

        Raises:
            StoreError: one cannot be read. DataError: one does not hold what it should.
        """

    def candidates(self, name: str) -> Sequence[str]:
        """The files that a picture may lie in, below the folder of the pictures."""
        return (name,)

    def size(self, split: Split) -> int | None:
        """How many samples a split has; raises ConfigError for one that is not published."""
        if split not in self.splits and split in ("train", "validation", "test"):
            raise ConfigError(
                f"split: {self.name} has only {', '.join(self.splits)}, got {split}: it is made to measure models on that were "
                "trained on something else"
            )
        return super().size(split)

    def rows(self, rows: np.ndarray, split: Split) -> Batch:
        """The samples at these rows (B,) of a split, in the order of the files; raises StoreError or DataError for a picture."""
        content, records = self._content, self._content.records[split]
        place, member = np.divmod(rows, records.pictures.shape[1] * records.texts.shape[1])
        picture, text = np.divmod(member, records.texts.shape[1])
        target, answers = content.target, (picture == text) if records.answers is None else records.answers[place]
        ids = self._view[1][records.texts[place, text]]
        return Batch(
            {"image": torch.from_numpy(self._pixels(records, place, picture)), "text": torch.from_numpy(ids)},
            factors=torch.from_numpy(records.codes[place]),
            targets={target.name: torch.from_numpy(answers.astype(np.int64))},
        )

    @cached_property
    def _content(self) -> PictureTextFiles:
        content = self.read(self.paths())
        if empty := [split for split, records in content.records.items() if not len(records)]:
            raise DataError(f"{self.folder}: expected samples of the split {empty[0]}, got none: restore the files")
        return content

    @cached_property
    def _view(self) -> tuple[Modality, np.ndarray]:
        """The modality `text` and the symbols of every text."""
        content = self._content
        used = np.zeros(len(content.texts), bool)
        counted = used.copy()
        for split, records in content.records.items():
            used[records.texts] = True
            if split == "train" or "train" not in content.records:
                counted[records.texts] = True
        words, length = self._settings["words"] or _ALL_WORDS, self._settings["length"]
        return word_view(content.texts, name="text", counted=counted, fit=used, words=words, length=length)

    def _pixels(self, records: SetSamples, place: np.ndarray, picture: np.ndarray) -> np.ndarray:
        """Pictures (B, 3, H, W) of sets; what several samples show is decoded once."""
        numbers = records.pictures[place, picture]
        boxes = np.zeros((len(place), 0), np.int64) if records.boxes is None else records.boxes[place]
        distinct, inverse = np.unique(np.column_stack([numbers, boxes]), axis=0, return_inverse=True)
        shape = (3, *self.image_size)
        found = np.empty((len(distinct), *shape), np.uint8)
        for row, pixels in enumerate(in_threads(partial(self._decoded, shape), distinct.tolist())):
            found[row] = pixels
        return found[inverse.reshape(-1)]

    def _decoded(self, shape: tuple[int, int, int], what: Sequence[int]) -> np.ndarray:
        number, *corners = what
        path = self._picture(self._content.pictures[number])
        box: Box | None = (corners[0], corners[1], corners[2], corners[3]) if corners else None
        return read_image(path, shape, str(path), box=box)

    def _picture(self, name: str) -> Path:
        """The file of a picture; raises StoreError if it is not there, DataError if it lies outside of the folder."""
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise DataError(f"{self.folder}: expected pictures within their folder, got the name {name[:80]!r}: restore the file")
        top = self.folder / self.picture_folder if self._images is None else self._images
        paths = [top / candidate for candidate in self.candidates(name)]
        for path in paths:
            if store.is_file(path):
                return path
        raise StoreError(
            f"expected the picture {' or '.join(str(path.relative_to(top)) for path in paths)} in {top}, which is not there: put "
            f"there {self.published_as}; nothing is downloaded"
        )

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        """Travel to other processes as settings, not as the content of the files."""
        return partial(type(self), folder=self._folder, images=self._images, **self._settings), ()


@dataclass
class Numbering:
    """Numbers for names, in the order in which they are first asked for."""

    known: dict[str, int] = field(default_factory=dict)

    def __call__(self, name: str) -> int:
        """The number of a name."""
        return self.known.setdefault(name, len(self.known))

    @property
    def names(self) -> list[str]:
        """The names by number."""
        return list(self.known)


def coded(name: str, values: Sequence[str | None]) -> tuple[Factor, np.ndarray] | None:
    """A factor of the values that occur, in sorted order (numbers by size), and its codes (N,); None where all are absent."""
    known = sorted({value for value in values if value}, key=lambda value: (int(value) if value.isdecimal() else 0, value))
    if not known:
        return None
    places = {value: code for code, value in enumerate(known)}
    return Factor(name, tuple(known)), np.array([places.get(value or "", -1) for value in values], np.int64)


def coded_together(columns: Mapping[str, Sequence[str | None]], rows: int) -> tuple[tuple[Factor, ...], np.ndarray]:
    """The factors of columns of values, and their codes (N, F); columns without values are left out."""
    found = [pair for name, values in columns.items() if (pair := coded(name, values)) is not None]
    codes = np.stack([codes for _, codes in found], 1) if found else np.empty((rows, 0), np.int64)
    return tuple(factor for factor, _ in found), codes
