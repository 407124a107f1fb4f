"""What the files of a data set of labelled texts hold, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.core import DataError, Factor, Modality, Spec, Target, nearest, store
from molyneux.data.benchmarks.division import TEST, TRAIN, Part, PerClass, divided
from molyneux.data.benchmarks.files import existing, missing
from molyneux.data.benchmarks.text_files import read_labels, read_texts
from molyneux.data.benchmarks.vocabulary import SPECIAL, most_frequent, symbol_rows, tokenize
from molyneux.data.worlds.sentences.language import BEGIN, END, PADDING
from molyneux.data.worlds.world import Split

CLASSES = "classes.txt"


@dataclass(frozen=True)
class Publication:
    """What the owners of a data set publish.

    Args:
        name: of the world, with version.
        folders: names that its folder may have.
        fields: what stands in a row after the class.
        classes: how many.
        line_break: what stands for a line break inside a field.
        owners: what they publish, and under which name.
    """

    name: str
    folders: tuple[str, ...]
    fields: tuple[str, ...]
    classes: int
    line_break: str
    owners: str


@dataclass(frozen=True)
class TextSettings:
    """How texts become samples; see `LabelledTexts`."""

    fields: tuple[str, ...]
    words: int
    length: int
    per_class: PerClass | None
    split_seed: int

    def problems(self, known: Sequence[str]) -> list[str]:
        """One sentence for everything that is wrong; `known` are the fields there are."""
        found = self._field_problems(known)
        sizes = {"words": self.words, "length": self.length}
        found += [f"{name}: expected at least 1, got {value}" for name, value in sizes.items() if value < 1]
        if self.per_class is not None and (len(self.per_class) != 3 or min(self.per_class) < 1):
            what = "three numbers of at least 1, for training, validation and testing"
            found.append(f"per_class: expected {what}, got {self.per_class}")
        return found

    def _field_problems(self, known: Sequence[str]) -> list[str]:
        if isinstance(self.fields, str):
            return [f"fields: expected a list of names, got the text {self.fields!r}: write [{self.fields}]"]
        found = [f"fields: no field {name!r}; {nearest(name, known)}" for name in self.fields if name not in known]
        if not self.fields or len(set(self.fields)) < len(self.fields):
            found.append(f"fields: expected at least one, and none twice, got {self.fields}")
        return found

    def plain(self) -> dict[str, Any]:
        """The settings as plain data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Content:
    """The samples of all splits.

    Args:
        spec: what they look like.
        ids: by split the symbols, (n, length) int32.
        labels: by split the classes, (n,) int64.
    """

    spec: Spec
    ids: Mapping[Split, np.ndarray]
    labels: Mapping[Split, np.ndarray]


def load_content(folder: Path, published: Publication, settings: TextSettings) -> Content:
    """Read the files of a folder.

    Raises:
        StoreError: `test.csv` or `classes.txt` is not there. DataError: a file does not hold what it should.
    """
    files = existing(folder, (TRAIN, TEST, CLASSES))
    if TEST not in files or CLASSES not in files:
        raise missing(folder, f"{TEST}, {CLASSES} and, unless {TEST} is to be divided, {TRAIN}", published.owners)
    names = _class_names(files.pop(CLASSES), published.classes)
    labels = {name: read_labels(path, published.fields, classes=len(names)) for name, path in files.items()}
    limits, seed = settings.per_class, settings.split_seed
    parts = divided(labels, classes=len(names), limits=limits, name=published.name, seed=seed)
    words, ids = _ids(files, parts, published, settings)
    symbols = (*SPECIAL, *words)
    dtype = "uint8" if len(symbols) <= 256 else "int64"
    text = Modality("text", "text", (settings.length,), dtype, symbols, PADDING, BEGIN, END)
    spec = Spec((text,), (Factor("label", names),), (Target("label", "class", names),))
    return Content(spec, ids, {split: labels[part.file][part.rows] for split, part in parts.items()})


def _ids(
    files: Mapping[str, Path], parts: Mapping[Split, Part], published: Publication, settings: TextSettings
) -> tuple[list[str], dict[Split, np.ndarray]]:
    """The vocabulary, and the symbols of each split; every file is read once."""
    rows = {file: np.sort(np.concatenate([part.rows for part in parts.values() if part.file == file])) for file in files}
    first = dict(zip(rows, np.cumsum([0, *map(len, rows.values())]), strict=False))
    places = {split: first[part.file] + np.searchsorted(rows[part.file], part.rows) for split, part in parts.items()}
    fields, used = published.fields, settings.fields
    blocks = (block for file, path in files.items() for block in read_texts(path, fields, used=used, rows=rows[file]))
    tokens = tokenize(blocks, length=settings.length, line_break=published.line_break)
    counted = np.zeros(len(tokens.lengths), bool)
    counted[places["train"]] = True
    vocabulary = most_frequent(tokens, texts=counted, words=settings.words)
    ids = symbol_rows(tokens, vocabulary, length=settings.length)
    return tokens.words.take(vocabulary).to_pylist(), {split: ids[place] for split, place in places.items()}


def _class_names(path: Path, count: int) -> tuple[str, ...]:
    try:
        names = tuple(filter(None, map(str.strip, path.read_text(encoding="utf-8-sig").splitlines())))
    except OSError as error:
        raise store.read_error(error, path) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected text in UTF-8: {error}") from error
    if len(names) != count or len(set(names)) != count:
        raise DataError(f"{path}: expected {count} classes, one a line and none twice, got {len(names)} lines: restore the file")
    return names
