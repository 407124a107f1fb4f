"""Texts of a user's files as symbols, words or characters, and the reader of texts that determine labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from molyneux.core import DataError, Modality
from molyneux.data.benchmarks.texts.text_samples import character_view, tokenize, word_view
from molyneux.data.lookup_reader import LookupReader
from molyneux.data.own.content import ArrayView, OwnContent, Where
from molyneux.data.own.spelling import MISSING_WORDS, composed_texts, counted_texts

Unit = Literal["characters", "words"]
"""What a symbol of a text is."""

_MOST_TEXTS = 10_000
"""Different texts that a reader knows at most."""


def text_view(
    name: str, texts: Sequence[str | None], train: np.ndarray, *, where: Where, unit: Unit, words: int, length: int | None
) -> ArrayView:
    """A text modality; samples whose text is None lack it. Texts are brought to the composed form of Unicode.

    Args:
        name: of the modality.
        texts: (N,) one for each sample.
        train: rows of the training samples: symbols are theirs.
        where: says where a row stands.
        unit: whether symbols are words, in lower case, or characters as they are.
        words: the most frequent words that have a symbol; others are `<unk>`.
        length: symbols of a view, at which longer texts are cut; by default the longest training text fits.
    """
    present = np.array([text is not None for text in texts])
    if not present[train].any():
        raise DataError(f"{where(0)}, text {name!r}: expected a text in at least one training sample, got none: leave it out")
    composed, notes = composed_texts(texts, f"text {name!r}", where)
    if (row := next((row for row, text in enumerate(composed) if text in MISSING_WORDS), -1)) >= 0:
        notes += (
            f"{where(row)}, text {name!r}: {composed[row]!r} was read as a text: set missing if it says that there is none",
        )
    plain = [text or "" for text in composed]
    counted = np.zeros(len(plain), bool)
    counted[train] = True
    if unit == "characters":
        modality, ids = character_view(plain, name=name, counted=counted, length=length)
    else:
        modality, ids = word_view(plain, name=name, counted=counted, fit=counted, words=words, length=length)
    notes += _cut(name, plain, ids, modality, where)
    return ArrayView(modality, ids, None if present.all() else present, notes=notes)


def _cut(name: str, texts: Sequence[str], ids: np.ndarray, modality: Modality, where: Where) -> tuple[str, ...]:
    """Which texts have more symbols than a view has."""
    longest = modality.shape[0]
    if modality.end is None:  # characters
        cut = np.flatnonzero(np.array([len(text) for text in texts]) > longest)
    else:
        full = np.flatnonzero((ids != modality.padding).all(1) & (ids[:, -1] != modality.end))
        again = tokenize(
            [pa.array([texts[row] for row in full.tolist()], pa.string())], length=longest + 1, line_break="\n"
        ).lengths
        cut = full[again > longest]
    if not len(cut):
        return ()
    return (f"{where(int(cut[0]))}, text {name!r}: cut after {longest} symbols ({counted_texts(len(cut))}): set length for more",)


def lookup_reader(content: OwnContent, view: ArrayView) -> LookupReader | None:
    """The reader of a modality whose views determine labels: captions from a closed set, say; None where they do not.

    Views determine a factor if no two samples of the same view differ in it. That says something only where views repeat, so
    every view of the validation and test samples has to occur among the training samples.
    """
    here = np.ones(len(view.array), bool) if view.present is None else view.present
    ids = view.array.reshape(len(view.array), -1).astype(np.int64)
    distinct, first, inverse = np.unique(ids[here], axis=0, return_index=True, return_inverse=True)
    group = np.full(len(ids), -1)
    group[here] = inverse.reshape(-1)
    trained = {*group[content.rows["train"]].tolist()}
    evaluated = {*group[content.rows["validation"]].tolist(), *group[content.rows["test"]].tolist()}
    if len(distinct) > _MOST_TEXTS or not evaluated <= trained | {-1}:
        return None
    place = np.flatnonzero(here)[first]
    determined = [label for label in content.labels if (label.codes[place][group[here]] == label.codes[here]).all()]
    if not determined:
        return None
    codes = np.stack([label.codes[place] for label in determined], 1)
    shape = view.modality.shape
    known = {row.reshape(shape).tobytes(): tuple(code) for row, code in zip(distinct, codes.tolist(), strict=True)}
    return LookupReader(view.modality, [label.factor for label in determined], known)
