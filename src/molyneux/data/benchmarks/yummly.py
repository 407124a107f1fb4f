"""Yummly-28K: recipes as pictures and texts, and the kitchen that each is of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import Batch, Modality, Spec, StoreError, Target, store
from molyneux.core.image_files import in_threads, read_image
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, in_order, tensors
from molyneux.data.benchmarks.texts.text_samples import word_view
from molyneux.data.formats.restricted_pickle import read_pickle

LABELS, TEXTS = "fid_to_label.pkl", "fid_to_text.pkl"


@final
class Yummly(FileBenchmark):
    """Recipes with a picture, a text and a kind of kitchen: 27,638 recipes; Min et al. (IEEE Transactions on Multimedia, 2017).

    Layout: the pickles `fid_to_label.pkl` and `fid_to_text.pkl`, dictionaries of names and texts by the number of a recipe, and
    the pictures `images/img<number>.jpg`. Pickles are read without running code. `word2index.pkl` is not used: symbols are the
    most frequent words of the training texts, in lower case, and other words are `<unk>`.

    Modalities are `image`, decoded when it is asked for, and `text`. The target is the class `label`, in alphabetical order (in
    the published loader it depends on the hash seed of the process). Splits are ranges of the dictionary's order, as published:
    80 % train, 10 % validate, the rest tests.

    Args:
        folder: see `FileBenchmark`.
        image_size: height and width of the views in pixels.
        words: the most frequent words that have a symbol.
        length: symbols of a text, at which longer ones are cut.
    """

    name = "yummly-28k-v1"
    licence = "not stated; ask its authors"
    origin = "Min, Jiang, Sang, Wang, Liu and Herranz (IEEE Transactions on Multimedia 19, 2017)"
    page = "the authors of 'Being a Supercook' (IEEE Transactions on Multimedia 19, 2017)"
    metric = "none usual"
    sizes = "80 % / 10 % / 10 % of 27,638"
    folders = ("yummly-28k", "yummly")
    files = (LABELS, TEXTS)
    published_as = f"the files that MultiBench (https://github.com/pliang279/MultiBench) made of the data of {page}"

    def __init__(
        self, folder: Path | None = None, *, image_size: tuple[int, int] = (128, 128), words: int = 20_000, length: int = 256
    ) -> None:
        sound = len(image_size) == 2 and min(image_size) >= 1
        problems = [] if sound else [f"image_size: expected a height and a width of at least 1 pixel, got {list(image_size)}"]
        problems += [f"{name}: expected at least 1, got {n}" for name, n in (("words", words), ("length", length)) if n < 1]
        super().__init__(folder, {"image_size": tuple(image_size), "words": words, "length": length}, problems)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        labels, texts = (read_pickle(paths[name])[1] for name in (LABELS, TEXTS))
        self.known(labels, [], paths[LABELS])
        recipes = list(labels)
        self.known(texts, recipes[:1], paths[TEXTS])
        if missing := [recipe for recipe in recipes if recipe not in texts]:
            raise self.wrong(paths[TEXTS], f"a text for each of the {len(recipes)} recipes", f"none for {missing[0]!r}")
        if odd := [recipe for recipe in recipes if not isinstance(texts[recipe], str)]:
            raise self.wrong(paths[TEXTS], "texts", f"{type(texts[odd[0]]).__name__} for {odd[0]!r}")
        names = sorted({str(label) for label in labels.values()})
        if len(names) < 2:
            raise self.wrong(paths[LABELS], "at least two different labels", f"{len(names)}")
        codes = np.array([names.index(str(labels[recipe])) for recipe in recipes], np.int64)
        cuts = (int(len(recipes) * 0.8), int(len(recipes) * 0.8) + int(len(recipes) * 0.1))
        training = np.arange(len(recipes)) < cuts[0]
        said = [texts[recipe] for recipe in recipes]
        text, symbols = word_view(
            said, name="text", counted=training, fit=training, words=self._settings["words"], length=self._settings["length"]
        )
        height, width = self._settings["image_size"]
        shape = (3, height, width)
        spec = Spec((Modality("image", "image", shape, "uint8"), text), targets=(Target("label", "class", tuple(names)),))

        def read(rows: np.ndarray) -> Batch:
            shown = list(in_threads(partial(self._picture, shape), [recipes[row] for row in rows.tolist()]))
            pixels = np.stack(shown) if shown else np.empty((0, *shape), np.uint8)
            return Batch(tensors(image=pixels, text=symbols[rows]), targets=tensors(label=codes[rows]))

        return FileSamples(spec, in_order(train=cuts[0], validation=cuts[1], test=len(recipes)), read)

    def _picture(self, shape: tuple[int, int, int], recipe: object) -> np.ndarray:
        path = self.folder / "images" / f"img{recipe}.jpg"
        if not store.is_file(path):
            raise StoreError(f"expected the picture {path}, which is not there: {self.advice}")
        return read_image(path, shape, str(path))
