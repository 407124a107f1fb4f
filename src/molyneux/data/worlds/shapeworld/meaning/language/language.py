"""A language for captions: trees are said as sentences, and sentences are read as trees, by the rules of one grammar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from molyneux.core import DataError, Modality, views
from molyneux.data.worlds.shapeworld.meaning.grammar.grammar import Grammar
from molyneux.data.worlds.shapeworld.meaning.grammar.parser import Parser
from molyneux.data.worlds.shapeworld.meaning.grammar.realiser import ProductionArrays, realised, tables_of
from molyneux.data.worlds.shapeworld.meaning.language.vocabulary import PADDING, Vocabulary
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of
from molyneux.data.worlds.shapeworld.meaning.trees.trees import PADDING as NO_SYMBOL
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS, Tree


class SentenceIds(NamedTuple):
    """Sentences as ids (n, T) int64, padded with 0, and their lengths (n,) int64, the end symbol included where there is one."""

    ids: np.ndarray
    lengths: np.ndarray


class Language:
    """Says and reads captions.

    Args:
        grammar: its rules.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.grammar, self.name = grammar, grammar.name

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every word that a sentence or a paraphrase can have, sorted, the full stop included."""
        return self.grammar.productions.words

    @cached_property
    def everything(self) -> Vocabulary:
        """The vocabulary of all words."""
        return Vocabulary(self.words)

    @cached_property
    def _tables(self) -> ProductionArrays:
        return tables_of(self.grammar.productions)

    @cached_property
    def _parser(self) -> Parser:
        return Parser(self.name, self.grammar.readable)

    @cached_property
    def of_people(self) -> Parser:
        """Reads sentences of people by the rules of captions and those for people."""
        return Parser(self.name, self.grammar.of_people)

    def vocabulary(
        self,
        symbols: Iterable[str] = tuple(SYMBOLS),
        *,
        paraphrases: bool = False,
        unused: Sequence[str] = (),
        special: Sequence[str] = ("<pad>",),
    ) -> Vocabulary:
        """The vocabulary of the sentences about some symbols of meaning.

        Args:
            symbols: their names; all by default.
            paraphrases: whether the words of paraphrases are in it.
            unused: further words.
            special: symbols with the first ids.
        """
        words = self.grammar.productions.words_of(tuple(symbols), paraphrases=paraphrases)
        return Vocabulary((*words, *unused), tuple(special))

    def realise(
        self,
        trees: np.ndarray | Sequence[Tree],
        vocabulary: Vocabulary | None = None,
        *,
        uniforms: np.ndarray | None = None,
        length: int | None = None,
    ) -> SentenceIds:
        """Sentences that say statements, as ids.

        Args:
            trees: n statements, or their codes (n, L) in Polish notation, padded with 0 at the end.
            vocabulary: gives the ids; `everything` by default.
            uniforms: (n,) numbers of [0, 1), each of which draws a wording; None for the usual one.
            length: T; that of the longest sentence by default.

        Raises:
            DataError: a row is no statement, a sentence is longer than T, or a word is not in the vocabulary.
        """
        programs = trees if isinstance(trees, np.ndarray) else programs_of(trees)
        numbers, lengths = self._numbers(programs, uniforms)
        chosen = vocabulary or self.everything
        if chosen.end is not None:
            numbers = np.pad(numbers, ((0, 0), (0, 1)), constant_values=-1)
            numbers[np.arange(len(numbers)), lengths] = len(self.words)
            lengths = lengths + 1
        longest = numbers.shape[1]
        if length is not None and longest > length:
            raise DataError(f"expected sentences of at most {length} words, got one of {longest}: allow more, or simpler trees")
        known = np.array([*chosen.lookup(self.words), chosen.end or PADDING, PADDING])
        ids = np.full((len(programs), longest if length is None else length), PADDING, np.int64)
        ids[:, :longest] = known[numbers]
        if (ids < 0).any():
            word = self.words[numbers[ids[:, :longest] < 0][0]]
            raise DataError(f"the vocabulary has no word {word!r}: make it of all symbols that the captions have")
        return SentenceIds(ids, lengths)

    def say(self, tree: Tree, *, uniform: float | None = None) -> list[str]:
        """The words of the sentence that says a statement, the full stop last.

        Args:
            tree: a statement.
            uniform: a number of [0, 1) that draws a paraphrase; None for the usual sentence.

        Raises:
            DataError: no tree, one that is no statement, or another number.
        """
        if not isinstance(tree, Tree):
            raise DataError(f"expected a tree, as of Tree.of or Tree.from_polish, got {str(tree)[:80]!r}")
        if uniform is not None and not 0 <= uniform < 1:
            raise DataError(f"uniform: expected a number of at least 0 and below 1, got {uniform}")
        numbers, _ = self._numbers(programs_of([tree]), None if uniform is None else np.array([uniform]))
        return [self.words[number] for number in numbers[0]]

    def _numbers(self, programs: np.ndarray, uniforms: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        if programs.ndim != 2 or (uniforms is not None and uniforms.shape != (len(programs),)):
            got = f"{programs.shape} and {None if uniforms is None else uniforms.shape}"
            raise DataError(f"expected codes (n, L) and no or n uniform numbers, got {got}")
        numbers, lengths = realised(programs, self._tables, uniforms)
        if (lengths < 0).any():
            row = int((lengths < 0).argmax())
            raise DataError(f"row {row} is no statement in Polish notation: {_described(programs[row])}")
        return numbers, lengths

    def read(self, sentence: str | Sequence[str]) -> Tree:
        """The meaning of a sentence.

        Args:
            sentence: as text, or its words and punctuation; capital letters make no difference.

        Raises:
            DataError: no sentence of the language; says where it stops and what could follow.
        """
        found = self.readings(sentence)
        if len(found) > 1:
            raise DataError(f"{sentence!r} has several meanings: {'; '.join(map(str, found))}")
        return found[0]

    def readings(self, sentence: str | Sequence[str]) -> list[Tree]:
        """All meanings of a sentence, at least one; errors as `read`."""
        if not isinstance(sentence, str) and not (isinstance(sentence, Sequence) and all(isinstance(w, str) for w in sentence)):
            raise DataError(f"expected a sentence as text or as a list of words, got {str(sentence)[:80]!r}")
        return self._parser.read(words_of(sentence) if isinstance(sentence, str) else sentence)

    def stop(self, words: Sequence[str]) -> tuple[int, frozenset[str]]:
        """See `Parser.stop`."""
        return self._parser.stop(words)


def words_of(text: str) -> list[str]:
    """The words and punctuation marks of a text.

    >>> words_of("If there is a circle, then a square is red.")
    ['If', 'there', 'is', 'a', 'circle', ',', 'then', 'a', 'square', 'is', 'red', '.']
    """
    return re.findall(r"[^\s.,]+|[.,]", text)


def pretty(words: Sequence[str]) -> str:
    """A sentence with a capital letter, and without a space before punctuation.

    >>> pretty(["there", "is", "a", "red", "square", "."])
    'There is a red square.'
    """
    text = re.sub(r" ([.,])", r"\1", " ".join(words))
    return text[:1].upper() + text[1:]


def _described(program: np.ndarray) -> str:
    names = ("", *SYMBOLS)
    return " ".join(names[code] if 0 <= code < len(names) else str(code) for code in program.tolist() if code != 0) or "nothing"


class ParsedTexts(NamedTuple):
    """What texts mean.

    Args:
        programs: (B, L) int16, in Polish notation; rows of padding where a text is no sentence of the language.
        reasons: why a text is none, by its row.
    """

    programs: np.ndarray
    reasons: Mapping[int, str]

    @property
    def readable(self) -> np.ndarray:
        """Which texts are sentences, (B,) bool."""
        return np.asarray((self.programs != NO_SYMBOL).any(1))


def parse_texts(modality: Modality, texts: Tensor, language: Language) -> ParsedTexts:
    """The meanings of texts.

    Args:
        modality: of the texts.
        texts: (B, T) ids of its symbols.
        language: of the texts.
    """
    distinct, rows = np.unique(texts.numpy(), axis=0, return_inverse=True)
    trees, reasons = list[Tree](), dict[int, str]()
    places = np.full(len(distinct), -1)
    for row, text in enumerate(views.text_strings(modality, torch.from_numpy(distinct))):
        try:
            trees.append(language.read(text))
            places[row] = len(trees) - 1
        except DataError as error:
            reasons[row] = str(error)
    programs = programs_of(trees)
    programs = np.concatenate([programs, np.full((1, programs.shape[1]), NO_SYMBOL, np.int16)])  # the last row for -1
    rows = rows.ravel()
    return ParsedTexts(programs[places[rows]], {place: reasons[row] for place, row in enumerate(rows.tolist()) if row in reasons})
