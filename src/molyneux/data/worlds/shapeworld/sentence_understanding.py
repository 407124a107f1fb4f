"""Sentences of people as captions of a language: in any case, without a full stop, and without "there is"."""

from __future__ import annotations

import difflib
from abc import abstractmethod
from collections.abc import Mapping, Sequence

import torch

from molyneux.core import ConvertedViews, DataError, Modality, Understood, views_of
from molyneux.data.dataset import World
from molyneux.data.worlds.named_values import nearest_word, require_text
from molyneux.data.worlds.shapeworld.meaning.grammar.parser import LONGEST
from molyneux.data.worlds.shapeworld.meaning.language.captions import language_of
from molyneux.data.worlds.shapeworld.meaning.language.language import Language, words_of
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree

_STOP = "."
_BEGINNINGS = {"english": ("", "there is", "there is a", "there is an")}
"""By language, what may be missing before a sentence."""

_MISTAKES = 4
"""Words that are replaced at most to find the nearest sentence."""


class LanguageWorld(World):
    """A world whose captions are sentences of a language; see `core.Understands`."""

    language: str
    """Name of the language."""

    @abstractmethod
    def modality(self, name: str) -> Modality:
        """The modality of a view such as `text` or `meaning`, whether or not samples have it."""

    def understand(self, text: str) -> Understood:
        """A sentence of a person as a caption: any case, with or without its full stop, and without "there is" in English.

        Values are not told: a sentence says more than values of factors. Where it is no sentence, `problem` says where it stops
        and what could follow.
        """
        language, words = language_of(self.language), _plain(require_text(text))
        if not words:
            return Understood(text, problem="expected a sentence, got none")
        attempts = [(*begin.split(), *words, _STOP) for begin in _BEGINNINGS.get(self.language, ("",))]
        for attempt in attempts:
            try:
                language.read(attempt)
            except DataError:
                continue
            return self._within_vocabulary(text, attempt)
        places = [language.stop(attempt)[0] - len(attempt) for attempt in attempts]
        best = attempts[places.index(max(places))]
        try:
            language.read(best)
        except DataError as error:
            return Understood(text, nearest=" ".join(_repaired(language, best)), problem=str(error))
        raise AssertionError("unreachable")

    def views_of_caption(self, caption: str) -> Mapping[str, ConvertedViews]:
        """The views `text` and `meaning` of a caption, as `core.Understands` has them.

        Raises:
            DataError: it is no caption, or longer than captions of this world.
        """
        found = {"text": views_of(self.modality("text"), caption)}
        modality, tree = self.modality("meaning"), language_of(self.language).read(caption)
        if tree.size > modality.max_length:
            raise DataError(
                f"{self.name}: expected a caption of at most {modality.max_length} symbols of meaning, got {tree.size}"
            )
        found["meaning"] = _meaning(modality, tree)
        return found

    def _within_vocabulary(self, text: str, words: Sequence[str]) -> Understood:
        """A sentence, with the words of which captions of this world have none."""
        modality = self.modality("text")
        known = {symbol.lower(): symbol for symbol in modality.symbols}
        unknown = {}
        for word in words:
            if word not in known:
                unknown[word] = nearest_word(word, known)
        if unknown:
            return Understood(text, unknown=unknown)
        if len(words) > modality.max_length:
            return Understood(text, problem=f"expected at most {modality.max_length} words, got {len(words)}: shorten it")
        return Understood.of_caption(text, " ".join(known[word] for word in words))


def _meaning(modality: Modality, tree: Tree) -> ConvertedViews:
    programs = programs_of([tree], modality.max_length)
    return ConvertedViews(torch.from_numpy(programs.astype(modality.dtype)), torch.tensor([tree.size]))


def _plain(text: str) -> list[str]:
    """The words and commas of a text in small letters, without quotation marks and what closes a sentence."""
    words = [word.strip("!?;:\"'()") for word in words_of(text.lower())]
    words = [word for word in words if word]
    while words and words[-1] in (".", ","):
        words.pop()
    return words[:LONGEST]


def _repaired(language: Language, words: Sequence[str]) -> Sequence[str]:
    """The nearest sentence in which words that cannot stand in their places are others that can; nothing if there is none."""
    found = list(words)
    for _ in range(_MISTAKES):
        place, expected = language.stop(found)
        if place >= len(found):
            return ()
        close = difflib.get_close_matches(found[place], sorted(expected), n=1, cutoff=0.5)
        if not close:
            return ()
        found[place] = close[0]
        try:
            language.read(found)
        except DataError:
            continue
        return found
    return ()
