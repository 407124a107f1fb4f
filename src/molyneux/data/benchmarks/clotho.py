"""Clotho: sounds of everyday life with captions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from molyneux.core import Batch, DataError, Modality, Spec, files, seeds
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, tensors
from molyneux.data.formats.restricted_pickle import read_pickle
from molyneux.data.sources import require_positive

DEVELOPMENT, EVALUATION = "clotho_dataset_dev", "clotho_dataset_eva"
WORDS = "WT_words_list.p"
BANDS = 64
FIRST, LAST = "<sos>", "<eos>"


class _Clip(NamedTuple):
    """A file: its path, the number of its time steps, and the numbers of the words (L,) of its caption."""

    path: Path
    steps: int
    words: np.ndarray


@final
class Clotho(FileBenchmark):
    """Sounds from Freesound with captions: 4,981 clips, five captions each; Drossos, Lipping and Virtanen (ICASSP, 2020).

    Layout: the folders `clotho_dataset_dev` and `clotho_dataset_eva` of `.npy` files, each a record with the fields `features`
    (T, 64), a log-mel spectrogram, and `words_ind` (L,), the numbers of the words of one caption, and perhaps `WT_words_list.p`,
    the list of words. Files are read without running code, each when it is asked for.

    Modalities are `audio`, a series (longest, 64), and `text`, the caption, as many symbols as the longest one has. Both begin at
    the start of a view and have lengths or an end (the published loader pads sounds at the front and repeats the last word
    behind captions). There is no target: the caption is what a model says of the sound. Symbols are the words of the list, where
    it is there, and their numbers otherwise, and one for padding.

    The evaluation files are the split `test`; of the sounds of the development files, a tenth, drawn from `split_seed`,
    validates, so that all captions of a sound are in one split. No caption is left out, also of the evaluation files.

    Args:
        folder: see `FileBenchmark`.
        split_seed: of the sounds that validate.
    """

    name = "clotho-v1"
    licence = "Tampere University licence, for research without commercial use; sounds as Freesound states"
    origin = "Drossos, Lipping and Virtanen (ICASSP 2020)"
    page = "https://zenodo.org/records/3490684"
    metric = "none usual here; SPIDEr elsewhere"
    sizes = "14,465 to train and validate / 5,225"
    folders = ("clotho", "clotho/data")
    files = ()
    optional = (WORDS,)
    published_as = f"the features that https://github.com/audio-captioning/clotho-dataset makes of {page}"

    def __init__(self, folder: Path | None = None, *, split_seed: int = 0) -> None:
        super().__init__(folder, {"split_seed": split_seed})
        require_positive(split_seed=split_seed + 1)

    def many(self) -> Sequence[Path]:
        """The files of clips."""
        return [path for part in (DEVELOPMENT, EVALUATION) for path in self.listed(f"{part}/*.npy")]

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        clips = [self._clip(path) for path in self.many()]
        symbols = self._symbols(paths, max(int(clip.words.max()) for clip in clips) + 1)
        longest = max(clip.steps for clip in clips)
        padding, length = len(symbols), max(len(clip.words) for clip in clips)
        captions = np.full((len(clips), length), padding, np.int64)
        for row, clip in enumerate(clips):
            captions[row, : len(clip.words)] = clip.words
        end = symbols.index(LAST) if LAST in symbols else None
        text = Modality("text", "text", (length,), "int64", (*symbols, "<pad>"), padding, None, end)
        spec = Spec((Modality("audio", "series", (longest, BANDS)), text))
        sizes = {"audio": np.array([clip.steps for clip in clips]), "text": np.array([len(clip.words) for clip in clips])}

        def read(rows: np.ndarray) -> Batch:
            audio = np.zeros((len(rows), longest, BANDS), np.float32)
            for place, row in enumerate(rows.tolist()):
                audio[place, : clips[row].steps] = self._features(clips[row].path)
            lengths = {name: size[rows] for name, size in sizes.items()}
            return Batch(tensors(audio=audio, text=captions[rows]), lengths=tensors(**lengths))

        return FileSamples(spec, self._rows([clip.path for clip in clips]), read)

    def _rows(self, files: Sequence[Path]) -> dict[str, np.ndarray]:
        tests = np.array([path.parent.name == EVALUATION for path in files])
        inverse = np.unique([_sound(path) for path in files], return_inverse=True)[1]
        developed = np.unique(inverse[~tests])
        order = seeds.generator(int(self._settings["split_seed"]), self.name, "splits").permutation(developed)
        held = np.isin(inverse, order[: max(1, len(order) // 10)]) & ~tests
        return {"train": np.flatnonzero(~tests & ~held), "validation": np.flatnonzero(held), "test": np.flatnonzero(tests)}

    def _clip(self, path: Path) -> _Clip:
        record = self._record(path)
        words = self.finite(self.array(_item(record["words_ind"]), (None,), f"{path}, words_ind"), f"{path}, words_ind")
        if not len(words) or (words < 0).any() or (words % 1).any():
            raise self.wrong(f"{path}, words_ind", "numbers of words from 0", f"{words[:5].tolist()}")
        features = self.array(_item(record["features"]), (None, BANDS), f"{path}, features")
        return _Clip(path, len(features), words.astype(np.int64))

    def _features(self, path: Path) -> np.ndarray:
        return self.finite(_item(self._record(path)["features"]), f"{path}, features")

    def _record(self, path: Path) -> Any:
        """The record of a file, whose objects are arrays."""
        try:
            with files.open_plain(path) as stream:
                version = np.lib.format.read_magic(stream)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                dtype, start = read(stream)[2], stream.tell()
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: expected a .npy file, got something else ({error}): restore the file") from error
        names = dtype.names or ()
        if not dtype.hasobject or not {"features", "words_ind"} <= set(names):
            raise self.wrong(path, "a record with features and words_ind", f"{', '.join(names) or dtype}")
        found = read_pickle(path, offset=start)[1]
        if not isinstance(found, np.ndarray) or found.dtype.names is None or found.size != 1:
            raise self.wrong(path, "one record", f"{type(found).__name__}")
        return found.reshape(-1)[0]

    def _symbols(self, paths: Mapping[str, Path], count: int) -> tuple[str, ...]:
        if WORDS not in paths:
            return tuple(f"word {number}" for number in range(count))
        words = read_pickle(paths[WORDS])[1]
        if not isinstance(words, list) or len(words) < count or len(set(words)) < len(words):
            raise self.wrong(
                paths[WORDS], f"a list of at least {count} different words", f"{type(words).__name__} of {len(words)}"
            )
        return tuple(map(str, words))


def _sound(path: Path) -> str:
    """The sound that a file is about: its name without the number of the caption."""
    return f"{path.parent.name}/{re.sub(r'_[0-9]+$', '', path.stem)}"


def _item(found: Any) -> Any:
    """The array in a field, which may stand in an array of one object."""
    return found.item() if isinstance(found, np.ndarray) and found.dtype == object and found.size == 1 else found
