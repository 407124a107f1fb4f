"""Balanced data: pairs of scenes with captions that are true of one and false of the other, by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from molyneux.core import ConfigError, nearest, seeds
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import attempted, filled, substream
from molyneux.data.worlds.shapeworld.meaning.captioners.composed import ComposedCaptioner
from molyneux.data.worlds.shapeworld.meaning.foils.foils import GROWTH, TWO_SIDED, foils
from molyneux.data.worlds.shapeworld.meaning.foils.quadruples import MEMBERS, quadruples
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scenes.edits import EDITS, edited
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes
from molyneux.data.worlds.shapeworld.scenes.settings import SceneSettings

TRIES, FOIL_TRIES = 1023, 2047
"""Pairs of scenes that are drawn for a quadruple, before the settings are refused; there are fewer for a foil."""

Accept = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Which quadruples are taken, (m,) bool, by their captions (m, 2, L), kinds (m,) and numbers of entities (m, 2)."""

_SKELETON_PAIRS, _SCENE_PAIRS = 16, 4
"""Pairs of scenes that are tried for one form of caption, and with one first scene, before another one is drawn."""

_SECONDS = 24
"""Edited scenes that are tried as the second scene of a caption and its foil."""

INDEPENDENT = "independent"
"""The kind of quadruples whose second scene has nothing to do with the first."""

_EDITS_OF = {
    "shape replaced": ("shape",),
    "colour replaced": ("colour",),
    "object replaced": ("object",),
    "attributes exchanged": ("colours", "shapes", "places"),
    "nouns exchanged": ("mirrored", "flipped", "colours", "shapes", "places"),
    "relation turned": ("mirrored", "flipped", "places"),
    "selector turned": ("mirrored", "flipped", "colours", "shapes", "places"),
    "selector replaced": ("mirrored", "flipped", "colours", "shapes", "places"),
    "number changed": ("colour", "shape", "object", "removed"),
    "quantifier changed": ("colour", "shape", "object", "removed"),
}
"""Edits that may make a kind of foils true; all of them by default."""


@dataclass(frozen=True)
class MinimalPairs:
    """Pairs of scenes with their captions.

    Args:
        scenes: the first and the second scenes, n each.
        programs: (n, 2, L) int16, the captions that are true of the first and of the second.
        kind: (n,) int8, position in `kinds`.
        kinds: what the second scenes or the captions differ in.
        tries: (n,) how many pairs of scenes were drawn before.
    """

    scenes: tuple[Scenes, Scenes]
    programs: np.ndarray
    kind: np.ndarray
    kinds: tuple[str, ...]
    tries: np.ndarray

    def instances(self) -> tuple[Scenes, np.ndarray, np.ndarray]:
        """All 4 n instances, those of a quadruple in a row: scenes, captions (4 n, L) and truth (4 n,) bool."""
        count = len(self.kind)
        row, scene, caption = np.repeat(np.arange(count), 4), *np.tile(np.array(MEMBERS), (count, 1)).T
        both = {
            field.name: np.stack([getattr(scenes, field.name) for scenes in self.scenes], 1)[row, scene]
            for field in fields(Scenes)
        }
        return Scenes(**both), self.programs[row, caption], scene == caption


