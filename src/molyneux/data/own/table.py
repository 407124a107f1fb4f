"""Tables in CSV, Parquet and Arrow files as a data set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np

from molyneux.core import DataError, Modality, store, text_problems
from molyneux.data.dataset import Split
from molyneux.data.own.content import SPLIT_WORDS, ArrayView, Labels, OwnContent, TargetValues, View, drawn_notes
from molyneux.data.own.dataset import OwnDataset
from molyneux.data.own.labels import class_target, make_labels, number_target
from molyneux.data.own.multilabels import column_target
from molyneux.data.own.pictures import Pictures
from molyneux.data.own.table_files import TableRows, read_tables, table_files
from molyneux.data.own.texts import text_view


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class TableDataset(OwnDataset):
    """The rows of a table: CSV, TSV, JSON Lines, Parquet or Arrow, also as Hugging Face `datasets` saves them.

    `path` is a file, or a folder of files with the same columns. In a folder, files or sub-folders in whose names the word
    `train`, `validation` (`valid`, `val`, `dev`) or `test` stands are these splits, unless `split` names a column.

    A column is used where `texts`, `images`, `tabular`, `labels`, `targets`, `number_targets`, `multilabel_targets` or `split`
    names it. A row without a text, an image or one of the numbers lacks that modality; one without a label or a target is left
    out where it is asked for.
    Labels are words or integers from 0; there is none where a field is empty, in a column of integers where it is a negative
    number such as -1, and in a column of floats where it is NaN. Numbers have to be finite.

    Args:
        texts: columns that are text modalities.
        images: columns that are image modalities: paths below the folder of the table, or the content of image files.
        tabular: columns of numbers, or of lists of numbers of one length, that together are a modality called `tabular`; or a
            mapping of several modalities to their columns.
        standardise: whether each column of numbers gets mean 0 and standard deviation 1 over the training samples.
        image_size: height and width to which images are resized; without it all have to be of one size.
        image_channels: 1 for grey, 3 for colour; by default 1 if all images are grey.
        root: the folder that paths of images begin at; by default that of the table.
    """

    name = "table-v1"

    texts: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    tabular: tuple[str, ...] | Mapping[str, tuple[str, ...]] = field(default_factory=tuple)
    standardise: bool = True
    image_size: tuple[int, int] | None = None
    image_channels: int | None = None
    root: Path | None = None

    def __post_init__(self) -> None:
        if self.root is not None:
            object.__setattr__(self, "root", Path(self.root))
        super().__post_init__()

    def _problems(self) -> list[str]:
        found = super()._problems()
        if not self.texts and not self.images and not self.tabular:
            found.append("texts: expected a column that is a modality in texts, images or tabular, got none")
        found += text_problems(texts=self.texts, images=self.images, tabular=self.tabular)
        if isinstance(self.tabular, Mapping):
            found += text_problems(**{f"tabular.{name}": columns for name, columns in self.tabular.items()})
        if not found:
            tabular = {
                "tabular" if isinstance(self.tabular, tuple) else f"tabular.{key}": each for key, each in self._groups.items()
            }
            for setting, columns in {"texts": self.texts, "images": self.images, **tabular}.items():
                if twice := next((name for name in columns if columns.count(name) > 1), None):
                    found.append(f"{setting}: expected each column once, got {twice!r} twice")
        inputs = {*self.texts, *self.images, *(column for columns in self._groups.values() for column in columns)}
        if not found:
            found += [
                f"targets: {name!r} is a modality too, which would tell the answer: leave it out of texts, images or tabular"
                for name in dict.fromkeys([*self.targets, *self.number_targets, *self.multilabel_targets])
                if name in inputs
            ]
        return found + image_problems(self.image_size, self.image_channels)

    @property
    def _groups(self) -> Mapping[str, tuple[str, ...]]:
        """The columns of numbers by the name of their modality."""
        return self.tabular if isinstance(self.tabular, Mapping) else {"tabular": self.tabular} if self.tabular else {}

    def _files(self) -> Sequence[Path]:
        pictures = (content for name in self.images for content in self._table.images(name, self._root))
        return [*table_files(self.path), *sorted({content for content in pictures if isinstance(content, Path)})]

    @cached_property
    def _table(self) -> TableRows:
        return read_tables(table_files(self.path))

    @property
    def _root(self) -> Path:
        return self.root or (self.path if store.is_folder(self.path) else self.path.parent)

    def _read(self) -> OwnContent:
        table = self._table
        given = self._given(table)
        rows = self._split_rows(len(table), given, table.where)
        views: list[View] = table_texts(self, table, self.texts, rows["train"])
        for name in self.images:
            contents = table.images(name, self._root)
            place = f", column {name!r}"
            where = lambda row, place=place: table.where(row) + place  # noqa: E731
            views.append(Pictures(name, contents, where, size=self.image_size, channels=self.image_channels))
        views += [self._tabular(table, name, columns, rows["train"]) for name, columns in self._groups.items()]
        labels, answers = table_labels(self, table)
        return OwnContent(tuple(views), rows, labels, answers, (*table.notes, *drawn_notes(given, rows)))

    def _given(self, table: TableRows) -> list[str | None] | None:
        """The split of each row, named by a column or by its file; None if splits are drawn."""
        if self.split is not None:
            return table.strings(self.split)
        if not store.is_folder(self.path):
            return None
        named = [_split_of(path.relative_to(self.path)) for path, _ in table.files]
        if not any(named):
            return None
        for (path, _), split in zip(table.files, named, strict=True):
            if not split:
                raise DataError(
                    f"{path}: expected a file of train, validation or test, as the others in {self.path} are: rename it"
                )
        return [split for (_, size), split in zip(table.files, named, strict=True) for _ in range(size)]

    def _tabular(self, table: TableRows, name: str, columns: Sequence[str], train: np.ndarray) -> ArrayView:
        if not columns:
            raise DataError(f"{self.path}: expected columns for the modality {name!r}, got none: name some")
        values = np.concatenate([table.numbers(column).reshape(len(table), -1) for column in columns], 1)
        present = np.isfinite(values).all(1)
        if not present[train].any():
            raise DataError(f"{self.path}: expected training samples with all of {', '.join(columns)}, got none")
        if self.standardise:
            known = values[train][present[train]]
            deviation = known.std(0)
            values = (values - known.mean(0)) / np.where(deviation > 0, deviation, 1)
        values = np.where(present[:, None], values, 0)
        if (large := np.abs(values) > np.finfo(np.float32).max).any():
            row, place = np.argwhere(large)[0].tolist()
            raise DataError(f"{table.where(row)}, {name}: expected numbers near those of training, got {values[row, place]:g}")
        modality = Modality(name, "tabular", (values.shape[1],))
        return ArrayView(modality, values.astype(np.float32), None if present.all() else present)


def table_texts(data: OwnDataset, table: TableRows, names: Sequence[str], train: np.ndarray) -> list[View]:
    """The text modalities of some columns."""
    found = [(name, table.texts(name, data.missing)) for name in names]
    settings: dict[str, Any] = {"unit": data.unit, "words": data.words, "length": data.length}
    return [text_view(name, texts, train, where=table.where, **settings) for name, texts in found]


def table_labels(data: OwnDataset, table: TableRows) -> tuple[tuple[Labels, ...], tuple[TargetValues, ...]]:
    """The factors and the targets that a data set names among the columns of a table."""
    columns = {name: table.labels(name) for name in dict.fromkeys([*data.labels, *data.targets])}
    found = {
        name: make_labels(name, values, table.where, names=names, missing=data.missing)
        for name, (values, names) in columns.items()
    }
    answers = [class_target(found[name]) for name in data.targets]
    answers += [number_target(name, _one_number(table, name), table.where) for name in data.number_targets]
    for name in data.multilabel_targets:
        answer, notes = column_target(name, table.column(name), table.at(name))
        answers.append(answer)
        table.notes.extend(note for note in notes if note not in table.notes)
    return tuple(found[name] for name in data.labels), tuple(answers)


def _one_number(table: TableRows, name: str) -> np.ndarray:
    """A column of numbers (N,)."""
    found = table.numbers(name)
    if found.ndim > 1:
        raise DataError(f"{table.at(name)(0)}: expected a number in each row, got lists: store each number in a column")
    return found


def image_problems(size: tuple[int, int] | None, channels: int | None) -> list[str]:
    """One sentence for each setting of images that cannot be used."""
    found = []
    if size is not None and (len(size) != 2 or min(size) < 1):
        found.append(f"image_size: expected a height and a width of at least 1 pixel, got {list(size)}")
    if channels not in (None, 1, 3):
        found.append(f"image_channels: expected 1 or 3, got {channels}")
    return found


def _split_of(path: Path) -> Split | None:
    """The split of a file: named by the first of its sub-folders whose name has a word for one, otherwise by its own name.

    Raises:
        DataError: the name has words for several splits.
    """
    for part in path.with_suffix("").parts:
        words = re.split(r"[^a-z]+", part.lower())
        found = {SPLIT_WORDS[word] for word in words if word in SPLIT_WORDS}
        if words[0] in SPLIT_WORDS:
            return SPLIT_WORDS[words[0]]
        if len(found) > 1:
            raise DataError(f"{path}: expected a name of one split, got words for {' and '.join(sorted(found))}: rename it")
        if found:
            return found.pop()
    return None
