"""The samplers of the paper's four data sets, as they were published: their captions give away which are true.

Rules of Kuhnle & Copestake, "ShapeWorld: a new test methodology for multimodal language understanding" (2017), as far as its
code of April 2017 has them: an entity is described, the description is changed by one of some modes, an attribute may be left
out; and of the variants that have the wanted truth one is taken. What can be left out, and which quantifier fits, depends on the
truth: a table of caption structures alone is right in 75 % of QUANTIFICATION and 61 % of MULTISHAPE. For data, use the
balanced captions of `quadruples`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from molyneux.core import ConfigError, nearest
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import Captioner, Captions, Proposed, redrawn
from molyneux.data.worlds.shapeworld.meaning.captioners.changes import existing_values
from molyneux.data.worlds.shapeworld.meaning.captioners.parts import FORMS, Seen, chosen, kth_of, nouns
from molyneux.data.worlds.shapeworld.meaning.captioners.standard import BARE_QUANTIFIERS
from molyneux.data.worlds.shapeworld.meaning.trees.programs import COLOUR_CODES, SHAPE_CODES, packed
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES, Scenes
from molyneux.data.worlds.shapeworld.scenes.settings import PAPER_SCENES

_ROUNDS_CORRECT, _ROUNDS_FALSE = (1, 3, 6), (1, 3, 12, 36, 48)
"""Ten trials of a scene for a correct caption, a hundred for a false one; then the published code draws another scene."""

_NONE, _ANY, _SHAPE, _COLOUR, _BOTH = range(len(FORMS))

_PAPER_COLOURS = tuple(PAPER_SCENES["oneshape"].colours)


class _Published(Captioner):
    """Candidates in several variants; one of those with the wanted truth is taken, each equally likely."""

    numbers = 0

    def draw(self, scenes: Scenes, wanted: np.ndarray, stream: np.ndarray, indices: np.ndarray) -> Captions:
        """See `Captioner.draw`."""
        out = Captions.none(len(indices), self.length)
        for truth_value, rounds in ((True, _ROUNDS_CORRECT), (False, _ROUNDS_FALSE)):
            rows = np.flatnonzero(wanted == truth_value)

            def propose(pending: np.ndarray, numbers: np.ndarray, rows: np.ndarray = rows, value: bool = truth_value) -> Proposed:
                return self._candidates(scenes, rows[pending], numbers, value)

            found = redrawn(propose, stream, indices[rows], numbers=self.numbers, length=self.length, rounds=rounds)
            out.put(rows, found)
        return out

    @abstractmethod
    def _variants(
        self, about: Seen, scenes: Scenes, rows: np.ndarray, numbers: np.ndarray, correct: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Captions (m, K, L), which of them may be taken (m, K), the last one only if no other can be, and kinds (m,)."""

    def _candidates(self, scenes: Scenes, rows: np.ndarray, numbers: np.ndarray, correct: bool) -> Proposed:
        present = scenes.present[rows]
        about = Seen(
            present, SHAPE_CODES[scenes.shape[rows]], COLOUR_CODES[scenes.colour[rows]], np.empty((len(rows), 0), np.int64)
        )
        variants, allowed, kinds = self._variants(about, scenes, rows, numbers, correct)
        count, one = variants.shape[1], np.arange(len(rows))
        programs = packed(variants.reshape(len(rows) * count, -1))
        values = truth(programs, scenes, self.semantics, rows=rows.repeat(count)).reshape(len(rows), count)
        fits = allowed & (values == (1 if correct else -1))
        fits[:, -1] &= ~fits[:, :-1].any(1)
        return programs.reshape(variants.shape)[one, kth_of(fits, numbers[:, -1])], kinds, fits.any(1)


