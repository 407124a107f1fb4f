"""`molyneux run`, `learn`, `measure` and `report`: an experiment, or some steps of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from molyneux.cli.arguments import values
from molyneux.cli.output import say, say_json
from molyneux.cli.parser import Arguments
from molyneux.cli.progress import shown
from molyneux.run import (
    Experiment,
    Outcome,
    Step,
    default_folder,
    keep_freed_memory,
    load_experiment,
    open_experiment,
    report_run,
    run_experiment,
)

_WIDTH = 120
"""Columns of a table that goes into a file."""
_ALL: tuple[Step, ...] = ("data", "learn", "measure", "report")


def run(arguments: Arguments) -> int:
    """`molyneux run CONFIG`."""
    options, settings = arguments.options, values(arguments)
    if options.seed is not None:
        settings.append(("seed", options.seed))
    experiment = load_experiment(options.config, settings)
    return _run(arguments, experiment, options.out or default_folder(experiment), _ALL)


def learn(arguments: Arguments) -> int:
    """`molyneux learn RUN`: the model, and the samples before it."""
    return _some(arguments, "data", "learn")


def measure(arguments: Arguments) -> int:
    """`molyneux measure RUN`."""
    return _some(arguments, "measure")


def report(arguments: Arguments) -> int:
    """`molyneux report RUN`; of the folder of a run only the records are read."""
    path: Path = arguments.options.run
    if path.suffix in (".yaml", ".yml"):
        return _some(arguments, "report")
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        outcome = report_run(path, progress=progress)
    _tell(arguments, outcome)
    return 0


def _some(arguments: Arguments, *steps: Step) -> int:
    """Some steps of the run in a folder, or of the experiment in a file."""
    path: Path = arguments.options.run
    if path.suffix in (".yaml", ".yml"):
        experiment = load_experiment(path)
        return _run(arguments, experiment, default_folder(experiment), steps)
    return _run(arguments, open_experiment(path), path, steps)


def _run(arguments: Arguments, experiment: Experiment, folder: Path, steps: Sequence[Step]) -> int:
    keep_freed_memory()
    with shown(quiet=arguments.options.quiet or arguments.json) as progress:
        outcome = run_experiment(experiment, folder, steps=steps, progress=progress)
    _tell(arguments, outcome)
    return 0


def _tell(arguments: Arguments, outcome: Outcome) -> None:
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
