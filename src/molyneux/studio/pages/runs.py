"""Runs: what was trained, how it goes on, what its settings are, what it gets wrong, and the samples behind each score."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from nicegui import events, ui

import molyneux.run as runs
from molyneux.core import MolyneuxError
from molyneux.studio.address import PageState, word
from molyneux.studio.computing import Computation
from molyneux.studio.curves import show_curves
from molyneux.studio.frame import again, button, card, heading, note, show_rows, show_view
from molyneux.studio.sounds import listener
from molyneux.studio.visit import ResultArea, Visit, sentence

if TYPE_CHECKING:
    from molyneux.core import Batch

PATH, TITLE = "/runs", "Runs"
INTRO = "The runs of your folders: how they go, what they differ in, and the samples that they get wrong."
_SAMPLES, _SHOWN, _EVERY = 400, 12, 2.0
"""Samples that are judged, of which so many are shown, and seconds between looks at a running one."""
_LOSS = "validation/loss"


@dataclass(frozen=True)
class RunsState(PageState):
    """What the page shows.

    Args:
        run: names of runs; the first is looked at, the others are compared with it. None for the first of the folders.
        curve: column of the history that is drawn.
        source: what a generative model draws from; empty for the first.
        having: value of a factor that the shown samples have, `factor:value`; empty for all.
        right: whether samples that are right are shown, instead of the wrong ones.
    """

    run: tuple[str, ...] = ()
    curve: str = _LOSS
    source: str = ""
    having: str = ""
    right: bool = False

    def checked(self) -> Self:
        """See `PageState`."""
        return replace(self, run=tuple(dict.fromkeys(self.run))[:6])


State = RunsState


@dataclass(frozen=True)
class _Judged:
    model: runs.TrainedModel
    samples: Batch
    judge: runs.SampleJudge
    judged: runs.JudgedSamples
    slices: tuple[runs.Slice, ...]


async def build(visit: Visit[RunsState]) -> None:
    """Build the page."""
    await _Runs(visit).build()


class _Runs:
    def __init__(self, visit: Visit[RunsState]) -> None:
        self.visit = visit
        self.overviews: dict[str, runs.RunOverview] = {}

    async def build(self) -> None:
        with ui.element("div").classes("sides"):
            with card("Runs and models", classes="controls"):
                trained = [place.name for place in self.visit.library.runs()]
                known = list(dict.fromkeys([*trained, *self.visit.library.shipped]))
                if not self.visit.state.run and trained:
                    self.visit.state = replace(self.visit.state, run=(trained[0],))
                chosen = [name for name in self.visit.state.run if name in known]
                box = ui.select(known, label="A run, and others to compare", value=chosen, multiple=True)
                box.props("outlined dense options-dense use-chips max-values=6").on_value_change(self._chosen)
                if not self.visit.library.folders:
                    note("Name folders with runs when you start the studio: molyneux studio runs/")
                self.about = ResultArea("what the run is")
            with ui.element("div"):
                with card("Learning"):
                    self.learning = ResultArea("curves of learning")
                with card("What it gets wrong"):
                    self.wrong = ResultArea("wrong samples")
                with card("Settings in which they differ"):
                    self.settings = ResultArea("differences of settings")
        await self._show()
        ui.timer(_EVERY, self._look_again)

    async def _chosen(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if self.visit.change(run=tuple(event.value or ()), having="", source=""):
            await self._show()

    async def _show(self) -> None:
        names, library = self.visit.state.run, self.visit.library
        if not names:
            self.overviews = {}
            self.visit.stop()
            with self.about.fresh():
                note("Choose a run.")
            for place in (self.learning, self.wrong, self.settings):
                place.fresh()
            return
        await self._read()
        if names != self.visit.state.run:
            return  # others were chosen meanwhile, and are shown
        first = self.overviews.get(names[0])
        with self.about.fresh():
            if first is not None:
                for text in (f"{first.model} on {first.data}", f"seed {first.settings.get('seed')}", first.state):
                    ui.label(text)
                if names[0] not in library.shipped and "report" in first.done:
                    ui.link("Its report", f"/report/{quote(names[0])}", new_tab=True)
        self._settings()
        await self._judge()

    async def _read(self) -> None:
        """Read the folders of the chosen runs, and draw their curves."""
        names, library = self.visit.state.run, self.visit.library

        def read(_: object) -> dict[str, runs.RunOverview | str]:
            found: dict[str, runs.RunOverview | str] = {}
            for name in names:
                try:
                    found[name] = runs.overview(library.folder(name))
                except MolyneuxError as error:
                    found[name] = sentence(error)
            return found

        found = await self.visit.compute("read", self.learning, read)
        if found is None:
            return
        self.overviews = {name: part for name, part in found.items() if isinstance(part, runs.RunOverview)}
        with self.learning.fresh():
            for name, part in found.items():
                if isinstance(part, str):
                    note(f"{name}: {part}")
            self._curves()

    def _curves(self) -> None:
        columns = {name: part.history.columns() for name, part in self.overviews.items() if part.history.epochs}
        if not columns:
            note("Nothing was learnt yet, or the history is not kept.")
            return
        known = list(
            dict.fromkeys(name for part in columns.values() for name in part if "/" in name or name == "samples_per_second")
        )
        if not known:
            note("The history has no curve over steps.")
            return
        curve = self.visit.state.curve if self.visit.state.curve in known else known[0]
        box = ui.select(known, label="curve", value=curve).props("outlined dense options-dense")
        box.on_value_change(self._curve_changed)
        lines = {name: (part["step"], part[curve]) for name, part in columns.items() if curve in part}
        if any(len(steps) > 1 for steps, _ in lines.values()):
            show_curves(lines, across="steps", up=curve)
        else:
            for name, (steps, values) in lines.items():
                note(f"{name} was looked at once, after {steps[-1]:,.0f} steps: {curve} {values[-1]:,.4g}")
        for name, overview in self.overviews.items():
            if overview.running and overview.history.rows:
                row = overview.history.rows[-1]
                ui.label(f"{name}: {overview.state}; {row.get('samples_per_second', 0):,.0f} samples a second").classes("quiet")

    async def _curve_changed(self, event: events.ValueChangeEventArguments[Any]) -> None:
        if self.visit.change(curve=word(event.value)):
            await self._read()

    async def _look_again(self) -> None:
        """Read a running run again, and draw its curve as far as it is."""
        if any(part.running for part in self.overviews.values()):
            await self._read()

    def _settings(self) -> None:
        names = [name for name in self.visit.state.run if name in self.overviews]
        with self.settings.fresh():
            if len(names) < 2:
                note("Choose a second run to compare settings.")
                return
            rows = []
            for other in names[1:]:
                for path, (mine, theirs) in self.overviews[names[0]].differences(self.overviews[other]).items():
                    rows.append((path, _written(mine), f"{other}: {_written(theirs)}"))
            show_rows(("setting", names[0], "other"), rows) if rows else note("All settings are the same.")

    async def _judge(self) -> None:
        """What the first run gets wrong: by value of a factor, and sample by sample."""
        name, source, library = self.visit.state.run[0], self.visit.state.source, self.visit.library

        def judged(job: Computation[_Judged]) -> _Judged:
            model = library.open(name)

            def make() -> _Judged:
                samples = library.once(model, f"samples {_SAMPLES}", lambda: library.samples(model, _SAMPLES))
                job.check()
                judge = runs.sample_judge(model, samples, source=source)
                found = judge.judge(samples, judge.given)
                return _Judged(model, samples, judge, found, runs.slices(found, samples, model.spec, factors=judge.factors))

            return library.once(model, f"judged {source}", make)

        found = await self.visit.compute("judge", self.wrong, judged, words=f"asking it about {_SAMPLES} test samples")
        if found is not None:
            with self.wrong.fresh():
                self._show_judged(found)

    def _show_judged(self, found: _Judged) -> None:
        state, share = self.visit.state, found.judged.share
        low, high = share.interval
        beyond = "" if low > max(found.judge.guess, found.judge.constant) else "; not above guessing"
        number = f"{100 * share.share:.1f} % right of {share.samples} test samples ({100 * low:.1f} to {100 * high:.1f}; "
        number += f"guessing {100 * found.judge.guess:.1f})"
        ui.label(f"{number}{beyond}: {found.judge.what}.").classes("answer")
        if "generate" in found.model.abilities and len(found.model.modalities) > 1:
            box = ui.select(_directions(found.model.modalities), label="direction", value=state.source or found.judge.given[0])
            box.props("outlined dense options-dense")
            box.on_value_change(lambda e: self._again(source=word(e.value), having=""))
        apart = [item for item in found.slices if item.differs][:6]
        weakest = [item for item in found.slices[:4] if item.right.share < item.others.share]
        if apart or weakest:
            words = "Where it is worse or better than elsewhere" if apart else "Its weakest values (none is apart from the rest)"
            heading(words, level=3)
        for item in apart or weakest:
            with ui.element("div").classes("row"):
                button(f"{item.factor} {item.value}", partial(self._again, having=f"{item.factor}:{item.value}"))
                ui.label(
                    f"{100 * item.right.share:.0f} % of {item.right.samples}, others {100 * item.others.share:.0f} %"
                ).classes("quiet")
        heading("Right samples" if state.right else "Wrong samples", level=3)
        with ui.element("div").classes("row"):
            button("Show the wrong ones" if state.right else "Show the right ones", lambda: self._again(right=not state.right))
            if state.having:
                button(f"Not only {state.having.replace(':', ' ')}", lambda: self._again(having=""))
        self._samples(found)
        again(_lines(self.visit, found, state))

    async def _again(self, **values: Any) -> None:
        if self.visit.change(**values):
            await self._judge()

    def _samples(self, found: _Judged) -> None:
        state, spec, listen = self.visit.state, found.model.spec, listener(self.visit, found.model.dataset())
        factor, _, value = state.having.partition(":")
        rows, said = [], "read" if found.judged.drawn else "said"
        for row, number in enumerate(found.judged.numbers.tolist()):
            fits = not factor or _value(found.samples, spec, factor, number) == value
            if fits and bool(found.judged.right[row]) == state.right:
                rows.append((row, number))
        if not rows:
            note("There is none.")
        with ui.element("div").classes("grid"):
            for row, number in rows[:_SHOWN]:
                with ui.element("figure").classes("sample"):
                    for modality in spec.modalities:
                        drawn = found.judged.drawn.get(modality.name)
                        view = found.samples.views[modality.name][number] if drawn is None else drawn[row]
                        about = f"{modality.name} of test sample {number}" if drawn is None else f"{modality.name} that it drew"
                        show_view(modality, view, about=about)
                        listen(modality, view, about)
                    with ui.element("figcaption"):
                        ui.label(f"{said}: {_shorter(found.judged.said[row], found.judged.truth[row])}").classes(
                            f"reading {'right' if state.right else 'wrong'}"
                        )
                        ui.label(f"true: {_shorter(found.judged.truth[row], found.judged.said[row])}")
        if len(rows) > _SHOWN:
            note(f"{len(rows) - _SHOWN} more of the {len(found.judged.right)} samples.")


def _directions(modalities: tuple[str, ...]) -> dict[str, str]:
    """By the modality that is given, what is drawn from it, in words."""
    if len(modalities) != 2:
        return {name: f"from {name}" for name in modalities}
    first, second = modalities
    return {first: f"{second} from {first}", second: f"{first} from {second}"}


def _value(samples: Batch, spec: Any, factor: str, number: int) -> str:
    if samples.factors is None or factor not in [item.name for item in spec.factors]:
        return ""
    code = int(samples.factors[number, spec.factor_index(factor)])
    return str(spec.factor(factor).values[code]) if code >= 0 else ""


def _shorter(text: str, other: str) -> str:
    """The parts of a list in which it differs from another one; all where they are the same or differ in number."""
    mine, theirs = text.split(", "), other.split(", ")
    apart = [part for part, beside in zip(mine, theirs, strict=False) if part != beside]
    return ", ".join(apart) if apart and len(mine) == len(theirs) else text


def _written(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)[:80]


def _lines(visit: Visit[RunsState], found: _Judged, state: RunsState) -> str:
    """The lines of Python that give the same share."""
    return "\n".join(
        [
            "import numpy as np",
            "import molyneux",
            "from molyneux import run",
            "",
            f"model = molyneux.open_model({visit.library.source(found.model.name)!r})",
            f'samples = model.dataset().source("test", {_SAMPLES}, seed=0).batch(np.arange({_SAMPLES}))',
            f"judge = run.sample_judge(model, samples, source={state.source!r})",
            "judged = judge.judge(samples, judge.given)",
            "print(judged.share, run.slices(judged, samples, model.spec, factors=judge.factors)[:5])",
        ]
    )
