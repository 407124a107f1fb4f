"""MM-IMDb: posters and plots of films with their genres."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, final

import numpy as np

from molyneux.core import Batch, Modality, Spec, Target, choice_problems
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, in_order, tensors
from molyneux.data.benchmarks.texts.raw_texts import WORDS, RawText, TextUnit, raw_text, raw_text_problems, raw_text_settings
from molyneux.data.dataset import Split
from molyneux.data.formats.hdf5_files import Hdf5Rows, Hdf5Texts, open_hdf5
from molyneux.data.formats.json_files import read_document

FILE, PLOTS = "multimodal_imdb.hdf5", "dataset/*.json"
_FILMS, _TRAIN, _VALIDATION = 25_959, 15_552, 18_160
GENRES, TEXT_WIDTH, FEATURES = 23, 300, 4096
_LENGTH = 512
"""Symbols of a raw plot, unless said otherwise."""

_Values = Callable[[np.ndarray], np.ndarray]

Picture = Literal["features", "poster"]
"""What shows the poster of a film."""


@final
class MMIMDb(FileBenchmark):
    """Plots and posters of 25,959 films with 23 genres; Arevalo et al. (ICLR workshop, 2017).

    Layout: `multimodal_imdb.hdf5` with `features` (N, 300), the mean of the word2vec vectors of a plot; `vgg_features` (N, 4096)
    of its poster; `images` (N, 3, H, W), the poster itself; and `genres` (N, 23). Rows are read when they are asked for; the
    file is never in memory as a whole.

    Modalities are `text` and `image`, tabular, or the poster itself as an image. The target is `genres`, any number of them; the
    file has no names of its columns. Splits are ranges of rows as published: the first 15,552 train, the next 2,608 validate,
    the rest tests; files of other sizes are cut in the same proportion.

    The vector of a plot is a mean, and no typing error applies to it. With `text="words"` or `text="characters"` the modality
    `text` is the plot itself, as symbols. Plots are not in the HDF5 file but in `dataset/<id>.json` of the archive
    `mmimdb.tar.gz` of the data page; a film is found by `imdb_ids` of the HDF5 file, and of several plots the longest is taken,
    as for the vectors. A film without a file or a plot lacks the modality. Symbols are those of the training plots; `Typos` and
    the changes of letters and words apply to characters, `Substitution`, `Dropout` and `WordSwap` to both.

    Args:
        folder: see `FileBenchmark`.
        picture: `features` of a VGG net, or the `poster`.
        genres: names of the 23 columns.
        text: `features`, or raw `words` or `characters`.
        words: the most frequent words that have a symbol; others are `<unk>`.
        length: symbols of a plot, at which longer ones are cut; 512 by default.
    """

    name = "mm-imdb-v1"
    licence = "MIT (code); films' texts and posters belong to their owners"
    origin = "Arevalo, Solorio, Montes-y-Gómez and González (ICLR workshop, 2017)"
    page = "https://github.com/johnarevalo/gmu-mmimdb"
    metric = "micro and macro F1"
    sizes = "15,552 / 2,608 / 7,799"
    folders = ("mm-imdb", "mmimdb")
    files = (FILE,)
    published_as = f"the file that {page} makes (its data page is http://lisi1.unal.edu.co/mmimdb/)"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        picture: Picture = "features",
        genres: tuple[str, ...] | None = None,
        text: TextUnit = "features",
        words: int = WORDS,
        length: int | None = None,
    ) -> None:
        problems = choice_problems(picture=(picture, ("features", "poster")))
        if genres is not None and (len(genres) != GENRES or len(set(genres)) != GENRES):
            problems.append(f"genres: expected {GENRES} different names, got {len(genres)}")
        problems += raw_text_problems(text, words=words, length=length)
        raw = raw_text_settings(text, words=words, length=length or _LENGTH)
        super().__init__(folder, {"picture": picture, "genres": None if genres is None else tuple(genres), **raw}, problems)

    def many(self) -> Sequence[Path]:
        """The files of plots, where they are read."""
        return self.listed(PLOTS) if "text" in self._settings else ()

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        path = paths[FILE]
        genres = Hdf5Rows(path, "genres", (None, GENRES))
        text, said, mask = self._text(path, len(genres))
        if self._settings["picture"] == "features":
            image = Hdf5Rows(path, "vgg_features", (len(genres), FEATURES))
            shown = Modality("image", "tabular", (FEATURES,))
        else:
            image = Hdf5Rows(path, "images", (len(genres), 3, None, None))
            shown = Modality("image", "image", image.shape[1:], "uint8" if image.dtype == np.uint8 else "float32")
        names = self._settings["genres"] or tuple(f"genre {column}" for column in range(GENRES))
        spec = Spec((text, shown), targets=(Target("genres", "multilabel", names),))

        def read(rows: np.ndarray) -> Batch:
            pixels, labels = image.take(rows), genres.take(rows)
            if not np.isin(labels, (0, 1)).all():
                row, column = np.argwhere(~np.isin(labels, (0, 1)))[0]
                raise self.wrong(f"{path}, genres", "0 or 1", f"{labels[row, column]} in sample {rows[row]}, column {column}")
            views = {
                "text": said(rows),
                "image": pixels if shown.dtype == "uint8" else self.finite(pixels, f"{path}, {self._settings['picture']}", rows),
            }
            return Batch(tensors(**views), present=tensors(**mask(rows)), targets=tensors(genres=labels.astype(np.uint8)))

        return FileSamples(spec, _splits(len(genres)), read)

    def _text(self, path: Path, count: int) -> tuple[Modality, _Values, Callable[[np.ndarray], dict[str, np.ndarray]]]:
        """The modality `text`, and what gives its values and its presence masks at rows (B,)."""
        if "text" in self._settings:
            plots = self._plots(path, count)
            return plots.modality, lambda rows: plots.symbols[rows], plots.mask
        vectors = Hdf5Rows(path, "features", (count, TEXT_WIDTH))
        modality = Modality("text", "tabular", (TEXT_WIDTH,))
        return modality, lambda rows: self.finite(vectors.take(rows), f"{path}, features", rows), lambda rows: {}

    def _plots(self, path: Path, count: int) -> RawText:
        """The plots of the films of the HDF5 file."""
        with open_hdf5(path) as file:
            ids = Hdf5Texts(path).read(file, "imdb_ids", str(path))
        if len(ids) != count:
            raise self.wrong(f"{path}, imdb_ids", f"an id for each of the {count} films", f"{len(ids)}")
        files = {file.stem: file for file in self.many()}
        texts = [self._plot(files[film]) if film in files else None for film in ids]
        train = np.arange(count) < len(_splits(count)["train"])
        if not any(text is not None and text.strip() for text, counted in zip(texts, train, strict=True) if counted):
            raise self.wrong(self.folder / PLOTS, f"a plot of at least one training film, such as {ids[0]}.json", "none")
        own = self._settings
        return raw_text(texts, train, unit=own["text"], words=own["words"], length=own["length"])

    def _plot(self, path: Path) -> str | None:
        """The longest plot of a film."""
        found = read_document(path)
        plots = found.get("plot", []) if isinstance(found, Mapping) else None
        if not isinstance(plots, list) or not all(isinstance(plot, str) for plot in plots):
            raise self.wrong(path, "an object with a list of texts 'plot'", type(found if plots is None else plots).__name__)
        return max(plots, key=len, default=None)


def _splits(count: int) -> dict[Split, np.ndarray]:
    """Rows of each split of so many films."""
    return in_order(train=count * _TRAIN // _FILMS, validation=count * _VALIDATION // _FILMS, test=count)
