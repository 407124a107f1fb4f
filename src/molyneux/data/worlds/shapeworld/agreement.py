"""Pictures and captions that agree or do not, and neither alone tells which: `ShapeWorld`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, ConfigError, Control, DataError, Factor, Modality, Reader, Source, Spec, seeds
from molyneux.core.tooling.moved import moved
from molyneux.data.dataset import Split
from molyneux.data.worlds.shapeworld import splits
from molyneux.data.worlds.shapeworld.alternatives import group_problems
from molyneux.data.worlds.shapeworld.contrast_sets import CaptionedScenes, ContrastSets, Variant, joined, joined_changes, stacked
from molyneux.data.worlds.shapeworld.kinds import KINDS, Kind
from molyneux.data.worlds.shapeworld.meaning.foils.related import of_other_words, wordings_of
from molyneux.data.worlds.shapeworld.meaning.language.captions import language_of
from molyneux.data.worlds.shapeworld.meaning.language.description import CaptionKindReader, caption_factors, describe
from molyneux.data.worlds.shapeworld.meaning.language.vocabulary import PAPER_UNUSED, Vocabulary
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS
from molyneux.data.worlds.shapeworld.meaning.truth.semantics import Semantics
from molyneux.data.worlds.shapeworld.partitions import Acceptance, explained, partition_problems
from molyneux.data.worlds.shapeworld.scene_view import (
    rows_by_semantics,
    scene_modality,
    scenes_of_view,
    truth_of_captions,
    view_of_scenes,
)
from molyneux.data.worlds.shapeworld.scenes.geometry import draw
from molyneux.data.worlds.shapeworld.scenes.noise import add_noise
from molyneux.data.worlds.shapeworld.scenes.sampling import stream_of
from molyneux.data.worlds.shapeworld.scenes.scenes import NotDrawnError, Scenes
from molyneux.data.worlds.shapeworld.scenes.settings import HeldOut, SceneSettings
from molyneux.data.worlds.shapeworld.sentence_understanding import LanguageWorld
from molyneux.data.worlds.shapeworld.unbound import UnboundCounts, counted_quantities, counts_of
from molyneux.data.worlds.shapeworld.world_settings import (
    MOVED,
    CaptionSettings,
    HeldOutSplits,
    PictureSettings,
    View,
    group_type_problems,
    world_problems,
)

_ARITIES = (0, *(len(symbol.arguments) for symbol in SYMBOLS.values()))


@final
class ShapeWorld(LanguageWorld):
    """Pictures of shapes with captions that agree with them or not; after Kuhnle & Copestake, ShapeWorld (2017).

    With `variant="balanced"`, four samples in a row are a contrast set: two scenes and two captions, each true of one
    scene and false of the other (Winoground: Thrush et al., CVPR 2022). Every caption and every picture is once right and
    once wrong, so that neither of them alone tells anything. In about three quarters of the sets the second scene is the
    first with one thing changed. `variant="foils"` is the same, but the second caption is the first with one thing changed, such
    as a relation turned round or a number. `variant="bound"` is as balanced, but the second scene is always the first mirrored,
    flipped or with two entities that exchange their colours, shapes or places: no count of colours or of shapes tells them apart.
    `variant="published"` has the sampler of the published data sets, whose captions tell
    by themselves which are true, with half of the samples true: it is there for comparison only, and its training scenes have the
    combinations that they should not have, as in the published code. `variant="related"` is for measuring consistency: three
    samples in a row have one scene, a caption, a paraphrase and a negation of it; its words do tell something.

    Quantities are the numbers of entities of each colour and of each shape, which are what the control `unbound` is told.

    Captions that the semantics leaves undetermined do not occur. `validation` and `test` have scenes and captions that training
    does not have, see `HeldOut`.

    Factors: `type`, `symbol`, `negated` and `nouns` of the caption (see `caption_factors`), `change` (what the scenes of a set
    differ in, what the foil changes, or what makes the published caption false), `truth`, the number of `entities`, and the
    `kind` where there are several. The target is `agreement`.

    Args:
        kind: what captions are about: one of `Kind`, or several, which are equally likely.
        variant: see above.
        only: factors and those of their values that samples have, such as `{"change": ["mirrored"]}`: a partition.
        scenes: what scenes are drawn from, of all kinds; by default those of the kind.
        held_out: what validation and test have and training does not; by default those of the kind.
        views: the modalities: `image`; `text`; `meaning`, the caption in Polish notation; `scene`, the entities as a set.
        text: language, words and semantics of captions, and how many a scene has.
        image: size and noise of pictures, and how many a caption has.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name: ClassVar[str] = "shapeworld-v2"
    origin: ClassVar[str] = "after ShapeWorld (Kuhnle and Copestake, 2017), generated by this package"
    fetch_size: ClassVar[int | None] = 2048

    @moved(**MOVED)
    def __init__(
        self,
        *,
        kind: Kind | Sequence[Kind] = "multishape",
        variant: Variant = "balanced",
        only: Mapping[str, Sequence[str]] | None = None,
        scenes: SceneSettings | None = None,
        held_out: HeldOutSplits | None = None,
        views: Sequence[View] = ("image", "text"),
        text: CaptionSettings | None = None,
        image: PictureSettings | None = None,
    ) -> None:
        if problems := group_type_problems(scenes, held_out, text, image, kind=kind, only=only, views=views):
            raise ConfigError(problems)
        text, image, held_out = text or CaptionSettings(), image or PictureSettings(), held_out or HeldOutSplits()
        self.kinds: tuple[Kind, ...] = (kind,) if isinstance(kind, str) else tuple(kind)
        self.variant, self.only, self.scene_settings = variant, {name: tuple(some) for name, some in (only or {}).items()}, scenes
        self.views, self.language, self.image_size, self.semantics = tuple(views), text.language, image.size, text.semantics
        self.captions, self.pictures, self._text, self._image = text.captions, image.pictures, text, image
        self._held_out, self._own_colours = vars(held_out), () if scenes is None else tuple(scenes.colours)
        problems = world_problems(self.kinds, self.views, variant, text, image)
        if problems := problems + group_problems(text.captions, image.pictures, variant, self.only):
            raise ConfigError(problems)
        self._check_scenes()

    def _check_scenes(self) -> None:
        """Raise ConfigError where scenes, what is held out and the partition do not fit each other."""
        variant, scenes = self.variant, self.scene_settings
        if lonely := [name for name in self.kinds if variant == "bound" and max((scenes or KINDS[name].scenes).counts) < 2]:
            raise ConfigError(
                f"variant: bound needs scenes of two entities and more, and {lonely[0]} has one: choose another kind"
            )
        for name in self.kinds:
            usual, known = self.scene_settings or KINDS[name].scenes, KINDS[name].symbols(variant, self._own_colours)
            if problems := splits.held_out_setting_problems(usual, self.held_out(name), {name: known}):
                raise ConfigError(problems)
            for split in self.splits:
                splits.split_captions(split, self.held_out(name), language_of(self.language), self._length)
                self.scenes_of(split, name)
        both = variant in ("balanced", "bound", "foils")
        if problems := partition_problems(self.only, self.spec.factors, two_sided=both, related=variant == "related"):
            raise ConfigError(problems)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data: with name, split and seed they determine every byte."""
        held_out = {split: None if one is None else asdict(one) for split, one in self._held_out.items()}
        return {
            "kind": list(self.kinds),
            "variant": self.variant,
            "only": {name: list(values) for name, values in self.only.items()},
            "scenes": None if self.scene_settings is None else asdict(self.scene_settings),
            **held_out,
            "views": list(self.views),
            "language": self.language,
            "longest": self._length,
            "vocabulary": self._text.vocabulary,
            "image_size": self.image_size,
            "noise": self._image.noise,
            "semantics": None if self.semantics is None else asdict(self.semantics),
            **{name: number for name, number in (("captions", self.captions), ("pictures", self.pictures)) if number > 1},
        }

    @cached_property
    def spec(self) -> Spec:
        """The modalities in `views`, the factors and the target `agreement`."""
        counts = tuple(map(str, self._counts))
        kinds = (Factor("kind", self.kinds),) if len(self.kinds) > 1 else ()
        others = (
            Factor("change", joined_changes(self._drawn.values())),
            Factor("truth", ("false", "true")),
            Factor("entities", counts),
            *kinds,
        )
        target, quantities = self._drawn[self.kinds[0]].target, counted_quantities(max(self._counts))
        return Spec(tuple(self.modality(name) for name in self.views), (*self._caption_factors, *others), (target,), quantities)

    def modality(self, name: str) -> Modality:
        """The modality of a view, whether or not samples have it."""
        if name == "image":
            return Modality("image", "image", (3, self.image_size, self.image_size), "uint8")
        if name == "text":
            return self.vocabulary.modality(self._length, dtype="uint8")
        if name == "scene":
            return scene_modality(max(self._counts))
        longest = max(drawn.length for drawn in self._drawn.values())
        return Modality("meaning", "text", (longest,), "uint8", ("<pad>", *SYMBOLS), 0, arities=_ARITIES)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of its captions; those of the paper's data sets have unused words too, as there."""
        if self._text.vocabulary == "whole":
            return language_of(self.language).everything
        unused = {word for name in self.kinds for word in PAPER_UNUSED.get(name, ())}
        paraphrased = self.variant == "related"
        return language_of(self.language).vocabulary(self.meanings, unused=sorted(unused), paraphrases=paraphrased)

    def scenes_of(self, split: Split, kind: Kind) -> SceneSettings:
        """What the scenes of a split and a kind are drawn from; raises ConfigError for an unknown split."""
        self.size(split)
        if (split, kind) not in self._scene_settings:
            self._scene_settings[split, kind] = self._settings_of(split, kind)
        return self._scene_settings[split, kind]

    @cached_property
    def _scene_settings(self) -> dict[tuple[Split, Kind], SceneSettings]:
        return {}

    def _settings_of(self, split: Split, kind: Kind) -> SceneSettings:
        usual = self.scene_settings or KINDS[kind].scenes
        return splits.split_scenes(split, usual, self.held_out(kind), published=self.variant == "published")

    def held_out(self, kind: Kind) -> Mapping[Split, HeldOut]:
        """What validation and test of a kind have and training does not have."""
        defaults = dict(zip(("validation", "test"), KINDS[kind].held_out_of(self.variant), strict=True))
        if self.scene_settings is not None:
            defaults = dict.fromkeys(defaults, HeldOut())
        return {split: self._held_out[split] or default for split, default in defaults.items()}

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples of these numbers (B,) of a split, in any order; errors as `World.batch`."""
        groups, rows, picture, text = self._members(self.numbers(indices, split))
        pictures, texts = self._group
        sets, kinds = self._sets(groups, split, seed)
        programs = sets.programs.reshape(len(groups) * texts, sets.programs.shape[2])
        found, lengths, told = dict[str, Tensor](), dict[str, Tensor](), programs
        scenes = stacked(sets.scenes)
        shown, said = rows * pictures + picture, rows * texts + text
        if "image" in self.views:
            numbers = (groups[:, None] * pictures + np.arange(pictures)).ravel()
            drawn = self.pictures_of(scenes, numbers, kinds.repeat(pictures), split=split, seed=seed)
            found["image"] = torch.from_numpy(drawn[shown])
        if "text" in self.views:
            wordings = wordings_of(groups, stream_of(seed, split, "wordings")) if self.variant == "related" else None
            made = language_of(self.language).realise(programs, self.vocabulary, length=self._length, uniforms=wordings)
            found["text"] = torch.from_numpy(made.ids.astype(np.uint8)[said])
            lengths["text"] = torch.from_numpy(made.lengths[said])
            told = made.ids
        if "meaning" in self.views:
            found["meaning"] = torch.from_numpy(programs.astype(np.uint8)[said])
            lengths["meaning"] = torch.from_numpy((programs > 0).sum(1)[said])
        if "scene" in self.views:
            found["scene"] = torch.from_numpy(view_of_scenes(scenes)[shown])
            lengths["scene"] = torch.from_numpy(scenes.present.sum(1)[shown])
        agrees = sets.agrees[rows, picture, text]
        factors = self._factors(
            programs[said], sets.change[rows, picture, text], agrees, scenes.present.sum(1)[shown], kinds[rows]
        )
        return Batch(
            {name: found[name] for name in self.views},
            factors=torch.from_numpy(factors),
            quantities=torch.from_numpy(counts_of(scenes)[shown]),
            lengths=lengths,
            targets={"agreement": torch.from_numpy(agrees.astype(np.int64))},
            known={"agreement": torch.from_numpy(of_other_words(told, rows, text))} if self.variant == "related" else {},
        )

    def scenes(self, indices: np.ndarray, *, split: Split, seed: int) -> Scenes:
        """The scenes of samples of these numbers (B,) of a split."""
        groups, rows, picture, _ = self._members(self.numbers(indices, split))
        return stacked(self._sets(groups, split, seed)[0].scenes)[rows * self._group[0] + picture]

    def _members(self, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        """The sets of samples, in which of them each is, and its scene and caption there."""
        pictures, texts = self._group
        groups, rows = np.unique(numbers // (pictures * texts), return_inverse=True)
        return groups, rows, numbers % (pictures * texts) // texts, numbers % texts

    def evaluate(self, batch: Batch) -> Tensor:
        """Whether the captions of a batch are true of its scenes: 1, 0 (undetermined) or -1; (B,) int8.

        Texts are parsed, so captions that a model has written can be evaluated too. One that is no sentence of the language is
        `NO_SENTENCE` (-2), which is no truth value.

        Args:
            batch: with the views `scene` and `text`; without them, DataError is raised.
        """
        if missing := [name for name in ("scene", "text") if name not in batch.views]:
            raise DataError(f"expected the views scene and text, got none of {', '.join(missing)}: name them in `views`")
        scenes = scenes_of_view(batch.views["scene"].numpy(), batch.lengths["scene"].numpy())
        modality = self.vocabulary.modality(batch.views["text"].shape[1], dtype="uint8")
        kinds = self.spec.factor_index("kind") if len(self.kinds) > 1 else None
        rules = rows_by_semantics(batch, [self.semantics_of(name) for name in self.kinds], kinds)
        return torch.from_numpy(truth_of_captions(modality, batch.views["text"], scenes, language_of(self.language), rules))

    def visible(self, modality: str) -> tuple[str, ...]:
        """A caption shows what kind of caption it is, a picture its number of entities."""
        captions = tuple(factor.name for factor in self._caption_factors)
        return captions if modality in ("text", "meaning") else ("entities",)

    def readers(self) -> Mapping[str, Reader]:
        """The parser of captions, which reads what kind of caption they are."""
        if "text" not in self.views:
            return {}
        return {"text": CaptionKindReader(self.spec.modality("text"), self._caption_factors, language_of(self.language))}

    def controls(self) -> Mapping[str, Control]:
        """The control `unbound`: see `UnboundCounts`; none where samples have no caption."""
        text = self.spec.modality("text") if "text" in self.views else None
        if text is None and "meaning" not in self.views:
            return {}
        return {"unbound": UnboundCounts("agreement", text, language_of(self.language), samples=self._unseen)}

    def _unseen(self, size: int, seed: int) -> Source:
        """Training samples with captions as meaning alone, which is what their controls need."""
        held_out, text = HeldOutSplits(**self._held_out), replace(self._text, vocabulary="own")
        image = PictureSettings(pictures=self.pictures)
        world = ShapeWorld(
            kind=self.kinds,
            variant=self.variant,
            only=self.only,
            scenes=self.scene_settings,
            held_out=held_out,
            views=("meaning",),
            text=text,
            image=image,
        )
        return world.source("train", size, seed=seed)

    def semantics_of(self, kind: Kind) -> Semantics:
        """When captions of one of its kinds are true."""
        return self._drawn[kind].captioner.semantics

    @cached_property
    def _drawn(self) -> dict[Kind, CaptionedScenes]:
        numbers = {"captions": self.captions, "pictures": self.pictures}
        return {name: CaptionedScenes(name, self.variant, self.semantics, **numbers) for name in self.kinds}

    @property
    def _group(self) -> tuple[int, int]:
        """Scenes and captions of samples in a row that belong together."""
        return self._drawn[self.kinds[0]].group

    @cached_property
    def meanings(self) -> tuple[str, ...]:
        """Names of the symbols that the meanings of its captions have."""
        found = {name for kind in self.kinds for name in KINDS[kind].symbols(self.variant, self._own_colours)}
        return tuple(name for name in SYMBOLS if name in found)

    @cached_property
    def _caption_factors(self) -> tuple[Factor, ...]:
        return caption_factors(self.meanings)

    @cached_property
    def _length(self) -> int:
        return self._text.longest or max(KINDS[name].longest_caption(self.variant, self.language) for name in self.kinds)

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        found = {count for split in self.splits for name in self.kinds for count in self.scenes_of(split, name).counts}
        fewer = {count - 1 for count in found if count > 1} if self.variant != "published" else set()  # an entity may be removed
        return tuple(sorted(found | fewer))

    def _sets(self, groups: np.ndarray, split: Split, seed: int) -> tuple[ContrastSets, np.ndarray]:
        """The contrast sets of these numbers (n,), and the kind of each, (n,)."""
        settings = splits.counted({name: self.scenes_of(split, name) for name in self.kinds}, self.only, split)
        places, which = [place for place, name in enumerate(self.kinds) if name in settings], np.zeros(len(groups), np.int64)
        if len(self.kinds) > 1:
            uniforms = seeds.uniforms(stream_of(seed, split, "kinds"), groups, 1)[:, 0]
            which[:] = np.array(places)[np.minimum((uniforms * len(places)).astype(np.int64), len(places) - 1)]
        parts, changes = [], joined_changes(self._drawn.values())
        for place in places:
            name, rows = self.kinds[place], np.flatnonzero(which == place)
            if len(rows) or (place == places[0] and not len(groups)):
                found = self._drawn_sets(name, settings[name], groups[rows], split, seed)
                known = np.array([*(changes.index(one) for one in self._drawn[name].changes), -1])  # the last one for -1
                parts.append((rows, replace(found, change=known[found.change])))
        return joined(
            parts, len(groups), entities=max(self._counts), length=max(drawn.length for drawn in self._drawn.values())
        ), which

    def _drawn_sets(self, kind: Kind, settings: SceneSettings, groups: np.ndarray, split: Split, seed: int) -> ContrastSets:
        """The contrast sets of these numbers (n,) of one kind."""
        drawn, held_out = self._drawn[kind], self.held_out(kind)
        constraint = splits.split_captions(split, held_out, language_of(self.language), self._length)
        accept = Acceptance(
            constraint, self._caption_factors, self.only, drawn.changes, splits.names_of(split, held_out, self._length)
        )
        few = bool(self.only or constraint.required_patterns or constraint.required_lengths)
        fits = constraint.patterned if constraint.required_patterns else None
        settings, stream = splits.steered(settings, constraint.required_patterns), stream_of(seed, split, kind, self.variant)
        try:
            return drawn.draw(settings, stream, groups, accept, fits=fits, restricted=few)
        except NotDrawnError as error:
            raise explained(error, split, kind, accept, splits.limits_of(split, held_out, self.only)) from error

    def pictures_of(self, scenes: Scenes, numbers: np.ndarray, kinds: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """Pictures (n, 3, S, S) uint8 of scenes, with noise by their numbers (n,) and kinds (n,), places in `kinds`."""
        images, own = draw(scenes, size=self.image_size), self._image.noise
        levels = np.array([KINDS[name].noise if own is None else own for name in self.kinds])[kinds]
        add_noise(images, levels, stream_of(seed, split, "noise"), numbers)
        return images

    def _factors(
        self, programs: np.ndarray, change: np.ndarray, agrees: np.ndarray, entities: np.ndarray, kinds: np.ndarray
    ) -> np.ndarray:
        """Codes (B, F) of the factors of samples."""
        columns = [change, agrees.astype(np.int64), np.searchsorted(self._counts, entities)]
        columns += [kinds] if len(self.kinds) > 1 else []
        return np.concatenate([describe(programs, self._caption_factors), np.stack(columns, 1)], 1)
