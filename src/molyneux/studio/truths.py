"""What is said of a sentence and a scene of ShapeWorld: by its meaning, by a model, and one change away from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import molyneux.run as runs
from molyneux.core import ConfigError, MolyneuxError
from molyneux.studio import given
from molyneux.studio.address import PageState
from molyneux.studio.library import Library
from molyneux.studio.visit import sentence

if TYPE_CHECKING:
    from molyneux.core import Modality
    from molyneux.data import Interpretation, SingleScene, Tree
    from molyneux.data.worlds.shapeworld.meaning.foils.nearby import FoilCaption, WordExchange
    from molyneux.data.worlds.shapeworld.meaning.trees.described import MeaningPart

TRUTHS = {1: "true", 0: "undetermined", -1: "false"}
"""What a truth value is called."""
FIRST_MODEL, FIRST_TEXT = "shapeworld-quantifiers", "two circles are white"
_LONGEST, _MOST_CHANGES, _MOST_FOILS, _OF_A_KIND = 400, 24, 12, 2
"""Characters of a sentence, changes of a scene, and foils that are shown: in all, and of a kind."""


@dataclass(frozen=True)
class ScenesState(PageState):
    """What the page shows.

    Args:
        model: its name.
        sample: number of the test sample whose scene it is.
        seed: of the samples.
        text: the sentence.
        before: the sentence before a word was changed; empty for none.
        changes: of the scene, `number.attribute:value`.
    """

    model: str = FIRST_MODEL
    sample: int = 0
    seed: int = 0
    text: str = FIRST_TEXT
    before: str = ""
    changes: tuple[str, ...] = ()

    def checked(self) -> Self:
        """See `PageState`."""
        kept = given.packed(given.unpacked(self.changes[:_MOST_CHANGES]))
        text, before = self.text[:_LONGEST], self.before[:_LONGEST]
        return replace(self, text=text, before=before, changes=kept, sample=max(self.sample, 0), seed=max(self.seed, 0))


@dataclass(frozen=True)
class JudgedSentence:
    """One sentence and one scene: its truth by meaning, and the probability that a model gives it, or why it gives none."""

    text: str
    changed: bool
    truth: int
    share: float | None
    problem: str = ""


@dataclass(frozen=True)
class SceneAnswer:
    """What is said of a sentence and a scene.

    Args:
        model: which was asked.
        scene: as its sample has it.
        now: with the changes; the same object where there are none.
        said: how the sentence was read.
        rows: the sentence before and now, each with the scene before and now; none of a sentence that cannot be read.
        parts: the meaning of the sentence.
    """

    model: runs.TrainedModel
    scene: SingleScene
    now: SingleScene
    said: Interpretation
    rows: tuple[JudgedSentence, ...]
    parts: MeaningPart | None

    @property
    def last(self) -> JudgedSentence | None:
        """The sentence and the scene as they are now."""
        return self.rows[-1] if self.rows else None


def scene_answer(library: Library, state: ScenesState) -> SceneAnswer:
    """What is said of a sentence and a scene.

    Args:
        library: opens the model.
        state: of the page.

    Raises:
        ConfigError: a model that judges no sentences about scenes, or changes of what the scene does not have.
    """
    from molyneux.data import ShapeWorld, interpret, scene_of

    model = library.open(state.model)
    world = model.dataset()
    if not isinstance(world, ShapeWorld) or not any(item.task == "agreement" for item in model.spec.targets):
        raise ConfigError(f"{model.name} does not judge sentences about scenes: choose a model that was trained on ShapeWorld")
    what = f"scene {state.sample} {state.seed}"
    scene = library.once(model, what, lambda: scene_of(world, state.sample, split="test", seed=state.seed))
    now = _changed(scene, state)
    said = interpret(state.text, world.language)
    if said.tree is None:
        return SceneAnswer(model, scene, now, said, (), None)
    earlier = interpret(state.before, world.language) if state.before else said
    sentences = (earlier, said) if earlier.tree not in (None, said.tree) else (said,)
    pairs = [(one, place) for place in ((scene, now) if now is not scene else (scene,)) for one in sentences]
    rows = tuple(_judged(model, one, place, changed=place is not scene) for one, place in pairs)
    return SceneAnswer(model, scene, now, said, rows, now.parts(said.tree))


def _changed(scene: SingleScene, state: ScenesState) -> SingleScene:
    now = scene
    for name, value in given.unpacked(state.changes).items():
        number, _, attribute = name.partition(".")
        if number.isdecimal() and attribute in ("shape", "colour") and len(number) < 3:
            now = now.changed(int(number), **{attribute: value})
    return now if now.entities != scene.entities else scene


def _judged(model: runs.TrainedModel, said: Interpretation, scene: SingleScene, *, changed: bool) -> JudgedSentence:
    assert said.tree is not None
    (truth,), text = scene.truths([said.tree]), said.caption
    target = next(item for item in model.spec.targets if item.task == "agreement")
    name, found = sentence_modality(model).name, scene.world.understand(said.text)
    if not found.consistent:
        words = ", ".join(f"“{word}”" for word in found.unknown)
        told = f"{model.name} has not learned the words {words}." if words else sentence(MolyneuxError(found.explained()))
        return JudgedSentence(text, changed, truth, None, told)
    try:
        answers = model.predict(inputs={"image": scene.image, name: said.text}).answers[target.name]
    except MolyneuxError as error:
        return JudgedSentence(text, changed, truth, None, sentence(error))
    return JudgedSentence(text, changed, truth, float(answers[0]))


def sentence_modality(model: runs.TrainedModel) -> Modality:
    """The modality by which a model is given sentences."""
    return next(item for item in model.spec.modalities if item.kind == "text")


@dataclass(frozen=True)
class NearCaptions:
    """Captions that are one change away: each exchange with the truth of its options, and foils."""

    exchanges: tuple[tuple[WordExchange, tuple[int, ...]], ...]
    foils: tuple[FoilCaption, ...]


def near_captions(scene: SingleScene, tree: Tree) -> NearCaptions:
    """The captions that are one change away from one."""
    found = tuple((one, scene.truths(list(one.options.values()))) for one in scene.exchanges(tree))
    foils = list(scene.foils(tree))
    first = [one for place, one in enumerate(foils) if sum(other.kind == one.kind for other in foils[:place]) < _OF_A_KIND]
    return NearCaptions(found, tuple(first[:_MOST_FOILS]))
