"""Broken senses: break one sense of a model and see what it says now, what is left of its score, and what guessing would give."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from nicegui import events, ui

import molyneux.run as runs
from molyneux.core import ConfigError
from molyneux.studio.address import PageState, word
from molyneux.studio.computing import Computation
from molyneux.studio.curves import mark_place, show_curves
from molyneux.studio.frame import again, card, heading, note, show_view, slider
from molyneux.studio.shares import show_shares
from molyneux.studio.sounds import listener
from molyneux.studio.visit import ResultArea, Visit

if TYPE_CHECKING:
    from molyneux.core import Batch, Modality
    from molyneux.data.imperfections import Corruption

PATH, TITLE = "/broken", "Broken senses"
INTRO = "Break one sense of a model, more and more: what does it see now, what does it say, and how much of its score is left?"
_SAMPLES, _FIRST = 300, "shapeworld-quantifiers"
_FOR = {
    "image": ("GaussianNoise", "Blur", "Erasing", "SaltAndPepper", "Dropout", "Rotation", "Tint"),
    "audio": ("GaussianNoise", "Dropout"),
    "series": ("GaussianNoise", "Dropout", "TemporalDropout"),
    "text": ("Typos", "LetterShuffle", "Omission", "Substitution"),
}


@dataclass(frozen=True)
class BrokenState(PageState):
    """What the page shows.

    Args:
        model: its name; empty for the first that fits.
        modality: which is broken; empty for the first.
        corruption: its class; empty for the first that fits.
        strength: from 0 to 1.
        sample: number of the test sample.
    """

    model: str = ""
    modality: str = ""
    corruption: str = ""
    strength: float = 0.5
    sample: int = 0

    def checked(self) -> Self:
        """See `PageState`."""
        strength, sample = min(max(self.strength, 0.0), 1.0), min(max(self.sample, 0), _SAMPLES - 1)
        return replace(self, strength=strength, sample=sample)


State = BrokenState


def corruptions_of(modality: Modality) -> tuple[str, ...]:
    """Classes of corruptions that fit a modality."""
    import molyneux.data.imperfections as imperfections

    return tuple(name for name in _FOR.get(modality.kind, ()) if getattr(imperfections, name)().fits(modality))


def _corruption(name: str) -> Corruption:
    import molyneux.data.imperfections as imperfections

    made: Corruption = getattr(imperfections, name)()
    return made


async def build(visit: Visit[BrokenState]) -> None:
    """Build the page."""
    await _Broken(visit).build()


class _Broken:
    def __init__(self, visit: Visit[BrokenState]) -> None:
        self.visit = visit
        self.model: runs.TrainedModel | None = None
        self.samples: Batch | None = None
        self.curve: runs.SenseCurve | None = None
        self.answer: ui.label
        self.plot: ui.plotly
        self.lines: ResultArea

    async def build(self) -> None:
        with ui.element("div").classes("sides"):
            with card("What is broken", classes="controls"):
                names = list(self.visit.library.models)
                first = _FIRST if _FIRST in names else names[0]
                box = ui.select(names, label="Model", value=self.visit.state.model if self.visit.state.model in names else first)
                box.props("outlined dense options-dense").on_value_change(self._model_changed)
                self.form = ResultArea("what is broken, and how")
            with ui.element("div"):
                with card("What is left of its score"):
                    self.score = ResultArea("the score")
                with card("One sample"):
                    self.one = ResultArea("one sample")
        await self._open(str(box.value))

    async def _model_changed(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if self.visit.change(model=word(event.value), modality="", corruption="", sample=0):
            await self._open(word(event.value))

    async def _open(self, name: str) -> None:
        library = self.visit.library

        def prepared(model: runs.TrainedModel) -> tuple[runs.TrainedModel, Batch]:
            return model, library.once(model, f"{_SAMPLES} samples", lambda: library.samples(model, _SAMPLES))

        found = await self.visit.open(name, self.form, prepared)
        if found is None:
            return
        self.model, self.samples = found
        await self._form()

    def _chosen(self) -> tuple[Modality, str]:
        """The modality and the corruption of the state, or the first that fit."""
        assert self.model is not None
        fitting = [item for item in self.model.spec.modalities if corruptions_of(item)]
        if not fitting:
            raise ConfigError(f"no corruption fits a sense of {self.model.name}")
        modality = next((item for item in fitting if item.name == self.visit.state.modality), fitting[0])
        known = corruptions_of(modality)
        return modality, self.visit.state.corruption if self.visit.state.corruption in known else known[0]

    async def _form(self) -> None:
        assert self.model is not None
        state = self.visit.state
        try:
            modality, corruption = self._chosen()
        except ConfigError as error:
            self.form.problem(str(error))
            return
        names = [item.name for item in self.model.spec.modalities if corruptions_of(item)]
        with self.form.fresh():
            sense = ui.select(names, label="sense", value=modality.name).props("outlined dense options-dense")
            sense.on_value_change(lambda e: self._sense_changed(modality=word(e.value), corruption=""))
            kinds = ui.select(list(corruptions_of(modality)), label="corruption", value=corruption).props(
                "outlined dense options-dense"
            )
            kinds.on_value_change(lambda e: self._sense_changed(corruption=word(e.value)))
            ui.label("strength").classes("quiet")
            slider(
                "strength", low=0, high=1, step=0.05, value=state.strength, moved=lambda at: self._moved(step=False, strength=at)
            )
            sample = ui.number("test sample", value=state.sample, min=0, max=_SAMPLES - 1, step=1, format="%d")
            sample.props("outlined dense debounce=300").on_value_change(lambda e: self._moved(sample=int(e.value or 0)))
        self.curve = None
        await self._look()
        await self._measure()

    async def _sense_changed(self, **values: Any) -> None:
        if self.visit.change(**values):
            await self._form()

    async def _moved(self, *, step: bool = True, **values: Any) -> None:
        if self.visit.change(step=step, **values):
            self._mark()
            await self._look()

    async def _measure(self) -> None:
        """The curve of the score over strengths; measured once for a model, a sense and a corruption."""
        model, samples = self.model, self.samples
        assert model is not None
        assert samples is not None
        modality, name = self._chosen()
        library = self.visit.library

        def measured(job: Computation[runs.SenseCurve]) -> runs.SenseCurve:
            def make() -> runs.SenseCurve:
                return runs.sense_curve(model, samples, _corruption(name), modality.name, told=lambda share: job.tell(share))

            return library.once(model, f"curve {modality.name} {name}", make)

        curve = await self.visit.compute("curve", self.score, measured, words=f"measuring on {len(samples)} test samples")
        if curve is not None:
            self.curve = curve
            self._say()

    def _say(self) -> None:
        """The answer in one sentence, the curve, and what each sense gives alone."""
        curve = self.curve
        if curve is None:
            return
        with self.score.fresh():
            self.answer = ui.label().classes("answer")
            about = f"{curve.what}, over the strength"
            places = {curve.model: (curve.strengths, [100 * found.share for found in curve.shares])}
            ends = {curve.model: [(100 * low, 100 * high) for low, high in (found.interval for found in curve.shares)]}
            levels = {"guessing": curve.guess, "best constant": curve.constant}
            shown = {name: 100 * share for name, share in levels.items()}
            self.plot = show_curves(places, across="strength", up="right, %", intervals=ends, levels=shown, about=about)
            rows = [("whole", curve.shares[0].share), *((f"{name} alone", found.share) for name, found in curve.alone.items())]
            rows += [(f"without {curve.modality}", curve.missing.share)] if curve.missing else []
            show_shares([*rows, *levels.items()])
            self.lines = ResultArea()
            note(f"{curve.what}; {curve.shares[0].samples} test samples, so that each number is good to about 5 %.")
        self._mark()

    def _mark(self) -> None:
        """The answer at the strength of the slider, and its place on the curve."""
        if self.curve is None:
            return
        assert self.model is not None
        self.answer.text = self.curve.sentence(self.visit.state.strength)
        mark_place(self.plot, self.visit.state.strength)
        modality, name = self._chosen()
        with self.lines.fresh():
            again(_lines(self.visit, self.model, modality, name, self.visit.state))

    async def _look(self) -> None:
        model, samples, state = self.model, self.samples, self.visit.state
        assert model is not None
        assert samples is not None
        modality, name = self._chosen()

        def looked(_: object) -> tuple[Batch, Any]:
            import numpy as np

            place = min(state.sample, len(samples) - 1)
            batch = runs.break_sense(
                samples[slice(place, place + 1)], model.spec, _corruption(name), modality.name, state.strength, np.array([place])
            )
            views = {item: batch.views[item].numpy() for item in model.modalities}
            if "predict" in model.abilities:
                return batch, model.predict(inputs=views, raw=True, apart=len(views) > 1)
            targets = [item for item in model.modalities if item != modality.name]
            return batch, model.generate(targets, count=1, seed=0, raw=True, inputs={modality.name: views[modality.name]})

        found = await self.visit.compute("look", self.one, looked, words="looking", follows=True)
        if found is None:
            return
        batch, said = found
        listen = listener(self.visit, model.dataset())
        with self.one.fresh(), ui.element("div").classes("columns"):
            with ui.element("div"):
                heading("What it sees now", level=3)
                with ui.element("div").classes("grid wide"):
                    for item in model.spec.modalities:
                        with ui.element("figure").classes("sample"):
                            state_of = f"{item.name}, {'broken' if item == modality else 'whole'}"
                            show_view(item, batch.views[item.name][0], about=state_of)
                            listen(item, batch.views[item.name][0], state_of)
                            with ui.element("figcaption"):
                                ui.label(state_of)
            with ui.element("div"):
                heading("What it says", level=3)
                if isinstance(said, runs.Predicted):
                    self._said(said, batch)
                else:
                    for target in said.names:
                        show_view(said.spec.modality(target), said.views[target][0], about=f"{target}, drawn")
                        listen(said.spec.modality(target), said.views[target][0], f"{target}, drawn")

    def _said(self, said: runs.Predicted, batch: Batch) -> None:
        for target in said.targets:
            if target.task == "number":
                ui.label(said.line(target.name, said.answers, 0))
                continue
            truth = batch.targets[target.name][0]
            if target.task in ("class", "agreement"):
                names = target.symbols or ("disagree", "agree")
                right = said.best(target.name)[0] == names[int(truth)]
                ui.label(f"{said.best(target.name)[0]} (true: {names[int(truth)]})").classes(
                    f"answer reading {'right' if right else 'wrong'}"
                )
            show_shares(list(said.probabilities(target.name)[0].items())[:10])


def _lines(visit: Visit[BrokenState], model: runs.TrainedModel, modality: Modality, corruption: str, state: BrokenState) -> str:
    """The lines of Python that give the same curve."""
    return "\n".join(
        [
            "import numpy as np",
            "import molyneux",
            "from molyneux import run",
            f"from molyneux.data.imperfections import {corruption}",
            "",
            f"model = molyneux.open_model({visit.library.source(model.name)!r})",
            f'samples = model.dataset().source("test", {_SAMPLES}, seed=0).batch(np.arange({_SAMPLES}))',
            f"curve = run.sense_curve(model, samples, {corruption}(), {modality.name!r})",
            f"print(curve.sentence({state.strength:g}))",
        ]
    )