def balanced(
    settings: SceneSettings,
    captioner: ComposedCaptioner,
    stream: np.ndarray,
    indices: np.ndarray,
    *,
    edits: Sequence[str] | None = None,
    edited_share: float = 0.75,
    accept: Accept | None = None,
    fits: Callable[[np.ndarray], np.ndarray] | None = None,
    tries: int = TRIES,
) -> MinimalPairs:
    """Quadruples by number: each is a function of the settings, the captioner, the stream and its number alone.

    Args:
        settings: what scenes are drawn from.
        captioner: gives captions.
        stream: key of the random numbers, from `sampling.stream_of`.
        indices: (n,) numbers of quadruples.
        edits: what the second scene may differ in, names of `EDITS`; those of the captioner by default.
        edited_share: share of quadruples whose second scene is an edit of the first; the others are independent. (Shares of what
            can be drawn: where no caption tells a scene from its edit, both are drawn anew.)
        accept: which quadruples are taken; the others are drawn anew.
        fits: which captions (m, L) may be drawn at all, (m,) bool: where few may, this finds them sooner than `accept`.
        tries: pairs of scenes that are drawn for a quadruple at most, below 4096.

    Raises:
        ConfigError: no quadruple was found in a bounded number of trials.
    """
    if not 0 <= edited_share <= 1:
        raise ConfigError(f"edited_share: expected a number of 0 to 1, got {edited_share}")

    chosen = captioner.edits if edits is None else tuple(edits)

    def draw(pending: np.ndarray, attempts: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        numbers = indices[pending]
        of_pair = attempted(numbers, attempts)
        of_skeleton = attempted(numbers, attempts // _SKELETON_PAIRS)
        first = _first_scenes(settings, stream, attempted(numbers, attempts // _SCENE_PAIRS))
        shares = seeds.uniforms(substream(stream, "share"), of_skeleton, 1)[:, 0]
        is_edit = (shares < edited_share) & bool(chosen)
        second, kind, usable = _second_scenes(first, is_edit, settings, chosen, stream, of_pair)
        rows = np.flatnonzero(usable)
        forms = captioner.forms(stream, of_skeleton[rows])
        found = quadruples(first[rows], second[rows], captioner, stream, of_pair[rows], forms=forms, fits=fits)
        programs = np.zeros((len(numbers), *found.programs.shape[1:]), np.int16)
        programs[rows], usable[rows] = found.programs, found.ok
        _restrict(usable, accept, programs, kind, (first, second))
        return (*vars(first).values(), *vars(second).values(), programs, kind), usable

    arrays, tried = filled(draw, len(indices), tries=tries, what="pair of scenes with two captions that tell them apart")
    return _pairs(arrays, tried, (INDEPENDENT, *chosen))


def contrasted(
    settings: SceneSettings,
    captioner: ComposedCaptioner,
    stream: np.ndarray,
    indices: np.ndarray,
    *,
    kinds: Sequence[str] = TWO_SIDED,
    accept: Accept | None = None,
    tries: int = FOIL_TRIES,
) -> MinimalPairs:
    """Quadruples of a caption and a foil by number: the foil is true of the second scene and the caption is not.

    Args:
        settings: what scenes are drawn from.
        captioner: gives captions.
        stream: key of the random numbers, from `sampling.stream_of`.
        indices: (n,) numbers of quadruples.
        kinds: of foils, names of `TWO_SIDED`, equally likely where there are captions for them.
        accept: which quadruples are taken; the others are drawn anew.
        tries: scenes that are drawn for a quadruple at most, below 4096.

    Raises:
        ConfigError: no quadruple was found in a bounded number of trials, an unknown kind, or one to which something is added.
    """
    unknown = [kind for kind in kinds if kind not in TWO_SIDED]
    if unknown or not kinds:
        raise ConfigError(f"kinds: {nearest(unknown[0], TWO_SIDED) if unknown else 'expected at least one'}")

    def draw(pending: np.ndarray, attempts: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        of_scene = attempted(indices[pending], attempts)
        of_kind = attempted(indices[pending], attempts // _SKELETON_PAIRS)
        first = sample_scenes(settings, substream(stream, "first"), of_scene)
        captions = captioner.draw(first, np.ones(len(of_scene), bool), substream(stream, "caption"), of_scene)
        kind = (seeds.uniforms(substream(stream, "kind"), of_kind, 1)[:, 0] * len(kinds)).astype(np.int8)
        usable, programs = np.zeros(len(of_scene), bool), np.zeros((len(of_scene), 2, captioner.length + GROWTH), np.int16)
        second = first[np.arange(len(of_scene))]
        for place, name in enumerate(kinds):
            rows = np.flatnonzero(captions.ok & (kind == place))
            foiled = foils(
                first[rows], captions.programs[rows], substream(stream, "foil"), of_scene[rows], kinds=(name,),
                semantics=captioner.semantics, shapes=settings.shapes, colours=settings.colours,
            )  # fmt: skip
            rows, found = rows[foiled.ok], foiled.programs[foiled.ok]
            programs[rows, 0, : captioner.length], programs[rows, 1] = captions.programs[rows], found
            edits = _EDITS_OF.get(name, EDITS)
            others, usable[rows] = _seconds(first[rows], programs[rows], settings, captioner, edits, stream, of_scene[rows])
            _place(second, rows, others)
        _restrict(usable, accept, programs, kind, (first, second))
        return (*vars(first).values(), *vars(second).values(), programs, kind), usable

    what = "scene with a caption and a foil, and a second one for the foil,"
    arrays, tried = filled(draw, len(indices), tries=tries, what=what)
    return _pairs(arrays, tried, tuple(kinds))


def _first_scenes(settings: SceneSettings, stream: np.ndarray, numbers: np.ndarray) -> Scenes:
    """The first scenes of pairs, by the numbers (n,) of their random draws; one that several pairs have is drawn once."""
    drawn, scene_of = np.unique(numbers, return_inverse=True)
    return sample_scenes(settings, substream(stream, "first"), drawn)[scene_of]


def _second_scenes(
    first: Scenes, is_edit: np.ndarray, settings: SceneSettings, edits: Sequence[str], stream: np.ndarray, numbers: np.ndarray
) -> tuple[Scenes, np.ndarray, np.ndarray]:
    """The second scenes of pairs: edits of the first scenes where `is_edit` (n,), independent scenes elsewhere.

    Args:
        first: the first scenes, n.
        is_edit: (n,) bool.
        settings: what scenes are drawn from.
        edits: what an edit may change.
        stream: key of the random numbers.
        numbers: (n,) of the random draws of each pair.

    Returns:
        The scenes; their kind (n,), 0 for an independent scene or 1 plus the position in `edits`; and which can be used (n,):
        not every scene can be edited.
    """
    second, kind, usable = first[np.arange(len(numbers))], np.zeros(len(numbers), np.int8), np.ones(len(numbers), bool)
    independent, near = np.flatnonzero(~is_edit), np.flatnonzero(is_edit)
    if len(independent):
        _place(second, independent, sample_scenes(settings, substream(stream, "second"), numbers[independent]))
    if len(near):
        scenes, edit, usable[near] = edited(first[near], settings, edits, substream(stream, "edit"), numbers[near])
        _place(second, near, scenes)
        kind[near] = 1 + edit
    return second, kind, usable


def _place(scenes: Scenes, rows: np.ndarray, others: Scenes) -> None:
    """Write other scenes, m, into the rows (m,) of scenes."""
    for name, array in vars(others).items():
        getattr(scenes, name)[rows] = array


def _restrict(
    usable: np.ndarray, accept: Accept | None, programs: np.ndarray, kind: np.ndarray, scenes: tuple[Scenes, Scenes]
) -> None:
    """Take from `usable` (n,) what is not accepted."""
    if accept is not None:
        some = np.flatnonzero(usable)
        entities = np.stack([one.present.sum(1) for one in scenes], 1)
        usable[some] = accept(programs[some], kind[some], entities[some])


def _seconds(
    first: Scenes,
    programs: np.ndarray,
    settings: SceneSettings,
    captioner: ComposedCaptioner,
    edits: Sequence[str],
    stream: np.ndarray,
    indices: np.ndarray,
) -> tuple[Scenes, np.ndarray]:
    """Scenes of which the second captions (n, 2, L) are true and the first are not, and whether there are such."""
    rows = np.arange(len(indices)).repeat(_SECONDS)
    numbers = indices[rows] * _SECONDS + np.tile(np.arange(_SECONDS), len(indices))
    scenes, _, usable = edited(first[rows], settings, edits, substream(stream, "second"), numbers)
    some = np.flatnonzero(usable)
    usable[some] = truth(programs[rows[some], 1], scenes, captioner.semantics, rows=some) > 0
    some = np.flatnonzero(usable)
    usable[some] = truth(programs[rows[some], 0], scenes, captioner.semantics, rows=some) < 0
    usable = usable.reshape(-1, _SECONDS)
    return scenes[np.arange(len(indices)) * _SECONDS + usable.argmax(1)], np.asarray(usable.any(1))


def _pairs(arrays: tuple[np.ndarray, ...], tries: np.ndarray, kinds: tuple[str, ...]) -> MinimalPairs:
    names = [field.name for field in fields(Scenes)]
    first, second = (Scenes(**dict(zip(names, arrays[start:], strict=False))) for start in (0, len(names)))
    return MinimalPairs((first, second), arrays[-2], arrays[-1], kinds, tries)
