"""Molyneux's question: what was shown together, what was kept apart, and what is then known by touch, by sight and by name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from nicegui import events, ui

import molyneux.run as runs
from molyneux.core import Batch, Spec
from molyneux.studio import story
from molyneux.studio.address import PageState, chosen
from molyneux.studio.asked import SAMPLES, Asked, asked_of
from molyneux.studio.computing import Computation
from molyneux.studio.frame import again, button, card, heading, note, show_rows, show_view
from molyneux.studio.shares import show_shares
from molyneux.studio.visit import ResultArea, Visit

if TYPE_CHECKING:
    from molyneux.report import TransferVariant

PATH, TITLE = "/question", "Molyneux's question"
INTRO = "A shape that was felt and named, and never seen: is it known by sight? Feel it, see it, and go through its name."
_SHOWN = 3
"""Samples that are shown of a path."""


@dataclass(frozen=True)
class QuestionState(PageState):
    """What the page shows.

    Args:
        model: its name.
        value: of the factor by which samples were kept apart; empty for the first that was.
        seed: of what is drawn.
        study: whose records are shown; empty for that with the most.
        variant: of the study; empty for the first in which a sense is new.
    """

    model: str = "molyneux-touch"
    value: str = ""
    seed: int = 0
    study: str = ""
    variant: str = ""

    def checked(self) -> Self:
        """See `PageState`."""
        return replace(self, seed=max(self.seed, 0))


State = QuestionState


async def build(visit: Visit[QuestionState]) -> None:
    """Build the page."""
    await _Question(visit).build()


class _Question:
    def __init__(self, visit: Visit[QuestionState]) -> None:
        self.visit = visit
        self.asked: Asked | None = None
        self.studies: dict[str, tuple[TransferVariant, ...]] = {}
        self.steps: dict[tuple[str, ...], ResultArea] = {}

    async def build(self) -> None:
        with card("1688"):
            for sentence in story.LETTER:
                ui.label(sentence)
        with card("1. What came together in training, and what did not"):
            names = list(self.visit.library.models)
            box = ui.select(names, label="Model", value=chosen(self.visit.state.model, names)).classes("short")
            box.props("outlined dense options-dense").on_value_change(self._model_changed)
            self.training = ResultArea("what came together in training")
        with card("2. Feel it, see it, and go through its name"):
            self.form = ResultArea("what is asked")
            self.walks = ui.element("div").classes("walks")
        with card("3. When it was never seen at all"):
            self.records = ResultArea("what is on record")
        with card("4. The answer"):
            self.answer = ResultArea("the answer")
        await self._open()

    async def _model_changed(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if self.visit.change(model=str(event.value), value="", study="", variant=""):
            await self._open()

    async def _open(self) -> None:
        library, name = self.visit.library, chosen(self.visit.state.model, self.visit.library.models)

        def prepared(model: runs.TrainedModel) -> tuple[Asked, dict[str, tuple[TransferVariant, ...]]]:
            asked = asked_of(library, model)
            studies = library.of_records("transfers", runs.read_transfers) if library.results else {}
            return asked, story.fitting(studies, asked.model.spec)

        found = await self.visit.open(name, self.training, prepared)
        self.asked, self.studies = found if found is not None else (None, {})
        self._show_training()
        self._show_records()
        await self._show_form()

    @property
    def value(self) -> str:
        """The value of the factor that is asked about."""
        assert self.asked is not None
        return chosen(self.visit.state.value, self.asked.values)

    def _show_training(self) -> None:
        """A sample of each kind that came in training, with what was withheld of it."""
        asked = self.asked
        if asked is None:
            for place in (self.form, self.records, self.answer):
                place.fresh()
            self.walks.clear()
            return
        with self.training.fresh():
            ui.label(story.training_sentence(asked.model.spec, asked.kept, asked.factor))
            with ui.element("div").classes("kinds"):
                for title, sample, names in asked.kinds():
                    self._kind(asked.model.spec, title, sample, names)

    def _kind(self, spec: Spec, title: str, sample: Batch, names: Collection[str]) -> None:
        with ui.element("div").classes("kind"):
            heading(title, level=3)
            with ui.element("div").classes("chain"):
                for item in spec.modalities:
                    with ui.element("figure").classes("sample"):
                        if item.name in names:
                            show_view(item, sample.views[item.name][0], about=f"{item.name} of {title}")
                        else:
                            ui.label("withheld").classes("withheld")
                        with ui.element("figcaption"):
                            ui.label(story.sense_word(spec, item.name))

    async def _show_form(self) -> None:
        asked = self.asked
        if asked is None:
            return
        spec = asked.model.spec
        with self.form.fresh(), ui.element("div").classes("row"):
            box = ui.select(list(asked.values), label=asked.factor, value=self.value).props("outlined dense options-dense")
            box.classes("short").on_value_change(lambda e: self._changed(value=str(e.value)))
            button("Draw again", lambda: self._changed(seed=self.visit.state.seed + 1), strong=True)
        self.walks.clear()
        self.steps = {}
        with self.walks:
            for step, paths in zip(story.STEPS, story.paths_of(spec), strict=True):
                heading(step, level=3)
                with ui.element("div").classes("columns"):
                    for path in paths:
                        with card(story.path_title(spec, path), level=4, classes="path"):
                            self.steps[path] = ResultArea(story.path_word(spec, path))
        await self._walk()

    async def _changed(self, **values: Any) -> None:
        if self.visit.change(**values):
            await self._walk()

    async def _walk(self) -> None:
        """Let the samples go each path, one path after the other."""
        asked, state = self.asked, self.visit.state
        assert asked is not None
        value = self.value
        for path, place in self.steps.items():

            def walked(job: Computation[runs.PathWalk], path: tuple[str, ...] = path) -> runs.PathWalk:
                def make() -> runs.PathWalk:
                    return runs.walk_path(asked.model, asked.of(value), path, asked.factor, seed=state.seed, told=job.tell)

                return self.visit.library.once(asked.model, f"walk {path} {value} {state.seed}", make)

            found = await self.visit.compute(f"walk {path}", place, walked, words="drawing and reading")
            if self.visit.state != state or self.asked is not asked:
                return  # something else is asked meanwhile
            if found is not None:
                with place.fresh():
                    self._show_walk(found, value)

    def _show_walk(self, walk: runs.PathWalk, value: str) -> None:
        assert self.asked is not None
        spec = self.asked.model.spec
        ui.label(story.walk_sentence(walk)).classes("answer small")
        show_shares([*((story.read_words(name), share) for name, share in walk.shares()), ("guessing", walk.guess)])
        if value in self.asked.kept.where[self.asked.factor]:
            note(story.joined_words(spec, self.asked.kept, walk.path))
        wrong = int((~walk.right).sum())
        ui.label(f"{wrong} of {len(walk.right)} are wrong; the wrong ones first:" if wrong else "Some of them:").classes("quiet")
        for row in walk.wrong_first()[:_SHOWN].tolist():
            with ui.element("div").classes("chain"):
                for name, views in zip(walk.path, walk.views, strict=True):
                    with ui.element("figure").classes("sample"):
                        show_view(spec.modality(name), views[row], about=f"{name} of sample {row + 1}")
                        with ui.element("figcaption"):
                            ui.label(story.sense_word(spec, name))
                ui.label(story.read_words(walk.said(row))).classes(f"reading {'right' if walk.right[row] else 'wrong'}")

    def _show_records(self) -> None:
        asked, state = self.asked, self.visit.state
        if asked is None:
            return
        if not self.studies:
            with self.records.fresh():
                note("There are no records here. Name their folder at the start: molyneux studio --results studies/results")
            with self.answer.fresh():
                note("Of this model, what stands above; of trainings with other shapes, records of a study.")
            return
        spec = asked.model.spec
        study = chosen(state.study, self.studies)
        variants = {one.name: one for one in self.studies[study]}
        usual = story.first_asked(self.studies[study], spec)
        one = variants[chosen(state.variant, variants, usual)]
        with self.records.fresh():
            things = story.plural([value for values in one.kept.where.values() for value in values])
            with ui.element("div").classes("row"):
                ways = {name: f"{story.kept_words(spec, other.kept)} ({name})" for name, other in variants.items()}
                box = ui.select(ways, label=f"{things} came in training", value=one.name).props("outlined dense options-dense")
                box.classes("short").on_value_change(lambda e: self._record_changed(variant=str(e.value)))
                box = ui.select(list(self.studies), label="study", value=study).props("outlined dense options-dense")
                box.classes("short").on_value_change(lambda e: self._record_changed(study=str(e.value), variant=""))
            ui.label(f"{one.model} on {one.world}, {things} {story.kept_words(spec, one.kept)}:").classes("quiet")
            show_shares(story.record_shares(one, spec))
            head, rows = story.record_rows(self.studies[study], spec)
            ui.label(f"All of the study, {things} alone; % with 95 % intervals").classes("quiet")
            show_rows(head, rows, marked=list(variants).index(one.name), whole=len(head) - 2)
            note(f"Only {things} were kept apart in what is on record; data.apart.where asks it of another {one.factor}.")
            again(_lines(self.visit, asked, self.value, study))
        with self.answer.fresh():
            ui.label(story.answer(self.studies[study], spec) or "No variant of this study asks it.").classes("answer")
            for sentence in story.limits(self.studies[study], spec.factor(one.factor)):
                note(sentence)

    def _record_changed(self, **values: Any) -> None:
        if self.visit.change(**values):
            self._show_records()


def _lines(visit: Visit[QuestionState], asked: Asked, value: str, study: str) -> str:
    """The lines of Python that give the same numbers."""
    spec = asked.model.spec
    column, code = spec.factor_index(asked.factor), spec.factor(asked.factor).code(value)
    path = story.paths_of(spec)[0][0]
    return "\n".join(
        [
            "import numpy as np",
            "import molyneux",
            "from molyneux import run",
            "",
            f"model = molyneux.open_model({visit.library.source(asked.model.name)!r})",
            f'samples = model.dataset().source("test", {SAMPLES}, seed=0).batch(np.arange({SAMPLES}))',
            f"samples = samples[samples.factors[:, {column}] == {code}]  # {value}",
            f"print(run.walk_path(model, samples, {path!r}, {asked.factor!r}, seed={visit.state.seed}).share)",
            f"print(run.read_transfers({list(visit.library.results)!r})[{study!r}])",
        ]
    )
