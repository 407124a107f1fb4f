"""Folders to share: a trained run or stored samples with a card, checksums, and everything that is needed to use them.

README.md           the card: what it is, scores, how to load it, licence
export.json         a checksum of every file but the card and what is written later
config.yaml         the resolved settings; paths begin at the folder
model/              config.yaml, spec.json, weights.safetensors, history.csv
measure/            scores.jsonl
judges/             the judges that were named
features/           the networks of features that were named
files/              the user's own data, where they are included
data/               the samples as Parquet and as WebDataset shards with a card, where they are included
*.py                modules with the user's own classes
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from molyneux.core import ConfigError, ConflictError, CorruptFileError, Score, Source, StoreError, store
from molyneux.data import OwnDataset, StoredSource, export_parquet, export_webdataset
from molyneux.data.dataset import SPLITS
from molyneux.data.folders import appearing_folder
from molyneux.run.card import data_card, model_card
from molyneux.run.experiment import Experiment
from molyneux.run.folder import open_experiment, remedy, stored_settings, write_settings
from molyneux.run.steps import read_scores
from molyneux.version import __version__

_RECORD, _CARD = "export.json", "README.md"
_LATER = ("measure", "report", "samples")
"""Sub-folders whose own records have their checksums: they may be written anew."""
_MODEL_FILES = ("config.yaml", "history.csv", "spec.json", "weights.safetensors")


@dataclass(frozen=True)
class ExportSettings:
    """What is exported.

    Args:
        licence: an SPDX identifier such as `CC-BY-4.0` for the card; empty where none is stated.
        include_data: whether samples that come from the user's files are exported too. Generated ones are made again by anybody.
    """

    licence: str = ""
    include_data: bool = False


def export_run(folder: Path, out: Path, settings: ExportSettings | None = None) -> None:
    """Write a folder that holds the trained model of a run with its scores, and that measures it again by itself.

    `molyneux measure OUT` reads nothing outside `out`, except published data sets, which are not copied, and the user's own data
    unless they are included.

    Args:
        folder: of a run that was measured.
        out: where the export appears, whole or not at all.
        settings: what is exported.

    Raises:
        StoreError: it is no folder of a run, or was not measured yet. CorruptFileError: a file of it was altered.
        ConflictError: something stands at `out`. ConfigError: the data lie where they cannot be included from.
    """
    settings = settings or ExportSettings()
    resolved, experiment = stored_settings(folder), open_experiment(folder)
    scores = _checked(folder)
    files = _Files(experiment, resolved, settings)
    sources = _samples(folder, experiment) if settings.include_data else {}
    _refuse_inside(folder, out)
    with appearing_folder(out) as part:
        for name, source in files.copies.items():
            _copy(source, part / name)
        write_settings(part, files.resolved)
        _copy_stages(folder, part, files, scores)
        if sources:
            _write_samples(sources, part / "data", _about(experiment), settings.licence)
        card = model_card(files.resolved, scores, files.notes, licence=settings.licence, details=_details(folder))
        store.write_text(part / _CARD, card)
        _seal(part, "run")


def export_samples(folder: Path, out: Path, settings: ExportSettings | None = None) -> None:
    """Write stored samples as Parquet files and WebDataset shards with a data card.

    Args:
        folder: stored samples in the native format, or a folder with such sub-folders `train`, `validation` and `test`.
        out: where the export appears, whole or not at all.
        settings: what the card says of the licence.

    Raises:
        StoreError: there are no stored samples. CorruptFileError: they were altered. ConflictError: something stands at `out`.
        SpecError: images that PNG cannot hold.
    """
    from molyneux.report import portable  # with what draws; takes a second to import

    settings = settings or ExportSettings()
    sources = _stored(folder)
    origins = [source.origin for source in sources.values() if isinstance(source, StoredSource)]
    name = str(next((origin["dataset"] for origin in origins if "dataset" in origin), "samples"))
    _refuse_inside(folder, out)
    with appearing_folder(out) as part:
        _write_samples(sources, part, {"name": name, "origin": portable(dict(origins[0])) if origins else {}}, settings.licence)
        _seal(part, "samples")


@contextlib.contextmanager
def opened_export(folder: Path) -> Iterator[Path]:
    """Work inside an export, whose paths and modules begin at its folder; its files are checked first.

    The working directory of the process is the export as long as the context lasts. Any other folder is given back as it is.

    Raises:
        CorruptFileError: a file was truncated, altered or removed since the export.
    """
    if not store.is_file(folder / _RECORD):
        yield folder
        return
    verify_export(folder)
    here = folder.resolve()
    sys.path.append(str(here))
    try:
        with contextlib.chdir(here):
            yield here
    finally:
        sys.path.remove(str(here))


def verify_export(folder: Path) -> None:
    """Compare the files of an export with their checksums.

    Raises:
        StoreError: it is no export. CorruptFileError: names the file that was truncated, altered or removed.
    """
    record = store.read_json(folder / _RECORD)
    advice = "get the export again, or export the run again"
    if not isinstance(record, dict) or record.get("checksum") != store.fingerprint({**record, "checksum": ""}):
        raise CorruptFileError(f"{folder / _RECORD} was truncated or altered since it was written: {advice}")
    for name, expected in record["files"].items():
        path = folder / name
        if not store.is_file(path):
            raise CorruptFileError(f"{path} is missing: {advice}")
        if store.checksum(path) != expected:
            raise CorruptFileError(f"{path} was truncated or altered since it was written: {advice}")


def _seal(part: Path, kind: str) -> None:
    """Write `export.json`."""
    names = {path.relative_to(part).as_posix(): path for path in sorted(part.rglob("*")) if path.is_file()}
    kept = {
        name: path
        for name, path in names.items()
        if name.partition("/")[0] not in _LATER and not name.startswith(".") and name != _CARD
    }
    record = {"kind": kind, "package": __version__, "files": {n: store.checksum(p) for n, p in kept.items()}, "checksum": ""}
    store.write_json(part / _RECORD, {**record, "checksum": store.fingerprint(record)})


def _checked(folder: Path) -> list[Score]:
    """The scores of a run whose files are as they were written."""
    for stage in ("model", "measure"):
        if not store.is_file(folder / stage / "stage.json"):
            raise StoreError(
                f"expected a run that was measured in {folder}, got one without: run molyneux measure {folder} first"
            )
    store.verify(folder / "model", _MODEL_FILES, remedy=remedy(folder / "model"))
    store.verify(folder / "measure", remedy=remedy(folder / "measure"))
    return read_scores(folder)


class _Files:
    """What an export holds beside the stages of the run, and the settings with paths that begin at its folder.

    Attributes:
        copies: by name in the export, what is copied there.
        resolved: the settings.
        notes: what the export does not hold.
        version: name of the data set; None for stored samples alone.
        shown: whether samples may be shown: generated ones, and those that are included.
    """

    def __init__(self, experiment: Experiment, resolved: Mapping[str, Any], settings: ExportSettings) -> None:
        self.copies, self.notes = dict[str, Path](), list[str]()
        self.resolved: dict[str, Any] = {**resolved, "data": dict(resolved["data"]), "measure": dict(resolved["measure"])}
        data = experiment.data
        self.version = None if data.dataset is None else data.dataset.name
        self.shown = settings.include_data or (data.world is not None and data.stored is None)
        for modality, path in experiment.measure.judges.items():
            self.copies[f"judges/{store.file_name(modality)}.safetensors"] = path
        names = {modality: f"judges/{store.file_name(modality)}.safetensors" for modality in experiment.measure.judges}
        self.resolved["measure"]["judges"] = names
        networks = {name: f"features/{store.file_name(name)}.safetensors" for name in experiment.measure.features}
        self.copies |= {networks[name]: path for name, path in experiment.measure.features.items()}
        self.resolved["measure"]["features"] = networks
        if data.own is not None:
            self._own(data.own, settings)
        elif data.stored is not None:
            self._place("folder", "files", data.stored, settings)
            if settings.include_data:
                self.copies |= {f"files/{split}": data.stored / split for split in SPLITS}
        elif data.benchmark is not None:
            self._benchmark()
        self._modules()

    def _own(self, data: OwnDataset, settings: ExportSettings) -> None:
        """The files of the user's own data, below `files/` as they lie below their folder."""
        section = next(name for name in ("arrays", "table", "folder") if self.resolved["data"].get(name) is not None)
        base = data.path if data.path.is_dir() else data.path.parent
        named = "files" if data.path.is_dir() else f"files/{data.path.name}"
        self.resolved["data"][section] = dict(self.resolved["data"][section])
        self._place(section, named, data.path, settings)
        root = getattr(data, "root", None)
        if root is not None:
            self.resolved["data"][section]["root"] = f"files/{_below(Path(root), base)}"
        if settings.include_data:
            self.copies |= {f"files/{_below(path, base)}": path for path in data.files()}

    def _place(self, section: str, named: str, path: Path, settings: ExportSettings) -> None:
        place = self.resolved["data"][section]
        self.resolved["data"][section] = {**place, "path": named} if isinstance(place, dict) else named
        if not settings.include_data:
            self.notes.append(f"The data are not included. Put `{path.name}` at `{named}` to measure the model again.")

    def _benchmark(self) -> None:
        form = dict(self.resolved["data"]["benchmark"])
        form["init_args"] = {**form["init_args"], "folder": None}
        self.resolved["data"]["benchmark"] = form
        self.notes.append("The data set is not included: put its files into the folder that `MOLYNEUX_DATA` names.")

    def _modules(self) -> None:
        """The modules of the user's own classes, where each is one file; a package has to be installed."""
        for module in sorted({path.partition(".")[0] for path in _class_paths(self.resolved)} - {"molyneux"}):
            found = importlib.util.find_spec(module)
            origin = Path(found.origin) if found is not None and found.origin else None
            if origin is not None and origin.name != "__init__.py" and "site-packages" not in origin.parts:
                self.copies[f"{module}.py"] = origin
            else:
                self.notes.append(f"It needs the package `{module}`, which is not included.")


