"""The commands `run`, `learn`, `measure`, `report`, `sweep`, `judge` and `schema`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from molyneux.cli.output import complain, say, say_json
from molyneux.cli.parser import Arguments
from molyneux.cli.progress import shown, sweep_shown
from molyneux.cli.settings import find_world, values
from molyneux.core.config import arguments as constructor
from molyneux.data import World
from molyneux.run import (
    Experiment,
    Outcome,
    Step,
    SweepOutcome,
    default_folder,
    experiment_schema,
    load_experiment,
    load_study,
    make_judge,
    open_experiment,
    report_run,
    run_experiment,
    run_study,
    study_schema,
)

_WIDTH = 120
"""Columns of a table that goes into a file."""
_ALL: tuple[Step, ...] = ("data", "learn", "measure", "report")


def run(arguments: Arguments) -> int:
    """`molyneux run CONFIG`: all steps of an experiment."""
    options, settings = arguments.options, values(arguments)
    if options.seed is not None:
        settings.append(("seed", options.seed))
    experiment = load_experiment(options.config, settings)
    return _run(arguments, experiment, options.out or default_folder(experiment), _ALL)


def learn(arguments: Arguments) -> int:
    """`molyneux learn RUN`: the samples and the model of a run."""
    return _some(arguments, "data", "learn")


def measure(arguments: Arguments) -> int:
    """`molyneux measure RUN`: the scores of a run."""
    return _some(arguments, "measure")


def report(arguments: Arguments) -> int:
    """`molyneux report RUN`: the pages of a run; of its folder only the records are read."""
    path: Path = arguments.options.run
    if path.suffix in (".yaml", ".yml"):
        return _some(arguments, "report")
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        outcome = report_run(path, progress=progress)
    _print_outcome(arguments, outcome)
    return 0


def sweep(arguments: Arguments) -> int:
    """`molyneux sweep STUDY`: many experiments; status 1 if a run failed."""
    options = arguments.options
    study = load_study(options.study)
    folder = options.out or Path("runs") / study.name
    results = options.results or Path("studies") / "results" / study.name
    with sweep_shown(quiet=options.quiet or arguments.json) as progress:
        outcome = run_study(study, folder, results, jobs=options.jobs, on=options.on, progress=progress)
    _print_sweep(arguments, outcome)
    return 1 if outcome.failed else 0


def judge(arguments: Arguments) -> int:
    """`molyneux judge WORLD MODALITY`: train a learned reader for the views of a world."""
    from molyneux.learn.judges import file_digest

    options = arguments.options
    worlds = _levels(arguments)
    with shown(quiet=options.quiet or arguments.json) as progress:
        progress.begin("judge", "training")
        made = make_judge(
            worlds,
            options.modality,
            options.out,
            samples=options.samples,
            seed=options.seed,
            settings=dict(values(arguments)),
            progress=progress,
        )
    if arguments.json:
        record = {"accuracy": made.record.accuracy, "abstention": made.record.abstention, "samples": made.record.samples}
        say_json({"judge": str(options.out), "digest": file_digest(options.out), **record})
        return 0
    for level, accuracy in made.record.accuracy.items():
        rates = {"accuracy": accuracy, **made.abstention(tuple(accuracy))}
        rows = (f"{title}: {', '.join(f'{factor} {share:.2%}' for factor, share in row.items())}" for title, row in rates.items())
        say(f"{f'level {level}: ' if level else ''}{'; '.join(rows)}")
    say(f"Judge: {options.out}")
    return 0


def schema(arguments: Arguments) -> int:
    """`molyneux schema`: the JSON Schema of experiment or study files."""
    say_json(study_schema() if arguments.options.study else experiment_schema())
    return 0


def _some(arguments: Arguments, *steps: Step) -> int:
    """Some steps of the run in a folder, or of the experiment in a file."""
    path: Path = arguments.options.run
    if path.suffix in (".yaml", ".yml"):
        experiment = load_experiment(path)
        return _run(arguments, experiment, default_folder(experiment), steps)
    return _run(arguments, open_experiment(path), path, steps)


def _run(arguments: Arguments, experiment: Experiment, folder: Path, steps: Sequence[Step]) -> int:
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        outcome = run_experiment(experiment, folder, steps=steps, progress=progress)
    _print_outcome(arguments, outcome)
    return 0


def _print_outcome(arguments: Arguments, outcome: Outcome) -> None:
    if arguments.json:
        scores = [score.to_json() for score in outcome.scores]
        say_json({"folder": str(outcome.folder), "pages": [str(page) for page in outcome.pages], "scores": scores})
        return
    if outcome.scores:
        from molyneux.report import summary_table  # takes a second to import, as all that draws

        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH
        Console(width=width).print(summary_table(outcome.scores, outcome.settings))
        splits = {score.origin.get("split", "test") for score in outcome.scores}
        if splits != {"test"}:
            say(f"Measured on the split: {', '.join(sorted(splits))}")
    say(f"Run: {outcome.folder}")
    for page in outcome.pages:
        say(f"Report: {page}")


def _print_sweep(arguments: Arguments, outcome: SweepOutcome) -> None:
    for item in outcome.failed:
        complain(f"molyneux: {item.folder} failed: {item.error}")
    done, recorded = len(outcome.finished) - len(outcome.failed), len(outcome.recorded)
    if arguments.json:
        failed = {str(item.folder): item.error for item in outcome.failed}
        pages = [str(page) for page in outcome.pages]
        say_json({"results": str(outcome.results), "pages": pages, "done": done, "recorded": recorded, "failed": failed})
        return
    say(f"Runs: {done} done{f' ({recorded} from records)' if recorded else ''}, {len(outcome.failed)} failed")
    for page in outcome.pages:
        say(f"Report: {page}")


def _levels(arguments: Arguments) -> Mapping[str, World]:
    """The world at each of its levels; or alone if it has no levels, or if one is given."""
    given = dict(values(arguments))
    world = find_world(arguments.options.world, given)
    takes = constructor(type(world))
    if "modalities" in takes:
        given.setdefault("modalities", [arguments.options.modality])
    if "level" not in takes or "level" in given:
        return {str(given.get("level", "")): find_world(arguments.options.world, given)}
    return {str(level): find_world(arguments.options.world, {**given, "level": level}) for level in range(1, 6)}
