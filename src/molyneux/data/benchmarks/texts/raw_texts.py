"""Raw texts in the place of features of texts: the settings of data sets that can give both, and symbols of the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from molyneux.core import Modality, choice_problems
from molyneux.core.characters import composed
from molyneux.data.benchmarks.texts.text_samples import character_view, word_view

TextUnit = Literal["features", "words", "characters"]
"""What a text is given as: vectors of the file, or symbols of raw texts, to which corruptions of texts apply."""

WORDS = 20_000
"""Words that have a symbol, unless said otherwise."""


class RawText(NamedTuple):
    """A text modality, its symbols (N, length), and which samples have a text, (N,) bool."""

    modality: Modality
    symbols: np.ndarray
    present: np.ndarray

    def mask(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """The presence mask of these samples (B,) by the name of the modality; none where every sample has a text."""
        return {} if self.present.all() else {self.modality.name: self.present[rows]}


def raw_text(texts: Sequence[str | None], train: np.ndarray, *, unit: str, words: int, length: int | None) -> RawText:
    """The modality `text` of raw texts; samples whose text is None or blank lack it.

    Args:
        texts: (N,) one for each sample.
        train: (N,) bool, the training samples, whose words or characters have symbols; at least one has a text.
        unit: `words` or `characters`.
        words: the most frequent words that have a symbol; others are `<unk>`.
        length: symbols of a view, at which longer texts are cut; by default the longest training text fits.
    """
    plain = ["" if text is None else composed(text).strip() for text in texts]
    present = np.array([text != "" for text in plain], bool)
    counted = train & present
    if unit == "characters":
        modality, symbols = character_view(plain, name="text", counted=counted, length=length)
    else:
        modality, symbols = word_view(plain, name="text", counted=counted, fit=counted, words=words, length=length)
    symbols[~present] = modality.padding
    return RawText(modality, symbols, present)


def raw_text_problems(text: str, *, words: int, length: int | None, **files: str | None) -> list[str]:
    """What is wrong with settings of raw texts; `files` are names of their files, None where they are those published."""
    problems = choice_problems(text=(text, ("features", "words", "characters")))
    sizes = {"words": words, "length": 1 if length is None else length}
    problems += [f"{name}: expected at least 1, got {size}" for name, size in sizes.items() if size < 1]
    if text == "features":
        given = {"length": length, **files, "words": None if words == WORDS else words}
        problems += [
            f"{name}: is of raw texts, got {value!r} with text 'features': set text to 'words' or 'characters'"
            for name, value in given.items()
            if value is not None
        ]
    elif text == "characters" and words != WORDS:
        problems.append(f"words: is of texts in words, got {words} with text 'characters': leave it out")
    return problems


def raw_text_settings(text: str, **settings: Any) -> Mapping[str, Any]:
    """Settings as they are recorded: none for `features`, so that records of data sets without raw texts stay as they were."""
    return {} if text == "features" else {"text": text, **settings}
