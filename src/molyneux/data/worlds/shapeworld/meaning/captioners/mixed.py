"""Captions of several captioners, and captions joined of two by a connective."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from molyneux.core import ConfigError, nearest, seeds
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import Captions, substream
from molyneux.data.worlds.shapeworld.meaning.captioners.composed import ComposedCaptioner
from molyneux.data.worlds.shapeworld.meaning.captioners.parts import OneOf, Row, SymbolPart, chosen
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes

CONNECTIVES = ("and", "or", "either", "if", "iff")

_TRUE_OF = {
    "and": ((True, True),),
    "or": ((True, False), (False, True), (True, True)),
    "either": ((True, False), (False, True)),
    "if": ((True, True), (True, False), (False, False)),
    "iff": ((True, True), (False, False)),
}
"""Truth values of two clauses of which a connective is true; `if` has the consequent first."""


class MixedCaptioner(ComposedCaptioner):
    """Captions of one of several captioners, which is a form of the sample.

    Args:
        captioners: of one semantics.
        weights: of the captioners; equal by default.

    Raises:
        ConfigError: no captioners, other weights than captioners, or captioners of different semantics.
    """

    def __init__(self, captioners: Sequence[ComposedCaptioner], weights: Sequence[float] | None = None) -> None:
        if not captioners or len({captioner.semantics for captioner in captioners}) > 1:
            raise ConfigError("captioners: expected at least one, all of one semantics")
        if weights is not None and (len(weights) != len(captioners) or min(weights) < 0 or max(weights) <= 0):
            raise ConfigError(f"weights: expected {len(captioners)} numbers of at least 0, not all 0, got {tuple(weights)}")
        self._captioners, self._weights = tuple(captioners), [1.0] * len(captioners) if weights is None else list(weights)
        part = OneOf(*(captioner.part for captioner in captioners), weights=self._weights)
        kinds = ("correct", *dict.fromkeys(kind for captioner in captioners for kind in captioner.kinds[1:]))
        edits = tuple(dict.fromkeys(edit for captioner in captioners for edit in captioner.edits))
        super().__init__(part, kinds, captioners[0].semantics, edits)
        self.length = max(captioner.length for captioner in captioners)

    def draw(self, scenes: Scenes, wanted: np.ndarray, stream: np.ndarray, indices: np.ndarray) -> Captions:
        """See `Captioner.draw`."""
        which = chosen(self.forms(stream, indices)[:, 0], self._weights)
        out = Captions.none(len(indices), self.length)
        for place, captioner in enumerate(self._captioners):
            rows = np.flatnonzero(which == place)
            if len(rows):
                found = captioner.draw(scenes[rows], wanted[rows], substream(stream, "captioner", place), indices[rows])
                out.put(rows, found, kinds=[self.kinds.index(kind) for kind in captioner.kinds])
        return out


class Logical(ComposedCaptioner):
    """Two clauses with a connective: "a square is red and there is a circle".

    A false caption's kind says which clauses are false. All combinations of the clauses' truth values that make the caption
    true, or false, are equally likely.

    Args:
        clauses: what clauses are drawn from.
        connectives: names of `CONNECTIVES`.

    Raises:
        ConfigError: an unknown connective, or none.
    """

    def __init__(self, clauses: ComposedCaptioner, connectives: Sequence[str] = CONNECTIVES) -> None:
        unknown = [name for name in connectives if name not in CONNECTIVES]
        if unknown or not connectives:
            raise ConfigError(f"connectives: {nearest(unknown[0], CONNECTIVES) if unknown else 'expected at least one'}")
        self._clauses, self._connectives = clauses, tuple(connectives)
        part = Row(SymbolPart(*connectives, as_form=True), clauses.part, clauses.part)
        super().__init__(
            part, ("correct", "neither false", "first false", "second false", "both false"), clauses.semantics, clauses.edits
        )
        self.length = 1 + 2 * clauses.length

    def draw(self, scenes: Scenes, wanted: np.ndarray, stream: np.ndarray, indices: np.ndarray) -> Captions:
        """See `Captioner.draw`."""
        numbers = seeds.uniforms(substream(stream, "connective"), indices, 2)
        which = (numbers[:, 0] * len(self._connectives)).astype(np.int64)
        values = np.zeros((len(indices), 2), bool)
        for place, name in enumerate(self._connectives):
            for truth_value in (True, False):
                pairs = [(a, b) for a in (True, False) for b in (True, False) if ((a, b) in _TRUE_OF[name]) == truth_value]
                rows = np.flatnonzero((which == place) & (wanted == truth_value))
                values[rows] = np.array(pairs)[(numbers[rows, 1] * len(pairs)).astype(np.int64)]
        first, second = (
            self._clauses.draw(scenes, values[:, place], substream(stream, "clause", place), indices) for place in (0, 1)
        )
        codes = np.array([CODES[name] for name in self._connectives], np.int16)[which]
        out = Captions.none(len(indices), self.length)
        out.programs[:, 0], out.programs[:, 1 : 1 + self._clauses.length] = codes, first.programs
        until = 1 + (first.programs > 0).sum(1)
        columns = until[:, None] + np.arange(self._clauses.length)
        np.put_along_axis(out.programs, columns, second.programs, 1)
        out.ok[:] = first.ok & second.ok
        out.programs[~out.ok] = 0
        out.kind[:] = np.where(wanted, 0, 1 + (~values[:, 0]) + 2 * (~values[:, 1]))
        return out
