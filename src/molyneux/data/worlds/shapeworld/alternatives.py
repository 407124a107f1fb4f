"""Several captions of one scene and several scenes of one caption, half of which agree: groups of samples, by number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import fields

import numpy as np

from molyneux.core import seeds
from molyneux.data.worlds.shapeworld.meaning.captioners import Captioner
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import attempted, filled, substream
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.scenes.edits import EDITS, edited
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes
from molyneux.data.worlds.shapeworld.scenes.settings import SceneSettings

MOST = 64
"""Captions of a scene, or scenes of a caption, at most."""

_CAPTION_ROUNDS = 6
_SCENE_ROUNDS = (8, 32, 128)
"""Scenes that are tried for each member of a group: in the first and in the last round they are drawn anew, in between they are
the first scene with several things changed."""
_EDITS = 3

Taken = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Which captions are taken, (m,) bool, by their codes (m, L), kinds (m,), truth (m,) and numbers of entities (m,)."""

Group = tuple[Scenes, np.ndarray, np.ndarray, np.ndarray]
"""Scenes, captions in Polish notation, their kinds and their truth, of n groups."""


def group_problems(captions: int, pictures: int, variant: str, only: Collection[str]) -> list[str]:
    """What is wrong with the numbers of captions of a scene and of pictures of a caption, a sentence each.

    Args:
        captions: of a scene.
        pictures: of a caption.
        variant: of the data.
        only: names of the factors that are restricted.
    """
    numbers = {"text.captions": captions, "image.pictures": pictures}
    several = [name for name, number in numbers.items() if number != 1]
    problems = [
        f"{name}: expected 1 to {MOST}, got {numbers[name]}"
        for name in several
        if type(numbers[name]) is not int or not 1 <= numbers[name] <= MOST
    ]
    if several and variant != "published":
        problems.append(f"{several[0]}: only the variant published has it, not {variant}: leave it out")
    if len(several) > 1:
        problems.append("text.captions: expected 1 with several pictures of one caption: choose one of both")
    halves = [name for name in ("truth", "change") if name in only]
    if several and halves:
        problems.append(f"only: half of the samples of a group are true: {halves[0]} cannot be restricted with {several[0]}")
    return problems


