"""CelebA: photographs of faces and their attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, final, get_args

import numpy as np
import torch

from molyneux.core import Batch, Factor, Modality, Reader, Spec, StoreError, Target, choice_problems, files, store
from molyneux.core.image_files import Box, in_threads, read_image
from molyneux.data.benchmarks.bases.attributes import AttributeReader, attribute_modality
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, tensors
from molyneux.data.dataset import SPLITS

Attributes = Literal["all", "distinctive"]
"""Which attributes are used."""

ATTRIBUTES, PARTITION, IMAGES = "list_attr_celeba.txt", "list_eval_partition.txt", "img_align_celeba"
_PUBLISHED = {ATTRIBUTES: "Anno", PARTITION: "Eval", IMAGES: "Img"}
"""The folder in which the owners publish each."""

NAMES = (
    *("5_o_Clock_Shadow", "Arched_Eyebrows", "Attractive", "Bags_Under_Eyes", "Bald", "Bangs", "Big_Lips", "Big_Nose"),
    *("Black_Hair", "Blond_Hair", "Blurry", "Brown_Hair", "Bushy_Eyebrows", "Chubby", "Double_Chin", "Eyeglasses", "Goatee"),
    *("Gray_Hair", "Heavy_Makeup", "High_Cheekbones", "Male", "Mouth_Slightly_Open", "Mustache", "Narrow_Eyes", "No_Beard"),
    *("Oval_Face", "Pale_Skin", "Pointy_Nose", "Receding_Hairline", "Rosy_Cheeks", "Sideburns", "Smiling", "Straight_Hair"),
    *("Wavy_Hair", "Wearing_Earrings", "Wearing_Hat", "Wearing_Lipstick", "Wearing_Necklace", "Wearing_Necktie", "Young"),
)
"""The 40 attributes in the published order."""

DISTINCTIVE = tuple(NAMES[place] for place in (4, 5, 8, 9, 11, 12, 15, 17, 18, 20, 21, 22, 26, 28, 31, 32, 33, 35))
"""The 18 attributes that Wu and Goodman (2018) use, after Perarnau et al. (2016)."""

_BOX: Box = (0, 20, 178, 198)
"""The square in the middle of a published image of 178 x 218 pixels."""
_VALUES = ("no", "yes")


@final
class CelebA(FileBenchmark):
    """Faces of celebrities and their attributes: 202,599 photographs; Liu, Luo, Wang and Tang (ICCV 2015).

    Layout: `list_attr_celeba.txt`, `list_eval_partition.txt` and the folder `img_align_celeba` of images, beside each other or
    in the folders `Anno`, `Eval` and `Img` of the owners. Modalities are `image` (3, 64, 64), the square in the middle of a
    photograph, resized by Lanczos' filter and decoded when it is asked for; and `attributes`, a "no" or "yes" for each (see
    `attribute_modality`). Every attribute is a factor; the target is the multilabel `attributes`. Splits are the published ones.
    Attributes are read exactly, images by a judge that is trained from them.

    Args:
        folder: see `FileBenchmark`.
        attributes: "distinctive": the 18 that Wu and Goodman, "Multimodal Generative Models" (NeurIPS 2018) use. "all": all 40.
        image_size: side of the images in pixels.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name = "celeba-v1"
    licence = "for research without commercial use; images belong to their owners"
    origin = "Liu, Luo, Wang and Tang (ICCV 2015)"
    page = "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"
    metric = "log-likelihood; F1 of attributes"
    sizes = "162,770 / 19,867 / 19,962"
    folders = ("celeba", "CelebA")
    files = (ATTRIBUTES, PARTITION)
    published_as = f"{ATTRIBUTES}, {PARTITION} and {IMAGES} of {page}"

    def __init__(self, folder: Path | None = None, *, attributes: Attributes = "distinctive", image_size: int = 64) -> None:
        problems = choice_problems(attributes=(attributes, get_args(Attributes)))
        if image_size < 1:
            problems.append(f"image_size: expected at least 1 pixel, got {image_size}")
        super().__init__(folder, {"attributes": attributes, "image_size": image_size}, problems)

    @property
    def expected(self) -> tuple[str, ...]:
        """The tables that have to be there."""
        return tuple(self._place(name) for name in self.files)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        used = NAMES if self._settings["attributes"] == "all" else DISTINCTIVE
        names, values = self._attributes(paths[self.expected[0]], used)
        part = self._partition(paths[self.expected[1]], names)
        side = self._settings["image_size"]
        image = Modality("image", "image", (3, side, side), "uint8")
        factors = _factors(used)
        spec = Spec((image, attribute_modality(len(used), _VALUES)), factors, (Target("attributes", "multilabel", used),))
        folder = self.folder / self._place(IMAGES)

        def read(rows: np.ndarray) -> Batch:
            found = list(in_threads(partial(self._picture, folder, image.shape), [names[row] for row in rows.tolist()]))
            pixels = np.stack(found) if found else np.empty((0, *image.shape), np.uint8)
            codes = torch.from_numpy(values[rows].astype(np.int64))
            return Batch(tensors(image=pixels, attributes=values[rows]), factors=codes, targets=tensors(attributes=values[rows]))

        return FileSamples(spec, {split: np.flatnonzero(part == place) for place, split in enumerate(SPLITS)}, read)

    def readers(self) -> Mapping[str, Reader]:
        """The exact reader of attributes."""
        used = NAMES if self._settings["attributes"] == "all" else DISTINCTIVE
        return {"attributes": AttributeReader(attribute_modality(len(used), _VALUES), _factors(used))}

    def _place(self, name: str) -> str:
        """Where a table or the folder of images lies: beside the others, or in the owners' folder."""
        inner = f"{_PUBLISHED[name]}/{name}"
        return inner if (self.folder / inner).exists() and not (self.folder / name).exists() else name

    def _attributes(self, path: Path, used: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Names of the images, and which of the attributes each has, (N, A) uint8."""
        lines = self._lines(path)
        head = lines[1].split() if len(lines) > 1 else []
        if missing := [name for name in used if name not in head]:
            raise self.wrong(f"{path}, line 2", f"the names of the attributes with {missing[0]}", f"{len(head)} names")
        rows = [line.split() for line in lines[2:]]
        if wrong := [place for place, row in enumerate(rows, 3) if len(row) != len(head) + 1]:
            raise self.wrong(f"{path}, line {wrong[0]}", f"a file and {len(head)} numbers", lines[wrong[0] - 1][:60])
        columns = [head.index(name) + 1 for name in used]
        table = np.array([[row[column] for column in columns] for row in rows], dtype="U2").reshape(len(rows), len(used))
        if not np.isin(table, ("1", "-1", "0")).all():
            place = np.argwhere(~np.isin(table, ("1", "-1", "0")))[0]
            raise self.wrong(f"{path}, line {place[0] + 3}", "the numbers 1 and -1", str(table[tuple(place)]))
        return [row[0] for row in rows], (table == "1").astype(np.uint8)

    def _partition(self, path: Path, names: Sequence[str]) -> np.ndarray:
        """The split of each image: 0 trains, 1 validates, 2 tests; (N,)."""
        rows = [line.split() for line in self._lines(path)]
        known = {row[0]: row[1] for row in rows if len(row) == 2}
        if missing := [name for name in names if known.get(name) not in ("0", "1", "2")]:
            raise self.wrong(path, "0, 1 or 2 for every image", f"{known.get(missing[0], 'nothing')} for {missing[0]}")
        return np.array([int(known[name]) for name in names], np.int64)

    def _lines(self, path: Path) -> list[str]:
        try:
            return files.read_plain(path, most=store.MOST_LINES).decode("utf-8").splitlines()
        except OSError as error:
            raise store.read_error(error, path) from error
        except UnicodeDecodeError as error:
            raise self.wrong(path, "a text", f"bytes that are none ({error})") from error

    def _picture(self, folder: Path, shape: tuple[int, ...], name: str) -> np.ndarray:
        path = folder / name
        if Path(name).name != name or not store.is_file(path):
            raise StoreError(f"expected the image {path}, which is not there: {self.advice}")
        return read_image(path, shape, str(path), box=_BOX)


def _factors(names: Sequence[str]) -> tuple[Factor, ...]:
    return tuple(Factor(name, _VALUES) for name in names)
