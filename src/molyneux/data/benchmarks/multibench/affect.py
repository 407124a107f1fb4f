"""Words, faces and voices of speakers in videos: MUStARD, CMU-MOSI, UR-FUNNY and CMU-MOSEI, which share one layout."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, final

import numpy as np

from molyneux.core import Batch, Modality, Spec, Target, choice_problems
from molyneux.data.benchmarks.file_benchmark import FileBenchmark, Samples, Standardisation, tensors
from molyneux.data.dataset import Split
from molyneux.data.mapped_files import MappedFile
from molyneux.data.restricted_pickle import read_pickle

_PARTS: Mapping[Split, str] = {"train": "train", "validation": "valid", "test": "test"}
_SENSES = ("vision", "audio", "text")
_STEPS = 50
_BLOCK = 256

Neutral = Literal["unknown", "negative"]
"""What the sign of a sentiment of 0 is."""


@dataclass(frozen=True)
class _Part:
    """One part of the file: arrays (N, T, D) by modality, labels (N,), and the first word of each sample (N,)."""

    views: Mapping[str, np.ndarray]
    labels: np.ndarray
    first: np.ndarray


class Affect(FileBenchmark):
    """Segments of videos as series of visual, acoustic and word features, aligned to words; see its four kinds.

    Layout: one pickle, a dictionary of `train`, `valid` and `test`, each a dictionary of `vision` (N, T, Dv), `audio` (N, T, Da),
    `text` (N, T, 300), `labels` (N, 1) or (N, 1, 1) and `id`; series are padded with zeros at the front. It is read without
    running code, and its arrays stay in the file. Any widths are read, so that older packs (20 and 5 columns) are too.

    As published: samples without a word are left out, negative infinity in `audio` is 0, and what comes before the first word of
    a sample is cut. What remains stands at the beginning of a view, and its number of steps is the length of all three
    modalities. Nothing is standardised unless `standardise` is set; then means and deviations are those of the training split.

    Args:
        folder: see `FileBenchmark`.
        file: name of the pickle.
        standardise: whether columns of `vision` and `audio` get mean 0 and standard deviation 1.
    """

    default_file: ClassVar[str]
    """The published name of the pickle."""

    widths: ClassVar[Mapping[str, int]]
    """Published columns of each modality."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        file: str | None = None,
        standardise: bool = False,
        settings: Mapping[str, Any] | None = None,
        problems: list[str] | None = None,
    ) -> None:
        own = {} if settings is None else settings
        super().__init__(folder, {"file": file or self.default_file, "standardise": standardise, **own}, problems or [])

    @property
    def expected(self) -> tuple[str, ...]:
        """The pickle."""
        return (str(self._settings["file"]),)

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

    def open(self, paths: Mapping[str, Path]) -> Samples:
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
        spec = Spec(
            tuple(Modality(name, "series", train[name].shape[1:]) for name in _SENSES),
            targets=self.targets,
        )
        with mapped.from_beginning_to_end():
            scales = self._scales(read["train"], mapped) if self._settings["standardise"] else {}
        return Samples(spec, rows, lambda rows: self._batch(rows, list(read.values()), scales, mapped), [mapped])

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
        return _Part(arrays, numbers, _first_words(arrays["text"], mapped))

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

    def _batch(self, rows: np.ndarray, parts: list[_Part], scales: Mapping[str, Standardisation], mapped: MappedFile) -> Batch:
        ends = np.cumsum([len(part.labels) for part in parts])
        place = np.searchsorted(ends, rows, side="right")
        within = rows - np.concatenate([[0], ends])[place]
        steps = parts[0].views["text"].shape[1]
        first = np.empty(len(rows), np.int64)
        views = {name: np.zeros((len(rows), *parts[0].views[name].shape[1:]), np.float32) for name in _SENSES}
        labels = np.empty(len(rows), np.float32)
        for number, part in enumerate(parts):
            own = np.flatnonzero(place == number)
            first[own], labels[own] = part.first[within[own]], part.labels[within[own]]
            for name in _SENSES:
                values = mapped.take(part.views[name], within[own])
                values = _without_infinity(values) if name == "audio" else values
                views[name][own] = self.finite(values, f"{mapped.path}, {list(_PARTS.values())[number]}, {name}", within[own])
        moved = first[:, None] + np.arange(steps)
        for name, view in views.items():
            shown = scales[name](view) if name in scales else view
            kept = np.take_along_axis(shown, np.minimum(moved, steps - 1)[..., None], 1)
            views[name] = np.where((moved < steps)[..., None], kept, np.float32(0))
        answers, known = self.answers(labels)
        lengths = {name: np.array(steps - first) for name in _SENSES}
        return Batch(tensors(**views), lengths=tensors(**lengths), targets=tensors(**answers), known=tensors(**known))

    @classmethod
    def write_twin(cls, folder: Path, size: int, rng: np.random.Generator) -> Self:
        """See `FileBenchmark`."""
        counts = {"train": size - 2 * (size // 5), "valid": size // 5, "test": size // 5}
        with (folder / cls.default_file).open("wb") as stream:
            pickle.dump({part: cls._twin_part(count, rng) for part, count in counts.items()}, stream, protocol=4)
        return cls(folder=folder)

    @classmethod
    def _twin_part(cls, count: int, rng: np.random.Generator) -> dict[str, Any]:
        labels = cls.twin_labels(count, rng)
        spoken = np.arange(_STEPS) >= rng.integers(0, _STEPS - 5, (count, 1))
        part: dict[str, Any] = {"labels": labels, "id": [f"video{number}" for number in range(count)]}
        signal = labels.reshape(count, 1, 1) / max(np.abs(labels).max(), 1.0)
        for name, width in cls.widths.items():
            noise = rng.normal(size=(count, _STEPS, width)) + 0.5 * signal
            part[name] = (noise * spoken[..., None]).astype(np.float32)
        return part

    @classmethod
    @abstractmethod
    def twin_labels(cls, count: int, rng: np.random.Generator) -> np.ndarray:
        """Random labels in the published shape."""


class _Sentiment(Affect):
    """Sentiment from -3 to 3, and its sign."""

    def __init__(
        self, folder: Path | None = None, *, file: str | None = None, standardise: bool = False, neutral: Neutral = "unknown"
    ) -> None:
        problems = choice_problems(neutral=(neutral, ("unknown", "negative")))
        super().__init__(folder=folder, file=file, standardise=standardise, settings={"neutral": neutral}, problems=problems)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The number `sentiment` and the class `sign`."""
        return Target("sentiment", "number", bounds=(-3.0, 3.0)), Target("sign", "class", ("negative", "positive"))

    def answers(self, labels: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """See `Affect`."""
        known = {} if self._settings["neutral"] == "negative" else {"sign": labels != 0}
        return {"sentiment": labels, "sign": (labels > 0).astype(np.int64)}, known

    def check_labels(self, labels: np.ndarray, where: str) -> None:
        """See `Affect`."""
        if (wrong := np.flatnonzero(np.abs(labels) > 3)).size:
            raise self.wrong(where, "sentiments from -3 to 3", f"{labels[wrong[0]]:g} in sample {wrong[0]}")

    @classmethod
    def twin_labels(cls, count: int, rng: np.random.Generator) -> np.ndarray:
        """See `Affect`."""
        return np.round(rng.uniform(-3, 3, (count, 1, 1)), 1)


class _Classified(Affect):
    """One of two classes."""

    target: ClassVar[Target]

    def __init__(self, folder: Path | None = None, *, file: str | None = None, standardise: bool = False) -> None:
        super().__init__(folder=folder, file=file, standardise=standardise)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The class."""
        return (self.target,)

    def answers(self, labels: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """See `Affect`."""
        return {self.target.name: labels.astype(np.int64)}, {}

    def check_labels(self, labels: np.ndarray, where: str) -> None:
        """See `Affect`."""
        self.codes(labels, 2, where)

    @classmethod
    def twin_labels(cls, count: int, rng: np.random.Generator) -> np.ndarray:
        """See `Affect`."""
        return rng.integers(0, 2, (count, 1)).astype(np.float64)


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


@final
class MUStARD(_Classified):
    """Scenes of television series, sarcastic or not: 690 segments; Castro et al. (ACL 2019).

    See `Affect` for the layout, views and settings. The file is `sarcasm.pkl`; the target is the class `sarcasm`.
    """

    name = "mustard-v1"
    licence = "MIT"
    origin = "Castro, Hazarika, Pérez-Rosas, Zimmermann, Mihalcea and Poria (ACL 2019)"
    page = "https://github.com/soujanyaporia/MUStARD"
    metric = "accuracy"
    sizes = "414 / 138 / 138"
    folders = ("mustard", "sarcasm")
    default_file = "sarcasm.pkl"
    files = (default_file,)
    published_as = f"the features sarcasm.pkl of MultiBench (https://github.com/pliang279/MultiBench) for {page}"
    widths: ClassVar[Mapping[str, int]] = {"vision": 371, "audio": 81, "text": 300}
    target = Target("sarcasm", "class", ("sincere", "sarcastic"))


@final
class URFunny(_Classified):
    """Punchlines of TED talks, funny or not: 16,514 segments; Hasan et al. (EMNLP 2019).

    See `Affect` for the layout, views and settings. The file is `humor.pkl`; the target is the class `humour`.
    """

    name = "ur-funny-v1"
    licence = "none stated; ask its authors"
    origin = "Hasan, Rahman, Zadeh, Zhong, Tanveer, Morency and Hoque (EMNLP 2019)"
    page = "https://github.com/ROC-HCI/UR-FUNNY"
    metric = "accuracy"
    sizes = "10,598 / 2,626 / 3,290"
    folders = ("ur-funny", "humor")
    default_file = "humor.pkl"
    files = (default_file,)
    published_as = f"the features humor.pkl of MultiBench (https://github.com/pliang279/MultiBench) for {page}"
    widths: ClassVar[Mapping[str, int]] = {"vision": 371, "audio": 81, "text": 300}
    target = Target("humour", "class", ("serious", "funny"))


@final
class CMUMOSI(_Sentiment):
    """Opinions about films: 2,199 segments with their sentiment; Zadeh et al. (IEEE Intelligent Systems, 2016).

    See `Affect` for the layout, views and settings. The file is `mosi_raw.pkl`. Targets are the number `sentiment` from -3 to 3
    and the class `sign`, which is unknown where the sentiment is 0, as in the usual accuracy; with `neutral="negative"` it is
    negative there, as in the published training.

    Args:
        folder: see `Affect`.
        file: see `Affect`.
        standardise: see `Affect`.
        neutral: what the sign of a sentiment of 0 is.
    """

    name = "cmu-mosi-v1"
    licence = "of the CMU Multimodal SDK, for research"
    origin = "Zadeh, Zellers, Pincus and Morency (IEEE Intelligent Systems 31, 2016)"
    page = "http://multicomp.cs.cmu.edu/resources/cmu-mosi-dataset/"
    metric = "accuracy of the sign without zeros, MAE"
    sizes = "1,284 / 229 / 686"
    folders = ("cmu-mosi", "mosi")
    default_file = "mosi_raw.pkl"
    files = (default_file,)
    published_as = f"the features mosi_raw.pkl of MultiBench (https://github.com/pliang279/MultiBench) for {page}"
    widths: ClassVar[Mapping[str, int]] = {"vision": 35, "audio": 74, "text": 300}


@final
class CMUMOSEI(_Sentiment):
    """Opinions of many speakers: 22,777 segments with their sentiment; Zadeh et al. (ACL 2018).

    See `Affect` for the layout, views and settings, and `CMUMOSI` for the targets. The file is `mosei_raw.pkl`.

    Args:
        folder: see `Affect`.
        file: see `Affect`.
        standardise: see `Affect`.
        neutral: what the sign of a sentiment of 0 is.
    """

    name = "cmu-mosei-v1"
    licence = "of the CMU Multimodal SDK, for research"
    origin = "Zadeh, Liang, Poria, Cambria and Morency (ACL 2018)"
    page = "http://multicomp.cs.cmu.edu/resources/cmu-mosei-dataset/"
    metric = "accuracy of the sign without zeros, MAE"
    sizes = "16,265 / 1,869 / 4,643"
    folders = ("cmu-mosei", "mosei")
    default_file = "mosei_raw.pkl"
    files = (default_file,)
    published_as = f"the features mosei_raw.pkl of MultiBench (https://github.com/pliang279/MultiBench) for {page}"
    widths: ClassVar[Mapping[str, int]] = {"vision": 35, "audio": 74, "text": 300}
