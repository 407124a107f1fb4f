"""Images in folders, one folder for each class, as a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import DataError, StoreError
from molyneux.data.own.content import SPLIT_WORDS, Content, View
from molyneux.data.own.dataset import OwnDataset
from molyneux.data.own.labels import class_target, make_labels
from molyneux.data.own.pictures import SUFFIXES, Pictures
from molyneux.data.own.table import image_problems, table_labels, table_texts
from molyneux.data.own.table_files import TableRows, read_tables


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ImageFolder(OwnDataset):
    """Images in folders, read with Pillow: `cat/001.png`, or `train/cat/001.png` where folders say the splits too.

    The folder of an image is its class, the factor `class_label`; images that lie in `path` itself, or with `class_label: null`,
    have none. A table beside the images can add texts, labels and targets: one row for each image, whose column `file` has its
    path below `path`.

    Args:
        captions: a CSV or Parquet file with the column `file` and those that `texts`, `labels`, `targets`, `number_targets` and
            `split` name; relative paths begin at `path`.
        texts: columns of `captions` that are text modalities.
        class_label: name of the factor that the folders say; null for none.
        class_target: whether the class is a target too.
        image_size: height and width to which images are resized; without it all have to be of one size.
        image_channels: 1 for grey, 3 for colour; by default 1 if all images are grey.
    """

    name = "image-folder-v1"

    captions: Path | None = None
    texts: tuple[str, ...] = ()
    class_label: str | None = "label"
    class_target: bool = False
    image_size: tuple[int, int] | None = None
    image_channels: int | None = None

    def _problems(self) -> list[str]:
        found = super()._problems() + image_problems(self.image_size, self.image_channels)
        named = [*self.texts, *self.labels, *self.targets, *self.number_targets, *([self.split] if self.split else [])]
        if named and self.captions is None:
            found.append(f"captions: is missing: name the table with the columns {', '.join(named)}")
        if self.class_label is not None and self.class_label in named:
            found.append(f"class_label: expected another name than those of columns, got {self.class_label!r} for both")
        return found

    @property
    def _captions(self) -> Path | None:
        return None if self.captions is None else self.path / self.captions

    def _images(self) -> list[Path]:
        if not self.path.is_dir():
            raise StoreError(f"expected a folder of images in {self.path}, which is not there: name one")
        found = [item for item in self.path.rglob("*") if item.suffix.lower() in SUFFIXES and not item.name.startswith(".")]
        if not found:
            raise StoreError(f"expected images ({', '.join(SUFFIXES)}) in {self.path} or its sub-folders, got none")
        return sorted(found)

    def _files(self) -> Sequence[Path]:
        return [*self._images(), *([self._captions] if self._captions is not None else [])]

    def _read(self) -> Content:
        images = self._images()
        parts = [path.relative_to(self.path).parts[:-1] for path in images]
        given: list[str | None] | None = None
        if self.split is None and all(part and part[0].lower() in SPLIT_WORDS for part in parts):
            given, parts = [part[0] for part in parts], [part[1:] for part in parts]
        where = lambda row: str(images[row])  # noqa: E731
        table = None if self._captions is None else self._beside(images, read_tables([self._captions]))
        if table is not None and self.split is not None:
            given = table.strings(self.split)
        rows = self._split_rows(len(images), given, where)
        views: list[View] = [Pictures("image", images, where, size=self.image_size, channels=self.image_channels)]
        labels, answers = ((), ()) if table is None else table_labels(self, table)
        if self.class_label is not None and any(parts):
            own = make_labels(self.class_label, self._classes(images, parts), where)
            labels, answers = (own, *labels), (*([class_target(own)] if self.class_target else []), *answers)
        views += [] if table is None else table_texts(self, table, self.texts, rows["train"])
        return Content(tuple(views), rows, labels, answers)

    def _classes(self, images: Sequence[Path], parts: Sequence[Sequence[str]]) -> np.ndarray:
        """The name of the class of each image (N,)."""
        for path, part in zip(images, parts, strict=True):
            if not part:
                raise DataError(
                    f"{path}: expected every image in the folder of its class, got one outside: move it, or set class_label: null"
                )
        names = ["/".join(part) for part in parts]
        if len(set(names)) < 2:
            raise DataError(
                f"{self.path}: expected images in the folders of at least two classes, got only {names[0]!r}: "
                "set class_label: null if folders are no classes"
            )
        return np.array(names)

    def _beside(self, images: Sequence[Path], table: TableRows) -> TableRows:
        """The rows of a table in the order of the images."""
        order: Mapping[str, int] = {path.relative_to(self.path).as_posix(): number for number, path in enumerate(images)}
        found = np.full(len(images), -1)
        for row, name in enumerate(table.strings("file")):
            if name is None or name not in order:
                raise DataError(
                    f"{table.where(row)}, column 'file': expected the path of an image below {self.path}, got {name!r}"
                )
            if found[order[name]] >= 0:
                raise DataError(f"{table.where(row)}, column 'file': expected one row for each image, got {name!r} again")
            found[order[name]] = row
        if (missing := np.flatnonzero(found < 0)).size:
            name = images[int(missing[0])].relative_to(self.path).as_posix()
            raise DataError(f"{table.files[0][0]}: expected a row for each image, got none for {name!r}")
        return _Ordered(table.table.take(found), table.files, found)


@dataclass(frozen=True)
class _Ordered(TableRows):
    """Rows in another order than that of their file.

    Args:
        rows: (N,) the number of each row in the file.
    """

    rows: np.ndarray

    def where(self, row: int) -> str:
        """File and row, counted from 1 after the titles."""
        return super().where(int(self.rows[row]))
