"""Series of two-way questions that a person and a model answer: the state of the page, and what is prepared for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import molyneux.run as runs
from molyneux.core import ConfigError
from molyneux.studio import story
from molyneux.studio.address import PageState, chosen

if TYPE_CHECKING:
    from molyneux.core import Batch, Spec
    from molyneux.report import ChoiceCurve, StudyRun
    from molyneux.studio.library import Library

WORLD, FIRST_MODEL = "MolyneuxShapes", "molyneux-shapes"
QUESTIONS, SAMPLES = 20, 2_000
"""Questions of a series, as many as the children of Held et al. (2011) were asked, and test samples that they are about."""
BETWEEN = {
    "new": "new shapes",
    "felt": "shapes that were only felt",
    "seen": "shapes that were only seen",
    "parted": "shapes that were seen, and felt, never together",
    "bridged": "shapes that were seen and felt together",
}
"""By role: what a question is about."""
_THING, _PAIR, _ROLE = "shape", "pair", "role"
GEOMETRY = "geometry"
"""Who compares outlines, and learns nothing."""
CHILDREN = 0.58
"""Right choices from touch to sight of the children of Held et al. (2011), within 48 hours after they were given sight."""


@dataclass(frozen=True)
class WhichState(PageState):
    """What the page shows.

    Args:
        model: its name.
        given: modality of the thing that is given; empty for touch.
        role: what the shapes are to the model; see `data.Bridging`. Empty for the first that there is.
        alike: whether the two shapes are alike in elongation, compactness and unevenness.
        seed: of the questions.
        answers: of the person, 0 for the first thing and 1 for the second, one after the other.
        number: of the question that is looked at.
        path: whether the whole path of the fingers is drawn.
        study: whose curves are shown; empty for that with the most runs.
    """

    model: str = FIRST_MODEL
    given: str = ""
    role: str = ""
    alike: bool = True
    seed: int = 0
    answers: str = ""
    number: int = 0
    path: bool = False
    study: str = ""

    def checked(self) -> Self:
        """See `PageState`."""
        answers = re.sub("[^01]", "", self.answers)[:QUESTIONS]
        number = min(max(self.number, 0), len(answers), QUESTIONS - 1)
        return replace(self, seed=max(self.seed, 0), answers=answers, number=number)

    @property
    def said(self) -> tuple[int, ...]:
        """The answers of the person."""
        return tuple(map(int, self.answers))


@dataclass(frozen=True)
class Asking:
    """A model that is asked, with test samples.

    Args:
        model: the model.
        samples: test samples.
        senses: the modalities of which one is given and the other has two things: touch first.
        roles: of the shapes that there are questions about; none where the world gives no roles.
        bridged: how many shapes the model saw and felt together in training; None where that is not a setting of its world.
    """

    model: runs.TrainedModel
    samples: Batch
    senses: tuple[str, str]
    roles: tuple[str, ...]
    bridged: int | None


@dataclass(frozen=True)
class QuestionSeries:
    """The questions of a series with the answers of the model, of geometry, and of who knows elongation alone."""

    asking: Asking
    role: str
    questions: runs.TwoWayQuestions
    answers: Mapping[str, runs.TwoWayAnswers]

    def right(self, said: Sequence[int]) -> int:
        """How many of a person's answers are right."""
        return sum(int(self.questions.right[row]) == choice for row, choice in enumerate(said))

    def shares(self, said: Sequence[int]) -> list[tuple[str, float]]:
        """Of the questions that the person answered: the shares of right choices of everybody, and what guessing gives."""
        count = len(said)
        others = [(f"{name}, {_points(part, count)}", float(part.points[:count].mean())) for name, part in self.answers.items()]
        return [(f"you, {self.right(said)} of {count}", self.right(said) / count), *others, ("guessing", 0.5)]


def _points(answers: runs.TwoWayAnswers, count: int) -> str:
    return f"{answers.points[:count].sum():g} of {count}"


def asking_of(library: Library, name: str) -> Asking:
    """A model of the library that can be asked, with test samples.

    Raises:
        ConfigError: it has no codes, or was not trained on shapes that are seen and felt. What `Library.samples` raises.
    """
    model = library.open(name)
    spec = model.spec
    senses = sorted(
        (item for item in spec.modalities if item.kind in ("series", "image")), key=lambda item: item.kind != "series"
    )
    known = {factor.name for factor in spec.factors}
    if "encode" not in model.abilities or [item.kind for item in senses] != ["series", "image"] or not {_THING, _PAIR} <= known:
        raise ConfigError(f"{name} cannot be asked which is which: choose a model with codes that was trained on {WORLD}")
    samples = library.once(model, f"{SAMPLES} samples", lambda: library.samples(model, SAMPLES))
    bridging = getattr(model.dataset(), "bridging", None)
    roles = tuple(role for role in BETWEEN if _things(samples, spec, role) > 1) if _ROLE in known else ()
    return Asking(model, samples, (senses[0].name, senses[1].name), roles, getattr(bridging, "bridged", None))


def _things(samples: Batch, spec: Spec, role: str) -> int:
    """How many shapes of a role there are among samples."""
    assert samples.factors is not None
    columns = [spec.factor_index(name) for name in (_THING, _ROLE)]
    codes, wanted = samples.factors[:, columns], spec.factor(_ROLE).code(role)
    return len(set(codes[codes[:, 1] == wanted][:, 0].tolist()))


