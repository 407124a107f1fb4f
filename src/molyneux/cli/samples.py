"""`molyneux data`: samples of a world, stored or exported."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from molyneux.cli.output import say, say_json
from molyneux.cli.parser import Arguments, parse
from molyneux.cli.progress import shown
from molyneux.cli.settings import find_world, values
from molyneux.core import ConfigError, ConflictError, nearest, store
from molyneux.core.config import collected
from molyneux.data import (
    SplitDataset,
    SplitSource,
    contact_sheet,
    export_hdf5,
    export_parquet,
    export_png,
    export_sentences,
    generate,
    is_contact_sheet,
)
from molyneux.data.worlds.sentences import SentenceWorld

_Writer = Callable[..., object]
_SENTENCES = "sentences"
_FORMATS: dict[str, _Writer] = {
    "hdf5": export_hdf5,
    "native": generate,
    "parquet": export_parquet,
    "png": export_png,
    _SENTENCES: export_sentences,
}


def data(arguments: Arguments) -> int:
    """`molyneux data WORLD`."""
    options = arguments.options
    writer, source = collected([partial(_writer, arguments), partial(_source, arguments)])
    split, total = _extent(arguments, source.dataset)
    sheet = options.contact_sheet
    if sheet is not None and (store.is_file(sheet) or sheet.is_dir()) and not is_contact_sheet(sheet):
        raise ConflictError(f"{options.contact_sheet} exists: choose another file, or move it away")
    record = {"world": source.dataset.name, "split": split, "seed": options.seed, "samples": total}
    if options.contact_sheet is not None:
        contact_sheet(source, options.contact_sheet)
        record["contact_sheet"] = str(options.contact_sheet)
    if options.out is not None:
        started, stored = time.perf_counter(), store.is_file(options.out / "stage.json")
        _write(arguments, partial(writer, source), total)
        record |= {"out": str(options.out), "seconds": round(time.perf_counter() - started, 3), "stored_before": stored}
    _tell(arguments, record)
    return 0


def _source(arguments: Arguments) -> SplitSource:
    options = arguments.options
    settings = {name.removeprefix("world."): value for name, value in values(arguments)}
    world = find_world(options.world, settings)
    if options.format == _SENTENCES:
        return _all_sentences(arguments, world)
    return world.source(options.split, options.size, seed=options.seed)


def _all_sentences(arguments: Arguments, world: SplitDataset) -> SplitSource:
    """A source of a world that can be written as sentences: all of its splits are, so none may be asked for."""
    options, unsaid = arguments.options, parse(["data", "WORLD"]).options
    if not isinstance(world, SentenceWorld):
        others = ", ".join(name for name in _FORMATS if name != _SENTENCES)
        raise ConfigError(f"expected a world of sentences for --format {_SENTENCES}, got {world.name}: choose one of {others}")
    if (options.split, options.size) != (unsaid.split, unsaid.size):
        raise ConfigError(f"--format {_SENTENCES} writes every sentence of all splits: leave --split and --size out")
    return world.source("train", seed=options.seed)


def _extent(arguments: Arguments, world: SplitDataset) -> tuple[str, int]:
    """Of which split samples are written, and how many."""
    if arguments.options.format == _SENTENCES and isinstance(world, SentenceWorld):
        return "all", sum(world.splits.values())
    return arguments.options.split, arguments.options.size


def _writer(arguments: Arguments) -> _Writer:
    options, problems = arguments.options, list[str]()
    if options.format not in _FORMATS:
        problems.append(f"unknown format {options.format!r}; {nearest(options.format, _FORMATS)}")
    if options.jobs < 1:
        problems.append(f"expected --jobs of at least 1, got {options.jobs}")
    if options.out is None and options.contact_sheet is None:
        problems.append("expected --out, a place for the samples, or --contact-sheet, a file for a picture of them")
    if problems:
        raise ConfigError(problems)
    writer = _FORMATS[options.format]
    if options.format == _SENTENCES:
        return lambda source, folder, progress: writer(source.dataset, folder, seed=options.seed, progress=progress)
    return partial(writer, threads=options.jobs) if options.format == "native" else writer


def _write(arguments: Arguments, writer: _Writer, total: int) -> None:
    done = 0
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        progress.begin("data", "making samples")

        def tell(count: int) -> None:
            nonlocal done
            done += count
            progress.advance(done, total)

        writer(arguments.options.out, progress=tell)


def _tell(arguments: Arguments, record: dict[str, object]) -> None:
    if arguments.json:
        say_json(record)
        return
    if "out" in record:
        total = int(str(record["samples"]))
        rate = total / max(float(str(record["seconds"])), 1e-3)
        what = f"{total:,} {record['split']} samples of {record['world']} (seed {record['seed']})"
        how = "stored before" if record["stored_before"] else f"{record['seconds']} s, {rate:,.0f} samples/s"
        say(f"{what} in {record['out']}: {how}")
    if "contact_sheet" in record:
        say(f"Contact sheet: {record['contact_sheet']}")
