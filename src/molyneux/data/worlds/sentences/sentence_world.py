"""Worlds of sentences: finite languages whose factors are words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch

from molyneux.core import Batch, Reader, Spec
from molyneux.data.worlds.finite import FiniteWorld
from molyneux.data.worlds.sentences.division import Division, KeyedDivision
from molyneux.data.worlds.sentences.forms import check_choice, label_problems
from molyneux.data.worlds.sentences.language import Language, Sentences
from molyneux.data.worlds.sentences.published import PublishedDivision
from molyneux.data.worlds.sentences.sentence_reader import SentenceReader
from molyneux.data.worlds.world import Split, World

Method = Literal["keyed", "published"]


class SentenceWorld(FiniteWorld):
    """Sentences of a finite language, divided into splits 60/20/20.

    A view is a row of words as symbols, then `<eos>`, then `<pad>` up to the length of the longest sentence: an encoder finds
    the end at `<eos>`, a decoder learns to write it, and the padding after it says nothing more. `<bos>` is a symbol of the
    vocabulary for decoders that start with it; no view holds it.

    Any sentence is made from its number, and nothing is stored. Which sentences a split has is decided by the world's settings
    alone: sources of all seeds share the same disjoint splits, and a source's seed decides on the order (`split="keyed"`) or on
    nothing (`split="published"`, the order of the published files). A split has no more than `sizes` samples.

    A subclass sets `_language`, `_division` and `_settings` at construction.
    """

    _language: Language
    _division: Division
    _settings: Mapping[str, Any]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data: with name, split and seed they determine every byte."""
        return self._settings

    @property
    def spec(self) -> Spec:
        """The modality `text`; factors are groups of words, or positions in them, then the chosen nuisances."""
        return Spec((self._language.modality,), self._language.factors)

    @property
    def language(self) -> Language:
        """Every sentence, whatever its split."""
        return self._language

    @property
    def division(self) -> Division:
        """What decides on the sentences of each split."""
        return self._division

    @property
    def sizes(self) -> Mapping[Split, int]:
        """How many samples each split has."""
        return self._division.sizes

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words in the order of the published file, if the published split was chosen; else in the order of their ids."""
        words = self._language.vocabulary
        if isinstance(self._division, PublishedDivision):
            return tuple(words[place] for place in self._division.vocabulary)
        return words

    def sentences(self, indices: np.ndarray, *, split: Split, seed: int) -> Sentences:
        """The sentences at these positions (n,) of a split, any order.

        Raises:
            ConfigError: the split `heldout`, or one that does not exist. DataError: no integers in one row, or a position outside
                the split.
        """
        return self._language.write(self._division.numbers(self.positions(indices, split), split=split, seed=seed))

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples at these positions (B,); errors as `sentences`."""
        found = self.sentences(indices, split=split, seed=seed)
        return Batch({"text": torch.from_numpy(found.ids)}, factors=torch.from_numpy(found.codes))

    def readers(self) -> Mapping[str, Reader]:
        """The parser of sentences, of all splits and beyond: it knows the language, not what was drawn from it."""
        return {"text": SentenceReader(self._language)}


def divided(
    world: World, language: Language, method: Method, *, seed: int, cap: int | None = None, by_form: bool = False
) -> Division:
    """The division of a language.

    Args:
        world: whose splits.
        language: what is divided.
        method: the keyed permutations of this package, or the published shuffles.
        seed: root seed of the splits.
        cap: at most so many sentences of each form are used.
        by_form: whether each form is divided, or the language as a whole.
    """
    if method == "published":
        return PublishedDivision(language.blocks, words=len(language.vocabulary), cap=cap, seed=seed)
    return KeyedDivision(world.name, language.blocks if by_form else (language.size,), cap=cap, seed=seed)


def setting_problems(split: str, nuisances: Sequence[str], known: tuple[str, ...]) -> list[str]:
    """One sentence for everything that is wrong with what all worlds of sentences can be told."""
    return [*check_choice("split", split, ("keyed", "published")), *label_problems(nuisances, known)]