def _below(path: Path, base: Path) -> str:
    """A path from a folder on."""
    try:
        return path.resolve().relative_to(base.resolve()).as_posix()
    except ValueError:
        raise ConfigError(f"expected all files below {base} to include them, got {path}: move it there") from None


def _class_paths(settings: Any) -> Iterator[str]:
    """Every dotted path of a class in resolved settings."""
    if isinstance(settings, Mapping):
        if isinstance(settings.get("class_path"), str):
            yield settings["class_path"]
        for value in settings.values():
            yield from _class_paths(value)
    elif isinstance(settings, list):
        for value in settings:
            yield from _class_paths(value)


def _copy(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copyfile(source, target)
    except FileNotFoundError as error:
        raise StoreError(f"expected the file {error.filename}, which is not there: restore it from a copy") from error
    for path in [target] if target.is_file() else target.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())


def _copy_stages(folder: Path, part: Path, files: _Files, scores: list[Score]) -> None:
    """The stages of a run under the settings of the export, which their keys are made of."""
    from molyneux.report import portable  # with what draws; takes a second to import

    resolved, shown = files.resolved, files.shown
    made = {name: store.made_by(folder / name) for name in ("samples", "model", "measure")}
    version = made["samples"].get("version", files.version)
    samples = store.Stage(part / "samples", {"seed": resolved["seed"], "data": resolved["data"], "version": version})
    if made["samples"]:
        _stage(folder, samples, ["spec.json", *(["contact_sheet.png"] if shown else [])])
    views = [path.name for path in sorted((folder / "model").glob("train_views.*.npy"))]
    model = store.Stage(part / "model", {**made["model"], "samples": samples.key})
    _stage(folder, model, [*_MODEL_FILES, *views])
    records = [{**score.to_json(), "origin": portable(score.origin)} for score in scores]
    store.write_lines(part / "measure" / "scores.jsonl", records)
    kept = [path.relative_to(folder / "measure").as_posix() for path in (folder / "measure").rglob("*") if path.is_file()]
    exhibits = sorted(name for name in kept if not name.startswith(".") and name not in ("scores.jsonl", "stage.json"))
    measure = store.Stage(part / "measure", {**made["measure"], "measure": resolved["measure"], "model": model.key})
    _stage(folder, measure, exhibits if shown else [])
    if store.is_file(folder / "machine.json"):
        _copy(folder / "machine.json", part / "machine.json")


