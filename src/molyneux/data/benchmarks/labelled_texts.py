"""Published texts with a class each, as a world whose samples lie in files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from molyneux.core import Batch, ConfigError, Reader, Spec, seeds
from molyneux.data.benchmarks.division import TEST, TRAIN
from molyneux.data.benchmarks.files import dataset_folder, digests, existing
from molyneux.data.benchmarks.text_content import CLASSES, Content, Publication, TextSettings, load_content
from molyneux.data.worlds.finite import FiniteWorld
from molyneux.data.worlds.world import Split


class LabelledTexts(FiniteWorld):
    """Texts of a published data set with their class, as the factor `label` and as the target.

    The files are those of Zhang, Zhao and LeCun, "Character-level Convolutional Networks for Text Classification" (NeurIPS 2015):
    `train.csv` and `test.csv` without a line of titles, each row a class number from 1 and quoted fields, and `classes.txt`.
    Nothing is downloaded. Files are read when samples are first asked for, and then kept in memory as symbols.

    A text is its fields one after the other, in lower case, cut into words; every character that is neither letter nor digit is
    a word by itself. A view is the first `length` words, `<eos>` if there is room for it, and padding. The vocabulary is
    that of the most frequent words of the training texts; other words are `<unk>`.

    Which rows a split has is drawn class by class from `split_seed`: see `division.divided`. By default 10,000, 1,000 and 1,000
    of each class are used, as in Zhang, Prokhorov and Shareghi (RepL4NLP 2021). Where there is only a `test.csv`, it is divided:
    60 % of each class train, 20 % validate, 20 % test. The seed of a source is the order in which a split is read.

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
        fields = self.published.fields if fields is None else fields if isinstance(fields, str) else tuple(fields)
        limits = None if per_class is None else (*per_class,)
        self._folder, self._settings = folder, TextSettings(fields, words, length, limits, split_seed)
        if problems := self._settings.problems(self.published.fields):
            raise ConfigError(problems)

    @property
    @abstractmethod
    def published(self) -> Publication:
        """What the owners publish."""

    @property
    def name(self) -> str:
        """Name with version."""
        return self.published.name

    @property
    def folder(self) -> Path:
        """Where the files are looked for.

        Raises:
            ConfigError: no folder was named, and `MOLYNEUX_DATA` is not set.
        """
        return dataset_folder(self._folder, self.published.folders)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data, with a hash of each file in place of the folder."""
        return {**self._settings.plain(), "files": digests(existing(self.folder, (TRAIN, TEST, CLASSES)))}

    @property
    def spec(self) -> Spec:
        """The modality `text`, the factor `label` and the target `label`; errors as `sizes`."""
        return self._content.spec

    @property
    def sizes(self) -> Mapping[Split, int]:
        """How many samples each split has.

        Raises:
            StoreError: `test.csv` or `classes.txt` is not there. DataError: a file does not hold what it should.
        """
        return {split: len(labels) for split, labels in self._content.labels.items()}

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples at these positions (B,) of a split.

        Raises:
            ConfigError: the split `heldout`, or one that does not exist. DataError: a position outside the split.
        """
        rows = _order(self.name, split, self.count(split), seed)[self.positions(indices, split)]
        labels = torch.from_numpy(self._content.labels[split][rows])
        ids = self._content.ids[split][rows].astype(self.spec.modality("text").dtype)
        return Batch({"text": torch.from_numpy(ids)}, factors=labels[:, None], targets={"label": labels})

    def readers(self) -> Mapping[str, Reader]:
        """None: nobody reads the class of a text exactly."""
        return {}

    def __reduce__(self) -> tuple[Callable[[], LabelledTexts], tuple[()]]:
        """Travel to other processes as settings, not as the content of the files."""
        return partial(type(self), folder=self._folder, **vars(self._settings)), ()

    @cached_property
    def _content(self) -> Content:
        return load_content(self.folder, self.published, self._settings)


@lru_cache(maxsize=8)
def _order(name: str, split: Split, size: int, seed: int) -> np.ndarray:
    """The order in which a source of this seed reads a split: a permutation of its samples, (size,)."""
    order = seeds.generator(seed, name, split, "order").permutation(size)
    order.setflags(write=False)
    return order
