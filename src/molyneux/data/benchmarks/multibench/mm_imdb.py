"""MM-IMDb: posters and plots of films with their genres."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self, final

import numpy as np

from molyneux.core import Batch, Modality, Spec, Target, choice_problems
from molyneux.data.benchmarks.file_benchmark import FileBenchmark, Samples, in_order, tensors
from molyneux.data.hdf5_files import Hdf5Rows, require_h5py

_FILE = "multimodal_imdb.hdf5"
_FILMS, _TRAIN, _VALIDATION = 25_959, 15_552, 18_160
_GENRES, _WORDS, _FEATURES = 23, 300, 4096

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

    Args:
        folder: see `FileBenchmark`.
        picture: `features` of a VGG net, or the `poster`.
        genres: names of the 23 columns.
    """

    name = "mm-imdb-v1"
    licence = "MIT (code); films' texts and posters belong to their owners"
    origin = "Arevalo, Solorio, Montes-y-Gómez and González (ICLR workshop, 2017)"
    page = "https://github.com/johnarevalo/gmu-mmimdb"
    metric = "micro and macro F1"
    sizes = "15,552 / 2,608 / 7,799"
    folders = ("mm-imdb", "mmimdb")
    files = (_FILE,)
    published_as = f"the file that {page} makes (its data page is http://lisi1.unal.edu.co/mmimdb/)"

    def __init__(
        self, folder: Path | None = None, *, picture: Picture = "features", genres: tuple[str, ...] | None = None
    ) -> None:
        problems = choice_problems(picture=(picture, ("features", "poster")))
        if genres is not None and (len(genres) != _GENRES or len(set(genres)) != _GENRES):
            problems.append(f"genres: expected {_GENRES} different names, got {len(genres)}")
        super().__init__(folder, {"picture": picture, "genres": None if genres is None else tuple(genres)}, problems)

    def open(self, paths: Mapping[str, Path]) -> Samples:
        """See `FileBenchmark`."""
        path = paths[_FILE]
        genres = Hdf5Rows(path, "genres", (None, _GENRES))
        text = Hdf5Rows(path, "features", (len(genres), _WORDS))
        if self._settings["picture"] == "features":
            image = Hdf5Rows(path, "vgg_features", (len(genres), _FEATURES))
            shown = Modality("image", "tabular", (_FEATURES,))
        else:
            image = Hdf5Rows(path, "images", (len(genres), 3, None, None))
            shown = Modality("image", "image", image.shape[1:], "uint8" if image.dtype == np.uint8 else "float32")
        names = self._settings["genres"] or tuple(f"genre {column}" for column in range(_GENRES))
        spec = Spec((Modality("text", "tabular", (_WORDS,)), shown), targets=(Target("genres", "multilabel", names),))
        count = len(genres)

        def read(rows: np.ndarray) -> Batch:
            pixels, labels = image.take(rows), genres.take(rows)
            if not np.isin(labels, (0, 1)).all():
                row, column = np.argwhere(~np.isin(labels, (0, 1)))[0]
                raise self.wrong(f"{path}, genres", "0 or 1", f"{labels[row, column]} in sample {rows[row]}, column {column}")
            views = {
                "text": self.finite(text.take(rows), f"{path}, features", rows),
                "image": pixels if shown.dtype == "uint8" else self.finite(pixels, f"{path}, {self._settings['picture']}", rows),
            }
            return Batch(tensors(**views), targets=tensors(genres=labels.astype(np.uint8)))

        cuts = (count * _TRAIN // _FILMS, count * _VALIDATION // _FILMS)
        return Samples(spec, in_order(train=cuts[0], validation=cuts[1], test=count), read)

    @classmethod
    def write_twin(cls, folder: Path, size: int, rng: np.random.Generator) -> Self:
        """See `FileBenchmark`."""
        genres = (rng.random((size, _GENRES)) < 0.15).astype(np.int32)
        with require_h5py().File(folder / _FILE, "w") as file:
            for name, width in (("features", _WORDS), ("vgg_features", _FEATURES)):
                file[name] = (rng.normal(size=(size, width)) + genres @ rng.normal(size=(_GENRES, width))).astype(np.float32)
            file["genres"] = genres
            file["images"] = rng.integers(0, 256, (size, 3, 32, 20), np.uint8)
            file["imdb_ids"] = np.array([f"{number:07}".encode() for number in range(size)])
        return cls(folder=folder)
