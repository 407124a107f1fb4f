"""Folders to share: a trained run or stored samples with a card, checksums, and everything that is needed to use them.

README.md           the card: what it is, scores, how to load it, licence
export.json         a checksum of every file but the card and what is written later
config.yaml         the resolved settings; paths begin at the folder
model/, measure/    config.yaml, spec.json, weights.safetensors, history.csv; scores.jsonl
judges/, features/  the judges and the networks of features that were named
files/              the user's own data, where they are included
data/               the samples as Parquet and as WebDataset shards with a card, where they are included
*.py                modules with the user's own classes
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Literal

from molyneux.core import ConfigError, ConflictError, History, Score, Source, StoreError, files, store
from molyneux.core.chain import recorded_version, require_one_run
from molyneux.core.config import build, class_paths, is_foreign, package_alone
from molyneux.data import OwnDataset, StoredSource, export_parquet, export_webdataset
from molyneux.data.dataset import SPLITS
from molyneux.data.folders import appearing_folder
from molyneux.learn.files import load_spec, load_tensors, narrowed, save_tensors
from molyneux.learn.judges import file_digest
from molyneux.run.run.report import read_scores
from molyneux.run.run.same_samples import require_same_samples
from molyneux.run.run.samples import Samples
from molyneux.run.run.sections import DataSettings
from molyneux.run.run.stored import (
    RUN_FOLDER,
    given_folder,
    given_path,
    remedy,
    require_trained_here,
    stored_settings,
    write_settings,
)
from molyneux.run.sharing.card import data_card, model_card
from molyneux.run.sharing.whole import CARD, seal

_MODEL_FILES = ("config.yaml", "history.csv", "spec.json", "weights.safetensors")


@dataclass(frozen=True)
class ExportSettings:
    """What is exported.

    Args:
        licence: an SPDX identifier such as `CC-BY-4.0` for the card; empty where none is stated.
        include_data: whether samples that come from the user's files are exported too. Generated ones are made again by anybody.
        bits: of the matrices of weights, 32, 16 or 8; the scores are not measured again.
        about: what the model is, in a sentence for the card; empty where nothing is said.
        exhibits: whether the pictures of the report are exported too, where samples may be shown.
    """

    licence: str = ""
    include_data: bool = False
    bits: Literal[8, 16, 32] = 32
    about: str = ""
    exhibits: bool = True


def export_run(folder: Path | str, out: Path | str, settings: ExportSettings | None = None) -> None:
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
    out, folder = given_path(out, "a folder to write"), given_folder(folder, RUN_FOLDER)
    settings = settings or ExportSettings()
    require_trained_here(folder)
    resolved = stored_settings(folder)
    scores = _checked(folder, resolved)
    data = _data(resolved)
    copied = _Files(data, resolved, settings)
    _require_recorded(folder, copied)
    sources = _samples(folder, data, resolved["seed"]) if settings.include_data else {}
    _refuse_inside(folder, out)
    with appearing_folder(out) as part:
        for name, source in copied.copies.items():
            _copy(source, part / name)
        write_settings(part, copied.resolved)
        _copy_stages(folder, part, copied, scores, bits=settings.bits)
        if sources:
            _write_samples(sources, part / "data", _about(data), settings.licence)
        card = model_card(
            copied.resolved,
            scores,
            copied.notes,
            licence=settings.licence,
            details={**_details(folder), "bits": settings.bits},
            spec=load_spec(folder / "model"),
            name=out.name,
            about=settings.about,
        )
        store.write_text(part / CARD, card)
        seal(part, "run")


def export_samples(folder: Path | str, out: Path | str, settings: ExportSettings | None = None) -> None:
    """Write stored samples as Parquet files and WebDataset shards with a data card.

    Args:
        folder: stored samples in the native format, or a folder with such sub-folders `train`, `validation` and `test`.
        out: where the export appears, whole or not at all.
        settings: what the card says of the licence.

    Raises:
        StoreError: there are no stored samples. CorruptFileError: they were altered. ConflictError: something stands at `out`.
        SpecError: images that PNG cannot hold.
    """
    out, folder = given_path(out, "a folder to write"), given_folder(folder, "a folder of stored samples")
    from molyneux.report import portable  # with what draws; takes a second to import

    settings = settings or ExportSettings()
    sources = _stored(folder)
    origins = [source.origin for source in sources.values() if isinstance(source, StoredSource)]
    name = str(next((origin["dataset"] for origin in origins if "dataset" in origin), "samples"))
    _refuse_inside(folder, out)
    with appearing_folder(out) as part:
        _write_samples(sources, part, {"name": name, "origin": portable(dict(origins[0])) if origins else {}}, settings.licence)
        seal(part, "samples")


def _details(folder: Path) -> dict[str, Any]:
    """What is recorded of the training, with its seconds where they are known."""
    path = files.inside(folder, "model/history.csv")
    seconds = History.read_csv(path).columns().get("seconds", ()) if store.is_file(path) else ()
    details = dict(store.read_stage(folder / "model")["details"])
    return {**details, **({"seconds": seconds[-1]} if seconds else {})}


def _checked(folder: Path, resolved: Mapping[str, Any]) -> list[Score]:
    """The scores of a run whose files are as they were written, and of this run."""
    for stage in ("model", "measure"):
        if not store.is_file(folder / stage / "stage.json"):
            raise StoreError(
                f"expected a run that was measured in {folder}, got one without: run molyneux measure {folder} first"
            )
    require_one_run(folder, resolved)
    store.verify(folder / "model", _MODEL_FILES, remedy=remedy(folder / "model"))
    store.verify(folder / "measure", remedy=remedy(folder / "measure"))
    return read_scores(folder)


def _data(resolved: Mapping[str, Any]) -> DataSettings | None:
    """The section `data` of a run without classes of the user's own, which are not imported; None where nothing else is left."""
    kept = {name: value for name, value in resolved["data"].items() if not any(map(is_foreign, class_paths(value)))}
    if all(kept.get(name) is None for name in ("benchmark", "arrays", "table", "world", "folder")):
        return None
    with package_alone():
        data: DataSettings = build(DataSettings, kept, "data").value
    return data


