"""True or false: a scene of ShapeWorld and a sentence, by its meaning and by a model, and what one change makes of both."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from nicegui import events, ui

import molyneux.run as runs
from molyneux.core import ConfigError, MolyneuxError
from molyneux.studio import given
from molyneux.studio.address import PageState, whole
from molyneux.studio.frame import again, button, card, heading, note, show_rows
from molyneux.studio.shares import show_shares
from molyneux.studio.visit import ResultArea, Visit, sentence

if TYPE_CHECKING:
    from molyneux.core import Modality
    from molyneux.data import Interpretation, SingleScene, Tree
    from molyneux.data.worlds.shapeworld.meaning.foils.nearby import FoilCaption, WordExchange
    from molyneux.data.worlds.shapeworld.meaning.trees.described import MeaningPart

PATH, TITLE = "/scenes", "True or false"
INTRO = (
    "Is a sentence of yours true of this scene? See what its meaning says and what a model says, and change a word or a shape."
)
FIRST_MODEL, FIRST_TEXT = "shapeworld-quantifiers", "two circles are white"
_TRUTH = {1: "true", 0: "undetermined", -1: "false"}
_LONGEST, _MOST_FOILS, _MOST_CHANGES = 400, 12, 24


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


State = ScenesState


@dataclass(frozen=True)
class _Judged:
    """One sentence and one scene: its truth by meaning, and the probability that a model gives it, or why it gives none."""

    text: str
    changed: bool
    truth: int
    share: float | None
    problem: str = ""


@dataclass(frozen=True)
class _Told:
    model: runs.TrainedModel
    scene: SingleScene
    now: SingleScene
    said: Interpretation
    rows: tuple[_Judged, ...]
    parts: MeaningPart | None

    @property
    def last(self) -> _Judged | None:
        """The sentence and the scene as they are now."""
        return self.rows[-1] if self.rows else None


def _asked(visit: Visit[ScenesState], state: ScenesState) -> _Told:
    """Everything that is told of a state but its neighbours."""
    from molyneux.data import ShapeWorld, interpret, scene_of

    model = visit.library.open(state.model)
    world = model.dataset()
    if not isinstance(world, ShapeWorld) or not any(item.task == "agreement" for item in model.spec.targets):
        raise ConfigError(f"{model.name} does not judge sentences about scenes: choose a model that was trained on ShapeWorld")
    what = f"scene {state.sample} {state.seed}"
    scene = visit.library.once(model, what, lambda: scene_of(world, state.sample, split="test", seed=state.seed))
    now = _changed(scene, state)
    said = interpret(state.text, world.language)
    earlier = interpret(state.before, world.language) if state.before else said
    pairs = [(one, place) for place in (scene, now) for one in (earlier, said) if one.tree is not None]
    rows = tuple(dict.fromkeys(_judged(model, one, place, changed=place is not scene) for one, place in pairs))
    return _Told(model, scene, now, said, rows if said.tree else (), None if said.tree is None else now.parts(said.tree))


def _changed(scene: SingleScene, state: ScenesState) -> SingleScene:
    now = scene
    for name, value in given.unpacked(state.changes).items():
        number, _, attribute = name.partition(".")
        if number.isdecimal() and attribute in ("shape", "colour") and len(number) < 3:
            now = now.changed(int(number), **{attribute: value})
    return now if now.entities != scene.entities else scene


def _judged(model: runs.TrainedModel, said: Interpretation, scene: SingleScene, *, changed: bool) -> _Judged:
    assert said.tree is not None
    (truth,), text = scene.truths([said.tree]), said.caption
    target = next(item for item in model.spec.targets if item.task == "agreement")
    name, found = _sentences(model).name, scene.world.understand(said.text)
    if not found.consistent:
        words = ", ".join(f"“{word}”" for word in found.unknown)
        told = f"{model.name} has not learned the words {words}." if words else sentence(MolyneuxError(found.explained()))
        return _Judged(text, changed, truth, None, told)
    try:
        answers = model.predict(inputs={"image": scene.image, name: said.text}).answers[target.name]
    except MolyneuxError as error:
        return _Judged(text, changed, truth, None, sentence(error))
    return _Judged(text, changed, truth, float(answers[0]))


def _sentences(model: runs.TrainedModel) -> Modality:
    """The modality by which a model is given sentences."""
    return next(item for item in model.spec.modalities if item.kind == "text")


@dataclass(frozen=True)
class _Near:
    """Captions that are one change away: each exchange with the truth of its options, and foils."""

    exchanges: tuple[tuple[WordExchange, tuple[int, ...]], ...]
    foils: tuple[FoilCaption, ...]


def _near(scene: SingleScene, tree: Tree) -> _Near:
    found = tuple((one, scene.truths(list(one.options.values()))) for one in scene.exchanges(tree))
    return _Near(found, scene.foils(tree)[:_MOST_FOILS])


async def build(visit: Visit[ScenesState]) -> None:
    """Build the page."""
    await _Scenes(visit).build()


class _Scenes:
    def __init__(self, visit: Visit[ScenesState]) -> None:
        self.visit = visit

    async def build(self) -> None:
        state, names = self.visit.state, list(self.visit.library.trained_on("ShapeWorld"))
        with ui.element("div").classes("sides"):
            with card("A sentence and a scene", classes="controls"):
                self.text = ui.input("Your sentence", value=state.text, placeholder="such as: most circles are red")
                self.text.props("outlined dense clearable debounce=500 maxlength=400").classes("w-full")
                self.text.on_value_change(lambda e: self._changed(text=str(e.value or ""), before=""))
                self.reading = ResultArea("how the sentence is read")
                with ui.element("div").classes("row"):
                    sample = ui.number("Scene of the test sample", value=state.sample, min=0, step=1, format="%d")
                    sample.props("outlined dense debounce=300")
                    sample.on_value_change(lambda e: self._changed(sample=whole(e.value, 0), changes=()))
                    seed = ui.number("Seed", value=state.seed, min=0, step=1, format="%d").props("outlined dense debounce=300")
                    seed.on_value_change(lambda e: self._changed(seed=whole(e.value, 0), changes=()))
                button("New scene", lambda: sample.set_value(self.visit.state.sample + 4), strong=True)
                if state.model not in names:
                    names.append(state.model)
                box = ui.select(names, label="Model", value=state.model).props("outlined dense options-dense")
                box.on_value_change(self._model_changed)
            with ui.element("div"):
                with card("Is it true?"):
                    self.answer = ResultArea("whether the sentence is true")
                with card("What is in the scene"):
                    self.entities = ResultArea("the entities of the scene")
                with card("Change one word"):
                    self.words = ResultArea("sentences that are one change away")
                with card("What the sentence means"):
                    self.meaning = ResultArea("the meaning of the sentence")
        await self._ask()

    async def _model_changed(self, event: events.ValueChangeEventArguments[Any]) -> None:
        await self._changed(model=str(event.value), changes=(), before="")

    async def _changed(self, **values: Any) -> None:
        if self.visit.change(**values):
            await self._ask()

    async def _write(self, caption: str) -> None:
        """Put a caption in the place of the sentence, which stays beside it."""
        text, before = caption.removesuffix(".").strip(), self.visit.state.text
        self.visit.change(text=text, before=before)
        self.text.set_value(text)
        await self._ask()

    async def _ask(self) -> None:
        state = self.visit.state
        if not state.text.strip():
            for area in (self.reading, self.words, self.meaning):
                area.fresh()
            self.answer.problem("Type a sentence about the scene, such as: most circles are red.")
            return
        found = await self.visit.compute("ask", self.answer, lambda _: _asked(self.visit, state), words="looking")
        if found is None:
            return
        with self.reading.fresh():
            self._show_reading(found.said)
        with self.answer.fresh():
            self._show_answer(found, state)
        with self.entities.fresh():
            self._show_entities(found)
        with self.meaning.fresh():
            if found.parts is not None:
                ui.html(f'<ul class="meaning">{_drawn(found.parts)}</ul>', sanitize=False)
                note("Beside each part stand the numbers of the shapes of the scene that it can mean.")
        tree = found.said.tree
        if tree is None:
            self.words.fresh()
            return
        near = await self.visit.compute("near", self.words, lambda _: _near(found.now, tree), words="changing words")
        if near is not None:
            with self.words.fresh():
                self._show_words(found, near)

    def _show_reading(self, said: Interpretation) -> None:
        if said.tree is not None:
            if said.caption.removesuffix(".").split() != said.text.lower().strip(" .!?").split():
                note(f"Read as “{said.caption}”")
            for remark in (*said.remarks, *(f"it could also mean “{other}”" for other in said.others)):
                note(sentence(MolyneuxError(remark)))
            return
        read, rest = html.escape(said.text[: said.stop]), html.escape(said.text[said.stop :]) or "…"
        ui.html(f'<p class="said">{read}<mark>{rest}</mark></p>', sanitize=False)
        ui.label(f"It stops here: {said.explained()}").classes("problem").props("role=alert")
        if said.suggestion:
            other = " (it means something else)" if said.suggests_other else ""
            button(f"Take “{said.suggestion}”{other}", partial(self._write, said.suggestion))

    def _show_answer(self, found: _Told, state: ScenesState) -> None:
        with ui.element("div").classes("columns"):
            pictures = [("As it was", found.scene), ("Changed", found.now)] if found.now is not found.scene else [("", found.now)]
            for title, scene in pictures:
                with ui.element("div"):
                    if title:
                        heading(title, level=3)
                    ui.html(_pictured(scene), sanitize=False)
            with ui.element("div"):
                last = found.last
                if last is None:
                    note("The sentence has no meaning that could be true or false.")
                    return
                ui.label(f"By its meaning, it is {_TRUTH[last.truth]}.").classes("answer")
                if last.truth == 0:
                    note("Neither true nor false: it presupposes what is not there, or two sides are nearly equal.")
                if last.share is None:
                    note(last.problem)
                else:
                    says = "true" if last.share > 0.5 else "false"
                    right = "" if last.truth == 0 else "right" if (last.share > 0.5) == (last.truth > 0) else "wrong"
                    ui.label(f"{found.model.name} says that it is {says}.").classes(f"answer reading {right}")
                    show_shares([("true, says the model", last.share), ("true, by guessing", 0.5)])
                if len(found.rows) > 1:
                    heading("Before and after", level=3)
                    rows = [
                        (row.text, "changed" if row.changed else "as it was", _TRUTH[row.truth], _said(row)) for row in found.rows
                    ]
                    show_rows(("sentence", "scene", "by its meaning", found.model.name), rows)
        again(*_lines(self.visit, found, state), pictures={"image.png": given.plain_base64(_png(found))})

    def _show_entities(self, found: _Told) -> None:
        values = found.scene.values
        with ui.element("div").classes("entities"):
            for number, entity in enumerate(found.now.entities):
                with ui.element("div").classes("row entity"):
                    ui.label(str(number + 1)).classes("index")
                    for attribute, value in (("colour", entity.colour), ("shape", entity.shape)):
                        options = list(dict.fromkeys((*values[attribute], value)))
                        box = ui.select(options, label=f"{attribute} of {number + 1}", value=value)
                        box.props("outlined dense options-dense")
                        box.on_value_change(partial(self._entity_changed, found, number, attribute))
                    was = found.scene.entities[number]
                    told = f", was {was.colour} {was.shape}" if was != entity else ""
                    ui.label(f"{entity.place}{told}").classes("quiet")
        if self.visit.state.changes:
            button("As it was", lambda: self._changed(changes=()))

    async def _entity_changed(
        self, found: _Told, number: int, attribute: str, event: events.ValueChangeEventArguments[Any]
    ) -> None:
        kept = {**given.unpacked(self.visit.state.changes), f"{number}.{attribute}": str(event.value)}
        if str(event.value) == getattr(found.scene.entities[number], attribute):
            del kept[f"{number}.{attribute}"]
        await self._changed(changes=given.packed(kept))

    def _show_words(self, found: _Told, near: _Near) -> None:
        with ui.element("div").classes("row"):
            for exchange, truths in near.exchanges:
                options = {"": exchange.words}
                captions = {words: _caption(tree, found) for words, tree in exchange.options.items()}
                options |= {
                    captions[words]: f"{words} ({_TRUTH[one]})" for words, one in zip(exchange.options, truths, strict=True)
                }
                box = ui.select(options, label=exchange.kind, value="").props("outlined dense options-dense")
                box.on_value_change(lambda event: self._write(str(event.value)))
        if not near.exchanges:
            note("No word of this sentence has another one in the sentences of this world.")
        heading("Foils: one thing is changed, and the truth with it", level=3)
        known = set(found.now.world.meanings)
        for foil in near.foils:
            with ui.element("div").classes("row"):
                button(foil.caption, partial(self._write, foil.caption))
                learned = "" if set(foil.tree.polish) <= known else ", which the model has not learned"
                ui.label(f"{foil.kind}{learned}").classes("quiet")
        if not near.foils:
            note("It has none here: it is undetermined, or no single change makes it true.")


def _caption(tree: Tree, found: _Told) -> str:
    from molyneux.data import say

    return " ".join(say(tree, found.now.world.language))


def _said(row: _Judged) -> str:
    return row.problem if row.share is None else f"{'true' if row.share > 0.5 else 'false'}, {100 * row.share:.1f} % true"


def _png(found: _Told) -> str:
    import torch

    return given.view_text(found.model.spec.modality("image"), torch.from_numpy(found.now.image))


def _pictured(scene: SingleScene) -> str:
    """The picture of a scene with the numbers of its entities on it."""
    from molyneux.report.plots import image_uri

    marks = "".join(
        f'<span class="at" style="left:{100 * one.x:.1f}%;top:{100 * one.y:.1f}%" aria-hidden="true">{number + 1}</span>'
        for number, one in enumerate(scene.entities)
    )
    about = html.escape("; ".join(f"{number + 1}: {one}" for number, one in enumerate(scene.entities)), quote=True)
    return f'<div class="scene"><img class="picture" src="{image_uri(scene.image)}" alt="a scene of {about}">{marks}</div>'


def _drawn(part: MeaningPart) -> str:
    """A part of a meaning as an entry of nested lists."""
    role = f'<span class="quiet">{html.escape(part.role)}</span> ' if part.role else ""
    meant = ""
    if part.entities is not None:
        numbers = ", ".join(str(number + 1) for number in part.entities) or "none"
        meant = f' <span class="quiet">({numbers})</span>'
    below = f"<ul>{''.join(map(_drawn, part.parts))}</ul>" if part.parts else ""
    return f"<li>{role}<strong>{html.escape(part.words)}</strong>{meant}{below}</li>"


def _lines(visit: Visit[ScenesState], found: _Told, state: ScenesState) -> tuple[str, str]:
    """The lines of Python and the command that say the same."""
    import shlex

    source, name = visit.library.source(found.model.name), _sentences(found.model).name
    changes = "".join(_change(entry, value) for entry, value in given.unpacked(state.changes).items())
    python = [
        "import molyneux",
        "from molyneux.data import interpret, scene_of",
        "",
        f"model = molyneux.open_model({source!r})",
        f'scene = scene_of(model.dataset(), {state.sample}, split="test", seed={state.seed}){changes}',
        f"scene.truths([interpret({state.text!r}).tree])",
        f"model.predict(image=scene.image, {name}={state.text!r}).probabilities()",
    ]
    command = f"molyneux predict {shlex.quote(source)} --image image.png --{name} {shlex.quote(state.text)}"
    return "\n".join(python), command


def _change(entry: str, value: str) -> str:
    number, _, attribute = entry.partition(".")
    return f".changed({number}, {attribute}={value!r})"
