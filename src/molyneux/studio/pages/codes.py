"""Codes: move the numbers of a code and see every sense change; what each number carries; paths and neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from nicegui import events, ui

import molyneux.run as runs
from molyneux.core import ConfigError, DataError
from molyneux.studio.address import PageState, word
from molyneux.studio.frame import again, button, card, heading, note, show_view, slider
from molyneux.studio.sounds import listener
from molyneux.studio.visit import ResultArea, Visit

if TYPE_CHECKING:
    import numpy as np

PATH, TITLE = "/codes", "Codes"
INTRO = "Move one number of a code, and see all senses change together. Beside each number stands what it carries, as measured."
_SAMPLES, _MOST_NUMBERS, _NEAREST = 1_500, 64, 6
"""Samples of a survey, numbers with a slider, and neighbours that are shown."""


@dataclass(frozen=True)
class CodesState(PageState):
    """What the page shows.

    Args:
        model: its name.
        text: the caption whose code is the beginning; empty where a sample is.
        sample: number of the test sample whose code is the beginning.
        towards: the caption at the other end of a path; empty for none.
        share: of the way to it.
        moved: numbers that were moved, (place, value).
    """

    model: str = "gebid-level5"
    text: str = ""
    sample: int = 0
    towards: str = ""
    share: float = 0.0
    moved: tuple[tuple[int, float], ...] = ()

    def checked(self) -> Self:
        """See `PageState`."""
        moved = tuple((place, value) for place, value in dict(self.moved).items() if 0 <= place < _MOST_NUMBERS)
        sample, share = min(max(self.sample, 0), _SAMPLES - 1), min(max(self.share, 0.0), 1.0)
        return replace(self, moved=moved, sample=sample, share=share)


State = CodesState


def _begin(model: runs.TrainedModel, survey: runs.CodeSurvey, state: CodesState) -> np.ndarray:
    """The code (C,) before anything is moved."""
    first = _of_text(model, state.text) if state.text else survey.codes[min(state.sample, len(survey.codes) - 1)]
    return runs.between_codes(first, _of_text(model, state.towards), state.share) if state.towards else first


def _of_text(model: runs.TrainedModel, text: str) -> np.ndarray:
    name = next((item.name for item in model.spec.modalities if item.kind == "text"), "")
    if not name:
        raise DataError(f"{model.name} reads no texts: begin with a sample")
    found: np.ndarray = runs.flat_code(model.encode(inputs={name: text}))[0]
    return found


def _moved(code: np.ndarray, state: CodesState) -> np.ndarray:
    changed = code.copy()
    for place, value in state.moved:
        if place < len(changed):
            changed[place] = value
    return changed


@dataclass(frozen=True, eq=False)
class _Start:
    """The beginning of moves: of what model and state it is, the code (C,), and what it shows."""

    key: tuple[object, ...]
    code: np.ndarray
    views: runs.Generated


async def build(visit: Visit[CodesState]) -> None:
    """Build the page."""
    await _Codes(visit).build()


class _Codes:
    def __init__(self, visit: Visit[CodesState]) -> None:
        self.visit = visit
        self.model: runs.TrainedModel | None = None
        self.survey: runs.CodeSurvey | None = None
        self.start: _Start | None = None
        self.drawn: tuple[object, ...] = ()

    async def build(self) -> None:
        with ui.element("div").classes("sides"):
            with card("The code", classes="controls"):
                names = list(self.visit.library.models)
                state = self.visit.state
                box = ui.select(names, label="Model", value=state.model if state.model in names else names[0])
                box.props("outlined dense options-dense").on_value_change(self._model_changed)
                self.text = ui.input("Begin with the caption", value=state.text).props("outlined dense clearable debounce=500")
                self.text.on_value_change(lambda e: self._begin_changed(text=word(e.value)))
                sample = ui.number("or with the test sample", value=state.sample, min=0, max=_SAMPLES - 1, step=1, format="%d")
                sample.props("outlined dense debounce=300")
                sample.on_value_change(lambda e: self._begin_changed(sample=int(e.value or 0), text=""))
                towards = ui.input("A path to the caption", value=state.towards).props("outlined dense clearable debounce=500")
                towards.on_value_change(lambda e: self._begin_changed(towards=word(e.value)))
                slider(
                    "share of the path",
                    low=0,
                    high=1,
                    step=0.02,
                    value=state.share,
                    moved=lambda share: self._begin_changed(step=False, share=share),
                )
                button("As at the beginning", lambda: self._begin_changed(moved=()))
                self.numbers = ResultArea("numbers of the code", "numbers")
            with ui.element("div"):
                with card("What all senses show"):
                    self.senses = ResultArea("views of the code")
                    self.before = ResultArea("views of the code at the beginning")
                    self.lines = ResultArea()
                with card("Test samples with the nearest codes"):
                    self.near = ResultArea("neighbours")
        await self._open()

    async def _model_changed(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if self.visit.change(model=word(event.value), moved=(), text="", towards="", share=0.0):
            await self._open()

    async def _open(self) -> None:
        name, library = self.visit.state.model, self.visit.library

        def surveyed(model: runs.TrainedModel) -> tuple[runs.TrainedModel, runs.CodeSurvey]:
            if not {"encode", "decode"} <= set(model.abilities):
                raise ConfigError(f"{name} has no codes that can be moved: it can {', '.join(model.abilities)}")
            return model, library.once(model, "codes", lambda: runs.survey_codes(model, library.samples(model, _SAMPLES)))

        found = await self.visit.open(name, self.numbers, surveyed, words="reading the codes of test samples")
        if found is None:
            self.model = None
            return
        self.model, self.survey = found
        await self._show_sliders()

    async def _show_sliders(self) -> None:
        model, survey, state = self.model, self.survey, self.visit.state
        if model is None or survey is None:
            return
        start = await self.visit.compute("begin", self.numbers, lambda _: self._started(model, survey, state))
        if start is None:
            return
        code = _moved(start.code, state)
        with self.numbers.fresh():
            place = 0
            for part, size in survey.parts.items():
                heading("Numbers that all senses share" if part == "shared" else f"Numbers of {part} alone", level=3)
                for _ in range(min(size, _MOST_NUMBERS - place)):
                    self._slider(place, float(code[place]))
                    place += 1
            if place < len(code):
                note(f"{len(code) - place} further numbers have no slider here.")
        await self._decode()

    def _slider(self, place: int, value: float) -> None:
        assert self.survey is not None
        told = ", ".join(f"{name} {100 * share:.0f} %" for name, share in self.survey.about(place)[:3])
        low, high = float(self.survey.low[place]), float(self.survey.high[place])
        low, high = min(low, value), max(high, value, low + 1e-3)
        with ui.element("div").classes("number"):
            ui.label(f"{place}").classes("index")
            place_moved = partial(self._number_moved, place)
            slider(f"number {place}", low=low, high=high, step=(high - low) / 100, value=value, moved=place_moved)
            ui.label(told or "nothing measured").classes("quiet")

    async def _number_moved(self, place: int, value: float) -> None:
        moved = {**dict(self.visit.state.moved), place: round(value, 3)}
        if self.visit.change(step=False, moved=tuple(moved.items())):
            await self._decode()

    async def _begin_changed(self, *, step: bool = True, **values: Any) -> None:
        if self.visit.change(step=step, **values):
            await self._show_sliders()

    async def _decode(self) -> None:
        model, survey, state = self.model, self.survey, self.visit.state
        if model is None or survey is None:
            return

        def decoded(_: object) -> tuple[_Start, runs.Generated, np.ndarray]:
            start = self._started(model, survey, state)
            code = _moved(start.code, state)
            views = model.decode(runs.parted_code(code[None], survey.parts)) if state.moved else start.views
            return start, views, survey.neighbours(code, _NEAREST)

        found = await self.visit.compute("decode", self.senses, decoded, words="decoding", follows=True)
        if found is None or model is not self.model:
            return
        start, views, near = found
        with self.senses.fresh():
            self._views("Now", "now", views)
        with self.lines.fresh():
            again(_lines(self.visit, model, survey, state))
        shown = (start, tuple(near.tolist()))
        if self.drawn[:1] != shown[:1]:
            with self.before.fresh():
                self._views("At the beginning", "before", start.views)
        if self.drawn != shown:
            self._neighbours(model, survey, shown[1])
        self.drawn = shown

    def _started(self, model: runs.TrainedModel, survey: runs.CodeSurvey, state: CodesState) -> _Start:
        """The beginning of a state; that of the state before is kept, since most moves begin at the same place."""
        key = (model, state.text, state.sample, state.towards, state.share)
        kept = self.start
        if kept is None or kept.key != key:
            code = _begin(model, survey, state)
            self.start = kept = _Start(key, code, model.decode(runs.parted_code(code[None], survey.parts)))
        return kept

    def _views(self, title: str, classes: str, made: runs.Generated) -> None:
        listen = listener(self.visit, None if self.model is None else self.model.dataset())
        with ui.element("div").classes(classes):
            heading(title, level=3)
            with ui.element("div").classes("grid wide"):
                for name in made.names:
                    with ui.element("figure").classes("sample"):
                        show_view(made.spec.modality(name), made.views[name][0], about=f"{name}, {title.lower()}")
                        listen(made.spec.modality(name), made.views[name][0], f"{name}, {title.lower()}")
                        with ui.element("figcaption"):
                            ui.label(name)

    def _neighbours(self, model: runs.TrainedModel, survey: runs.CodeSurvey, near: tuple[int, ...]) -> None:
        with self.near.fresh(), ui.element("div").classes("grid"):
            for sample in near:
                with ui.element("figure").classes("sample"):
                    for name in model.modalities:
                        about = f"{name} of sample {sample}"
                        show_view(model.spec.modality(name), survey.samples.views[name][sample], about=about)
                    button(f"Sample {sample}", partial(self._begin_changed, sample=sample, text="", moved=()))


def _lines(visit: Visit[CodesState], model: runs.TrainedModel, survey: runs.CodeSurvey, state: CodesState) -> str:
    """The lines of Python that give the same views."""
    source = visit.library.source(model.name)
    name = next((item.name for item in model.spec.modalities if item.kind == "text"), "text")
    views = "{name: batch.views[name].numpy() for name in model.modalities}"
    begin = (
        [f"code = run.flat_code(model.encode(inputs={{{name!r}: {state.text!r}}}))"]
        if state.text
        else [
            "import numpy as np",
            f'batch = model.dataset().source("test", {_SAMPLES}, seed=0).batch(np.array([{state.sample}]))',
            f"code = run.flat_code(model.encode(inputs={views}, raw=True))",
        ]
    )
    if state.towards:
        begin.append(f"other = run.flat_code(model.encode(inputs={{{name!r}: {state.towards!r}}}))")
        begin.append(f"code = run.between_codes(code, other, {state.share:g})")
    moves = [f"code[0, {place}] = {value:g}" for place, value in state.moved]
    shown = f"model.decode(run.parted_code(code, {dict(survey.parts)!r}))"
    return "\n".join(
        ["import molyneux", "from molyneux import run", "", f"model = molyneux.open_model({source!r})", *begin, *moves, shown]
    )
