"""Word-level alignment: what was seen and heard while each word was said, as one step for each word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from molyneux.core import DataError


@dataclass(frozen=True)
class Frames:
    """The raw features of one sense for several samples, one after the other.

    Args:
        values: (F, D) one row for each frame.
        times: (F,) when each frame was taken, or (F, 2) its beginning and end, in seconds; rising within a sample.
        starts: (N + 1,) the first frame of each sample, and the number of all frames at the end.

    Raises:
        DataError: shapes that do not fit, values that are not finite, times that are not finite and rising, or intervals that
            end before they begin.
    """

    values: np.ndarray
    times: np.ndarray
    starts: np.ndarray

    def __post_init__(self) -> None:
        times = self.times.reshape(len(self.times), -1)
        if self.values.ndim != 2 or len(times) != len(self.values) or times.shape[1] not in (1, 2):
            raise DataError(
                f"frames: expected values (F, D) and times (F,) or (F, 2), got {self.values.shape} and {self.times.shape}"
            )
        if not np.isfinite(self.values).all():  # one of them would be in the running sums of all that follow
            row, column = np.argwhere(~np.isfinite(self.values))[0].tolist()
            got = f"{self.values[row, column]} in frame {row}, column {column}"
            raise DataError(f"frames: expected finite values, got {got}: replace them, as affect data sets do by 0")
        _check_starts(self.starts, len(times), "frames")
        _check_times(times, self.starts, "frames")


@dataclass(frozen=True)
class Words:
    """When the words of several samples were said, one sample after the other.

    Args:
        times: (W, 2) beginning and end of each word in seconds; words may overlap or touch.
        starts: (N + 1,) the first word of each sample, and the number of all words at the end.

    Raises:
        DataError: shapes that do not fit, times that are not finite, or words that end before they begin.
    """

    times: np.ndarray
    starts: np.ndarray

    def __post_init__(self) -> None:
        if self.times.ndim != 2 or self.times.shape[1] != 2:
            raise DataError(f"words: expected times (W, 2), got {self.times.shape}")
        if not np.isfinite(self.times).all() or (self.times[:, 1] < self.times[:, 0]).any():
            row = int(np.flatnonzero(~np.isfinite(self.times).all(1) | (self.times[:, 1] < self.times[:, 0]))[0])
            raise DataError(
                f"words: expected a beginning and an end that is not before it, got {self.times[row].tolist()} for word {row}"
            )
        _check_starts(self.starts, len(self.times), "words")


@dataclass(frozen=True)
class WordAlign:
    """Averages of features over the time of each word (Chen et al., ICMI 2017, section 3; MultiBench's WordAlign).

    A frame with one time belongs to a word that has begun and not yet ended; a frame with an interval belongs to a word that it
    overlaps. A word without a frame has zeros, and its count says so. The averages of all words of all samples are differences of
    running sums, without a loop over words.

    Args:
        steps: words of a sample at most; the last ones of longer samples are kept, as in the published data. By default the
            longest sample fits.
    """

    steps: int | None = None

    def __call__(self, senses: Mapping[str, Frames], words: Words) -> dict[str, Aligned]:
        """The senses word by word.

        Args:
            senses: the frames of each, of the same N samples.
            words: the words of these samples.

        Raises:
            DataError: the numbers of samples differ.
        """
        count = len(words.starts) - 1
        for name, frames in senses.items():
            if len(frames.starts) - 1 != count:
                raise DataError(
                    f"{name}: expected frames of {count} samples, as there are words of, got {len(frames.starts) - 1}"
                )
        said = np.diff(words.starts)
        steps = self.steps or int(said.max(initial=1))
        sample = np.repeat(np.arange(count), said)
        place = np.arange(len(sample)) - words.starts[sample] - np.maximum(said - steps, 0)[sample]
        kept = place >= 0
        found = {}
        for name, frames in senses.items():
            means, frame_counts = averages(frames, words, sample)
            values = np.zeros((count, steps, means.shape[1]), np.float32)
            counts = np.zeros((count, steps), np.int64)
            values[sample[kept], place[kept]], counts[sample[kept], place[kept]] = means[kept], frame_counts[kept]
            found[name] = Aligned(values, np.minimum(said, steps), counts)
        return found


@dataclass(frozen=True)
class Aligned:
    """A sense word by word.

    Args:
        values: (N, steps, D) float32, words from the beginning of each row, zeros behind them.
        lengths: (N,) words of each sample.
        counts: (N, steps) frames that each average is of; 0 where there was none, and behind the last word.
    """

    values: np.ndarray
    lengths: np.ndarray
    counts: np.ndarray


def averages(frames: Frames, words: Words, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The averages (W, D) over the frames of each word, and how many these are (W,); `sample` (W,) is that of each word."""
    owner = np.repeat(np.arange(len(frames.starts) - 1), np.diff(frames.starts))
    times = frames.times.reshape(len(owner), -1)
    begins, ends = words.times[:, 0], words.times[:, 1]
    if times.shape[1] == 2:
        first = _before(owner, times[:, 1], sample, begins, equal=True)  # frames that ended when the word began
        last = _before(owner, times[:, 0], sample, ends, equal=False)
    else:
        first = _before(owner, times[:, 0], sample, begins, equal=False)
        last = _before(owner, times[:, 0], sample, ends, equal=False)
    counts = np.maximum(last - first, 0)
    sums = np.concatenate([np.zeros((1, frames.values.shape[1])), np.cumsum(frames.values, axis=0, dtype=np.float64)])
    means = (sums[np.maximum(first, last)] - sums[first]) / np.maximum(counts, 1)[:, None]
    return means, counts


def _before(owner: np.ndarray, times: np.ndarray, sample: np.ndarray, limits: np.ndarray, *, equal: bool) -> np.ndarray:
    """How many frames, of all samples in order, come before each limit (W,) of its sample, or with it where `equal`."""
    samples, values = np.concatenate([owner, sample]), np.concatenate([times, limits])
    limit = np.arange(len(samples)) >= len(owner)
    ties = limit if equal else ~limit  # of equal times, frames stand before limits, or behind them
    order = np.lexsort((ties, values, samples))
    seen = np.cumsum(~limit[order])
    found = np.empty(len(sample), np.int64)
    places = order[limit[order]] - len(owner)
    found[places] = seen[limit[order]]
    return found


def _check_starts(starts: np.ndarray, count: int, what: str) -> None:
    if starts.ndim != 1 or len(starts) < 2 or starts[0] != 0 or starts[-1] != count or (np.diff(starts) < 0).any():
        raise DataError(f"{what}: expected starts from 0 to {count}, not falling, got {starts.tolist()[:5]}")


def _check_times(times: np.ndarray, starts: np.ndarray, what: str) -> None:
    new = np.zeros(len(times) + 1, bool)
    new[starts] = True
    falls = (np.diff(times, axis=0) < 0).any(1) & ~new[1:-1]
    wrong = ~np.isfinite(times).all(1) | (times[:, 0] > times[:, -1])
    wrong[1:] |= falls
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(f"{what}: expected finite times that rise within a sample, got {times[row].tolist()} for frame {row}")
