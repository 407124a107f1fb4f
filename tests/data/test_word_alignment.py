"""Averages over words, against a loop over words."""

import sys
from collections import Counter

import numpy as np
import pytest

from molyneux.core import DataError
from molyneux.data import WordAlign
from molyneux.data.word_alignment import Frames, Words


def drawn(seed, *, samples=20, intervals=False):
    rng = np.random.default_rng(seed)
    counts, said = rng.integers(0, 60, samples), rng.integers(0, 12, samples)
    starts, word_starts = (np.concatenate([[0], np.cumsum(n)]) for n in (counts, said))
    times = np.concatenate([np.sort(rng.integers(0, 40, n)) / 4 for n in counts])  # many equal times, some at ends of words
    begins = np.concatenate([np.sort(rng.integers(0, 40, n)) / 4 for n in said])
    spans = np.stack([begins, begins + rng.integers(0, 9, len(begins)) / 4], 1)
    times = np.stack([times, times + 0.25], 1) if intervals else times
    return Frames(rng.normal(size=(len(times), 3)) + 100, times, starts), Words(spans, word_starts)


def looped(frames, words, steps):
    count = len(words.starts) - 1
    values, counts = np.zeros((count, steps, frames.values.shape[1])), np.zeros((count, steps), int)
    for sample in range(count):
        own = slice(frames.starts[sample], frames.starts[sample + 1])
        spans = words.times[words.starts[sample] : words.starts[sample + 1]][-steps:]
        for place, (begin, end) in enumerate(spans):
            times = frames.times[own]
            inside = (times >= begin) & (times < end) if times.ndim == 1 else (times[:, 1] > begin) & (times[:, 0] < end)
            counts[sample, place] = inside.sum()
            if inside.any():
                values[sample, place] = frames.values[own][inside].mean(0)
    return values, counts


@pytest.mark.parametrize("intervals", [False, True])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("steps", [None, 4, 30])
def test_as_a_loop_over_words(seed, intervals, steps):
    frames, words = drawn(seed, intervals=intervals)
    found = WordAlign(steps)({"sound": frames}, words)["sound"]
    values, counts = looped(frames, words, found.values.shape[1])
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_allclose(found.values, values, rtol=1e-6)
    np.testing.assert_array_equal(found.lengths, np.minimum(np.diff(words.starts), found.values.shape[1]))
    assert counts.max() > 1 or steps == 4


def test_a_worked_example():
    frames = Frames(np.array([[1.0], [3.0], [5.0], [7.0]]), np.array([0.0, 0.5, 1.0, 1.5]), np.array([0, 4]))
    words = Words(np.array([[0.0, 1.0], [1.0, 1.2], [3.0, 4.0]]), np.array([0, 3]))
    found = WordAlign()({"face": frames}, words)["face"]
    assert found.values[0, :, 0].tolist() == [2.0, 5.0, 0.0]
    assert found.counts[0].tolist() == [2, 1, 0]


def test_senses_of_other_rates_get_the_same_steps():
    words = Words(np.array([[0.0, 1.0], [1.0, 2.0]]), np.array([0, 2]))
    slow = Frames(np.arange(4.0)[:, None], np.arange(4) / 2, np.array([0, 4]))
    fast = Frames(np.arange(20.0)[:, None], np.arange(20) / 10, np.array([0, 20]))
    found = WordAlign(5)({"slow": slow, "fast": fast}, words)
    assert [sense.values.shape for sense in found.values()] == [(1, 5, 1)] * 2
    assert found["slow"].counts[0].tolist() == [2, 2, 0, 0, 0]
    assert found["fast"].values[0, :2, 0].tolist() == [4.5, 14.5]


def test_no_loop_over_words():
    """Ten times as many words make no more calls."""
    calls = [_calls(each) for each in (20, 200)]
    assert calls[0] == calls[1]


def _calls(each):
    """Calls of functions, those of compiled code too, for so many words in a sample; what is found agrees with the loop."""
    rng = np.random.default_rng(0)
    samples, counted = 20, Counter()
    times = np.sort(rng.uniform(0, 100, (samples, 1000)), 1).reshape(-1)
    begins = np.sort(rng.uniform(0, 100, (samples, each)), 1).reshape(-1)
    frames = Frames(rng.normal(size=(len(times), 4)), times, np.arange(samples + 1) * 1000)
    words = Words(np.stack([begins, begins + 0.4], 1), np.arange(samples + 1) * each)
    WordAlign()({"sound": frames}, words)  # imports and compiles
    sys.setprofile(lambda frame, event, given: counted.update([event]))
    try:
        found = WordAlign()({"sound": frames}, words)["sound"]
    finally:
        sys.setprofile(None)
    np.testing.assert_allclose(found.values, looped(frames, words, each)[0], rtol=1e-5, atol=1e-6)
    return counted["call"] + counted["c_call"]


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Frames(np.zeros((3, 2)), np.zeros(2), np.array([0, 3])), "expected values"),
        (
            lambda: Frames(np.array([[0.0, -np.inf]]), np.zeros(1), np.array([0, 1])),
            "got -inf in frame 0, column 1: replace them",
        ),
        (
            lambda: Frames(np.zeros((3, 2)), np.array([0.0, 2.0, 1.0]), np.array([0, 3])),
            "rise within a sample, got .1.0. for frame 2",
        ),
        (lambda: Frames(np.zeros((2, 2)), np.array([0.0, np.nan]), np.array([0, 2])), "finite times"),
        (lambda: Frames(np.zeros((2, 2)), np.zeros(2), np.array([0, 3])), "expected starts from 0 to 2"),
        (lambda: Words(np.array([[1.0, 0.5]]), np.array([0, 1])), "got .1.0, 0.5. for word 0"),
        (lambda: Words(np.zeros((2, 3)), np.array([0, 2])), "expected times"),
    ],
)
def test_what_does_not_fit_is_told(make, complaint):
    with pytest.raises(DataError, match=complaint):
        make()


def test_frames_of_other_samples_are_refused():
    _, words = drawn(0)
    with pytest.raises(DataError, match="sound: expected frames of 20 samples, as there are words of, got 1"):
        WordAlign()({"sound": Frames(np.zeros((3, 1)), np.arange(3.0), np.array([0, 3]))}, words)
    times = np.array([0.0, 1.0, 0.0, 1.0])
    Frames(np.zeros((4, 1)), times, np.array([0, 2, 4]))  # times begin anew with a sample
