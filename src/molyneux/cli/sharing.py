"""The commands `measure`, also of models from outside and of exports, `export`, `push` and `leaderboard`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import molyneux.run as runs
from molyneux.cli import index
from molyneux.cli.commands import print_outcome, some_steps
from molyneux.cli.names import is_document, values
from molyneux.cli.parser import Arguments, complain, say, say_json
from molyneux.cli.progress import AnswerConsole, answer_width, shown
from molyneux.core.errors import ConfigError
from molyneux.core.workers import Workers


def measure(arguments: Arguments) -> int:
    """`molyneux measure RUN`: the scores of a run; `molyneux measure --model M --data D`: those of a model from outside."""
    options = arguments.options
    problems = []
    if (options.run is None) == (options.model is None):
        problems.append("expected either RUN, the folder of a run, or --model and --data: give one of them")
    if options.model is not None and options.data is None:
        problems.append("--data: is missing: name a file with a section data, or a world such as cdsprites")
    if options.model is None and (options.data is not None or options.out is not None or arguments.settings):
        problems.append("expected --model with --data, --out and settings: a run has its own, which molyneux run changes")
    if options.model is not None and options.on != "local":
        problems.append("--on: expected a run, which every machine opens, got a model from outside: leave --on out")
    if options.on == "local" and options.jobs is not None:
        problems.append("--jobs: expected --on with a cluster, whose processes share the samples: leave --jobs out")
    if options.model is not None and options.again:
        problems.append("--again: expected a run, whose scores are stored, got a model from outside: leave it out")
    if problems:
        raise ConfigError(problems)
    if options.model is not None:
        return _from_outside(arguments)
    with runs.opened_export(options.run) as folder:
        options.run = folder
        with runs.open_workers(options.on, options.jobs) as workers:
            return _again(arguments, workers) if options.again else some_steps(arguments, "measure", workers=workers)


def export(arguments: Arguments) -> int:
    """`molyneux export FOLDER --out DIR`: a run or stored samples as a folder to share."""
    options = arguments.options
    settings = runs.ExportSettings(options.licence, options.include_data, bits=options.bits, about=options.about)
    (runs.export_run if runs.is_run(options.folder) else runs.export_samples)(options.folder, options.out, settings)
    files = sorted(str(path.relative_to(options.out)) for path in options.out.rglob("*") if path.is_file())
    if arguments.json:
        say_json({"export": str(options.out), "files": files})
        return 0
    say(f"Export: {options.out}, {len(files)} files; its card is {options.out / 'README.md'}")
    if not options.licence:
        say("The card states no licence: name one with --licence, or write it there.")
    return 0


def push(arguments: Arguments) -> int:
    """`molyneux push FOLDER hf://user/name`: an exported run on the Hugging Face Hub."""
    options = arguments.options
    if arguments.json or options.quiet:
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # read when the package is imported
    done = runs.push_export(options.folder, options.address, private=True if options.private else None)
    if arguments.json:
        say_json({"address": done.address, "files": done.files, "private": done.private})
        return 0
    who = "its owner alone" if done.private else "everybody"
    say(f"Pushed: {done.address}, {done.files} files, which {who} can read")
    return 0


def leaderboard(arguments: Arguments) -> int:
    """`molyneux leaderboard RESULTS`: models ranked by their records."""
    options = arguments.options
    ranked = runs.make_leaderboard(options.results, add=options.add, scores=options.score)
    from molyneux.report import MOST_LINES, fitted, leaderboard_tables, write_leaderboard  # draws: takes a second to import

    files = write_leaderboard(ranked, options.out) if options.out else []
    if arguments.json:
        say_json({**ranked.to_json(), "files": [str(path) for path in files]})
        return 0
    width, room, more = answer_width(), MOST_LINES - 3, 0
    console = AnswerConsole(width=width)
    for table in leaderboard_tables(ranked) if not files else ():
        shown = fitted(table, width, room, "the pages of --out")
        height = len(console.render_lines(shown))
        more += height > room
        if height <= room:
            console.print(shown)
        room -= height
    if more:
        say(f"{more} more tables: in the pages of --out DIR; --score NAME shows the tables of one score alone")
    left = f"{ranked.left_out} have no score to rank, or an earlier reader read it"
    say(f"Leaderboard: {len(ranked.boards)} tables of {ranked.runs} records; {left}")
    for path in files:
        say(f"Written: {path}")
    return 0


def _from_outside(arguments: Arguments) -> int:
    """Status 1 if nothing could be measured."""
    options = arguments.options
    with shown(quiet=options.quiet or arguments.json) as progress:
        outcome = runs.measure_model(
            options.model, _data(options.data), overrides=values(arguments), out=options.out, progress=progress
        )
    print_outcome(arguments, outcome)
    if any(score.value is not None for score in outcome.scores):
        return 0
    notes = "; ".join(dict.fromkeys(score.note for score in outcome.scores if score.note))
    complain(
        f"molyneux: nothing could be measured{f' ({notes})' if notes else ''}: let {options.model} return a model that encodes, "
        "decodes or predicts, such as molyneux.learn.WrappedEncoder, or name other measures under measure.measures"
    )
    return 1


def _data(name: str) -> dict[str, Any]:
    """The sections of a file, or a section `data` with a world of that name."""
    if is_document(name):
        return runs.read_data(Path(name))
    entry = index.find_class("worlds", name)
    class_path = name if entry is None else entry.node.name
    return {"name": name.partition("-v")[0], "data": {"world": {"class_path": class_path, "init_args": {}}}}


def _again(arguments: Arguments, workers: Workers | None) -> int:
    """Status 1 if a score is not the stored one."""
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        repeated = runs.measure_again(arguments.options.run, trust=arguments.options.trust, workers=workers, progress=progress)
    if arguments.json:
        scores = [score.to_json() for score in repeated.outcome.scores]
        say_json({"folder": str(repeated.outcome.folder), "changed": list(repeated.changed), "scores": scores})
    else:
        print_outcome(arguments, repeated.outcome)
        say(f"Measured again: {len(repeated.outcome.scores) - len(repeated.changed)} scores are those stored.")
        for sentence in repeated.changed:
            complain(f"molyneux: {sentence}")
    return 1 if repeated.changed else 0
