"""What all captioners are: for scenes and wanted truth values they draw captions, all at once, with a bounded number of trials.

The captions of sample `i` depend on its scene, the stream of random numbers and `i` alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import ConfigError, seeds
from molyneux.data.worlds.shapeworld.meaning.programs import structures
from molyneux.data.worlds.shapeworld.meaning.semantics import Semantics
from molyneux.data.worlds.shapeworld.scenes import Scenes

ROUNDS = (1, 2, 4, 8, 16, 32, 64)
"""How many candidates of each caption that is still missing are drawn at once, round after round."""

Proposed = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Candidates: codes (n, L), kinds (n,), and whether each is accepted (n,)."""


@dataclass(frozen=True)
class Captions:
    """Captions of a batch of scenes.

    Args:
        programs: (n, L) int16, codes in Polish notation, padded with 0.
        kind: (n,) int16, position in the captioner's `kinds`; 0 is a correct caption.
        ok: (n,) bool, whether one was found; otherwise its codes are 0.
    """

    programs: np.ndarray
    kind: np.ndarray
    ok: np.ndarray

    @property
    def structure(self) -> np.ndarray:
        """(n,) uint64, equal for captions that differ in shapes and colours alone."""
        return structures(self.programs)


class Captioner(ABC):
    """Draws captions of scenes.

    Args:
        kinds: names of the kinds of its captions; the first is that of correct ones.
        length: most symbols of a caption.
        semantics: when a caption is true.
    """

    def __init__(self, kinds: Sequence[str], length: int, semantics: Semantics | None = None) -> None:
        self.kinds, self.length, self.semantics = tuple(kinds), length, semantics or Semantics()

    @abstractmethod
    def draw(self, scenes: Scenes, wanted: np.ndarray, stream: np.ndarray, indices: np.ndarray) -> Captions:
        """Captions with wanted truth values.

        Args:
            scenes: n of them, each with at least one entity.
            wanted: (n,) bool.
            stream: key of the random numbers, from `seeds.key`.
            indices: (n,) numbers of the samples.
        """


def substream(stream: np.ndarray, *names: str | int) -> np.ndarray:
    """A stream that belongs to another one."""
    return seeds.key(int(stream[0]), int(stream[1]), *names)


def redrawn(
    propose: Callable[[np.ndarray, np.ndarray], Proposed],
    stream: np.ndarray,
    indices: np.ndarray,
    *,
    numbers: int,
    length: int,
    rounds: Sequence[int] = ROUNDS,
) -> Captions:
    """The first candidate of each sample that is accepted.

    Args:
        propose: gives candidates for samples by position (m,), repeats allowed, and random numbers (m, numbers).
        stream: key of the random numbers.
        indices: (n,) numbers of the samples.
        numbers: random numbers of a candidate.
        length: L of the captions.
        rounds: candidates of a round, round after round.
    """
    programs = np.zeros((len(indices), length), np.int16)
    kinds, ok = np.zeros(len(indices), np.int16), np.zeros(len(indices), bool)
    for number, candidates in enumerate(rounds):
        pending = np.flatnonzero(~ok)
        if not len(pending):
            break
        drawn = seeds.uniforms(substream(stream, "round", number), indices[pending], candidates * numbers)
        found, kind, accepted = propose(pending.repeat(candidates), drawn.reshape(-1, numbers))
        accepted = accepted.reshape(len(pending), candidates)
        first = np.flatnonzero(accepted.any(1)) * candidates + accepted.argmax(1)[accepted.any(1)]
        rows = pending[accepted.any(1)]
        programs[rows, : found.shape[1]], kinds[rows], ok[rows] = found[first], kind[first], True
    return Captions(programs, kinds, ok)


def filled(
    draw: Callable[[np.ndarray, int], tuple[tuple[np.ndarray, ...], np.ndarray]], count: int, *, tries: int, what: str
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Arrays of samples that are drawn again, each a bounded number of times, until all are found; and the try of each.

    Args:
        draw: gives arrays for samples by position (m,) and the number of the try, and whether each was found (m,).
        count: samples.
        tries: at most.
        what: is drawn, for the error.

    Raises:
        ConfigError: some samples were not found.
    """
    out: list[np.ndarray] = []
    attempt, pending = np.full(count, -1), np.arange(count)
    for number in range(tries):
        arrays, ok = draw(pending, number)
        if not out:
            out = [np.zeros((count, *array.shape[1:]), array.dtype) for array in arrays]
        for whole, array in zip(out, arrays, strict=True):
            whole[pending[ok]] = array[ok]
        attempt[pending[ok]] = number
        pending = pending[~ok]
        if not len(pending):
            return tuple(out), attempt
    raise ConfigError(
        f"no {what} was found for {len(pending)} of {count} samples in {tries} scenes each: allow more kinds of captions, or "
        f"scenes with more entities that are alike"
    )
