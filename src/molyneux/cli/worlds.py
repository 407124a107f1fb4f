"""The commands of worlds: `data` stores or exports samples of one, `judge` trains a reader for the views of one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from molyneux.cli import index
from molyneux.cli.names import is_document, values
from molyneux.cli.parser import Arguments, parse, say, say_json
from molyneux.cli.progress import shown
from molyneux.core import ConfigError, ConflictError, store
from molyneux.core.config import arguments as constructor
from molyneux.core.config import build
from molyneux.core.tooling.compiled import CompilationTime, compilation_time
from molyneux.data import (
    Benchmark,
    OwnDataset,
    SplitSource,
    World,
    contact_sheet,
    export_hdf5,
    export_parquet,
    export_png,
    export_sentences,
    export_webdataset,
    is_contact_sheet,
    store_samples,
    store_shards,
)
from molyneux.data.shards.formats import FORMATS
from molyneux.data.worlds.sentences import SentenceWorld
from molyneux.run import constant_accuracy, judged_data, make_judge, open_workers

_SENTENCES = "sentences"
_WRITERS: dict[str, Callable[..., object]] = {
    "hdf5": export_hdf5,
    "native": store_samples,
    "parquet": export_parquet,
    "png": export_png,
    _SENTENCES: export_sentences,
    "webdataset": export_webdataset,
}


def data(arguments: Arguments) -> int:
    """`molyneux data WORLD`."""
    with compilation_time() as compiling:
        return _made(arguments, compiling)


def _made(arguments: Arguments, compiling: CompilationTime) -> int:
    options, sheet = arguments.options, arguments.options.contact_sheet
    _require_shards(arguments)
    source, split, total = _source(arguments)
    if sheet is not None and ((store.is_file(sheet) and not is_contact_sheet(sheet)) or sheet.is_dir()):
        raise ConflictError(f"{sheet} exists: choose another file, or move it away")
    record = {"world": source.dataset.name, "split": split, "seed": options.seed, "samples": total}
    if sheet is not None:
        contact_sheet(source, sheet)
        record["contact_sheet"] = str(sheet)
    if options.out is not None:
        stored, compiled = options.shards is None and store.is_file(options.out / "stage.json"), compiling.seconds
        started = time.perf_counter()
        whole = _write(arguments, source, total) is not None
        seconds = time.perf_counter() - started - (compiling.seconds - compiled)
        record |= {"out": str(options.out), "seconds": round(seconds, 3), "stored_before": stored}
        record |= {} if options.shards is None else {"shards": options.shards, "part": list(options.part), "whole": whole}
    record |= {"compiling_seconds": round(compiling.seconds, 3)} if compiling.seconds else {}
    _tell(arguments, record)
    return 0


def _source(arguments: Arguments) -> tuple[SplitSource, str, int]:
    """What is written, of which split, and how many samples; as sentences, all splits, so that none may be asked for."""
    options, unsaid = arguments.options, parse(["data", "WORLD"]).options
    world = find_world(options.world, {name.removeprefix("world."): value for name, value in values(arguments)})
    if options.format != _SENTENCES:
        return world.source(options.split, options.size, seed=options.seed), options.split, options.size
    if not isinstance(world, SentenceWorld):
        others = ", ".join(name for name in _WRITERS if name != _SENTENCES)
        raise ConfigError(f"expected a world of sentences for --format {_SENTENCES}, got {world.name}: choose one of {others}")
    if (options.split, options.size) != (unsaid.split, unsaid.size):
        raise ConfigError(f"--format {_SENTENCES} writes every sentence of all splits: leave --split and --size out")
    return world.source("train", seed=options.seed), "all", sum(world.splits.values())


def _require_shards(arguments: Arguments) -> None:
    """ConfigError for options that only samples in shards have, or do not have."""
    options = arguments.options
    if options.shards is not None and (options.format not in FORMATS or options.out is None):
        raise ConfigError(f"--shards: expected one of the formats {', '.join(FORMATS)}, and a folder or an address, --out OUT")
    if options.shards is not None and not 1 <= options.shards <= options.size:
        raise ConfigError(
            f"--shards: expected a number from 1 to the number of samples, {options.size:,}, got {options.shards:,}"
        )
    if options.shards is None and (options.part != (1, 1) or isinstance(options.out, str) or options.on != "local"):
        raise ConfigError("--part, --on and addresses are of samples in shards: name their number with --shards")


def _write(arguments: Arguments, source: SplitSource, total: int) -> object:
    options, done = arguments.options, 0
    with shown(quiet=options.quiet or arguments.json) as progress:
        progress.begin("data", "making samples")

        def tell(count: int) -> None:
            nonlocal done
            done += count
            progress.advance(done, total)

        if options.shards is not None:
            size = -(-total // options.shards)
            threads = (options.jobs or 1) if options.on == "local" else 1
            with open_workers(options.on, options.jobs) as workers:
                return store_shards(
                    source,
                    options.out,
                    shard=size,
                    file_format=options.format,
                    part=options.part,
                    threads=threads,
                    workers=workers,
                    progress=tell,
                )
        further = {"seed": options.seed} if options.format == _SENTENCES else {}
        further |= {"threads": options.jobs or 1} if options.format == "native" else {}
        samples = source.dataset if options.format == _SENTENCES else source
        _WRITERS[options.format](samples, options.out, progress=tell, **further)
        return options.out


def _tell(arguments: Arguments, record: dict[str, object]) -> None:
    if arguments.json:
        say_json(record)
        return
    if "out" in record:
        total = int(str(record["samples"]))
        rate = total / max(float(str(record["seconds"])), 1e-3)
        compiled = f"; and {record['compiling_seconds']} s of compilation, once" if "compiling_seconds" in record else ""
        what = f"{total:,} {record['split']} samples of {record['world']} (seed {record['seed']})"
        how = "stored before" if record["stored_before"] else f"{record['seconds']} s, {rate:,.0f} samples/s{compiled}"
        if record.get("whole", True):
            say(f"{what} in {record['out']}: {how}")
        else:
            say(f"Part {arguments.options.part[0]} of {arguments.options.part[1]} is in {record['out']}; others are missing")
    if "contact_sheet" in record:
        say(f"Contact sheet: {record['contact_sheet']}")


def judge(arguments: Arguments) -> int:
    """`molyneux judge DATA MODALITY`: train a learned reader for the views of a world, or of labelled data in files."""
    from molyneux.learn.judges import file_digest

    options = arguments.options
    worlds = _levels(arguments)
    constant = constant_accuracy(worlds, seed=options.seed)
    with shown(quiet=options.quiet or arguments.json) as progress:
        progress.begin("judge", "training")
        made = make_judge(
            worlds,
            options.modality,
            options.out,
            samples=options.samples,
            seed=options.seed,
            settings={} if is_document(options.world) else dict(values(arguments)),
            named=Path(options.world).name if is_document(options.world) else "",
            constant=constant,
            progress=progress,
        )
    if arguments.json:
        record = {
            "constant": constant,
            "accuracy": made.record.accuracy,
            "abstention": made.record.abstention,
            "samples": made.record.samples,
        }
        say_json({"judge": str(options.out), "digest": file_digest(options.out), **record})
        return 0
    for level, accuracy in made.record.accuracy.items():
        same = {factor: share for factor, share in constant[level].items() if factor in accuracy}
        rates = {"accuracy": accuracy, "of the commonest value alone": same, **made.abstention(tuple(accuracy))}
        rows = (f"{title}: {', '.join(f'{factor} {share:.2%}' for factor, share in row.items())}" for title, row in rates.items())
        say(f"{f'level {level}: ' if level else ''}{'; '.join(rows)}")
        for factor in [factor for factor, share in same.items() if accuracy[factor] <= share]:
            say(f"Note: {factor} is read no better than by a constant answer; scores that this judge reads say nothing of it")
    say(f"Judge: {options.out}")
    return 0


def _levels(arguments: Arguments) -> Mapping[str, World] | Mapping[str, OwnDataset | Benchmark]:
    """The world at each of its levels; or alone if it has no levels, or if one is given; or the data of an experiment file."""
    given = dict(values(arguments))
    if is_document(arguments.options.world):
        return judged_data(Path(arguments.options.world), list(given.items()))
    world = find_world(arguments.options.world, given)
    takes = constructor(type(world))
    if "modalities" in takes:
        given.setdefault("modalities", [arguments.options.modality])
    if "level" not in takes or "level" in given:
        return {str(given.get("level", "")): find_world(arguments.options.world, given)}
    return {str(level): find_world(arguments.options.world, {**given, "level": level}) for level in range(1, 6)}


def find_world(name: str, settings: Mapping[str, object]) -> World:
    """The world of a name, which may be its own (`pos`, `pos-v1`), and of its settings; ConfigError with every problem."""
    entry = index.find_class("worlds", name)
    class_path = name if entry is None else entry.node.name
    world: World = build(World, {"class_path": class_path, "init_args": dict(settings)}, "world").value
    return world
