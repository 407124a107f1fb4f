"""What all captioners are: for scenes and wanted truth values they draw captions, all at once, with a bounded number of trials.

The captions of sample `i` depend on its scene, the stream of random numbers and `i` alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import seeds
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.scenes.scenes import NotDrawnError, Scenes

ROUNDS = (1, 2, 4, 8, 16, 32, 64)
"""How many candidates of each caption that is still missing are drawn at once, round after round."""

_FEW_ROWS, _MOST_ROWS = 128, 2**15
"""Candidates that `filled` draws at once at least and at most: a few take as long as one, and one each may be more than most."""

_HARD, _HARD_ROWS = 16, 1024
"""After so many tries, the samples of which none was found are tried on a few at a time: so many by tries before."""

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

    @classmethod
    def none(cls, count: int, length: int) -> Captions:
        """Captions of which none is found yet."""
        return cls(np.zeros((count, length), np.int16), np.zeros(count, np.int16), np.zeros(count, bool))

    def put(self, rows: np.ndarray, found: Captions, kinds: Sequence[int] | None = None) -> None:
        """Fill rows with captions, whose kinds have other positions here if `kinds` says so."""
        self.programs[rows, : found.programs.shape[1]] = found.programs
        self.kind[rows] = found.kind if kinds is None else np.asarray(kinds, np.int16)[found.kind]
        self.ok[rows] = found.ok


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
    out = Captions.none(len(indices), length)
    for number, candidates in enumerate(rounds):
        pending = np.flatnonzero(~out.ok)
        if not len(pending):
            break
        drawn = seeds.uniforms(substream(stream, "round", number), indices[pending], candidates * numbers)
        found, kind, accepted = propose(pending.repeat(candidates), drawn.reshape(-1, numbers))
        accepted = accepted.reshape(len(pending), candidates)
        hit = np.flatnonzero(accepted.any(1))
        first = hit * candidates + accepted[hit].argmax(1)
        out.put(pending[hit], Captions(found[first], kind[first], np.ones(len(hit), bool)))
    return out


def filled(
    draw: Callable[[np.ndarray, np.ndarray], tuple[tuple[np.ndarray, ...], np.ndarray]], count: int, *, tries: int, what: str
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Arrays of samples that are drawn again, each a bounded number of times, until all are found; and the try of each.

    Args:
        draw: gives arrays for samples by position (m,), repeats allowed, and the numbers of the tries (m,), and whether each was
            found (m,).
        count: samples.
        tries: at most.
        what: is drawn, for the error.

    Raises:
        NotDrawnError: some samples were not found.
    """
    if not count:
        none = np.zeros(0, np.int64)
        return draw(none, none)[0], none
    out: list[np.ndarray] = []
    done, waiting = np.full(count, -1), [(np.arange(count), 0, 1)]
    while waiting:
        pending, number, at_once = waiting.pop()
        few = max(1, _HARD_ROWS // number) if number >= _HARD else len(pending)
        if len(pending) > few:  # one that has no solution is found out with a few, and the others need not be tried
            waiting.append((pending[few:], number, at_once))
            pending = pending[:few]
        at_once = max(1, min(max(at_once, _FEW_ROWS // len(pending)), tries - number, _MOST_ROWS // len(pending)))
        attempts = np.tile(np.arange(number, number + at_once), len(pending))
        arrays, found = draw(pending.repeat(at_once), attempts)
        found = found.reshape(len(pending), at_once)
        hit = np.flatnonzero(found.any(1))
        first, rows = hit * at_once + found[hit].argmax(1), pending[hit]
        if not out:
            out = [np.zeros((count, *array.shape[1:]), array.dtype) for array in arrays]
        for whole, array in zip(out, arrays, strict=True):
            whole[rows] = array[first]
        done[rows] = attempts[first]
        if len(hit) == len(pending):
            continue
        if number + at_once >= tries:
            raise NotDrawnError(
                f"no {what} was found for at least {len(pending) - len(hit)} of {count} samples in {tries} scenes each",
                "allow more kinds of captions, or scenes with other numbers of entities",
            )
        waiting.append((np.delete(pending, hit), number + at_once, 2 * at_once))
    return tuple(out), done


def attempted(indices: np.ndarray, attempts: np.ndarray) -> np.ndarray:
    """Numbers for the random streams of the tries of samples; those of samples are below 2 ** 40."""
    return np.asarray(indices + (attempts << 40))
