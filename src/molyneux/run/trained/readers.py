"""What readers read in views: exact ones of a world, and judges; loaded when something is to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from molyneux.core import (
    Batch,
    ConfigError,
    ConvertedViews,
    DataError,
    Dataset,
    Modality,
    MolyneuxError,
    Reader,
    Spec,
    Understands,
    views_of,
)
from molyneux.core.reader import LearnedReader
from molyneux.learn.judges import Judge, shipped_file


def model_readers(spec: Spec, world: str, dataset: Dataset | None, judges: Mapping[str, Path]) -> dict[str, tuple[Reader, ...]]:
    """By modality, its exact reader and its judge, in this order; modalities without readers are left out.

    Args:
        spec: of the model.
        world: name and version of the data set, by which judges are found.
        dataset: has exact readers; None where it cannot be made here, such as a benchmark whose files are not there.
        judges: files of judges by modality, in place of those that come with the package.
    """
    exact: Mapping[str, Reader] = {}
    with suppress(MolyneuxError):  # of files that are not there
        exact = {} if dataset is None else dataset.readers()
    found = dict[str, tuple[Reader, ...]]()
    for name in spec.names:
        path = judges.get(name) or shipped_file(world, name)
        readers = [exact[name]] if name in exact and name not in judges else []
        if path.is_file():
            judge = Judge.load(path)
            known = {factor.name for factor in spec.factors}
            shown = [factor.name for factor in judge.record.factors if factor.name in known]
            with suppress(MolyneuxError):  # of another size of pictures, or other values
                readers.append(judge.reader(spec, name, shown, abstain=judge.abstains))
        if readers:
            found[name] = tuple(readers)
    return found


@dataclass(frozen=True)
class ViewReading:
    """What one reader reads in one view.

    Args:
        reader: its name.
        values: by factor, the value; None where it reads none.
        reason: why something is not read; empty where all is.
        exact: whether it is the exact reader of the world, and not a judge, which has learned to read.
    """

    reader: str
    values: Mapping[str, str | None]
    reason: str = ""
    exact: bool = False

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"reader": self.reader, "exact": self.exact, "values": dict(self.values), "reason": self.reason}

    def __str__(self) -> str:
        read = ", ".join(f"{name} {value}" for name, value in self.values.items() if value is not None)
        missing = [name for name, value in self.values.items() if value is None]
        told = self.reason in ("", f"cannot read {' or '.join(missing)}")  # the reason says no more than what is not read
        left = f"{', '.join(missing)} not read{'' if told else f' ({self.reason})'}" if missing else ""
        return "; ".join(part for part in (read, left) if part)


Readings = Mapping[str, tuple[ViewReading, ...]]
"""By modality, what each of its readers reads in the view of one sample."""


def first_readers(readers: Mapping[str, tuple[Reader, ...]]) -> dict[str, tuple[Reader, ...]]:
    """Of each modality one reader: the exact one of the world where there is one, the judge elsewhere."""
    return {name: some[:1] for name, some in readers.items()}


def described(reader: Reader) -> str:
    """Which reader it is: its name, whether it is exact, and of a judge the least accuracy of its factors."""
    name = type(reader).__name__
    if not isinstance(reader, LearnedReader):
        return f"{name}, the exact reader of the world"
    least = min(reader.accuracy.values(), default=None)
    right = "" if least is None else f", right on at least {100 * least:.1f} % of true views"
    return f"{name}, which has learned to read{right}"


def read_views(readers: Mapping[str, Sequence[Reader]], spec: Spec, views: Mapping[str, Tensor]) -> list[Readings]:
    """What readers read in views (N, *shape), sample by sample.

    Args:
        readers: by modality.
        spec: has the factors that they read.
        views: by modality, in stored form.
    """
    size = len(next(iter(views.values()))) if views else 0
    found: list[dict[str, list[ViewReading]]] = [{} for _ in range(size)]
    for name, view in views.items():
        for reader in readers.get(name, ()):
            reading, exact = reader.read(view), not isinstance(reader, LearnedReader)
            codes = reading.codes.tolist()
            for row, sample in enumerate(found):
                values = {
                    factor: spec.factor(factor).values[code] if code >= 0 else None
                    for factor, code in zip(reading.factors, codes[row], strict=True)
                }
                sample.setdefault(name, []).append(
                    ViewReading(type(reader).__name__, values, reading.reasons.get(row, ""), exact)
                )
    return [{name: tuple(parts) for name, parts in sample.items()} for sample in found]


def read_batch(dataset: Dataset, batch: Batch) -> list[Readings]:
    """What the readers of a world read in the views of samples, sample by sample.

    Args:
        dataset: a world.
        batch: samples of it.
    """
    return read_views(model_readers(dataset.spec, dataset.name, dataset, {}), dataset.spec, batch.views)


@dataclass(frozen=True)
class ReadValue:
    """What the readers of a world read in one picture, sound or caption.

    Args:
        modality: what it was taken for.
        readings: of each reader.
        notes: what was converted.
    """

    modality: str
    readings: tuple[ViewReading, ...]
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """One line for each reader, and for each conversion."""
        read = (f"{part.reader} ({'exact' if part.exact else 'learned'}): {part}" for part in self.readings)
        return [*read, *(f"Note: {note}" for note in self.notes)]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"modality": self.modality, "readings": [part.to_json() for part in self.readings], "notes": list(self.notes)}


_SUFFIXES = {
    ".bmp": "image",
    ".gif": "image",
    ".jpeg": "image",
    ".jpg": "image",
    ".png": "image",
    ".webp": "image",
    ".wav": "audio",
}


def read_value(dataset: Dataset, value: Any, *, modality: str = "") -> ReadValue:
    """What the readers of a world read in a picture, a sound or a caption, as people have them.

    Args:
        dataset: a world.
        value: see `core.views_of`; a string is the path of a file where it ends as one of a picture or a sound does, else a text.
        modality: what it is a view of; by default the only one of the kind that fits.

    Raises:
        ConfigError: no such modality, or none or several that fit, or one without a reader. DataError: a value that is no view.
    """
    spec = dataset.spec
    found = spec.modality(modality) if modality else _fitting(spec, value)
    readers = model_readers(spec, dataset.name, dataset, {}).get(found.name, ())
    if not readers and not (isinstance(dataset, Understands) and found.kind == "text"):
        raise ConfigError(f"{dataset.name} has no reader of {found.name}: train a judge with molyneux judge")
    text, notes, spelt = value, list[str](), dict[str, ConvertedViews]()
    if isinstance(dataset, Understands) and found.kind == "text" and isinstance(value, str):
        said = dataset.understand(value)
        notes += [said.explained()] if not said.consistent else []
        if not said.consistent and not readers:  # of a world of sentences, which reads nothing else
            raise DataError(said.explained())
        if said.complete:
            text = said.caption(np.random.default_rng(0)).text
            spelt = dict(dataset.views_of_caption(text))
            notes += [f"{value!r} is read as {text!r}"] if text != value and readers else []
            notes += said.remarks
        elif said.consistent and said.values:
            named = ", ".join(f"{name} {part}" for name, part in said.values.items())
            notes.append(f"{value!r} names {named}, and leaves {', '.join(said.open)} open")
    try:
        made = spelt.get(found.name) or views_of(found, text)
    except DataError as error:
        raise DataError("; ".join([*notes, str(error)])) from error
    readings = read_views({found.name: readers}, spec, {found.name: made.view})[0].get(found.name, ())
    if not readings and spelt:
        readings = (ViewReading("grammar of the world", {"caption": text}, exact=True),)
    return ReadValue(found.name, readings, (*notes, *made.notes))


def _fitting(spec: Spec, value: Any) -> Modality:
    kind = _SUFFIXES.get(Path(value).suffix.lower(), "text") if isinstance(value, str) else "image"
    fitting = [item for item in spec.modalities if item.kind == kind]
    if len(fitting) == 1:
        return fitting[0]
    raise ConfigError(f"expected the modality of {str(value)[:60]!r}, one of {', '.join(spec.names)}: name it with modality")