def series_of(library: Library, state: WhichState) -> QuestionSeries:
    """The questions of a state, and how the model of the state answers them.

    Raises:
        ConfigError: as `asking_of`. DataError: there are no such questions.
    """
    from molyneux.data import MolyneuxShapes

    asking = asking_of(library, chosen(state.model, library.trained_on(WORLD), FIRST_MODEL))
    role = chosen(state.role, asking.roles)
    source = chosen(state.given, asking.senses)
    target = asking.senses[1 - asking.senses.index(source)]

    def make() -> QuestionSeries:
        questions = runs.two_way_questions(
            asking.samples,
            asking.model.spec,
            QUESTIONS,
            source=source,
            target=target,
            factor=_THING,
            where={_ROLE: role} if role else {},
            alike=_PAIR if state.alike else "",
            seed=state.seed,
        )
        answers = {asking.model.name: runs.answer_by_codes(asking.model, questions)}
        world = asking.model.dataset()
        if isinstance(world, MolyneuxShapes):
            answers[GEOMETRY] = runs.answer_by_outlines(world, questions)
            answers["elongation alone"] = runs.answer_by_outlines(world, questions, statistics=("elongation",))
        return QuestionSeries(asking, role, questions, answers)

    what = f"two-way {source} {role} {state.alike} {state.seed}"
    return library.once(asking.model, what, make)


def about_training(series: QuestionSeries) -> str:
    """What the shapes of a series were to the model in training, in a sentence or two."""
    from molyneux.learn import ContrastiveEncoders

    sentences = {
        "new": "Neither sense met these shapes in its training.",
        "felt": "In its training these shapes were felt and never seen: Molyneux's own question.",
        "seen": "In its training these shapes were seen and never felt.",
        "parted": "In its training these shapes were seen, and felt, but never in the same sample.",
        "bridged": "In its training these very shapes were seen and felt together.",
    }
    if isinstance(series.asking.model.module, ContrastiveEncoders):  # their loss compares both senses of a sample
        nothing = "Contrastive encoders learn nothing from samples that lack a sense: to them these shapes are new."
        sentences["felt"] = f"In its training these shapes were felt and never seen. {nothing}"
        sentences["seen"] = f"{sentences['seen']} {nothing}"
        sentences["parted"] = f"{sentences['parted']} {nothing}"
    told = (
        ""
        if series.asking.bridged is None
        else f"{series.asking.model.name} saw and felt {series.asking.bridged} shapes together. "
    )
    return told + sentences.get(series.role, "")


def given_words(series: QuestionSeries) -> str:
    """What is given, in a word or two."""
    kind = series.asking.model.spec.modality(series.questions.source).kind
    return "what is felt" if kind == "series" else "what is seen"


def question_words(series: QuestionSeries) -> str:
    """What is asked, in a sentence."""
    spec, questions = series.asking.model.spec, series.questions
    if spec.modality(questions.source).kind == "series":
        return "A hand feels this shape. Which of the two that you see is it?"
    return "You see this shape. Which of the two that a hand feels is it?"


def verdict(series: QuestionSeries, state: WhichState) -> str:
    """Whether the person and the model chose the right thing in the question that is looked at, in a sentence."""
    row, name = state.number, series.asking.model.name
    right = int(series.questions.right[row])
    mine, its = state.said[row] == right, int(series.answers[name].chosen[row])
    first = "Right" if mine else "Wrong"
    if its < 0:
        return f"{first}. {name} finds both equally near."
    too = " too" if mine == (its == right) else ""
    return f"{first}. {name} chose the {'right' if its == right else 'wrong'} one{too}."


def summary(series: QuestionSeries, state: WhichState) -> str:
    """How a whole series ended, in a sentence."""
    name, right = series.asking.model.name, series.right(state.said)
    told = f"You chose right {right} of {QUESTIONS} times, {name} {_points(series.answers[name], QUESTIONS)}"
    children = (
        f"; children within two days after they were given sight, {100 * CHILDREN:.0f} % of the time (Held and others, 2011)"
    )
    from_touch = series.asking.model.spec.modality(series.questions.source).kind == "series"
    return f"{told}{children if from_touch else ''}. Guessing gives half."


def record_curves(
    studies: Mapping[str, Sequence[StudyRun]], study: str, series: QuestionSeries, *, alike: bool
) -> tuple[ChoiceCurve, ...]:
    """The curves of a study for the senses and the role of a series."""
    from molyneux.report import choice_curves

    if study not in studies:
        return ()
    questions = series.questions
    return choice_curves(studies[study], source=questions.source, target=questions.target, role=series.role or "new", alike=alike)


def asked_studies(studies: Mapping[str, Sequence[StudyRun]], series: QuestionSeries) -> dict[str, Sequence[StudyRun]]:
    """The studies on record with curves of several points for a series, first those whose name others begin with."""
    order = sorted(studies, key=lambda name: (-sum(other.startswith(name) for other in studies), -len(studies[name])))
    found = {name: record_curves(studies, name, series, alike=False) for name in order}
    return {name: studies[name] for name, curves in found.items() if any(len(curve.points) > 1 for curve in curves)}


def sense_words(series: QuestionSeries) -> dict[str, str]:
    """By modality, what is done with what is given: felt or seen."""
    spec = series.asking.model.spec
    return {name: f"{story.sense_word(spec, name)} is given" for name in series.asking.senses}
