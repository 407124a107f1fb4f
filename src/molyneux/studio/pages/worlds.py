"""Worlds: samples of every world at its levels and settings, what is true of them, and what corruption makes of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, get_origin

from nicegui import events, ui

from molyneux.core import ConfigError, MolyneuxError, nearest
from molyneux.studio.address import PageState, chosen, word
from molyneux.studio.frame import again, button, card, heading, note, show_view, slider
from molyneux.studio.given import packed, unpacked
from molyneux.studio.sounds import listener
from molyneux.studio.visit import ResultArea, Visit

if TYPE_CHECKING:
    import numpy as np

    from molyneux.core import Batch
    from molyneux.data import World
    from molyneux.data.dataset import SplitDataset

PATH, TITLE = "/worlds", "Worlds"
INTRO = "Look at what models learn from: samples with everything that is true of them, at every level, whole or broken."
COUNT = 24
_MODALITIES = ("image,text", "image,text,touch", "touch,text")
_CORRUPTIONS = ("", "GaussianNoise", "Blur", "Erasing", "SaltAndPepper", "Dropout", "Tint", "Rotation", "Typos", "LetterShuffle")


@dataclass(frozen=True)
class WorldsState(PageState):
    """What the page shows.

    Args:
        world: class of the world.
        settings: its settings, `name:value`, where they are not the usual ones.
        split: which split.
        seed: of the samples.
        start: number of the first sample.
        having: values of factors that samples must have, `factor:value`.
        corruption: class of a corruption; empty for none.
        strength: of it, from 0 to 1.
        sample: number of the sample that is looked at; -1 for none.
    """

    world: str = "CdSprites"
    settings: tuple[str, ...] = ()
    split: str = "train"
    seed: int = 0
    start: int = 0
    having: tuple[str, ...] = ()
    corruption: str = ""
    strength: float = 0.5
    sample: int = -1

    def checked(self) -> Self:
        """See `PageState`."""
        return replace(self, start=max(self.start, 0), seed=max(self.seed, 0), strength=min(max(self.strength, 0.0), 1.0))


State = WorldsState


@cache
def worlds() -> dict[str, type[World]]:
    """The worlds by the name of their class."""
    import molyneux.data as data

    found = {name: getattr(data, name) for name in data.__all__}
    return {
        name: item
        for name, item in found.items()
        if isinstance(item, type) and issubclass(item, data.World) and not inspect.isabstract(item)
    }


@cache
def datasets() -> dict[str, type[SplitDataset]]:
    """The worlds, and the benchmarks whose files are here, by the name of their class."""
    import molyneux.data as data

    found: dict[str, type[SplitDataset]] = dict(worlds())
    for name in data.__all__:
        item = getattr(data, name)
        if isinstance(item, type) and issubclass(item, data.Benchmark) and hasattr(item, "folders"):
            with suppress(MolyneuxError, TypeError):  # files that are not here, or settings that it needs
                if item(folder=None).paths():
                    found[name] = item
    return found


def simple_settings(world: type[SplitDataset]) -> dict[str, tuple[tuple[str, ...], str]]:
    """By name of a setting that is a choice or a level: what can be chosen, and what it is by default."""
    from molyneux.core.config import arguments

    found = {}
    for name, item in arguments(world).items():
        kind = item.kind
        options = next((part for part in get_args(kind) if get_origin(part) is Literal), kind) if get_args(kind) else kind
        if name == "level":
            found[name] = (tuple(map(str, range(1, 6))), str(item.default))
        elif get_origin(options) is Literal and isinstance(item.default, str):
            found[name] = (tuple(map(str, get_args(options))), item.default)
    usual = arguments(world)["modalities"].default if "modalities" in arguments(world) else None
    if isinstance(usual, list | tuple):
        default = ",".join(usual)
        others = [names for names in _MODALITIES if set(names.split(",")) != set(default.split(","))]
        found["modalities"] = ((default, *others), default)
    return found


def made(state: WorldsState) -> SplitDataset:
    """The world of a state.

    Raises:
        ConfigError: no such world, or settings that it does not take.
    """
    known = datasets()
    if state.world not in known:
        raise ConfigError(f"there is no world {state.world!r}; {nearest(state.world, tuple(known))}")
    return known[state.world](**_arguments(known[state.world], unpacked(state.settings)))


def _arguments(world: type[SplitDataset], given: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, (options, default) in simple_settings(world).items():
        value = given.get(name, default)
        if value not in options:
            raise ConfigError(f"{name} of {world.__name__} has no value {value!r}; {nearest(value, options)}")
        if value != default:
            found[name] = int(value) if name == "level" else value.split(",") if name == "modalities" else value
    return found


@dataclass(frozen=True)
class _Samples:
    world: SplitDataset
    numbers: np.ndarray
    batch: Batch


def _samples(state: WorldsState, count: int = COUNT) -> _Samples:
    world = made(state)
    split = chosen(state.split, world.splits, "train")
    numbers = world.numbers_with(unpacked(state.having), split=split, seed=state.seed, count=count, start=state.start)
    if not len(numbers):
        raise ConfigError("none of the 20,000 samples that were looked at has these values: choose others")
    return _Samples(world, numbers, _corrupted(state, world, world.batch(numbers, split=split, seed=state.seed), numbers))


def _corrupted(state: WorldsState, world: SplitDataset, batch: Batch, numbers: np.ndarray) -> Batch:
    if not state.corruption or state.corruption not in _CORRUPTIONS:
        return batch
    import molyneux.data.imperfections as imperfections

    corruption = getattr(imperfections, state.corruption)()
    changed: Batch = corruption.corrupt(batch, world.spec, state.strength, numbers, state.seed)
    return changed


async def build(visit: Visit[WorldsState]) -> None:
    """Build the page."""
    await _Worlds(visit).build()


class _Worlds:
    def __init__(self, visit: Visit[WorldsState]) -> None:
        self.visit = visit

    async def build(self) -> None:
        with ui.element("div").classes("sides"):
            with card("What is shown", classes="controls"):
                self.form = ResultArea("settings")
            with ui.element("div"):
                self.one = ResultArea("the sample that is looked at")
                with card():
                    self.grid = ResultArea("samples")
        await self._world_changed(None)

    async def _world_changed(self, event: events.ValueChangeEventArguments[Any] | None) -> None:
        if event is not None:
            self.visit.change(world=word(event.value), settings=(), having=(), start=0, sample=-1, corruption="")
        state = self.visit.state
        found = await self.visit.compute("world", self.form, lambda _: (datasets(), made(state)), words="making the world")
        if found is None:
            return
        known, world = found
        with self.form.fresh():
            self._select("World", list(known), state.world).on_value_change(self._world_changed)
            for name, (options, default) in simple_settings(known[state.world]).items():
                value = unpacked(state.settings).get(name, default)
                self._select(name, list(options), value).on_value_change(lambda e, name=name: self._setting(name, word(e.value)))
            self._select("split", list(world.splits), chosen(state.split, world.splits)).on_value_change(
                lambda e: self._changed(split=word(e.value), start=0, sample=-1)
            )
            seed = ui.number("seed", value=state.seed, min=0, step=1, format="%d").props("outlined dense debounce=300")
            seed.on_value_change(lambda e: self._changed(seed=int(e.value or 0), sample=-1))
            heading("Only samples with", level=3)
            for factor in world.spec.factors[:10]:
                value = unpacked(state.having).get(factor.name, "")
                box = self._select(factor.name, ["", *factor.values[:60]], value)
                box.on_value_change(lambda e, name=factor.name: self._having(name, word(e.value)))
            heading("Broken by", level=3)
            self._select("corruption", list(_CORRUPTIONS), state.corruption).on_value_change(
                lambda e: self._changed(corruption=word(e.value))
            )
            slider(
                "strength of the corruption",
                low=0,
                high=1,
                step=0.05,
                value=state.strength,
                moved=lambda strength: self._changed(step=False, strength=strength),
            )
        await self._show()

    def _select(self, label: str, options: list[str], value: str) -> ui.select:
        known = value if value in options else options[0]
        return ui.select(options, label=label, value=known).props("outlined dense options-dense")

    async def _setting(self, name: str, value: str) -> None:
        kept = {**unpacked(self.visit.state.settings), name: value}
        default = simple_settings(datasets()[self.visit.state.world])[name][1]
        kept = {key: part for key, part in kept.items() if (key, part) != (name, default)}
        self.visit.change(settings=packed(kept), having=(), start=0, sample=-1)
        await self._world_changed(None)

    async def _having(self, name: str, value: str) -> None:
        await self._changed(having=packed({**unpacked(self.visit.state.having), name: value}), start=0, sample=-1)

    async def _changed(self, *, step: bool = True, **values: Any) -> None:
        if self.visit.change(step=step, **values):
            await self._show()

    async def _show(self) -> None:
        state = self.visit.state
        found = await self.visit.compute("samples", self.grid, lambda _: _samples(state), words="making samples")
        if found is None:
            return
        with self.grid.fresh():
            wide = not any(item.kind == "image" for item in found.world.spec.modalities)
            with ui.element("div").classes("grid wide" if wide else "grid"):
                for row, number in enumerate(found.numbers.tolist()):
                    self._sample(found, row, number)
            with ui.element("div").classes("row"):
                if state.start:
                    button("Earlier", lambda: self._changed(start=max(state.start - COUNT, 0), sample=-1))
                button("More", lambda: self._changed(start=int(found.numbers[-1]) + 1, sample=-1))
            again(*_lines(state, found))
        await self._look()

    def _sample(self, found: _Samples, row: int, number: int) -> None:
        with ui.element("figure").classes("sample"):
            for modality in found.world.spec.modalities:
                about = f"{modality.name} of sample {number}"
                show_view(modality, found.batch.views[modality.name][row], about=about)
                listener(self.visit, found.world)(modality, found.batch.views[modality.name][row], about)
            with ui.element("figcaption"):
                for target in found.world.spec.targets[:1]:
                    value = found.batch.targets[target.name][row]
                    known = target.symbols[int(value)] if target.symbols and value.ndim == 0 else value.tolist()
                    ui.label(f"{target.name}: {known}")
                button(f"Sample {number}", lambda: self._changed(sample=number))

    async def _look(self) -> None:
        """What is true of the sample that is looked at, and what the readers read in it."""
        state = self.visit.state
        if state.sample < 0:
            self.one.fresh()
            return
        found = await self.visit.compute("look", self.one, lambda _: _looked_at(state), words="reading")
        if found is None:
            return
        samples, readings = found
        with self.one.fresh(), card(f"Sample {state.sample}"), ui.element("div").classes("columns"):
            with ui.element("div"):
                for modality in samples.world.spec.modalities:
                    about = f"{modality.name} of sample {state.sample}"
                    show_view(modality, samples.batch.views[modality.name][0], about=about)
                    listener(self.visit, samples.world)(modality, samples.batch.views[modality.name][0], about)
            with ui.element("div"):
                heading("What is true", level=3)
                codes = [] if samples.batch.factors is None else samples.batch.factors[0].tolist()
                for factor, code in zip(samples.world.spec.factors, codes, strict=False):
                    ui.label(f"{factor.name}: {factor.values[code] if code >= 0 else 'none'}")
            with ui.element("div"):
                heading("What readers read", level=3)
                for name, parts in readings.items():
                    for part in parts:
                        ui.label(f"{name}, {part.reader}: {part}")
                if not readings:
                    note("This world has no readers of these views.")
                button("Close", lambda: self._changed(sample=-1))


def _looked_at(state: WorldsState) -> tuple[_Samples, Mapping[str, Any]]:
    """One sample, and what the readers read in it."""
    import numpy as np

    import molyneux.run as runs

    world = made(state)
    split, numbers = chosen(state.split, world.splits, "train"), np.array([state.sample])
    batch = _corrupted(state, world, world.batch(numbers, split=split, seed=state.seed), numbers)
    return _Samples(world, numbers, batch), runs.read_batch(world, batch)[0]


def _lines(state: WorldsState, found: _Samples) -> tuple[str, str]:
    """The lines of Python and the command that give the same samples."""
    given = _arguments(type(found.world), unpacked(state.settings))
    call = f"{state.world}({', '.join(f'{name}={value!r}' for name, value in given.items())})"
    numbers = found.numbers.tolist()
    listed = f"range({numbers[0]}, {numbers[-1] + 1})" if numbers == list(range(numbers[0], numbers[-1] + 1)) else str(numbers)
    lines = [
        "import numpy as np",
        f"from molyneux.data import {state.world}",
        "",
        f"world = {call}",
        f"numbers = np.array({listed})",
        f"batch = world.batch(numbers, split={chosen(state.split, found.world.splits)!r}, seed={state.seed})",
    ]
    if state.corruption:
        lines[1:1] = [f"from molyneux.data.imperfections import {state.corruption}"]
        lines.append(f"batch = {state.corruption}().corrupt(batch, world.spec, {state.strength:g}, numbers, {state.seed})")
    options = " ".join(f"--{name} {','.join(value) if isinstance(value, list) else value}" for name, value in given.items())
    if state.world not in worlds():  # files are copied by no command
        return "\n".join(lines), ""
    name = found.world.name.rpartition("-v")[0]
    command = f"molyneux data {name} {options} --split {state.split} --seed {state.seed} --size {numbers[-1] + 1} --out samples"
    return "\n".join(lines), " ".join(command.split())
