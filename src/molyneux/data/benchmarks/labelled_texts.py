"""Published texts with a class each: AG's news, DBpedia and Yahoo! Answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
import pyarrow as pa
import torch

from molyneux.core import Batch, ConfigError, DataError, Modality, Spec, Target, nearest
from molyneux.data.benchmarks.bases.benchmark import Benchmark
from molyneux.data.benchmarks.texts.text_samples import (
    SPECIAL,
    TEST,
    TRAIN,
    Part,
    divided,
    most_frequent,
    symbol_rows,
    tokenize,
)
from molyneux.data.dataset import Split
from molyneux.data.formats.labelled_text_files import read_labels, read_texts
from molyneux.data.sentence_files import text_lines
from molyneux.data.worlds.sentences.language import BEGIN, END, PADDING

CLASSES = "classes.txt"
_AUTHORS = (
    'what the authors of "Character-level Convolutional Networks for Text Classification" (Zhang, Zhao, LeCun, 2015) publish'
)


class _Content(NamedTuple):
    """The samples of all splits: what they look like, and by split the symbols (n, length) int32 and classes (n,) int64."""

    spec: Spec
    ids: Mapping[Split, np.ndarray]
    labels: Mapping[Split, np.ndarray]


class LabelledTexts(Benchmark):
    """Texts of a published data set; their class is the target `label`.

    The files are those of Zhang, Zhao and LeCun, "Character-level Convolutional Networks for Text Classification" (NeurIPS 2015):
    `train.csv` and `test.csv` without a header, each row a class number from 1 and quoted fields, and `classes.txt`.
    Nothing is downloaded. Files are read when samples are first asked for, and then kept in memory as symbols.

    A text is its fields one after the other, in lower case, cut into words; every character that is neither letter nor digit is
    a word by itself. A view is the first `length` words, `<eos>` if there is room for it, and padding. The vocabulary is
    that of the most frequent words of the training texts; other words are `<unk>`.

    Which rows a split has is drawn class by class from `split_seed`: see `text_samples.divided`. By default 10,000, 1,000 and
    1,000 of each class are used, as in Zhang, Prokhorov and Shareghi (RepL4NLP 2021). Where there is only a `test.csv`, it is
    divided: 60 % of each class train, 20 % validate, 20 % test. The seed of a source is the order in which a split is read.

    Args:
        folder: where the files lie; by default the folder of this data set in the one that `MOLYNEUX_DATA` names.
        fields: which fields make the text, and in which order; all by default.
        words: size of the vocabulary, special symbols not counted.
        length: symbols of a view; longer texts are cut.
        per_class: at most so many samples of each class for training, validation and testing; null for all.
        split_seed: what decides on the splits.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    files = (TEST, CLASSES)
    optional = (TRAIN,)

    columns: ClassVar[tuple[str, ...]]
    """Fields of a row after the class."""

    classes: ClassVar[int]
    """How many classes there are."""

    line_break: ClassVar[str] = "\\n"
    """What stands for a line break inside a field."""

    def __init__(
        self,
        *,
        folder: Path | None = None,
        fields: tuple[str, ...] | None = None,
        words: int = 20_000,
        length: int = 64,
        per_class: tuple[int, int, int] | None = (10_000, 1_000, 1_000),
        split_seed: int = 0,
    ) -> None:
        super().__init__(folder)
        fields = self.columns if fields is None else fields if isinstance(fields, str) else tuple(fields)
        limits = None if per_class is None else (*per_class,)
        problems = _field_problems(fields, self.columns)
        problems += [f"{name}: expected at least 1, got {n}" for name, n in (("words", words), ("length", length)) if n < 1]
        if limits is not None and (len(limits) != 3 or min(limits) < 1):
            what = "three numbers of at least 1, for training, validation and testing"
            problems.append(f"per_class: expected {what}, got {limits}")
        if problems:
            raise ConfigError(problems)
        self._settings: dict[str, Any] = {
            "fields": fields,
            "words": words,
            "length": length,
            "per_class": limits,
            "split_seed": split_seed,
        }

    @property
    def choices(self) -> Mapping[str, Any]:
        """The settings but for the files, as plain data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self._settings.items()}

    @property
    def spec(self) -> Spec:
        """The modality `text` and the target `label`; errors as `splits`."""
        return self._content.spec

    @property
    def splits(self) -> Mapping[Split, int]:
        """How many samples each split has.

        Raises:
            StoreError: `test.csv` or `classes.txt` is not there. DataError: a file does not hold what it should.
        """
        return {split: len(labels) for split, labels in self._content.labels.items()}

    def rows(self, rows: np.ndarray, split: Split) -> Batch:
        """The samples at these rows (B,) of a split, in the order of the files."""
        ids = self._content.ids[split][rows].astype(self.spec.modality("text").dtype)
        return Batch({"text": torch.from_numpy(ids)}, targets={"label": torch.from_numpy(self._content.labels[split][rows])})

    def __reduce__(self) -> tuple[Callable[[], LabelledTexts], tuple[()]]:
        """Travel to other processes as settings, not as the content of the files."""
        return partial(type(self), folder=self._folder, **self._settings), ()

    @cached_property
    def _content(self) -> _Content:
        """What the files hold; errors as `splits`."""
        files, settings = self.paths(), self._settings
        names = _class_names(files.pop(CLASSES), self.classes)
        labels = {name: read_labels(path, self.columns, classes=len(names)) for name, path in files.items()}
        limits, seed = settings["per_class"], settings["split_seed"]
        parts = divided(labels, classes=len(names), limits=limits, name=self.name, seed=seed)
        words, ids = self._ids(files, parts)
        symbols = (*SPECIAL, *words)
        dtype = "uint8" if len(symbols) <= 256 else "int64"
        text = Modality("text", "text", (settings["length"],), dtype, symbols, PADDING, BEGIN, END)
        spec = Spec((text,), targets=(Target("label", "class", names),))
        return _Content(spec, ids, {split: labels[file][rows] for split, (file, rows) in parts.items()})

    def _ids(self, files: Mapping[str, Path], parts: Mapping[Split, Part]) -> tuple[list[str], dict[Split, np.ndarray]]:
        """The vocabulary, and the symbols of each split; every file is read once."""
        settings, read, places, start = self._settings, list[Iterator[pa.Array]](), dict[Split, np.ndarray](), 0
        for file, path in files.items():
            own = {split: rows for split, (name, rows) in parts.items() if name == file}
            needed = np.sort(np.concatenate(list(own.values())))
            read.append(read_texts(path, self.columns, used=settings["fields"], rows=needed))
            places |= {split: start + np.searchsorted(needed, rows) for split, rows in own.items()}
            start += len(needed)
        tokens = tokenize(chain(*read), length=settings["length"], line_break=self.line_break)
        counted = np.zeros(len(tokens.lengths), bool)
        counted[places["train"]] = True
        vocabulary = most_frequent(tokens, texts=counted, words=settings["words"])
        ids = symbol_rows(tokens, vocabulary, length=settings["length"])
        return tokens.words.take(vocabulary).to_pylist(), {split: ids[place] for split, place in places.items()}


def _field_problems(fields: Sequence[str], known: Sequence[str]) -> list[str]:
    if isinstance(fields, str):
        return [f"fields: expected a list of names, got the text {fields!r}: write [{fields}]"]
    found = [f"fields: no field {name!r}; {nearest(name, known)}" for name in fields if name not in known]
    if not fields or len(set(fields)) < len(fields):
        found.append(f"fields: expected at least one, and none twice, got {fields}")
    return found


def _class_names(path: Path, count: int) -> tuple[str, ...]:
    names = tuple(filter(None, map(str.strip, text_lines(path))))
    if len(names) != count or len(set(names)) != count:
        raise DataError(f"{path}: expected {count} classes, one a line and none twice, got {len(names)} lines: restore the file")
    return names


@final
class AGNews(LabelledTexts):
    """News items of AG's corpus: title and description; world, sports, business, and science and technology.

    Published with 30,000 training and 1,900 test items of each class. See `LabelledTexts` for views, splits and settings.
    """

    name = "ag-news-v1"
    licence = "non-commercial use only"
    origin = "AG's corpus of news articles (Gulli, 2004), divided by Zhang, Zhao and LeCun (NeurIPS 2015)"
    folders = ("ag-news", "ag_news_csv")
    published_as = f"{_AUTHORS} as ag_news_csv"
    columns, classes, line_break = ("title", "description"), 4, "\\"


@final
class DBpedia(LabelledTexts):
    """First paragraphs of Wikipedia articles: title and content; 14 classes such as company, village and film.

    Published with 40,000 training and 5,000 test articles of each class. See `LabelledTexts` for views, splits and settings.
    """

    name = "dbpedia-v1"
    licence = "CC BY-SA 3.0 and GFDL"
    origin = "DBpedia 2014 (Lehmann et al., Semantic Web, 2015), divided by Zhang, Zhao and LeCun (NeurIPS 2015)"
    folders = ("dbpedia", "dbpedia_csv")
    published_as = f"{_AUTHORS} as dbpedia_csv"
    columns, classes = ("title", "content"), 14


@final
class YahooAnswers(LabelledTexts):
    """Questions to Yahoo! Answers with their best answers: title, content and answer; 10 topics such as health and sports.

    Published with 140,000 training and 6,000 test questions of each class. `fields: [question_title, question_content]` leaves
    the answers out. See `LabelledTexts` for views, splits and settings.
    """

    name = "yahoo-answers-v1"
    licence = "Yahoo! Webscope agreement: non-commercial research only"
    origin = "Yahoo! Answers (Webscope L6, 2007), divided by Zhang, Zhao and LeCun (NeurIPS 2015)"
    folders = ("yahoo-answers", "yahoo_answers_csv")
    published_as = f"{_AUTHORS} as yahoo_answers_csv"
    columns, classes = ("question_title", "question_content", "best_answer"), 10
