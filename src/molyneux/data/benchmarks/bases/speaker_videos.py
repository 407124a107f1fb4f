"""Words, faces and voices of speakers in videos: the layout that MUStARD, CMU-MOSI, UR-FUNNY and CMU-MOSEI share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.core.tooling.moved import moved
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, Standardisation, tensors
from molyneux.data.benchmarks.texts.raw_texts import WORDS, RawText, TextUnit, raw_text, raw_text_problems, raw_text_settings
from molyneux.data.benchmarks.texts.spoken_words import segments_of, spoken_words
from molyneux.data.dataset import Split
from molyneux.data.formats.mapped_files import MappedFile
from molyneux.data.formats.restricted_pickle import read_pickle

_PARTS: Mapping[Split, str] = {"train": "train", "validation": "valid", "test": "test"}
_SENSES = ("vision", "audio", "text")
STEPS = 50
_BLOCK = 256


@dataclass(frozen=True)
class _Part:
    """One part of the file: arrays (N, T, D) by modality, labels (N,), the first word of each sample (N,), and what `id` is."""

    views: Mapping[str, np.ndarray]
    labels: np.ndarray
    first: np.ndarray
    ids: Any


@dataclass(frozen=True)
class RawWords:
    """Settings of raw words, which are there in place of the vectors of words.

    Args:
        words: the most frequent words that have a symbol; others are `<unk>`.
        length: symbols of a raw text, at which longer ones are cut; by default the longest training text fits.
        text_file: name of the file of raw words; by default the one that MultiBench publishes.
        segments_file: computational sequence of labels, which has the seconds of segments; needed for words by video, which
            CMU-MOSI and CMU-MOSEI have.
    """

    words: int = WORDS
    length: int | None = None
    text_file: str | None = None
    segments_file: str | None = None


MOVED = {field.name: f"raw.{field.name}" for field in fields(RawWords)}
"""Where the arguments are that these data sets had before `RawWords`; see `core.tooling.moved`."""


class Affect(FileBenchmark):
    """Segments of videos as series of visual, acoustic and word features, aligned to words; see `affect_kinds`.

    Layout: one pickle, a dictionary of `train`, `valid` and `test`, each a dictionary of `vision` (N, T, Dv), `audio` (N, T, Da),
    `text` (N, T, 300), `labels` (N, 1) or (N, 1, 1) and `id`; series are padded with zeros at the front. It is read without
    running code, and its arrays stay in the file. Any widths are read, so that older packs (20 and 5 columns) are too.

    As published: samples without a word are left out, negative infinity in `audio` is 0, and what comes before the first word of
    a sample is cut. What remains stands at the beginning of a view, and its number of steps is the length of all three
    modalities. Nothing is standardised unless `standardise` is set; then means and deviations are those of the training split.

    The vectors of words are of their meaning, and no typing error applies to them. With `text="words"` or `text="characters"`
    the modality `text` is what was said, as symbols, from a second file, in which the words of a sample are found by its `id`
    (see `molyneux.data.benchmarks.texts.spoken_words`); the samples, their splits and the other modalities are the same. A
    sample of which the file has no words lacks the modality. Symbols are those of the training texts; `Typos` and the changes of
    letters and words apply to characters, `Substitution`, `Dropout` and `WordSwap` to both.

    Args:
        folder: see `FileBenchmark`.
        file: name of the pickle.
        standardise: whether columns of `vision` and `audio` get mean 0 and standard deviation 1.
        text: the `features` of words, or raw `words` or `characters`.
        raw: settings of raw words.
    """

    default_file: ClassVar[str]
    """The published name of the pickle."""

    default_text_file: ClassVar[str]
    """The published name of the file of raw words."""

    widths: ClassVar[Mapping[str, int]]
    """Published columns of each modality."""

    timed: ClassVar[bool] = False
    """Whether words by video can be cut by the seconds of segments."""

    @moved(**{name: place for name, place in MOVED.items() if name != "segments_file"})
    def __init__(
        self,
        folder: Path | None = None,
        *,
        file: str | None = None,
        standardise: bool = False,
        text: TextUnit = "features",
        raw: RawWords | None = None,
    ) -> None:
        self._begin(folder, {"file": file, "standardise": standardise}, text, raw or RawWords())

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "default_file" in vars(cls):
            cls.files = (cls.default_file,)
            features = f"the features {cls.default_file} of MultiBench (https://github.com/pliang279/MultiBench)"
            cls.published_as = f"{features} for {cls.page}"

    def _begin(
        self, folder: Path | None, own: Mapping[str, Any], text: TextUnit, raw: RawWords, *, problems: Sequence[str] = ()
    ) -> None:
        """What every constructor does: check the settings, its own and those of raw texts."""
        cut = {} if raw.segments_file is None else {"segments_file": raw.segments_file}
        found = raw_text_problems(text, words=raw.words, length=raw.length, text_file=raw.text_file, **cut)
        found = [problem if problem.startswith("text:") else f"raw.{problem}" for problem in found]
        if cut and not self.timed:
            found.append(f"raw.segments_file: words of {self.name} are not cut by seconds: leave it out")
        named = {"text_file": raw.text_file or self.default_text_file, **cut}
        symbols = raw_text_settings(text, words=raw.words, length=raw.length, **named)
        FileBenchmark.__init__(self, folder, {**own, "file": own["file"] or self.default_file, **symbols}, [*problems, *found])

    @property
    def expected(self) -> tuple[str, ...]:
        """The pickle, and for raw texts their files."""
        return tuple(str(self._settings[name]) for name in ("file", "text_file", "segments_file") if name in self._settings)

    @property
    @abstractmethod
    def targets(self) -> tuple[Target, ...]:
        """What there is to predict."""

    @abstractmethod
    def answers(self, labels: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Values of the targets, and which of them are known, for labels (B,) as the file has them."""

    @abstractmethod
    def check_labels(self, labels: np.ndarray, where: str) -> None:
        """Raise DataError for labels (N,) out of range."""

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        path = paths[str(self._settings["file"])]
        mapped, found = read_pickle(path)
        parts = dict(zip(_PARTS, self.known(found, list(_PARTS.values()), path), strict=True))
        with mapped.from_beginning_to_end():
            read = {split: self._part(part, f"{path}, {_PARTS[split]}", mapped) for split, part in parts.items()}
        self._check_widths(read, path)
        rows, start = dict[Split, np.ndarray](), 0
        for split, part in read.items():
            rows[split] = start + np.flatnonzero(part.first < part.views["text"].shape[1])
            start += len(part.labels)
        train = read["train"].views
        raw = self._raw_text(read, rows["train"], paths) if "text" in self._settings else None
        shown = {name: Modality(name, "series", train[name].shape[1:]) for name in _SENSES}
        shown |= {} if raw is None else {"text": raw.modality}
        spec = Spec(tuple(shown.values()), targets=self.targets)
        with mapped.from_beginning_to_end():
            scales = self._scales(read["train"], mapped) if self._settings["standardise"] else {}
        return FileSamples(spec, rows, lambda rows: self._batch(rows, list(read.values()), scales, mapped, raw), [mapped])

    def _raw_text(self, read: Mapping[Split, _Part], train: np.ndarray, paths: Mapping[str, Path]) -> RawText:
        """What is said in the samples of all parts."""
        own, file = self._settings, paths[str(self._settings["file"])]
        ids = [
            segment
            for split, part in read.items()
            for segment in segments_of(part.ids, len(part.labels), f"{file}, {_PARTS[split]}, id")
        ]
        path = paths[str(own["text_file"])]
        texts = spoken_words(path, ids, segments=paths[str(own["segments_file"])] if "segments_file" in own else None)
        counted = np.isin(np.arange(len(ids)), train)
        if not any((texts[row] or "").strip() for row in train.tolist()):
            raise self.wrong(path, "words of at least one training sample", "none")
        return raw_text(texts, counted, unit=own["text"], words=own["words"], length=own["length"])

    def _part(self, found: Any, where: str, mapped: MappedFile) -> _Part:
        *views, labels = self.known(found, [*_SENSES, "labels"], where)
        arrays = {
            name: self.array(view, (None, None, None), f"{where}, {name}") for name, view in zip(_SENSES, views, strict=True)
        }
        shapes = {array.shape[:2] for array in arrays.values()}
        if len(shapes) > 1 or len(np.atleast_1d(labels)) != len(arrays["text"]):
            got = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) + f", labels {np.shape(labels)}"
            raise self.wrong(where, "as many samples and steps in all modalities, and a label for each sample", got)
        numbers = self.finite(np.asarray(labels).reshape(len(labels), -1)[:, 0], f"{where}, labels")
        self.check_labels(numbers, f"{where}, labels")
        return _Part(arrays, numbers, _first_words(arrays["text"], mapped), found.get("id"))

    def _check_widths(self, read: Mapping[Split, _Part], path: Path) -> None:
        for name in _SENSES:
            shapes = {part: found.views[name].shape[1:] for part, found in read.items()}
            if len(set(shapes.values())) > 1:
                got = ", ".join(f"{shape} in {_PARTS[split]}" for split, shape in shapes.items())
                raise self.wrong(path, f"{name} with the same steps and columns in all parts", got)

    def _scales(self, part: _Part, mapped: MappedFile) -> dict[str, Standardisation]:
        steps = part.views["text"].shape[1]

        def spoken(name: str) -> Any:
            for start in range(0, len(part.labels), _BLOCK):
                block = _without_infinity(part.views[name][start : start + _BLOCK].astype(np.float64))
                mapped.release()
                yield block[np.arange(steps) >= part.first[start : start + _BLOCK, None]]

        return {name: Standardisation.of(block for block in spoken(name) if len(block)) for name in ("vision", "audio")}

    def _batch(
        self,
        rows: np.ndarray,
        parts: list[_Part],
        scales: Mapping[str, Standardisation],
        mapped: MappedFile,
        raw: RawText | None,
    ) -> Batch:
        senses = _SENSES if raw is None else tuple(name for name in _SENSES if name != "text")
        ends = np.cumsum([len(part.labels) for part in parts])
        place = np.searchsorted(ends, rows, side="right")
        within = rows - np.concatenate([[0], ends])[place]
        steps = parts[0].views["text"].shape[1]
        first = np.empty(len(rows), np.int64)
        views = {name: np.zeros((len(rows), *parts[0].views[name].shape[1:]), np.float32) for name in senses}
        labels = np.empty(len(rows), np.float32)
        for number, part in enumerate(parts):
            own = np.flatnonzero(place == number)
            first[own], labels[own] = part.first[within[own]], part.labels[within[own]]
            for name in senses:
                values = mapped.take(part.views[name], within[own])
                values = _without_infinity(values) if name == "audio" else values
                views[name][own] = self.finite(values, f"{mapped.path}, {list(_PARTS.values())[number]}, {name}", within[own])
        moved = first[:, None] + np.arange(steps)
        for name, view in views.items():
            shown = scales[name](view) if name in scales else view
            kept = np.take_along_axis(shown, np.minimum(moved, steps - 1)[..., None], 1)
            views[name] = np.where((moved < steps)[..., None], kept, np.float32(0))
        answers, known = self.answers(labels)
        lengths = {name: np.array(steps - first) for name in senses}
        said = {} if raw is None else {"text": raw.symbols[rows]}
        present = {} if raw is None else raw.mask(rows)
        return Batch(
            tensors(**views, **said),
            present=tensors(**present),
            lengths=tensors(**lengths),
            targets=tensors(**answers),
            known=tensors(**known),
        )


def _first_words(text: np.ndarray, mapped: MappedFile) -> np.ndarray:
    """The first step with a word of each sample (N,); the number of steps where there is none, or where all values sum to 0."""
    first = np.empty(len(text), np.int64)
    for start in range(0, len(text), _BLOCK):
        block = text[start : start + _BLOCK]
        spoken = (block != 0).any(2)
        silent = ~spoken.any(1) | (block.astype(np.float64).sum((1, 2)) == 0)
        first[start : start + len(block)] = np.where(silent, text.shape[1], spoken.argmax(1))
        mapped.release()
    return first


def _without_infinity(values: np.ndarray) -> np.ndarray:
    return np.where(np.isneginf(values), values.dtype.type(0), values)
