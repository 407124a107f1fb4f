"""Balanced captions: two scenes and two captions, each true of one scene and false of the other.

The four pairs are four instances. Every caption is once true and once false, and so is every picture, so whatever is read from
one of them alone is right in exactly half of the instances: neither text nor picture gives the truth away, by construction (the
scheme of Winoground; Thrush et al., 2022).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from molyneux.core import DataError
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import Captions, Proposed, redrawn, substream
from molyneux.data.worlds.shapeworld.meaning.captioners.composed import ComposedCaptioner
from molyneux.data.worlds.shapeworld.meaning.trees.programs import COLOUR_CODES, SHAPE_CODES
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scenes.edits import differing
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes

MEMBERS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""Scene and caption of each instance of a quadruple; those that have the same number agree."""


@dataclass(frozen=True)
class Quadruples:
    """Captions of pairs of scenes.

    Args:
        programs: (n, 2, L) int16, the first is true of the first scene and false of the second, the second the reverse.
        ok: (n,) bool, whether there are such; otherwise the codes are 0.
    """

    programs: np.ndarray
    ok: np.ndarray

    @property
    def kind(self) -> np.ndarray:
        """(n,) int8, position in `DIFFERENCES` of what the two captions of a pair differ in."""
        first, second = self.programs[:, 0], self.programs[:, 1]
        different = first != second
        found = [(different & np.isin(first, codes)).any(1) for codes in (SHAPE_CODES, COLOUR_CODES)]
        elsewhere = (different & ~np.isin(first, [*SHAPE_CODES, *COLOUR_CODES])).any(1)
        return np.where(elsewhere, 3, found[0] + 2 * found[1] - 1).astype(np.int8)


ROUNDS = (1, 4, 16)
"""Candidates of a caption for a pair of scenes; where none tells them apart, other scenes are cheaper than more candidates."""

DIFFERENCES = ("shapes", "colours", "shapes and colours", "other words")
"""What the two captions of a quadruple differ in."""


def quadruples(
    first: Scenes,
    second: Scenes,
    captioner: ComposedCaptioner,
    stream: np.ndarray,
    indices: np.ndarray,
    *,
    forms: np.ndarray | None = None,
    fits: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Quadruples:
    """Captions of one skeleton for pairs of scenes, drawn alike from each scene.

    Args:
        first: n scenes.
        second: n scenes; where they are like the first but for one thing, captions are about that thing.
        captioner: gives the skeletons; a skeleton is a function of the stream and the number, so that scenes can be drawn anew
            for it.
        stream: key of the random numbers, from `seeds.key`.
        indices: (n,) numbers of the quadruples.
        forms: (n, forms) of the skeletons; those of the stream and the numbers by default.
        fits: which captions (m, L) may be drawn, (m,) bool; all by default.

    Raises:
        DataError: not as many first as second scenes.
    """
    if len(first) != len(second) or len(first) != len(indices):
        raise DataError(f"expected pairs of scenes, and a number for each, got {len(first)}, {len(second)} and {len(indices)}")
    forms = captioner.forms(stream, indices) if forms is None else forms
    found: list[Captions] = []
    for place, (mine, other) in enumerate(((first, second), (second, first))):
        rows = np.arange(len(indices)) if not found else np.flatnonzero(found[0].ok)
        found.append(_contrasted(mine, other, captioner, forms, substream(stream, "caption", place), indices, rows, fits))
    ok = found[0].ok & found[1].ok
    programs = np.stack([captions.programs for captions in found], 1)
    programs[~ok] = 0
    return Quadruples(programs, ok)


def _contrasted(
    mine: Scenes,
    other: Scenes,
    captioner: ComposedCaptioner,
    forms: np.ndarray,
    stream: np.ndarray,
    indices: np.ndarray,
    rows: np.ndarray,
    fits: Callable[[np.ndarray], np.ndarray] | None,
) -> Captions:
    """Captions that are true of scenes and false of others, for some rows."""
    size = min(mine.present.shape[1], other.present.shape[1])
    focus = mine.present.copy()
    alike = Scenes(**{name: array[:, :size] for name, array in vars(mine).items()})
    focus[:, :size] = differing(alike, Scenes(**{name: array[:, :size] for name, array in vars(other).items()}))

    def propose(pending: np.ndarray, numbers: np.ndarray) -> Proposed:
        which = rows[pending]
        programs, _ = captioner.fill(mine, which, forms[which], numbers, focus)
        accepted = np.ones(len(which), bool) if fits is None else fits(programs)
        some = np.flatnonzero(accepted)
        accepted[some] = truth(programs[some], mine, captioner.semantics, rows=which[some]) > 0
        some = np.flatnonzero(accepted)
        accepted[some] = truth(programs[some], other, captioner.semantics, rows=which[some]) < 0
        return programs, np.zeros(len(which), np.int16), accepted

    found = redrawn(propose, stream, indices[rows], numbers=captioner.numbers, length=captioner.length, rounds=ROUNDS)
    out = Captions.none(len(indices), captioner.length)
    out.put(rows, found)
    return out
