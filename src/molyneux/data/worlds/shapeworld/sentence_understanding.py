"""Sentences of people as captions of a world: what they mean, in the words that its captions have."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping

import torch

from molyneux.core import ConvertedViews, DataError, Modality, Understood, views_of
from molyneux.data.dataset import World
from molyneux.data.worlds.named_values import nearest_word, require_text
from molyneux.data.worlds.shapeworld.meaning.language.captions import language_of
from molyneux.data.worlds.shapeworld.meaning.language.people import Interpretation, interpret
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of
from molyneux.data.worlds.shapeworld.meaning.trees.same import alternatives
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree

_WORDINGS = 16
"""Draws of a paraphrase in which the words of a world are looked for."""


class LanguageWorld(World):
    """A world whose captions are sentences of a language; see `core.Understands`."""

    language: str
    """Name of the language."""

    @abstractmethod
    def modality(self, name: str) -> Modality:
        """The modality of a view such as `text` or `meaning`, whether or not samples have it."""

    @property
    @abstractmethod
    def meanings(self) -> tuple[str, ...]:
        """Names of the symbols that the meanings of captions have."""

    def understand(self, text: str) -> Understood:
        """A sentence of a person as a caption; see `interpret`.

        A caption in other letters keeps its words; what says the same otherwise becomes a caption in words of this world.
        Values are not told: a sentence says more than values of factors. Where it is no sentence, `problem` says where it stops
        and what could follow.
        """
        said = interpret(require_text(text), self.language)
        if said.tree is None:
            unknown = {word: near for word, near in said.unknown.items() if word}
            nearest, differs = said.suggestion, said.suggests_other
            return Understood(text, unknown=unknown, nearest=nearest, problem=said.problem, nearest_differs=differs)
        return self._within_vocabulary(text, said, said.tree)

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

    def _within_vocabulary(self, text: str, said: Interpretation, tree: Tree) -> Understood:
        """The first wording of a meaning in words of this world; what it lacks, where there is none."""
        modality = self.modality("text")
        known = {symbol.lower(): symbol for symbol in modality.symbols}
        first: list[str] = []
        fits = False
        for words in self._wordings(said, tree):
            first = first or words
            if all(word.lower() in known for word in words):
                fits = True
                if len(words) <= modality.max_length:
                    return Understood.of_caption(text, " ".join(known[word.lower()] for word in words), remarks=_told(said))
        if fits:
            return Understood(text, problem=f"expected at most {modality.max_length} words, got {len(first)}: shorten it")
        unknown = {word: nearest_word(word, known) for word in first if word.lower() not in known}
        written = {word.lower() for word in re.findall(r"\w+", text)}
        typed = {word: near for word, near in unknown.items() if word.lower() in written}
        return Understood(text, unknown=typed or unknown)

    def _wordings(self, said: Interpretation, tree: Tree) -> Iterator[list[str]]:
        """The wordings of a meaning, first those of the meanings that captions of this world have."""
        language = language_of(self.language)
        for one in sorted(alternatives(tree), key=lambda one: not set(one.polish) <= set(self.meanings)):
            yield said.caption.split() if one == tree else language.say(one)
            yield from (language.say(one, uniform=number / _WORDINGS) for number in range(_WORDINGS))


def _told(said: Interpretation) -> tuple[str, ...]:
    return (*said.remarks, *(f"it could also mean {caption!r}" for caption in said.others))


def _meaning(modality: Modality, tree: Tree) -> ConvertedViews:
    programs = programs_of([tree], modality.max_length)
    return ConvertedViews(torch.from_numpy(programs.astype(modality.dtype)), torch.tensor([tree.size]))