def balanced_truth(stream: np.ndarray, indices: np.ndarray, members: int) -> np.ndarray:
    """Which members of groups are to agree, (n, members) bool: half of them in any order; of an odd number one more or less."""
    numbers = seeds.uniforms(substream(stream, "truth"), indices, members + 1)
    ranks = numbers[:, :members].argsort(1).argsort(1)
    return np.asarray(ranks < (members // 2 + (numbers[:, -1:] < 0.5) * (members % 2)))


def several_captions(
    settings: SceneSettings, captioner: Captioner, stream: np.ndarray, indices: np.ndarray, members: int, taken: Taken, tries: int
) -> Group:
    """Scenes with several captions each, of which half are true; a caption may occur twice.

    Args:
        settings: what scenes are drawn from.
        captioner: gives captions.
        stream: key of the random numbers.
        indices: (n,) numbers of the groups; each is a function of the settings, the stream and its number alone.
        members: captions of a scene.
        taken: which captions are taken.
        tries: scenes that are drawn for a group at most.

    Returns:
        n scenes, captions (n, members, L), kinds (n, members) and truth (n, members).

    Raises:
        ConfigError: no scene had enough captions in a bounded number of trials.
    """

    def draw(pending: np.ndarray, attempts: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        mine = attempted(indices[pending], attempts)
        wanted = balanced_truth(stream, mine, members).ravel()
        scenes = sample_scenes(settings, substream(stream, "scene"), mine)
        numbers = (mine[:, None] * members + np.arange(members)).ravel()
        owner, missing = np.arange(len(mine)).repeat(members), np.arange(len(numbers))
        programs, kinds = np.zeros((len(numbers), captioner.length), np.int16), np.zeros(len(numbers), np.int64)
        for number in range(_CAPTION_ROUNDS):
            found = captioner.draw(
                scenes[owner[missing]], wanted[missing], substream(stream, "caption", number), numbers[missing]
            )
            hit = found.ok.copy()
            some = np.flatnonzero(hit)
            entities = scenes.present.sum(1)[owner[missing[some]]]
            hit[some] = taken(found.programs[some], found.kind[some].astype(np.int64), wanted[missing[some]], entities)
            programs[missing[hit]], kinds[missing[hit]] = found.programs[hit], found.kind[hit]
            missing = missing[~hit]
            if not len(missing):
                break
        usable = np.ones(len(mine), bool)
        usable[owner[missing]] = False
        shape = (len(mine), members)
        return (*vars(scenes).values(), programs.reshape(*shape, -1), kinds.reshape(shape), wanted.reshape(shape)), usable

    arrays, _ = filled(draw, len(indices), tries=tries, what=f"scene with {members} captions, half of them true,")
    return _scenes(arrays[:-3]), arrays[-3], arrays[-2], arrays[-1]


def several_scenes(
    settings: SceneSettings,
    captioner: Captioner,
    stream: np.ndarray,
    indices: np.ndarray,
    members: int,
    taken: Taken,
    tries: int,
    *,
    restricted: bool = False,
) -> Group:
    """Captions with several scenes each, of which they are true of half.

    A caption is drawn as a true one of a first scene. The others are drawn anew where one of a few scenes has the wanted truth;
    else the first one is changed in several things, for a caption with two full nouns is true of hardly any scene.

    Args:
        settings: what scenes are drawn from.
        captioner: gives captions.
        stream: key of the random numbers.
        indices: (n,) numbers of the groups; each is a function of the settings, the stream and its number alone.
        members: scenes of a caption.
        taken: which captions are taken.
        tries: captions that are drawn for a group at most.
        restricted: whether changed scenes keep to the numbers of entities of the settings too.

    Returns:
        scenes (n * members), those of a group next to each other; captions (n, L); kinds (n, members), which are 0 where the
        caption is true and else -1, as nothing was changed in it; and truth (n, members).

    Raises:
        ConfigError: no caption had enough scenes in a bounded number of trials.
    """

    def draw(pending: np.ndarray, attempts: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        mine = attempted(indices[pending], attempts)
        first = sample_scenes(settings, substream(stream, "scene"), mine)
        found = captioner.draw(first, np.ones(len(mine), bool), substream(stream, "caption"), mine)
        usable = found.ok.copy()
        some = np.flatnonzero(usable)
        entities = first.present.sum(1)[some]
        usable[some] = taken(found.programs[some], found.kind[some].astype(np.int64), np.ones(len(some), bool), entities)
        wanted = balanced_truth(stream, mine, members)
        scenes = first[np.arange(len(mine)).repeat(members)]
        place = np.where(wanted, np.arange(members), members).min(1)  # where the first scene stands
        missing = np.flatnonzero(usable.repeat(members) & (np.arange(len(mine) * members) % members != place.repeat(members)))
        for number, count in enumerate(_SCENE_ROUNDS):
            missing = _fill(
                scenes, missing, first, found.programs, wanted, settings, captioner, substream(stream, "member", number), mine,
                count=count, changed=number == 1, counts=settings.counts if restricted else (),
            )  # fmt: skip
        usable[missing // members] = False
        kinds = np.where(wanted, 0, -1)
        grouped = [array.reshape(len(mine), members, *array.shape[1:]) for array in vars(scenes).values()]
        return (*grouped, found.programs, kinds, wanted), usable

    arrays, _ = filled(draw, len(indices), tries=tries, what=f"caption with {members} scenes, half of which it is true of,")
    flat = [array.reshape(len(indices) * members, *array.shape[2:]) for array in arrays[:-3]]
    return _scenes(flat), arrays[-3], arrays[-2], arrays[-1]


def _fill(
    scenes: Scenes,
    missing: np.ndarray,
    first: Scenes,
    programs: np.ndarray,
    wanted: np.ndarray,
    settings: SceneSettings,
    captioner: Captioner,
    stream: np.ndarray,
    mine: np.ndarray,
    *,
    count: int,
    changed: bool,
    counts: Sequence[int],
) -> np.ndarray:
    """Put scenes of the wanted truth in the places that miss one, of `count` candidates each; the places that still do."""
    if not len(missing):
        return missing
    members = wanted.shape[1]
    group = (missing // members).repeat(count)
    numbers = ((mine[missing // members] * members + missing % members)[:, None] * count + np.arange(count)).ravel()
    usable = np.ones(len(group), bool)
    if changed:
        candidates = first[group]
        for step in range(_EDITS):
            candidates, _, fits = edited(candidates, settings, EDITS, substream(stream, step), numbers)
            usable &= fits
        usable &= np.isin(candidates.present.sum(1), counts) | (not counts)
    else:
        candidates = sample_scenes(settings, stream, numbers)
    some = np.flatnonzero(usable)
    target = np.where(wanted.ravel()[missing].repeat(count)[some], 1, -1)
    usable[some] = truth(programs[group[some]], candidates, captioner.semantics, rows=some) == target
    table = usable.reshape(len(missing), count)
    hit = np.flatnonzero(table.any(1))
    chosen = hit * count + table[hit].argmax(1)
    for name, array in vars(candidates).items():
        getattr(scenes, name)[missing[hit]] = array[chosen]
    return np.delete(missing, hit)


def _scenes(arrays: list[np.ndarray] | tuple[np.ndarray, ...]) -> Scenes:
    return Scenes(**dict(zip((field.name for field in fields(Scenes)), arrays, strict=True)))