def _require_recorded(folder: Path, copied: _Files) -> None:
    """Refuse judges and networks that are not those that the run was measured with: only what it used is copied."""
    made_by = store.made_by(folder / "measure")
    for kind, paths in (("judges", copied.judges), ("features", copied.features)):
        recorded = made_by.get(kind)
        for modality, path in paths.items():
            if isinstance(recorded, Mapping) and recorded.get(modality) == file_digest(path):
                continue
            raise StoreError(
                f"expected the file that {folder} was measured with at measure.{kind}.{modality}, got {path}, which is another: "
                "restore it from a copy, or measure the run again"
            )


class _Files:
    """What an export holds beside the stages of the run, and the settings with paths that begin at its folder.

    Attributes:
        copies: by name in the export, what is copied there.
        resolved: the settings.
        notes: what the export does not hold.
        version: name of the data set; None for stored samples alone.
        shown: whether samples may be shown: generated ones, and those that are included.
        judges: files of judges by modality.
        features: files of networks of features by modality.
    """

    def __init__(self, data: DataSettings | None, resolved: Mapping[str, Any], settings: ExportSettings) -> None:
        self.copies, self.notes = dict[str, Path](), list[str]()
        self.resolved: dict[str, Any] = {**resolved, "data": dict(resolved["data"]), "measure": dict(resolved["measure"])}
        self.version = None if data is None or data.dataset is None else data.dataset.name
        generated = resolved["data"].get("world") is not None and resolved["data"].get("folder") is None
        self.shown = settings.exhibits and (settings.include_data or generated)
        self.judges, self.features = self._measured_with("judges"), self._measured_with("features")
        if data is None:
            pass
        elif data.own is not None:
            self._own(data.own, settings)
        elif data.stored is not None:
            self._place("folder", "files", data.stored, settings)
            if settings.include_data:
                self.copies |= {f"files/{split}": data.stored / split for split in SPLITS}
        elif data.benchmark is not None:
            self._benchmark()
        self._modules()

    def _measured_with(self, kind: str) -> dict[str, Path]:
        """The files of judges or networks by modality; they are copied under names of their own."""
        paths: dict[str, Path] = build(dict[str, Path], self.resolved["measure"].get(kind) or {}, f"measure.{kind}").value
        names = {modality: f"{kind}/{store.file_name(modality)}.safetensors" for modality in paths}
        self.copies |= {names[modality]: path for modality, path in paths.items()}
        self.resolved["measure"][kind] = names
        return paths

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
        foreign = {path.partition(".")[0] for path in class_paths(self.resolved)} - {"molyneux", *sys.stdlib_module_names}
        for module in sorted(foreign):
            found = PathFinder.find_spec(module, [*sys.path, os.curdir])  # finds it and imports nothing
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


