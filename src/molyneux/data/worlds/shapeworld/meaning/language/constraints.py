"""Which captions there may be: with some symbols together, and of some lengths in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from molyneux.core import ConfigError, nearest
from molyneux.data.worlds.shapeworld.meaning.language.language import Language
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES


@dataclass(frozen=True)
class CaptionConstraint:
    """A set of captions that can say which ones it contains.

    Args:
        language: in which their words are counted.
        longest: most words, the full stop included.
        excluded_patterns: groups of symbols; no caption has all symbols of a group.
        required_patterns: groups of symbols; a caption has all symbols of one of them.
        excluded_lengths: numbers of words that no caption has.
        required_lengths: numbers of words, one of which a caption has.

    Raises:
        ConfigError: unknown symbols, an empty group, or lengths of which none is left; all problems at once.
    """

    language: Language
    longest: int
    excluded_patterns: Sequence[Sequence[str]] = ()
    required_patterns: Sequence[Sequence[str]] = ()
    excluded_lengths: Sequence[int] = ()
    required_lengths: Sequence[int] = ()

    def __post_init__(self) -> None:
        patterns = [*self.excluded_patterns, *self.required_patterns]
        problems = [
            f"patterns: {name!r} is no symbol of meaning; {nearest(name, CODES)}"
            for group in patterns
            for name in group
            if name not in CODES
        ]
        problems += ["patterns: expected at least one symbol in each group, got none"] * any(not group for group in patterns)
        if self.required_lengths and min(self.required_lengths) > self.longest:
            problems.append(
                f"lengths: captions have at most {self.longest} words, none has {min(self.required_lengths)}: allow longer ones"
            )
        if self.longest < 1 or not set(range(1, self.longest + 1)) - set(self.excluded_lengths):
            problems.append(f"lengths: expected a number of words from 1 to {self.longest} that is left, got none")
        if problems:
            raise ConfigError(problems)

    def patterned(self, programs: np.ndarray) -> np.ndarray:
        """Which captions (n, L) have a required pattern, (n,) bool; all of them where none is required."""
        return _with_any(programs, self.required_patterns) if self.required_patterns else np.ones(len(programs), bool)

    def refused(self, programs: np.ndarray) -> dict[str, np.ndarray]:
        """Which captions (n, L) each part of it refuses, (n,) bool: `longest`, `patterns` and `lengths`."""
        lengths = self.language.realise(programs).lengths
        counted = np.isin(lengths, np.array(self.excluded_lengths, np.int64))
        if self.required_lengths:
            counted |= ~np.isin(lengths, np.array(self.required_lengths, np.int64))
        patterns = _with_any(programs, self.excluded_patterns) | ~self.patterned(programs)
        return {"longest": lengths > self.longest, "patterns": patterns, "lengths": counted}

    def contains(self, programs: np.ndarray) -> np.ndarray:
        """Which captions (n, L) in Polish notation are among them, (n,) bool."""
        fits = ~_with_any(programs, self.excluded_patterns)
        if self.required_patterns:
            fits &= _with_any(programs, self.required_patterns)
        some = np.flatnonzero(fits)
        lengths = self.language.realise(programs[some]).lengths
        good = (lengths <= self.longest) & ~np.isin(lengths, np.array(self.excluded_lengths, np.int64))
        if self.required_lengths:
            good &= np.isin(lengths, np.array(self.required_lengths, np.int64))
        fits[some] = good
        return fits


def _with_any(programs: np.ndarray, patterns: Sequence[Sequence[str]]) -> np.ndarray:
    """Which captions have all symbols of one of some groups, (n,) bool."""
    found = np.zeros(len(programs), bool)
    for group in patterns:
        found |= np.all([(programs == CODES[name]).any(1) for name in group], 0)
    return found
