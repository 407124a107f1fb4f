"""Ask: give up to three models the same words, picture or line, and see beside each other what they make of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self
from urllib.parse import urlencode

import numpy as np
from nicegui import events, ui

import molyneux.run as runs
from molyneux.core import DataError, Modality, MolyneuxError, TracesContours, Understands
from molyneux.studio import given
from molyneux.studio.address import PageState, whole
from molyneux.studio.answers import readings_of, show_findings, show_generated, show_predicted
from molyneux.studio.computing import SupersededError
from molyneux.studio.drawing import drawing
from molyneux.studio.frame import again, button, card, note
from molyneux.studio.sounds import hears, listener, require_ears, show_player, wav_given
from molyneux.studio.visit import ResultArea, Visit, sentence

PATH, TITLE = "/ask", "Ask"
INTRO = "Type a caption, give a picture or draw one: each model shows what it makes of it, and the readers say what is in it."
MOST_MODELS, MOST_DRAWN = 3, 24
_CAPTIONS = 20
"""Captions that are drawn of one picture, to see how often each comes."""
_MOST_BYTES = 8 * 2**20
"""Of a file that is given."""
_COLOURS = {"white": (255, 255, 255), "black": (0, 0, 0), "red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}
"""Of figures where no world says which it has."""
FIRST_MODEL, FIRST_TEXT = "cdsprites-level5", "small red heart at top left on light"


@dataclass(frozen=True)
class AskState(PageState):
    """What the page shows.

    Args:
        model: names of one to three models.
        given: what is given, `modality:value`.
        count: pictures of each model.
        seed: of the noise.
        prior: where codes come from if nothing is given; empty for the usual one.
        raw: whether texts are taken symbol by symbol.
    """

    model: tuple[str, ...] = (FIRST_MODEL,)
    given: tuple[str, ...] = (f"text:{FIRST_TEXT}",)
    count: int = 4
    seed: int = 1
    prior: str = ""
    raw: bool = False

    def checked(self) -> Self:
        """See `PageState`."""
        models = tuple(dict.fromkeys(self.model))[:MOST_MODELS]
        kept = given.packed(given.unpacked(self.given))
        return type(self)(models, kept, min(max(self.count, 1), MOST_DRAWN), max(self.seed, 0), self.prior, self.raw)


State = AskState


async def build(visit: Visit[AskState]) -> None:
    """Build the page."""
    await _Ask(visit).build()


class _Ask:
    def __init__(self, visit: Visit[AskState]) -> None:
        self.visit, self.sounds = visit, dict[str, tuple[int, Any]]()
        self.models: list[runs.TrainedModel] = []
        self.problems = dict[str, str]()

    async def build(self) -> None:
        known = self.visit.library.models
        with ui.element("div").classes("sides"):
            with card("What you give", classes="controls"):
                state = self.visit.state
                chosen = ui.select(
                    list(known), multiple=True, label="Models, up to three", value=[m for m in state.model if m in known]
                )
                chosen.props("outlined dense options-dense use-chips max-values=3").on_value_change(self._models_changed)
                self.inputs = ResultArea("what is given")
                with ui.element("div").classes("row"):
                    count = ui.number("How many", value=state.count, min=1, max=MOST_DRAWN, step=1, format="%d")
                    count.props("outlined dense debounce=300").on_value_change(lambda e: self._changed(count=whole(e.value, 1)))
                    self.seed = ui.number("Seed", value=state.seed, min=0, step=1, format="%d").props(
                        "outlined dense debounce=300"
                    )
                    self.seed.on_value_change(lambda e: self._changed(seed=whole(e.value, 0)))
                button("New draws", lambda: self.seed.set_value(self.visit.state.seed + 1), strong=True)
                raw = ui.checkbox("Take texts as they are written, unread", value=state.raw)
                raw.on_value_change(lambda e: self._changed(raw=bool(e.value)))
            self.results = ui.element("div").classes("columns")
        await self._open()

    async def _models_changed(self, event: events.ValueChangeEventArguments[Any]) -> None:
        names = tuple(event.value or ())[:MOST_MODELS]
        if self.visit.change(model=names):
            await self._open()

    async def _open(self) -> None:
        """Open the chosen models, build the inputs that they take, and ask them."""
        names, library = self.visit.state.model, self.visit.library
        self.problems = {}

        def opened(_: object) -> list[runs.TrainedModel]:
            found = []
            for name in names:
                try:
                    found.append(library.open(name))
                except MolyneuxError as error:
                    self.problems[name] = sentence(error)
            return found

        models = await self.visit.compute("open", self.inputs, opened, words="opening the models")
        if models is None:
            return
        self.models = models
        with self.inputs.fresh():
            for problem in self.problems.values():
                ui.label(problem).classes("problem").props("role=alert")
            if not names:
                note("Choose a model.")
            for modality in self._modalities():
                self._input(modality)
        self._places()
        await self._ask()
        for number in range(len(self.models)):
            await self._tell(number)

    def _modalities(self) -> list[Modality]:
        """The modalities of all models, each name once."""
        found: dict[str, Modality] = {}
        for model in self.models:
            for modality in model.spec.modalities:
                found.setdefault(modality.name, modality)
        return list(found.values())

    def _input(self, modality: Modality) -> None:
        """The control by which a modality is given."""
        values = given.unpacked(self.visit.state.given)
        value = values.get(modality.name, "")
        if modality.symbols:
            typed = ui.input(label=modality.name, value=value, placeholder="type, or leave empty").classes("w-full")
            typed.props("outlined dense clearable debounce=500").on_value_change(
                lambda e: self._give(modality.name, str(e.value or ""))
            )
            return
        world = next((model.dataset() for model in self.models if modality.name in model.modalities), None)
        touch = modality.kind == "series" and isinstance(world, TracesContours)
        if modality.kind not in ("image", "audio") and not touch:
            note(f"{modality.name} is not given here: it is a {modality.kind}. Use Python or a file.")
            return
        how = "choose a sound" if modality.kind == "audio" else "draw a line" if touch else "draw one, or choose one"
        with ui.expansion(modality.name, caption=how, value=bool(value)).classes("sense").props("dense"):
            if modality.kind == "image":
                self._picture(modality, value)
            if touch:
                ui.label("Draw one closed line with the pointer.").classes("quiet")
                drawing(modality.name, told=lambda _, line: self._give(modality.name, given.line_text(line) if line else ""))
            if modality.kind == "audio":
                self._file(modality, "a WAV file", ".wav,audio/wav")

    def _picture(self, modality: Modality, value: str) -> None:
        if value:
            ui.html(
                f'<img class="picture small" alt="what is given" src="data:image/png;base64,{given.plain_base64(value)}">',
                sanitize=False,
            )
            button("Take it away", lambda: self._give(modality.name, "", anew=True))
        ui.label("Draw a figure: it is filled when you lift the pointer.").classes("quiet")
        drawing(modality.name, told=lambda picture, _: self._drawn(modality, picture), colours=self._colours(modality))
        self._sample(modality)
        heard = any(hears(modality, model.dataset()) for model in self.models if modality.name in model.modalities)
        self._file(modality, "a sound as WAV, or a picture of one" if heard else "a picture", "image/*,.wav")

    def _colours(self, modality: Modality) -> dict[str, str]:
        """The colours of the figures of the world of a picture, by their word."""
        worlds = (model.dataset() for model in self.models if modality.name in model.modalities)
        known = next((palette for world in worlds if (palette := getattr(world, "palette", None))), _COLOURS)
        return {name: f"#{red:02x}{green:02x}{blue:02x}" for name, (red, green, blue) in known.items()}

    def _sample(self, modality: Modality) -> None:
        """Takes the picture of a test sample of the world."""
        with ui.element("div").classes("row"):
            number = ui.number("or test sample", value=0, min=0, step=1, format="%d").props("outlined dense")
            button("Take it", lambda: self._take(modality, whole(number.value, 0)))

    async def _take(self, modality: Modality, number: int) -> None:
        model = next(model for model in self.models if modality.name in model.modalities)

        def taken(_: object) -> str:
            world = model.dataset()
            if world is None:
                raise DataError(f"the data that {model.name} was trained on are not here")
            size = world.splits["test"]
            number_there = number if size is None else min(number, size - 1)
            batch = world.source("test", number_there + 1, seed=0).batch(np.array([number_there]))
            return given.view_text(modality, batch.views[modality.name][0])

        found = await self.visit.compute("sample", self.inputs, taken, words="making the sample", replaces=False)
        if found is not None:
            await self._give(modality.name, found, anew=True)

    def _file(self, modality: Modality, what: str, kinds: str) -> None:
        told = ResultArea(f"the file of {modality.name}")

        async def uploaded(event: events.UploadEventArguments) -> None:
            content, client = await event.file.read(), self.visit.client.id
            upload.reset()  # else no other file can be chosen
            read = self.visit.studio.computing.run  # a large picture takes seconds, in which others are served
            try:
                if event.file.name.lower().endswith(".wav"):
                    require_ears(self.models, modality)
                    sound = await read(client, "file", lambda _: given.sound_of(content))
                    wav = await read(client, "player", lambda _: wav_given(*sound))
                    self.sounds[modality.name] = sound
                    with told.fresh():
                        show_player(wav, event.file.name)
                    await self._ask()
                else:
                    text = await read(client, "file", lambda _: given.picture_text(content, modality))
                    await self._give(modality.name, text, anew=True)
            except SupersededError:
                return
            except MolyneuxError as error:
                told.problem(sentence(error))

        def rejected() -> None:
            told.problem(f"Expected {what} in a file of at most {_MOST_BYTES // 2**20} MiB.")

        upload = ui.upload(label=f"Or choose {what}", auto_upload=True, max_files=1, max_file_size=_MOST_BYTES)
        upload.on_upload(uploaded).on_rejected(rejected)
        upload.props(f'accept="{kinds}" flat bordered')

    async def _drawn(self, modality: Modality, picture: bytes) -> None:
        await self._give(modality.name, given.picture_text(picture, modality) if picture else "")

    async def _give(self, name: str, value: str, *, anew: bool = False) -> None:
        self.sounds.pop(name, None)
        values = {**given.unpacked(self.visit.state.given), name: value}
        await self._changed(given=given.packed(values))
        if anew:
            await self._open()

    async def _changed(self, **values: Any) -> None:
        if self.visit.change(**values):
            await self._ask()

    def _places(self) -> None:
        self.results.clear()
        self.shown: list[tuple[ResultArea, ResultArea]] = []
        self.about: list[ResultArea] = []
        with self.results:
            for model in self.models:
                with card(model.name):
                    made, elsewhere = f"what {model.name} makes", f"how {model.name} is asked elsewhere"
                    self.shown.append((ResultArea(made), ResultArea(elsewhere)))
                    self.about.append(ResultArea(f"what {model.name} can do"))

    async def _tell(self, number: int) -> None:
        """What a model does and cannot do, by its scores."""
        model, place, read = self.models[number], self.about[number], self.visit.library.findings
        if (found := await self.visit.compute(f"about {number}", place, lambda _: read(model), words="reading its card")) is None:
            return
        with place.fresh():
            show_findings(found)

    async def _ask(self) -> None:
        await asyncio.gather(*(self._ask_one(number) for number in range(len(self.models))))

    def _given(self, model: runs.TrainedModel) -> dict[str, Any]:
        """What is given of the modalities that a model has, as it takes them."""
        values = given.unpacked(self.visit.state.given)
        items = {modality.name: modality for modality in model.spec.modalities}
        world = model.dataset() if any(items[name].kind == "series" for name in values if name in items) else None
        found = {name: given.value_of(items[name], value, world) for name, value in values.items() if name in items}
        return {**found, **{name: sound for name, sound in self.sounds.items() if name in items}}

    async def _ask_one(self, number: int) -> None:
        model, (place, below), state = self.models[number], self.shown[number], self.visit.state
        name = f"ask {number}"
        if "generate" in model.abilities:
            found = await self.visit.compute(
                name, place, lambda job: _generated(model, self._given(model), state), words="drawing"
            )
            if found is None:
                self._withdraw(below, state)
                return
            made, nearest = found
            with place.fresh():
                for modality, text in nearest.items():
                    button(f"Take “{text}”", partial(self._give, modality, text, anew=True))
                spots = show_generated(made, model.dataset(), listener(self.visit, model.dataset()))
            with below.fresh():
                again(*_lines(self.visit, model, state), pictures=_pictures(model, state))
            await self._read(name, place, made, spots)
        elif "predict" in model.abilities:
            said = await self.visit.compute(name, place, lambda job: _predicted(model, self._given(model)), words="looking")
            if said is None:
                self._withdraw(below, state)
                return
            with place.fresh():
                show_predicted(said, model)
                if model.name in self.visit.library.trained_on("ShapeWorld"):
                    texts = [value for name, value in given.unpacked(state.given).items() if name in ("text", "meaning")]
                    query = urlencode({"model": model.name, **({"text": texts[0]} if texts else {})})
                    ui.link("Is a sentence true of a scene, by its meaning and by this model?", f"/scenes?{query}")
            with below.fresh():
                again(*_lines(self.visit, model, state), pictures=_pictures(model, state))
        else:
            place.problem(
                f"{model.name} can {', '.join(model.abilities) or 'nothing of this kind'}: the page Codes shows its codes."
            )

    def _withdraw(self, below: ResultArea, state: AskState) -> None:
        """Take away the lines that give the result of before, where there is no new one."""
        if self.visit.state == state and not self.visit.client.is_deleted:
            below.fresh()

    async def _read(
        self, name: str, place: ResultArea, made: runs.Generated, spots: list[Callable[[str, bool | None], None]]
    ) -> None:
        """What the readers read in the pictures, beneath them."""
        read = await self.visit.compute(f"{name} read", place, lambda job: readings_of(made), words="reading", replaces=False)
        for spot, (text, right) in zip(spots, read or (), strict=False):
            spot(text, right)


def _generated(model: runs.TrainedModel, values: Mapping[str, Any], state: AskState) -> tuple[runs.Generated, dict[str, str]]:
    """What is drawn, and the nearest caption of each given text that the world does not read."""
    if len(values) == len(model.modalities):
        raise DataError("everything is given, and nothing is left to draw: leave one sense empty")
    prior = state.prior if state.prior in model.priors else ""
    others = [item for item in model.spec.modalities if item.name not in values]
    count = _CAPTIONS if values and all(item.symbols for item in others) else state.count
    targets = [item.name for item in others]
    made = model.generate(targets, count=count, seed=state.seed, prior=prior, raw=state.raw, inputs=values)
    world, nearest = model.dataset(), dict[str, str]()
    if made.inputs and isinstance(world, Understands):
        nearest = {name: world.understand(str(values[name])).nearest for name in made.inputs[0].unread}
    return made, {name: text for name, text in nearest.items() if text}


def _predicted(model: runs.TrainedModel, values: Mapping[str, Any]) -> runs.Predicted:
    if not values:
        raise DataError(f"give at least one of {', '.join(model.modalities)}")
    return model.predict(inputs=values, apart=len(values) > 1)


def _lines(visit: Visit[AskState], model: runs.TrainedModel, state: AskState) -> tuple[str, str]:
    """The line of Python and the command that make the same."""
    import shlex

    values = given.unpacked(state.given)
    source = visit.library.source(model.name)
    named, options = [], []
    for modality in model.spec.modalities:
        if modality.name in values:
            text = values[modality.name] if modality.symbols else f"{modality.name}.png" if modality.kind == "image" else "..."
            named.append(
                f"{modality.name}={text!r}" if modality.name.isidentifier() else f"inputs={{{modality.name!r}: {text!r}}}"
            )
            options.append(f"--{modality.name} {shlex.quote(text)}")
    if "generate" not in model.abilities:
        call = f"model.predict({', '.join(named)})"
        return (
            f"import molyneux\n\nmodel = molyneux.open_model({source!r})\n{call}",
            f"molyneux predict {shlex.quote(source)} {' '.join(options)}",
        )
    targets = [name for name in model.modalities if name not in values]
    count = _CAPTIONS if named and all(model.spec.modality(name).symbols for name in targets) else state.count
    further = [
        f"count={count}",
        f"seed={state.seed}",
        *([f"prior={state.prior!r}"] if state.prior else []),
        *(["raw=True"] if state.raw else []),
    ]
    call = f"model.generate({', '.join([repr(targets), *named, *further])})"
    words = [
        f"molyneux generate {shlex.quote(source)}",
        *(options or ["--from-prior"]),
        *(f"--to {shlex.quote(name)}" for name in targets),
        f"--count {count} --seed {state.seed}",
        *(["--raw"] if state.raw else []),
    ]
    return f"import molyneux\n\nmodel = molyneux.open_model({source!r})\n{call}", " ".join(words)


def _pictures(model: runs.TrainedModel, state: AskState) -> dict[str, str]:
    """The pictures that are given, by the names of files that the lines have for them."""
    values = given.unpacked(state.given)
    images = (item.name for item in model.spec.modalities if item.kind == "image" and item.name in values)
    return {f"{name}.png": given.plain_base64(values[name]) for name in images}
