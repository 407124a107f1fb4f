"""Samples read from a user's files: their views, labels and targets, and which rows each split has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch

from molyneux.core import Batch, DataError, Factor, Modality, Spec, Target, nearest, seeds
from molyneux.data.dataset import SPLITS, Split
from molyneux.data.formats.mapped_files import let_go

Fractions = tuple[float, float, float]
"""Shares of the samples that train, validate and test."""

SPLIT_WORDS: Mapping[str, Split] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "val", "valid", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
FEWEST = 3
"""Samples that a data set needs: one for each split."""

Where = Callable[[int], str]
"""Says where a row stands in the user's files, such as `digits.csv, row 7`."""


class View(Protocol):
    """One modality of all samples."""

    @property
    def modality(self) -> Modality:
        """What it looks like."""
        ...

    @property
    def present(self) -> np.ndarray | None:
        """(N,) bool, which samples have it; None for all."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What was converted, one sentence each."""
        ...

    def take(self, rows: np.ndarray) -> np.ndarray:
        """The stored views (B, *modality.shape) of these rows (B,)."""
        ...


@dataclass(frozen=True)
class ArrayView:
    """A modality that lies in an array, which may be memory-mapped.

    Args:
        modality: what a view looks like.
        array: (N, ...) as the file has it.
        present: (N,) bool, which samples have it; None for all.
        change: makes stored views (B, *shape) of rows of the array.
        notes: what was converted, one sentence each.
    """

    modality: Modality
    array: np.ndarray
    present: np.ndarray | None = None
    change: Callable[[np.ndarray], np.ndarray] = np.asarray
    notes: tuple[str, ...] = ()

    def take(self, rows: np.ndarray) -> np.ndarray:
        """The stored views of these rows; zeros where a sample lacks the modality."""
        found = self.change(np.asarray(self.array[rows])).astype(self.modality.dtype, copy=False)
        let_go(self.array)
        if self.present is not None and not self.present[rows].all():
            found = np.where(self.present[rows].reshape(-1, *[1] * len(self.modality.shape)), found, 0).astype(found.dtype)
        return np.ascontiguousarray(found)


@dataclass(frozen=True)
class Labels:
    """A factor and its codes (N,), -1 where a sample has no label; and what was converted, in sentences."""

    factor: Factor
    codes: np.ndarray
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TargetValues:
    """A target, its values (N,), and which of them are known (N,)."""

    target: Target
    values: np.ndarray
    known: np.ndarray


