"""What is in the folder of a run: its settings, and its four stages. It is read without making an experiment of it.

    config.yaml      the resolved settings, with a checksum in the last line
    machine.json     where the run began, and with which versions
    samples/         spec.json, recipe.json, contact_sheet.png, and the samples themselves if they are kept
    model/           config.yaml, spec.json, weights.safetensors, history.csv, checkpoints
    measure/         scores.jsonl, exhibits
    report/          report.md, report.html

Each stage is a `core.store.StageFolder` whose settings hold the key of the stage before it, so a change shows in all that
follows. Other samples or another training need another folder; with other measures or another report, these are made again.
The key of `measure` holds the digests of judges and of networks of features too: with another one, measures are made again. The
record of each stage says on which machine it was made.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from molyneux.core import files, store
from molyneux.core.errors import ConfigError, CorruptFileError, StoreError
from molyneux.core.tooling.documents import dump_document, parse_document

_CONFIG, _MACHINE, _CHECKSUM = "config.yaml", "machine.json", "# checksum "
_PACKAGES = ("molyneux", "numba", "numpy", "safetensors", "scikit-learn", "scipy", "torch")
EXPERIMENT_FILE = "the path of an experiment file"
STUDY_FILE = "the path of a study file"
RUN_FOLDER = "the folder of a run"
T = TypeVar("T")
STAGES = ("samples", "model", "measure", "report")
"""The sub-folders of a run, in the order in which they are made."""


def run_stage(path: Path, name: str, **settings: Any) -> store.StageFolder:
    """One of the stages of a run, of these settings."""
    return store.StageFolder(files.inside(path, name), settings, remedy=remedy(path / name))


def remedy(folder: Path) -> str:
    """What to do where a file of the stage in `folder` is damaged; with a warning where that takes hours."""
    again = "train again from the start" if folder.name == "model" else "make it again"
    return f"restore it from a copy, or delete {folder} to {again}"


def measured(path: Path, settings: Mapping[str, Any]) -> bool:
    """Whether the scores in a folder are what these resolved settings ask for, by the record of their stage alone.

    A report can thus be written where judges, samples and model are not there.
    """
    made_by = store.made_by(files.inside(path, "measure"))
    return "measure" in made_by and store.fingerprint(made_by["measure"]) == store.fingerprint(settings["measure"])


def report_stage(path: Path, settings: Mapping[str, Any]) -> store.StageFolder:
    """The stage of the report on the scores in a folder; its key holds that of the scores, as recorded.

    Raises:
        StoreError: nothing was measured yet. CorruptFileError: the record of the scores is damaged.
    """
    scores = store.read_stage(path / "measure")["key"]
    return run_stage(path, "report", report=settings["report"], measure=scores)


def write_settings(path: Path, resolved: Mapping[str, Any]) -> None:
    """Write resolved settings as the `config.yaml` of a folder, with their checksum."""
    store.write_text(path / _CONFIG, with_checksum(dump_document(resolved)))


def with_checksum(text: str) -> str:
    """The content of a `config.yaml`, of the text of its settings."""
    return f"{text}{_CHECKSUM}{store.fingerprint(text)}\n"


@contextmanager
def opened(path: Path) -> Iterator[None]:
    """Hold the folder of a run against other processes, and remove the partial files that killed ones left.

    Raises:
        ConflictError: it is in use. StoreError: it cannot be written.
    """
    with store.locked(path):
        _remove_parts(path)
        yield


def _remove_parts(path: Path) -> None:
    """Remove what killed processes left half-written: files, folders of samples, and checkpoints that no record tells of."""
    for part in sorted(path.rglob("*.part")):
        if part.is_symlink() or part.is_file():
            part.unlink(missing_ok=True) if part.name.startswith(".") else None
        elif part.name.startswith(".") or (part.name.startswith("checkpoint-") and not _recorded(path / "model", part)):
            shutil.rmtree(part, ignore_errors=True)


def _recorded(stage: Path, folder: Path) -> bool:
    """Whether the record of a finished stage tells of files in a folder: some earlier versions kept what was left there."""
    names = store.read_stage(stage)["files"] if store.made_by(stage) else ()
    return any((stage / name).is_relative_to(folder) for name in names)


def record_machine(path: Path) -> None:
    """Write `machine.json` where it is not there, or is not what the record of the samples says."""
    stage = path / "samples"
    recorded = store.read_stage(stage)["details"].get("machine") if store.is_file(stage / "stage.json") else None
    place = files.inside(path, _MACHINE)
    try:
        found = store.read_json(place) if place.exists() else None
    except CorruptFileError:
        found = None
    if not isinstance(found, dict) or (recorded is not None and found != recorded):
        store.write_json(path / _MACHINE, recorded or machine())


def stored_settings(path: Path) -> dict[str, Any]:
    """The resolved settings of the run in a folder, as plain data: nothing is made of them.

    Raises:
        StoreError: it is no folder of a run. CorruptFileError: `config.yaml` is missing, or was altered since it was written.
    """
    config = files.inside(path, _CONFIG)
    try:
        text = files.read_plain(config).decode()
    except FileNotFoundError as error:
        if has_run(path):
            raise CorruptFileError(f"{config} is missing: restore it from a copy, or choose another folder with --out") from error
        raise StoreError(
            f"expected the folder of a run, got {path}, which has no {_CONFIG}: name a folder made by molyneux run"
        ) from error
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"{config} is damaged ({error.reason}): restore it from a copy") from error
    except OSError as error:
        raise store.read_error(error, config) from error
    body, found, checksum = text.rpartition(_CHECKSUM)
    if not found or checksum != f"{store.fingerprint(body)}\n":
        raise CorruptFileError(
            f"{config} was truncated or altered since it was written: restore it from a copy; "
            f"for other settings, give a file of your own and another folder with --out"
        )
    return parse_document(body, str(config))


def require_trained_here(path: Path) -> None:
    """Raise StoreError for a folder that has the scores of a model from outside, and not the model."""
    if loader := _loaded_by(path):
        raise StoreError(
            f"{path} holds scores of a model that {loader} loads, and not the model: it cannot be exported, trained or measured "
            f"again; measure the model anew with molyneux measure --model {loader} --data ... --out another folder"
        )


def _loaded_by(path: Path) -> str:
    """The function that loaded the model whose scores are in a folder; empty for the model of a run."""
    stage = path / "measure"
    try:
        return str(store.read_stage(stage)["details"].get("loaded_by", "")) if store.made_by(stage) else ""
    except CorruptFileError:  # what reads the scores says so
        return ""


def has_run(path: Path) -> bool:
    """Whether a folder has anything of a run."""
    return any(store.is_file(path / name) for name in (_CONFIG, _MACHINE, *(f"{stage}/stage.json" for stage in STAGES)))


def machine() -> dict[str, Any]:
    """Where this process runs and with which versions, as plain data without names of hosts, users or folders.

    System, processor, cores, memory and versions of packages; where torch is imported, also the instructions that it has kernels
    for, its GPU and its threads. What does not compute with it, such as a report, does not import it for this.
    """
    torch = sys.modules.get("torch")
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": _memory(),
        "wait_policy": os.environ.get("OMP_WAIT_POLICY"),
        "python": platform.python_version(),
        "versions": {name: number for name in _PACKAGES if (number := _version(name))},
        **(_of_torch(torch) if torch else {}),
    }


def _of_torch(torch: Any) -> dict[str, Any]:
    return {
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "gpu": torch.cuda.get_device_name(0) if torch.cuda.is_available() else None,
        "threads": torch.get_num_threads(),
    }


@cache  # reading it takes 2 ms, and it is asked for five times a run
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _memory() -> float | None:
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def given_path(value: Any, expected: str) -> Path:
    """The path.

    Args:
        value: what was given.
        expected: what it should be, in words.

    Raises:
        ConfigError: it is neither text nor a path.
    """
    if isinstance(value, str | os.PathLike):
        return Path(value)
    remedy = "read_experiment takes settings" if isinstance(value, Mapping) and expected == EXPERIMENT_FILE else "give a path"
    raise ConfigError(f"expected {expected}, got {_in_words(value)}: {remedy}")


def given_folder(value: Any, expected: str) -> Path:
    """The path of a folder that is read; whether it is there, and is what is expected, its reader says.

    Raises:
        ConfigError: as `given_path`. StoreError: it is a file.
    """
    path = given_path(value, expected)
    if store.is_file(path):
        raise StoreError(f"expected {expected}, got the file {path}: name a folder")
    return path


def given_settings(value: Any, reader: str) -> Mapping[str, Any]:
    """The settings, shaped as a file is.

    Args:
        value: what was given.
        reader: name of the function that reads them from a file.

    Raises:
        ConfigError: it is no mapping.
    """
    if isinstance(value, Mapping):
        return value
    remedy = f"{reader} reads a file" if isinstance(value, str | os.PathLike) else "give a mapping"
    raise ConfigError(f"expected settings by name, shaped as a file is, got {_in_words(value)}: {remedy}")


def given_object(value: Any, kind: type[T], **makers: str) -> T:
    """The object.

    Args:
        value: what was given.
        kind: its class.
        **makers: names of the functions that make one, of a `path` and of `settings`.

    Raises:
        ConfigError: it is of another class.
    """
    if isinstance(value, kind):
        return value
    maker = makers.get("settings", "") if isinstance(value, Mapping) else makers["path"]
    remedy = f"{maker} makes one" if maker else f"{makers['path']} makes one of a file"
    raise ConfigError(f"expected an object of the class {kind.__name__}, got {_in_words(value)}: {remedy}")


def _in_words(value: Any) -> str:
    if isinstance(value, str | os.PathLike):
        return f"the path {str(value)[:100]!r}"
    return "settings" if isinstance(value, Mapping) else f"an object of the class {type(value).__name__}"
