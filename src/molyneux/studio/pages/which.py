"""Which is which: Molyneux's question, asked of a person and of a model with many shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

import molyneux.run as runs
from molyneux.studio.address import chosen, word
from molyneux.studio.curves import show_curves
from molyneux.studio.frame import again, button, card, note
from molyneux.studio.hands import show_sense
from molyneux.studio.shares import show_shares
from molyneux.studio.visit import ResultArea, Visit
from molyneux.studio.which import (
    BETWEEN,
    CHILDREN,
    GEOMETRY,
    QUESTIONS,
    SAMPLES,
    WORLD,
    QuestionSeries,
    WhichState,
    about_training,
    asked_studies,
    given_words,
    question_words,
    record_curves,
    sense_words,
    series_of,
    summary,
    verdict,
)

if TYPE_CHECKING:
    from molyneux.report import StudyRun

PATH, TITLE = "/which", "Which is which?"
INTRO = "A hand feels a shape, and two are seen: which one is it? Answer, and see what a model answers."
_ORDER = ("The first", "The second")


State = WhichState


async def build(visit: Visit[WhichState]) -> None:
    """Build the page."""
    await _Which(visit).build()


class _Which:
    def __init__(self, visit: Visit[WhichState]) -> None:
        self.visit = visit
        self.series: QuestionSeries | None = None
        self.studies: Mapping[str, Sequence[StudyRun]] = {}
        self.buttons: list[ui.button] = []

    async def build(self) -> None:
        with ui.element("div").classes("sides turned"):
            with ui.element("div"):
                with card():
                    self.question = ResultArea("the question")
                with card("So far"):
                    self.score = ResultArea("right choices")
                with card("How many must be seen and felt together"):
                    self.records = ResultArea("what is on record")
            with card("What is asked", classes="controls"):
                self.form = ResultArea("settings")
        await self._open()

    async def _open(self) -> None:
        """Draw the questions of the state, and show them."""
        library, state = self.visit.library, self.visit.state

        def prepared(_: object) -> tuple[QuestionSeries, tuple[str, ...], Mapping[str, Sequence[StudyRun]]]:
            studies = library.of_records("choices", runs.read_choices) if library.results else {}
            return series_of(library, state), library.trained_on(WORLD), studies

        found = await self.visit.compute("open", self.question, prepared, words="making shapes and asking the model")
        if found is None:
            return
        self.series, names, studies = found
        self.studies = asked_studies(studies, self.series)
        self._show_form(self.series, names)
        self._show()
        self._show_records(self.series)

    def _show_form(self, series: QuestionSeries, names: Sequence[str]) -> None:
        state = self.visit.state
        with self.form.fresh():
            self._select("Model", {name: name for name in names}, series.asking.model.name, "model")
            self._select("What is given", sense_words(series), series.questions.source, "given")
            if series.asking.roles:
                self._select("Between", {role: BETWEEN[role] for role in series.asking.roles}, series.role, "role")
            pairs = {True: "two that are alike", False: "any two shapes"}
            box = ui.select(pairs, label="Pairs", value=state.alike).props("outlined dense options-dense")
            box.on_value_change(lambda e: self._again(alike=bool(e.value)))
            path = ui.checkbox("Show the whole path", value=state.path).props("dense")
            path.on_value_change(lambda e: self._path(shown=bool(e.value)))
            note(about_training(series))
            note("Two that are alike are alike in elongation, compactness and unevenness: none of these tells them apart.")

    def _select(self, label: str, options: Mapping[str, str], value: str, name: str) -> None:
        box = ui.select(dict(options), label=label, value=value).props("outlined dense options-dense")
        box.on_value_change(lambda e: self._again(**{name: word(e.value)}))

    async def _again(self, **values: Any) -> None:
        """Begin a new series."""
        if self.visit.change(**values, answers="", number=0):
            await self._open()

    def _path(self, *, shown: bool) -> None:
        if self.visit.change(path=shown):
            self._show()

    def _answer(self, choice: int) -> None:
        state = self.visit.state
        if state.number == len(state.answers) and self.visit.change(answers=f"{state.answers}{choice}"):
            self._show(focus=True)

    def _next(self) -> None:
        if self.visit.change(number=self.visit.state.number + 1):
            self._show(focus=True)

    def _show(self, *, focus: bool = False) -> None:
        """Show the question that is looked at; with `focus`, the keyboard is where it goes on."""
        if self.series is None:
            return
        moves = self._show_question(self.series)
        self._show_score(self.series)
        script = f"window.molyneuxFeel('c{self.question.element_id}');" if moves else ""
        if focus and self.buttons:
            script += f"document.getElementById('c{self.buttons[0].id}')?.focus()"
        if script:  # when the browser has drawn it
            self.visit.client.run_javascript(f"setTimeout(() => {{ {script} }}, 50)")

    def _show_question(self, series: QuestionSeries) -> bool:
        """The question that is looked at; whether something moves."""
        self.buttons = []
        state, questions, spec = self.visit.state, series.questions, series.asking.model.spec
        answered, row = state.number < len(state.answers), state.number
        with self.question.fresh():
            ui.label(f"Question {row + 1} of {QUESTIONS}").classes("quiet")
            ui.label(verdict(series, state) if answered else question_words(series)).classes("answer")
            path = state.path or answered
            with ui.element("div").classes("which"):
                with ui.element("figure").classes("sample given"):
                    about = f"what is given: {questions.source}"
                    moves = show_sense(spec.modality(questions.source), questions.given_view(row), about=about, path=path)
                    with ui.element("figcaption"):
                        ui.label(given_words(series))
                for place, view in enumerate(questions.choice_views(row)):
                    moves = self._choice(series, place, view, path=path) or moves
            with ui.element("div").classes("row"):
                if answered and row + 1 < QUESTIONS:
                    self.buttons.append(button("Next question", self._next, strong=True))
                elif answered:
                    self.buttons.append(button("Another series", lambda: self._again(seed=state.seed + 1), strong=True))
                if moves:
                    feel = f"() => window.molyneuxFeel('c{self.question.element_id}')"
                    button("Feel it again").on("click", js_handler=feel)
        return moves

    def _choice(self, series: QuestionSeries, place: int, view: Any, *, path: bool) -> bool:
        """One of the two things, with the button that chooses it, or what it was; whether something moves."""
        state, questions, row = self.visit.state, series.questions, self.visit.state.number
        with ui.element("figure").classes("sample"):
            about = f"{_ORDER[place].lower()}: {questions.target}"
            moves = show_sense(series.asking.model.spec.modality(questions.target), view, about=about, path=path)
            if row >= len(state.answers):
                self.buttons.append(button(_ORDER[place], lambda: self._answer(place), strong=True))
                return moves
            name, right = questions.values(row)[place], int(questions.right[row]) == place
            with ui.element("figcaption"):
                said = "the same shape" if right else "another shape"
                ui.label(f"{said}: {name}").classes(f"reading {'right' if right else 'wrong'}")
                model = series.asking.model.name
                chose = ["you"] * (state.said[row] == place) + [model] * (int(series.answers[model].chosen[row]) == place)
                ui.label(f"chosen by {' and '.join(chose)}" if chose else "chosen by nobody")
        return moves

    def _show_score(self, series: QuestionSeries) -> None:
        said = self.visit.state.said
        with self.score.fresh():
            if not said:
                note(f"Nothing is answered yet. A series has {QUESTIONS} questions.")
                return
            if len(said) == QUESTIONS:
                ui.label(summary(series, self.visit.state)).classes("answer small")
            show_shares(series.shares(said))
            again(_lines(self.visit, series))

    def _show_records(self, series: QuestionSeries) -> None:
        with self.records.fresh():
            if not self.studies:
                note(
                    "There are no records of this here. Name their folder at the start: molyneux studio --results studies/results"
                )
                return
            state, study = self.visit.state, chosen(self.visit.state.study, self.studies)
            box = ui.select(list(self.studies), label="study", value=study).props("outlined dense options-dense")
            box.classes("short").on_value_change(lambda e: self._study(word(e.value)))
            curves = record_curves(self.studies, study, series, alike=state.alike)
            lines = {
                one.name: ([float(point.bridged) for point in one.points], [point.value for point in one.points])
                for one in curves
            }
            intervals = {one.name: [point.interval for point in one.points] for one in curves}
            levels = {"guessing": 50.0}
            if (outlines := series.answers.get(GEOMETRY)) is not None:
                levels["geometry, of these questions"] = 100 * float(outlines.points.mean())
            if series.asking.model.spec.modality(series.questions.source).kind == "series":
                levels["children, within two days of sight"] = 100 * CHILDREN
            pairs = "two that are alike" if state.alike else "any two shapes"
            ui.label(f"Right choices between {BETWEEN.get(series.role, 'shapes')}, {pairs}; 95 % intervals").classes("quiet")
            across = "shapes seen and felt together"
            show_curves(lines, across=across, up="right choices, %", intervals=intervals, levels=levels, doubling=True)
            seeds = min((point.seeds for one in curves for point in one.points), default=0)
            note(f"{seeds} training{'s' * (seeds != 1)} of each kind; the intervals hold for new shapes.")

    def _study(self, name: str) -> None:
        if self.visit.change(study=name) and self.series is not None:
            self._show_records(self.series)


def _lines(visit: Visit[WhichState], series: QuestionSeries) -> str:
    """The lines of Python that ask the model the same questions."""
    questions, state = series.questions, visit.state
    where = f" where={{'role': {series.role!r}}}," if series.role else ""
    alike = " alike='pair'," if state.alike else ""
    return "\n".join(
        [
            "import numpy as np",
            "import molyneux",
            "from molyneux import run",
            "",
            f"model = molyneux.open_model({visit.library.source(series.asking.model.name)!r})",
            f'samples = model.dataset().source("test", {SAMPLES}, seed=0).batch(np.arange({SAMPLES}))',
            "questions = run.two_way_questions(",
            f"    samples, model.spec, {QUESTIONS}, source={questions.source!r}, target={questions.target!r},"
            f"{where}{alike} seed={state.seed}",
            ")",
            "print(run.answer_by_codes(model, questions).points)",
            "print(run.answer_by_outlines(model.dataset(), questions).points)",
            "print(run.answer_by_outlines(model.dataset(), questions, statistics=['elongation']).points)",
        ]
    )
