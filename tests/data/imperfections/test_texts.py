"""Typing errors and changed words: what each does to words, how often, and what never changes."""

from collections import Counter

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, Spec
from molyneux.core.views import text_strings
from molyneux.data import ArraySource
from molyneux.data.imperfections import (
    Corrupted,
    LetterShuffle,
    LetterSwap,
    Omission,
    StickyKeys,
    Typos,
    WordDropout,
    WordSwap,
)

LETTERS = (" ", *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,")
LENGTH = 48
SAID = ["the quick brown foxes jumped over", "seventeen Small words, and a dot.", "it is", "", "extraordinary"]
SPEC = Spec((Modality("text", "text", (LENGTH,), "uint8", LETTERS, 0),))
N = 2000
TEXTS = [SAID[number % len(SAID)] for number in range(N)]


def samples(texts=TEXTS, spec=SPEC, **fields):
    (modality,) = spec.modalities
    ids = torch.tensor([[modality.symbols.index(letter) for letter in text.ljust(modality.shape[0])] for text in texts])
    return ArraySource(spec, Batch({"text": ids.to(torch.uint8)}, **fields))


def changed(corruption, strength, source=None):
    source = source or samples()
    found = Corrupted(source, corruption, strength, seed=2).batch(np.arange(len(source)))
    return text_strings(source.spec.modalities[0], found.views["text"], found.lengths.get("text"))


def pairs(after):
    """Words before and after, where their number is the same."""
    for old, new in zip(TEXTS, after, strict=True):
        yield from zip(old.split(" "), new.split(" "), strict=True)


@pytest.mark.parametrize("strength", [0.1, 0.5, 1.0])
def test_letters_become_neighbours_on_the_keyboard(strength):
    after = changed(Typos(), strength)
    letters = [(a, b) for old, new in zip(TEXTS, after, strict=True) for a, b in zip(old, new, strict=True)]
    differ = [(a, b) for a, b in letters if a != b]
    assert abs(len(differ) / sum(a.isalpha() for a, _ in letters) - strength) < 0.01
    assert all(a.isalpha() and a.isupper() == b.isupper() for a, b in differ)
    assert {b for a, b in differ if a == "s"} == set("awedxz")
    assert {b for a, b in differ if a == "S"} == set("AWEDXZ")


KINDS = {
    LetterSwap: lambda old, new: (
        len(old) == len(new)
        and old[0] == new[0]
        and old[-1] == new[-1]
        and sum(a != b for a, b in zip(old, new, strict=True)) in (0, 2)
    ),
    LetterShuffle: lambda old, new: sorted(old) == sorted(new) and old[0] == new[0] and old[-1] == new[-1],
    Omission: lambda old, new: len(new) == len(old) - 1 and is_part(new, old),
    StickyKeys: lambda old, new: len(new) == len(old) + 1 and is_part(old, new),
}


def is_part(short, long):
    rest = iter(long)
    return all(letter in rest for letter in short)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("strength", [0.2, 1.0])
def test_words_change_with_their_probability_and_in_their_way(kind, strength):
    found = [(old.strip(".,"), new.strip(".,")) for old, new in pairs(changed(kind(), strength))]
    long = [(old, new) for old, new in found if len(old) >= 4]
    assert all(old == new for old, new in found if len(old) < 4)
    hit = [(old, new) for old, new in long if old != new]
    assert all(KINDS[kind](old, new) for old, new in hit)
    same = 0.06 if kind in (LetterSwap, LetterShuffle) else 0.02  # equal letters, or a shuffle that changes nothing
    assert strength - same * max(1, 3 * strength) - 0.03 < len(hit) / len(long) < strength + 0.03


def test_every_place_of_a_word_can_be_hit():
    only = samples(["abcdef"] * N)
    assert set(changed(Omission(), 1.0, only)) == {"bcdef", "acdef", "abdef", "abcef", "abcdf", "abcde"}
    assert set(changed(LetterSwap(), 1.0, only)) == {"acbdef", "abdcef", "abcedf"}
    assert len(set(changed(LetterShuffle(), 1.0, only))) == 24
    counts = Counter(changed(LetterShuffle(), 1.0, only))
    assert max(counts.values()) < 2 * N / 24
    assert {len(text) for text in changed(Omission(letters=3), 1.0, only)} == {3}
    assert {len(text) for text in changed(StickyKeys(letters=6, shortest=6), 1.0, only)} == {12}


def test_words_are_dropped_and_exchanged():
    only = samples(["one two three four five six"] * N)
    kept = [text.split() for text in changed(WordDropout(), 0.4, only)]
    assert abs(np.mean([len(words) for words in kept]) / 6 - 0.6) < 0.03
    assert all(is_part(words, ["one", "two", "three", "four", "five", "six"]) for words in kept)
    assert set(changed(WordDropout(), 1.0, only)) == {""}
    assert set(changed(WordSwap(), 1.0, only)) == {"two one four three six five"}
    some = changed(WordSwap(), 0.3, only)
    assert {tuple(sorted(text.split())) for text in some} == {("five", "four", "one", "six", "three", "two")}
    assert len(set(some)) > 5


def test_words_of_a_vocabulary_are_exchanged_too():
    symbols = ("<pad>", "<end>", *(f"w{number}" for number in range(8)))
    spec = Spec((Modality("text", "text", (7,), "int64", symbols, 0, None, 1),))
    ids = torch.tensor([[2, 3, 4, 5, 6, 1, 0]] * 300)
    source = ArraySource(spec, Batch({"text": ids}))
    after = Corrupted(source, WordSwap(), 1.0, seed=1).batch(np.arange(300)).views["text"]
    assert after.unique(dim=0).tolist() == [[3, 2, 5, 4, 6, 1, 0]]
    with pytest.raises(ConfigError, match="letter-swap: expected a modality of kind text that fits"):
        Corrupted(source, LetterSwap(), 0.5, seed=1)


def test_what_does_not_fit_is_cut_and_the_end_moves_with_the_words():
    symbols = ("<pad>", "<end>", *"abcd ")
    spec = Spec((Modality("text", "text", (6,), "int64", symbols, 0, None, 1),))
    source = ArraySource(spec, Batch({"text": torch.tensor([[2, 3, 4, 5, 1, 0], [2, 3, 4, 5, 2, 1], [2, 2, 2, 2, 2, 2]])}))
    longer = Corrupted(source, StickyKeys(letters=2), 1.0, seed=1).batch(np.arange(3)).views["text"]
    assert all(1 not in row[:-1] for row in longer.tolist())
    shorter = Corrupted(source, Omission(letters=2), 1.0, seed=1).batch(np.arange(3)).views["text"]
    assert [row.index(1) if 1 in row else None for row in shorter.tolist()][:2] == [2, 3]
    assert shorter[0, 3:].tolist() == [0, 0, 0]
    lengths = {"text": torch.tensor([4, 6, 5])}
    spec = Spec((Modality("text", "text", (6,), "int64", tuple("abcd")),))
    source = ArraySource(spec, Batch({"text": torch.tensor([[0, 1, 2, 3, 0, 0]] * 3)}, lengths=lengths))
    assert Corrupted(source, Omission(), 1.0, seed=1).batch(np.arange(3)).lengths["text"].tolist() == [3, 5, 4]
    assert Corrupted(source, StickyKeys(), 1.0, seed=1).batch(np.arange(3)).lengths["text"].tolist() == [5, 6, 6]


def test_settings_that_cannot_be_used():
    with pytest.raises(ConfigError, match="letter-swap: expected shortest of at least 4 letters, got 3"):
        LetterSwap(shortest=3)
    with pytest.raises(ConfigError, match="omission: expected from 1 letter to fewer than the shortest 4, got 4"):
        Omission(letters=4)
