"""CLEVR and CLEVR-CoGenT: questions about pictures of rendered solids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np

from molyneux.core import DataError, Target
from molyneux.data.benchmarks.bases.picture_texts import Numbering, PictureTextFiles, PictureTexts, SetSamples, coded_together
from molyneux.data.dataset import Split
from molyneux.data.formats.json_files import Record, read_items, value

_KINDS = {
    "count": "count",
    "exist": "exist",
    "query_": "query attribute",
    "equal_integer": "compare numbers",
    "less_than": "compare numbers",
    "greater_than": "compare numbers",
    "equal_": "compare attribute",
}
"""The kind of a question by the first letters of the last function of its program; the first that fits."""


class CLEVRQuestions(PictureTexts):
    """Questions with one-word answers about pictures, which lie in the files of CLEVR; see its two kinds.

    Layout of the published archives: `questions/CLEVR_train_questions.json`, an object whose list `questions` has `question`,
    `answer`, `image_filename`, `question_family_index` and `program`; `scenes/CLEVR_train_scenes.json`, whose list `scenes` has
    `image_filename` and `objects`; and the pictures, such as `images/train/CLEVR_train_000000.png`, 480 x 320 pixels. Files are
    read object by object, so that memory holds questions and answers only. Scenes may be missing.

    The answers of the published test questions are withheld: the published validation questions are the split `test`, and the
    questions about the last tenth of the training pictures are the split `validation`.

    The target is the class `answer`. Factors are `kind` of question (count, exist, compare numbers, query attribute, compare
    attribute), its `family`, and `objects`, how many the scene has, where there are scenes. See `PictureTexts` for views and
    settings.

    Args:
        folder: see `PictureTexts`.
        images: see `PictureTexts`.
        image_size: see `PictureTexts`.
        words: see `PictureTexts`.
        length: see `PictureTexts`.
    """

    parts: ClassVar[Mapping[Split, str]]
    """The published name of the questions of each split but validation."""

    def __init__(
        self,
        *,
        folder: Path | None = None,
        images: Path | None = None,
        image_size: tuple[int, int] = (128, 128),
        words: int | None = None,
        length: int | None = None,
    ) -> None:
        super().__init__(folder=folder, images=images, image_size=image_size, words=words, length=length)

    def read(self, paths: Mapping[str, Path]) -> PictureTextFiles:
        """See `PictureTexts`."""
        table, ends = _Columns(), dict[Split, tuple[int, int]]()
        for split, part in self.parts.items():
            start = len(table.answer)
            for where, record in read_items(paths[f"questions/CLEVR_{part}_questions.json"], "questions"):
                table.add(record, part, where)
            ends[split] = (start, len(table.answer))
        answers = tuple(sorted(set(table.answer[slice(*ends["train"])])))
        for split, (start, end) in ends.items():
            if unknown := set(table.answer[start:end]) - set(answers):
                row = next(row for row in range(start, end) if table.answer[row] in unknown)
                asked, name = table.texts.names[table.text[row]], paths[f"questions/CLEVR_{self.parts[split]}_questions.json"]
                raise DataError(
                    f"{name}, questions {row - start}: expected answers that training questions have, got "
                    f"{table.answer[row]!r} to {asked[:80]!r}: read all training questions"
                )
        if len(answers) < 2:
            raise DataError(f"{self.folder}: expected training questions with at least two answers, got {list(answers)}")
        columns: dict[str, Sequence[str | None]] = {"kind": table.kind, "family": table.family}
        if counts := self._objects(paths):
            objects = np.array([counts.get(name, "") for name in table.pictures.names])
            columns["objects"] = [count or None for count in objects[table.picture].tolist()]
        factors, codes = coded_together(columns, len(table.answer))
        pictures, texts = np.array(table.picture, np.int64), np.array(table.text, np.int64)
        said = np.searchsorted(answers, table.answer)
        records = {
            split: SetSamples(pictures[rows, None], texts[rows, None], codes[rows], answers=said[rows])
            for split, rows in _divided(ends, pictures, table.pictures.names)
        }
        return PictureTextFiles(table.pictures.names, table.texts.names, records, factors, Target("answer", "class", answers))

    def _objects(self, paths: Mapping[str, Path]) -> dict[str, str]:
        """How many objects the scene of each picture has, where there are files of scenes."""
        found = dict[str, str]()
        for part in self.parts.values():
            name = f"scenes/CLEVR_{part}_scenes.json"
            for where, record in read_items(paths[name], "scenes") if name in paths else ():
                found[f"{part}/{value(record, 'image_filename', str, where)}"] = str(len(value(record, "objects", list, where)))
        return found


@dataclass
class _Columns:
    """Questions as columns."""

    pictures: Numbering = field(default_factory=Numbering)
    texts: Numbering = field(default_factory=Numbering)
    picture: list[int] = field(default_factory=list)
    text: list[int] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    kind: list[str | None] = field(default_factory=list)
    family: list[str | None] = field(default_factory=list)

    def add(self, record: Record, part: str, where: str) -> None:
        """One more question."""
        question, answer, image = (value(record, key, str, where) for key in ("question", "answer", "image_filename"))
        self.picture.append(self.pictures(f"{part}/{image}"))
        self.text.append(self.texts(question))
        self.answer.append(answer)
        self.kind.append(_kind(value(record, "program", list, where), where))
        self.family.append(str(value(record, "question_family_index", int, where)))


def _kind(program: list[Any], where: str) -> str:
    """The kind of a question, by the last function of its program."""
    last = program[-1] if program and isinstance(program[-1], dict) else {}
    name = str(last.get("function", last.get("type", "")))
    found = next((kind for start, kind in _KINDS.items() if name.startswith(start)), None)
    if found is None:
        raise DataError(f"{where}: expected a program that ends with a function of CLEVR, got {name!r}: restore the file")
    return found


def _divided(
    ends: Mapping[Split, tuple[int, int]], pictures: np.ndarray, names: Sequence[str]
) -> Iterator[tuple[Split, np.ndarray]]:
    """The rows of each split; of the training questions, those about the last tenth of the pictures validate."""
    for split, (start, end) in ends.items():
        rows = np.arange(start, end)
        if split != "train":
            yield split, rows
            continue
        shown = np.array(sorted({*pictures[rows].tolist()}, key=names.__getitem__))
        held = np.isin(pictures[rows], shown[len(shown) - max(1, len(shown) // 10) :])
        yield "train", rows[~held]
        yield "validation", rows[held]


@final
class CLEVR(CLEVRQuestions):
    """Questions about pictures of rendered solids; Johnson et al. (CVPR 2017). 70,000 pictures and 699,989 questions to train on.

    The files are those of the archive `CLEVR_v1.0`; see `CLEVRQuestions` for their layout, splits, factors and settings. Reading
    them takes about half a minute and 2 GB of memory on one core.
    """

    name = "clevr-v1"
    licence = "CC BY 4.0"
    origin = "CLEVR (Johnson, Hariharan, van der Maaten, Fei-Fei, Zitnick and Girshick, CVPR 2017)"
    folders = ("clevr", "CLEVR_v1.0")
    files = ("questions/CLEVR_train_questions.json", "questions/CLEVR_val_questions.json")
    optional = ("scenes/CLEVR_train_scenes.json", "scenes/CLEVR_val_scenes.json")
    published_as = "the content of the archive CLEVR_v1.0 of its page at Stanford"
    parts: ClassVar[Mapping[Split, str]] = {"train": "train", "test": "val"}


@final
class CLEVRCoGenT(CLEVRQuestions):
    """CLEVR with held-out combinations of shape and colour: condition A trains and tests, condition B is the split `heldout`.

    Cubes and cylinders have colours of their own, which are exchanged in condition B; Johnson et al. (CVPR 2017), section 4.7.
    The files are those of the archive `CLEVR_CoGenT_v1.0`, with the parts trainA, valA and valB; see `CLEVRQuestions` for their
    layout, splits, factors and settings.
    """

    name = "clevr-cogent-v1"
    licence = "CC BY 4.0"
    origin = "CLEVR-CoGenT (Johnson, Hariharan, van der Maaten, Fei-Fei, Zitnick and Girshick, CVPR 2017)"
    folders = ("clevr-cogent", "CLEVR_CoGenT_v1.0")
    files = tuple(f"questions/CLEVR_{part}_questions.json" for part in ("trainA", "valA", "valB"))
    optional = tuple(f"scenes/CLEVR_{part}_scenes.json" for part in ("trainA", "valA", "valB"))
    published_as = "the content of the archive CLEVR_CoGenT_v1.0 of CLEVR's page at Stanford"
    parts: ClassVar[Mapping[Split, str]] = {"train": "trainA", "test": "valA", "heldout": "valB"}
