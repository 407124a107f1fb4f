"""Captions as sentences of a language that is given by its name: say trees, read sentences, draw other wordings.

>>> from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree
>>> tree = Tree.of("exists", Tree.of("both", "red", "square"), Tree.of("left", "circle"))
>>> " ".join(say(tree))
'a red square is to the left of a circle .'
>>> " ".join(say(tree, "german"))
'ein rotes Quadrat ist links von einem Kreis .'
>>> parse("Ein rotes Quadrat ist links von einem Kreis.", "german") == tree
True
>>> " ".join(paraphrase(tree, 0.9))
'there is a red square that is left of a circle .'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from molyneux.core import ConfigError, nearest
from molyneux.data.worlds.shapeworld.meaning.language.english import english
from molyneux.data.worlds.shapeworld.meaning.language.german import german
from molyneux.data.worlds.shapeworld.meaning.language.language import Language, SentenceIds
from molyneux.data.worlds.shapeworld.meaning.language.vocabulary import Vocabulary
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree

LANGUAGES: Mapping[str, Callable[[], Language]] = {"english": english, "german": german}
"""Languages by name."""


def language_of(name: str) -> Language:
    """The language of a name; raises ConfigError for an unknown one."""
    if name not in LANGUAGES:
        raise ConfigError(f"unknown language {name!r}; {nearest(name, LANGUAGES)}")
    return LANGUAGES[name]()


def realise(
    trees: np.ndarray | Sequence[Tree],
    language: str = "english",
    *,
    vocabulary: Vocabulary | None = None,
    length: int | None = None,
) -> SentenceIds:
    """Sentences that say statements, as ids (n, T) int64 and lengths (n,); arguments and errors as `Language.realise`."""
    return language_of(language).realise(trees, vocabulary, length=length)


def say(tree: Tree, language: str = "english") -> list[str]:
    """The words of the sentence that says a statement; errors as `Language.say`."""
    return language_of(language).say(tree)


def parse(sentence: str | Sequence[str], language: str = "english") -> Tree:
    """The meaning of a sentence, given as text or as words; errors as `Language.read`."""
    return language_of(language).read(sentence)


def paraphrase(tree: Tree, uniform: float, language: str = "english") -> list[str]:
    """The words of one of the sentences that say a statement, drawn by a number of [0, 1); errors as `Language.say`."""
    return language_of(language).say(tree, uniform=uniform)