def _stage(folder: Path, stage: store.Stage, files: Sequence[str]) -> None:
    """Copy files of a stage of a run and finish its copy, with the same details."""
    name = stage.folder.name
    for file in files:
        if store.is_file(folder / name / file):
            _copy(folder / name / file, stage.folder / file)
    stage.finish(store.read_stage(folder / name)["details"])


def _samples(folder: Path, experiment: Experiment) -> dict[str, Source]:
    """The samples of a run by split: kept ones, stored ones, or those of the user's files."""
    kept = folder / "samples"
    if any((kept / split).is_dir() for split in SPLITS):
        return _stored(kept)
    if experiment.data.stored is not None or experiment.data.own is not None:
        return {split: experiment.samples.whole(split) for split in SPLITS}
    return {}


def _stored(folder: Path) -> dict[str, Source]:
    """Stored samples by split."""
    if store.is_file(folder / "spec.json") and store.is_file(folder / "stage.json") and not (folder / "recipe.json").exists():
        source = StoredSource(folder)
        return {str(source.origin.get("split", "samples")): source}
    found = {split: StoredSource(folder / split) for split in SPLITS if (folder / split).is_dir()}
    if not found:
        raise StoreError(f"expected a run or stored samples in {folder}, got neither: name what molyneux run or data wrote")
    return dict(found)


def _write_samples(sources: Mapping[str, Source], folder: Path, about: Mapping[str, Any], licence: str) -> None:
    """Parquet files, WebDataset shards, and the card of some samples."""
    for split, source in sources.items():
        export_parquet(source, folder / "parquet" / f"{split}.parquet")
        export_webdataset(source, folder / "webdataset" / split, prefix=split)
    sizes = {split: len(source) for split, source in sources.items()}
    card = data_card(next(iter(sources.values())).spec, sizes, about, licence=licence)
    store.write_text(folder / _CARD, card)


def _about(experiment: Experiment) -> dict[str, Any]:
    """Name and origin of the samples, for their card."""
    from molyneux.report import portable  # with what draws; takes a second to import

    dataset = experiment.data.dataset
    if dataset is None:
        return {"name": "samples", "origin": {}}
    return {"name": dataset.name, "origin": portable(dict(dataset.settings)), "source": dataset.origin}


def _details(folder: Path) -> dict[str, Any]:
    """What the record of a training says."""
    return dict(store.read_stage(folder / "model")["details"])


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run."""
    return store.is_file(folder / "config.yaml")


def _refuse_inside(folder: Path, out: Path) -> None:
    """Raise ConflictError for an export into what is exported."""
    if out.resolve().is_relative_to(folder.resolve()):
        raise ConflictError(f"expected a place outside {folder} for the export, got {out}: choose another one with --out")