class PublishedExistential(_Published):
    """The captions of ONESHAPE and MULTISHAPE: "there is a red square", and with hypernyms "there is a square".

    Args:
        modes: weights of what is changed in false captions.
        hypernyms: share of captions for which an attribute is left out if the truth stays.
        semantics: when a caption is true.
        shapes: names of shapes that a changed caption may have.
        colours: names of colours.
    """

    numbers = 7

    def __init__(
        self,
        modes: Sequence[float] = (1, 1, 1, 1, 1, 1),
        hypernyms: float = 0.5,
        semantics: Semantics | None = None,
        *,
        shapes: Sequence[str] = SHAPES,
        colours: Sequence[str] = _PAPER_COLOURS,
    ) -> None:
        changed = ("random shape", "existing shape", "random colour", "existing colour", "random both", "existing both")
        super().__init__(("correct", *changed), 4, semantics or Semantics.paper())
        self._modes, self._hypernyms = _weights("modes", modes, len(changed)), hypernyms
        self._allowed = np.isin(SHAPES, shapes), np.isin(COLOURS, colours)

    def _variants(
        self, about: Seen, scenes: Scenes, rows: np.ndarray, numbers: np.ndarray, correct: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        one, entity = np.arange(len(rows)), kth_of(about.present, numbers[:, 0])
        shape, colour = about.shape[one, entity], about.colour[one, entity]
        mode, possible = np.zeros(len(rows), np.int64), np.ones(len(rows), bool)
        if not correct:
            mode = 1 + chosen(numbers[:, 1], self._modes)
            shape, done = _changed(shape, SHAPE_CODES, about, mode, (1, 2, 5, 6), self._allowed[0], numbers[:, 2])
            colour, also = _changed(colour, COLOUR_CODES, about, mode, (3, 4, 5, 6), self._allowed[1], numbers[:, 3])
            possible = done & also
        general = numbers[:, 4] < self._hypernyms
        forms = np.broadcast_to(np.array([_SHAPE, _COLOUR, _BOTH]), (len(rows), 3))
        variants = np.zeros((len(rows), 3, 4), np.int16)
        variants[:, :, 0] = CODES["there-is"]
        for place in range(3):
            variants[:, place, 1:] = nouns(forms[:, place], shape, colour)
        return variants, possible[:, None] & np.stack([general, general, np.ones(len(rows), bool)], 1), mode.astype(np.int16)


class PublishedSpatial(_Published):
    """The captions of SPATIAL: "a red square is to the left of a circle".

    Args:
        modes: weights of what is changed in false captions: the direction, and the reference or the subject, by any value or
            one of the scene.
        hypernyms: share of nouns from which attributes are left out if the truth stays.
        semantics: when a caption is true.
        shapes: names of shapes that a changed caption may have.
        colours: names of colours.
    """

    numbers = 10

    def __init__(
        self,
        modes: Sequence[float] = (2, 1, 1, 1, 1),
        hypernyms: float = 0.5,
        semantics: Semantics | None = None,
        *,
        shapes: Sequence[str] = SHAPES,
        colours: Sequence[str] = _PAPER_COLOURS,
    ) -> None:
        changed = ("direction", "random reference", "existing reference", "random subject", "existing subject")
        super().__init__(("correct", *changed), 8, semantics or Semantics.paper())
        self._modes, self._hypernyms = _weights("modes", modes, len(changed)), hypernyms
        self._allowed = np.isin(SHAPES, shapes), np.isin(COLOURS, colours)

    def _variants(
        self, about: Seen, scenes: Scenes, rows: np.ndarray, numbers: np.ndarray, correct: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        one = np.arange(len(rows))
        reference = kth_of(about.present, numbers[:, 0])
        others = about.present & (np.arange(about.present.shape[1]) != reference[:, None])
        subject, possible = kth_of(others, numbers[:, 1]), others.any(1)
        away = scenes.centre[rows, subject] - scenes.centre[rows, reference]
        vertical = np.abs(away[:, 1]) > np.abs(away[:, 0])
        ahead = np.where(vertical, away[:, 1], away[:, 0]) > 0
        mode = np.zeros(len(rows), np.int64)
        shapes = [about.shape[one, entity] for entity in (reference, subject)]
        colours = [about.colour[one, entity] for entity in (reference, subject)]
        if not correct:
            mode = 1 + chosen(numbers[:, 2], self._modes)
            ahead = ahead ^ (mode == 1)
            of_shape = np.where(numbers[:, 3] < 0.5, mode, 0)
            drawn = numbers[:, 4]
            for noun, modes in enumerate(((2, 3), (4, 5))):
                shapes[noun], done = _other(shapes[noun], SHAPE_CODES, about, of_shape, modes, self._allowed[0], drawn)
                colours[noun], also = _other(colours[noun], COLOUR_CODES, about, mode - of_shape, modes, self._allowed[1], drawn)
                possible &= done & also
        relations = np.array([[CODES["left"], CODES["right"]], [CODES["above"], CODES["below"]]], np.int16)
        relation = relations[vertical.astype(int), ahead.astype(int)]
        general = numbers[:, 5:7] < self._hypernyms
        variants = np.zeros((len(rows), 17, 8), np.int16)
        allowed = np.zeros((len(rows), 17), bool)
        for place in range(17):
            its = [1 + place // 4, 1 + place % 4] if place < 16 else [_BOTH, _BOTH]
            variants[:, place, 0], variants[:, place, 4] = CODES["exists"], relation
            for noun, columns in ((0, slice(5, 8)), (1, slice(1, 4))):
                variants[:, place, columns] = nouns(np.full(len(rows), its[noun]), shapes[noun], colours[noun])
            allowed[:, place] = possible
            if place < 16:
                allowed[:, place] &= (general == (np.array(its) != _BOTH)).all(1)
        return variants, allowed, mode.astype(np.int16)


class PublishedQuantification(_Published):
    """The captions of QUANTIFICATION: "most squares are red", with no, the, a, two, most or all.

    Args:
        quantifiers: names of `BARE_QUANTIFIERS`; all by default.
        modes: weights of what noun and predicate mention: shapes that are a shape, a colour or both, a shape that is a colour,
            and a colour that is a shape.
        semantics: when a caption is true.

    Raises:
        ConfigError: an unknown quantifier, or none.
    """

    numbers = 4

    def __init__(
        self,
        quantifiers: Sequence[str] = BARE_QUANTIFIERS,
        modes: Sequence[float] = (1, 1, 1, 1, 1),
        semantics: Semantics | None = None,
    ) -> None:
        super().__init__(("correct", "quantifier"), 7, semantics or Semantics.paper())
        unknown = [name for name in quantifiers if name not in BARE_QUANTIFIERS]
        if unknown or not quantifiers:
            raise ConfigError(f"quantifiers: {nearest(unknown[0], BARE_QUANTIFIERS) if unknown else 'expected at least one'}")
        self._codes = np.array([CODES[name] for name in quantifiers], np.int16)
        self._modes = _weights("modes", modes, 5)

    def _variants(
        self, about: Seen, scenes: Scenes, rows: np.ndarray, numbers: np.ndarray, correct: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        one, entities = np.arange(len(rows)), [kth_of(about.present, numbers[:, place]) for place in (0, 1)]
        shape, colour = about.shape[one, entities[0]], about.colour[one, entities[1]]
        restrictors, bodies = (_ANY, _ANY, _ANY, _SHAPE, _COLOUR), (_SHAPE, _COLOUR, _BOTH, _COLOUR, _SHAPE)
        mode = chosen(numbers[:, 2], self._modes)
        count = len(self._codes)
        variants = np.zeros((len(rows), count + 1, 7), np.int16)
        variants[:, :count, 0] = self._codes
        variants[:, count, 0] = self._codes[0]
        variants[:, :, 1:4] = nouns(np.array(restrictors)[mode], shape, colour)[:, None]
        variants[:, :, 4:7] = nouns(np.array(bodies)[mode], shape, colour)[:, None]
        allowed = np.broadcast_to(np.arange(count + 1) < count, (len(rows), count + 1))
        return variants, allowed, np.full(len(rows), 0 if correct else 1, np.int16)


def _weights(name: str, weights: Sequence[float], count: int) -> list[float]:
    if len(weights) != count or min(weights) < 0 or max(weights) <= 0:
        raise ConfigError(f"{name}: expected {count} numbers of at least 0, not all 0, got {tuple(weights)}")
    return list(weights)


def _changed(
    have: np.ndarray,
    values: np.ndarray,
    about: Seen,
    mode: np.ndarray,
    modes: tuple[int, int, int, int],
    allowed: np.ndarray,
    numbers: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """New values (n,) of a kind, and whether there was one: any, an existing other one, any, and any existing one, by mode."""
    existing = existing_values(about, about.shape if values is SHAPE_CODES else about.colour, values)
    options = np.select(
        [(mode == modes[0])[:, None], (mode == modes[1])[:, None], (mode == modes[2])[:, None], (mode == modes[3])[:, None]],
        [allowed[None].repeat(len(have), 0), existing & (values != have[:, None]), allowed[None].repeat(len(have), 0), existing],
        values == have[:, None],
    )
    return values[kth_of(options, numbers)], options.any(1)


def _other(
    have: np.ndarray,
    values: np.ndarray,
    about: Seen,
    mode: np.ndarray,
    modes: tuple[int, int],
    allowed: np.ndarray,
    numbers: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Other values (n,) of a kind, and whether there was one: of all, or of those of the scene, by mode; else the same."""
    existing = existing_values(about, about.shape if values is SHAPE_CODES else about.colour, values)
    different = values != have[:, None]
    options = np.select(
        [(mode == modes[0])[:, None], (mode == modes[1])[:, None]], [allowed & different, existing & different], ~different
    )
    return values[kth_of(options, numbers)], options.any(1)
