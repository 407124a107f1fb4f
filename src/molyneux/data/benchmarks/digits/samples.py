"""What data sets of digits share: their images in the format of MNIST, digits as words, and pairs of the same class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from molyneux.core import ConvertedViews, DataError, Factor, Modality, Target, Understood, nearest, seeds, views_of
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, last_twelfth
from molyneux.data.benchmarks.digits.images import Digits, idx_files, read_digits
from molyneux.data.dataset import Split
from molyneux.data.lookup_reader import LookupReader
from molyneux.data.worlds.named_values import NamedValues

DIGITS = tuple("0123456789")
"""Names of the classes."""

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
"""What is written for each class."""

SYMBOLS = (" ", *sorted({letter for word in WORDS for letter in word}))
"""A blank, which is the padding, and the letters of the words."""


def word_modality(length: int) -> Modality:
    """The modality `text`: a word in so many characters, the others being blank."""
    return Modality("text", "text", (length,), "uint8", SYMBOLS, padding=0)


def placed_words(labels: np.ndarray, starts: np.ndarray, length: int) -> np.ndarray:
    """The words of classes (B,) that begin at these characters (B,), as symbols (B, length) uint8."""
    table = np.zeros((len(WORDS), 2 * length), np.uint8)
    for row, word in enumerate(WORDS):
        table[row, length : length + len(word)] = [SYMBOLS.index(letter) for letter in word]
    found: np.ndarray = table[labels[:, None], length + np.arange(length) - starts[:, None]]
    return found


def word_reader(length: int, factor: Factor) -> LookupReader:
    """Reads the class of a word in any place of a text of blanks."""
    labels, starts = (part.reshape(-1) for part in np.mgrid[: len(WORDS), :length])
    whole = np.array([len(WORDS[label]) for label in labels]) + starts <= length
    labels, starts = labels[whole], starts[whole]
    texts = placed_words(labels, starts, length).astype(np.int64)
    known = {text.tobytes(): (int(label),) for text, label in zip(texts, labels, strict=True)}
    return LookupReader(word_modality(length), [factor], known)


def understood_digit(text: str) -> Understood:
    """What a text says of the factor `label`: a digit as a word or a figure; its captions are `WORDS`.

    >>> understood_digit("The digit 7.").nearest
    'seven'
    """
    finder = NamedValues((Factor("label", DIGITS),), dict(zip(WORDS, DIGITS, strict=True)))

    def draw(possible: Mapping[str, Sequence[str]], generator: np.random.Generator) -> Mapping[str, str]:
        return {"label": possible["label"][int(generator.integers(len(possible["label"])))]}

    return finder.understand(text, write=lambda values: WORDS[DIGITS.index(values["label"])], draw=draw)


def views_of_word(word: str, length: int) -> Mapping[str, ConvertedViews]:
    """The view of one of `WORDS` in so many characters, from the first on; raises DataError for another word."""
    if word not in WORDS:
        raise DataError(f"expected the word of a digit, got {word!r}; {nearest(word, WORDS)}")
    return {"text": views_of(word_modality(length), word)}


class DigitImages(FileBenchmark):
    """A data set whose first four files are those of MNIST, or in their format: images and classes, to train and to test.

    The last twelfth of the training images (5,000 of 60,000) validates. The files may be compressed by gzip, as published, or
    not. Errors and arguments as `FileBenchmark`.
    """

    @property
    def expected(self) -> tuple[str, ...]:
        """The files that have to be there, without `.gz` where only the file without compression is."""
        return (*idx_files(self.folder, self.files[:4]), *self.files[4:])

    def digits(self, paths: Mapping[str, Path]) -> tuple[Digits, dict[Split, np.ndarray]]:
        """All images and classes, those to train first, and which of them each split has.

        Raises:
            StoreError: a file cannot be read. CorruptFileError: it does not hold what it should.
        """
        first = [paths[name] for name in self.expected[:4]]
        train, test = read_digits(first[0], first[1]), read_digits(first[2], first[3])
        both = Digits(np.concatenate([train.images, test.images]), np.concatenate([train.labels, test.labels]))
        return both, last_twelfth(len(train.labels), len(test.labels))


def class_factor(names: Sequence[str]) -> tuple[tuple[Factor, ...], tuple[Target, ...]]:
    """The factor `label` and the target `label` of classes."""
    return (Factor("label", tuple(names)),), (Target("label", "class", tuple(names)),)


def dealt(labels: np.ndarray, others: np.ndarray, *, seed: int, names: tuple[str | int, ...], what: str) -> np.ndarray:
    """For each of `labels` (N,) the position (N,) of one of `others` (M,) of the same class.

    Those of a class are dealt out in turn, in an order that is drawn: none is used twice before all are used once.

    Args:
        labels: classes.
        others: classes of what is dealt out; -1 is never dealt out.
        seed: of the order.
        names: of the stream of the order.
        what: is dealt out, for the message, such as `recordings of the split train`.

    Raises:
        DataError: there is none of a class.
    """
    out = np.empty(len(labels), np.int64)
    for number in np.unique(labels):
        pool, rows = np.flatnonzero(others == number), np.flatnonzero(labels == number)
        if not len(pool):
            raise DataError(f"{what}: expected at least one of class {number}, got none: restore the files")
        order = seeds.generator(seed, *names, int(number)).permutation(pool)
        out[rows] = order[np.arange(len(rows)) % len(order)]
    return out


def matched(
    first: np.ndarray, second: np.ndarray, *, rounds: int, most: int, seed: int, names: tuple[str | int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (P,) in `first` (N,) and in `second` (M,) that are of the same class: random pairs, in rounds.

    The first n of each class are used, n being the smaller of their numbers and at most `most`. In every round each of them is in
    one pair, drawn anew. Classes follow each other, and rounds within a class.
    """
    pairs = []
    for number in np.intersect1d(first, second):
        left, right = np.flatnonzero(first == number), np.flatnonzero(second == number)
        count = min(len(left), len(right), most)
        for place in range(rounds):
            rng = seeds.generator(seed, *names, int(number), place)
            pairs.append((rng.permutation(left[:count]), rng.permutation(right[:count])))
    if not pairs:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    columns = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return next(columns), next(columns)
