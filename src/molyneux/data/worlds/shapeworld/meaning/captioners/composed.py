"""Captions of a skeleton: filled with what a scene shows, accepted if true of it, and falsified by one change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from molyneux.core import ConfigError, seeds
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import Captioner, Captions, Proposed, redrawn, substream
from molyneux.data.worlds.shapeworld.meaning.captioners.changes import Change
from molyneux.data.worlds.shapeworld.meaning.captioners.parts import PICKS, Part, Seen, chosen, seen
from molyneux.data.worlds.shapeworld.meaning.captioners.quantities import suitable
from molyneux.data.worlds.shapeworld.meaning.trees.programs import packed
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scenes.edits import EDITS
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes


class ComposedCaptioner(Captioner):
    """Captions made of a part.

    A caption's forms are those of its sample, whatever the scene, so that hard ones keep their share if scenes are drawn anew
    where none fits.

    Args:
        part: the columns of a statement.
        kinds: names of the kinds of its captions; the first is that of correct ones.
        semantics: when a caption is true.
        edits: names of `EDITS`, the differences of scenes that its captions tell apart.
    """

    def __init__(
        self, part: Part, kinds: Sequence[str], semantics: Semantics | None = None, edits: Sequence[str] = EDITS
    ) -> None:
        super().__init__(kinds, part.width + 1, semantics)
        self.part, self.numbers, self.edits = part, PICKS + part.values, tuple(edits)

    def forms(self, stream: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """The numbers of the forms of samples, (n, forms)."""
        return seeds.uniforms(substream(stream, "forms"), indices, max(1, self.part.forms))

    def fill(
        self, scenes: Scenes, rows: np.ndarray, forms: np.ndarray, numbers: np.ndarray, focus: np.ndarray | None = None
    ) -> tuple[np.ndarray, Seen]:
        """Captions that use what scenes show, whether true or not: (m, L), and the entities that they are about.

        Args:
            scenes: n of them.
            rows: (m,) which of them.
            forms: (m, forms) as from `forms`.
            numbers: (m, self.numbers).
            focus: (n, E) bool, entities of which half of the captions have their subject.
        """
        about = seen(scenes, rows, numbers[:, :PICKS], focus)
        return packed(self.part.fill(about, forms, numbers[:, PICKS : self.numbers])), about


class ChangedCaptioner(ComposedCaptioner):
    """Captions of a skeleton; a false one is a true one with one change.

    Args:
        part: the columns of a statement.
        changes: what falsifies captions, with weights.
        semantics: when a caption is true.
        edits: names of `EDITS`, the differences of scenes that its captions tell apart.

    Raises:
        ConfigError: no change.
    """

    def __init__(
        self,
        part: Part,
        changes: Sequence[tuple[Change, float]],
        semantics: Semantics | None = None,
        edits: Sequence[str] = EDITS,
    ) -> None:
        super().__init__(part, ("correct", *(change.name for change, _ in changes)), semantics, edits)
        if not changes:
            raise ConfigError("changes: expected at least one that falsifies captions, got none")
        self._changes, self._weights = [change for change, _ in changes], [weight for _, weight in changes]
        self._changing = 1 + max(change.numbers for change in self._changes)

    def draw(self, scenes: Scenes, wanted: np.ndarray, stream: np.ndarray, indices: np.ndarray) -> Captions:
        """See `Captioner.draw`."""
        forms = self.forms(stream, indices)

        def propose(rows: np.ndarray, numbers: np.ndarray) -> Proposed:
            programs, about = self.fill(scenes, rows, forms[rows], numbers)
            correct, kinds = truth(programs, scenes, self.semantics, rows=rows) > 0, np.zeros(len(rows), np.int16)
            programs = np.pad(programs, ((0, 0), (0, 1)))
            false = np.flatnonzero(correct & ~wanted[rows])
            if len(false):
                its = Seen(*(array[false] for array in about))
                changed, which, done = self._falsified(programs[false], its, numbers[false, self.numbers :])
                programs[false], kinds[false] = changed, which + 1
                correct[false] = done & suitable(changed) & (truth(changed, scenes, self.semantics, rows=rows[false]) < 0)
            return programs, kinds, correct

        return redrawn(propose, stream, indices, numbers=self.numbers + self._changing, length=self.length)

    def _falsified(self, programs: np.ndarray, about: Seen, numbers: np.ndarray) -> Proposed:
        """Captions (n, L) with one change each, which, and whether it could be made."""
        which, done = chosen(numbers[:, 0], self._weights), np.zeros(len(programs), bool)
        out = programs.copy()
        for place, change in enumerate(self._changes):
            rows = np.flatnonzero(which == place)
            if len(rows):
                its = Seen(*(array[rows] for array in about))
                changed, done[rows] = change.apply(programs[rows], its, numbers[rows, 1 : 1 + change.numbers])
                out[rows] = changed[:, : out.shape[1]]
        return out, which.astype(np.int16), done
