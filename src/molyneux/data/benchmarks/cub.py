"""CUB image-captions: photographs of birds and what people wrote about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
import torch

from molyneux.core import Batch, Factor, Modality, Spec, StoreError, Target, files, store
from molyneux.core.image_files import Box, in_threads, read_image
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, last_twelfth_of_classes, tensors
from molyneux.data.benchmarks.texts.text_samples import word_view

TABLES = ("images.txt", "image_class_labels.txt", "train_test_split.txt", "classes.txt", "bounding_boxes.txt")
CAPTIONS = 10


@final
class CUB(FileBenchmark):
    """Birds and their captions: 11,788 photographs with ten captions each; Wah et al. (2011), captions of Reed et al. (2016).

    Layout: the tables `images.txt`, `image_class_labels.txt`, `train_test_split.txt`, `classes.txt` and `bounding_boxes.txt`, the
    folder `images` (`CLASS/NAME.jpg`) and the folder `text` (`CLASS/NAME.txt`, a caption a line) beside it.

    A sample is a photograph with one of its captions. Modalities are `image` (3, 64, 64), decoded when it is asked for, the
    square around the bird whose half side is 0.75 of the longer side of its box; and `text`: words in lower case, punctuation
    apart, `<eos>` and padding. Symbols are the most frequent words of the training captions. The factor and the target `label`
    are the kind of bird, which captions do not determine. Of the training photographs of each kind, the last twelfth validates.

    Args:
        folder: see `FileBenchmark`.
        captions: of each photograph, 1 to 10.
        image_size: side of the images in pixels.
        cropped: whether images show the square around the bird, or the whole photograph, squeezed into a square.
        words: the most frequent words that have a symbol.
        length: symbols of a text, at which longer ones are cut.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name = "cub-v1"
    licence = "for research without commercial use; photographs belong to their owners"
    origin = "Wah, Branson, Welinder, Perona and Belongie (2011); captions of Reed, Akata, Lee and Schiele (CVPR 2016)"
    page = "https://www.vision.caltech.edu/datasets/cub_200_2011/"
    metric = "correlation by CCA of images and captions"
    sizes = "about 5,594 / 400 / 5,794 photographs, ten captions each"
    folders = ("cub", "CUB_200_2011", "CUB")
    files = TABLES
    published_as = f"CUB_200_2011 of {page}, and the captions of https://github.com/reedscot/icml2016 as its folder text,"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        captions: int = CAPTIONS,
        image_size: int = 64,
        cropped: bool = True,
        words: int = 4000,
        length: int = 32,
    ) -> None:
        sizes = {"image_size": image_size, "words": words, "length": length}
        problems = [f"{name}: expected at least 1, got {number}" for name, number in sizes.items() if number < 1]
        if not 1 <= captions <= CAPTIONS:
            problems.append(f"captions: expected 1 to {CAPTIONS}, got {captions}")
        super().__init__(folder, {"captions": captions, "cropped": cropped, **sizes}, problems)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        images, labels, trains, boxes = self._tables(paths)
        classes = [row[1] for row in self._rows(paths["classes.txt"], 2)]
        if len(set(classes)) < max(2, len(classes)):
            raise self.wrong(paths["classes.txt"], "two different kinds or more", f"{len(classes)}")
        kinds = self.codes(labels - 1, len(classes), paths["image_class_labels.txt"])
        texts, owner = self._captions(images)
        parts = last_twelfth_of_classes(kinds, trains)
        counted = np.isin(owner, parts["train"])
        words, length = self._settings["words"], self._settings["length"]
        text, symbols = word_view(texts, name="text", counted=counted, fit=counted, words=words, length=length)
        side = self._settings["image_size"]
        image = Modality("image", "image", (3, side, side), "uint8")
        spec = Spec((image, text), (Factor("label", tuple(classes)),), (Target("label", "class", tuple(classes)),))

        def read(rows: np.ndarray) -> Batch:
            numbers, inverse = np.unique(owner[rows], return_inverse=True)
            shown = [(images[number], boxes[number]) for number in numbers.tolist()]
            found = list(in_threads(partial(self._picture, image.shape), shown))
            pixels = np.stack(found)[inverse] if found else np.empty((0, *image.shape), np.uint8)
            codes = kinds[owner[rows]]
            views = tensors(image=pixels, text=symbols[rows])
            return Batch(views, factors=torch.from_numpy(codes[:, None].copy()), targets=tensors(label=codes))

        return FileSamples(spec, {split: np.flatnonzero(np.isin(owner, part)) for split, part in parts.items()}, read)

    def _tables(self, paths: Mapping[str, Path]) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
        """Files of the photographs, their kinds (N,) from 1, whether they train (N,), and boxes of the birds (N, 4)."""
        images = {row[0]: row[1] for row in self._rows(paths["images.txt"], 2)}
        columns = []
        for name, count in (("image_class_labels.txt", 2), ("train_test_split.txt", 2), ("bounding_boxes.txt", 5)):
            rows = {row[0]: row[1:] for row in self._rows(paths[name], count)}
            if missing := [number for number in images if number not in rows]:
                raise self.wrong(paths[name], "a line for every image of images.txt", f"none for {missing[0]}")
            try:
                columns.append(np.array([[float(item) for item in rows[number]] for number in images]))
            except ValueError as error:
                raise self.wrong(paths[name], "numbers", str(error)) from error
        kinds, trains, boxes = columns
        return list(images.values()), kinds[:, 0], trains[:, 0] == 1, boxes

    def _rows(self, path: Path, count: int) -> list[list[str]]:
        """The lines of a table, each so many words."""
        lines = [line.split() for line in self._text(path).splitlines() if line.strip()]
        if wrong := [place for place, line in enumerate(lines, 1) if len(line) != count]:
            raise self.wrong(f"{path}, line {wrong[0]}", f"{count} words", f"{len(lines[wrong[0] - 1])}")
        return lines

    def _captions(self, images: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """The captions of all photographs, and of which photograph each is."""
        texts, owner = list[str](), list[int]()
        for number, image in enumerate(images):
            path = self._inside("text", str(Path(image).with_suffix(".txt")))
            lines = [line.strip().replace("\ufffd\ufffd", " ") for line in self._text(path).splitlines()]
            found = [line for line in lines if any(letter.isalnum() for letter in line)][: self._settings["captions"]]
            if len(found) < self._settings["captions"]:
                raise self.wrong(path, f"{self._settings['captions']} captions", f"{len(found)}")
            texts += found
            owner += [number] * len(found)
        return texts, np.array(owner, np.int64)

    def _text(self, path: Path) -> str:
        try:
            return files.read_plain(path).decode("utf-8", "replace")
        except OSError as error:
            raise store.read_error(error, path) from error

    def _inside(self, part: str, name: str) -> Path:
        """A file of a photograph; StoreError if it is not there or lies outside of the folder."""
        path = self.folder / part / name
        if Path(name).is_absolute() or ".." in Path(name).parts or not store.is_file(path):
            raise StoreError(f"expected the file {path}, which is not there: {self.advice}")
        return path

    def _picture(self, shape: tuple[int, ...], shown: tuple[str, Any]) -> np.ndarray:
        name, bird = shown
        path = self._inside("images", name)
        return read_image(path, shape, str(path), box=_square(*map(int, bird)) if self._settings["cropped"] else None)


def _square(left: int, top: int, width: int, height: int) -> Box:
    """The square around a bird in a box: its half side is 0.75 of the longer side."""
    half, across, down = int(0.75 * max(width, height)), (2 * left + width) // 2, (2 * top + height) // 2
    return (across - half, down - half, across + half, down + half)
