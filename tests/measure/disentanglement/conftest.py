"""Factor tables of the text worlds, made without them, and the two ideal codes of letters."""

import hashlib
import random
from dataclasses import dataclass
from itertools import product
from math import perm

import numpy as np
import pytest

WORDS = {"n.": 5, "v.": 5, "adv.": 5, "adj.": 5, "prep.": 5, "conj1.": 5, "conj2.": 2, "end-punc.": 2}


@dataclass(frozen=True)
class Letters:
    """The test sentences of the letters as the published generator splits them, and their ideal codes.

    Args:
        factors: (32000, 4).
        values: (4, 20) and (4, 20, 2), the codes of each letter in Examples 1 and 2.
    """

    factors: np.ndarray
    values: tuple

    def codes(self, values):
        """The codes of the sentences from those of the letters."""
        return np.concatenate([values[i].reshape(20, -1)[column] for i, column in enumerate(self.factors.T)], 1)

    @property
    def first(self):
        return self.codes(self.values[0])

    @property
    def second(self):
        return self.codes(self.values[1])

    @property
    def digest(self):
        """MD5 of `test.txt`."""
        lines = (" ".join(f"{'ABCD'[i]}{value + 1}" for i, value in enumerate(row)) for row in self.factors.tolist())
        return hashlib.md5("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def made_letters():
    numbers = list(range(20**4))
    shuffle = random.Random(0).shuffle
    for _ in range(3):
        shuffle(numbers)
    test = np.array(numbers[128_000:])
    stream, first, second = np.random.RandomState(0), np.empty((4, 20)), np.empty((4, 20, 2))
    for place in product(range(4), range(20)):
        first[place], second[place] = stream.uniform(-1, 1), stream.uniform(-1, 1, size=2)
    return Letters(np.stack([test // 8000, test // 400 % 20, test // 20 % 20, test % 20], 1), (first, second))


def sentence_structures():
    """How often each tag occurs in each of the 16 simple and 279 complex structures."""
    simple = [
        {"n.": 2, "v.": 1, "adv.": a, "adj.": b + c, "prep.": d, "conj1.": 0, "conj2.": 0}
        for a, b, c, d in product((0, 1), repeat=4)
    ]
    made = list(simple)
    for one, other in product(simple, simple):
        joined = {tag: one[tag] + other[tag] for tag in one}
        if sum(joined.values()) <= 9:
            made += [{**joined, "conj1.": 1}] * 2 + [{**joined, "conj2.": 1}]
    return [{**tags, "end-punc.": 1} for tags in made]


def made_sentences(n, seed=0):
    """Factors of random sentences (n, 8): the number of the ordered tuple of all words of a tag, -1 where there is none."""
    rng, structures = np.random.default_rng(seed), sentence_structures()
    sizes = [min(10_000, np.prod([perm(WORDS[tag], count) for tag, count in tags.items()])) for tags in structures]
    drawn = rng.choice(len(structures), n, p=np.array(sizes) / sum(sizes))
    factors = np.empty((n, len(WORDS)), np.int64)
    for column, (tag, words) in enumerate(WORDS.items()):
        counts = np.array([tags[tag] for tags in structures])
        tuples = {count: perm(words, count) for count in sorted(set(counts[counts > 0].tolist()))}
        starts = dict(zip(tuples, np.cumsum([0, *tuples.values()]).tolist(), strict=False))
        start = np.array([starts.get(count, -1) for count in counts.tolist()])[drawn]
        width = np.array([tuples.get(count, 1) for count in counts.tolist()])[drawn]
        factors[:, column] = np.where(start < 0, -1, start + (rng.random(n) * width).astype(int))
    return factors


@pytest.fixture(scope="session")
def letters():
    return made_letters()


@pytest.fixture(scope="session")
def sentences():
    return made_sentences


@pytest.fixture(scope="session")
def tags():
    return tuple(WORDS)
