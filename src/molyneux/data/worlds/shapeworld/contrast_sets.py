"""Scenes and captions by number: contrast sets of two scenes and two captions, or what the published samplers give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from molyneux.core import Target, seeds
from molyneux.data.worlds.shapeworld.alternatives import several_captions, several_scenes
from molyneux.data.worlds.shapeworld.kinds import KINDS, Kind
from molyneux.data.worlds.shapeworld.meaning.captioners import Captioner, ComposedCaptioner
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import attempted, filled, substream
from molyneux.data.worlds.shapeworld.meaning.foils.foils import GROWTH
from molyneux.data.worlds.shapeworld.meaning.foils.related import related
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.minimal_pairs import FOIL_TRIES, INDEPENDENT, TRIES, MinimalPairs, balanced, contrasted
from molyneux.data.worlds.shapeworld.partitions import Accept, Fits
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes
from molyneux.data.worlds.shapeworld.scenes.scenes import Scenes
from molyneux.data.worlds.shapeworld.scenes.settings import SceneSettings

Variant = Literal["balanced", "foils", "bound", "published", "related"]
"""How captions that are false come about; see `ShapeWorld`."""

BINDING = ("mirrored", "flipped", "colours", "shapes", "places")
"""Differences of scenes that change no count of colours or of shapes."""

RESTRICTED_TRIES = 4095
"""Scenes that are drawn for a sample of a partition, before it is refused."""

_PATIENCE = 64
"""Scenes that the published sampler is given for one truth value, before it is drawn anew."""


@dataclass(frozen=True)
class ContrastSets:
    """Sets of P scenes and T captions each.

    Args:
        scenes: P batches of n scenes.
        programs: (n, T, L) int16, captions in Polish notation.
        agrees: (n, P, T) bool.
        change: (n, P, T) position in `changes`; -1 where nothing was changed and the caption is false all the same.
    """

    scenes: tuple[Scenes, ...]
    programs: np.ndarray
    agrees: np.ndarray
    change: np.ndarray


class CaptionedScenes:
    """Draws the scenes and captions of one kind.

    Args:
        kind: what captions are about.
        variant: how false captions come about.
        semantics: when a caption is true; that of the variant by default.
        captions: of a scene, in the variant published.
        pictures: of a caption, in the variant published; one of both is 1.
    """

    def __init__(
        self, kind: Kind, variant: Variant, semantics: Semantics | None = None, *, captions: int = 1, pictures: int = 1
    ) -> None:
        self.kind, self.variant, about = kind, variant, KINDS[kind]
        self._captions, self._pictures = captions, pictures
        published = about.published if variant == "published" else None
        self.captioner: Captioner = (published or about.captioner)(semantics)
        self._foils = about.foils

    @property
    def target(self) -> Target:
        """What is to be predicted, and how samples stand in a row."""
        if self.variant == "related":
            return Target("agreement", "agreement", meanings=("same", "opposite"))
        return Target("agreement", "agreement", contrast=(1, 1) if self.variant == "published" else (2, 2))

    @property
    def group(self) -> tuple[int, int]:
        """Numbers of scenes and captions of a set: a contrast set, or several captions of one scene or the reverse."""
        return {"published": (self._pictures, self._captions), "related": (1, 3)}.get(self.variant, (2, 2))

    @property
    def changes(self) -> tuple[str, ...]:
        """Values of the factor `change`: differences of the scenes of a set, kinds of foils, or changes of a true caption."""
        if self.variant == "balanced" and isinstance(self.captioner, ComposedCaptioner):
            return (INDEPENDENT, *self.captioner.edits)
        if self.variant == "bound":
            return self._binding
        return self._foils if self.variant == "foils" else self.captioner.kinds

    @property
    def _binding(self) -> tuple[str, ...]:
        """Differences of scenes that captions can tell apart, and that leave all counts of colours and shapes as they are."""
        edits = self.captioner.edits if isinstance(self.captioner, ComposedCaptioner) else ()
        return tuple(name for name in edits if name in BINDING)

    @property
    def length(self) -> int:
        """Most symbols of a caption in Polish notation."""
        return self.captioner.length + (GROWTH if self.variant in ("foils", "related") else 0)

    def draw(
        self,
        settings: SceneSettings,
        stream: np.ndarray,
        indices: np.ndarray,
        accept: Accept,
        *,
        fits: Fits | None = None,
        restricted: bool = False,
    ) -> ContrastSets:
        """Sets by number: each is a function of the settings, the stream and its number alone.

        Args:
            settings: what scenes are drawn from.
            stream: key of the random numbers.
            indices: (n,) numbers of sets.
            accept: which sets are taken.
            fits: which captions (m, L) may be drawn at all, (m,) bool, where few may.
            restricted: whether few are, so that more are tried.

        Raises:
            NotDrawnError: none was found in a bounded number of trials.
        """
        tries = RESTRICTED_TRIES if restricted else FOIL_TRIES if self.variant == "foils" else TRIES
        if self.variant == "published" and self.group != (1, 1):
            return self._alternatives(settings, stream, indices, accept, tries, restricted=restricted)
        if self.variant in ("published", "related"):
            return self._one_by_one(settings, stream, indices, accept, tries, restricted=restricted)
        assert isinstance(self.captioner, ComposedCaptioner)
        yes, first = np.ones(1, bool), int(self.variant == "bound")  # `balanced` numbers independent scenes as 0

        def taken(programs: np.ndarray, change: np.ndarray, entities: np.ndarray) -> np.ndarray:
            return accept(programs, change.astype(np.int64) - first, np.broadcast_to(yes, len(change)), entities)

        if self.variant == "foils":
            pairs = contrasted(settings, self.captioner, stream, indices, kinds=self._foils, accept=taken, tries=tries)
        elif self.variant == "bound":
            bound: dict[str, Any] = {"edits": self._binding, "edited_share": 1.0}
            pairs = balanced(settings, self.captioner, stream, indices, **bound, accept=taken, fits=fits, tries=tries)
            pairs = replace(pairs, kind=(pairs.kind - first).astype(np.int8), kinds=self._binding)
        else:
            pairs = balanced(settings, self.captioner, stream, indices, accept=taken, fits=fits, tries=tries)
        return _sets(pairs, seeds.uniforms(substream(stream, "order"), indices, 2) < 0.5)

    def _one_by_one(
        self, settings: SceneSettings, stream: np.ndarray, indices: np.ndarray, accept: Accept, tries: int, *, restricted: bool
    ) -> ContrastSets:
        patience = 1 if restricted else _PATIENCE

        def draw(pending: np.ndarray, attempts: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
            mine, patient = attempted(indices[pending], attempts), attempted(indices[pending], attempts // patience)
            wanted = seeds.uniforms(substream(stream, "truth"), patient, 1)[:, 0] < 0.5
            scenes = sample_scenes(settings, substream(stream, "scene"), mine)
            found = self.captioner.draw(scenes, wanted, substream(stream, "caption"), mine)
            usable = found.ok.copy()
            some, programs = np.flatnonzero(usable), found.programs[:, None]
            if self.variant == "related":
                programs = np.zeros((len(mine), 3, self.length), np.int16)
                programs[some] = self._related(scenes[some], found.programs[some], stream, indices[pending[some]])
            entities = scenes.present.sum(1)[:, None]
            usable[some] = accept(programs[some], found.kind[some].astype(np.int64), wanted[some], entities[some])
            return (*vars(scenes).values(), programs, found.kind, wanted), usable

        arrays, _ = filled(draw, len(indices), tries=tries, what="scene with a caption")
        names = [field.name for field in fields(Scenes)]
        scenes = Scenes(**dict(zip(names, arrays, strict=False)))
        change, programs = arrays[-2].astype(np.int64)[:, None, None], arrays[-3]
        if self.variant == "related":
            agrees = np.stack([arrays[-1], arrays[-1], ~arrays[-1]], 1)[:, None]
            return ContrastSets((scenes,), programs, agrees, change.repeat(3, 2))
        return ContrastSets((scenes,), programs, arrays[-1][:, None, None], change)

    def _related(self, scenes: Scenes, programs: np.ndarray, stream: np.ndarray, indices: np.ndarray) -> np.ndarray:
        return related(scenes, programs, substream(stream, "related"), indices, self.captioner.semantics)

    def _alternatives(
        self, settings: SceneSettings, stream: np.ndarray, indices: np.ndarray, accept: Accept, tries: int, *, restricted: bool
    ) -> ContrastSets:
        def taken(programs: np.ndarray, kinds: np.ndarray, truth: np.ndarray, entities: np.ndarray) -> np.ndarray:
            return accept(programs[:, None], kinds, truth, entities[:, None])

        if self._captions > 1:
            scenes, programs, kinds, agrees = several_captions(
                settings, self.captioner, stream, indices, self._captions, taken, tries
            )
            return ContrastSets((scenes,), programs, agrees[:, None], kinds[:, None])
        scenes, programs, kinds, agrees = several_scenes(
            settings, self.captioner, stream, indices, self._pictures, taken, tries, restricted=restricted
        )
        members = tuple(scenes[np.arange(len(indices)) * self._pictures + place] for place in range(self._pictures))
        return ContrastSets(members, programs[:, None], agrees[..., None], kinds[..., None])


def _sets(pairs: MinimalPairs, turned: np.ndarray) -> ContrastSets:
    """Sets of pairs, with the scenes (first column of `turned`) and the captions (second one) exchanged in some, (n, 2) bool.

    So the position of a sample in its set does not tell its answer, which scene was drawn first, or which caption is the foil.
    """
    scenes, captions = turned.T
    first, second = pairs.scenes
    arrays = [
        {
            name: np.where(scenes.reshape(-1, *(1,) * (array.ndim - 1)), other, array)
            for (name, array), other in zip(vars(one).items(), vars(two).values(), strict=True)
        }
        for one, two in ((first, second), (second, first))
    ]
    agrees = np.eye(2, dtype=bool)[None] ^ (scenes ^ captions)[:, None, None]
    change = np.broadcast_to(pairs.kind.astype(np.int64)[:, None, None], agrees.shape)
    programs = np.where(captions[:, None, None], pairs.programs[:, ::-1], pairs.programs)
    return ContrastSets((Scenes(**arrays[0]), Scenes(**arrays[1])), programs, agrees, change)


def joined_changes(kinds: Iterable[CaptionedScenes]) -> tuple[str, ...]:
    """The names of the changes of several kinds, each once."""
    return tuple(dict.fromkeys(change for kind in kinds for change in kind.changes))


def joined(parts: Sequence[tuple[np.ndarray, ContrastSets]], count: int, *, entities: int, length: int) -> ContrastSets:
    """The sets of several kinds as one batch: each part at its rows, padded to the same numbers of entities and symbols.

    Args:
        parts: rows (m,) and the sets that stand there, which all have equally many scenes and captions.
        count: n, of all parts together.
        entities: most entities of a scene.
        length: most symbols of a caption.
    """
    pictures, texts = len(parts[0][1].scenes), parts[0][1].programs.shape[1]
    scenes = [_blank(parts[0][1].scenes[0], count, entities) for _ in range(pictures)]
    programs = np.zeros((count, texts, length), np.int16)
    agrees, change = np.zeros((count, pictures, texts), bool), np.zeros((count, pictures, texts), np.int64)
    for rows, part in parts:
        for whole, some in zip(scenes, part.scenes, strict=True):
            for name, array in vars(some).items():
                own = whole[name]  # a scene of this kind may have fewer entities
                if array.ndim == 1 or array.shape[1:] == own.shape[1:]:
                    own[rows] = array
                elif name == "overlap":
                    own[rows, : array.shape[1], : array.shape[2]] = array
                else:
                    own[rows, : array.shape[1]] = array
        programs[rows, :, : part.programs.shape[2]] = part.programs[:, :, :length]
        agrees[rows], change[rows] = part.agrees, part.change
    return ContrastSets(tuple(Scenes(**one) for one in scenes), programs, agrees, change)


def _blank(like: Scenes, count: int, entities: int) -> dict[str, np.ndarray]:
    """The arrays of `count` empty scenes of at most so many entities."""
    shapes: Mapping[str, tuple[int, ...]] = {"centre": (entities, 2), "overlap": (entities, entities)}
    return {
        name: np.full((count, *shapes.get(name, (entities,))), 1 if name in ("size", "distortion") else 0, array.dtype)
        for name, array in vars(like).items()
    }


def stacked(scenes: Sequence[Scenes]) -> Scenes:
    """Scenes of sets of P, (n each), as one batch (n * P,), those of a set next to each other."""
    arrays = [vars(one) for one in scenes]
    return Scenes(
        **{
            name: np.stack([one[name] for one in arrays], 1).reshape(len(scenes) * len(array), *array.shape[1:])
            for name, array in arrays[0].items()
        }
    )
