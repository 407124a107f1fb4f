"""Images in folders, one folder for each class, as a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import DataError, StoreError, store
from molyneux.core.characters import composed
from molyneux.data.own.content import SPLIT_WORDS, OwnContent, View, drawn_notes
from molyneux.data.own.dataset import OwnDataset
from molyneux.data.own.labels import class_target, make_labels
from molyneux.data.own.pictures import OTHER_SUFFIXES, SUFFIXES, Pictures
from molyneux.data.own.table import image_problems, table_labels, table_texts
from molyneux.data.own.table_files import TableRows, read_tables, require_table


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ImageFolder(OwnDataset):
    """Images in folders, read with Pillow: `cat/001.png`, or `train/cat/001.png` where folders say the splits too.

    The folder of an image is its class, the factor `class_label`; images that lie in `path` itself, or with `class_label: null`,
    have none. A table beside the images can add texts, labels and targets: one row for each image, whose column `file`, or
    `file_name` as in the `metadata.jsonl` of Hugging Face, has its path below `path`.

    Args:
        captions: a table (CSV, TSV, JSON Lines, Parquet or Arrow) with the column `file` or `file_name` and those that `texts`,
            `labels`, `targets`, `number_targets`, `multilabel_targets` and `split` name; relative paths begin at `path`.
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
        targets = (*self.targets, *self.number_targets, *self.multilabel_targets)
        named = [*self.texts, *self.labels, *targets, *([self.split] if self.split else [])]
        if named and self.captions is None:
            found.append(f"captions: is missing: name the table with the columns {', '.join(named)}")
        if self.class_label is not None and self.class_label in named:
            found.append(f"class_label: expected another name than those of columns, got {self.class_label!r} for both")
        return found

    @property
    def _captions(self) -> Path | None:
        return None if self.captions is None else self.path / self.captions

    def _images(self) -> list[Path]:
        if not store.is_folder(self.path):
            raise StoreError(f"expected a folder of images in {self.path}, which is not there: name one")
        items = sorted(item for item in self.path.rglob("*") if not self._hidden(item))
        found = [item for item in items if item.suffix.lower() in SUFFIXES]
        for item in items:
            if item.suffix.lower() in OTHER_SUFFIXES and item.is_file():
                raise DataError(
                    f"{item}: expected images in a format that is read ({', '.join(SUFFIXES)}), got one that is not: convert it, "
                    "or move it away"
                )
        if not found:
            raise StoreError(f"expected images ({', '.join(SUFFIXES)}) in {self.path} or its sub-folders, got none")
        return found

    def _hidden(self, item: Path) -> bool:
        """Whether a program keeps a file or a folder for itself: its name, or that of a folder it is in, begins with a point."""
        return any(part.startswith(".") or part == "__MACOSX" for part in item.relative_to(self.path).parts)

    def _files(self) -> Sequence[Path]:
        return [*self._images(), *([self._captions] if self._captions is not None else [])]

    def _read(self) -> OwnContent:
        images = self._images()
        parts = [tuple(map(composed, path.relative_to(self.path).parts[:-1])) for path in images]
        given: list[str | None] | None = None
        if self.split is None and self._by_folders(images, parts):
            given, parts = [part[0] for part in parts], [part[1:] for part in parts]
        where = lambda row: str(images[row])  # noqa: E731
        if self._captions is not None:
            require_table(self._captions)
        table = None if self._captions is None else self._beside(images, read_tables([self._captions]))
        if table is not None and self.split is not None:
            given = table.strings(self.split)
        rows = self._split_rows(len(images), given, where)
        views: list[View] = [Pictures("image", images, where, size=self.image_size, channels=self.image_channels)]
        labels, answers = ((), ()) if table is None else table_labels(self, table)
        if self.class_label is not None and any(parts):
            own = make_labels(self.class_label, self._classes(images, parts), where, missing=())
            labels, answers = (own, *labels), (*([class_target(own)] if self.class_target else []), *answers)
        views += [] if table is None else table_texts(self, table, self.texts, rows["train"])
        notes = (*drawn_notes(given, rows), *([] if table is None else table.notes), *self._left_out(images))
        return OwnContent(tuple(views), rows, labels, answers, notes)

    def _by_folders(self, images: Sequence[Path], parts: Sequence[Sequence[str]]) -> bool:
        """Whether the first folder of each image says its split.

        Raises:
            DataError: the folders of some images do, and others lie beside them.
        """
        named = [bool(part) and part[0].lower() in SPLIT_WORDS for part in parts]
        deep = any(name and len(part) > 1 for name, part in zip(named, parts, strict=True))
        splits = {SPLIT_WORDS[part[0].lower()] for name, part in zip(named, parts, strict=True) if name}
        if all(named) or not (deep or len(splits) > 1):
            return all(named)
        raise DataError(
            f"{images[named.index(False)]}: expected every image in a folder of a split ({', '.join(SPLIT_WORDS)}), as others in "
            f"{self.path} are, got one outside: move it, or name the column of the splits in split"
        )

    def _left_out(self, images: Sequence[Path]) -> tuple[str, ...]:
        """Folders without any image, and files that are none, which are not read."""
        filled = {parent for path in images for parent in path.parents}
        items = [item for item in sorted(self.path.rglob("*")) if not self._hidden(item)]
        empty = [item for item in items if item.is_dir() and item not in filled]
        files = [item for item in items if item.is_file() and item.suffix.lower() not in SUFFIXES and item != self._captions]
        return tuple(
            f"{found[0]}: {what}, and is not read ({len(found):,} such)"
            for found, what in ((empty, "a folder without images"), (files, "no image"))
            if found
        )

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
        column = "file_name" if "file" not in table.table.column_names and "file_name" in table.table.column_names else "file"
        names = [composed(path.relative_to(self.path).as_posix()) for path in images]
        order: Mapping[str, int] = {name: number for number, name in enumerate(names)}
        if len(order) < len(names):
            twin = next(number for number, name in enumerate(names) if order[name] != number)
            raise DataError(f"{images[twin]}: expected names that differ, got one that differs from another in its Unicode form")
        found = np.full(len(images), -1)
        for row, given in enumerate(table.strings(column)):
            name = None if given is None else composed(given.replace("\\", "/") if given not in order else given)
            name = None if name is None else name.removeprefix("./")
            if name is None or name not in order:
                raise DataError(
                    f"{table.where(row)}, column {column!r}: expected the path of an image below {self.path}, got {given!r}"
                )
            if found[order[name]] >= 0:
                raise DataError(f"{table.where(row)}, column {column!r}: expected one row for each image, got {name!r} again")
            found[order[name]] = row
        if (missing := np.flatnonzero(found < 0)).size:
            name = names[int(missing[0])]
            raise DataError(f"{table.files[0][0]}: expected a row for each image, got none for {name!r}")
        return _Ordered(table.table.take(found), table.files, table.notes, table.separators, found)


@dataclass(frozen=True)
class _Ordered(TableRows):
    """Rows in another order than that of their file.

    Args:
        rows: (N,) the number of each row in the file.
    """

    rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def where(self, row: int) -> str:
        """File and row, counted from 1 after the titles."""
        return super().where(int(self.rows[row]))
