"""The samples of an experiment, as sources."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from molyneux.core import ConfigError, Source, Spec, SpecError, StoreError
from molyneux.data import Missing, StoredSource, Subset, Views
from molyneux.run.sections import DataSettings

Split = Literal["heldout", "test", "train", "validation"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
"""The splits of every experiment."""


class Samples:
    """Where the samples of each split come from.

    Args:
        settings: which and how many.
        seed: root seed of the world's streams and of what is missing.
    """

    def __init__(self, settings: DataSettings, seed: int) -> None:
        self.settings, self.seed = settings, seed

    def whole(self, split: Split) -> Source:
        """The samples of a split with everything that was drawn.

        Raises:
            StoreError, CorruptFileError: stored samples are not there or damaged. ConfigError: there are too few.
        """
        dataset: Any = self.settings.dataset
        size = self.asked(split)
        if self.settings.folder is None:
            if dataset is None:
                raise ConfigError("data.world: is missing: name a world such as CdSprites")
            source: Source = dataset.source(split, size, seed=self.seed)
            return source
        stored = StoredSource(self.settings.folder / split, verify=False)
        if size is not None and len(stored) < size:
            raise ConfigError(f"data.{split}: expected at most the {len(stored)} samples stored in {stored.folder}, got {size}")
        return stored if size is None or len(stored) == size else Subset(stored, np.arange(size))

    def asked(self, split: Split) -> int | None:
        """How many samples of a split the settings ask for, None for all; `heldout` has as many as `test`."""
        asked: int | None = getattr(self.settings, "test" if split == "heldout" else split)
        return asked

    def size(self, split: Split) -> int:
        """How many samples a split has; errors as `whole`."""
        asked = self.asked(split)
        return len(self.whole(split)) if asked is None else asked

    def measured(self, source: Source) -> Source:
        """What is measured on: the chosen modalities, of which none is missing, whatever the split."""
        return source if self.settings.modalities is None else Views(source, self.settings.modalities)

    def seen(self, source: Source, split: Split) -> Source:
        """What the model sees of the samples of a split: the chosen modalities, some missing while it learns."""
        source = self.measured(source)
        if self.settings.missing and split in ("train", "validation"):
            source = Missing(source, self.settings.missing, seed=self.seed)
        return source

    def source(self, split: Split) -> Source:
        """The samples of a split as the model sees them, made or read anew."""
        return self.seen(self.whole(split), split)

    def check(self) -> Spec:
        """The Spec the model is made for, after a look at every split.

        Raises:
            ConfigError: samples are not there or too few, or modalities are named that they do not have.
        """
        problems = list[str]()
        specs = list[Spec]()
        for split in SPLITS:
            try:
                specs.append(self.source(split).spec)
            except ConfigError as error:
                problems += [problem if problem.startswith("data.") else f"data: {problem}" for problem in error.problems]
            except (StoreError, SpecError) as error:
                problems.append(f"data: {error}")
        if problems:
            raise ConfigError(list(dict.fromkeys(problems)))
        if any(spec != specs[0] for spec in specs):
            raise ConfigError(
                f"data.folder: expected samples of one kind in {', '.join(SPLITS)}, got different ones: store them anew"
            )
        return specs[0]
