"""Exports as they travel: the record of their checksums, and whether a folder is whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from molyneux.core import CorruptFileError, StoreError, files, store
from molyneux.core.chain import require_one_run
from molyneux.run.run.stored import RUN_FOLDER, given_folder, given_path, stored_settings
from molyneux.version import __version__

RECORD, CARD = "export.json", "README.md"
_EXPORT = "the folder of an export"
_LATER = ("measure", "report", "samples")
"""Sub-folders whose own records have their checksums: they may be written anew."""


@contextlib.contextmanager
def opened_export(folder: Path | str) -> Iterator[Path]:
    """Work inside an export, whose paths and modules begin at its folder; its files are checked first.

    The working directory of the process is the export as long as the context lasts; modules in it are imported where the run is
    opened with `trust`. Any other folder is given back as it is.

    Raises:
        CorruptFileError: a file was truncated, altered or removed since the export.
    """
    folder = given_path(folder, _EXPORT)
    if not store.is_file(folder / RECORD):
        yield folder
        return
    verify_export(folder)
    here = folder.resolve()
    with contextlib.chdir(here):
        yield here


def verify_export(folder: Path | str) -> None:
    """Compare the files of an export with their checksums.

    Raises:
        StoreError: it is no export. CorruptFileError: names the file that was truncated, altered or removed.
    """
    folder = given_folder(folder, _EXPORT)
    record = store.read_json(files.inside(folder, RECORD))
    advice = "get the export again, or export the run again"
    if not isinstance(record, dict) or record.get("checksum") != store.fingerprint({**record, "checksum": ""}):
        raise CorruptFileError(f"{folder / RECORD} was truncated or altered since it was written: {advice}")
    if not isinstance(record.get("files"), dict):
        raise CorruptFileError(f"{folder / RECORD} is damaged (it names no files): {advice}")
    for name, expected in record["files"].items():
        path = files.inside(folder, name)
        if not store.is_file(path):
            raise CorruptFileError(f"{path} is missing: {advice}")
        if store.checksum(path) != expected:
            raise CorruptFileError(f"{path} was truncated or altered since it was written: {advice}")


def require_whole(folder: Path | str) -> tuple[str, ...]:
    """Check an exported run as it travels, every file by its checksum, and that nothing lies beside what belongs to it.

    Hidden files are not looked at. The card has no checksum: whoever publishes an export may write in it.

    Returns:
        The names of its files, sorted.

    Raises:
        StoreError: it is no exported run, or has a file that is none of the export, a link or a device: names it.
        CorruptFileError: names the file that was truncated, altered or removed. ConflictError: parts are of another run.
    """
    folder = given_path(folder, _EXPORT)
    if not store.is_file(folder / RECORD):
        advice = f"run molyneux export {folder} --out FOLDER first" if is_run(folder) else "name what molyneux export wrote"
        raise StoreError(f"expected an exported run, got {folder}, which has no {RECORD}: {advice}")
    verify_export(folder)
    record = store.read_json(files.inside(folder, RECORD))
    if record.get("kind") != "run":
        raise StoreError(f"expected an exported run, got exported samples in {folder}: name the export of a trained model")
    known = {RECORD, CARD, *record["files"]}
    for stage in _LATER:
        if store.is_file(files.inside(folder, f"{stage}/stage.json")):
            store.verify(folder / stage)
            known |= {f"{stage}/{name}" for name in ("stage.json", *store.read_stage(folder / stage)["files"])}
    found = [path.relative_to(folder).as_posix() for path in files.files_below(folder)]
    if foreign := [name for name in found if name not in known]:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise StoreError(f"expected the files of the export alone in {folder}, got {foreign[0]}{more}: remove what is not of it")
    require_one_run(folder, stored_settings(folder))
    return tuple(found)


def remove_damaged(folder: Path) -> None:
    """Remove the files of an incomplete export that are not as they were exported, so that they are fetched again."""
    record = folder / RECORD
    try:
        known = store.read_json(record) if store.is_file(record) else {}
    except CorruptFileError:
        known = None
    if not isinstance(known, dict) or (known and known.get("checksum") != store.fingerprint({**known, "checksum": ""})):
        record.unlink()
        return
    for name, expected in dict(known.get("files") or {}).items():
        path = files.inside(folder, name)
        if store.is_file(path) and store.checksum(path) != expected:
            path.unlink()


def seal(part: Path, kind: str) -> None:
    """Write `export.json`."""
    names = {path.relative_to(part).as_posix(): path for path in files.files_below(part)}
    kept = {
        name: path
        for name, path in names.items()
        if name.partition("/")[0] not in _LATER and not name.startswith(".") and name != CARD
    }
    record = {"kind": kind, "package": __version__, "files": {n: store.checksum(p) for n, p in kept.items()}, "checksum": ""}
    store.write_json(part / RECORD, {**record, "checksum": store.fingerprint(record)})


def is_run(folder: Path | str) -> bool:
    """Whether a folder is that of a run."""
    return store.is_file(given_path(folder, RUN_FOLDER) / "config.yaml")