@dataclass(frozen=True)
class OwnContent:
    """All samples of a data set.

    Args:
        views: one for each modality.
        rows: by split, the numbers of its samples.
        labels: one for each factor.
        answers: one for each target.
        notes: what was converted, cut or drawn beside what `views` and `labels` say, one sentence each.
    """

    views: tuple[View, ...]
    rows: Mapping[Split, np.ndarray]
    labels: tuple[Labels, ...] = ()
    answers: tuple[TargetValues, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def spec(self) -> Spec:
        """What a batch looks like."""
        modalities = tuple(view.modality for view in self.views)
        factors, targets = (label.factor for label in self.labels), (answer.target for answer in self.answers)
        return Spec(modalities, tuple(factors), tuple(targets))

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """One sentence for each thing that was converted, cut or drawn."""
        parts = (self.notes, *(view.notes for view in self.views), *(label.notes for label in self.labels), self._untrained())
        return tuple(dict.fromkeys(note for part in parts for note in part))

    def _untrained(self) -> tuple[str, ...]:
        """One sentence for each label with values that no training sample has."""
        found = []
        for label in self.labels:
            trained = np.bincount(label.codes[self.rows["train"]] + 1, minlength=len(label.factor.values) + 1)[1:]
            lacking = [value for value, count in zip(label.factor.values, trained.tolist(), strict=True) if not count]
            if lacking:
                more = f" and {len(lacking) - 3} others" if len(lacking) > 3 else ""
                named = ", ".join(map(repr, lacking[:3]))
                found.append(f"label {label.factor.name!r}: no training sample has {named}{more}")
        return tuple(found)

    def codes(self, rows: np.ndarray) -> np.ndarray:
        """The codes (B, F) of the labels of the samples at these rows."""
        return np.stack([label.codes[rows] for label in self.labels], 1) if self.labels else np.empty((len(rows), 0), np.int64)

    def batch(self, rows: np.ndarray) -> Batch:
        """The samples at these rows (B,)."""
        views = {view.modality.name: torch.from_numpy(view.take(rows)) for view in self.views}
        masks = {view.modality.name: view.present[rows] for view in self.views if view.present is not None}
        return Batch(
            views,
            present={name: torch.from_numpy(mask) for name, mask in masks.items()},
            factors=torch.from_numpy(self.codes(rows)),
            targets={answer.target.name: torch.from_numpy(answer.values[rows]) for answer in self.answers},
            known={answer.target.name: torch.from_numpy(answer.known[rows]) for answer in self.answers},
        )


def split_rows(
    size: int, given: Sequence[str | None] | np.ndarray | None, fractions: Fractions, seed: int, where: Where
) -> dict[Split, np.ndarray]:
    """The rows of each split.

    Args:
        size: how many samples there are.
        given: the split of each row in words, such as `train`, `val` or `test`; None draws the splits.
        fractions: shares that train, validate and test. A split that `given` lacks is drawn from the training rows.
        seed: of what is drawn.
        where: gives the place of a row, for messages.

    Raises:
        DataError: a word that names no split, no rows to train on, or a split without any sample.
    """
    rng = seeds.generator(seed, "own data", "splits")
    found = {"train": rng.permutation(size)} if given is None else _as_named(given, where)
    missing = {split: share for split, share in zip(SPLITS, fractions, strict=True) if split not in found}
    pool = found["train"] if given is None else rng.permutation(found["train"])
    whole = len(pool)
    for split, share in missing.items():
        count = max(1, round(share * whole))
        found[split], pool = np.sort(pool[:count]), pool[count:]
    found["train"] = np.sort(pool)
    for split in SPLITS:
        if not len(found[split]):
            raise DataError(
                f"expected samples for the split {split}, got none of {size} samples: add samples, or set fractions to "
                "larger shares"
            )
    return {split: found[split] for split in SPLITS}


def drawn_notes(given: Sequence[str | None] | np.ndarray | None, rows: Mapping[Split, np.ndarray]) -> tuple[str, ...]:
    """One sentence for each split that was drawn from the training rows because `given` (see `split_rows`) names only others."""
    if given is None:
        return ()
    named = {SPLIT_WORDS[str(word).strip().lower()] for word in set(given.tolist() if isinstance(given, np.ndarray) else given)}
    pool = sum(len(rows[split]) for split in SPLITS if split not in named or split == "train")
    return tuple(
        f"no sample is named as of the split {split}: {len(rows[split]):,} of {pool:,} training samples were drawn for it"
        for split in SPLITS
        if split not in named
    )


def _as_named(given: Sequence[str | None] | np.ndarray, where: Where) -> dict[Split, np.ndarray]:
    words, inverse = np.unique(np.array(["" if word is None else str(word) for word in given]), return_inverse=True)
    splits = [SPLIT_WORDS.get(word.strip().lower(), "") for word in words.tolist()]
    for number, split in enumerate(splits):
        if not split:
            row = int(np.flatnonzero(inverse == number)[0])
            raise DataError(
                f"{where(row)}: expected the split as train, validation or test, got {str(words[number])!r}; "
                f"{nearest(str(words[number]), SPLIT_WORDS)}"
            )
    rows = {split: np.flatnonzero(np.array([found == split for found in splits])[inverse]) for split in SPLITS}
    if not len(rows["train"]):
        raise DataError(f"{where(0)}: expected samples of the split train, got none in any row")
    return {split: found for split, found in rows.items() if len(found)}
