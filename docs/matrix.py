"""Models by worlds on one page: what is above guessing, and which model to start with; used by `tables.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from answers import ANSWERS
from picked import OfModel, Pick, Runs, filled
from shown import PUSHED, RECOMMENDED, SEEN_AND_HEARD, TEXT_TO_IMAGE, TO_TEXT

from molyneux.core.reader import read_earlier
from molyneux.report import StudyRun, Table, to_html
from molyneux.report.study.seeds import OverSeeds, best_of, over_seeds
from molyneux.report.tables import Column, Entry
from molyneux.report.tables.table import DASH

ABOVE, NOT = "▲", "∅"
_KIND, _VARIANT, _LEVEL = (f"data.world.init_args.{name}" for name in ("kind", "variant", "level"))


@dataclass(frozen=True)
class World:
    """A column of a matrix.

    Args:
        study: names of studies.
        score: the name of the score.
        about: what it is about; several in the order in which the first is taken that a model has.
        where: settings of the runs, by their path.
        named: the model of runs that are called after something else.
    """

    study: str
    score: str
    about: Sequence[Mapping[str, Any]]
    where: Mapping[str, Any] = field(default_factory=dict)
    named: str = ""


@dataclass(frozen=True)
class Matrix:
    """A matrix: its title, what its numbers are, its columns, and the page that says more.

    `confirmed` is a sentence about other trainings of the same models, with numbers of `picks`.
    """

    title: str
    numbers: str
    worlds: Mapping[str, World]
    page: str
    confirmed: str = ""
    picks: Mapping[str, Pick | OfModel] = field(default_factory=dict)


_AGREE = [{"source": source, "target": "agreement"} for source in (("image", "text"), ("image", "meaning"), "image", "text")]
_KINDS = ("oneshape", "spatial", "multishape", "quantification")


def _balanced(kind: str) -> World:
    return World("shapeworld-figure6", "prediction.accuracy", _AGREE, {_KIND: kind, _VARIANT: "balanced"})


def _pictures(about: Mapping[str, Any]) -> dict[str, World]:
    studies = "generative+generative-4-5"
    return {f"level {level}": World(studies, "coherence.strict", [about], {_LEVEL: level}) for level in range(1, 6)}


MATRICES: dict[str, Matrix] = {
    "sentences": Matrix(
        "Sentences",
        "mutual information gap, recommended variant, 0 to 1",
        {
            "YNOC": World("ynoc+ynoc-best", "disentanglement.mig", [RECOMMENDED]),
            "POS": World("pos+pos-best", "disentanglement.mig", [RECOMMENDED]),
        },
        "ynoc-slots",
        "These are the trainings of the first studies. On YNOC, [fresh seeds on another split](ynoc-slots.md#confirmation) give "
        "slots-12 {slots} and MAT-0.1 {mat} ({mat_interval}).",
        {name: ANSWERS["ynoc-slots"].picks[name] for name in ("slots", "mat")},
    ),
    "fusion": Matrix(
        "Several senses, one answer",
        "right answers in % (AV-MNIST, synergy), share of variance explained (pushed puck)",
        {
            "AV-MNIST": World("av-mnist", "prediction.accuracy", [SEEN_AND_HEARD]),
            "synergy of two bits": World("interactions", "prediction.accuracy", [{"source": ("x1", "x2"), "target": "synergy"}]),
            "pushed puck": World("push", "prediction.r2", [PUSHED]),
        },
        "av-mnist",
    ),
    "shapeworld": Matrix(
        "Captions that are true or not",
        "right answers in % on balanced data, where guessing gives 50",
        {kind.upper(): _balanced(kind) for kind in _KINDS},
        "shapeworld-figure6",
    ),
    "captions": Matrix(
        "Captions of pictures, CdSprites+",
        "captions in which every factor is right, in %; read by an earlier reader",
        _pictures(TO_TEXT),
        "generative",
    ),
    "pictures": Matrix(
        "Pictures of captions, CdSprites+",
        "pictures in which every factor is right, in %; read by an earlier reader",
        _pictures(TEXT_TO_IMAGE),
        "generative",
        "Latent diffusion is given [a hand-made window](level-5.md#the-model), which the others are not. Of `cdsprites-level5`, "
        "another training of it, today's reader finds {drawn} % right.",
        {"drawn": ANSWERS["level-5"].picks["drawn"]},
    ),
}
"""By name; a matrix of readings by earlier readers recommends nothing."""

BESIDE: dict[str, dict[str, dict[str, World]]] = {
    "shapeworld": {
        "ConceptModules, given the tree": {
            kind.upper(): World(
                "shapeworld-concepts" + "-counts" * (kind in _KINDS[2:]), "prediction.accuracy", _AGREE[1:2], named=kind
            )
            for kind in _KINDS
        }
    },
    "pictures": {
        "latent diffusion": {"level 5": World("latent-diffusion", "coherence.strict", [TEXT_TO_IMAGE], named="latent-diffusion")}
    },
    "captions": {
        "latent diffusion": {"level 5": World("latent-diffusion", "coherence.strict", [TO_TEXT], named="latent-diffusion")}
    },
}
"""Rows of models that other studies trained."""


def matrix(name: str, runs_of: Runs) -> str:
    """A matrix as a coloured table, below a sentence that says which model to start with."""
    shown = MATRICES[name]
    cells: dict[str, dict[str, OverSeeds]] = {}
    for head, world in shown.worlds.items():
        runs = runs_of(world.study)
        for model in dict.fromkeys(str(run.settings["name"]) for run in runs):
            if (over := _over(world, runs, model)) is not None:
                cells.setdefault(model, {})[head] = over
    for model, worlds in BESIDE.get(name, {}).items():
        for head, world in worlds.items():
            if (over := _over(world, runs_of(world.study), world.named)) is not None:
                cells.setdefault(model, {})[head] = over
    rows = [(Entry(model), *(_entry(found.get(head)) for head in shown.worlds)) for model, found in cells.items()]
    columns = (Column("model", "left"), *(Column(head) for head in shown.worlds))
    notes = (f"{ABOVE} above guessing, {NOT} not above guessing; the darker the blue, the farther above. Means over seeds.",)
    table = Table(f"matrix-{name}", f"{shown.title}: {shown.numbers}", columns, tuple(rows), notes)
    confirmed = filled(shown.confirmed, shown.picks, runs_of)
    return f"{_start(shown, cells)}\n\n{to_html(table)}" + (f"\n{confirmed}\n" if confirmed else "")


def _over(world: World, runs: Sequence[StudyRun], model: str) -> OverSeeds | None:
    own = [
        run
        for run in runs
        if str(run.settings["name"]) == model and all(run.settings.get(k) == v for k, v in world.where.items())
    ]
    for about in world.about:
        found = [score for run in own for score in run.scores if score.name == world.score and dict(score.about) == dict(about)]
        if found:
            return over_seeds(found)
    return None


def _entry(over: OverSeeds | None) -> Entry:
    if over is None or over.mean is None:
        return DASH
    guessed = over.score.is_guessed
    low = over.chance or 0.0
    top = over.first.bounds[1] if over.first.bounds else None
    share = 0.0 if guessed or top is None else min(1.0, max(0.0, (over.mean - low) / (top - low)))
    return Entry(f"{NOT if guessed else ABOVE} {over.written}", value=over.mean, interval=over.interval, heat=share)


def _start(shown: Matrix, cells: Mapping[str, Mapping[str, OverSeeds]]) -> str:
    """Which model to start with in each world, the best that is above guessing; none where earlier readers read."""
    firsts: dict[str, list[str]] = {}
    for head in shown.worlds:
        column = {model: found[head] for model, found in cells.items() if head in found}
        if any(read_earlier(over.first) for over in column.values()):
            why = f"nothing is recommended: an earlier reader read them ([the study]({shown.page}.md))"
            return f"**{shown.title}**: {why}."
        best = best_of([over for over in column.values() if not over.score.is_guessed])
        for model in (model for model, over in column.items() if best and over is best[0]):
            firsts.setdefault(model, []).append(head)
    named = (f"{model} ({', '.join(heads)})" if len(firsts) > 1 else model for model, heads in firsts.items())
    return f"**{shown.title}: start with {', '.join(named)}** ([the study]({shown.page}.md))."