def _copy(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            for path in files.files_below(source):
                _copy(path, target / path.relative_to(source))
            return
        with files.open_plain(source) as content, target.open("xb") as stream:
            shutil.copyfileobj(content, stream, store.BLOCK)
            stream.flush()
            os.fsync(stream.fileno())
    except FileNotFoundError as error:
        raise StoreError(f"expected the file {error.filename}, which is not there: restore it from a copy") from error


def _copy_stages(folder: Path, part: Path, copied: _Files, scores: list[Score], *, bits: int) -> None:
    """The stages of a run under the settings of the export, which their keys are made of."""
    from molyneux.report import portable  # with what draws; takes a second to import

    resolved, shown = copied.resolved, copied.shown
    made = {name: store.made_by(files.inside(folder, name)) for name in ("samples", "model", "measure")}
    version = made["samples"].get("version", copied.version or recorded_version(folder) or None)
    samples = store.StageFolder(part / "samples", {"seed": resolved["seed"], "data": resolved["data"], "version": version})
    if made["samples"]:
        _stage(folder, samples, ["spec.json", *(["contact_sheet.png"] if shown else [])])
    views = [name for name in store.read_stage(folder / "model")["files"] if name.startswith("train_views.")]
    model = store.StageFolder(part / "model", {**made["model"], "samples": samples.key})
    if bits < 32:
        tensors, metadata = load_tensors(files.inside(folder, "model/weights.safetensors"))
        save_tensors(model.folder / "weights.safetensors", narrowed(tensors, bits), metadata)
    _stage(folder, model, [name for name in (*_MODEL_FILES, *views) if bits == 32 or name != "weights.safetensors"])
    records = [{**score.to_json(), "origin": portable(score.origin)} for score in scores]
    store.write_lines(part / "measure" / "scores.jsonl", records)
    exhibits = sorted(name for name in store.read_stage(folder / "measure")["files"] if name != "scores.jsonl")
    measure = store.StageFolder(part / "measure", {**made["measure"], "measure": resolved["measure"], "model": model.key})
    _stage(folder, measure, exhibits if shown else [])
    if store.is_file(machine := files.inside(folder, "machine.json")):
        _copy(machine, part / "machine.json")


def _stage(folder: Path, stage: store.StageFolder, names: Sequence[str]) -> None:
    """Copy files of a stage of a run and finish its copy, with the same details."""
    name = stage.folder.name
    for file in names:
        if store.is_file(source := files.inside(folder, f"{name}/{file}")):
            _copy(source, stage.folder / file)
    stage.finish(store.read_stage(folder / name)["details"])


def _samples(folder: Path, data: DataSettings | None, seed: int) -> dict[str, Source]:
    """The samples of a run by split: kept ones, stored ones, or those of the user's files."""
    kept = folder / "samples"
    if any(files.inside(kept, split).is_dir() for split in SPLITS):
        store.verify(kept, remedy=remedy(kept))
        return _stored(kept)
    if data is not None and (data.stored is not None or data.own is not None):
        found: dict[str, Source] = {split: Samples(data, seed).whole(split) for split in SPLITS}
        if store.is_file(files.inside(folder, "samples/stage.json")):
            details = store.read_stage(kept, remedy=remedy(kept))["details"]
            require_same_samples(details, data, Samples(data, seed).source, folder)
        return found
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
    store.write_text(folder / CARD, card)


def _about(data: DataSettings | None) -> dict[str, Any]:
    """Name and origin of the samples, for their card."""
    from molyneux.report import portable  # with what draws; takes a second to import

    dataset = None if data is None else data.dataset
    if dataset is None:
        return {"name": "samples", "origin": {}}
    return {"name": dataset.name, "origin": portable(dict(dataset.settings)), "source": dataset.origin}


def _refuse_inside(folder: Path, out: Path) -> None:
    """Raise ConflictError for an export into what is exported."""
    if out.resolve().is_relative_to(folder.resolve()):
        raise ConflictError(f"expected a place outside {folder} for the export, got {out}: choose another one with --out")
