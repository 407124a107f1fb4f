"""What the studio may open: the models that come with the package, and the runs in the folders that were named at its start."""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import molyneux.run as running
from molyneux.core import ConfigError, MolyneuxError, files, nearest, store

if TYPE_CHECKING:
    from molyneux.core import Batch
    from molyneux.run import ModelFindings, TrainedModel

T = TypeVar("T")
_MOST_RUNS, _DEEPEST = 5_000, 6
"""Runs that are found in the folders, and how deep they may lie."""


@dataclass(frozen=True)
class RunPlace:
    """The folder of a run that was found.

    Args:
        name: by which pages and addresses know it: the folder that was named at the start, then the path in it.
        folder: where it is.
    """

    name: str
    folder: Path

    @property
    def trained(self) -> bool:
        """Whether it has a trained model."""
        return store.is_file(self.folder / "model" / "stage.json")


class Library:
    """Models and runs by name; nothing else is opened, whatever an address says.

    Args:
        folders: are looked through for runs; links in them are not followed.
        results: folders of records of studies, or files of them.
        keep: models that stay open; the one that was not used for longest goes.
        trust: see `open_model`.

    Raises:
        ConfigError: a folder of runs or of records that is not there.
    """

    def __init__(self, folders: Sequence[Path] = (), *, results: Sequence[Path] = (), keep: int = 4, trust: bool = False) -> None:
        self.folders = {_label(folder, number, folders): folder.resolve() for number, folder in enumerate(folders)}
        for folder in folders:
            if not store.is_folder(folder):
                raise ConfigError(f"expected a folder with runs, got {folder}, which is none: name one made by molyneux run")
        for place in results:
            if not place.exists():
                raise ConfigError(f"expected a folder of records of studies, got {place}, which is not there: correct --results")
        self.results = tuple(str(place) for place in results)
        self._keep, self._trust = keep, trust
        self._records = dict[str, Any]()
        self._open: OrderedDict[tuple[str, float], TrainedModel] = OrderedDict()
        self._made: OrderedDict[tuple[str, str], tuple[TrainedModel, Any]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def shipped(self) -> tuple[str, ...]:
        """Names of the models that come with the package."""
        return running.shipped_names()

    def runs(self) -> tuple[RunPlace, ...]:
        """The runs in the folders, as they are now, by name."""
        found = []
        for label, folder in self.folders.items():
            for place in _runs_in(folder):
                inside = place.relative_to(folder).as_posix()
                found.append(RunPlace(label if inside == "." else f"{label}/{inside}", place))
                if len(found) == _MOST_RUNS:
                    return tuple(found)
        return tuple(found)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of everything that can be opened."""
        return (*self.shipped, *(place.name for place in self.runs() if place.trained))

    def trained_on(self, world: str) -> tuple[str, ...]:
        """Names of the models whose settings name a class of world, such as `ShapeWorld`; no model is opened."""
        pattern = re.compile(rf"class_path: *(?:[\w.]+\.)?{re.escape(world)}\b")
        places = [(name, self.folder(name)) for name in self.shipped]
        places += [(place.name, place.folder) for place in self.runs() if place.trained]
        found = []
        for name, folder in places:
            with suppress(MolyneuxError):  # settings that no plain file holds
                if pattern.search(files.read_plain(folder / "config.yaml").decode("utf-8", "replace")):
                    found.append(name)
        return tuple(found)

    def run(self, name: str) -> RunPlace:
        """The run of a name.

        Raises:
            ConfigError: there is none.
        """
        found = {place.name: place for place in self.runs()}
        if name not in found:
            raise ConfigError(f"there is no run {name!r} in the folders of the studio; {nearest(name, (*self.shipped, *found))}")
        return found[name]

    def folder(self, name: str) -> Path:
        """The folder of a model or run of a name; errors as `run`."""
        return running.shipped_folder(name) or self.run(name).folder

    def source(self, name: str) -> str:
        """What `open_model` is given for a name: the same name, or the path of a run, as a person would write it."""
        return name if name in self.shipped else os.path.relpath(self.run(name).folder)

    def open(self, name: str) -> TrainedModel:
        """The trained model of a name; it stays open for the next one who asks.

        Raises:
            ConfigError: there is no such model. What `open_model` raises.
        """
        if name in self.shipped:
            place: str | Path = name
            version = 0.0
        else:
            place = self.run(name).folder
            record = place / "model" / "stage.json"
            version = record.stat().st_mtime if store.is_file(record) else 0.0
        with self._lock:
            key = (name, version)
            if key in self._open:
                self._open.move_to_end(key)
                return self._open[key]
            model = running.open_model(place, name=name, trust=self._trust)
            self._open[key] = model
            while len(self._open) > self._keep:
                self._open.popitem(last=False)
            return model

    def findings(self, model: TrainedModel) -> ModelFindings:
        """What a model does and cannot do, by its scores, as its card says."""
        return self.once(model, "findings", lambda: running.model_findings(self.folder(model.name), model.spec))

    def samples(self, model: TrainedModel, count: int) -> Batch:
        """The first test samples of the data that a model was trained on, with all its modalities.

        Raises:
            ConfigError: the data are not here, or are others than those of the model, as altered settings may name them.
        """
        import numpy as np

        world = model.dataset()
        if world is None:
            raise ConfigError(
                f"the data that {model.name} was trained on are not here: put their files into the folder MOLYNEUX_DATA"
            )
        shapes = {item.name: item.shape for item in world.spec.modalities}
        for item in model.spec.modalities:
            if shapes.get(item.name) != item.shape:
                got = shapes.get(item.name, "none")
                raise ConfigError(
                    f"expected {item.name} of shape {item.shape} as {model.name} learned it, got {got}: altered data"
                )
        size = world.splits["test"]
        count = count if size is None else min(size, count)
        return world.source("test", count, seed=0).batch(np.arange(count))

    def of_records(self, what: str, make: Callable[[Sequence[str]], T]) -> T:
        """What is made of the records, such as the leaderboard, once."""
        with self._lock:
            if what not in self._records:
                self._records[what] = make(self.results)
            return cast(T, self._records[what])

    def once(self, model: TrainedModel, what: str, make: Callable[[], T]) -> T:
        """What is measured of a model once and kept for the next one who asks, such as a survey of its codes."""
        key = (model.name, what)
        with self._lock:
            kept = self._made.get(key)
            if kept is not None:
                self._made.move_to_end(key)
        if kept is not None and kept[0] is model:
            return cast(T, kept[1])
        made = make()
        with self._lock:
            self._made[key] = (model, made)
            while len(self._made) > 8 * self._keep:
                self._made.popitem(last=False)
        return made


def _label(folder: Path, number: int, folders: Sequence[Path]) -> str:
    """The name of a folder: its last part, with a number where several have the same."""
    name = folder.resolve().name or "runs"
    same = [other for other in folders if (other.resolve().name or "runs") == name]
    return name if len(same) == 1 and name not in running.shipped_names() else f"{name}-{number + 1}"


def _runs_in(folder: Path, depth: int = 0) -> Iterator[Path]:
    """The folders of runs in a folder, or itself, in the order of their names; links are not followed."""
    if store.is_file(folder / "config.yaml"):
        yield folder
        return
    if depth == _DEEPEST:
        return
    try:
        with os.scandir(folder) as entries:
            inner = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name[0] != ".")
    except OSError:
        return
    for name in inner:
        yield from _runs_in(files.inside(folder, name), depth + 1)
