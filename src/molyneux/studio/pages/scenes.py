"""True or false: a scene of ShapeWorld and a sentence, by its meaning and by a model, and what one change makes of both."""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from molyneux.core import MolyneuxError
from molyneux.studio import given
from molyneux.studio.address import whole, word
from molyneux.studio.frame import again, button, card, heading, note, show_rows
from molyneux.studio.shares import show_shares
from molyneux.studio.truths import (
    TRUTHS,
    JudgedSentence,
    NearCaptions,
    SceneAnswer,
    ScenesState,
    near_captions,
    scene_answer,
    sentence_modality,
)
from molyneux.studio.visit import ResultArea, Visit, sentence

if TYPE_CHECKING:
    from molyneux.data import Interpretation, SingleScene, Tree
    from molyneux.data.worlds.shapeworld.meaning.trees.described import MeaningPart

PATH, TITLE = "/scenes", "True or false"
INTRO = (
    "Is a sentence of yours true of this scene? See what its meaning says and what a model says, and change a word or a shape."
)


State = ScenesState


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
                self.text.on_value_change(lambda e: self._typed(word(e.value)))
                self.reading = ResultArea("how the sentence is read")
                with ui.element("div").classes("row"):
                    sample = ui.number("Scene of the test sample", value=state.sample, min=0, step=1, format="%d")
                    sample.props("outlined dense debounce=300")
                    sample.on_value_change(lambda e: self._changed(sample=whole(e.value, 0), changes=()))
                    seed = ui.number("Seed", value=state.seed, min=0, step=1, format="%d").props("outlined dense debounce=300")
                    seed.on_value_change(lambda e: self._changed(seed=whole(e.value, 0), changes=()))
                with ui.element("div").classes("row"):
                    self.caption = ResultArea("the caption of the sample")
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
        await self._changed(model=word(event.value), changes=(), before="")

    async def _typed(self, text: str) -> None:
        if text != self.visit.state.text:
            await self._changed(text=text, before="")

    async def _changed(self, **values: Any) -> None:
        if self.visit.change(**values):
            await self._ask()

    async def _write(self, caption: str) -> None:
        """Put a caption in the place of the sentence, which stays beside it."""
        text, before = _plain(caption), self.visit.state.text
        if not text:
            return
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
        library = self.visit.library
        found = await self.visit.compute("ask", self.answer, lambda _: scene_answer(library, state), words="looking")
        if found is None:
            return
        with self.reading.fresh():
            self._show_reading(found.said)
        with self.answer.fresh():
            self._show_answer(found, state)
        with self.entities.fresh():
            self._show_entities(found)
        with self.caption.fresh():
            if found.scene.caption is not None:
                caption = _caption(found.scene.caption, found)
                button(f"Its caption: “{_plain(caption)}”", partial(self._write, caption))
        with self.meaning.fresh():
            if found.parts is not None:
                ui.html(f'<ul class="meaning">{_drawn(found.parts)}</ul>', sanitize=False)
                note("Beside each part stand the numbers of the shapes of the scene that it can mean.")
        tree = found.said.tree
        if tree is None:
            self.words.fresh()
            return
        near = await self.visit.compute("near", self.words, lambda _: near_captions(found.now, tree), words="changing words")
        if near is not None:
            with self.words.fresh():
                self._show_words(found, near)

    def _show_reading(self, said: Interpretation) -> None:
        if said.tree is not None:
            if _plain(said.caption).split() != said.text.lower().strip(" .!?").split():
                note(f"Read as “{_plain(said.caption)}”.")
            for remark in (*said.remarks, *(f"it could also mean “{_plain(other)}”" for other in said.others)):
                note(sentence(MolyneuxError(remark)))
            return
        read, rest = said.text[: said.stop], said.text[said.stop :]
        word, space, rest = rest.partition(" ")
        marked = f"{html.escape(read)}<mark>{html.escape(word) or '…'}</mark>{html.escape(space + rest)}"
        ui.html(f'<p class="said">{marked}</p>', sanitize=False)
        ui.label(f"It stops here: {said.explained()}").classes("problem").props("role=alert")
        if said.suggestion:
            other = " (it means something else)" if said.suggests_other else ""
            button(f"Take “{_plain(said.suggestion)}”{other}", partial(self._write, said.suggestion))

    def _show_answer(self, found: SceneAnswer, state: ScenesState) -> None:
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
                ui.label(f"By its meaning, it is {TRUTHS[last.truth]}.").classes("answer")
                if last.truth == 0:
                    note("Neither true nor false: it presupposes what is not there, or two sides are nearly equal.")
                if last.share is None:
                    note(last.problem)
                else:
                    says = "true" if last.share > 0.5 else "false"
                    right = "" if last.truth == 0 else "right" if (last.share > 0.5) == (last.truth > 0) else "wrong"
                    ui.label(f"{found.model.name} says that it is {says}.").classes(f"answer reading {right}")
                    show_shares([("the model: true", last.share), ("guessing", 0.5)])
        if len(found.rows) > 1:
            heading("Before and after", level=3)
            rows = [
                (_plain(row.text), "changed" if row.changed else "as it was", TRUTHS[row.truth], _said(row)) for row in found.rows
            ]
            show_rows(("sentence", "scene", "by its meaning", found.model.name), rows)
        again(*_lines(self.visit, found, state), pictures={"image.png": given.plain_base64(_png(found))})

    def _show_entities(self, found: SceneAnswer) -> None:
        values = found.scene.values
        with ui.element("div").classes("entities"):
            for number, entity in enumerate(found.now.entities):
                with ui.element("div").classes("row entity"):
                    ui.label(str(number + 1)).classes("index")
                    for attribute, value in (("colour", entity.colour), ("shape", entity.shape)):
                        options = list(dict.fromkeys((*values[attribute], value)))
                        box = ui.select(options, label=attribute, value=value)
                        box.props(f"outlined dense options-dense aria-label='{attribute} of {number + 1}'")
                        box.on_value_change(partial(self._entity_changed, found, number, attribute))
                    was = found.scene.entities[number]
                    told = f", was {was.colour} {was.shape}" if was != entity else ""
                    ui.label(f"{entity.place}{told}").classes("quiet")
        if self.visit.state.changes:
            button("As it was", lambda: self._changed(changes=()))

    async def _entity_changed(
        self, found: SceneAnswer, number: int, attribute: str, event: events.ValueChangeEventArguments[Any]
    ) -> None:
        kept = {**given.unpacked(self.visit.state.changes), f"{number}.{attribute}": word(event.value)}
        if word(event.value) == getattr(found.scene.entities[number], attribute):
            del kept[f"{number}.{attribute}"]
        await self._changed(changes=given.packed(kept))

    def _show_words(self, found: SceneAnswer, near: NearCaptions) -> None:
        with ui.element("div").classes("row"):
            for exchange, truths in near.exchanges:
                options = {"": exchange.words}
                captions = {words: _caption(tree, found) for words, tree in exchange.options.items()}
                options |= {
                    captions[words]: f"{words} ({TRUTHS[one]})" for words, one in zip(exchange.options, truths, strict=True)
                }
                box = ui.select(options, label=exchange.kind, value="").props("outlined dense options-dense")
                box.on_value_change(lambda event: self._write(word(event.value)))
        if not near.exchanges:
            note("No word of this sentence has another one in the sentences of this world.")
        heading("Foils: one thing is changed, and the truth with it", level=3)
        known = set(found.now.world.meanings)
        for foil in near.foils:
            with ui.element("div").classes("row"):
                button(_plain(foil.caption), partial(self._write, foil.caption))
                learned = "" if set(foil.tree.polish) <= known else ", which the model has not learned"
                ui.label(f"{foil.kind}{learned}").classes("quiet")
        if not near.foils:
            note("It has none here: it is undetermined, or no single change makes it true.")


def _plain(caption: str) -> str:
    """A caption without the full stop."""
    return caption.removesuffix(".").rstrip()


def _caption(tree: Tree, found: SceneAnswer) -> str:
    from molyneux.data import say

    return " ".join(say(tree, found.now.world.language))


def _said(row: JudgedSentence) -> str:
    return row.problem if row.share is None else f"{'true' if row.share > 0.5 else 'false'}, {100 * row.share:.1f} % true"


def _png(found: SceneAnswer) -> str:
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


def _lines(visit: Visit[ScenesState], found: SceneAnswer, state: ScenesState) -> tuple[str, str]:
    """The lines of Python and the command that say the same."""
    import shlex

    source, name = visit.library.source(found.model.name), sentence_modality(found.model).name
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
