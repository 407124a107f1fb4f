"""`molyneux data`: samples of a world, stored or exported."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from molyneux.cli.arguments import values
from molyneux.cli.output import say, say_json
from molyneux.cli.parser import Arguments
from molyneux.cli.progress import shown
from molyneux.cli.worlds import find_world
from molyneux.core import ConfigError, ConflictError, Source, nearest, store
from molyneux.core.config import collected
from molyneux.data import contact_sheet, export_hdf5, export_parquet, export_png, generate, is_contact_sheet

_Writer = Callable[..., object]
_FORMATS: dict[str, _Writer] = {
    "hdf5": export_hdf5,
    "native": generate,
    "parquet": export_parquet,
    "png": export_png,
}


def data(arguments: Arguments) -> int:
    """`molyneux data WORLD`."""
    options = arguments.options
    writer, source = collected([partial(_writer, arguments), partial(_source, arguments)])
    sheet = options.contact_sheet
    if sheet is not None and (store.is_file(sheet) or sheet.is_dir()) and not is_contact_sheet(sheet):
        raise ConflictError(f"{options.contact_sheet} is there already: choose another file, or delete it")
    record = {"world": source.world.name, "split": options.split, "seed": options.seed, "samples": options.size}
    if options.contact_sheet is not None:
        contact_sheet(source, options.contact_sheet)
        record["contact_sheet"] = str(options.contact_sheet)
    if options.out is not None:
        started = time.perf_counter()
        _write(arguments, writer, source)
        record |= {"out": str(options.out), "seconds": round(time.perf_counter() - started, 3)}
    _tell(arguments, record)
    return 0


def _source(arguments: Arguments) -> Source:
    options = arguments.options
    return find_world(options.world, dict(values(arguments))).source(options.split, options.size, seed=options.seed)


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
    return partial(writer, jobs=options.jobs) if options.format == "native" else writer


def _write(arguments: Arguments, writer: _Writer, source: Source) -> None:
    total, done = len(source), 0
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        progress.begin("data", "making samples")

        def tell(count: int) -> None:
            nonlocal done
            done += count
            progress.advance(done, total)

        writer(source, arguments.options.out, progress=tell)


def _tell(arguments: Arguments, record: dict[str, object]) -> None:
    if arguments.json:
        say_json(record)
        return
    if "out" in record:
        options = arguments.options
        rate = options.size / max(float(str(record["seconds"])), 1e-3)
        what = f"{options.size:,} {options.split} samples of {record['world']} (seed {options.seed})"
        say(f"{what} in {record['out']}: {record['seconds']} s, {rate:,.0f} samples/s")
    if "contact_sheet" in record:
        say(f"Contact sheet: {record['contact_sheet']}")
