"""Balanced data: pairs of scenes with captions that are true of one and false of the other, by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from molyneux.core import ConfigError, seeds
from molyneux.data.worlds.shapeworld.edits import edited
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import attempted, filled, substream
from molyneux.data.worlds.shapeworld.meaning.captioners.skeletons import Skeleton
from molyneux.data.worlds.shapeworld.meaning.quadruples import MEMBERS, quadruples
from molyneux.data.worlds.shapeworld.sampling import sample_scenes
from molyneux.data.worlds.shapeworld.scenes import Scenes
from molyneux.data.worlds.shapeworld.settings import SceneSettings

TRIES = 255
"""Pairs of scenes that are drawn for a quadruple, before the settings are refused."""

_SKELETON_PAIRS, _SCENE_PAIRS = 16, 4
"""Pairs of scenes that are tried for one skeleton, before another one is, and with one first scene."""


@dataclass(frozen=True)
class Agreement:
    """Pairs of scenes with their captions.

    Args:
        scenes: the first and the second scenes, n each.
        programs: (n, 2, L) int16, the captions that are true of the first and of the second.
        edit: (n,) int8, position in the edits that were used, or -1: the second scene is drawn independently.
        tries: (n,) how many pairs of scenes were drawn before.
    """

    scenes: tuple[Scenes, Scenes]
    programs: np.ndarray
    edit: np.ndarray
    tries: np.ndarray

    def instances(self) -> tuple[Scenes, np.ndarray, np.ndarray]:
        """All 4 n instances, those of a quadruple in a row: scenes, captions (4 n, L) and truth (4 n,) bool."""
        count = len(self.edit)
        row, scene, caption = np.repeat(np.arange(count), 4), *np.tile(np.array(MEMBERS), (count, 1)).T
        both = {
            field.name: np.stack([getattr(scenes, field.name) for scenes in self.scenes], 1)[row, scene] for field in fields(Scenes)
        }
        return Scenes(**both), self.programs[row, caption], scene == caption


def balanced(
    settings: SceneSettings,
    captioner: Skeleton,
    stream: np.ndarray,
    indices: np.ndarray,
    *,
    edits: Sequence[str] | None = None,
    edited_share: float = 0.75,
) -> Agreement:
    """Quadruples by number: each is a function of the settings, the captioner, the stream and its number alone.

    Args:
        settings: what scenes are drawn from.
        captioner: gives captions.
        stream: key of the random numbers, from `sampling.stream_of`.
        indices: (n,) numbers of quadruples.
        edits: what the second scene may differ in, names of `EDITS`; those of the captioner by default.
        edited_share: share of quadruples whose second scene is an edit of the first; the others are independent. (Shares of what
            can be drawn: where no caption tells a scene from its edit, both are drawn anew.)

    Raises:
        ConfigError: no quadruple was found in a bounded number of trials.
    """
    if not 0 <= edited_share <= 1:
        raise ConfigError(f"edited_share: expected a number of 0 to 1, got {edited_share}")

    chosen = captioner.edits if edits is None else tuple(edits)

    def draw(pending: np.ndarray, attempts: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        mine = attempted(indices[pending], attempts)
        patient = attempted(indices[pending], attempts // _SKELETON_PAIRS)
        _, places, again = np.unique(attempted(indices[pending], attempts // _SCENE_PAIRS), return_index=True, return_inverse=True)
        shown = attempted(indices[pending], attempts // _SCENE_PAIRS)[places]
        first = sample_scenes(settings, substream(stream, "first"), shown)[again]
        second = first[np.arange(len(mine))]
        share = seeds.uniforms(substream(stream, "share"), patient, 1)[:, 0]
        is_near = (share < edited_share) & bool(chosen)
        edit, usable = np.full(len(mine), -1, np.int8), np.ones(len(mine), bool)
        for near in (False, True):
            rows = np.flatnonzero(is_near == near)
            if not len(rows):
                continue
            if near:
                other, which, usable[rows] = edited(first[rows], settings, chosen, substream(stream, "edit"), mine[rows])
                edit[rows] = which
            else:
                other = sample_scenes(settings, substream(stream, "second"), mine[rows])
            for name, array in vars(other).items():
                getattr(second, name)[rows] = array
        some = np.flatnonzero(usable)
        found = quadruples(first[some], second[some], captioner, stream, mine[some], forms=captioner.forms(stream, patient[some]))
        programs = np.zeros((len(mine), *found.programs.shape[1:]), np.int16)
        programs[some], usable[some] = found.programs, found.ok
        return (*vars(first).values(), *vars(second).values(), programs, edit), usable

    arrays, tries = filled(draw, len(indices), tries=TRIES, what="pair of scenes with two captions that tell them apart")
    names = [field.name for field in fields(Scenes)]
    scenes = tuple(Scenes(**dict(zip(names, arrays[start : start + len(names)], strict=True))) for start in (0, len(names)))
    return Agreement((scenes[0], scenes[1]), arrays[-2], arrays[-1], tries)

