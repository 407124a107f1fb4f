"""Labelled texts become samples: rows are divided into splits, words are cut apart, the most frequent are numbered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from molyneux.core import Modality, seeds
from molyneux.core.characters import composed
from molyneux.data.dataset import Split
from molyneux.data.worlds.sentences import language

TRAIN, TEST = "train.csv", "test.csv"
Part = tuple[str, np.ndarray]
"""The file that a split is in, and the numbers (n,) of its rows there, rising."""

UNKNOWN = len(language.SPECIAL)
SPECIAL = (*language.SPECIAL, "<unk>")
"""The symbols of the worlds of sentences, and one for words that are not in the vocabulary."""

LONGEST = 1_000_000
"""Words of a text at most."""

_BLANK, _NO_CHARACTER = " ", "\N{REPLACEMENT CHARACTER}"

_ALONE = r"([^\p{L}\p{M}\p{N}\s])"


def divided(
    labels: Mapping[str, np.ndarray], *, classes: int, limits: Sequence[int] | None, name: str, seed: int
) -> dict[Split, Part]:
    """The rows of each split.

    The rows of each class of a file are put in an order that is drawn from `seed`. With `train.csv`, the last tenth of each class
    validates and the rest of it trains; `test.csv` tests. With `test.csv` alone, the first 60 % of each class train, the next
    20 % validate and the rest test. Of each class a split keeps the first rows, as many as its limit, so that a smaller limit
    gives some of the samples of a larger one.

    Args:
        labels: by file, the class of every row, (N,).
        classes: how many there are.
        limits: of each class, for training, validation and testing; without any, all rows are used.
        name: of the data set, for its streams.
        seed: of the order.
    """
    orders = {file: _orders(found, classes, name=f"{name}/{file}", seed=seed) for file, found in labels.items()}
    shares = {"train": (0, 6), "validation": (6, 8), "test": (8, 10)}
    parts = {split: (TEST, [_tenths(order, *ends) for order in orders[TEST]]) for split, ends in shares.items()}
    if TRAIN in orders:
        cut = [len(order) - len(order) // 10 for order in orders[TRAIN]]
        parts["train"] = TRAIN, [order[:end] for order, end in zip(orders[TRAIN], cut, strict=True)]
        parts["validation"] = TRAIN, [order[end:] for order, end in zip(orders[TRAIN], cut, strict=True)]
        parts["test"] = TEST, orders[TEST]
    return {
        split: (file, np.sort(np.concatenate([order[:limit] for order in found])))
        for (split, (file, found)), limit in zip(parts.items(), limits or (None, None, None), strict=True)
    }


def _tenths(order: np.ndarray, first: int, last: int) -> np.ndarray:
    return order[first * len(order) // 10 : last * len(order) // 10]


def _orders(labels: np.ndarray, classes: int, *, name: str, seed: int) -> list[np.ndarray]:
    """The rows of each class in the order drawn."""
    by_class = (np.flatnonzero(labels == number) for number in range(classes))
    return [seeds.generator(seed, name, number).permutation(rows) for number, rows in enumerate(by_class)]


class WordNumbers(NamedTuple):
    """Texts as numbers of the words that occur in them.

    Args:
        words: the words, (W,), in the order of their first occurrence.
        numbers: (T,) int32 word of each token, texts one after the other.
        lengths: (N,) tokens of each text.
    """

    words: pa.Array
    numbers: np.ndarray
    lengths: np.ndarray


def tokenize(texts: Iterable[pa.Array], *, length: int, line_break: str) -> WordNumbers:
    """Cut texts into words in lower case, at most `length` of each text.

    A word is a run of letters and digits; every other character that is not blank is a word by itself: "Don't!" is don ' t !.

    A blank takes the place of `line_break`, which stands for a line break in the files.
    """
    blocks, lengths = list[pa.Array](), [np.empty(0, np.int64)]
    for block in texts:
        plain = pc.replace_substring(pc.utf8_lower(block), line_break, " ")
        spaced = pc.utf8_trim_whitespace(pc.replace_substring_regex(plain, _ALONE, r" \1 "))
        words = pc.list_slice(pc.utf8_split_whitespace(spaced), 0, length)
        blank = pc.equal(spaced, "").to_numpy(zero_copy_only=False)
        lengths.append(np.where(blank, 0, pc.list_value_length(words).to_numpy()).astype(np.int64))
        blocks.append(pc.dictionary_encode(words.filter(pa.array(~blank)).flatten()))
    if not blocks:
        return WordNumbers(pa.array([], pa.string()), np.empty(0, np.int32), lengths[0])
    unified = pa.chunked_array(blocks).unify_dictionaries()
    numbers = np.concatenate([chunk.indices.to_numpy() for chunk in unified.chunks])
    return WordNumbers(unified.chunks[0].dictionary, numbers, np.concatenate(lengths))


def most_frequent(tokens: WordNumbers, *, texts: np.ndarray, words: int) -> np.ndarray:
    """Numbers of the words that occur most often in `texts` (N,) bool, at most `words`; equals in alphabetical order."""
    counts = np.bincount(tokens.numbers[np.repeat(texts, tokens.lengths)], minlength=len(tokens.words))
    occurring = np.flatnonzero(counts)
    alphabet = pc.sort_indices(tokens.words.take(pa.array(occurring))).to_numpy()
    ordered = occurring[alphabet]
    chosen: np.ndarray = ordered[np.argsort(-counts[ordered], kind="stable")][:words]
    return chosen


def symbol_rows(tokens: WordNumbers, vocabulary: np.ndarray, *, length: int) -> np.ndarray:
    """Texts as symbols (N, length) int32: words, `<eos>` where there is room for it, padding.

    The texts are cut at `length` words. The `vocabulary` has the numbers of the words that have symbols, in the order of these;
    others are `<unk>`.
    """
    symbols = np.full(len(tokens.words), UNKNOWN, np.int32)
    symbols[vocabulary] = np.arange(len(SPECIAL), len(SPECIAL) + len(vocabulary))
    rows = np.full((len(tokens.lengths), length), language.PADDING, np.int32)
    rows[np.arange(length) < tokens.lengths[:, None]] = symbols[tokens.numbers]
    short = np.flatnonzero(tokens.lengths < length)
    rows[short, tokens.lengths[short]] = language.END
    return rows


def word_view(
    texts: Sequence[str], *, name: str, counted: np.ndarray, fit: np.ndarray, words: int, length: int | None = None
) -> tuple[Modality, np.ndarray]:
    """A text modality and the symbols (N, length) of texts in words, which are composed (`core.characters`).

    Args:
        texts: (N,) what they say.
        name: of the modality.
        counted: (N,) bool, the texts whose words have symbols.
        fit: (N,) bool, the texts that are not cut where no length is given.
        words: the most frequent words that have a symbol; others are `<unk>`.
        length: symbols of a view, at which longer texts are cut.
    """
    block = pa.array([composed(text) for text in texts], pa.string())
    tokens = tokenize([block], length=length or LONGEST, line_break="\n")
    longest = length or int(tokens.lengths[fit].max(initial=0)) + 1  # one place for the end
    if tokens.lengths.max(initial=0) > longest:
        tokens = tokenize([block], length=longest, line_break="\n")
    vocabulary = most_frequent(tokens, texts=counted, words=words)
    symbols = (*SPECIAL, *tokens.words.take(pa.array(vocabulary)).to_pylist())
    dtype = "uint8" if len(symbols) <= 256 else "int64"
    modality = Modality(name, "text", (longest,), dtype, symbols, language.PADDING, language.BEGIN, language.END)
    return modality, symbol_rows(tokens, vocabulary, length=longest).astype(dtype)


def character_view(
    texts: Sequence[str], *, name: str, counted: np.ndarray, length: int | None = None
) -> tuple[Modality, np.ndarray]:
    """A text modality and the symbols (N, length) of texts in characters, as they are; what follows a text are blanks.

    Args:
        texts: (N,) what they say, in composed form (`core.characters`).
        name: of the modality.
        counted: (N,) bool, the texts whose characters have symbols, of which at least one has some; others are U+FFFD.
        length: symbols of a view, at which longer texts are cut; by default the longest of those counted fits.
    """
    training = [text for text, chosen in zip(texts, counted.tolist(), strict=True) if chosen]
    known = sorted({symbol for text in training for symbol in text} - {_BLANK, _NO_CHARACTER})
    others = {symbol for text in texts for symbol in text} - {*known, _BLANK}
    symbols = (_BLANK, *known, *([_NO_CHARACTER] if others else []))
    longest = length or max(1, *map(len, training))
    numbers = {symbol: number for number, symbol in enumerate(symbols)}
    dtype = "uint8" if len(symbols) <= 256 else "int64"
    ids = np.zeros((len(texts), longest), dtype)
    for row, text in enumerate(texts):
        cut = text[:longest]
        ids[row, : len(cut)] = [numbers.get(symbol, len(symbols) - 1) for symbol in cut]
    return Modality(name, "text", (longest,), dtype, symbols, 0), ids
